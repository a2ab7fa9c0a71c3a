//! What handlers take and give: rules that are taken or refused, and what they say to requests.

use expect_test::{Expect, expect};
use holdfast_wire::manifest::{Input, Output};
use serde_json::{Value, json};

use crate::manifest::{check, handler, parse};

#[test]
fn content_types_of_handlers() {
    for (input, good) in [
        ("*/*", true),
        ("text/*", true),
        ("application/vnd.a+json", true),
        ("", false),
        ("json", false),
        ("*/json", false),
        ("a/", false),
        ("a/b; c=d", false),
        ("a/b/c", false),
    ] {
        let manifest = handler(json!({"input": {"contentType": input}}));
        assert_eq!(parse(&manifest).is_ok(), good, "{input}");
    }
    check(
        handler(json!({"input": {"contentType": "json"}})),
        expect![
            "handler `S/h`: input content type `json` cannot be read; expected `type/subtype`, `type/*` or `*/*`"
        ],
    );
    check(
        handler(json!({"output": {"contentType": "a/b\r\nx: y"}})),
        expect![[
            r#"handler `S/h`: output content type "a/b\r\nx: y" cannot stand in a header; expected `type/subtype`"#
        ]],
    );
    assert!(parse(&handler(json!({"output": {"contentType": "a/b; charset=utf-8"}}))).is_ok());
}

#[test]
fn schemas() {
    let input =
        |schema: Value| handler(json!({"input": {"contentType": "a/b", "jsonSchema": schema}}));
    for schema in [
        json!({}),
        json!(true),
        json!(null),
        json!({"$ref": "#/$defs/a", "$defs": {"a": {}}}),
        json!({"$ref": "a.json", "$defs": {"a": {"$id": "a.json"}}}),
        json!({"properties": {"$ref": {"type": "string"}, "default": {"type": "number"}}}),
        json!({"const": {"$ref": "http://a/b"}, "examples": [{"$ref": "http://a/b"}]}),
    ] {
        assert!(parse(&input(schema.clone())).is_ok(), "{schema}");
    }
    for schema in [
        json!({"$ref": "http://a/b"}),
        json!({"properties": {"default": {"$ref": "b.json#/c"}}}),
        json!({"allOf": [{"items": {"$ref": "b.json"}}]}),
    ] {
        assert!(parse(&input(schema.clone())).is_err(), "{schema}");
    }
    check(
        input(json!(1)),
        expect!["handler `S/h`: JSON schema of the input is neither an object nor a boolean"],
    );
    check(
        input(json!({"not": {"$ref": "http://a/b"}})),
        expect![
            "handler `S/h`: JSON schema of the input refers to `http://a/b`, which is outside of it; nothing is fetched, so put the definition inside"
        ],
    );
    check(
        handler(json!({"output": {"jsonSchema": {"$ref": "b"}}})),
        expect![
            "handler `S/h`: JSON schema of the output refers to `b`, which is outside of it; nothing is fetched, so put the definition inside"
        ],
    );
}

/// What becomes of requests with each content type, first without and then with a body.
fn check_input(input: Option<Value>, expected: Expect) {
    let fields = input.map_or(json!({}), |input| json!({"input": input}));
    let input: Input = parse(&handler(fields)).unwrap().services[0].handlers[0].input.clone();
    let mut table = String::new();
    for content_type in [None, Some("application/json; charset=utf-8"), Some("TEXT/plain")] {
        for body_is_empty in [true, false] {
            let body = if body_is_empty { "empty" } else { "body" };
            let verdict = match input.accepts(content_type, body_is_empty) {
                Ok(()) => "taken".to_owned(),
                Err(refusal) => refusal.to_string(),
            };
            table += &format!("{} {body}: {verdict}\n", content_type.unwrap_or("none"));
        }
    }
    expected.assert_eq(&table);
}

