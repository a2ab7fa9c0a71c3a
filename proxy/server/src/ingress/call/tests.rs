//! Requests in, what is checked and what is made of them out.

use super::*;
use crate::ingress::{route, route::Route, testing};
use expect_test::{Expect, expect};
use http::Request;

const NOW: Timestamp = Timestamp(1_796_051_888_801);
const CHANCE: Chance = Chance { id: 0xfeed_beef, seed: 7 };

/// `METHOD path [header: value]…`, one request a line.
fn check(lines: &str, expected: Expect, what: impl Fn(&Parts, &Called<'_>) -> String) {
    let schema = testing::schema();
    let mut table = String::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let mut words = line.split(" | ");
        let (method, uri) = words.next().unwrap().split_once(' ').unwrap();
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in words.map(|word| word.split_once(':').unwrap()) {
            request = request.header(name, value.trim_start());
        }
        let (head, ()) = request.body(()).unwrap().into_parts();
        let answer = match route::parse(&head.method, head.uri.path(), &schema).unwrap() {
            Route::Call(called) | Route::Send(called) => what(&head, &called),
            _ => panic!("not a call"),
        };
        table += &format!("{line}\n    {answer}\n");
    }
    expected.assert_eq(&table);
}

fn told(result: Result<(), Error>) -> String {
    match result {
        Ok(()) => "fine".to_owned(),
        Err(error) => format!("{} {} {error}", error.status().as_u16(), error.code()),
    }
}

