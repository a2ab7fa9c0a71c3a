//! What is registered, as agents see it.

use super::*;
use crate::registry::{Declared, Options};
use expect_test::{Expect, expect};
use holdfast_machine::{id::DeploymentId, retry::RetryPolicy};
use holdfast_wire::manifest::{HandlerType, Input, Output, ServiceType};
use serde_json::json;
use std::time::Duration;

type Metadata<'m> = &'m [(&'m str, &'m str)];

fn metadata(said: Metadata<'_>) -> BTreeMap<String, String> {
    said.iter().map(|(name, value)| (format!("holdfast.{name}"), (*value).to_owned())).collect()
}

fn handler(name: &str, said: Metadata<'_>) -> Handler {
    let options = Options {
        inactivity_timeout: Duration::ZERO,
        abort_timeout: Duration::ZERO,
        journal_retention: Duration::ZERO,
        idempotency_retention: Duration::ZERO,
        workflow_completion_retention: Duration::ZERO,
        lazy_state: false,
        retry: RetryPolicy::default(),
    };
    Handler {
        name: name.to_owned(),
        ty: HandlerType::Service,
        public: true,
        documentation: Some(format!("Does {name}.")),
        metadata: metadata(said),
        input: Input::default(),
        output: Output::default(),
        options,
        declared: Declared::default(),
        cuts: vec![],
    }
}

