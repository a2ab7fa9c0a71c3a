//! Whole conversations of a handler that does nothing but answer.

use super::*;

#[test]
fn greeter_v6() {
    check(
        &greeter(
            "v6",
            "chunk 040100000000000f720d0a0b2248656c6c6f2041646122 0003000000000000
             end",
        ),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 040100000000000f720d0a0b2248656c6c6f2041646122 0003000000000000
                say
                  Output 720d0a0b2248656c6c6f2041646122
                  completed
                half-close
            end
                finished
        "#]],
    );
}

#[test]
fn greeter_is_the_same_in_v5_and_v7() {
    let script = "chunk 040100000000000f720d0a0b2248656c6c6f2041646122 0003000000000000
                  end";
    let [v5, v6, v7] = ["v5", "v6", "v7"].map(|version| transcript(&greeter(version, script)));
    assert_eq!(v5, v6);
    assert_eq!(v6, v7);
}

#[test]
fn request_heads() {
    let head = |opening: &str| {
        let mut opening = Opening::parse(opening);
        opening.entry("Input{14:{}}");
        format!(
            "{:#?}\n",
            Attempt::new(Timestamp(START_MS), opening.start, opening.terms).request_head()
        )
    };
    let heads = head("open Greeter/greet v6 id=inv_1iELRKt48MDN5Yqc1EClu1Krt2N6SyJ7IH")
        + &head("open Counter/add v7 key=äpfel/&_-.~");
    expect![[r#"
        Head {
            path: "/invoke/Greeter/greet",
            content_type: "application/vnd.restate.invocation.v6",
            headers: [
                (
                    "x-restate-invocation-id",
                    "inv_1iELRKt48MDN5Yqc1EClu1Krt2N6SyJ7IH",
                ),
            ],
        }
        Head {
            path: "/invoke/Counter/add",
            content_type: "application/vnd.restate.invocation.v7",
            headers: [
                (
                    "x-restate-invocation-id",
                    "inv_10Bpelau4EQf0dg9MKoV2L6aKsP3wSpXy7",
                ),
                (
                    "x-restate-service-key",
                    "%C3%A4pfel%2F%26_-.~",
                ),
            ],
        }
    "#]]
    .assert_eq(&heads);
}

#[test]
fn a_terminal_failure_is_an_output() {
    check(
        &greeter("v6", "chunk 04010000000000107a0e08990312097465726d696e616c21 0003000000000000"),
        expect![[r#"
            open
                sends Start, Input
            head 200
            chunk 04010000000000107a0e08990312097465726d696e616c21 0003000000000000
                say
                  Output 7a0e08990312097465726d696e616c21
                  completed
                half-close
        "#]],
    );
}
