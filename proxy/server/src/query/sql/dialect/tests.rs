//! Questions before and after, as text.

use super::{super::types::Type, *};
use expect_test::{Expect, expect};
use proptest::prelude::*;

/// A question a line: what SQLite is asked, and the types that are told from the words alone.
fn check(questions: &str, expected: Expect) {
    let columns = Columns::new([
        ("created_at", Type::Timestamp),
        ("retention", Type::Duration),
        ("size", Type::UInt32),
        ("status", Type::Text),
    ]);
    let asked = questions.lines().map(str::trim).filter(|line| !line.is_empty());
    let told: String = asked.map(|question| tell(question, &columns)).collect();
    expected.assert_eq(&told);
}

fn tell(question: &str, columns: &Columns) -> String {
    let question = match read(question, columns) {
        Ok(question) => question,
        Err(error) => return format!("{} {error}\n", error.code()),
    };
    let count = question.items.len();
    let ty = |index| question.ty(index, count).map_or("-", Type::name);
    let types: Vec<_> = (0..count).map(ty).collect();
    format!("{}\n    [{}]\n", question.text.trim(), types.join(", "))
}

#[test]
fn the_dialect_becomes_that_of_sqlite() {
    check(
        r#"
        select sj.index from t sj ;
        select 'index' from t
        select "index" from t -- index;
        select 18446744073709551615
        select a == 'it''s; fine'; ;
        select count(*) as order, 1 as "index", 2 as from_here from t
        show tables;
        describe "sys_service"
        select 1; select 2
        select 'open
        ;
        "#,
        expect![[r#"
            select sj."index" AS "index" from t sj
                [-]
            select 'index' from t
                [-]
            select "index" from t -- index;
                [-]
            select (-1) AS "18446744073709551615"
                [-]
            select a == 'it''s; fine'
                [Boolean]
            select count(*) as "order", 1 as "index", 2 as "from_here" from t
                [-, -, -]
            SELECT * FROM information_schema.tables
                []
            SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_name = 'sys_service'
                []
            HF0064 more than one statement was given; ask one question at a time
            HF0063 a text or a comment does not end: `'` is missing
            HF0063 the question is empty
        "#]],
    );
}

#[test]
fn casts_become_calls() {
    check(
        "
        select status::text, t.size::bigint::varchar(10) as s from t
        select (1 + 2)::double precision, max(size)::int, case when a then 1 end::text from t
        select count(*) filter (where a)::text from t
        select cast(a as timestamp with time zone), try_cast(b as decimal(10, 2)) from t
        select a::
        ",
        expect![[r#"
            select cast_as(status, 'text') AS "status::text", cast_as(cast_as(t.size, 'bigint'), 'varchar') as "s" from t
                [-, -]
            select cast_as((1 + 2), 'double precision') AS "(1 + 2)::double precision", cast_as(max(size), 'int') AS "max(size)::int", cast_as(case when a then 1 end, 'text') AS "case when a then 1 end::text" from t
                [-, -, -]
            select cast_as(count(*) filter (where a), 'text') AS "count(*) filter (where a)::text" from t
                [-]
            select cast_as(a , 'timestamp with time zone') AS "cast(a as timestamp with time zone)", try_cast_as(b , 'decimal') AS "try_cast(b as decimal(10, 2))" from t
                [Timestamp(ms, "+00:00"), -]
            HF0063 `::` has no type behind it
        "#]],
    );
}

#[test]
fn points_and_lengths_of_time_are_calculated_with() {
    check(
        "
        select now() - created_at, created_at + interval '1 hour', max(created_at) - min(created_at)
        select created_at - interval '1' day - retention as a, retention - interval '5 minutes' as b
        select a.created_at - (now() - interval '2h') from a
        select size - 1, size - length(status), -size + 2, x - y, x - y * 2 + 1, - 5 from t
        select 1 from t where created_at > now() - interval '1 hour' and size > 5 - 2
        select current_timestamp, current_date, interval '90 minutes', x - -y
        select interval '1 month'
        ",
        expect![[r#"
            select minus(strftime('%Y-%m-%dT%H:%M:%fZ', 'now') , created_at) AS "now() - created_at", plus(created_at , 3600000) AS "created_at + interval '1 hour'", minus(max(created_at) , min(created_at)) AS "max(created_at) - min(created_at)"
                [Duration(ms), Timestamp(ms, "+00:00"), Duration(ms)]
            select minus(minus(created_at , 86400000) , retention) as "a", retention - 300000 as "b"
                [Timestamp(ms, "+00:00"), Duration(ms)]
            select minus(a.created_at , (minus(strftime('%Y-%m-%dT%H:%M:%fZ', 'now') , 7200000))) AS "a.created_at - (now() - interval '2h')" from a
                [Duration(ms)]
            select size - 1, size - length(status), -size + 2, minus(x , y) AS "x - y", minus(x , y * 2) + 1 AS "x - y * 2 + 1", - 5 from t
                [-, -, -, -, -, -]
            select 1 from t where created_at > minus(strftime('%Y-%m-%dT%H:%M:%fZ', 'now') , 3600000) and size > 5 - 2
                [-]
            select strftime('%Y-%m-%dT%H:%M:%fZ', 'now') AS "current_timestamp", date('now') AS "current_date", 5400000 AS "interval '90 minutes'", minus(x , -y) AS "x - -y"
                [Timestamp(ms, "+00:00"), -, Duration(ms), -]
            HF0063 `1 month` is not a length of time; write numbers with weeks, days, hours, minutes, seconds or milliseconds (months and years differ in length)
        "#]],
    );
}

#[test]
fn texts_beside_points_in_time_are_points_in_time() {
    check(
        "
        select 1 from t where created_at > '2026-11-30 02:00' and status = '2026-11-30 02:00'
        select 1 from t where '2026-11-30' < created_at or created_at in ('2026-11-30', 'x')
        select 1 from t where created_at between '2026-11-30' and '2026-12-01' and a = '2026-12-01'
        select timestamp '2026-11-30', date '2026-11-30', timestamp 'x'
        ",
        expect![[r#"
            select 1 from t where created_at > '2026-11-30T02:00:00.000Z' and status = '2026-11-30 02:00'
                [-]
            select 1 from t where '2026-11-30T00:00:00.000Z' < created_at or created_at in ('2026-11-30T00:00:00.000Z', 'x')
                [-]
            select 1 from t where created_at between '2026-11-30T00:00:00.000Z' and '2026-12-01T00:00:00.000Z' and a = '2026-12-01'
                [-]
            select '2026-11-30T00:00:00.000Z' AS "timestamp '2026-11-30'", '2026-11-30' AS "date '2026-11-30'", 'x' AS "timestamp 'x'"
                [Timestamp(ms, "+00:00"), -, -]
        "#]],
    );
}

#[test]
fn comparisons_of_texts() {
    check(
        r"
        select a ilike 'x%', b not ilike 'y' or c like 'z' and d like 'w' escape '!' from t
        select 1 from t where (a like 'x') and b like 'c' || '%' order by c
        ",
        expect![[r#"
            select a REGEXP 'x%' ESCAPE '\' AS "a ilike 'x%'", b not REGEXP 'y' ESCAPE '\' or c like 'z' ESCAPE '\' and d like 'w' escape '!' AS "b not ilike 'y' or c like 'z' and d like 'w' escape '!'" from t
                [Boolean, Boolean]
            select 1 from t where (a like 'x' ESCAPE '\') and b like 'c' || '%' ESCAPE '\' order by c NULLS LAST
                [-]
        "#]],
    );
}

#[test]
fn absent_values_count_as_the_largest() {
    check(
        "
        select 1 from t order by a, b desc, c asc nulls first limit 5
        select first_value(a order by b asc) from (select a from t order by 1 desc)
        select row_number() over (partition by a order by b desc) from t
        ",
        expect![[r#"
            select 1 from t order by a NULLS LAST, b desc NULLS FIRST, c asc nulls first limit 5
                [-]
            select first_value(a order by b asc NULLS LAST) AS "first_value(a order by b asc)" from (select a from t order by 1 desc NULLS FIRST) AS t
                [-]
            select row_number() over (partition by a order by b desc NULLS FIRST) AS "row_number() over (partition by a order by b desc)" from t
                [-]
        "#]],
    );
}

#[test]
fn functions_of_the_other_engine() {
    check(
        "
        select extract(year from created_at), substring(a from 2 for 3), position('x' in a) from t
        select approx_distinct(a), char_length(b), array_agg(c order by d), bool_or(e), left(f, 2)
        select date_trunc('hour', created_at) as hour, count(*) from t group by hour
        select a.services[2] is null, array_length(services), [1] from t
        select services[1] = 'x' from t
        ",
        expect![[r#"
            select date_part('year' , created_at) AS "extract(year from created_at)", substring(a , 2 , 3) AS "substring(a from 2 for 3)", position('x' , a) AS "position('x' in a)" from t
                [-, -, -]
            select count(DISTINCT a) AS "approx_distinct(a)", length(b) AS "char_length(b)", json_group_array(c order by d NULLS LAST) AS "array_agg(c order by d)", max(e) AS "bool_or(e)", left(f, 2) AS "left(f, 2)"
                [-, -, List(LargeUtf8), Boolean, -]
            select date_trunc('hour', created_at) as "hour", count(*) from t group by hour
                [Timestamp(ms, "+00:00"), -]
            HF0063 `[` takes the place of one element, from 1
            select json_extract(services, '$[0]') = 'x' AS "services[1] = 'x'" from t
                [Boolean]
        "#]],
    );
}

#[test]
fn queries_in_brackets_can_be_combined() {
    check(
        "
        (select 1 as a) union (select 2) order by 1
        select a from t except (select b from u)
        ",
        expect![[r#"
            SELECT * FROM (select 1 as "a") union SELECT * FROM (select 2) order by 1 NULLS LAST
                []
            select a from t except SELECT * FROM (select b from u)
                [-]
        "#]],
    );
}

#[test]
fn a_subquery_has_the_name_of_its_table() {
    check(
        "
        select count(1) from (select * from t inv limit 5) where inv.a
        select 1 from (select b from t) x
        select 1 from (select b from t)
        select 1 from (select b from (select c from t as u))
        select 1 from (select 1) where 1
        select a in (select b from t) from v, (select c from w)
        ",
        expect![[r#"
            select count(1) from (select * from t inv limit 5) AS inv where inv.a
                [-]
            select 1 from (select b from t) x
                [-]
            select 1 from (select b from t) AS t
                [-]
            select 1 from (select b from (select c from t as "u") AS u)
                [-]
            select 1 from (select 1) where 1
                [-]
            select a in (select b from t) from v, (select c from w)
                [Boolean]
        "#]],
    );
}

#[test]
fn truths_are_told_from_their_expressions() {
    check(
        "
        select a, b is not null as c from t
        select count(a = b), (a = b) x
        select (a = b) + (c = d), (select a = b)
        select case when a = b then 1 end, case when a then b = c end
        select a is distinct from b, c
        with x as (select a = b) select a = 1 from x where a
        select true, not a, exists (select 1), a and b, starts_with(a, b)
        ",
        expect![[r#"
            select a, b is not null as "c" from t
                [-, Boolean]
            select count(a = b), (a = b) x
                [-, Boolean]
            select (a = b) + (c = d), (select a = b)
                [-, Boolean]
            select case when a = b then 1 end, case when a then b = c end
                [-, Boolean]
            select a is distinct from b, c
                [Boolean, -]
            with x as (select a = b) select a = 1 from x where a
                [Boolean]
            select true, not a, exists (select 1), a and b, starts_with(a, b) AS "starts_with(a, b)"
                [Boolean, Boolean, Boolean, Boolean, Boolean]
        "#]],
    );
}

#[test]
fn types_behind_a_star_are_counted_from_the_end() {
    let question = read("select *, a = b from t", &Columns::default()).unwrap();
    let boolean = Some(Type::Boolean);
    assert_eq!([7, 0, 6].map(|index| question.ty(index, 8)), [boolean, None, None]);
}

const WORDS: [&str; 48] = [
    "select",
    "from",
    "where",
    "a",
    "t.b",
    "(",
    ")",
    ",",
    "+",
    "-",
    "*",
    "::",
    "int",
    "cast",
    "as",
    "case",
    "when",
    "then",
    "end",
    "[",
    "1",
    "]",
    "interval",
    "'1 hour'",
    "'2026-11-30'",
    "now",
    "created_at",
    "like",
    "ilike",
    "escape",
    "between",
    "and",
    "or",
    "not",
    "in",
    "order",
    "by",
    "desc",
    "nulls",
    "over",
    "filter",
    "union",
    "extract",
    "left",
    ".",
    "distinct",
    "\"q\"",
    ">",
];

proptest! {
    /// Whatever is asked, it is translated or refused, and every word of it is still there.
    #[test]
    fn no_question_breaks_the_translation(
        words in proptest::collection::vec(proptest::sample::select(&WORDS[..]), 0..40),
    ) {
        let columns = Columns::new([("created_at", Type::Timestamp)]);
        if let Ok(question) = read(&words.join(" "), &columns) {
            let count = |text: &str, sign: char| text.chars().filter(|c| *c == sign).count();
            let asked = words.join(" ");
            prop_assert!(count(&question.text, '(') >= count(&asked, '('));
        }
    }
}