fn schema(services: Vec<(&str, Metadata<'_>, Vec<Handler>)>) -> Schema {
    let services = services.into_iter().map(|(name, said, handlers)| {
        let options = handlers[0].options.clone();
        let handlers = handlers.into_iter().map(|it| (it.name.clone(), Arc::new(it))).collect();
        let service = Service {
            name: name.to_owned(),
            ty: ServiceType::Service,
            revision: 1,
            deployment: DeploymentId(1),
            public: true,
            documentation: None,
            metadata: metadata(said),
            handlers,
            options,
            cuts: vec![],
        };
        (name.to_owned(), Arc::new(service))
    });
    Schema { services: services.collect(), ..Schema::default() }
}

fn show(catalogue: &Catalogue) -> String {
    let line = |exposed: &Arc<Exposed>| {
        let Exposed { tool, agent, skill, title, shown, tasks, asks, .. } = &**exposed;
        let title = title.as_deref().unwrap_or("-");
        format!(
            "{tool} = {agent}/{skill} ({title}) mcp {:?} a2a {:?} {tasks:?} asks {asks}\n",
            shown.mcp, shown.a2a
        )
    };
    catalogue.handlers.iter().map(line).collect()
}

fn check(schema: &Schema, config: &Config, expected: Expect) {
    expected.assert_eq(&show(&catalogue(schema, config, 1)));
}

#[test]
fn handlers_are_shown_as_their_metadata_says() {
    let hidden = Handler { public: false, ..handler("hidden", &[("expose", "mcp")]) };
    let schema = schema(vec![
        ("Plain", &[], vec![handler("a", &[]), hidden]),
        (
            "Refunds",
            &[("expose", "mcp"), ("agent", "money"), ("tasks", "required"), ("tool", "x")],
            vec![
                handler("give", &[("tool", "refund it!"), ("title", "Refund"), ("asks", "true")]),
                handler(
                    "list",
                    &[("expose", "a2a, none"), ("tasks", "sometimes"), ("skill", "all")],
                ),
                handler("never", &[("expose", "none")]),
            ],
        ),
        ("Single", &[("tool", "single"), ("expose", "mcp,ftp")], vec![handler("only", &[])]),
    ]);
    check(
        &schema,
        &Config::default(),
        expect![[r#"
            Plain.a = Plain/a (-) mcp Local a2a Local Optional asks false
            refund_it_ = money/give (Refund) mcp All a2a Nobody Required asks true
            Refunds.list = money/all (-) mcp Nobody a2a All Required asks false
            single = Single/only (-) mcp All a2a Nobody Optional asks false
        "#]],
    );
    let rule = |text: &str| toml::from_str::<Rule>(text).unwrap();
    let rules = vec![
        rule("service = 'Refunds'\nexpose = ['mcp', 'a2a']\nasks = false"),
        rule("service = 'Refunds'\nhandler = 'list'\nexpose = []"),
        rule("service = 'Single'\ntool = 'one'\ntasks = 'forbidden'\nread_only = true"),
    ];
    let config = Config { default: ByDefault::None, rules };
    check(
        &schema,
        &config,
        expect![[r#"
            refund_it_ = money/give (Refund) mcp All a2a All Required asks false
            Refunds.never = money/never (-) mcp All a2a All Required asks false
            one = Single/only (-) mcp All a2a Nobody Forbidden asks false
        "#]],
    );
}

#[test]
fn settings_say_what_metadata_could() {
    let handlers = vec![handler("give", &[("requires", "sampling"), ("tool", "give")])];
    let schema = schema(vec![("Refunds", &[("title", "of the service")], handlers)]);
    let rule = |text: &str| toml::from_str::<Rule>(text).unwrap();
    let rules = vec![
        rule(
            "service = 'Refunds'\ntitle = 'Refund'\nmetadata = { 'holdfast.tasks' = 'required', \
             'holdfast.requires' = 'roots, elicitation', 'holdfast.title' = 'of no use' }",
        ),
        rule("service = 'Refunds'\nhandler = 'give'\nmetadata = { 'holdfast.tool' = 'pay' }"),
    ];
    let catalogue = catalogue(&schema, &Config { default: ByDefault::All, rules }, 1);
    expect!["pay = Refunds/give (Refund) mcp All a2a All Required asks false\n"]
        .assert_eq(&show(&catalogue));
    let exposed = catalogue.tool("pay", false).unwrap();
    assert_eq!(exposed.requires, ["roots", "elicitation"]);
    assert_eq!(exposed.setting("holdfast.tool"), Some("pay"));
}

#[test]
fn no_two_tools_have_one_name() {
    let same = [("tool", "same")];
    let schema = schema(vec![
        ("A", &[], vec![handler("a", &same), handler("b", &same)]),
        ("B", &[], vec![handler("a", &[("tool", "A.b")]), handler("b", &same)]),
    ]);
    let catalogue = catalogue(&schema, &Config::default(), 1);
    let names: Vec<&str> = catalogue.tools(None, true).map(|it| it.tool.as_str()).collect();
    assert_eq!(names, ["A.b", "B.a", "B.b", "same"]);
    let after: Vec<&str> = catalogue.tools(Some("B.a"), true).map(|it| it.tool.as_str()).collect();
    assert_eq!(after, ["B.b", "same"]);
    assert!(catalogue.tool("same", true).is_some_and(|it| it.handler.name == "a"));
    assert!(catalogue.tool("same", false).is_none(), "only callers on this machine see it");
}

/// What a handler is called with for arguments that are written as JSON.
fn calls(handler: Handler, arguments: &[&str], expected: Expect) {
    let schema = schema(vec![("S", &[], vec![handler])]);
    let catalogue = catalogue(&schema, &Config::default(), 1);
    let exposed = catalogue.tool("S.h", true).unwrap();
    let mut said = format!("{}\n", exposed.input_schema);
    for text in arguments {
        let arguments: Value = serde_json::from_str(text).unwrap();
        let line = match exposed.call(arguments.as_object()) {
            Ok(Call { key, body, content_type }) => {
                let body = String::from_utf8(body.to_vec()).unwrap();
                let key = key.map(|key| format!("key {key}, ")).unwrap_or_default();
                format!("{key}{} {body}", content_type.unwrap_or_default())
            }
            Err(refused) => refused.to_string(),
        };
        said.push_str(&format!("{text} => {line}\n"));
    }
    expected.assert_eq(&said);
}

fn takes(content_type: Option<&str>, required: bool, json_schema: Option<Value>) -> Handler {
    let content_type = content_type.map(str::to_owned);
    Handler { input: Input { required, content_type, json_schema }, ..handler("h", &[]) }
}

#[test]
fn arguments_are_the_fields_of_an_object() {
    let schema = json!({ "type": "object", "required": ["a"], "properties": { "a": { "type": "integer" } } });
    calls(
        takes(Some("application/json"), true, Some(schema)),
        &[r#"{"a":1,"key":2}"#, "{}", "null"],
        expect![[r#"
            {"type":"object","required":["a"],"properties":{"a":{"type":"integer"}}}
            {"a":1,"key":2} => application/json {"a":1,"key":2}
            {} => `/a` is missing
            null => `/a` is missing
        "#]],
    );
}

#[test]
fn whatever_is_said_of_the_input() {
    calls(
        takes(Some("*/*"), false, None),
        &["{}", "null", r#"{"b":[1]}"#],
        expect![[r#"
            {"type":"object"}
            {} => application/json {}
            null =>  
            {"b":[1]} => application/json {"b":[1]}
        "#]],
    );
    calls(
        takes(None, false, None),
        &["{}", r#"{"a":1}"#],
        expect![[r#"
            {"type":"object","additionalProperties":false}
            {} =>  
            {"a":1} => `/a` is not known here
        "#]],
    );
    calls(
        takes(Some("text/*"), true, None),
        &[r#"{"input":"hello"}"#, r#"{"input":1}"#],
        expect![[r#"
            {"type":"object","properties":{"input":{"type":"string"}},"required":["input"],"additionalProperties":false}
            {"input":"hello"} => text/plain; charset=utf-8 hello
            {"input":1} => `/input` is 1, not of type string
        "#]],
    );
}

#[test]
fn what_is_no_object_or_has_a_key_is_an_argument_by_itself() {
    let tree = json!({ "$schema": "s", "type": "array", "items": { "$ref": "#/$defs/N" },
        "$defs": { "N": { "type": "integer", "const": 1 } } });
    calls(
        takes(Some("application/json"), true, Some(tree.clone())),
        &[r#"{"input":[1,1]}"#, r#"{"input":["1"]}"#, "{}"],
        expect![[r##"
            {"type":"object","properties":{"input":{"type":"array","items":{"$ref":"#/properties/input/$defs/N"},"$defs":{"N":{"type":"integer","const":1}}}},"required":["input"],"additionalProperties":false}
            {"input":[1,1]} => application/json [1,1]
            {"input":["1"]} => `/input/0` is "1", not of type integer
            {} => `/input` is missing
        "##]],
    );
    calls(
        Handler { ty: HandlerType::Exclusive, ..takes(Some("application/json"), false, None) },
        &[r#"{"key":"k","input":{"a":1}}"#, r#"{"key":"k"}"#, r#"{"input":1}"#],
        expect![[r#"
            {"type":"object","properties":{"key":{"type":"string","description":"Which one: the key that the state and the turn of the call belong to."},"input":{}},"required":["key"],"additionalProperties":false}
            {"key":"k","input":{"a":1}} => key k, application/json {"a":1}
            {"key":"k"} => key k,  
            {"input":1} => `/key` is missing
        "#]],
    );
}
