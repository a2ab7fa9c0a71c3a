//! Precedence, and what a person reads when a setting is wrong.

mod documented;

use super::*;
use expect_test::{Expect, expect};

#[track_caller]
fn check(file: &str, env: &[(&str, &str)], flags: &[(&str, &str)], expected: Expect) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("holdfast.toml");
    std::fs::write(&path, file).unwrap();
    let sources = Sources {
        file: Some(path.clone()),
        env: env.iter().map(|(k, v)| ((*k).into(), (*v).into())).collect(),
        flags: flags
            .iter()
            .map(|(key, text)| Flag {
                name: format!("--set {key}"),
                key: (*key).into(),
                value: guess(text),
            })
            .collect(),
    };
    let text = match load(sources) {
        Ok(config) => format!(
            "partitions {} directory {} services {:?} shutdown_ms {}",
            config.partition.partitions,
            config.store.directory.display(),
            config.services,
            config.shutdown_ms
        ),
        Err(error) => error.to_string(),
    };
    expected.assert_eq(&text.replace(&path.display().to_string(), "FILE"));
}

#[test]
fn a_flag_beats_the_environment_beats_the_file_beats_the_default() {
    check(
        "",
        &[],
        &[],
        expect!["partitions 1 directory holdfast-data services [] shutdown_ms 10000"],
    );
    check(
        "shutdown_ms = 1\n[partition]\npartitions = 2\n[store]\ndirectory = 'a'",
        &[
            ("HOLDFAST__PARTITION__PARTITIONS", "3"),
            ("HOLDFAST__STORE__DIRECTORY", "b"),
            ("PATH", "x"),
        ],
        &[("partition.partitions", "4")],
        expect!["partitions 4 directory b services [] shutdown_ms 1"],
    );
    check(
        "",
        &[("HOLDFAST__SERVICES", "['http://a', 'http://b']")],
        &[],
        expect![[
            r#"partitions 1 directory holdfast-data services ["http://a", "http://b"] shutdown_ms 10000"#
        ]],
    );
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    check(
        "shutdown_ms = 2\n\n[store]\nnonsense = 1\n",
        &[],
        &[],
        expect![
            "HF0002: FILE:4: unknown field `nonsense`, expected one of `directory`, `memory_bytes`, `log_bytes_max`, `files_max`, `accept_damaged_log`; `holdfast config` prints every setting there is"
        ],
    );
    check(
        "shutdown_ms = 'many'",
        &[],
        &[],
        expect![[
            r#"HF0002: FILE:1: invalid type: string "many", expected u64; `holdfast config` prints every setting there is"#
        ]],
    );
    check(
        "shutdown_ms = ",
        &[],
        &[],
        expect![
            "HF0002: FILE:1: string values must be quoted, expected literal string; `holdfast config` prints every setting there is"
        ],
    );
    check(
        "",
        &[("HOLDFAST__INGRES__BIND", "1")],
        &[],
        expect![
            "HF0003: HOLDFAST__INGRES__BIND: unknown field `ingres`, expected one of `services`, `worker_threads`, `shutdown_ms`, `identity_key_file`, `limits`, `listen`, `protocol`, `ingress`, `guard`, `exposure`, `mcp`, `a2a`, `asks`, `admin`, `invoker`, `notify`, `client`, `registry`, `partition`, `query`, `store`, `telemetry`; `holdfast config` prints every setting there is"
        ],
    );
    check(
        "",
        &[("HOLDFAST__PARTITION__PARTITIONS__X", "1")],
        &[],
        expect![
            "HF0003: HOLDFAST__PARTITION__PARTITIONS__X: invalid type: map, expected u16; `holdfast config` prints every setting there is"
        ],
    );
    check(
        "",
        &[],
        &[("partition.partitions", "0")],
        expect![
            "HF0003: partition.partitions: is not between 1 and 64; `holdfast config` prints every setting there is"
        ],
    );
    check(
        "",
        &[],
        &[("notify.url", "https://me:secret@hooks")],
        expect![
            "HF0003: notify.url: it has a user or a password, which would not be sent; `holdfast config` prints every setting there is"
        ],
    );
    check(
        "",
        &[],
        &[("store.nonsense", "0")],
        expect![
            "HF0003: --set store.nonsense: unknown field `nonsense`, expected one of `directory`, `memory_bytes`, `log_bytes_max`, `files_max`, `accept_damaged_log`; `holdfast config` prints every setting there is"
        ],
    );
}

#[test]
fn limits_are_a_list_and_each_must_make_sense() {
    let good = "[[limits]]\nservice = 'S'\nhandler = 'h'\nkey_prefix = 'eu-'\nconcurrency = 0\n";
    check(
        good,
        &[],
        &[],
        expect!["partitions 1 directory holdfast-data services [] shutdown_ms 10000"],
    );
    check(
        "",
        &[("HOLDFAST__LIMITS", "[{service = 'S', concurrency = 1}]")],
        &[],
        expect!["partitions 1 directory holdfast-data services [] shutdown_ms 10000"],
    );
    check(
        "\n\n[[limits]]\nservice = 'S'\nconcurrency = -1\n",
        &[],
        &[],
        expect![
            "HF0002: FILE:5: invalid value: integer `-1`, expected u32; `holdfast config` prints every setting there is"
        ],
    );
    check(
        "\n\n[[limits]]\nservice = 'S'\n",
        &[],
        &[],
        expect![
            "HF0002: FILE:3: missing field `concurrency`; `holdfast config` prints every setting there is"
        ],
    );
    check(
        "\n\n[[limits]]\nservice = ''\nconcurrency = 1\n",
        &[],
        &[],
        expect![
            "HF0002: FILE:3: `service` is empty; name the service that is to be limited; `holdfast config` prints every setting there is"
        ],
    );
    check(
        "[[limits]]\nservice = 'S'\nkey_prefix = ''\nconcurrency = 1\n",
        &[],
        &[],
        expect![
            "HF0002: FILE:1: `key_prefix` is empty; leave it out to limit all keys together; `holdfast config` prints every setting there is"
        ],
    );
    check(
        "[[limits]]\nservice = 'S'\nkey = 'a'\nconcurrency = 1\n",
        &[],
        &[],
        expect![
            "HF0002: FILE:3: unknown field `key`, expected one of `service`, `handler`, `key_prefix`, `concurrency`; `holdfast config` prints every setting there is"
        ],
    );
    check(
        &good.repeat(2),
        &[],
        &[],
        expect![
            "HF0003: limits: `S/eu-*/h` is limited twice; leave one of the two out; `holdfast config` prints every setting there is"
        ],
    );
    let limit = "[[limits]]\nservice = 'S'\nconcurrency = 1\n";
    check(
        &limit.repeat(1_001),
        &[],
        &[],
        expect![
            "HF0003: limits: there are 1001; at most 1000 are taken; `holdfast config` prints every setting there is"
        ],
    );
}

#[test]
fn the_printed_configuration_is_a_configuration() {
    let limits = "[[limits]]\nservice = 'S'\nhandler = 'h'\nconcurrency = 3\n";
    for file in ["", limits] {
        let printed = toml::from_str::<Config>(file).unwrap().to_toml();
        let read: Config = toml::from_str(&printed).unwrap();
        assert_eq!(read.to_toml(), printed);
        assert_eq!(read.limits.len(), usize::from(!file.is_empty()));
    }
}
