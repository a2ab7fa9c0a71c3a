//! The expressions of a question, as far as their types can be told from the words alone.

/// An expression between `SELECT` and `FROM`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// All columns of one or more tables.
    Star,
    /// Is true or false.
    Truth,
    Other,
}

/// The expressions of the first `SELECT` that is in no bracket.
pub fn items(code: &[&str]) -> Vec<Item> {
    let mut depth = 0_usize;
    let mut items: Vec<Vec<&str>> = vec![];
    let mut selecting = false;
    for (at, word) in code.iter().enumerate() {
        match word.to_ascii_lowercase().as_str() {
            "(" | "case" => depth += 1,
            ")" | "end" => depth = depth.saturating_sub(1),
            "select" if depth == 0 && !selecting => {
                selecting = true;
                items.push(vec![]);
                continue;
            }
            "," if depth == 0 && selecting => {
                items.push(vec![]);
                continue;
            }
            "from" if depth == 0 && is_distinct(&code[..at]) => {}
            "from" | "where" | "group" | "having" | "order" | "limit" | "union" | "except"
            | "intersect"
                if depth == 0 && selecting =>
            {
                break;
            }
            _ => {}
        }
        if let Some(item) = items.last_mut() {
            item.push(word);
        }
    }
    items.iter().map(|item| judge(item)).collect()
}

/// `IS DISTINCT FROM` is an operator.
fn is_distinct(before: &[&str]) -> bool {
    before.last().is_some_and(|word| word.eq_ignore_ascii_case("distinct"))
}

fn judge(item: &[&str]) -> Item {
    if item.last() == Some(&"*") && (item.len() == 1 || item[item.len() - 2] == ".") {
        return Item::Star;
    }
    match is_truth(item) {
        true => Item::Truth,
        false => Item::Other,
    }
}

/// Comparisons bind looser than all that is not one: if there is one outside of brackets, the whole
/// is one.
fn is_truth(item: &[&str]) -> bool {
    const COMPARE: [&str; 20] = [
        "=", "==", "<>", "!=", "<", ">", "<=", ">=", "is", "isnull", "notnull", "in", "like",
        "glob", "between", "not", "and", "or", "exists", "true",
    ];
    let mut depth = 0_usize;
    for word in item {
        let word = word.to_ascii_lowercase();
        match word.as_str() {
            "(" | "case" => depth += 1,
            ")" | "end" => depth = depth.saturating_sub(1),
            "false" if depth == 0 => return true,
            word if depth == 0 && COMPARE.contains(&word) => return true,
            _ => {}
        }
    }
    unwrapped(item).is_some_and(is_truth)
}

/// What is in brackets, where nothing but a name is behind them.
fn unwrapped<'a, 't>(item: &'a [&'t str]) -> Option<&'a [&'t str]> {
    let mut depth = 0_usize;
    let end = item.iter().position(|word| {
        match *word {
            "(" => depth += 1,
            ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })?;
    let is_query = item.get(1).is_some_and(|word| word.eq_ignore_ascii_case("select"));
    let named = match &item[end + 1..] {
        [] | [_] => true,
        [word, _] => word.eq_ignore_ascii_case("as"),
        _ => false,
    };
    (end > 0 && named && !is_query).then(|| &item[1..end])
}
