//! Functions of texts, and of lists that are JSON.

use super::{Given, Scalar, text, truth, whole};
use base64::{Engine, prelude::BASE64_STANDARD};
use rusqlite::types::Value;

/// Longest text that a function makes, in characters.
const CHARS_MAX: usize = 1 << 20;

pub const ALL: &[Scalar] = &[
    ("regexp", 3, |it| Ok(texts(it).map_or(Value::Null, |it| truth(is_like(&it))))),
    ("starts_with", 2, |it| compare(it, |text, part| text.starts_with(part))),
    ("ends_with", 2, |it| compare(it, |text, part| text.ends_with(part))),
    ("contains", 2, |it| compare(it, |text, part| text.contains(part))),
    ("strpos", 2, |it| Ok(texts(it).map_or(Value::Null, |it| place(&it[0], &it[1])))),
    ("position", 2, |it| Ok(texts(it).map_or(Value::Null, |it| place(&it[1], &it[0])))),
    ("split_part", 3, |it| with_number(it, 2, split_part)),
    ("left", 2, |it| with_number(it, 1, |it, count| Ok(left(&it[0], count)))),
    ("right", 2, |it| with_number(it, 1, |it, count| Ok(right(&it[0], count)))),
    ("repeat", 2, |it| with_number(it, 1, |it, count| repeat(&it[0], count))),
    ("reverse", 1, |it| {
        Ok(text(&it[0]).map_or(Value::Null, |it| it.chars().rev().collect::<String>().into()))
    }),
    ("lpad", 2, |it| with_number(it, 1, |it, count| pad(&it[0], count, " ", Side::Left))),
    ("lpad", 3, |it| with_number(it, 1, |it, count| pad(&it[0], count, &it[2], Side::Left))),
    ("rpad", 2, |it| with_number(it, 1, |it, count| pad(&it[0], count, " ", Side::Right))),
    ("rpad", 3, |it| with_number(it, 1, |it, count| pad(&it[0], count, &it[2], Side::Right))),
    ("encode", 2, encode),
    ("array_has", 2, array_has),
];

/// `None` where one is absent.
fn texts(arguments: &[Value]) -> Option<Vec<String>> {
    arguments.iter().map(text).collect()
}

fn compare(arguments: &[Value], is: fn(&str, &str) -> bool) -> Given {
    Ok(texts(arguments).map_or(Value::Null, |it| truth(is(&it[0], &it[1]))))
}

/// With the argument at `place` as a number.
fn with_number(arguments: &[Value], place: usize, function: fn(&[String], i64) -> Given) -> Given {
    match (texts(arguments), whole(&arguments[place])) {
        (Some(texts), Some(number)) => function(&texts, number),
        _ => Ok(Value::Null),
    }
}

/// `ILIKE`, which SQLite calls with the pattern, the text and the sign that escapes.
fn is_like(arguments: &[String]) -> bool {
    let lower = |text: &str| text.to_lowercase().chars().collect::<Vec<char>>();
    let escape = arguments[2].chars().next();
    let pattern = steps(&lower(&arguments[0]), escape);
    let text = lower(&arguments[1]);
    // The last `%`, and how much of the text it stands for: more where the rest does not fit.
    let mut back: Option<(usize, usize)> = None;
    let (mut at, mut step) = (0, 0);
    while at < text.len() {
        match pattern.get(step) {
            Some(Step::Any) => {
                back = Some((step, at));
                step += 1;
            }
            Some(Step::One) => (at, step) = (at + 1, step + 1),
            Some(Step::Is(c)) if *c == text[at] => (at, step) = (at + 1, step + 1),
            _ => match back {
                Some((any, taken)) => {
                    back = Some((any, taken + 1));
                    (at, step) = (taken + 1, any + 1);
                }
                None => return false,
            },
        }
    }
    pattern[step..].iter().all(|step| matches!(step, Step::Any))
}

enum Step {
    Any,
    One,
    Is(char),
}

