//! `holdfast deployments …`: what is deployed where, and whether anything still needs it.

mod changes;
mod needs;

use super::{
    Failure,
    api::{Admin, Ask},
    args::{Deployments, Register, Remove, Update},
    ask,
    text::{Paint, ago, columns, count},
};
use holdfast_wire::percent::escaped;
use hyper::{Method, StatusCode};
use needs::{Need, Needs};
use serde_json::{Map, Value, json};
use std::{fmt::Write, process::ExitCode};

pub fn run(admin: Admin, command: Deployments) -> Result<ExitCode, Failure> {
    match command {
        Deployments::Register(register) => self::register(&admin, register),
        Deployments::List { json } => list(&admin, json),
        Deployments::Describe { id, json } => describe(&admin, &id, json),
        Deployments::Update(update) => self::update(&admin, update),
        Deployments::Remove(remove) => self::remove(&admin, remove),
    }
}

fn register(admin: &Admin, wish: Register) -> Result<ExitCode, Failure> {
    let url = &wish.url;
    let uri = if url.contains("://") { url.clone() } else { format!("http://{url}") };
    let body = json!({
        "uri": uri, "force": wish.force, "breaking": wish.breaking, "dry_run": wish.dry_run,
        "use_http_11": wish.http1, "additional_headers": parse_headers(&wish.headers)?,
        "metadata": metadata(&wish.metadata)?,
    });
    let before: Value = admin.get("/services")?;
    let answer = admin.ask(Ask::json(Method::POST, "/deployments", Some(&body)))?.success()?;
    let registered: Value = answer.read()?;
    if wish.json {
        return super::print_json(&registered);
    }
    let id = text(&registered, "id");
    if answer.status == StatusCode::OK && !wish.force {
        println!("{uri} is registered already as {id}; --force discovers it again");
        return Ok(ExitCode::SUCCESS);
    }
    let verb = if wish.dry_run { "would register" } else { "registered" };
    println!("{verb} {uri} as {id}");
    print!("{}", changes::draw(list_of(&before, "services"), &registered, Paint::of_stdout()));
    Ok(ExitCode::SUCCESS)
}

fn update(admin: &Admin, wish: Update) -> Result<ExitCode, Failure> {
    let mut body = Map::new();
    if let Some(uri) = &wish.uri {
        let uri = if uri.contains("://") { uri.clone() } else { format!("http://{uri}") };
        body.insert("uri".into(), uri.into());
    }
    if wish.no_headers || !wish.headers.is_empty() {
        body.insert("additional_headers".into(), parse_headers(&wish.headers)?.into());
    }
    if let Some(http1) = wish.http1 {
        body.insert("use_http_11".into(), http1.into());
    }
    if body.is_empty() && !wish.overwrite {
        return Err(
            "say what to change: --uri, --header, --no-headers, --http1, --overwrite".into()
        );
    }
    body.insert("overwrite".into(), wish.overwrite.into());
    body.insert("dry_run".into(), wish.dry_run.into());
    let path = format!("/deployments/{}", escaped(&wish.id));
    let updated: Value = admin.change(&path, &body.into())?;
    if wish.json {
        return super::print_json(&updated);
    }
    let verb = if wish.dry_run { "would update" } else { "updated" };
    println!("{verb} {}: {}", text(&updated, "id"), text(&updated, "uri"));
    print!("{}", services(&updated));
    Ok(ExitCode::SUCCESS)
}

fn list(admin: &Admin, json: bool) -> Result<ExitCode, Failure> {
    let mut answer: Value = admin.get("/deployments")?;
    let needs = Needs::read(admin)?;
    if json {
        for deployment in answer["deployments"].as_array_mut().into_iter().flatten() {
            needs.note(deployment);
        }
        return super::print_json(&answer);
    }
    let deployments = list_of(&answer, "deployments");
    if deployments.is_empty() {
        println!("nothing is registered; try `holdfast deployments register URL`");
        return Ok(ExitCode::SUCCESS);
    }
    print!("{}", draw(deployments, &needs, jiff::Timestamp::now(), Paint::of_stdout()));
    Ok(ExitCode::SUCCESS)
}

