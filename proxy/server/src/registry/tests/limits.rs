//! Limits from settings and from metadata, and what is none.

use super::endpoint::{Endpoint, config, discovery, manifest, memory};
use crate::clock::{Clock, Manual};
use crate::registry::{Registration, Registry, Schema, limit};
use expect_test::{Expect, expect};
use holdfast_machine::time::Timestamp;
use holdfast_wire::manifest::Service;
use std::sync::{Arc, Mutex};

/// An object `Account` with the handler `charge`.
fn service(of_service: &str, of_handler: &str) -> String {
    format!(
        r#"[{{"name":"Account","ty":"VIRTUAL_OBJECT","metadata":{{{of_service}}},
            "handlers":[{{"name":"charge","metadata":{{{of_handler}}}}}]}}]"#
    )
}

fn settings(toml: &str) -> Vec<limit::Setting> {
    #[derive(serde::Deserialize)]
    struct File {
        limits: Vec<limit::Setting>,
    }
    toml::from_str::<File>(toml).unwrap().limits
}

fn show(schema: &Schema) -> String {
    let line = |limit: &limit::Limit| {
        format!("{} {} {}\n", limit.subject, limit.concurrency, limit.origin.as_str())
    };
    schema.limits.iter().map(line).collect()
}

fn declared(services: &str) -> String {
    let services: Vec<Service> = serde_json::from_str(services).unwrap();
    match limit::declared(&services[0]) {
        Ok(limits) => {
            limits.iter().map(|it| format!("{} {}\n", it.subject, it.concurrency)).collect()
        }
        Err(error) => format!("{}: {error}\n", error.code()),
    }
}

#[test]
fn metadata_of_services_and_handlers_declares_limits() {
    let check = |of_service: &str, of_handler: &str, expected: Expect| {
        expected.assert_eq(&declared(&service(of_service, of_handler)));
    };
    check(
        r#""team":"payments","holdfast.limit.concurrency":"5","holdfast.limit.key-prefix.eu-":"2""#,
        r#""holdfast.limit.concurrency":"0","holdfast.limit.key-prefix.a.b":"1""#,
        expect![[r#"
            Account 5
            Account/eu-* 2
            Account/charge 0
            Account/a.b*/charge 1
        "#]],
    );
    check(
        r#""holdfast.limit.concurrency":"many""#,
        "",
        expect![[r#"
        HF0195: the metadata `holdfast.limit.concurrency` of `Account` is not a limit: `many` is no count; write how many may run at once, or 0 for none
    "#]],
    );
    check(
        "",
        r#""holdfast.limit.concurrency":"-1""#,
        expect![[r#"
        HF0195: the metadata `holdfast.limit.concurrency` of `Account/charge` is not a limit: `-1` is no count; write how many may run at once, or 0 for none
    "#]],
    );
    check(
        "",
        r#""holdfast.limit.concurency":"1""#,
        expect![[r#"
        HF0195: the metadata `holdfast.limit.concurency` of `Account/charge` is not a limit: there is only `holdfast.limit.concurrency` and `holdfast.limit.key-prefix.PREFIX`
    "#]],
    );
    check(
        r#""holdfast.limit.key-prefix.":"1""#,
        "",
        expect![[r#"
        HF0195: the metadata `holdfast.limit.key-prefix.` of `Account` is not a limit: it names no prefix; write one behind the last dot
    "#]],
    );
    let many: Vec<_> =
        (0..101).map(|number| format!(r#""holdfast.limit.key-prefix.k{number}":"1""#)).collect();
    check(
        &many.join(","),
        "",
        expect![[r#"
        HF0195: the metadata `holdfast.limit.*` of `Account` is not a limit: there are 101; at most 100 are taken
    "#]],
    );
    let plain = r#"[{"name":"S","ty":"SERVICE","handlers":[],
        "metadata":{"holdfast.limit.key-prefix.eu-":"1"}}]"#;
    expect![[r#"
        HF0195: the metadata `holdfast.limit.key-prefix.eu-` of `S` is not a limit: a plain service has no keys; limit the service or a handler
    "#]].assert_eq(&declared(plain));
}

#[tokio::test]
async fn settings_win_over_metadata_and_changes_are_told() {
    let endpoint = Endpoint::offering(&service(r#""holdfast.limit.concurrency":"5""#, "")).await;
    let mut config = config();
    config.limits = settings(
        "
        [[limits]]
        service = 'Account'
        handler = 'charge'
        concurrency = 3
        [[limits]]
        service = 'Elsewhere'
        key_prefix = 'eu-'
        concurrency = 1
        ",
    );
    let discovery = discovery(&config);
    let clock: Arc<dyn Clock> = Arc::new(Manual::new(Timestamp(1)));
    let registry = Registry::open(config, Arc::new(memory()), discovery, clock).unwrap();
    let told = Arc::new(Mutex::new(String::new()));
    let hears = told.clone();
    registry.when_changed(move |schema| *hears.lock().unwrap() = show(schema));
    let now = || std::mem::take(&mut *told.lock().unwrap());
    expect![[r#"
        Account/charge 3 config
        Elsewhere/eu-* 1 config
    "#]]
    .assert_eq(&now());
    let wish = Registration { force: true, ..Registration::new(endpoint.uri()) };
    registry.register(wish.clone()).await.unwrap();
    expect![[r#"
        Account 5 metadata
        Account/charge 3 config
        Elsewhere/eu-* 1 config
    "#]]
    .assert_eq(&now());
    let other = r#""holdfast.limit.concurrency":"9","holdfast.limit.key-prefix.eu-":"1""#;
    endpoint.answer(manifest(&service(other, r#""holdfast.limit.concurrency":"9""#)));
    registry.register(Registration { dry_run: true, ..wish.clone() }).await.unwrap();
    assert_eq!(now(), "", "it was a dry run");
    registry.register(wish.clone()).await.unwrap();
    expect![[r#"
        Account 9 metadata
        Account/eu-* 1 metadata
        Account/charge 3 config
        Elsewhere/eu-* 1 config
    "#]]
    .assert_eq(&now());
    endpoint.answer(manifest(&service(r#""holdfast.limit.concurrency":"x""#, "")));
    let error = registry.register(wish).await.unwrap_err();
    assert_eq!((error.code(), now().as_str()), ("HF0195", ""));
    assert_eq!(registry.schema().limits.len(), 4, "what was in force stays");
}
