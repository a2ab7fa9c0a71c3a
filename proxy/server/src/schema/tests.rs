//! Schemas and values as text, and what is said of them.

use super::{Check, STEPS_MAX, check};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use serde_json::{Value, json};

/// For each line of values, what the schema says.
fn verdicts(schema: Value, values: &[&str], expected: Expect) {
    let said = values.iter().map(|text| {
        let value = serde_json::from_str(text).unwrap();
        match check(&schema, &value) {
            Ok(()) => format!("{text}: good\n"),
            Err(violation) => format!("{text}: {violation}\n"),
        }
    });
    expected.assert_eq(&said.collect::<String>());
}

#[test]
fn the_arguments_of_a_refund() {
    let schema = json!({
        "type": "object",
        "properties": {
            "orderId": { "type": "string", "minLength": 1 },
            "amount": { "type": "number", "minimum": 0 },
            "items": { "type": "array", "items": { "$ref": "#/$defs/Item" }, "maxItems": 2 },
        },
        "required": ["orderId", "amount"],
        "additionalProperties": false,
        "$defs": { "Item": { "type": "integer", "multipleOf": 2 } },
    });
    verdicts(
        schema,
        &[
            r#"{"orderId":"o","amount":1.5}"#,
            r#"{"orderId":7,"amount":1}"#,
            r#"{"orderId":"o"}"#,
            r#"{"orderId":"o","amount":-1}"#,
            r#"{"orderId":"","amount":1}"#,
            r#"{"orderId":"o","amount":1,"who":1}"#,
            r#"{"orderId":"o","amount":1,"items":[2,3]}"#,
            r#"{"orderId":"o","amount":1,"items":[2,4.0]}"#,
            r#"{"orderId":"o","amount":1,"items":[2,4,6]}"#,
            "[]",
        ],
        expect![[r#"
            {"orderId":"o","amount":1.5}: good
            {"orderId":7,"amount":1}: `/orderId` is 7, not of type string
            {"orderId":"o"}: `/amount` is missing
            {"orderId":"o","amount":-1}: `/amount` is -1, below 0
            {"orderId":"","amount":1}: `/orderId` has fewer than 1 characters
            {"orderId":"o","amount":1,"who":1}: `/who` is not known here
            {"orderId":"o","amount":1,"items":[2,3]}: `/items/1` is 3, no multiple of 2
            {"orderId":"o","amount":1,"items":[2,4.0]}: good
            {"orderId":"o","amount":1,"items":[2,4,6]}: `/items` has more than 2 items
            []: the value is an array, not of type object
        "#]],
    );
}

#[test]
fn choices() {
    let schema = json!({
        "oneOf": [
            { "type": "string", "enum": ["red", "green"] },
            { "type": "number", "exclusiveMinimum": 3 },
            { "type": ["null", "boolean"] },
        ],
        "not": { "const": 5 },
    });
    verdicts(
        schema,
        &[r#""red""#, r#""blue""#, "4", "3", "5", "5.0", "null", "true", "[1]"],
        expect![[r#"
            "red": good
            "blue": the value is "blue", not one of "red", "green"
            4: good
            3: the value is 3, not above 3
            5: the value is of a kind that is not allowed
            5.0: the value is of a kind that is not allowed
            null: good
            true: good
            [1]: the value is an array, which fits none of the choices
        "#]],
    );
    let schema = json!({ "oneOf": [{ "minimum": 1 }, { "maximum": 3 }] });
    verdicts(
        schema,
        &["0", "2"],
        expect![[r#"
            0: good
            2: the value fits more than one of the choices, and only one may fit
        "#]],
    );
}

#[test]
fn formats_and_patterns() {
    let schema = json!({ "additionalProperties": false, "properties": {
        "email": { "format": "email" },
        "uri": { "format": "uri" },
        "date": { "format": "date" },
        "at": { "format": "date-time" },
        "id": { "pattern": "^[a-z]{2}[0-9]+$" },
        "look": { "pattern": "(?=not read here)" },
    }});
    verdicts(
        schema,
        &[
            r#"{"email":"a@b","uri":"https://h/p","date":"2026-11-30","at":"2026-11-30T01:02:03Z","id":"ab1","look":""}"#,
            r#"{"email":"a b@c"}"#,
            r#"{"uri":"h/p"}"#,
            r#"{"date":"2026-02-30"}"#,
            r#"{"at":"2026-11-30 01:02"}"#,
            r#"{"id":"ab"}"#,
        ],
        expect![[r#"
            {"email":"a@b","uri":"https://h/p","date":"2026-11-30","at":"2026-11-30T01:02:03Z","id":"ab1","look":""}: good
            {"email":"a b@c"}: `/email` is no email
            {"uri":"h/p"}: `/uri` is no uri
            {"date":"2026-02-30"}: `/date` is no date
            {"at":"2026-11-30 01:02"}: `/at` is no date-time
            {"id":"ab"}: `/id` does not match `^[a-z]{2}[0-9]+$`
        "#]],
    );
}

#[test]
fn what_never_ends_ends() {
    let circle = json!({ "$ref": "#" });
    assert_eq!(check(&circle, &json!(1)), Ok(()));
    let doubling = json!({ "$defs": { "a": { "anyOf": [
        { "allOf": [{ "$ref": "#/$defs/a" }, false] }, { "allOf": [{ "$ref": "#/$defs/a" }, false] },
    ] } }, "$ref": "#/$defs/a" });
    // It need not be right, it has to come to an end.
    let _ = check(&doubling, &json!(1));
}

proptest! {
    #[test]
    fn any_schema_and_value_come_to_an_end(schema in anything(), value in anything()) {
        let _ = check(&schema, &value);
    }
}

/// JSON with the keywords of schemas in it.
fn anything() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        prop_oneof![Just("object"), Just("#"), Just("a"), Just("(")].prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        let name = prop_oneof![
            Just("type"),
            Just("properties"),
            Just("items"),
            Just("anyOf"),
            Just("oneOf"),
            Just("not"),
            Just("$ref"),
            Just("required"),
            Just("a"),
            Just("enum"),
            Just("if"),
            Just("then"),
            Just("additionalProperties"),
            Just("multipleOf"),
            Just("pattern"),
            Just("minimum"),
            Just("contains"),
            Just("uniqueItems"),
            Just("format"),
        ];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((name, inner), 0..6).prop_map(|fields| {
                fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
            }),
        ]
    })
}

#[test]
fn a_pattern_is_compiled_once() {
    let schema = json!({ "items": { "pattern": r"^\p{L}+[0-9]{1,10}$" } });
    let items: Value = (0..20_000).map(|index| format!("item{index}")).collect();
    let mut check = Check::new(&schema);
    assert_eq!(check.value(&schema, &items), Ok(()));
    assert_eq!(check.patterns.len(), 1);
    assert!(check.steps > 40_000, "each match is a step: {}", check.steps);
    let mut items = items;
    items[19_999] = json!("-");
    let wrong = super::check(&schema, &items).unwrap_err();
    assert_eq!(wrong.at, "/19999");
}

#[test]
fn work_is_bounded_for_fields_times_patterns() {
    let patterns: serde_json::Map<_, _> =
        (0..100).map(|index| (format!("^{index}x"), json!({ "type": "string" }))).collect();
    let schema = json!({ "patternProperties": patterns, "not": {} });
    let fields: serde_json::Map<_, _> =
        (0..100_000).map(|index| (format!("field{index}"), json!(1))).collect();
    let fields = Value::Object(fields);
    let mut spent = Check::new(&schema);
    let _ = spent.value(&schema, &fields);
    assert!(spent.steps >= STEPS_MAX && spent.steps < 2 * STEPS_MAX, "{}", spent.steps);
    assert_eq!(check(&schema, &fields), Ok(()), "it is taken for good, whatever `not` says");
    assert!(check(&schema, &json!({})).is_err(), "a small one is looked at");
}
