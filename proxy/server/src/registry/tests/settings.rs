//! How the settings of a handler come about.

use crate::registry::{Config, Declared, DeclaredRetry};
use expect_test::{Expect, expect};
use holdfast_machine::retry::OnMaxAttempts;
use std::time::Duration;

const S: fn(u64) -> Duration = Duration::from_secs;

fn service() -> Declared {
    Declared {
        inactivity_timeout: Some(S(5)),
        journal_retention: Some(S(7)),
        lazy_state: Some(true),
        retry: DeclaredRetry {
            initial_interval: Some(S(1)),
            max_attempts: Some(10),
            ..DeclaredRetry::default()
        },
        ..Declared::default()
    }
}

fn handler() -> Declared {
    Declared {
        inactivity_timeout: Some(S(0)),
        lazy_state: Some(false),
        retry: DeclaredRetry {
            max_attempts: Some(0),
            exponentiation_factor: Some(1.5),
            on_max_attempts: Some(OnMaxAttempts::Kill),
            ..DeclaredRetry::default()
        },
        ..Declared::default()
    }
}

fn check(declared: &Declared, config: &Config, expected: Expect) {
    expected.assert_debug_eq(&declared.resolve(config));
}

#[test]
fn nothing_declared_is_the_default() {
    check(
        &Declared::default(),
        &Config::default(),
        expect![[r#"
        Options {
            inactivity_timeout: 60s,
            abort_timeout: 600s,
            journal_retention: 86400s,
            idempotency_retention: 86400s,
            workflow_completion_retention: 86400s,
            lazy_state: false,
            retry: RetryPolicy {
                initial_interval: 500ms,
                exponentiation_factor: 2.0,
                max_interval: 60s,
                max_attempts: Some(
                    70,
                ),
                on_max_attempts: Pause,
            },
        }
    "#]],
    );
}

#[test]
fn a_handler_goes_over_its_service_field_by_field() {
    check(
        &handler().or(&service()),
        &Config::default(),
        expect![[r#"
        Options {
            inactivity_timeout: 0ns,
            abort_timeout: 600s,
            journal_retention: 7s,
            idempotency_retention: 86400s,
            workflow_completion_retention: 86400s,
            lazy_state: false,
            retry: RetryPolicy {
                initial_interval: 1s,
                exponentiation_factor: 1.5,
                max_interval: 60s,
                max_attempts: Some(
                    1,
                ),
                on_max_attempts: Kill,
            },
        }
    "#]],
    );
}

#[test]
fn maxima_cut_what_is_declared_and_what_is_default() {
    let mut config = Config::default();
    config.maxima.journal_retention_ms = Some(3_000);
    config.maxima.idempotency_retention_ms = Some(4_000);
    config.maxima.retry_attempts = Some(5);
    config.defaults.retry.max_attempts = 0;
    check(
        &service(),
        &config,
        expect![[r#"
        Options {
            inactivity_timeout: 5s,
            abort_timeout: 600s,
            journal_retention: 3s,
            idempotency_retention: 4s,
            workflow_completion_retention: 86400s,
            lazy_state: true,
            retry: RetryPolicy {
                initial_interval: 1s,
                exponentiation_factor: 2.0,
                max_interval: 60s,
                max_attempts: Some(
                    5,
                ),
                on_max_attempts: Pause,
            },
        }
    "#]],
    );
    let without = Declared::default().resolve(&config);
    assert_eq!(without.retry.max_attempts, Some(5));
}

#[test]
fn a_factor_below_one_is_no_factor() {
    let odd = |factor| Declared {
        retry: DeclaredRetry { exponentiation_factor: Some(factor), ..DeclaredRetry::default() },
        ..Declared::default()
    };
    for factor in [0.5, 0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(odd(factor).resolve(&Config::default()).retry.exponentiation_factor, 2.0);
    }
}
