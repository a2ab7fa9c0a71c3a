//! The table of routes: a request line in, what it asks for out.

use super::*;
use crate::ingress::testing;
use expect_test::{Expect, expect};

fn show(route: &Route<'_>) -> String {
    let target = |called: &Called<'_>| {
        let key = called.key.as_ref().map(|key| format!(" key {key:?}")).unwrap_or_default();
        format!("{}.{}{key}", called.service.name, called.handler.name)
    };
    match route {
        Route::Call(called) => format!("call {}", target(called)),
        Route::Send(called) => format!("send {}", target(called)),
        Route::Outcome(wish, named) => format!("{wish:?} {named:?}"),
        Route::OutcomeOfBody(wish) => format!("{wish:?} what the body names"),
        Route::Lookup => "lookup".to_owned(),
        Route::Awakeable(answer, id) => {
            format!("{answer:?} signal {} of {}", id.signal, id.invocation)
        }
        Route::Cancel(named) => format!("cancel {named:?}"),
        Route::CancelOfBody => "cancel what the body names".to_owned(),
        Route::Health => "health".to_owned(),
    }
}

fn check(lines: &str, expected: Expect) {
    let schema = testing::schema();
    let mut table = String::new();
    for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let (method, path) = line.split_once(' ').unwrap();
        let answer = match parse(&method.parse().unwrap(), path, &schema) {
            Ok(route) => show(&route),
            Err(error) => format!("{} {} {error}", error.status().as_u16(), error.code()),
        };
        table += &format!("{line}\n    {answer}\n");
    }
    expected.assert_eq(&table);
}