#[test]
fn nothing_said_of_the_input() {
    check_input(
        None,
        expect![[r#"
        none empty: taken
        none body: no content type given; expected `*/*`; set the header content-type
        application/json; charset=utf-8 empty: taken
        application/json; charset=utf-8 body: taken
        TEXT/plain empty: taken
        TEXT/plain body: taken
    "#]],
    );
}

#[test]
fn no_input() {
    check_input(
        Some(json!({})),
        expect![[r#"
        none empty: taken
        none body: handler takes no input; send neither a body nor a content type
        application/json; charset=utf-8 empty: handler takes no input; send neither a body nor a content type
        application/json; charset=utf-8 body: handler takes no input; send neither a body nor a content type
        TEXT/plain empty: handler takes no input; send neither a body nor a content type
        TEXT/plain body: handler takes no input; send neither a body nor a content type
    "#]],
    );
}

#[test]
fn optional_input_of_a_type() {
    check_input(
        Some(json!({"contentType": "application/json"})),
        expect![[r#"
            none empty: taken
            none body: no content type given; expected `application/json`; set the header content-type
            application/json; charset=utf-8 empty: taken
            application/json; charset=utf-8 body: taken
            TEXT/plain empty: content type `TEXT/plain` is not what the handler takes; expected `application/json`
            TEXT/plain body: content type `TEXT/plain` is not what the handler takes; expected `application/json`
        "#]],
    );
}

#[test]
fn required_input_of_a_range_of_types() {
    check_input(
        Some(json!({"contentType": "text/*", "required": true})),
        expect![[r#"
            none empty: no content type given; expected `text/*`; set the header content-type
            none body: no content type given; expected `text/*`; set the header content-type
            application/json; charset=utf-8 empty: content type `application/json; charset=utf-8` is not what the handler takes; expected `text/*`
            application/json; charset=utf-8 body: content type `application/json; charset=utf-8` is not what the handler takes; expected `text/*`
            TEXT/plain empty: taken
            TEXT/plain body: taken
        "#]],
    );
}

#[test]
fn required_input_with_a_schema() {
    let input = json!({"contentType": "application/json", "required": true, "jsonSchema": {}});
    check_input(
        Some(input),
        expect![[r#"
        none empty: no content type given; expected `application/json`; set the header content-type
        none body: no content type given; expected `application/json`; set the header content-type
        application/json; charset=utf-8 empty: body is empty; expected `application/json`
        application/json; charset=utf-8 body: taken
        TEXT/plain empty: content type `TEXT/plain` is not what the handler takes; expected `application/json`
        TEXT/plain body: content type `TEXT/plain` is not what the handler takes; expected `application/json`
    "#]],
    );
}

#[test]
fn required_input_of_no_type() {
    check_input(
        Some(json!({"required": true})),
        expect![[r#"
        none empty: handler requires an input but its discovery names no content type for it; set one where the handler is defined
        none body: handler requires an input but its discovery names no content type for it; set one where the handler is defined
        application/json; charset=utf-8 empty: handler requires an input but its discovery names no content type for it; set one where the handler is defined
        application/json; charset=utf-8 body: handler requires an input but its discovery names no content type for it; set one where the handler is defined
        TEXT/plain empty: handler requires an input but its discovery names no content type for it; set one where the handler is defined
        TEXT/plain body: handler requires an input but its discovery names no content type for it; set one where the handler is defined
    "#]],
    );
}

#[test]
fn content_type_of_the_output() {
    let output = |fields: Value| -> Output {
        parse(&handler(fields)).unwrap().services[0].handlers[0].output.clone()
    };
    let both = |fields| {
        let output = output(fields);
        [true, false].map(|empty| output.content_type_for(empty).map(str::to_owned))
    };
    let json = || Some("application/json".to_owned());
    let text = || Some("text/plain".to_owned());
    assert_eq!(both(json!({})), [None, json()]);
    assert_eq!(both(json!({"output": {}})), [None, None]);
    assert_eq!(both(json!({"output": {"setContentTypeIfEmpty": true}})), [None, None]);
    assert_eq!(both(json!({"output": {"contentType": "text/plain"}})), [None, text()]);
    let always = json!({"output": {"contentType": "text/plain", "setContentTypeIfEmpty": true}});
    assert_eq!(both(always), [text(), text()]);
}
