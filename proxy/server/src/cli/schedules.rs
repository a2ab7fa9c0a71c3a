//! `holdfast schedules …`: what is called at which times, and how that goes.

use super::{
    Failure,
    api::Admin,
    args::{Schedules, SetSchedule},
    deployments::parse_headers,
    print_json,
    text::{Paint, columns, shorten},
};
use crate::query::model::{Run, RunStatus, Schedule, ScheduleDetail, Schedules as Found, Upcoming};
use holdfast_wire::percent::escaped;
use serde_json::{Map, Value, json};
use std::{fmt::Write, process::ExitCode};

/// Longest reason in a list, in characters.
const REASON_CHARS_MAX: usize = 70;

pub fn run(admin: Admin, command: Schedules) -> Result<ExitCode, Failure> {
    match command {
        Schedules::List { json } => list(&admin, json),
        Schedules::Describe { name, json } => describe(&admin, &name, json),
        Schedules::Set(wish) => set(&admin, &wish),
        Schedules::Pause { names } => each(&names, |path| {
            let _: Value = admin.post(&format!("{path}/pause"), &json!({}))?;
            Ok("paused".into())
        }),
        Schedules::Resume { names } => each(&names, |path| {
            let resumed: ScheduleDetail = admin.post(&format!("{path}/resume"), &json!({}))?;
            let next = resumed.schedule.next_at.unwrap_or("never".into());
            Ok(format!("resumed, due next at {next}"))
        }),
        Schedules::Trigger { names } => each(&names, |path| {
            let answer: Value = admin.post(&format!("{path}/trigger"), &json!({}))?;
            Ok(format!("runs as {}", answer["invocation"].as_str().unwrap_or("-")))
        }),
        Schedules::Delete { names } => each(&names, |path| {
            admin.delete(path)?;
            Ok("deleted".into())
        }),
    }
}

fn path(name: &str) -> String {
    format!("/holdfast/schedules/{}", escaped(name))
}

