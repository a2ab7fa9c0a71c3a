//! Registrations as transcripts: one line is one wish, and the tables after it.

use crate::http::client::Protocol;
use crate::registry::{
    Error, Overrides, describe,
    tables::{Record, Tables},
};
use expect_test::{Expect, expect};
use holdfast_machine::{id::DeploymentId, time::Timestamp};
use holdfast_wire::manifest::Manifest;
use std::{collections::BTreeMap, fmt::Write, time::Duration};

/// `name:type[/handler…]`, with blanks between.
fn manifest(services: &[&str]) -> Manifest {
    let services: Vec<_> = services
        .iter()
        .map(|text| {
            let (name, rest) = text.split_once(':').unwrap();
            let mut parts = rest.split('/');
            let ty = match parts.next().unwrap() {
                "s" => "SERVICE",
                "o" => "VIRTUAL_OBJECT",
                "w" => "WORKFLOW",
                other => panic!("{other}"),
            };
            let handlers: Vec<_> = parts.map(|name| serde_json::json!({ "name": name })).collect();
            serde_json::json!({ "name": name, "ty": ty, "handlers": handlers })
        })
        .collect();
    serde_json::from_value(serde_json::json!({
        "protocolMode": "BIDI_STREAM",
        "minProtocolVersion": 5,
        "maxProtocolVersion": 7,
        "services": services,
    }))
    .unwrap()
}

fn record(address: &str, services: &[&str]) -> Record {
    Record {
        uri: format!("http://{address}/").parse().unwrap(),
        protocol: Protocol::Http2,
        sdk_version: None,
        additional_headers: BTreeMap::new(),
        metadata: BTreeMap::new(),
        created_at: Timestamp(1),
        manifest: manifest(services).into(),
        revisions: BTreeMap::new(),
    }
}

fn wish(tables: &mut Tables, words: &[&str]) -> Result<(), Error> {
    let id = |text: &str| DeploymentId(text.parse().unwrap());
    let doors = ["mcp".to_owned()];
    match words {
        ["register", at, address, services @ ..] => {
            tables.register(id(at), record(address, services), false, &doors)
        }
        ["breaking", at, address, services @ ..] => {
            tables.register(id(at), record(address, services), true, &doors)
        }
        ["move", at, address, services @ ..] => {
            tables.update(id(at), record(address, services), false, &doors)
        }
        ["replace", at, address, services @ ..] => {
            tables.update(id(at), record(address, services), true, &doors)
        }
        ["remove", at] => tables.remove(id(at)),
        ["hide", service] => {
            tables.patch(service, Overrides { public: Some(false), ..Overrides::default() })
        }
        ["keep", service] => {
            let workflow_completion_retention = Some(Duration::from_secs(1));
            let changes = Overrides { workflow_completion_retention, ..Overrides::default() };
            tables.patch(service, changes)
        }
        other => panic!("{other:?}"),
    }
}

fn show(tables: &Tables) -> String {
    let mut text = String::new();
    for (name, listing) in &tables.services {
        let hidden = if listing.overrides.public == Some(false) { " hidden" } else { "" };
        let (deployment, revision) = (listing.deployment.0, listing.revision);
        write!(text, "{name}@{deployment} r{revision}{hidden}; ").unwrap();
    }
    for (id, record) in &tables.deployments {
        write!(text, "{}={} ", id.0, record.uri.host().unwrap()).unwrap();
    }
    if text.is_empty() { "nothing".into() } else { text }
}

fn check(script: &str, expected: Expect) {
    let mut tables = Tables::default();
    let mut text = String::new();
    for line in script.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let words: Vec<_> = line.split(' ').collect();
        let mut tried = tables.clone();
        match wish(&mut tried, &words) {
            Ok(()) => {
                tables = tried;
                writeln!(text, "{line}\n    {}", show(&tables).trim_end()).unwrap();
            }
            Err(error) => writeln!(text, "{line}\n    {}: {error}", error.code()).unwrap(),
        }
    }
    expected.assert_eq(&text);
}

