//! The command line against a real sidecar and a real service: what is typed, what is printed, and
//! the exit status that scripts rely on.

use serde_json::Value;
use std::{
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Output},
};
use tempfile::TempDir;
use tests::{
    eventually,
    process::{Process, example, free_port, holdfast},
    sidecar::Sidecar,
};

/// A sidecar, and a terminal in front of it.
struct Bench {
    directory: TempDir,
    sidecar: Sidecar,
}

/// The services of `tests/foreign/src/bin/playground.rs`, at an address of their own.
struct Playground {
    uri: String,
    _process: Process,
}

/// What a command printed, and how it ended.
struct Ran {
    status: i32,
    out: String,
    err: String,
}

impl Playground {
    fn start() -> Playground {
        let port = free_port();
        let mut command = Command::new(example("playground"));
        command.env("PORT", port.to_string());
        let process = Process::start(command);
        eventually("the service listens", || {
            std::net::TcpStream::connect(("127.0.0.1", port)).ok()
        });
        Playground { uri: format!("http://127.0.0.1:{port}"), _process: process }
    }
}

impl Bench {
    fn start() -> Bench {
        let directory = tempfile::tempdir().unwrap();
        let sidecar = Sidecar::start(&directory.path().join("data"), &[]);
        Bench { directory, sidecar }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(holdfast());
        command.args(arguments);
        command.env("HOLDFAST_ADMIN", &self.sidecar.admin);
        command.env("HOLDFAST_INGRESS", &self.sidecar.ingress);
        command
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        Ran::of(&self.command(arguments).output().unwrap())
    }

    /// What it prints, where it succeeds.
    #[track_caller]
    fn ok(&self, arguments: &[&str]) -> String {
        let ran = self.run(arguments);
        assert_eq!(ran.status, 0, "{arguments:?}: {}{}", ran.out, ran.err);
        ran.out
    }

    #[track_caller]
    fn json(&self, arguments: &[&str]) -> Value {
        let out = self.ok(arguments);
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {out}"))
    }

    /// What it complains about, where it fails.
    #[track_caller]
    fn fails(&self, arguments: &[&str]) -> Ran {
        let ran = self.run(arguments);
        assert_eq!(ran.status, 1, "{arguments:?}: {}{}", ran.out, ran.err);
        ran
    }

    /// Sends, and gives the id.
    fn send(&self, target: &str, data: &[&str]) -> String {
        self.ok(&[&["send", target], data].concat()).trim().to_owned()
    }

