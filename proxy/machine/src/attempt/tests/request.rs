//! What the head of the request says beside the target.

use super::*;

/// The trace headers of an attempt whose input has `headers`, one a line.
fn traced(headers: &str) -> String {
    let headers = headers.lines().map(str::trim).filter(|line| !line.is_empty());
    let header = |line: &str| {
        let (name, value) = line.split_once(": ").unwrap();
        format!("1:{{1:\"{name}\" 2:\"{value}\"}}")
    };
    let headers = headers.map(header).collect::<Vec<_>>().join(" ");
    let mut opening = Opening::parse("open Greeter/greet v6");
    opening.entry(&format!("Input{{{headers} 14:{{}}}}"));
    let head = Attempt::new(Timestamp(START_MS), opening.start, opening.terms).request_head();
    let traced = head.headers.iter().skip(1);
    let traced: Vec<String> = traced.map(|(name, value)| format!("{name}: {value}")).collect();
    if traced.is_empty() { "nothing".to_owned() } else { traced.join(", ") }
}

const PARENT: &str = "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

#[test]
fn the_trace_of_a_call_is_passed_on() {
    let check = |headers: &str, expected: &str| assert_eq!(traced(headers), expected);
    check(&format!("x: y\n{PARENT}\nauthorization: secret"), PARENT);
    let with_state = format!("tracestate: a=1\n{PARENT}\ntracestate: b=2,c=3");
    check(&with_state, &format!("{PARENT}, tracestate: a=1,b=2,c=3"));
    let later = "traceparent: 01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more";
    check(later, later);
}

#[test]
fn what_is_no_trace_is_not() {
    let none = [
        "x: y",
        "tracestate: a=1",
        "traceparent: 00-1-2-01",
        "traceparent: 00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
        "traceparent: 00-00000000000000000000000000000000-b7ad6b7169203331-01",
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
        "traceparent: ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
        "traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
        &format!("{PARENT}\n{PARENT}"),
    ];
    for headers in none {
        assert_eq!(traced(headers), "nothing", "{headers}");
    }
    let without_state = traced(PARENT);
    let long = "a".repeat(600);
    for state in [long.as_str(), "a=ö"] {
        assert_eq!(traced(&format!("{PARENT}\ntracestate: {state}")), without_state);
    }
}
