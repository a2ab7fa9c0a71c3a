//! A schedule while the sidecar is killed and stays down: every time has at most one run, and those
//! that were missed have one together.

use serde_json::Value;
use std::{
    collections::BTreeSet,
    process::{Command, Output},
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};
use tests::{
    effects::Effects,
    eventually, http,
    process::{Process, example, free_port, holdfast},
    sidecar::Sidecar,
};

const PERIOD: Duration = Duration::from_secs(1);
/// Several periods.
const DOWN: Duration = Duration::from_millis(4_500);
const FLAGS: [&str; 2] = ["--partitions", "4"];

#[test]
fn what_is_missed_while_the_sidecar_is_down_runs_once_and_nothing_runs_twice() {
    let directory = tempfile::tempdir().unwrap();
    let effects = Effects::start();
    let mut service = Command::new(example("load_service"));
    let port = free_port();
    service.env("PORT", port.to_string()).env("EFFECTS_URL", &effects.url);
    let _service = Process::start(service);
    eventually("the service listens", || std::net::TcpStream::connect(("127.0.0.1", port)).ok());
    let mut sidecar = Sidecar::start(directory.path(), &FLAGS);
    let deployment = sidecar.register(&format!("http://127.0.0.1:{port}"));

    told(&schedules(&sidecar, &["set", "tick", "--cron", "@every 1s", "--target", "Load/tick"]));
    eventually("it ran", || (effects.all().len() >= 2).then_some(()));

    sidecar.kill9();
    let (down, since) = (Instant::now(), now_ms());
    eventually("some times went by", || (down.elapsed() > DOWN).then_some(()));
    let until = now_ms();
    sidecar.restart();
    eventually("it goes on", || (planned(&effects).range(until + 1..).count() > 2).then_some(()));

    told(&schedules(&sidecar, &["pause", "tick"]));
    let runs = |shown: &Value| shown["runs"].as_u64().unwrap() as usize;
    let shown = eventually("every run has ended", || {
        let shown = describe(&sidecar);
        let ended = shown["last_run"]["status"] != "running";
        (ended && effects.all().len() >= runs(&shown)).then_some(shown)
    });
    check(&effects, &shown, since..until);
    let list = told(&schedules(&sidecar, &["list"]));
    assert!(list.contains("@every 1s") && list.contains("paused"), "{list}");
    let one = told(&schedules(&sidecar, &["describe", "tick"]));
    assert!(one.contains("succeeded") && one.contains("caught up"), "{one}");

    // A service that is gone is told, and nothing else happens.
    let id = deployment["id"].as_str().unwrap();
    let url = format!("{}/deployments/{id}?force=true", sidecar.admin);
    assert_eq!(http::request(hyper::Method::DELETE, &url, &[], "").unwrap().status, 202);
    told(&schedules(&sidecar, &["resume", "tick"]));
    let shown = eventually("the trouble is told", || {
        Some(describe(&sidecar)).filter(|shown| shown["trouble"].is_object())
    });
    assert_eq!(shown["trouble"]["doc_code"], "HF0180");
    assert!(told(&schedules(&sidecar, &["list"])).contains("HF0180"));
    told(&schedules(&sidecar, &["delete", "tick"]));
    assert!(told(&schedules(&sidecar, &["list"])).contains("there is no schedule"));
    let gone = schedules(&sidecar, &["describe", "tick"]);
    assert!(!gone.status.success());
    assert!(String::from_utf8_lossy(&gone.stderr).contains("HF0168"));
}

/// The times that handlers were told, in milliseconds.
fn planned(effects: &Effects) -> BTreeSet<u64> {
    effects.all().iter().map(|(planned, _)| ms(planned)).collect()
}

fn check(effects: &Effects, shown: &Value, down: std::ops::Range<u64>) {
    let runs = effects.all();
    let times = planned(effects);
    assert_eq!(times.len(), runs.len(), "a time has two runs: {runs:?}");
    assert_eq!(shown["runs"].as_u64(), Some(runs.len() as u64), "a run was lost: {shown}");
    let period = PERIOD.as_millis() as u64;
    let times: Vec<u64> = times.into_iter().collect();
    let gaps: Vec<(u64, u64)> = times
        .windows(2)
        .map(|pair| (pair[0], pair[1]))
        .filter(|(before, after)| after - before > period)
        .collect();
    for (before, after) in &gaps {
        assert_eq!((after - before) % period, 0, "what is caught up is one of the times");
    }
    // One run for each gap; on a machine that stalls there may be others than the one looked for.
    assert_eq!(shown["caught_up"].as_u64(), Some(gaps.len() as u64), "{gaps:?} {shown}");
    let missed = |gap: &&(u64, u64)| gap.0 <= down.start && gap.1 + period > down.end;
    assert_eq!(gaps.iter().filter(missed).count(), 1, "{gaps:?} while down {down:?}");
    let within = times.iter().filter(|time| down.contains(time)).count();
    assert!(within <= 1, "{within} runs for the times in which it was down");
    println!("{} runs, none twice; {} caught up for {gaps:?}", runs.len(), gaps.len());
}

fn ms(rfc3339: &str) -> u64 {
    let time: jiff::Timestamp = rfc3339.parse().unwrap();
    u64::try_from(time.as_millisecond()).unwrap()
}

fn now_ms() -> u64 {
    u64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

fn describe(sidecar: &Sidecar) -> Value {
    http::get(&format!("{}/holdfast/schedules/tick", sidecar.admin)).unwrap().json()
}

/// `holdfast schedules …`
fn schedules(sidecar: &Sidecar, words: &[&str]) -> Output {
    let mut command = Command::new(holdfast());
    command.arg("schedules").args(words).args(["--admin", &sidecar.admin]);
    command.output().unwrap()
}

#[track_caller]
fn told(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}