fn draw(deployments: &[Value], needs: &Needs, now: jiff::Timestamp, paint: Paint) -> String {
    let rows = deployments.iter().map(|deployment| {
        let services = list_of(deployment, "services").iter();
        let services: Vec<String> =
            services.map(|it| format!("{}@{}", text(it, "name"), it["revision"])).collect();
        let id = text(deployment, "id");
        vec![
            id.clone(),
            text(deployment, "uri"),
            needs.of(&id).paint(paint),
            needs.pinned(&id).to_string(),
            ago(&text(deployment, "created_at"), now),
            services.join(" "),
        ]
    });
    let rows: Vec<_> = rows.collect();
    columns(&["ID", "ADDRESS", "STATUS", "PINNED", "AGE", "SERVICES"], &rows)
}

fn describe(admin: &Admin, id: &str, json: bool) -> Result<ExitCode, Failure> {
    let mut answer: Value = admin.get(&format!("/deployments/{}", escaped(id)))?;
    let needs = Needs::read(admin)?;
    if json {
        needs.note(&mut answer);
        return super::print_json(&answer);
    }
    print!("{}", draw_one(&answer, &needs, Paint::of_stdout()));
    Ok(ExitCode::SUCCESS)
}

fn draw_one(deployment: &Value, needs: &Needs, paint: Paint) -> String {
    let mut out = String::new();
    let id = text(deployment, "id");
    let _ = writeln!(out, "{}  {id}", paint.bold(&text(deployment, "uri")));
    let pinned = usize::try_from(needs.pinned(&id)).unwrap_or(usize::MAX);
    let pinned = count(pinned, "invocation");
    let _ = writeln!(out, "{}, {pinned} pinned to it", needs.of(&id).paint(paint));
    let _ = writeln!(
        out,
        "protocol V{} to V{}, {}, sdk {}, created {}",
        deployment["min_protocol_version"],
        deployment["max_protocol_version"],
        text(deployment, "protocol_type"),
        deployment["sdk_version"].as_str().unwrap_or("unknown"),
        text(deployment, "created_at"),
    );
    for (title, pairs) in [("header", "additional_headers"), ("metadata", "metadata")] {
        for (name, value) in deployment[pairs].as_object().into_iter().flatten() {
            let _ = writeln!(out, "{title} {name}: {}", value.as_str().unwrap_or_default());
        }
    }
    for note in list_of(deployment, "info") {
        let _ = writeln!(out, "{} {}", paint.waits("note:"), text(note, "message"));
    }
    out + &services(deployment)
}

/// The services and handlers of an answer that carries them whole.
fn services(answer: &Value) -> String {
    list_of(answer, "services").iter().map(service).collect()
}

/// A service and its handlers.
pub fn service(service: &Value) -> String {
    let mut out = format!(
        "  {} ({}, revision {})\n",
        text(service, "name"),
        text(service, "ty"),
        service["revision"]
    );
    let mut handlers: Vec<&Value> = list_of(service, "handlers").iter().collect();
    handlers.sort_by_key(|handler| text(handler, "name"));
    for handler in handlers {
        let ty = handler["ty"].as_str().map(|ty| format!(" ({ty})")).unwrap_or_default();
        let _ = writeln!(
            out,
            "    {}{ty}: {} → {}",
            text(handler, "name"),
            text(handler, "input_description"),
            text(handler, "output_description"),
        );
    }
    out
}

