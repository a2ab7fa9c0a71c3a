//! Forms: what is understood, what is refused, and what fits.

use super::form::Kind;
use super::*;
use expect_test::{Expect, expect};

fn read(schema: &str) -> Result<Form, String> {
    Form::read(Some(&serde_json::from_str(schema).expect("the test has JSON")))
}

/// The flat form of a schema, or why there is none.
fn check(schema: &str, expected: Expect) {
    let shown = match read(schema) {
        Ok(form) => {
            assert_eq!(read(&form.to_row().to_string()).as_ref(), Ok(&form), "rows round-trip");
            form.to_json().to_string()
        }
        Err(why) => format!("refused: {why}"),
    };
    expected.assert_eq(&shown);
}

/// Whether contents fit a schema, one a line.
fn check_content(schema: &str, contents: &[&str], expected: Expect) {
    let form = read(schema).unwrap();
    let mut shown = String::new();
    for content in contents {
        let fields: Map<String, Value> = serde_json::from_str(content).unwrap();
        let fits = form.check(&fields).map_or_else(|why| why, |()| "fits".into());
        shown += &format!("{content} {fits}\n");
    }
    expected.assert_eq(&shown);
}

#[test]
fn forms_that_are_understood() {
    check("true", expect![[r#"{"type":"object","properties":{}}"#]]);
    check("{}", expect![[r#"{"type":"object","properties":{}}"#]]);
    check(
        r#"{"type":"null"}"#,
        expect![[r#"{"type":"object","properties":{},"additionalProperties":false}"#]],
    );
    check(
        r#"{"$schema":"x","title":"Approval","type":"object","required":["ok"],"properties":{
            "ok":{"type":"boolean","title":"OK","default":false},
            "why":{"type":["string","null"],"description":"Why","maxLength":9}}}"#,
        expect![[
            r#"{"type":"object","properties":{"ok":{"type":"boolean","title":"OK","default":false},"why":{"type":"string","maxLength":9,"description":"Why"}},"required":["ok"]}"#
        ]],
    );
    check(
        r##"{"type":"object","properties":{"a":{"$ref":"#/$defs/A"},
            "b":{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]},
            "c":{"allOf":[{"$ref":"#/$defs/B"}],"description":"c"}},
            "$defs":{"A":{"type":"string","enum":["x","y"]},
            "B":{"oneOf":[{"type":"string","const":"p","description":"The p"},{"const":"q"}]}}}"##,
        expect![[
            r#"{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]},"b":{"type":"string","enum":["x","y"]},"c":{"type":"string","oneOf":[{"const":"p","title":"The p"},{"const":"q","title":"q"}],"description":"c"}}}"#
        ]],
    );
    check(
        r#"{"type":"object","properties":{"n":{"type":"integer","format":"uint8","minimum":0,"maximum":255},
            "m":{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1},
            "t":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}},
            "additionalProperties":false}"#,
        expect![[
            r#"{"type":"object","properties":{"n":{"type":"integer","minimum":0,"maximum":255},"m":{"type":"array","items":{"type":"string","enum":["a","b"]},"minItems":1},"t":{"type":"array","items":{"anyOf":[{"const":"a","title":"A"}]}}},"additionalProperties":false}"#
        ]],
    );
    check(
        r#"{"type":"object","additionalProperties":{"type":"string"}}"#,
        expect![[r#"{"type":"object","properties":{},"additionalProperties":{"type":"string"}}"#]],
    );
}

#[test]
fn forms_that_are_refused() {
    check("7", expect!["refused: it is not a JSON object"]);
    check(
        r#"{"type":"string"}"#,
        expect![
            "refused: its type is `string`; a form has type `object` and one property for each field"
        ],
    );
    check(
        r#"{"oneOf":[{"type":"object"}]}"#,
        expect!["refused: `oneOf` is not understood; a form is one flat object"],
    );
    check(
        r#"{"type":"object","required":["x"]}"#,
        expect!["refused: `x` is required, but is no property"],
    );
    check(
        r#"{"type":"object","required":"x"}"#,
        expect!["refused: `required` is not an array of strings"],
    );
    let field = |schema: &str| format!(r#"{{"properties":{{"f":{schema}}}}}"#);
    check(
        &field(r#"{"type":"object"}"#),
        expect![
            "refused: field `f` has type `object`; a field is a string, a number, an integer, a boolean, a choice or an array of choices"
        ],
    );
    check(
        &field(r#"{"type":"array","items":{"type":"string"}}"#),
        expect!["refused: field `f` is an array of something else than choices (`enum`)"],
    );
    check(
        &field(r#"{"type":["string","number"]}"#),
        expect!["refused: field `f` has several types"],
    );
    check(
        &field(r#"{"anyOf":[{"type":"string"},{"type":"number"}]}"#),
        expect!["refused: field `f` has `anyOf` of something else than constants"],
    );
    check(
        &field(r#"{"enum":[1,2]}"#),
        expect!["refused: field `f` has a choice that is no string"],
    );
    check(&field(r#"{"enum":[]}"#), expect!["refused: field `f` has an empty `enum`"]);
    check(
        &field(r#"{"type":"string","pattern":"("}"#),
        expect!["refused: field `f` has a `pattern` that cannot be used: error parsing pattern 0"],
    );
    check(
        &field(r#"{"type":"string","minLength":-1}"#),
        expect!["refused: field `f` has a `minLength` that is no count"],
    );
    check(
        &field(r#"{"type":"number","minimum":"a"}"#),
        expect!["refused: field `f` has a `minimum` that is no number"],
    );
    check(
        &field(r##"{"$ref":"#/$defs/none"}"##),
        expect!["refused: field `f` refers to `#/$defs/none`, which is not in the schema"],
    );
    check(
        &field(r##"{"$ref":"#/properties/f"}"##),
        expect!["refused: field `f` has more than 8 references in a row"],
    );
    check(
        &field(r#"{"$ref":"https://example.com/x"}"#),
        expect!["refused: field `f` refers to `https://example.com/x`, which is not in the schema"],
    );
    check(&field("7"), expect!["refused: field `f` is not a schema"]);
}

#[test]
fn what_fits() {
    check_content(
        r#"{"properties":{"ok":{"type":"boolean"},"n":{"type":"integer","minimum":1,"maximum":9}},
            "required":["ok"]}"#,
        &[
            r#"{"ok":true}"#,
            r#"{"ok":true,"n":3,"more":[]}"#,
            r#"{"ok":true,"n":3.0}"#,
            r#"{"ok":true,"n":3.5}"#,
            r#"{"ok":true,"n":0}"#,
            r#"{"ok":true,"n":10}"#,
            r#"{"ok":true,"n":null}"#,
            r#"{"ok":null}"#,
            "{}",
            r#"{"ok":"yes","n":"3"}"#,
        ],
        expect![[r#"
            {"ok":true} fits
            {"ok":true,"n":3,"more":[]} fits
            {"ok":true,"n":3.0} fits
            {"ok":true,"n":3.5} `n` is not an integer
            {"ok":true,"n":0} `n` is 0, not at least 1
            {"ok":true,"n":10} `n` is 10, not at most 9
            {"ok":true,"n":null} `n` is null
            {"ok":null} `ok` is not true or false
            {} `ok` is missing
            {"ok":"yes","n":"3"} `ok` is not true or false; `n` is not an integer
        "#]],
    );
    check_content(
        r#"{"properties":{"mail":{"type":"string","format":"email"},"at":{"type":"string","format":"date-time"},
            "on":{"type":"string","format":"date"},"url":{"type":"string","format":"uri"},
            "code":{"type":["string","null"],"pattern":"^[A-Z]+$","minLength":2,"maxLength":3},
            "c":{"enum":["a","b"]},"m":{"type":"array","items":{"enum":["a","b"]},"maxItems":1},
            "x":{"type":"number","exclusiveMinimum":0,"exclusiveMaximum":1}},"additionalProperties":false}"#,
        &[
            r#"{"mail":"a@b.c","at":"2026-01-02T03:04:05Z","on":"2026-01-02","url":"urn:x","code":"AB","c":"a","m":["b"],"x":0.5}"#,
            r#"{"mail":"a@b@","at":"2026-01-02","on":"2026-13-02","url":"x","code":"ab"}"#,
            r#"{"mail":"@b","at":"yesterday","on":"2026-1-2","url":"h t:p","code":"ABCD"}"#,
            r#"{"code":null,"c":"z","m":["a","b"],"x":0}"#,
            r#"{"m":["z"],"x":1,"extra":1}"#,
            r#"{"m":[1],"c":7}"#,
        ],
        expect![[r#"
            {"mail":"a@b.c","at":"2026-01-02T03:04:05Z","on":"2026-01-02","url":"urn:x","code":"AB","c":"a","m":["b"],"x":0.5} fits
            {"mail":"a@b@","at":"2026-01-02","on":"2026-13-02","url":"x","code":"ab"} `mail` is not an e-mail address; `at` is not a date and time as 2026-12-31T09:30:00Z; `on` is not a date as 2026-12-31; `url` is not a URI; `code` does not match `^[A-Z]+$`
            {"mail":"@b","at":"yesterday","on":"2026-1-2","url":"h t:p","code":"ABCD"} `mail` is not an e-mail address; `at` is not a date and time as 2026-12-31T09:30:00Z; `on` is not a date as 2026-12-31; `url` is not a URI; `code` has 4 characters, not 2 to 3
            {"code":null,"c":"z","m":["a","b"],"x":0} `c` is none of `a`, `b`; `m` has 2 entries, not at most 1; `x` is 0, not above 0
            {"m":["z"],"x":1,"extra":1} `m` is none of `a`, `b`; `x` is 1, not below 1; `extra` is not asked for
            {"m":[1],"c":7} `c` is not a string; `m` has an entry that is no string
        "#]],
    );
    check_content(
        r#"{"type":"object","additionalProperties":{"type":"string"}}"#,
        &[r#"{"a":"b"}"#, r#"{"a":7}"#],
        expect![[r#"
            {"a":"b"} fits
            {"a":7} `a` is not a string
        "#]],
    );
    check_content(
        r#"{"type":"null"}"#,
        &["{}", r#"{"a":7}"#],
        expect![[r#"
        {} fits
        {"a":7} `a` is not asked for
    "#]],
    );
}

#[test]
fn what_a_text_says() {
    let said = |schema: &str, text: &str| match read(schema).unwrap().read_text(text) {
        Ok(content) => String::from_utf8(content.to_vec()).unwrap(),
        Err(why) => why,
    };
    let one =
        |field: &str| format!(r#"{{"properties":{{"f":{field},"g":{{}}}},"required":["f"]}}"#);
    let mut shown = String::new();
    let boolean = one(r#"{"type":"boolean"}"#);
    let choice = one(r#"{"oneOf":[{"const":"r","title":"Red"},{"const":"g"}]}"#);
    let choices = one(r#"{"type":"array","items":{"enum":["a","b"]}}"#);
    let cases = [
        ("{}", " anything "),
        ("{}", r#"{"a": 1}"#),
        (boolean.as_str(), "Yes!"),
        (boolean.as_str(), "no"),
        (boolean.as_str(), "perhaps"),
        (boolean.as_str(), r#"{"f":true}"#),
        (choice.as_str(), "red"),
        (choice.as_str(), "blue"),
        (choices.as_str(), "a, B"),
        (&one(r#"{"type":"integer"}"#), "12"),
        (&one(r#"{"type":"integer"}"#), "twelve"),
        (&one(r#"{"type":"string"}"#), "twelve"),
        (r#"{"properties":{"f":{},"g":{}}}"#, "which?"),
    ];
    for (schema, text) in cases {
        shown += &format!("{text} => {}\n", said(schema, text));
    }
    expect![[r#"
         anything  => {"text":"anything"}
        {"a": 1} => {"a":1}
        Yes! => {"f":true}
        no => {"f":false}
        perhaps => `f` cannot be read from the text; answer with a JSON object with `f`, `g`
        {"f":true} => {"f":true}
        red => {"f":"r"}
        blue => `f` cannot be read from the text; answer with a JSON object with `f`, `g`
        a, B => {"f":["a","b"]}
        12 => {"f":12}
        twelve => `f` cannot be read from the text; answer with a JSON object with `f`, `g`
        twelve => {"f":"twelve"}
        which? => answer with a JSON object with `f`, `g`
    "#]]
    .assert_eq(&shown);
}

#[test]
fn what_a_handler_gets() {
    let closed = |schema: Option<&str>, content: Option<&str>| {
        let question = match schema {
            Some(schema) => format!(r#"{{"message":"m","schema":{schema}}}"#),
            None => r#"{"message":"m"}"#.to_owned(),
        };
        let question = Question::read(&question.into()).unwrap();
        question.form.content(content.map(|it| Bytes::copy_from_slice(it.as_bytes())))
    };
    assert_eq!(closed(None, None), "{}");
    assert_eq!(closed(None, Some("null")), "{}");
    assert_eq!(closed(Some(r#"{"type":"null"}"#), Some("{}")), "null");
    assert_eq!(closed(None, Some(r#"{"a":1}"#)), r#"{"a":1}"#);
    let (at, by) = (Timestamp(0), Some("ada".to_owned()));
    let accepted = Closed {
        at,
        how: Closing::Answered,
        action: Action::Accept,
        by,
        content: Bytes::from_static(b"{\"a\":1}"),
    };
    expect![[
        r#"{"action":"accept","content":{"a":1},"by":"ada","at":"1970-01-01T00:00:00.000Z"}"#
    ]]
    .assert_eq(std::str::from_utf8(&accepted.result()).unwrap());
    let (how, action, content) = (Closing::Expired, Action::Cancel, Bytes::new());
    let expired = Closed { at, how, action, by: None, content };
    expect![[r#"{"action":"cancel","at":"1970-01-01T00:00:00.000Z"}"#]]
        .assert_eq(std::str::from_utf8(&expired.result()).unwrap());
}

#[test]
fn a_pattern_of_a_row_is_compiled_when_an_answer_is_checked() {
    let schema = r#"{"type":"object","properties":{"f":{"type":"string","pattern":"^[A-Z]+$"}}}"#;
    let compiled = |form: &Form| match &form.fields[0].kind {
        Kind::Text(text) => text.pattern.as_ref().unwrap().regex.get().is_some(),
        kind => panic!("{kind:?} is no text"),
    };
    let asked = read(schema).unwrap();
    assert!(compiled(&asked), "what a handler asks is looked at at once");
    let row = Form::read_row(Some(&asked.to_row())).unwrap();
    assert!(!compiled(&row));
    assert_eq!(row, asked);
    let content = |value: &str| serde_json::from_value(json!({ "f": value })).unwrap();
    assert_eq!(row.check(&content("a")), Err("`f` does not match `^[A-Z]+$`".into()));
    assert!(compiled(&row));
    assert_eq!(row.check(&content("A")), Ok(()));
}

#[test]
fn names_of_ours() {
    assert!(built_in(HUMAN, "ask").is_some() && built_in(TASK, "progress").is_some());
    assert!(built_in(HUMAN, "progress").is_none() && built_in("Human", "ask").is_none());
    assert!(is_ours("holdfast.Other") && !is_ours("holdfast") && !is_ours("Holdfast.Human"));
}
