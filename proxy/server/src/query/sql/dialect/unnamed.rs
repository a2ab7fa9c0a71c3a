//! Subqueries without a name: existing tools still say `inv.id` behind
//! `FROM (SELECT * FROM sys_invocation inv LIMIT 5)`, so the subquery is given the name of its table.

use super::token::{Kind, Token};

/// Words that may stand behind a table, and are no name of it.
const NO_NAMES: [&str; 18] = [
    "where",
    "group",
    "having",
    "order",
    "limit",
    "offset",
    "union",
    "except",
    "intersect",
    "join",
    "left",
    "right",
    "full",
    "inner",
    "cross",
    "natural",
    "on",
    "using",
];

/// Behind which tokens a name is missing, and which, in order.
pub fn names<'t>(tokens: &[Token<'t>]) -> Vec<(usize, &'t str)> {
    let code: Vec<(usize, Token<'t>)> =
        tokens.iter().copied().enumerate().filter(|(_, it)| it.kind != Kind::Blank).collect();
    let mut open = vec![];
    let mut names = vec![];
    for (at, (_, token)) in code.iter().enumerate() {
        match token.text {
            "(" => open.push(at),
            ")" => {
                let begin = open.pop();
                names.extend(begin.and_then(|begin| name(&code, begin, at)));
            }
            _ => {}
        }
    }
    names
}

/// The name that what stands from `begin` to `end` needs.
fn name<'t>(code: &[(usize, Token<'t>)], begin: usize, end: usize) -> Option<(usize, &'t str)> {
    let (_, before) = code.get(begin.checked_sub(1)?)?;
    let is_table = before.is("from") || before.is("join");
    let is_query = code[begin + 1].1.is("select");
    let is_named = code.get(end + 1).is_some_and(|(_, behind)| can_name(behind));
    if !is_table || !is_query || is_named {
        return None;
    }
    Some((code[end].0, table(&code[begin + 1..end])?))
}

/// How the first table of a query is called there.
fn table<'t>(query: &[(usize, Token<'t>)]) -> Option<&'t str> {
    let mut depth = 0_usize;
    let from = query.iter().position(|(_, token)| {
        match token.text {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && token.is("from")
    })?;
    let mut behind = query[from + 1..].iter().map(|(_, token)| token);
    let table = behind.next().filter(|token| can_name(token))?;
    match behind.find(|token| !token.is("as")) {
        Some(alias) if can_name(alias) => Some(alias.text),
        _ => Some(table.text),
    }
}

fn can_name(token: &Token<'_>) -> bool {
    let is_word = matches!(token.kind, Kind::Word | Kind::Quoted);
    is_word && !NO_NAMES.iter().any(|word| token.is(word))
}
