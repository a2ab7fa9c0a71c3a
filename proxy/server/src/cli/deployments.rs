//! `holdfast deployments …`: what is deployed where.

use super::{
    Failure,
    api::{Admin, escape},
    args::Deployments,
    text::columns,
};
use serde_json::{Map, Value, json};
use std::process::ExitCode;

pub fn run(admin: Admin, command: Deployments) -> Result<ExitCode, Failure> {
    match command {
        Deployments::Register { url, force, breaking, dry_run, http1, headers } => {
            let headers = parse_headers(&headers)?;
            let uri = if url.contains("://") { url } else { format!("http://{url}") };
            let body = json!({
                "uri": uri, "force": force, "breaking": breaking, "dry_run": dry_run,
                "use_http_11": http1, "additional_headers": headers,
            });
            let answer: Value = admin.post("/deployments", &body)?;
            let verb = if dry_run { "would register" } else { "registered" };
            println!("{verb} {} as {}", uri, text(&answer, "id"));
            print_services(&answer);
        }
        Deployments::List => list(&admin)?,
        Deployments::Describe { id } => {
            let answer: Value = admin.get(&format!("/deployments/{}", escape(&id)))?;
            println!("{}  {}", text(&answer, "id"), text(&answer, "uri"));
            println!(
                "protocol V{} to V{}, {}, sdk {}, created {}",
                answer["min_protocol_version"],
                answer["max_protocol_version"],
                text(&answer, "protocol_type"),
                answer["sdk_version"].as_str().unwrap_or("unknown"),
                text(&answer, "created_at"),
            );
            print_services(&answer);
        }
        Deployments::Remove { id, force } => {
            let query = if force { "?force=true" } else { "" };
            admin.delete(&format!("/deployments/{}{query}", escape(&id)))?;
            println!("removed {id}");
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(admin: &Admin) -> Result<(), Failure> {
    let answer: Value = admin.get("/deployments")?;
    let deployments = answer["deployments"].as_array().cloned().unwrap_or_default();
    if deployments.is_empty() {
        println!("nothing is registered; try `holdfast deployments register URL`");
        return Ok(());
    }
    let rows: Vec<Vec<String>> = deployments
        .iter()
        .map(|deployment| {
            let services = deployment["services"].as_array().cloned().unwrap_or_default();
            let services: Vec<String> = services
                .iter()
                .map(|service| format!("{}@{}", text(service, "name"), service["revision"]))
                .collect();
            vec![
                text(deployment, "id"),
                text(deployment, "uri"),
                text(deployment, "created_at"),
                services.join(" "),
            ]
        })
        .collect();
    print!("{}", columns(&["ID", "ADDRESS", "CREATED", "SERVICES"], &rows));
    Ok(())
}

/// The services and handlers of an answer that carries them whole.
pub fn print_services(answer: &Value) {
    for service in answer["services"].as_array().into_iter().flatten() {
        println!(
            "  {} ({}, revision {})",
            text(service, "name"),
            text(service, "ty"),
            service["revision"]
        );
        for handler in service["handlers"].as_array().into_iter().flatten() {
            let ty = handler["ty"].as_str().map(|ty| format!(" ({ty})")).unwrap_or_default();
            println!(
                "    {}{ty}: {} → {}",
                text(handler, "name"),
                text(handler, "input_description"),
                text(handler, "output_description"),
            );
        }
    }
}

/// A field as text; a dash where there is none.
pub fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or("-").to_owned()
}

pub fn parse_headers(headers: &[String]) -> Result<Map<String, Value>, Failure> {
    headers
        .iter()
        .map(|header| {
            let (name, value) = header
                .split_once(':')
                .ok_or_else(|| format!("`{header}` is not a header; write NAME: VALUE"))?;
            Ok((name.trim().to_lowercase(), Value::String(value.trim().to_owned())))
        })
        .collect()
}