fn remove(admin: &Admin, wish: Remove) -> Result<ExitCode, Failure> {
    let ids = if wish.drained { drained(admin)? } else { wish.ids };
    if ids.is_empty() {
        println!("no deployment is drained");
        return Ok(ExitCode::SUCCESS);
    }
    if wish.drained || wish.force {
        println!("{}", ids.join("\n"));
        let question = format!("remove {}?", count(ids.len(), "deployment"));
        if !ask::confirm(&question, wish.yes)? {
            return Err("nothing was removed".into());
        }
    }
    let query = if wish.force { "?force=true" } else { "" };
    let mut removed = 0;
    for id in &ids {
        match admin.delete(&format!("/deployments/{}{query}", escaped(id))) {
            Ok(_) => {
                removed += 1;
                println!("removed {id}");
            }
            Err(error) => eprintln!("{id}: {error}"),
        }
    }
    Ok(if removed == ids.len() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn drained(admin: &Admin) -> Result<Vec<String>, Failure> {
    let answer: Value = admin.get("/deployments")?;
    let needs = Needs::read(admin)?;
    let ids = list_of(&answer, "deployments").iter().map(|deployment| text(deployment, "id"));
    Ok(ids.filter(|id| needs.of(id) == Need::Drained).collect())
}

/// A field as text; a dash where there is none.
pub fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or("-").to_owned()
}

/// A field as a list; an empty one where there is none.
pub fn list_of<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

pub fn parse_headers(given: &[String]) -> Result<Map<String, Value>, Failure> {
    given.iter().map(|it| ask::header(it).map(|(name, value)| (name, value.into()))).collect()
}

fn metadata(given: &[String]) -> Result<Map<String, Value>, Failure> {
    given.iter().map(|it| ask::pair(it).map(|(name, value)| (name, value.into()))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn needs() -> Needs {
        let by_deployment = [("dp_1new", 3), ("dp_1old", 2)];
        let by_deployment = by_deployment.map(|(id, number)| (id.to_owned(), number)).into();
        Needs { latest: ["dp_1new".to_owned()].into(), by_deployment }
    }

    fn deployment(id: &str, at: &str) -> Value {
        json!({
            "id": id, "uri": "http://127.0.0.1:9080/", "protocol_type": "BidiStream",
            "http_version": "HTTP/2.0", "created_at": at, "min_protocol_version": 5,
            "max_protocol_version": 7, "sdk_version": "sdk/1", "metadata": { "git": "abc" },
            "additional_headers": { "x-a": "b" },
            "services": [{ "name": "Greeter", "revision": 2, "ty": "Service", "handlers": [
                { "name": "wave", "input_description": "none", "output_description": "none" },
                { "name": "greet", "input_description": "JSON string",
                    "output_description": "application/json" }] }],
        })
    }

    #[test]
    fn a_list_says_what_is_needed() {
        let ids = ["dp_1new", "dp_1old", "dp_1gone"];
        let deployments = ids.map(|id| deployment(id, "2026-11-29T20:00:00Z"));
        let now = "2026-11-29T20:01:30Z".parse().unwrap();
        expect![[r#"
            ID        ADDRESS                 STATUS    PINNED  AGE    SERVICES
            dp_1new   http://127.0.0.1:9080/  active    3       1m30s  Greeter@2
            dp_1old   http://127.0.0.1:9080/  draining  2       1m30s  Greeter@2
            dp_1gone  http://127.0.0.1:9080/  drained   0       1m30s  Greeter@2
        "#]]
        .assert_eq(&draw(&deployments, &needs(), now, Paint::plain()));
    }

    #[test]
    fn one_is_shown_with_its_handlers() {
        let one = deployment("dp_1old", "2026-11-29T20:00:00Z");
        expect![[r#"
            http://127.0.0.1:9080/  dp_1old
            draining, 2 invocations pinned to it
            protocol V5 to V7, BidiStream, sdk sdk/1, created 2026-11-29T20:00:00Z
            header x-a: b
            metadata git: abc
              Greeter (Service, revision 2)
                greet: JSON string → application/json
                wave: none → none
        "#]]
        .assert_eq(&draw_one(&one, &needs(), Paint::plain()));
    }
}
