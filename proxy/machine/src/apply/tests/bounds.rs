//! What one root may ask and one task may tell: bounded, and said to who comes up against it. What
//! is open is found without a look at all that was asked.

use super::script::World;
use crate::ask::{Asks, OPEN_MAX};
use crate::id::PartitionId;
use crate::kv::{Fault, Kv, MemoryKv, Txn};
use crate::tables::{ask, task};
use crate::task::{FEED_BYTES_MAX, FEED_ROWS_MAX};
use bytes::Bytes;
use expect_test::{Expect, expect};
use std::cell::Cell;

const HOME: PartitionId = PartitionId(0);

/// Calls that ask something, with completions 3, 5 and so on.
fn asks(count: u32) -> String {
    let ask = |call: u32| {
        let id = 2 * call;
        format!("call {id} {} holdfast.Human/ask {{\"message\":\"?\"}}; ", id + 1)
    };
    (1..=count).map(ask).collect()
}

#[track_caller]
fn check_then(world: &mut World, script: &str, expected: Expect) {
    expected.assert_eq(world.then(script));
}

#[test]
fn no_more_questions_are_open_than_may_be() {
    let script =
        format!("0 invoke a Greeter/greet keep=100\n1 a#1 {}suspend first(3)", asks(OPEN_MAX));
    check_then(
        &mut World::after(1, &script),
        r#"
        2 answer a 2 accept {}
        3 answer a 1 accept {}
        4 a#2 call 9001 9002 holdfast.Human/ask {"message":"One"}
        4 a#2 call 9003 9004 holdfast.Human/ask {"message":"Two"}
        4 a#2 call 9005 9006 holdfast.Human/ask {"message":"Three"}
        4 a#2 send 9007 holdfast.Human/ask {"message":"Nobody"}
        5 answer a 3 accept {}
        6 a#2 call 9008 9009 holdfast.Human/ask {"message":"Now?"}
        "#,
        expect![[r#"
            2 answer a 2 accept {}
              reply answered
            3 answer a 1 accept {}
              reply answered
              invoke a#2
            4 a#2 call 9001 9002 holdfast.Human/ask {"message":"One"}
              notify a#2 2004:CallInvocationIdCompletion 9001=A1000
            4 a#2 call 9003 9004 holdfast.Human/ask {"message":"Two"}
              notify a#2 2006:CallInvocationIdCompletion 9003=A1001
            4 a#2 call 9005 9006 holdfast.Human/ask {"message":"Three"}
              notify a#2 2008:CallInvocationIdCompletion 9005=A1002
              notify a#2 2009:CallCompletion 9006=[429] `holdfast.Human/ask` cannot be done: 1000 questions are open (HF0214)
            4 a#2 send 9007 holdfast.Human/ask {"message":"Nobody"}
              notify a#2 2011:CallInvocationIdCompletion 9007=A1003
            5 answer a 3 accept {}
              reply answered
              notify a#2 2012:CallCompletion 7="{\"action\":\"accept\",\"content\":{},\"at\":\"1970-01-01T00:00:00.005Z\"}"
            6 a#2 call 9008 9009 holdfast.Human/ask {"message":"Now?"}
              notify a#2 2014:CallInvocationIdCompletion 9008=A1004
        "#]],
    );
}

#[test]
fn under_a_root_that_is_gone_there_are_no_more_either() {
    let script = format!(
        "0 invoke a Greeter/greet\n1 a#1 send 1 Counter/one/add; output x; end\n2 A#1 {}suspend first(3)",
        asks(OPEN_MAX)
    );
    check_then(
        &mut World::after(1, &script),
        r#"
        3 answer a 1 accept {}
        4 A#2 call 9001 9002 holdfast.Human/ask {"message":"One"}
        4 A#2 call 9003 9004 holdfast.Human/ask {"message":"Two"}
        5 answer a 2 accept {}
        6 A#2 call 9005 9006 holdfast.Human/ask {"message":"Three"}
        "#,
        expect![[r#"
            3 answer a 1 accept {}
              reply answered
              invoke A#2
            4 A#2 call 9001 9002 holdfast.Human/ask {"message":"One"}
              notify A#2 2003:CallInvocationIdCompletion 9001=A1001
            4 A#2 call 9003 9004 holdfast.Human/ask {"message":"Two"}
              notify A#2 2005:CallInvocationIdCompletion 9003=A1002
              notify A#2 2006:CallCompletion 9004=[429] `holdfast.Human/ask` cannot be done: 1000 questions are open (HF0214)
            5 answer a 2 accept {}
              reply answered
              notify A#2 2007:CallCompletion 5="{\"action\":\"accept\",\"content\":{},\"at\":\"1970-01-01T00:00:00.005Z\"}"
            6 A#2 call 9005 9006 holdfast.Human/ask {"message":"Three"}
              notify A#2 2009:CallInvocationIdCompletion 9005=A1003
        "#]],
    );
}

/// Counts the rows that are looked at.
struct Counted {
    kv: MemoryKv,
    rows: Cell<usize>,
}

impl Counted {
    fn looks<T>(&self, look: impl FnOnce(&dyn Kv) -> T) -> (T, usize) {
        self.rows.set(0);
        (look(self), self.rows.get())
    }
}

impl Kv for Counted {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
        self.rows.set(self.rows.get() + 1);
        self.kv.get(key)
    }

    fn scan(
        &self,
        from: &[u8],
        to: &[u8],
        each: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Fault> {
        self.kv.scan(from, to, &mut |key, value| {
            self.rows.set(self.rows.get() + 1);
            each(key, value)
        })
    }
}

#[test]
fn open_questions_cost_what_they_are() {
    let answers: String = (1..=100).map(|number| format!("2 answer a {number} accept\n")).collect();
    let script = format!("0 invoke a Greeter/greet\n1 a#1 {}suspend all(1)\n{answers}", asks(102));
    let mut world = World::after(1, &script);
    let a = world.id("a");
    let counted = Counted { kv: world.stores[0].clone(), rows: Cell::new(0) };
    let asked = Asks { opened: 102, input: 2, auth: 0, left: 0 };
    let (open, rows) = counted.looks(|kv| ask::open(kv, HOME, a, asked).unwrap());
    assert_eq!((open.len(), rows), (2, 4), "each by its entry and its row");
    let (of_caller, rows) = counted.looks(|kv| ask::open_of(kv, HOME, a, a).unwrap());
    assert_eq!((of_caller, rows), (open, 4));
    let other = world.id("b");
    let (of_other, rows) = counted.looks(|kv| ask::open_of(kv, HOME, a, other).unwrap());
    assert_eq!((of_other, rows), (vec![], 0));
    // Where little was asked at all nothing is looked for.
    let few = Asks { opened: 102, input: 2, auth: 0, left: 99 };
    let (open, rows) = counted.looks(|kv| ask::open(kv, HOME, a, few).unwrap());
    assert_eq!((open.len(), rows), (2, 3));
}

/// A task whose feed is full, with one open question.
fn full(rows: u64, bytes: u64) -> World {
    let mut world = World::after(
        1,
        r#"
        0 follow a Greeter/greet
        1 a#1 call 1 2 holdfast.Human/ask {"message":"?"}; call 3 4 Counter/one/add; suspend all(2 4)
        "#,
    );
    let a = world.id("a");
    let mut row = task::get(&world.stores[0], HOME, a).unwrap().unwrap();
    (row.next, row.feed_bytes) = (rows + 1, bytes);
    let mut txn = Txn::new(&world.stores[0]);
    task::put(&mut txn, HOME, a, &row);
    let writes = txn.into_writes();
    world.stores[0].apply(writes);
    world
}

#[test]
fn a_full_feed_takes_answers_and_the_end() {
    check_then(
        &mut full(FEED_ROWS_MAX, 1),
        r#"
        2 say a m1 {}
        2 B#1 call 1 2 holdfast.Task/progress {"message":"half"}
        2 B#1 send 3 holdfast.Task/progress {"message":"half"}
        2 B#1 call 4 5 holdfast.Human/ask {"message":"And?"}
        3 B#1 output x; end
        4 answer a 1 accept {}
        5 a#2 call 5 6 holdfast.Task/artifact {"artifactId":"i","parts":[]}
        5 a#2 output y; end
        "#,
        expect![[r#"
            2 say a m1 {}
              reply FeedFull
            2 B#1 call 1 2 holdfast.Task/progress {"message":"half"}
              notify B#1 2:CallInvocationIdCompletion 1=C
              notify B#1 3:CallCompletion 2=[429] nothing more can be told: the feed of the task is full (HF0215)
            2 B#1 send 3 holdfast.Task/progress {"message":"half"}
              notify B#1 5:CallInvocationIdCompletion 3=D
            2 B#1 call 4 5 holdfast.Human/ask {"message":"And?"}
              notify B#1 7:CallInvocationIdCompletion 4=E
              notify B#1 8:CallCompletion 5=[429] `holdfast.Human/ask` cannot be done: the feed of the task is full (HF0215)
            3 B#1 output x; end
              ended B "x"
            4 answer a 1 accept {}
              told a .100001
              reply answered .100001
              invoke a#2
            5 a#2 call 5 6 holdfast.Task/artifact {"artifactId":"i","parts":[]}
              notify a#2 8:CallInvocationIdCompletion 5=F
              notify a#2 9:CallCompletion 6=[429] nothing more can be told: the feed of the task is full (HF0215)
            5 a#2 output y; end
              told a .100002
              ended a "y"
        "#]],
    );
}

#[test]
fn a_feed_is_full_by_its_bytes_too() {
    let tells = "2 B#1 call 1 2 holdfast.Task/progress {\"message\":\"half\"}";
    check_then(
        &mut full(FEED_ROWS_MAX - 1, FEED_BYTES_MAX - 1),
        tells,
        expect![[r#"
        2 B#1 call 1 2 holdfast.Task/progress {"message":"half"}
          notify B#1 2:CallInvocationIdCompletion 1=C
          told a .100000
          notify B#1 3:CallCompletion 2="null"
    "#]],
    );
    check_then(
        &mut full(1, FEED_BYTES_MAX),
        tells,
        expect![[r#"
        2 B#1 call 1 2 holdfast.Task/progress {"message":"half"}
          notify B#1 2:CallInvocationIdCompletion 1=C
          notify B#1 3:CallCompletion 2=[429] nothing more can be told: the feed of the task is full (HF0215)
    "#]],
    );
}

#[test]
fn a_message_answers_the_question_that_it_names() {
    let mut world = World::after(
        1,
        r#"
        0 follow a Greeter/greet keep=100
        1 a#1 call 1 2 holdfast.Human/ask {"message":"One?"}; call 3 4 holdfast.Human/ask {"message":"Two?"}; suspend all(2 4)
        "#,
    );
    check_then(
        &mut world,
        r#"
        2 say a m1 {} ask=B
        3 say a m2 {} ask=B
        3 say a m3 {} ask=C
        4 say a m4 {} ask=A digest=D
        4 say a m4 {} ask=A digest=D
        5 say a m5 {} ask=A
        "#,
        expect![[r#"
            2 say a m1 {} ask=B
              told a .5
              told a .6
              reply messaged .5, answers 2
            3 say a m2 {} ask=B
              reply too late: answered accept at 2 {}
            3 say a m3 {} ask=C
              reply NoSuchAsk
            4 say a m4 {} ask=A digest=D
              told a .7
              told a .8
              reply messaged .7, answers 1
              invoke a#2
            4 say a m4 {} ask=A digest=D
              reply messaged .7, known, answers 1
            5 say a m5 {} ask=A
              reply too late: answered accept at 4 {}
        "#]],
    );
}
