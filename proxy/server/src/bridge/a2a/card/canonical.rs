//! JSON in the one form that is signed: RFC 8785. Members in the order of their UTF-16 units, no
//! blanks, as little escaped as may be, numbers as ECMAScript writes them.

use serde_json::{Map, Number, Value};
use std::fmt::Write;

/// Integers beyond this are not what a reader with doubles sees; they are written as it would.
const EXACT_MAX: u64 = 1 << 53;

/// The canonical text of a value.
pub fn text(value: &Value) -> String {
    let mut out = String::new();
    write(value, &mut out);
    out
}

/// The value without empty texts, lists and objects, everywhere: what the SDKs of the protocol
/// sign and verify.
pub fn without_empty(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.iter().map(|(name, value)| (name.clone(), without_empty(value)));
            Value::Object(kept.filter(|(_, value)| !is_empty(value)).collect())
        }
        Value::Array(values) => {
            let kept = values.iter().map(without_empty);
            Value::Array(kept.filter(|value| !is_empty(value)).collect())
        }
        other => other.clone(),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Null => true,
        Value::Bool(_) | Value::Number(_) => false,
    }
}

fn write(value: &Value, out: &mut String) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::Number(value) => number(value, out),
        Value::String(value) => string(value, out),
        Value::Array(values) => {
            out.push('[');
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(value, out);
            }
            out.push(']');
        }
        Value::Object(members) => object(members, out),
    }
}

fn object(members: &Map<String, Value>, out: &mut String) {
    let mut members: Vec<_> = members.iter().collect();
    members.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
    out.push('{');
    for (at, (name, value)) in members.into_iter().enumerate() {
        if at > 0 {
            out.push(',');
        }
        string(name, out);
        out.push(':');
        write(value, out);
    }
    out.push('}');
}

fn string(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            control if control < ' ' => {
                write!(out, "\\u{:04x}", u32::from(control)).expect("a string takes everything");
            }
            other => out.push(other),
        }
    }
    out.push('"');
}

fn number(value: &Number, out: &mut String) {
    if value.as_u64().is_some_and(|value| value <= EXACT_MAX)
        || value.as_i64().is_some_and(|value| value.unsigned_abs() <= EXACT_MAX)
    {
        return out.push_str(&value.to_string());
    }
    match value.as_f64() {
        Some(double) => ecmascript(double, out),
        None => out.push_str(&value.to_string()),
    }
}

/// `Number::toString`: the shortest digits that read back, plain between 1e-7 and 1e21.
fn ecmascript(value: f64, out: &mut String) {
    if value == 0.0 {
        return out.push('0');
    }
    let shortest = shortest(value);
    let (digits, exponent) = shortest.split_once('e').expect("a double has an exponent");
    let exponent: i32 = exponent.parse().expect("the exponent of a double is small");
    let digits = match digits.strip_prefix('-') {
        Some(digits) => {
            out.push('-');
            digits
        }
        None => digits,
    };
    let digits = digits.replace('.', "");
    let count = i32::try_from(digits.len()).expect("a double has few digits");
    let point = exponent + 1;
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or(0));
    match point {
        22.. | ..=-6 => {
            out.push_str(&digits[..1]);
            if digits.len() > 1 {
                out.push('.');
                out.push_str(&digits[1..]);
            }
            write!(out, "e{exponent:+}").expect("a string takes everything");
        }
        _ if point <= 0 => {
            out.push_str("0.");
            out.push_str(&zeros(-point));
            out.push_str(&digits);
        }
        _ if count <= point => {
            out.push_str(&digits);
            out.push_str(&zeros(point - count));
        }
        _ => {
            let point = usize::try_from(point).unwrap_or(0);
            out.push_str(&digits[..point]);
            out.push('.');
            out.push_str(&digits[point..]);
        }
    }
}

/// The shortest digits that read back; of several the closest, of two as close the even one.
fn shortest(value: f64) -> String {
    let any = format!("{value:e}");
    let digits = any.bytes().take_while(|byte| *byte != b'e').filter(u8::is_ascii_digit).count();
    let closest = format!("{value:.*e}", digits.saturating_sub(1));
    if closest.parse() == Ok(value) { closest } else { any }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use serde_json::json;

    fn check(value: &Value, expected: Expect) {
        expected.assert_eq(&text(value));
    }

    #[test]
    fn members_are_sorted_by_utf16_and_nothing_is_escaped_that_need_not_be() {
        let value = json!({
            "\u{20ac}": "Euro", "\r": "CR", "\u{fb33}": "Dalet", "1": "One", "\u{1f600}": "Smile",
            "\u{80}": "Control", "\u{f6}": "O", "text": "\u{20ac}$\u{f}\nA'B\"\\\"/",
        });
        check(
            &value,
            expect![[
                r#"{"\r":"CR","1":"One","text":"€$\u000f\nA'B\"\\\"/","":"Control","ö":"O","€":"Euro","😀":"Smile","דּ":"Dalet"}"#
            ]],
        );
    }

    /// The samples of RFC 8785, appendix B, and some edges.
    #[test]
    fn numbers_are_ecmascripts() {
        let samples = [
            (0x0000_0000_0000_0000, "0"),
            (0x8000_0000_0000_0000, "0"),
            (0x0000_0000_0000_0001, "5e-324"),
            (0x8000_0000_0000_0001, "-5e-324"),
            (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
            (0x4340_0000_0000_0000, "9007199254740992"),
            (0xc340_0000_0000_0000, "-9007199254740992"),
            (0x4430_0000_0000_0000, "295147905179352830000"),
            (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
            (0x44b5_2d02_c7e1_4af6, "1e+23"),
            (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
            (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
            (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
            (0x444b_1ae4_d6e2_ef50, "1e+21"),
            (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
            (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
            (0x41b3_de43_5555_5553, "333333333.3333332"),
            (0x41b3_de43_5555_5557, "333333333.33333343"),
            (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
            (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
        ];
        for (bits, expected) in samples {
            let value = serde_json::Number::from_f64(f64::from_bits(bits)).unwrap();
            assert_eq!(text(&Value::Number(value)), expected, "{bits:x}");
        }
        assert_eq!(text(&json!(u64::MAX)), "18446744073709552000");
        assert_eq!(text(&json!(-7)), "-7");
        assert_eq!(text(&json!(4.50)), "4.5");
    }

    #[test]
    fn what_is_empty_goes_everywhere() {
        let value = json!({"a": "", "b": [{"c": {"d": []}}], "e": false, "f": 0, "g": ["", "x"]});
        check(&without_empty(&value), expect![[r#"{"e":false,"f":0,"g":["x"]}"#]]);
    }
}
