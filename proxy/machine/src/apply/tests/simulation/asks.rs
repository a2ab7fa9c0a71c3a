//! Tasks and asks in a random life: somebody follows, speaks and answers.

use super::*;
use crate::ask::{Action, Answer, Ask};
use crate::tables::{ask, feed, task};
use crate::task::{Message, NewMessage, NewTask, State, What};

impl World {
    /// Somebody starts a task.
    pub fn follow(&mut self) {
        let target = callee(0, &mut self.chance);
        if target.ty == HandlerType::Workflow {
            return;
        }
        let partition_key = match target.key.as_deref() {
            Some(key) => PartitionKey::of_key(key),
            None => PartitionKey(self.chance.next()),
        };
        // Few ids, so that requests come again.
        let id = InvocationId { partition_key, uuid: u128::from(self.chance.below(40)) };
        let new = NewInvocation {
            id,
            target,
            argument: Bytes::from_static(b"x"),
            headers: vec![],
            idempotency_key: None,
            source: Source::Ingress,
            root: id,
            start_at: (self.chance.below(5) == 0).then(|| Timestamp(self.now + 100)),
            retention: self.retention(true),
            lazy_state: false,
            random_seed: self.chance.next(),
        };
        let task = NewTask {
            secret: 1,
            principal: ["ada", "bob"][usize::try_from(self.chance.below(2)).unwrap()].into(),
            context: "c".into(),
            door: "test".into(),
            meta: Bytes::new(),
            digest: Bytes::from_static(b"d"),
            message: (self.chance.below(2) == 0).then(|| self.message()),
            pushes: vec![],
        };
        let command = Command::StartTask { new: Box::new(new), task: Box::new(task) };
        self.apply(self.home(id), command);
    }

    fn message(&mut self) -> NewMessage {
        let message = Message {
            id: self.chance.below(6).to_string(),
            body: Bytes::from_static(b"{}"),
            action: [Action::Accept, Action::Decline][usize::from(self.chance.below(4) == 0)],
            content: (self.chance.below(2) == 0).then(|| Bytes::from_static(br#"{"ok":true}"#)),
            text: Some("yes".into()),
            by: None,
        };
        let digest = (self.chance.below(2) == 0).then(|| Bytes::from_static(b"d"));
        NewMessage { message, digest, answers: None }
    }

    /// Somebody says something to a task, or answers an ask.
    pub fn speak(&mut self) {
        if self.chance.below(2) == 0 {
            return self.answer_one();
        }
        if let Some(task) = self.anyone() {
            let message = Box::new(self.message());
            self.apply(self.home(task), Command::MessageTask { task, message });
        }
    }

    fn open_asks(&self) -> Vec<Ask> {
        let mut open = vec![];
        for partition in self.partitions.all() {
            ask::scan(self.store(partition), partition, &mut |ask| {
                open.extend(ask.closed.is_none().then_some(ask));
                true
            })
            .unwrap();
        }
        open
    }

    fn answer_one(&mut self) {
        let open = self.open_asks();
        if !open.is_empty() {
            let index = usize::try_from(self.chance.below(open.len() as u64)).unwrap();
            self.answer(&open[index]);
        }
    }

    fn answer(&mut self, &Ask { root, number, id: ask, .. }: &Ask) {
        let action = [Action::Accept, Action::Cancel][usize::from(self.chance.below(4) == 0)];
        let content = Some(Bytes::from_static(br#"{"ok":true}"#));
        let answer = Box::new(Answer { action, content, by: None });
        self.apply(self.home(root), Command::AnswerAsk { root, number, ask, answer });
    }

    /// Nobody is left without an answer.
    pub fn answer_all(&mut self) {
        for ask in self.open_asks() {
            self.answer(&ask);
        }
    }
}

/// A row of a feed never changes while it is there, and none is missing between two; a task that
/// has ended says nothing more.
pub fn feed_holds(before: &MemoryKv, after: &MemoryKv, partition: PartitionId, key: &[u8]) {
    let (_, id, sequence) = feed::parse(key).unwrap();
    let old = feed::get(before, partition, id, sequence).unwrap();
    let new = feed::get(after, partition, id, sequence).unwrap();
    let (Some(row), Some(new)) = (task::get(after, partition, id).unwrap(), new) else {
        return;
    };
    if let Some(old) = old.filter(|old| old.at == new.at) {
        assert_eq!(old, new, "a row of a feed changed");
    }
    let mut last = 0;
    feed::scan(after, partition, id, 0, &mut |event, _| {
        assert_eq!(event.sequence, last + 1, "a row of a feed is missing");
        let ended = matches!(event.what, What::Ended(_));
        assert_eq!(ended, event.state.is_terminal());
        assert!(!ended || event.sequence + 1 == row.next, "something was said behind the end");
        last = event.sequence;
        true
    })
    .unwrap();
    assert_eq!(last + 1, row.next);
    if row.state != State::Submitted {
        assert!(row.next > 2);
    }
}

/// What a row counts is there.
pub fn asks_agree(kv: &MemoryKv, partition: PartitionId, id: InvocationId, record: &Record) {
    if record.asks.opened > 0 {
        let open = ask::open(kv, partition, id, record.asks).unwrap();
        assert_eq!(open.len(), record.asks.open() as usize, "open asks are counted");
        for ask in open {
            let of_caller = ask::open_of(kv, partition, id, ask.caller).unwrap();
            assert!(of_caller.contains(&ask), "open asks are found by who asks");
        }
    }
    let task = task::get(kv, partition, id).unwrap();
    assert_eq!(task.is_some(), record.is_task);
    let Some(task) = task else {
        return;
    };
    let ended = matches!(record.status, Status::Completed { .. });
    assert_eq!(task.state.is_terminal(), ended, "{:?} {:?}", task.state, record.status);
    if !ended && record.times.running.is_some() {
        assert_eq!(task.state, State::with_asks(record.asks));
    }
}
