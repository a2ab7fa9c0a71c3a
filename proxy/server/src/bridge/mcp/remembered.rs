//! Answers to polls, for as long as nothing becomes of their tasks: most polls of a task that waits
//! find it as the poll before did. Bounded whatever is polled, and never the only place of anything:
//! an answer that is forgotten is made again.

use crate::tasks::{TaskId, Trace};
use serde_json::value::RawValue;
use std::{
    collections::HashMap,
    mem,
    sync::{Arc, Mutex},
};

/// Memory of all answers together, in bytes.
const BYTES_MAX: usize = 16 << 20;
/// Largest answer that is remembered, with what it was made of, in bytes.
const ANSWER_BYTES_MAX: usize = 16 << 10;
/// What one takes beside its texts, about, in bytes.
const OVERHEAD_BYTES: usize = 256;

/// What the answer to a poll depends on beside the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Asked {
    pub task: TaskId,
    /// What the client can put to a human.
    pub form: bool,
    pub url: bool,
}

/// One answer.
#[derive(Debug)]
pub(super) struct Answer {
    /// Whose task it is.
    pub principal: String,
    /// What the task was made of.
    pub trace: Trace,
    pub status: &'static str,
    pub result: Box<RawValue>,
}

/// Two generations: what is asked for again moves to the young one, and the old one goes when that
/// has half of the memory.
#[derive(Debug, Default)]
pub(super) struct Remembered(Mutex<Generations>);

#[derive(Debug, Default)]
struct Generations {
    young: HashMap<Asked, Arc<Answer>>,
    old: HashMap<Asked, Arc<Answer>>,
    /// Of the young ones.
    bytes: usize,
}

impl Remembered {
    /// The answer that was given the last time. Whether it still holds is for who asks to see.
    pub fn find(&self, asked: &Asked) -> Option<Arc<Answer>> {
        let mut generations = self.lock();
        if let Some(young) = generations.young.get(asked) {
            return Some(young.clone());
        }
        let old = generations.old.remove(asked)?;
        generations.put(*asked, old.clone());
        Some(old)
    }

    pub fn put(&self, asked: Asked, answer: Arc<Answer>) {
        if answer.bytes() <= ANSWER_BYTES_MAX {
            self.lock().put(asked, answer);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Generations> {
        self.0.lock().expect("nobody panics while holding it")
    }
}

impl Generations {
    fn put(&mut self, asked: Asked, answer: Arc<Answer>) {
        if self.bytes + answer.bytes() > BYTES_MAX / 2 {
            self.old = mem::take(&mut self.young);
            self.bytes = 0;
        }
        self.bytes += answer.bytes();
        if let Some(before) = self.young.insert(asked, answer) {
            self.bytes -= before.bytes();
        }
    }
}

impl Answer {
    fn bytes(&self) -> usize {
        OVERHEAD_BYTES + self.principal.len() + self.trace.bytes() + self.result.get().len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use holdfast_machine::id::{InvocationId, PartitionKey};

    fn asked(uuid: u128) -> Asked {
        let invocation = InvocationId { partition_key: PartitionKey(1), uuid };
        Asked { task: TaskId::new(invocation, 1), form: true, url: false }
    }

    fn answer(bytes: usize) -> Arc<Answer> {
        let result = RawValue::from_string(format!("\"{}\"", "x".repeat(bytes))).unwrap();
        Arc::new(Answer {
            principal: "ada".into(),
            trace: Trace::default(),
            status: "working",
            result,
        })
    }

    #[test]
    fn what_is_asked_for_stays_and_the_rest_goes() {
        let remembered = Remembered::default();
        let bytes = answer(10_000).bytes();
        let fit = BYTES_MAX / 2 / bytes;
        for number in 0..10 * fit {
            remembered.put(asked(number as u128), answer(10_000));
            assert!(remembered.find(&asked(0)).is_some(), "it was asked for not long ago");
            let Generations { young, old, bytes: counted } = &*remembered.lock();
            assert!(young.len() <= fit && old.len() <= fit, "{} {}", young.len(), old.len());
            assert_eq!(*counted, young.len() * bytes);
        }
        assert!(remembered.find(&asked(1)).is_none());
        assert!(remembered.find(&Asked { form: false, ..asked(0) }).is_none());
        remembered.put(asked(0), answer(1));
        let counted = remembered.lock().bytes;
        remembered.put(asked(0), answer(2));
        assert_eq!(remembered.lock().bytes, counted + 1, "one stands in the place of the other");
        remembered.put(asked(1), answer(ANSWER_BYTES_MAX));
        assert!(remembered.find(&asked(1)).is_none(), "it is too large");
    }
}
