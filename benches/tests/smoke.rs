//! The benchmark itself: that it measures every scenario, in both loops, a sidecar of its own and a
//! server that is there already, and writes what it says. What the figures are is not looked at.

use benches::report::{Load, Report};
use std::path::{Path, PathBuf};
use std::process::Command;
use tests::process::holdfast;
use tests::sidecar::Sidecar;

/// Runs it, and gives what it printed.
fn bench(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_bench"))
        .args(["--seconds", "0.4", "--warm-up", "0.1"])
        .args(arguments)
        .env_remove("HOLDFAST_BIN")
        .output()
        .unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}\n{error}");
    said
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn everything_is_measured_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| -> PathBuf { folder.path().join(name) };
    let (json, svg) = (file("ours.json"), file("ours.svg"));
    let program = holdfast();
    let said = bench(&[
        "--callers",
        "3",
        "--holdfast",
        text(&program),
        "--label",
        "ours",
        "--data",
        text(folder.path()),
        "--json",
        text(&json),
        "--svg",
        text(&svg),
    ]);
    let report = Report::read(&json).unwrap();
    assert_eq!(report.results.len(), 8, "{said}");
    for outcome in &report.results {
        assert!(outcome.calls > 0 && outcome.failed == 0, "{outcome:?}");
        let latency = outcome.latency_us;
        assert!(latency.p50 > 10.0 && latency.p50 <= latency.p99, "{outcome:?}");
        assert!(latency.p99 <= latency.max, "{outcome:?}");
        assert_eq!(outcome.mib_per_second.is_some(), outcome.scenario == "large");
        assert_eq!(outcome.messages_per_second.is_some(), outcome.scenario == "sends");
    }
    assert!(report.rss_peak_bytes.unwrap() > 1 << 20 && report.disk_bytes.unwrap() > 0);
    assert!(said.contains("echo of 1 MiB") && said.contains("MiB at most"), "{said}");
    assert!(std::fs::read_to_string(&svg).unwrap().starts_with("<svg "));
    let left = std::fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 2, "the data directory is gone");
}

#[test]
fn a_server_that_is_there_is_measured_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let sidecar = Sidecar::start(&folder.path().join("data"), &[]);
    let (one, two, svg) = ("one.json", "two.json", "both.svg");
    let [one, two, svg] = [one, two, svg].map(|name| folder.path().join(name));
    let there = ["--ingress", &sidecar.ingress, "--admin", &sidecar.admin];
    let measured = ["--scenarios", "echo,steps", "--callers", "2", "--open", "0.5", "--json"];
    bench(&[&there[..], &measured, &[text(&one), "--label", "one"]].concat());
    let pid = sidecar.id().to_string();
    let with = [text(&two), "--pid", &pid, "--label", "two", "--beside", text(&one)];
    let said = bench(&[&there[..], &measured, &with, &["--svg", text(&svg)]].concat());
    assert!(said.contains("two against one:") && said.contains("x throughput"), "{said}");
    let (one, two) = (Report::read(&one).unwrap(), Report::read(&two).unwrap());
    let open = two.results.iter().filter(|it| matches!(it.load, Load::Rate(_)));
    assert_eq!(open.filter(|it| it.calls > 0).count(), 2, "each scenario has an open loop too");
    assert!(one.rss_peak_bytes.is_none() && two.rss_peak_bytes.is_some());
    assert!(one.results.iter().all(|it| it.server_cpu_us.is_none()));
    let picture = std::fs::read_to_string(&svg).unwrap();
    assert!(picture.contains(">one</text>") && picture.contains(">two</text>"));
}

#[test]
fn what_does_not_work_is_said() {
    let output = Command::new(env!("CARGO_BIN_EXE_bench"))
        .args(["--ingress", "http://127.0.0.1:1", "--admin", "http://127.0.0.1:1"])
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("cannot connect to"), "{error}");
}