    fn status(&self, id: &str) -> String {
        self.sidecar.describe(id)["status"].as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    fn becomes(&self, id: &str, status: &str) {
        eventually(&format!("{id} is {status}"), || (self.status(id) == status).then_some(()));
    }

    /// A counter whose key is held until its awakeable, which is given, is completed.
    fn hold(&self, key: &str) -> (String, String) {
        let id = self.send(&format!("Counter/{key}/hold"), &[]);
        let awakeable = eventually("the holder tells its awakeable", || {
            let state = self.json(&["state", "get", "Counter", key, "--json"]);
            state["state"]["awakeable"].as_str().map(str::to_owned)
        });
        (id, awakeable)
    }

    /// An editor that does this to the file `$1`.
    fn editor(&self, script: &str) -> String {
        let path = self.directory.path().join("editor.sh");
        std::fs::write(&path, format!("#!/bin/sh\nset -e\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o700)).unwrap();
        path.to_str().unwrap().to_owned()
    }

    fn edit(&self, editor: &str, more: &[&str]) -> Ran {
        let arguments = [&["state", "edit", "Counter", "k"], more].concat();
        let mut command = self.command(&arguments);
        command.env("VISUAL", editor).env("TMPDIR", self.directory.path());
        Ran::of(&command.output().unwrap())
    }
}

impl Ran {
    fn of(output: &Output) -> Ran {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let status = output.status.code().unwrap_or(-1);
        Ran { status, out: text(&output.stdout), err: text(&output.stderr) }
    }

    #[track_caller]
    fn says(&self, word: &str) -> &Ran {
        let all = format!("{}{}", self.out, self.err);
        assert!(all.contains(word), "no `{word}` in: {all}");
        self
    }
}

#[test]
fn a_newcomer_registers_calls_and_looks() {
    let (bench, service) = (Bench::start(), Playground::start());
    bench.run(&["status"]).says("ready").says("nothing is registered");

    let uri = service.uri.as_str();
    let dry = bench.ok(&["deployments", "register", uri, "--dry-run"]);
    assert!(dry.starts_with("would register"), "{dry}");
    let registered = bench.ok(&["deployments", "register", uri, "--metadata", "git=abc"]);
    assert!(registered.contains("+ Greeter (Service): greet"), "{registered}");
    let again = bench.ok(&["deployments", "register", uri]);
    assert!(again.contains("registered already"), "{again}");
    let forced = bench.ok(&["deployments", "register", uri, "--force"]);
    assert!(forced.contains("= Greeter, revision 1 → 2"), "{forced}");

    assert_eq!(bench.ok(&["call", "Greeter/greet", "-d", "\"Ada\""]), "\"Hello Ada\"\n");
    assert_eq!(bench.ok(&["call", "Counter/a/b/add", "-d", "2"]), "2\n");
    assert_eq!(bench.ok(&["call", "Counter/add", "--key", "a/b", "-d", "3"]), "5\n");
    assert_eq!(bench.ok(&["call", "Counter/a/b/add", "-d", "-4"]), "1\n");
    bench.fails(&["call", "Greeter/greet", "-d", "Ada"]).says("quotes");
    bench
        .fails(&["call", "Greeter/greet", "-d", "\"\""])
        .says("a greeting needs a name")
        .says("400");
    bench.fails(&["call", "Nobody/greet"]).says("Nobody");

    let id = bench.send("Greeter/greet", &["-d", "\"Eve\"", "--idempotency-key", "once"]);
    assert_eq!(bench.send("Greeter/greet", &["-d", "\"Eve\"", "--idempotency-key", "once"]), id);
    assert_eq!(bench.ok(&["attach", &id]), "\"Hello Eve\"\n");
    assert_eq!(bench.ok(&["output", &id]), "\"Hello Eve\"\n");
    let later = bench.send("Greeter/greet", &["-d", "\"Eve\"", "--delay", "1h"]);
    bench.fails(&["output", &later]).says("not completed yet");

    let listed = bench.ok(&["invocations", "list", "--all"]);
    assert!(listed.contains(&id) && listed.contains("scheduled"), "{listed}");
    assert_eq!(bench.json(&["invocations", "describe", &id, "--json"])["status"], "completed");
    bench.run(&["invocations", "describe", &later]).says("waits for:");
    bench.run(&["services", "list"]).says("VirtualObject");
    bench.run(&["services", "describe", "Signup"]).says("run (Workflow)");
    bench.run(&["services", "status"]).says("SCHEDULED").says(&later);
    let status = bench.json(&["status", "--json"]);
    assert_eq!(status["counts"]["by_status"]["scheduled"], 1);
    assert_eq!(status["ingress"], format!("{}/", bench.sidecar.ingress));
}

#[test]
fn questions_in_sql_are_answered() {
    let (bench, service) = (Bench::start(), Playground::start());
    bench.ok(&["deployments", "register", &service.uri]);
    let question = "SELECT name, ty, null AS nothing FROM sys_service ORDER BY name LIMIT 2";
    let table = bench.ok(&["sql", question]);
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(
        lines,
        ["name     ty              nothing", "Counter  virtual_object", "Greeter  service"]
    );
    assert_eq!(bench.json(&["sql", question, "--json"])[1]["name"], "Greeter");
    let lines = bench.ok(&["sql", question, "--jsonl"]);
    assert_eq!(lines.lines().next(), Some(r#"{"name":"Counter","ty":"virtual_object"}"#));
    bench.run(&["sql", "SELECT id FROM sys_invocation"]).says("no rows");
    bench.fails(&["sql", "SELECT 1 FROM nowhere"]).says("no such table: nowhere");
    bench.fails(&["sql", "DROP TABLE state"]).says("HF0064");
}

#[test]
fn invocations_are_meant_by_what_they_call() {
    let (bench, service) = (Bench::start(), Playground::start());
    bench.ok(&["deployments", "register", &service.uri]);
    let (holder, _) = bench.hold("k1");
    let waiting = bench.send("Counter/k1/add", &["-d", "1"]);
    let (other, awakeable) = bench.hold("k2");
    bench.becomes(&waiting, "pending");

    bench.fails(&["invocations", "cancel", "Counter/k1"]).says("2 invocation").says("--yes");
    assert_eq!(bench.status(&waiting), "pending", "nobody said yes");
    let cancelled = bench.run(&["invocations", "cancel", "Counter/k1", "--yes"]);
    assert_eq!(cancelled.status, 0, "{}", cancelled.err);
    cancelled.says(&format!("{holder} told to stop")).says("2 cancelled");
    bench.becomes(&holder, "completed");
    bench.becomes(&other, "suspended"); // Another key is not meant.

    bench.fails(&["invocations", "cancel", &holder]).says("completed already").says("HF0152");
    bench.fails(&["invocations", "cancel", "Counter/k1", "--yes"]).says("no invocation of");
    let mixed = bench.fails(&["invocations", "kill", &holder, &other]);
    mixed.says("1 killed, 1 refused").says(&format!("{other} killed"));
    bench.fails(&["awakeables", "resolve", "sign_1x"]).says("awakeable");
    bench.ok(&["awakeables", "resolve", &awakeable, "-d", "\"too late\""]);

    let failed = bench.json(&["invocations", "list", "--failed", "--oldest-first", "--json"]);
    let failed: Vec<&Value> = failed["invocations"].as_array().unwrap().iter().collect();
    assert_eq!((failed.len(), &failed[0]["id"]), (2, &holder.as_str().into()));

    let purged = bench.run(&["invocations", "purge", "Counter/k1/hold", "--yes"]);
    assert_eq!(purged.status, 0, "{}", purged.err);
    bench.fails(&["invocations", "describe", &holder]).says("HF0151");
}

#[test]
fn an_awakeable_is_fulfilled_or_refused() {
    let (bench, service) = (Bench::start(), Playground::start());
    bench.ok(&["deployments", "register", &service.uri]);
    let (id, awakeable) = bench.hold("k");
    bench.becomes(&id, "suspended");
    bench.run(&["invocations", "resume", "Counter/k/hold", "--yes"]).says(" resumed");
    bench.ok(&["awakeables", "resolve", &awakeable, "--data", "\"go on\""]);
    assert_eq!(bench.ok(&["attach", &id]), "\"go on\"\n");
    let (id, awakeable) = bench.hold("k");
    bench.ok(&["awakeables", "reject", &awakeable, "not today"]);
    bench.fails(&["attach", &id]).says("the handler failed: not today");
    let restarted = bench.ok(&["invocations", "restart", &id]);
    assert!(restarted.contains(" restarted as inv_1"), "{restarted}");
}

#[test]
fn state_is_changed_against_the_version_that_was_read() {
    let (bench, service) = (Bench::start(), Playground::start());
    bench.ok(&["deployments", "register", &service.uri]);
    bench.ok(&["call", "Counter/k/add", "-d", "7"]);
    assert_eq!(bench.ok(&["state", "get", "Counter", "k"]), "count = 7\n");
    let patched = bench.ok(&["state", "patch", "Counter", "k", r#"{"count": 8, "note": [1]}"#]);
    assert!(
        patched.contains("count: 7 → 8") && patched.contains("note: nothing → [1]"),
        "{patched}"
    );
    assert_eq!(bench.ok(&["call", "Counter/k/add", "-d", "1"]), "9\n");
    bench.fails(&["state", "patch", "Counter", "k", "7"]).says("not a JSON object");
    bench.fails(&["state", "patch", "Greeter", "k", r#"{"a": 1}"#]).says("HF0160");

    let edited = bench.edit(&bench.editor(r#"sed -i 's/9/10/' "$1""#), &[]);
    assert_eq!(edited.status, 0, "{}", edited.err);
    edited.says("count: 9 → 10");
    bench.edit("true", &[]).says("nothing is different");
    bench.edit("false", &[]).says("nothing was changed");

    // Somebody else changes it while it is being edited.
    let meanwhile = format!("{} state patch Counter k '{{\"count\": 50}}'", holdfast().display());
    let editor = bench.editor(&format!("{meanwhile}\nsed -i 's/10/11/' \"$1\""));
    let late = bench.edit(&editor, &[]);
    assert_eq!(late.status, 1, "{}", late.out);
    late.says("HF0161");
    let (_, file) = late.err.split_once("your edit is in ").expect("it says where the edit is");
    assert!(std::fs::read_to_string(Path::new(file.trim())).unwrap().contains("11"));
    assert_eq!(bench.json(&["kv", "get", "Counter", "k", "--json"])["state"]["count"], 50);
    let editor = bench.editor("sed -i 's/50/51/' \"$1\"");
    assert_eq!(bench.edit(&editor, &["--force"]).status, 0);

    bench.fails(&["state", "clear", "Counter"]).says("--yes");
    bench.ok(&["state", "clear", "Counter", "--yes"]);
    bench.run(&["state", "get", "Counter", "k"]).says("has no state");
}

#[test]
fn settings_are_changed_and_shown() {
    let (bench, service) = (Bench::start(), Playground::start());
    bench.ok(&["deployments", "register", &service.uri]);
    let patch = ["services", "config", "patch", "Greeter"];
    let changed =
        bench.ok(&[&patch[..], &["--journal-retention", "1h", "--public", "false"]].concat());
    assert!(changed.contains("journal_retention: 1d → 1h"), "{changed}");
    bench.fails(&["call", "Greeter/greet", "-d", "\"Ada\""]).says("is not public");
    let settings = bench.json(&["services", "config", "view", "Greeter", "--json"]);
    assert_eq!(
        (&settings["public"], &settings["journal_retention"]),
        (&false.into(), &"1h".into())
    );
    let nothing = [&patch[..], &["--public", "false"]].concat();
    assert!(bench.ok(&nothing).contains("nothing is different"));
    bench.fails(&[&patch[..], &["--abort-timeout", "soon"]].concat()).says("abort_timeout");
    bench.fails(&["services", "config", "view", "Nobody"]).says("HF0052");
}

#[test]
fn drained_deployments_are_told_and_removed_at_once() {
    let (bench, old, new) = (Bench::start(), Playground::start(), Playground::start());
    let first = bench.json(&["deployments", "register", &old.uri, "--json"])["id"].clone();
    let first = first.as_str().unwrap();
    let (_, awakeable) = bench.hold("k");
    bench.ok(&["deployments", "update", first, "--header", "x-team: blue"]);
    bench.fails(&["deployments", "update", first]).says("say what to change");
    bench.run(&["deployments", "describe", first]).says("active").says("header x-team: blue");
    bench.ok(&["deployments", "register", &new.uri]);

    let status = || bench.json(&["deployments", "describe", first, "--json"])["status"].clone();
    assert_eq!(status(), "draining");
    bench.run(&["deployments", "remove", "--drained", "--yes"]).says("no deployment is drained");
    bench.fails(&["deployments", "remove", first]).says(first);

    bench.ok(&["awakeables", "resolve", &awakeable, "-d", "\"done\""]);
    eventually("the first deployment is drained", || (status() == "drained").then_some(()));
    bench.fails(&["deployments", "remove", "--drained"]).says(first).says("--yes");
    let removed = bench.ok(&["deployments", "remove", "--drained", "--yes"]);
    assert!(removed.contains(&format!("removed {first}")), "{removed}");
    let left = bench.json(&["deployments", "list", "--json"]);
    let left = left["deployments"].as_array().unwrap();
    assert_eq!((left.len(), &left[0]["status"]), (1, &"active".into()));
    assert_eq!(bench.ok(&["call", "Counter/k/get"]), "0\n");
}