#[test]
fn what_is_refused_before_the_body() {
    check(
        "
        POST /Greeter/greet
        GET /Greeter/greet
        HEAD /Greeter/greet
        PUT /Greeter/greet/send
        POST /Private/greet
        PUT /Private/greet
        POST /Greeter/secret/send
        POST /Greeter/greet | idempotency-key: k
        POST /Greeter/greet | idempotency-key: é
        POST /Wf/w1/run | idempotency-key: k
        POST /Wf/w1/status | idempotency-key: k
        ",
        expect![[r#"
            POST /Greeter/greet
                fine
            GET /Greeter/greet
                fine
            HEAD /Greeter/greet
                405 HF0115 method HEAD is not allowed here; use GET or POST
            PUT /Greeter/greet/send
                405 HF0115 method PUT is not allowed here; use GET or POST
            POST /Private/greet
                400 HF0114 `Private` is not public: only other services can call it
            PUT /Private/greet
                400 HF0114 `Private` is not public: only other services can call it
            POST /Greeter/secret/send
                400 HF0114 `Greeter/secret` is not public: only other services can call it
            POST /Greeter/greet | idempotency-key: k
                fine
            POST /Greeter/greet | idempotency-key: é
                400 HF0120 header `idempotency-key` has characters other than visible ASCII; encode its value
            POST /Wf/w1/run | idempotency-key: k
                400 HF0121 a workflow's run takes no idempotency key: it runs once for each workflow key anyway; leave the header `idempotency-key` out
            POST /Wf/w1/status | idempotency-key: k
                fine
        "#]],
        |head, called| told(called.check(head)),
    );
}

#[test]
fn input_rules() {
    let body = Bytes::from_static(b"x");
    let checks = |head: &Parts, called: &Called<'_>| {
        let empty = told(called.check_input(&head.headers, &Bytes::new()));
        let full = told(called.check_input(&head.headers, &body));
        format!("empty: {empty}\n    full:  {full}")
    };
    check(
        "
        POST /Greeter/greet
        POST /Greeter/greet | content-type: application/json; charset=utf-8
        POST /Greeter/greet | content-type: text/plain
        POST /Counter/k/add
        POST /Counter/k/add | content-type: image/png
        ",
        expect![[r#"
            POST /Greeter/greet
                empty: 400 HF0119 Content-type or body not accepted by Greeter/greet: no content type given; expected `application/json`; set the header content-type
                full:  400 HF0119 Content-type or body not accepted by Greeter/greet: no content type given; expected `application/json`; set the header content-type
            POST /Greeter/greet | content-type: application/json; charset=utf-8
                empty: fine
                full:  fine
            POST /Greeter/greet | content-type: text/plain
                empty: 400 HF0119 Content-type or body not accepted by Greeter/greet: content type `text/plain` is not what the handler takes; expected `application/json`
                full:  400 HF0119 Content-type or body not accepted by Greeter/greet: content type `text/plain` is not what the handler takes; expected `application/json`
            POST /Counter/k/add
                empty: fine
                full:  400 HF0119 Content-type or body not accepted by Counter/add: no content type given; expected `*/*`; set the header content-type
            POST /Counter/k/add | content-type: image/png
                empty: fine
                full:  fine
        "#]],
        checks,
    );
}

#[test]
fn identities() {
    check(
        "
        POST /Greeter/greet
        POST /Greeter/greet | idempotency-key: my-key
        POST /Counter/k1/add
        POST /Counter/k1/add | idempotency-key: idem-1
        POST /Counter/k1/add | idempotency-key:
        POST /Wf/w1/run
        POST /Wf/w1/status
        POST /Wf/w1/status | idempotency-key: my-key
        ",
        expect![[r#"
            POST /Greeter/greet
                inv_18DN44NtGzLB4A19SZqPFQMwTBpbj2m0E1 Some("01M8PGHTN10000000003ZEVFQF")
            POST /Greeter/greet | idempotency-key: my-key
                inv_11x6cJlusUs54YqNdo5AAzdYrYOmeoHQrU Some("my-key")
            POST /Counter/k1/add
                inv_1foAirY4KKzi1mLEIOZd2La0vD3bvrEi3L Some("01M8PGHTN10000000003ZEVFQF")
            POST /Counter/k1/add | idempotency-key: idem-1
                inv_1foAirY4KKzi0XqKwft6YemHoMs0867T1j Some("idem-1")
            POST /Counter/k1/add | idempotency-key:
                inv_1foAirY4KKzi2xSuKpVQiwm8tq2UY4Ptl1 Some("")
            POST /Wf/w1/run
                inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8 None
            POST /Wf/w1/status
                inv_12kpUQONmeFb7ioq7gW990Mhgid2J3fi2B None
            POST /Wf/w1/status | idempotency-key: my-key
                inv_12kpUQONmeFb0XVv7Efacbp6AvRbz4TOUw Some("my-key")
        "#]],
        |head, called| {
            let given = headers::text(&head.headers, &headers::IDEMPOTENCY_KEY).unwrap();
            let identity = Identity::of(called, given, NOW, &CHANCE);
            format!("{} {:?}", identity.id, identity.idempotency_key)
        },
    );
}

#[test]
fn the_wish_to_wait_for_a_run_that_exists() {
    check(
        "
        POST /Wf/w1/run
        POST /Wf/w1/run?attach=true
        POST /Wf/w1/run?attach=false
        POST /Wf/w1/run | prefer: holdfast-attach
        POST /Wf/w1/run | prefer: respond-async | prefer: wait=5, Holdfast-Attach
        POST /Wf/w1/run | prefer: wait=5
        ",
        expect![[r#"
            POST /Wf/w1/run
                Refuse
            POST /Wf/w1/run?attach=true
                Attach
            POST /Wf/w1/run?attach=false
                Refuse
            POST /Wf/w1/run | prefer: holdfast-attach
                Attach
            POST /Wf/w1/run | prefer: respond-async | prefer: wait=5, Holdfast-Attach
                Attach
            POST /Wf/w1/run | prefer: wait=5
                Refuse
        "#]],
        |head, _| format!("{:?}", again(head)),
    );
}

#[test]
fn chance_is_never_the_same() {
    let (one, other) = (Chance::draw(), Chance::draw());
    assert_ne!((one.id, one.seed), (other.id, other.seed));
}