fn steps(pattern: &[char], escape: Option<char>) -> Vec<Step> {
    let mut steps = vec![];
    let mut signs = pattern.iter().copied();
    while let Some(sign) = signs.next() {
        steps.push(match sign {
            _ if Some(sign) == escape => Step::Is(signs.next().unwrap_or(sign)),
            '%' => Step::Any,
            '_' => Step::One,
            c => Step::Is(c),
        });
    }
    steps
}

/// From 1, in characters; 0 where it is not there.
fn place(text: &str, part: &str) -> Value {
    let found = text.find(part).map_or(0, |at| text[..at].chars().count() + 1);
    Value::Integer(found as i64)
}

fn split_part(arguments: &[String], number: i64) -> Given {
    let parts: Vec<&str> = match arguments[1].as_str() {
        "" => vec![&arguments[0]],
        delimiter => arguments[0].split(delimiter).collect(),
    };
    let place = match number {
        0 => return Err("parts are counted from 1, or from -1 at the end".into()),
        1.. => usize::try_from(number - 1).ok(),
        _ => usize::try_from(number.unsigned_abs()).ok().and_then(|it| parts.len().checked_sub(it)),
    };
    let part = place.and_then(|place| parts.get(place)).copied();
    Ok(part.unwrap_or_default().to_owned().into())
}

/// How many of `all` a number means: a negative one means all but so many.
fn count(all: usize, number: i64) -> usize {
    let size = usize::try_from(number.unsigned_abs()).unwrap_or(usize::MAX);
    if number < 0 { all.saturating_sub(size) } else { size.min(all) }
}

fn left(text: &str, number: i64) -> Value {
    let all = text.chars().count();
    text.chars().take(count(all, number)).collect::<String>().into()
}

fn right(text: &str, number: i64) -> Value {
    let all = text.chars().count();
    text.chars().skip(all - count(all, number)).collect::<String>().into()
}

fn length(number: i64) -> Result<usize, String> {
    let number = usize::try_from(number.max(0)).unwrap_or(usize::MAX);
    if number > CHARS_MAX {
        return Err(format!("a text of {number} characters is too long; at most {CHARS_MAX}"));
    }
    Ok(number)
}

fn repeat(text: &str, number: i64) -> Given {
    let times = length(number)?;
    length(i64::try_from(times.saturating_mul(text.len())).unwrap_or(i64::MAX))?;
    Ok(text.repeat(times).into())
}

enum Side {
    Left,
    Right,
}

fn pad(text: &str, number: i64, with: &str, side: Side) -> Given {
    let wanted = length(number)?;
    let missing = wanted.saturating_sub(text.chars().count());
    let padding: String = with.chars().cycle().take(missing).collect();
    let kept: String = text.chars().take(wanted).collect();
    Ok(match side {
        Side::Left => padding + &kept,
        Side::Right => kept + &padding,
    }
    .into())
}

fn encode(arguments: &[Value]) -> Given {
    let bytes = match &arguments[0] {
        Value::Null => return Ok(Value::Null),
        Value::Blob(bytes) => bytes.clone(),
        other => text(other).unwrap_or_default().into_bytes(),
    };
    match text(&arguments[1]).as_deref() {
        Some("hex") => Ok(super::super::answer::hex(&bytes).into()),
        Some("base64") => Ok(BASE64_STANDARD.encode(bytes).into()),
        _ => Err("bytes are encoded as 'hex' or 'base64'".into()),
    }
}

fn array_has(arguments: &[Value]) -> Given {
    let Some(list) = text(&arguments[0]) else {
        return Ok(Value::Null);
    };
    let list: Vec<serde_json::Value> =
        serde_json::from_str(&list).map_err(|_| format!("`{list}` is not a list"))?;
    let wanted = match &arguments[1] {
        Value::Integer(number) => (*number).into(),
        other => serde_json::Value::from(text(other)),
    };
    Ok(truth(list.contains(&wanted)))
}