#[test]
fn new_deployments_become_the_latest() {
    check(
        "
        register 1 a S:s/one O:o/two
        register 2 b S:s/one
        register 3 c T:s/one
        ",
        expect![[r#"
            register 1 a S:s/one O:o/two
                O@1 r1; S@1 r1; 1=a
            register 2 b S:s/one
                O@1 r1; S@2 r2; 1=a 2=b
            register 3 c T:s/one
                O@1 r1; S@2 r2; T@3 r1; 1=a 2=b 3=c
        "#]],
    );
}

#[test]
fn registering_again_keeps_the_id_and_drops_what_is_gone() {
    check(
        "
        register 1 a S:s/one T:s/one
        hide S
        register 1 a S:s/one/two
        register 2 b T:s/one
        register 1 a S:s/one
        ",
        expect![[r#"
            register 1 a S:s/one T:s/one
                S@1 r1; T@1 r1; 1=a
            hide S
                S@1 r1 hidden; T@1 r1; 1=a
            register 1 a S:s/one/two
                S@1 r2; 1=a
            register 2 b T:s/one
                S@1 r2; T@2 r1; 1=a 2=b
            register 1 a S:s/one
                S@1 r3; T@2 r1; 1=a 2=b
        "#]],
    );
}

#[test]
fn a_type_changes_only_where_it_is_meant() {
    check(
        "
        register 1 a S:s/one
        register 2 b S:w/one
        breaking 2 b S:w/one
        keep S
        breaking 3 c S:o/one
        keep S
        ",
        expect![[r#"
            register 1 a S:s/one
                S@1 r1; 1=a
            register 2 b S:w/one
                HF0050: the service `S` is registered as Service, and Workflow is another type; register with `--breaking` (`"breaking": true`) if that is meant
            breaking 2 b S:w/one
                S@2 r2; 1=a 2=b
            keep S
                S@2 r2; 1=a 2=b
            breaking 3 c S:o/one
                S@3 r3; 1=a 2=b 3=c
            keep S
                HF0056: `workflow_completion_retention` cannot be set: `S` is not a workflow
        "#]],
    );
}

#[test]
fn names_that_are_ours_are_refused() {
    check(
        "
        register 1 a restate:s/one
        register 1 a RestateX:s/one
        register 1 a openapi:s/one
        register 1 a holdfast.X:s/one
        register 1 a mcp:s/one
        register 1 a mcpx:s/one
        ",
        expect![[r#"
            register 1 a restate:s/one
                HF0049: the service name `restate` is reserved: names that are `openapi` or begin with `restate` or `holdfast.` belong to the server; rename the service
            register 1 a RestateX:s/one
                HF0049: the service name `RestateX` is reserved: names that are `openapi` or begin with `restate` or `holdfast.` belong to the server; rename the service
            register 1 a openapi:s/one
                HF0049: the service name `openapi` is reserved: names that are `openapi` or begin with `restate` or `holdfast.` belong to the server; rename the service
            register 1 a holdfast.X:s/one
                HF0049: the service name `holdfast.X` is reserved: names that are `openapi` or begin with `restate` or `holdfast.` belong to the server; rename the service
            register 1 a mcp:s/one
                HF0060: the service `mcp` would be hidden by the door `/mcp` of the ingress; rename the service, or move the door in the configuration
            register 1 a mcpx:s/one
                mcpx@1 r1; 1=a
        "#]],
    );
}

#[test]
fn an_update_moves_and_may_replace() {
    check(
        "
        register 1 a S:s/one
        register 2 b T:s/one
        move 1 c S:s/one/two
        move 1 b S:s/one
        replace 1 d U:s/one
        move 9 e S:s/one
        ",
        expect![[r#"
            register 1 a S:s/one
                S@1 r1; 1=a
            register 2 b T:s/one
                S@1 r1; T@2 r1; 1=a 2=b
            move 1 c S:s/one/two
                S@1 r1; T@2 r1; 1=c 2=b
            move 1 b S:s/one
                HF0062: the deployment `dp_103LZ30BX8sU4IDCkIZztT2` already has the address http://b/; update that one, or delete it first
            replace 1 d U:s/one
                T@2 r1; U@1 r1; 1=d 2=b
            move 9 e S:s/one
                HF0051: no deployment `dp_10gYVIxKN764leShvgt4FuE` is registered
        "#]],
    );
}

#[test]
fn removing_takes_the_latest_services_along() {
    check(
        "
        register 1 a S:s/one T:s/one
        register 2 b S:s/one
        remove 1
        remove 2
        remove 2
        register 3 c S:s/one
        hide T
        ",
        expect![[r#"
            register 1 a S:s/one T:s/one
                S@1 r1; T@1 r1; 1=a
            register 2 b S:s/one
                S@2 r2; T@1 r1; 1=a 2=b
            remove 1
                S@2 r2; 2=b
            remove 2
                nothing
            remove 2
                HF0051: no deployment `dp_103LZ30BX8sU4IDCkIZztT2` is registered
            register 3 c S:s/one
                S@3 r1; 3=c
            hide T
                HF0052: no service `T` is registered; register its deployment first
        "#]],
    );
}

#[test]
fn changes_of_a_manifest_are_told_in_words() {
    let one = manifest(&["S:s/a/b", "O:o/a", "Gone:s/a"]);
    let mut two = manifest(&["O:w/a", "S:s/b/c", "New:s/a"]);
    two.max_protocol_version = 6;
    two.services[1].options.ingress_private = Some(true);
    two.services[1].handlers[0].options.enable_lazy_state = Some(true);
    let told = describe::changes(&one, &two).join("\n");
    expect![[r#"
        the protocol
        Gone is gone
        New is new
        O is a workflow now
        settings of S
        S/a is gone
        S/b is different
        S/c is new"#]]
    .assert_eq(&told);
    let mut turned = one.clone();
    turned.services.reverse();
    assert!(describe::changes(&one, &turned).is_empty());
}
