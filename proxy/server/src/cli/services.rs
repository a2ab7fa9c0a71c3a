//! `holdfast services …`: what can be called, how it is set, and what it does.

mod activity;
mod settings;

use super::{
    Failure,
    api::Admin,
    args::{ServiceConfig, Services},
    deployments::{list_of, service as draw_service, text},
    text::columns,
};
use holdfast_wire::percent::escaped;
use serde_json::Value;
use std::process::ExitCode;

pub fn run(admin: Admin, command: Services) -> Result<ExitCode, Failure> {
    match command {
        Services::List { json } => list(&admin, json),
        Services::Describe { name, json } => describe(&admin, &name, json),
        Services::Status { names, json } => activity::run(&admin, &names, json),
        Services::Config { command: ServiceConfig::View { name, json } } => {
            let service = find(&admin, &name)?;
            settings::print(&service, json)
        }
        Services::Config { command: ServiceConfig::Patch { name, settings, json } } => {
            settings::patch(&admin, &name, &settings, json)
        }
    }
}

fn find(admin: &Admin, name: &str) -> Result<Value, Failure> {
    admin.get(&format!("/services/{}", escaped(name)))
}

fn list(admin: &Admin, json: bool) -> Result<ExitCode, Failure> {
    let answer: Value = admin.get("/services")?;
    if json {
        return super::print_json(&answer);
    }
    let services = list_of(&answer, "services");
    if services.is_empty() {
        println!("no service is registered; try `holdfast deployments register URL`");
        return Ok(ExitCode::SUCCESS);
    }
    print!("{}", draw(services));
    Ok(ExitCode::SUCCESS)
}

fn draw(services: &[Value]) -> String {
    let row = |service: &Value| {
        let handlers = list_of(service, "handlers").iter();
        let mut handlers: Vec<String> = handlers.map(|handler| text(handler, "name")).collect();
        handlers.sort();
        vec![
            text(service, "name"),
            text(service, "ty"),
            service["revision"].to_string(),
            access(service).into(),
            text(service, "deployment_id"),
            handlers.join(" "),
        ]
    };
    let mut rows: Vec<Vec<String>> = services.iter().map(row).collect();
    rows.sort();
    columns(&["NAME", "TYPE", "REVISION", "ACCESS", "DEPLOYMENT", "HANDLERS"], &rows)
}

/// Who may call it.
fn access(service: &Value) -> &'static str {
    if service["public"] == false { "private" } else { "public" }
}

fn describe(admin: &Admin, name: &str, json: bool) -> Result<ExitCode, Failure> {
    let service = find(admin, name)?;
    if json {
        return super::print_json(&service);
    }
    print!("{}", draw_service(&service));
    println!("  on {}", text(&service, "deployment_id"));
    print!("{}", settings::draw(&service));
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;
    use serde_json::json;

    #[test]
    fn services_are_listed_by_name() {
        let services = [
            json!({ "name": "Greeter", "ty": "Service", "revision": 1, "public": true,
                "deployment_id": "dp_1", "handlers": [{ "name": "wave" }, { "name": "greet" }] }),
            json!({ "name": "Counter", "ty": "VirtualObject", "revision": 12, "public": false,
                "deployment_id": "dp_1", "handlers": [] }),
        ];
        expect![[r#"
            NAME     TYPE           REVISION  ACCESS   DEPLOYMENT  HANDLERS
            Counter  VirtualObject  12        private  dp_1
            Greeter  Service        1         public   dp_1        greet wave
        "#]]
        .assert_eq(&draw(&services));
    }
}
