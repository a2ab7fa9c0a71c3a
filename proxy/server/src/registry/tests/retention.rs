//! How long what has ended is kept: handler, operator, service, server, and the server's maxima.

use crate::http::client::Protocol;
use crate::registry::{
    Config, Overrides, Schema, describe,
    tables::{Record, Tables},
};
use expect_test::{Expect, expect};
use holdfast_machine::{id::DeploymentId, time::Timestamp};
use serde_json::{Value, json};
use std::{collections::BTreeMap, fmt::Write, time::Duration};

const HOUR_MS: u64 = 3_600_000;

/// Nothing is said of `Plain`; of the others all is said somewhere.
fn services() -> Value {
    json!([
        { "name": "Plain", "ty": "SERVICE", "handlers": [{ "name": "call" }] },
        { "name": "Said", "ty": "VIRTUAL_OBJECT",
          "journalRetention": 3 * HOUR_MS, "idempotencyRetention": 5 * HOUR_MS,
          "handlers": [
            { "name": "inherits" },
            { "name": "nothing", "journalRetention": 0 },
            { "name": "short", "idempotencyRetention": HOUR_MS },
            { "name": "long", "journalRetention": 100 * HOUR_MS },
          ] },
        { "name": "Flow", "ty": "WORKFLOW", "journalRetention": 2 * HOUR_MS,
          "handlers": [
            { "name": "run", "ty": "WORKFLOW", "workflowCompletionRetention": HOUR_MS },
            { "name": "peek", "ty": "SHARED" },
          ] },
    ])
}

fn registered(config: &Config, patches: &[(&str, Overrides)]) -> Schema {
    let manifest = json!({
        "protocolMode": "BIDI_STREAM", "minProtocolVersion": 5, "maxProtocolVersion": 7,
        "services": services(),
    });
    let record = Record {
        uri: "http://a:1/".parse().unwrap(),
        protocol: Protocol::Http2,
        sdk_version: None,
        additional_headers: BTreeMap::new(),
        metadata: BTreeMap::new(),
        created_at: Timestamp(1),
        manifest: serde_json::from_value::<holdfast_wire::manifest::Manifest>(manifest)
            .unwrap()
            .into(),
        revisions: BTreeMap::new(),
    };
    let mut tables = Tables::default();
    tables.register(DeploymentId(1), record, false, &[]).unwrap();
    for (service, changes) in patches {
        tables.patch(service, changes.clone()).unwrap();
    }
    describe::schema(&tables, config)
}

/// Hours that outcome and journal are kept, without and with an idempotency key.
#[track_caller]
fn check(config: &Config, patches: &[(&str, Overrides)], expected: Expect) {
    let mut shown = String::new();
    let hours = |duration: Duration| duration.as_secs() / 3_600;
    for service in registered(config, patches).services.values() {
        for handler in service.handlers.values() {
            let (without, with) = (handler.retention(false), handler.retention(true));
            let _ = writeln!(
                shown,
                "{}/{}: {}, {}; with a key {}, {}",
                service.name,
                handler.name,
                hours(without.completion),
                hours(without.journal),
                hours(with.completion),
                hours(with.journal)
            );
            for cut in &handler.cuts {
                let _ = writeln!(shown, "  {cut}");
            }
        }
        for cut in &service.cuts {
            let _ = writeln!(shown, "  all of {}: {cut}", service.name);
        }
    }
    expected.assert_eq(&shown);
}

fn hours(hours: u64) -> Option<Duration> {
    Some(Duration::from_secs(hours * 3_600))
}

