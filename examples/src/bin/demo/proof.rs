//! Holds what the outside world saw against what the journal recorded. Must never look at the
//! sidecar: it has the calls, counted outside, and the result, whose receipts are the recorded
//! values.
//!
//! What is claimed is what can be true: a step whose process dies before its result is recorded is
//! tried again, so *attempts* may be more; its *result* is recorded once, and once recorded the
//! step never runs again, however often the handler is entered.

use crate::Seen;
use crate::outside::{Call, Fate};
use serde_json::Value;

/// The steps of the refund, in their order.
const STEPS: [&str; 3] = ["check-order", "reserve-amount", "pay-back"];

/// What was seen of one step.
struct Step {
    name: &'static str,
    begun: usize,
    /// Values of the executions that came to their end.
    done: Vec<String>,
    /// The value that the handler got from the journal in the end.
    recorded: String,
    begun_expected: usize,
}

/// What was seen of one invocation.
pub struct Proof {
    steps: Vec<Step>,
    entered: usize,
    status: String,
}

impl Proof {
    /// Gathers it; the service was killed once in the step `killed_in`.
    pub fn of(calls: &[Call], result: &Value, killed_in: &str) -> Self {
        let step = |name| {
            let begun: Vec<&Call> = calls.iter().filter(|call| call.step == name).collect();
            let done = begun.iter().filter(|call| call.fate == Fate::CarriedOut);
            Step {
                name,
                begun: begun.len(),
                done: done.map(|call| call.value.clone()).collect(),
                recorded: text(&result["receipts"][name]),
                begun_expected: if name == killed_in { 2 } else { 1 },
            }
        };
        Self {
            steps: STEPS.map(step).into(),
            entered: calls.iter().filter(|call| call.step == "attempt").count(),
            status: text(&result["status"]),
        }
    }

    /// Prints a line for each step and fails unless each ran once.
    pub fn print_and_check(&self) -> Seen<()> {
        println!("\n   step             begun  done  value sent out    value in the journal");
        for step in &self.steps {
            let Step { name, begun, done, recorded, .. } = step;
            let (count, values) = (done.len(), done.join(" "));
            println!("   {name:<15}  {begun:>5}  {count:>4}  {values}  {recorded}");
        }
        println!("   the handler was entered {} times", self.entered);
        self.steps.iter().try_for_each(Step::check)?;
        if self.entered < 3 {
            return Err(
                "the handler was entered less than three times: nothing was replayed".into()
            );
        }
        if self.status != "refunded" {
            return Err(format!("the order was {}, expected refunded", self.status).into());
        }
        println!(
            "\n   Each step was done once and recorded once; the one that was killed had begun twice."
        );
        Ok(())
    }
}

impl Step {
    fn check(&self) -> Seen<()> {
        let Self { name, begun, begun_expected, done, recorded } = self;
        if begun != begun_expected {
            return Err(
                format!("step {name} was begun {begun} times, expected {begun_expected}").into()
            );
        }
        if done.as_slice() != std::slice::from_ref(recorded) {
            return Err(format!("step {name} did {done:?}, but {recorded:?} was recorded").into());
        }
        Ok(())
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn call(step: &str, value: &str, fate: Fate) -> Call {
        let (id, step, value) = ("inv".to_owned(), step.to_owned(), value.to_owned());
        Call { id, step, value, fate }
    }

    /// What a good run leaves behind.
    fn calls() -> Vec<Call> {
        let mut calls = vec![
            call("check-order", "c", Fate::CarriedOut),
            call("reserve-amount", "lost", Fate::Abandoned),
            call("reserve-amount", "r", Fate::CarriedOut),
            call("pay-back", "p", Fate::CarriedOut),
        ];
        calls.extend(["1", "2", "3"].map(|value| call("attempt", value, Fate::CarriedOut)));
        calls
    }

    fn holds(calls: &[Call]) -> bool {
        let receipts = json!({ "check-order": "c", "reserve-amount": "r", "pay-back": "p" });
        let result = json!({ "status": "refunded", "receipts": receipts });
        Proof::of(calls, &result, "reserve-amount").print_and_check().is_ok()
    }

    #[test]
    fn a_good_run_is_proof() {
        assert!(holds(&calls()));
    }

    #[test]
    fn a_recorded_step_that_runs_again_is_none() {
        let mut calls = calls();
        calls.push(call("check-order", "again", Fate::CarriedOut));
        assert!(!holds(&calls));
    }

    #[test]
    fn a_result_that_is_not_what_the_step_made_is_none() {
        let mut calls = calls();
        calls[2].value = "other".to_owned();
        assert!(!holds(&calls));
    }

    #[test]
    fn a_run_without_replay_is_none() {
        let mut calls = calls();
        calls.pop();
        assert!(!holds(&calls));
    }
}
