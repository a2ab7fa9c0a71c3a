//! Views over the rows that scripts leave.

use super::*;
use crate::apply::tests::script::World;
use crate::id::{PartitionId, Partitions};

fn here() -> Here {
    Here::new(PartitionId(0), Partitions(1))
}

#[test]
fn invocations_come_page_by_page() {
    let world = World::after(
        1,
        "
        0 invoke a Greeter/greet
        0 invoke b Greeter/greet
        0 invoke c Greeter/greet
        ",
    );
    let page = |from, max| {
        let mut ids = vec![];
        invocations(&world.stores[0], here(), from, &mut |id, _| {
            ids.push(id);
            ids.len() < max
        })
        .unwrap();
        ids
    };
    let first = page(None, 2);
    let second = page(first.last().copied(), 2);
    assert_eq!((first.len(), second.len()), (2, 1));
    assert_eq!([first, second].concat(), page(None, usize::MAX));
}

#[test]
fn a_journal_comes_page_by_page() {
    let mut world = World::after(1, "0 invoke a Greeter/greet\n1 a#1 run 1; run 2; run 3");
    let id = world.id("a");
    let indexes = |from, max| {
        let entries = journal(&world.stores[0], here(), id, from, max).unwrap();
        entries.into_iter().map(|entry| entry.index).collect::<Vec<_>>()
    };
    assert_eq!(indexes(0, 2), [0, 1]);
    assert_eq!(indexes(2, 100), [2, 3]);
    assert!(indexes(4, 100).is_empty());
    assert!(indexes(0, 0).is_empty());
}

#[test]
fn keys_tell_who_holds_them_and_who_waits() {
    let mut world = World::after(
        1,
        "
        0 patch Counter/k n=1
        0 invoke a Counter/k/add
        0 invoke b Counter/k/add
        1 a#1 fail oops after=9
        2 invoke c Wf/w/poke
        3 c#1 resolve p 1 x
        ",
    );
    let (a, b) = (world.id("a"), world.id("b"));
    let kv = &world.stores[0];
    let held = lock(kv, here(), "Counter", "k").unwrap().expect("it is held");
    assert_eq!(held.holder, a);
    let mut keys = vec![];
    locks(kv, here(), &mut |service, key, lock| {
        keys.push((service, key, lock.holder));
        true
    })
    .unwrap();
    assert_eq!(keys, [("Counter".into(), "k".into(), a)]);
    let mut waiting = vec![];
    inbox(kv, here(), &mut |row| {
        waiting.push(row.waiting.what);
        true
    })
    .unwrap();
    assert_eq!(waiting, [What::Invocation(b)]);
    let pairs = state(kv, here(), "Counter", "k").unwrap();
    assert_eq!(pairs.into_iter().collect::<Vec<_>>(), [("n".into(), "1".into())]);
    let mut rows = 0;
    all_state(kv, here(), &mut |row| {
        rows += 1;
        assert_eq!((row.service.as_str(), row.key.as_str()), ("Counter", "k"));
        true
    })
    .unwrap();
    let mut names = vec![];
    promises(kv, here(), &mut |row| {
        names.push(row.name);
        true
    })
    .unwrap();
    assert_eq!((rows, names), (1, vec!["p".to_owned()]));
    let failures = events(kv, here(), a).unwrap();
    assert_eq!(failures.len(), 1);
    assert!(invocation(kv, here(), a).unwrap().is_some());
}

#[test]
fn a_mismatch_is_held_against_the_command_of_its_number() {
    use crate::model::{JOURNAL_MISMATCH, RelatedCommand};
    let mut world = World::after(
        1,
        "
        0 invoke a Greeter/greet
        1 a#1 sleep 1 0; call 2 3 Greeter/greet; run 4
        2 a#1 fail oops code=570
        ",
    );
    let id = world.id("a");
    let at = |code, index| {
        let related = Some(RelatedCommand { index: Some(index), ..RelatedCommand::default() });
        let failure = AttemptFailure { code, related, ..AttemptFailure::default() };
        mismatch(&world.stores[0], here(), id, &failure).unwrap().map(|it| (it.entry, it.recorded))
    };
    let told = |index| {
        let (entry, recorded) = at(JOURNAL_MISMATCH, index).expect("it is a mismatch");
        (entry, recorded.get("type").cloned())
    };
    // Input, Sleep, its completion, Call, the id of the callee, Run.
    assert_eq!(told(0), (Some(0), Some("Input".into())));
    assert_eq!(told(1), (Some(1), Some("Sleep".into())));
    assert_eq!(told(2), (Some(3), Some("Call".into())));
    assert_eq!(told(3), (Some(5), Some("Run".into())));
    assert_eq!(told(4), (None, None));
    assert_eq!(at(500, 1), None);
}