/// Does something to every schedule; one that is refused does not keep the others from it.
fn each(
    names: &[String],
    act: impl Fn(&str) -> Result<String, Failure>,
) -> Result<ExitCode, Failure> {
    if names.is_empty() {
        return Err("name at least one schedule".into());
    }
    let mut all_done = true;
    for name in names {
        match act(&path(name)) {
            Ok(done) => println!("{name} {done}"),
            Err(error) => {
                all_done = false;
                eprintln!("{name}: {error}");
            }
        }
    }
    Ok(if all_done { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn list(admin: &Admin, json: bool) -> Result<ExitCode, Failure> {
    if json {
        return print_json(&admin.get::<Value>("/holdfast/schedules")?);
    }
    let found: Found = admin.get("/holdfast/schedules")?;
    if found.schedules.is_empty() {
        println!("there is no schedule; make one with `holdfast schedules set`");
        return Ok(ExitCode::SUCCESS);
    }
    print!("{}", table(&found.schedules));
    if found.more {
        println!("… and more");
    }
    Ok(ExitCode::SUCCESS)
}

fn table(schedules: &[Schedule]) -> String {
    let rows: Vec<Vec<String>> = schedules.iter().map(row).collect();
    columns(&["NAME", "WHEN", "TARGET", "NEXT", "LAST", "RUNS"], &rows)
}

fn row(schedule: &Schedule) -> Vec<String> {
    let next = match &schedule.next_at {
        Some(next) => next.clone(),
        None if schedule.paused => "paused".into(),
        None => "never".into(),
    };
    let last = match (&schedule.trouble, &schedule.last_run) {
        (Some(trouble), _) => format!("{}: {}", trouble.doc_code, trouble.message),
        (None, Some(run)) => outcome(run),
        (None, None) => "-".into(),
    };
    vec![
        schedule.name.clone(),
        when(schedule),
        schedule.target.clone(),
        next,
        shorten(&last, REASON_CHARS_MAX),
        schedule.runs.to_string(),
    ]
}

fn when(schedule: &Schedule) -> String {
    match schedule.time_zone.as_str() {
        "UTC" => schedule.cron.clone(),
        zone => format!("{} {zone}", schedule.cron),
    }
}

fn outcome(run: &Run) -> String {
    match &run.failure {
        Some(failure) => format!("failed: {failure}"),
        None => run.status.as_str().into(),
    }
}

fn describe(admin: &Admin, name: &str, json: bool) -> Result<ExitCode, Failure> {
    if json {
        return print_json(&admin.get::<Value>(&path(name))?);
    }
    print!("{}", draw(&admin.get(&path(name))?, Paint::of_stdout()));
    Ok(ExitCode::SUCCESS)
}

/// The whole picture of one schedule.
fn draw(detail: &ScheduleDetail, paint: Paint) -> String {
    let schedule = &detail.schedule;
    let mut out = format!("{}  {}\n", paint.bold(&schedule.name), schedule.target);
    let paused = if schedule.paused { paint.waits(" · paused") } else { String::new() };
    let _ = writeln!(
        out,
        "{} · catch up {} · overlap {}{paused}",
        when(schedule),
        schedule.catch_up.as_str(),
        schedule.overlap.as_str(),
    );
    if let Some(text) = schedule.argument.as_ref().and_then(|argument| argument.text.as_ref()) {
        let _ = writeln!(out, "input {}", shorten(text, REASON_CHARS_MAX));
    }
    if let Some(run) = &schedule.last_run {
        let _ = writeln!(out, "\n{}", last_run(run, paint));
    }
    if let Some(trouble) = &schedule.trouble {
        let said = format!(
            "not called for {}: {} ({})",
            trouble.planned_at, trouble.message, trouble.doc_code
        );
        let _ = writeln!(out, "{}", paint.bad(&said));
    }
    let _ = writeln!(
        out,
        "{} runs, {} of them caught up; {} times skipped, {} not called",
        schedule.runs, schedule.caught_up, schedule.skipped, schedule.failed
    );
    if !detail.upcoming.is_empty() {
        let _ = write!(out, "\nnext\n{}", times(&detail.upcoming));
    }
    out
}

fn last_run(run: &Run, paint: Paint) -> String {
    let status = match run.status {
        RunStatus::Running => paint.waits(&outcome(run)),
        RunStatus::Succeeded => paint.good(&outcome(run)),
        RunStatus::Failed => paint.bad(&outcome(run)),
    };
    let occasion = if run.triggered { "triggered at" } else { "last run for" };
    format!("{occasion} {}: {status}  {}", run.planned_at, paint.dim(&run.invocation))
}

fn times(upcoming: &[Upcoming]) -> String {
    upcoming.iter().map(|time| format!("  {}  {}\n", time.at, time.local)).collect()
}

fn set(admin: &Admin, wish: &SetSchedule) -> Result<ExitCode, Failure> {
    let body = body(wish)?;
    if wish.dry_run {
        let answer: Value = admin.put(&format!("{}?dryRun=true", path(&wish.name)), &body)?;
        let upcoming: Vec<Upcoming> = serde_json::from_value(answer["upcoming"].clone())?;
        print!("{} would be due at\n{}", wish.name, times(&upcoming));
        return Ok(ExitCode::SUCCESS);
    }
    let stored: ScheduleDetail = admin.put(&path(&wish.name), &body)?;
    print!("{}", draw(&stored, Paint::of_stdout()));
    Ok(ExitCode::SUCCESS)
}

fn body(wish: &SetSchedule) -> Result<Value, Failure> {
    let (service, handler) = wish
        .target
        .split_once('/')
        .ok_or_else(|| format!("`{}` is no target; write SERVICE/HANDLER", wish.target))?;
    let mut body = Map::new();
    let texts = [
        ("cron", Some(wish.cron.as_str())),
        ("time_zone", wish.tz.as_deref()),
        ("service", Some(service)),
        ("handler", Some(handler)),
        ("key", wish.key.as_deref()),
        ("catch_up", wish.catch_up.as_deref()),
        ("overlap", wish.overlap.as_deref()),
    ];
    for (name, text) in texts {
        if let Some(text) = text {
            body.insert(name.into(), text.into());
        }
    }
    if let Some(data) = &wish.data {
        let argument: Value = serde_json::from_str(data)
            .map_err(|error| format!("--data is not JSON: {error}; quote texts twice: '\"…\"'"))?;
        body.insert("argument".into(), argument);
    }
    body.insert("headers".into(), parse_headers(&wish.headers)?.into());
    Ok(body.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn sample() -> Value {
        json!({
            "name": "nightly", "cron": "0 2 * * *", "time_zone": "Europe/Berlin",
            "target": "Reports/build", "service": "Reports", "handler": "build",
            "argument": { "bytes": 11, "text": "{\"all\":true}" },
            "catch_up": "once", "overlap": "skip", "paused": false,
            "created_at": "2026-11-01T00:00:00.000Z", "modified_at": "2026-11-01T00:00:00.000Z",
            "next_at": "2026-11-30T01:00:00.000Z",
            "last_run": {
                "planned_at": "2026-11-29T01:00:00.000Z", "started_at": "2026-11-29T01:00:00.004Z",
                "invocation": "inv_1abc", "status": "failed",
                "ended_at": "2026-11-29T01:00:09.000Z", "failure": "[500] no paper"
            },
            "runs": 29, "caught_up": 1, "skipped": 2, "failed": 0,
            "upcoming": [
                { "at": "2026-11-30T01:00:00.000Z", "local": "2026-11-30T02:00:00+01:00[Europe/Berlin]" },
                { "at": "2026-12-01T01:00:00.000Z", "local": "2026-12-01T02:00:00+01:00[Europe/Berlin]" }
            ]
        })
    }

    fn changed(change: impl FnOnce(&mut Value)) -> ScheduleDetail {
        let mut value = sample();
        change(&mut value);
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn one_schedule() {
        expect![[r#"
            nightly  Reports/build
            0 2 * * * Europe/Berlin · catch up once · overlap skip
            input {"all":true}

            last run for 2026-11-29T01:00:00.000Z: failed: [500] no paper  inv_1abc
            29 runs, 1 of them caught up; 2 times skipped, 0 not called

            next
              2026-11-30T01:00:00.000Z  2026-11-30T02:00:00+01:00[Europe/Berlin]
              2026-12-01T01:00:00.000Z  2026-12-01T02:00:00+01:00[Europe/Berlin]
        "#]]
        .assert_eq(&draw(&changed(|_| {}), Paint::plain()));
    }

    #[test]
    fn one_that_waits_and_one_in_trouble() {
        let waits = changed(|value| {
            value["paused"] = true.into();
            value["upcoming"] = json!([]);
            for absent in ["next_at", "last_run", "argument"] {
                value.as_object_mut().unwrap().remove(absent);
            }
        });
        let troubled = changed(|value| {
            value["name"] = "weekly".into();
            value["time_zone"] = "UTC".into();
            value["last_run"]["status"] = "succeeded".into();
            value["last_run"].as_object_mut().unwrap().remove("failure");
            value["trouble"] = json!({
                "at": "2026-11-30T01:00:00.000Z", "planned_at": "2026-11-30T01:00:00.000Z",
                "doc_code": "HF0180", "message": "nothing is registered for `Reports/build`"
            });
        });
        expect![[r#"
            nightly  Reports/build
            0 2 * * * Europe/Berlin · catch up once · overlap skip · paused
            29 runs, 1 of them caught up; 2 times skipped, 0 not called
        "#]]
        .assert_eq(&draw(&waits, Paint::plain()));
        expect![[r#"
            weekly  Reports/build
            0 2 * * * · catch up once · overlap skip
            input {"all":true}

            last run for 2026-11-29T01:00:00.000Z: succeeded  inv_1abc
            not called for 2026-11-30T01:00:00.000Z: nothing is registered for `Reports/build` (HF0180)
            29 runs, 1 of them caught up; 2 times skipped, 0 not called

            next
              2026-11-30T01:00:00.000Z  2026-11-30T02:00:00+01:00[Europe/Berlin]
              2026-12-01T01:00:00.000Z  2026-12-01T02:00:00+01:00[Europe/Berlin]
        "#]].assert_eq(&draw(&troubled, Paint::plain()));
        let all = [changed(|_| {}), waits, troubled].map(|detail| detail.schedule);
        expect![[r#"
            NAME     WHEN                     TARGET         NEXT                      LAST                                               RUNS
            nightly  0 2 * * * Europe/Berlin  Reports/build  2026-11-30T01:00:00.000Z  failed: [500] no paper                             29
            nightly  0 2 * * * Europe/Berlin  Reports/build  paused                    -                                                  29
            weekly   0 2 * * *                Reports/build  2026-11-30T01:00:00.000Z  HF0180: nothing is registered for `Reports/build`  29
        "#]].assert_eq(&table(&all));
    }

    #[test]
    fn what_is_typed_becomes_a_body() {
        use crate::cli::args::{Cli, Command};
        use clap::Parser;
        let typed = |more: &[&str]| {
            let common = ["holdfast", "schedules", "set", "n", "--cron", "@daily", "--target"];
            let cli = Cli::try_parse_from(common.iter().chain(more)).map_err(|it| it.to_string());
            match cli.map(|cli| cli.command) {
                Ok(Some(Command::Schedules { command: Schedules::Set(wish), .. })) => {
                    body(&wish).map_or_else(|error| error.to_string(), |body| body.to_string())
                }
                Ok(_) => panic!("another command"),
                Err(error) => error.lines().next().unwrap_or_default().to_owned(),
            }
        };
        let told = [
            typed(&["A/b"]),
            typed(&["A/b", "--key", "k", "--data", "[1, 2]", "--header", "X: y"]),
            typed(&["A/b", "--tz", "Asia/Tokyo", "--catch-up", "skip", "--overlap", "skip"]),
            typed(&["A"]),
            typed(&["A/b", "--data", "Ada"]),
            typed(&["A/b", "--overlap", "twice"]),
        ];
        expect![[r#"
            {"cron":"@daily","service":"A","handler":"b","headers":{}}
            {"cron":"@daily","service":"A","handler":"b","key":"k","argument":[1,2],"headers":{"x":"y"}}
            {"cron":"@daily","time_zone":"Asia/Tokyo","service":"A","handler":"b","catch_up":"skip","overlap":"skip","headers":{}}
            `A` is no target; write SERVICE/HANDLER
            --data is not JSON: expected value at line 1 column 1; quote texts twice: '"…"'
            error: invalid value 'twice' for '--overlap <POLICY>'"#]].assert_eq(&told.join("\n"));
    }
}