#[test]
fn calls_and_sends() {
    check(
        "
        POST /Greeter/greet
        GET /Greeter/greet
        POST /Greeter/greet/
        POST /Greeter/greet/send
        POST /Counter/k1/add
        POST /Counter/k1/add/send
        POST /Counter//add
        POST /Counter/send/add
        POST /Counter/k%2F1%20x/add
        POST /Counter/%D0%BA+/add/send
        POST /Wf/w1/run
        POST /Wf/w1/run/send
        POST /Wf/w1/status
        POST /restate/call/Greeter/greet
        POST /restate/send/Greeter/greet
        GET /restate/call/Counter/k1/add
        POST /restate/send/Counter/k%201/add
        POST /restate/call/Wf/w1/run
        ",
        expect![[r#"
            POST /Greeter/greet
                call Greeter.greet
            GET /Greeter/greet
                call Greeter.greet
            POST /Greeter/greet/
                call Greeter.greet
            POST /Greeter/greet/send
                send Greeter.greet
            POST /Counter/k1/add
                call Counter.add key "k1"
            POST /Counter/k1/add/send
                send Counter.add key "k1"
            POST /Counter//add
                call Counter.add key ""
            POST /Counter/send/add
                call Counter.add key "send"
            POST /Counter/k%2F1%20x/add
                call Counter.add key "k/1 x"
            POST /Counter/%D0%BA+/add/send
                send Counter.add key "к+"
            POST /Wf/w1/run
                call Wf.run key "w1"
            POST /Wf/w1/run/send
                send Wf.run key "w1"
            POST /Wf/w1/status
                call Wf.status key "w1"
            POST /restate/call/Greeter/greet
                call Greeter.greet
            POST /restate/send/Greeter/greet
                send Greeter.greet
            GET /restate/call/Counter/k1/add
                call Counter.add key "k1"
            POST /restate/send/Counter/k%201/add
                send Counter.add key "k 1"
            POST /restate/call/Wf/w1/run
                call Wf.run key "w1"
        "#]],
    );
}

#[test]
fn the_method_of_a_call_is_looked_at_later() {
    check(
        "PUT /Greeter/greet\nPUT /Nobody/greet",
        expect![[r#"
        PUT /Greeter/greet
            call Greeter.greet
        PUT /Nobody/greet
            404 HF0112 service `Nobody` not found; register its deployment, and check the spelling
    "#]],
    );
}

#[test]
fn targets_that_do_not_exist() {
    check(
        "
        POST /Nobody/greet
        POST /Nobody/greet/send/more/and/more
        POST /Greeter/nothing
        POST /Counter/k1/nothing
        POST /restate/call/Nobody/greet
        POST /restate/call/Greeter/nothing
        ",
        expect![[r#"
            POST /Nobody/greet
                404 HF0112 service `Nobody` not found; register its deployment, and check the spelling
            POST /Nobody/greet/send/more/and/more
                404 HF0112 service `Nobody` not found; register its deployment, and check the spelling
            POST /Greeter/nothing
                404 HF0113 service `Greeter` was found, its handler `nothing` was not found; register the deployment again if the handler is new
            POST /Counter/k1/nothing
                404 HF0113 service `Counter` was found, its handler `nothing` was not found; register the deployment again if the handler is new
            POST /restate/call/Nobody/greet
                404 HF0112 service `Nobody` not found; register its deployment, and check the spelling
            POST /restate/call/Greeter/nothing
                404 HF0113 service `Greeter` was found, its handler `nothing` was not found; register the deployment again if the handler is new
        "#]],
    );
}

#[test]
fn bad_paths() {
    check(
        "
        POST /
        POST /Greeter
        GET /openapi
        GET /restate
        GET /holdfast
        POST /Greeter/greet/wave
        POST /Greeter/greet/send/more
        POST /Counter/onlykey
        POST /Counter/k1/add/wave
        POST /Counter/k1/add/send/more
        POST /Counter/%ff/add
        POST /a/b/c/d/e/f/g/h
        POST /restate/call
        POST /restate/call/Greeter
        POST /restate/call/Greeter/greet/send
        POST /restate/call/Counter/add
        ",
        expect![[r#"
            POST /
                400 HF0110 bad path: it has fewer than 2 segments; call /{service}/{handler} or /{object}/{key}/{handler}
            POST /Greeter
                400 HF0110 bad path: it has fewer than 2 segments; call /{service}/{handler} or /{object}/{key}/{handler}
            GET /openapi
                400 HF0110 bad path: it has fewer than 2 segments; call /{service}/{handler} or /{object}/{key}/{handler}
            GET /restate
                400 HF0110 bad path: it has fewer than 2 segments; call /{service}/{handler} or /{object}/{key}/{handler}
            GET /holdfast
                400 HF0110 bad path: it has fewer than 2 segments; call /{service}/{handler} or /{object}/{key}/{handler}
            POST /Greeter/greet/wave
                400 HF0110 bad path: expected /{service}/{handler}, and /send or nothing
            POST /Greeter/greet/send/more
                400 HF0110 bad path: expected /{service}/{handler}, and /send or nothing
            POST /Counter/onlykey
                400 HF0110 bad path: expected /{service}/{key}/{handler}, and /send or nothing: the service has keys
            POST /Counter/k1/add/wave
                400 HF0110 bad path: expected /{service}/{key}/{handler}, and /send or nothing: the service has keys
            POST /Counter/k1/add/send/more
                400 HF0110 bad path: expected /{service}/{key}/{handler}, and /send or nothing: the service has keys
            POST /Counter/%ff/add
                400 HF0118 the key in the path is not UTF-8 after percent-decoding; encode its UTF-8 bytes
            POST /a/b/c/d/e/f/g/h
                400 HF0110 bad path: it has more than 7 segments
            POST /restate/call
                400 HF0110 bad path: expected /{service}/{handler}, and /send or nothing
            POST /restate/call/Greeter
                400 HF0110 bad path: expected /{service}/{handler}, and /send or nothing
            POST /restate/call/Greeter/greet/send
                400 HF0110 bad path: expected /{service}/{handler}, and /send or nothing
            POST /restate/call/Counter/add
                400 HF0110 bad path: expected /{service}/{key}/{handler}, and /send or nothing: the service has keys
        "#]],
    );
}

#[test]
fn outcomes() {
    check(
        "
        GET /restate/attach/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8
        GET /restate/output/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8
        POST /restate/attach
        POST /restate/output
        POST /restate/lookup
        GET /restate/invocation/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8/attach
        GET /restate/invocation/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8/output
        GET /restate/invocation/Greeter/greet/my%20key/attach
        GET /restate/invocation/Counter/k%201/add/my-key/output
        GET /restate/invocation/Counter//add//attach
        GET /restate/workflow/Wf/w%201/attach
        GET /restate/workflow/Wf/w1/output
        GET /restate/workflow/Unregistered/w1/output
        ",
        expect![[r#"
            GET /restate/attach/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8
                Attach Id(inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8)
            GET /restate/output/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8
                Output Id(inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8)
            POST /restate/attach
                Attach what the body names
            POST /restate/output
                Output what the body names
            POST /restate/lookup
                lookup
            GET /restate/invocation/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8/attach
                Attach Id(inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8)
            GET /restate/invocation/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8/output
                Output Id(inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8)
            GET /restate/invocation/Greeter/greet/my%20key/attach
                Attach Idempotent { service: "Greeter", key: None, handler: "greet", idempotency_key: "my%20key" }
            GET /restate/invocation/Counter/k%201/add/my-key/output
                Output Idempotent { service: "Counter", key: Some("k 1"), handler: "add", idempotency_key: "my-key" }
            GET /restate/invocation/Counter//add//attach
                Attach Idempotent { service: "Counter", key: Some(""), handler: "add", idempotency_key: "" }
            GET /restate/workflow/Wf/w%201/attach
                Attach Workflow { service: "Wf", key: "w 1" }
            GET /restate/workflow/Wf/w1/output
                Output Workflow { service: "Wf", key: "w1" }
            GET /restate/workflow/Unregistered/w1/output
                Output Workflow { service: "Unregistered", key: "w1" }
        "#]],
    );
}

#[test]
fn outcomes_that_cannot_be_asked_for() {
    check(
        "
        POST /restate/attach/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8
        GET /restate/attach
        PUT /restate/output
        GET /restate/lookup
        GET /restate/attach/inv_nonsense
        GET /restate/invocation/nonsense/output
        GET /restate/invocation/attach
        GET /restate/invocation/Nobody/greet/k/attach
        GET /restate/invocation/Greeter/greet/attach
        GET /restate/invocation/Counter/add/k/attach
        POST /restate/invocation/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8/attach
        GET /restate/workflow/Wf/attach
        HEAD /restate/workflow/Wf/w1/attach
        GET /restate/workflow/Wf/w1/peek
        POST /restate/invocation/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8/cancel
        POST /restate/scope/s/call/Greeter/greet
        ",
        expect![[r#"
            POST /restate/attach/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8
                405 HF0115 method POST is not allowed here; use GET
            GET /restate/attach
                405 HF0115 method GET is not allowed here; use POST
            PUT /restate/output
                405 HF0115 method PUT is not allowed here; use POST
            GET /restate/lookup
                405 HF0115 method GET is not allowed here; use POST
            GET /restate/attach/inv_nonsense
                400 HF0116 bad invocation id: `inv_nonsense` is not an invocation id (inv_1 and 33 characters)
            GET /restate/invocation/nonsense/output
                400 HF0116 bad invocation id: `nonsense` is not an invocation id (inv_1 and 33 characters)
            GET /restate/invocation/attach
                400 HF0110 bad path: expected /restate/invocation/{id}/… or /restate/invocation/{service}[/{key}]/{handler}/{idempotencyKey}/…
            GET /restate/invocation/Nobody/greet/k/attach
                404 HF0112 service `Nobody` not found; register its deployment, and check the spelling
            GET /restate/invocation/Greeter/greet/attach
                400 HF0110 bad path: expected /restate/invocation/{id}/… or /restate/invocation/{service}[/{key}]/{handler}/{idempotencyKey}/…
            GET /restate/invocation/Counter/add/k/attach
                400 HF0110 bad path: expected /restate/invocation/{id}/… or /restate/invocation/{service}[/{key}]/{handler}/{idempotencyKey}/…
            POST /restate/invocation/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8/attach
                405 HF0115 method POST is not allowed here; use GET
            GET /restate/workflow/Wf/attach
                400 HF0110 bad path: expected /restate/workflow/{workflow}/{key}/…
            HEAD /restate/workflow/Wf/w1/attach
                405 HF0115 method HEAD is not allowed here; use GET
            GET /restate/workflow/Wf/w1/peek
                404 HF0111 route `/restate/workflow/Wf/w1/peek` not found; see /restate/health for what is served
            POST /restate/invocation/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8/cancel
                404 HF0111 route `/restate/invocation/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8/cancel` not found; see /restate/health for what is served
            POST /restate/scope/s/call/Greeter/greet
                400 HF0124 a scope is not supported: scopes and limit keys are not part of this server; leave it out
        "#]],
    );
}

#[test]
fn awakeables() {
    check(
        "
        POST /restate/awakeables/sign_1tNwHRcJH4VK2NAcqPk0cM6nU5f5AFo0MAAAAEQ/resolve
        POST /restate/a/sign_1tNwHRcJH4VK2NAcqPk0cM6nU5f5AFo0MAAAAEQ/reject
        GET /restate/a/sign_1tNwHRcJH4VK2NAcqPk0cM6nU5f5AFo0MAAAAEQ/reject
        POST /restate/awakeables/sign_nonsense/resolve
        POST /restate/awakeables/sign_1tNwHRcJH4VK2NAcqPk0cM6nU5f5AFo0MAAAAAQ/resolve
        POST /restate/awakeables/sign_1tNwHRcJH4VK2NAcqPk0cM6nU5f5AFo0MAAAAEQ/complete
        ",
        expect![[r#"
            POST /restate/awakeables/sign_1tNwHRcJH4VK2NAcqPk0cM6nU5f5AFo0MAAAAEQ/resolve
                Resolve signal 17 of inv_177aqWZn7Yfa0nGnRhW0rI9meEfjXGehL0
            POST /restate/a/sign_1tNwHRcJH4VK2NAcqPk0cM6nU5f5AFo0MAAAAEQ/reject
                Reject signal 17 of inv_177aqWZn7Yfa0nGnRhW0rI9meEfjXGehL0
            GET /restate/a/sign_1tNwHRcJH4VK2NAcqPk0cM6nU5f5AFo0MAAAAEQ/reject
                405 HF0115 method GET is not allowed here; use POST
            POST /restate/awakeables/sign_nonsense/resolve
                400 HF0117 bad awakeable id: `sign_nonsense` is not an awakeable id (sign_1 and 38 characters)
            POST /restate/awakeables/sign_1tNwHRcJH4VK2NAcqPk0cM6nU5f5AFo0MAAAAAQ/resolve
                400 HF0117 bad awakeable id: it names a signal that is not an awakeable
            POST /restate/awakeables/sign_1tNwHRcJH4VK2NAcqPk0cM6nU5f5AFo0MAAAAEQ/complete
                404 HF0111 route `/restate/awakeables/sign_1tNwHRcJH4VK2NAcqPk0cM6nU5f5AFo0MAAAAEQ/complete` not found; see /restate/health for what is served
        "#]],
    );
}

#[test]
fn ours_and_the_rest() {
    check(
        "
        GET /restate/health
        GET /restate/health/of/everything
        POST /restate/health
        GET /restate/nothing
        GET /openapi/x
        POST /holdfast/cancel
        POST /holdfast/invocations/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8/cancel
        GET /holdfast/invocations/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8/cancel
        POST /holdfast/invocations/inv_1/cancel
        GET /holdfast/nothing
        ",
        expect![[r#"
            GET /restate/health
                health
            GET /restate/health/of/everything
                health
            POST /restate/health
                405 HF0115 method POST is not allowed here; use GET
            GET /restate/nothing
                404 HF0111 route `/restate/nothing` not found; see /restate/health for what is served
            GET /openapi/x
                404 HF0111 route `/openapi/x` not found; see /restate/health for what is served
            POST /holdfast/cancel
                cancel what the body names
            POST /holdfast/invocations/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8/cancel
                cancel Id(inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8)
            GET /holdfast/invocations/inv_12kpUQONmeFb2WqsVOkAjH4phS34cOyIC8/cancel
                405 HF0115 method GET is not allowed here; use POST
            POST /holdfast/invocations/inv_1/cancel
                400 HF0116 bad invocation id: `inv_1` is not an invocation id (inv_1 and 33 characters)
            GET /holdfast/nothing
                404 HF0111 route `/holdfast/nothing` not found; see /restate/health for what is served
        "#]],
    );
}
