//! `holdfast state …`: the values of objects and workflows, read whole and changed as a whole. A
//! change is made against the version that was read, unless it is forced.

mod editor;
mod values;

use super::{
    Failure,
    api::{Admin, quote},
    args::State,
    ask, print_json,
    text::{count, shorten},
};
use bytes::Bytes;
use holdfast_machine::{apply::state_version, command::StateMap};
use holdfast_wire::percent::escaped;
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, process::ExitCode};

/// Longest value on a line, in characters.
const VALUE_CHARS_MAX: usize = 200;

pub fn run(admin: Admin, command: State) -> Result<ExitCode, Failure> {
    match command {
        State::Get { service, key, json } => get(&admin, &service, &key, json),
        State::Patch { service, key, patch, force } => {
            self::patch(&admin, &service, &key, &patch, force)
        }
        State::Edit { service, key, force } => edit(&admin, &service, &key, force),
        State::Clear { service, key, force, yes } => {
            clear(&admin, &service, key.as_deref(), force, yes)
        }
    }
}

fn get(admin: &Admin, service: &str, key: &str, json: bool) -> Result<ExitCode, Failure> {
    let state = read(admin, service, key)?;
    if json {
        return print_json(&json!({
            "service": service, "key": key, "version": state_version(&state),
            "state": values::object(&state),
        }));
    }
    if state.is_empty() {
        println!("{service}/{key} has no state");
    }
    for (name, value) in values::object(&state) {
        println!("{name} = {}", shorten(&value.to_string(), VALUE_CHARS_MAX));
    }
    Ok(ExitCode::SUCCESS)
}

fn patch(
    admin: &Admin,
    service: &str,
    key: &str,
    patch: &str,
    force: bool,
) -> Result<ExitCode, Failure> {
    let patch: Map<String, Value> = serde_json::from_slice(&ask::data(patch)?)
        .map_err(|error| format!("the patch is not a JSON object: {error}"))?;
    let before = read(admin, service, key)?;
    let after = values::merge(&before, &patch);
    change(admin, &Owner { service, key }, &before, &after, force)
}

fn edit(admin: &Admin, service: &str, key: &str, force: bool) -> Result<ExitCode, Failure> {
    let before = read(admin, service, key)?;
    let shown = values::object(&before);
    let edit = editor::edit(&serde_json::to_string_pretty(&shown)?)?;
    let edited: Map<String, Value> = edit
        .read()
        .map_err(|error| format!("that is not a JSON object: {error}; {}", edit.kept()))?;
    let after = values::replace(&before, &edited);
    match change(admin, &Owner { service, key }, &before, &after, force) {
        Ok(code) => {
            edit.discard();
            Ok(code)
        }
        Err(error) => Err(format!("{error}; {}", edit.kept()).into()),
    }
}

fn clear(
    admin: &Admin,
    service: &str,
    key: Option<&str>,
    force: bool,
    yes: bool,
) -> Result<ExitCode, Failure> {
    let states = read_all(admin, service, key)?;
    if states.is_empty() {
        let what = key.map(|key| format!("{service}/{key}")).unwrap_or_else(|| service.into());
        println!("{what} has no state");
        return Ok(ExitCode::SUCCESS);
    }
    for (key, state) in &states {
        println!("{service}/{key}: {}", count(state.len(), "value"));
    }
    if !ask::confirm(&format!("clear {}?", count(states.len(), "key")), yes)? {
        return Err("nothing was cleared".into());
    }
    let mut failed = false;
    for (key, before) in &states {
        let owner = Owner { service, key };
        match write(admin, &owner, before, &StateMap::new(), force) {
            Ok(()) => println!("{service}/{key} cleared"),
            Err(error) => {
                failed = true;
                eprintln!("{service}/{key}: {error}");
            }
        }
    }
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Whose state it is.
struct Owner<'o> {
    service: &'o str,
    key: &'o str,
}

fn read(admin: &Admin, service: &str, key: &str) -> Result<StateMap, Failure> {
    Ok(read_all(admin, service, Some(key))?.remove(key).unwrap_or_default())
}

/// By key, all of one moment.
fn read_all(
    admin: &Admin,
    service: &str,
    key: Option<&str>,
) -> Result<BTreeMap<String, StateMap>, Failure> {
    let of_key = key.map(|key| format!(" AND service_key = {}", quote(key))).unwrap_or_default();
    let rows = admin.sql(&format!(
        "SELECT service_key, key, value FROM state WHERE service_name = {}{of_key}",
        quote(service)
    ))?;
    let mut states: BTreeMap<String, StateMap> = BTreeMap::new();
    for row in rows {
        let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default();
        let value = values::from_hex(text("value"))
            .ok_or_else(|| format!("`{}` came back as something else than bytes", text("key")))?;
        let state = states.entry(text("service_key").to_owned()).or_default();
        state.insert(Bytes::copy_from_slice(text("key").as_bytes()), value);
    }
    Ok(states)
}

/// Writes what is different, and says what that is.
fn change(
    admin: &Admin,
    owner: &Owner<'_>,
    before: &StateMap,
    after: &StateMap,
    force: bool,
) -> Result<ExitCode, Failure> {
    let changes = values::changes(before, after);
    if changes.is_empty() {
        println!("{}/{}: nothing is different", owner.service, owner.key);
        return Ok(ExitCode::SUCCESS);
    }
    write(admin, owner, before, after, force)?;
    println!("{}/{} changed", owner.service, owner.key);
    print!("{changes}");
    Ok(ExitCode::SUCCESS)
}

fn write(
    admin: &Admin,
    owner: &Owner<'_>,
    before: &StateMap,
    after: &StateMap,
    force: bool,
) -> Result<(), Failure> {
    let mut body = json!({ "object_key": owner.key, "new_state": values::wire(after) });
    if !force {
        body["version"] = state_version(before).into();
    }
    let path = format!("/services/{}/state", escaped(owner.service));
    admin.post::<Value>(&path, &body).map(drop)
}
