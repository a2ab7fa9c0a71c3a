//! `holdfast services …` and `holdfast state …`: what can be called, and what it remembers.

use super::{
    Failure,
    api::{Admin, escape},
    args::{Services, State},
    deployments::{print_services, text},
    text::columns,
};
use crate::query::model::ObjectState;
use serde_json::{Value, json};
use std::process::ExitCode;

pub fn run(admin: Admin, command: Services) -> Result<ExitCode, Failure> {
    match command {
        Services::List => list(&admin)?,
        Services::Describe { name } => {
            let service: Value = admin.get(&format!("/services/{}", escape(&name)))?;
            print_services(&json!({ "services": [service] }));
            println!("  on {}", text(&service, "deployment_id"));
            for setting in [
                "idempotency_retention",
                "workflow_completion_retention",
                "journal_retention",
                "inactivity_timeout",
                "abort_timeout",
                "enable_lazy_state",
                "retry_policy",
            ] {
                if let Some(value) = service.get(setting).filter(|value| !value.is_null()) {
                    println!("  {setting}: {value}");
                }
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn list(admin: &Admin) -> Result<(), Failure> {
    let answer: Value = admin.get("/services")?;
    let services = answer["services"].as_array().cloned().unwrap_or_default();
    if services.is_empty() {
        println!("no service is registered; try `holdfast deployments register URL`");
        return Ok(());
    }
    let mut rows: Vec<Vec<String>> = services
        .iter()
        .map(|service| {
            let handlers = service["handlers"].as_array().cloned().unwrap_or_default();
            let mut handlers: Vec<String> =
                handlers.iter().map(|handler| text(handler, "name")).collect();
            handlers.sort();
            vec![
                text(service, "name"),
                text(service, "ty"),
                service["revision"].to_string(),
                if service["public"] == false { "private".into() } else { "public".into() },
                text(service, "deployment_id"),
                handlers.join(" "),
            ]
        })
        .collect();
    rows.sort();
    print!("{}", columns(&["NAME", "TYPE", "REVISION", "ACCESS", "DEPLOYMENT", "HANDLERS"], &rows));
    Ok(())
}

pub fn state(admin: Admin, command: State) -> Result<ExitCode, Failure> {
    let State::Get { service, key } = command;
    let path = format!("/holdfast/state/{}/{}", escape(&service), escape(&key));
    let state: ObjectState = admin.get(&path)?;
    if state.entries.is_empty() {
        println!("{service}/{key} has no state");
    }
    for entry in &state.entries {
        let value = match (&entry.value.text, &entry.value.base64) {
            (Some(text), _) if !entry.value.cut => text.clone(),
            (Some(text), _) => format!("{text}… ({} bytes)", entry.value.bytes),
            (None, Some(base64)) => format!("base64 {base64} ({} bytes)", entry.value.bytes),
            (None, None) => String::new(),
        };
        println!("{} = {value}", entry.key);
    }
    Ok(ExitCode::SUCCESS)
}