#[test]
fn a_handler_goes_over_its_service_and_that_over_the_server() {
    check(
        &Config::default(),
        &[],
        expect![[r#"
        Flow/peek: 2, 2; with a key 24, 2
        Flow/run: 1, 1; with a key 1, 1
          all of Flow: the journal of a run is kept for 1h and not 2h: workflow_completion_retention is 1h
        Plain/call: 24, 24; with a key 24, 24
        Said/inherits: 3, 3; with a key 5, 3
        Said/long: 100, 100; with a key 5, 5
          journals of calls with an idempotency key are kept for 5h and not 4d 4h: idempotency_retention is 5h
        Said/nothing: 0, 0; with a key 5, 0
        Said/short: 3, 3; with a key 1, 1
    "#]],
    );
    let mut config = Config::default();
    config.defaults.journal_retention_ms = 7 * HOUR_MS;
    config.defaults.idempotency_retention_ms = 8 * HOUR_MS;
    config.defaults.workflow_completion_retention_ms = 9 * HOUR_MS;
    check(
        &config,
        &[],
        expect![[r#"
        Flow/peek: 2, 2; with a key 8, 2
        Flow/run: 1, 1; with a key 1, 1
          all of Flow: the journal of a run is kept for 1h and not 2h: workflow_completion_retention is 1h
        Plain/call: 7, 7; with a key 8, 7
        Said/inherits: 3, 3; with a key 5, 3
        Said/long: 100, 100; with a key 5, 5
          journals of calls with an idempotency key are kept for 5h and not 4d 4h: idempotency_retention is 5h
        Said/nothing: 0, 0; with a key 5, 0
        Said/short: 3, 3; with a key 1, 1
    "#]],
    );
}

#[test]
fn an_operator_goes_over_the_service_and_not_over_the_handler() {
    let journal =
        Overrides { journal_retention: hours(4), idempotency_retention: hours(6), ..none() };
    let run = Overrides { workflow_completion_retention: hours(12), ..none() };
    let patches = [("Plain", journal.clone()), ("Said", journal), ("Flow", run)];
    check(
        &Config::default(),
        &patches,
        expect![[r#"
        Flow/peek: 2, 2; with a key 24, 2
        Flow/run: 12, 2; with a key 12, 2
        Plain/call: 4, 4; with a key 6, 4
        Said/inherits: 4, 4; with a key 6, 4
        Said/long: 100, 100; with a key 6, 6
          journals of calls with an idempotency key are kept for 6h and not 4d 4h: idempotency_retention is 6h
        Said/nothing: 0, 0; with a key 6, 0
        Said/short: 4, 4; with a key 1, 1
    "#]],
    );
    let nothing = Overrides { journal_retention: hours(0), ..none() };
    check(
        &Config::default(),
        &[("Plain", nothing)],
        expect![[r#"
        Flow/peek: 2, 2; with a key 24, 2
        Flow/run: 1, 1; with a key 1, 1
          all of Flow: the journal of a run is kept for 1h and not 2h: workflow_completion_retention is 1h
        Plain/call: 0, 0; with a key 24, 0
        Said/inherits: 3, 3; with a key 5, 3
        Said/long: 100, 100; with a key 5, 5
          journals of calls with an idempotency key are kept for 5h and not 4d 4h: idempotency_retention is 5h
        Said/nothing: 0, 0; with a key 5, 0
        Said/short: 3, 3; with a key 1, 1
    "#]],
    );
}

fn none() -> Overrides {
    Overrides::default()
}

#[test]
fn the_maxima_of_the_server_cut_everything() {
    let mut config = Config::default();
    config.maxima.journal_retention_ms = Some(2 * HOUR_MS);
    config.maxima.idempotency_retention_ms = Some(4 * HOUR_MS);
    config.maxima.workflow_completion_retention_ms = Some(0);
    check(
        &config,
        &[],
        expect![[r#"
        Flow/peek: 2, 2; with a key 4, 2
        Flow/run: 0, 0; with a key 0, 0
          workflow_completion_retention is 0s and not 1h: the server allows no more (registry.maxima)
          all of Flow: workflow_completion_retention is 0s and not 1h: the server allows no more (registry.maxima)
          all of Flow: the journal of a run is kept for 0s and not 2h: workflow_completion_retention is 0s
        Plain/call: 2, 2; with a key 4, 2
        Said/inherits: 2, 2; with a key 4, 2
        Said/long: 2, 2; with a key 4, 2
          journal_retention is 2h and not 4d 4h: the server allows no more (registry.maxima)
        Said/nothing: 0, 0; with a key 4, 0
        Said/short: 2, 2; with a key 1, 1
          all of Said: journal_retention is 2h and not 3h: the server allows no more (registry.maxima)
          all of Said: idempotency_retention is 4h and not 5h: the server allows no more (registry.maxima)
    "#]],
    );
}
