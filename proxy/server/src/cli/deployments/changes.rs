//! What a registration changes, service by service.

use super::{list_of, text};
use crate::cli::text::Paint;
use serde_json::Value;
use std::{collections::BTreeSet, fmt::Write};

/// A line for each service: `+` new, `~` changed, `=` the same handlers. Then what the same address
/// offered before and does not offer any more.
pub fn draw(before: &[Value], registered: &Value, paint: Paint) -> String {
    let mut out = String::new();
    let mut services: Vec<&Value> = list_of(registered, "services").iter().collect();
    services.sort_by_key(|service| text(service, "name"));
    for service in &services {
        let name = text(service, "name");
        match before.iter().find(|it| text(it, "name") == name) {
            None => {
                let handlers: Vec<String> = handlers(service).into_iter().collect();
                let facts = format!("{name} ({}): {}", text(service, "ty"), handlers.join(" "));
                let _ = writeln!(out, "  {} {facts}", paint.good("+"));
            }
            Some(old) => changed(&mut out, old, service, paint),
        }
    }
    for old in before.iter().filter(|it| it["deployment_id"] == registered["id"]) {
        let name = text(old, "name");
        if !services.iter().any(|it| text(it, "name") == name) {
            let _ = writeln!(out, "  {} {name}: not offered any more", paint.bad("-"));
        }
    }
    out
}

fn handlers(service: &Value) -> BTreeSet<String> {
    list_of(service, "handlers").iter().map(|handler| text(handler, "name")).collect()
}

fn changed(out: &mut String, old: &Value, new: &Value, paint: Paint) {
    let (was, is) = (handlers(old), handlers(new));
    let mut differences: Vec<String> = vec![];
    if old["ty"] != new["ty"] {
        differences.push(format!("{} → {}", text(old, "ty"), text(new, "ty")));
    }
    differences.extend(is.difference(&was).map(|name| format!("+ {name}")));
    differences.extend(was.difference(&is).map(|name| format!("- {name}")));
    let (mark, differences) = match differences.as_slice() {
        [] => (paint.dim("="), String::new()),
        some => (paint.waits("~"), format!(": {}", some.join(", "))),
    };
    let revisions = format!("revision {} → {}", old["revision"], new["revision"]);
    let _ = writeln!(out, "  {mark} {}, {revisions}{differences}", text(new, "name"));
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn changes_are_told_by_service() {
        let service = |name: &str, ty: &str, revision: u32, handlers: &[&str]| {
            let handlers: Vec<Value> =
                handlers.iter().map(|name| json!({ "name": name })).collect();
            json!({ "name": name, "ty": ty, "revision": revision, "handlers": handlers,
                "deployment_id": "dp_1" })
        };
        let before = [
            service("Counter", "Service", 1, &["add", "drop"]),
            service("Flow", "Workflow", 3, &["run"]),
            service("Old", "Service", 1, &["x"]),
        ];
        let registered = json!({ "id": "dp_1", "services": [
            service("Flow", "Workflow", 4, &["run"]),
            service("Counter", "VirtualObject", 2, &["add", "get", "reset"]),
            service("Greeter", "Service", 1, &["wave", "greet"]),
        ] });
        expect![[r#"
            registered
              ~ Counter, revision 1 → 2: Service → VirtualObject, + get, + reset, - drop
              = Flow, revision 3 → 4
              + Greeter (Service): greet wave
              - Old: not offered any more
        "#]]
        .assert_eq(&format!("registered\n{}", draw(&before, &registered, Paint::plain())));
    }
}
