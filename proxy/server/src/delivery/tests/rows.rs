//! Rows of a queue on their way from the store to a receiver.

use super::*;
use crate::store::{Batch, Durability, Lease, Store, memory::Memory};
use holdfast_machine::{
    id::{InvocationId, PartitionKey, Partitions},
    kv::{Fault, Kv, Txn},
    tables::{push::Delivery, queue},
};

const HERE: PartitionId = PartitionId(0);

/// Rows are for whom they name, and so many letters as their number says.
struct Room {
    url: String,
    told: Mutex<Vec<String>>,
    store: Arc<Memory>,
    lease: Mutex<Lease>,
}

impl Room {
    fn write(&self, change: impl FnOnce(&mut Txn<'_>)) {
        let kv: &dyn Kv = &*self.store;
        let mut txn = Txn::new(kv);
        change(&mut txn);
        let mut lease = self.lease.lock().unwrap();
        lease.applied = lease.applied.next();
        let (fence, sequence) = (lease.fence, lease.applied);
        let writes = txn.into_writes();
        let batch = Batch { fence, sequence, writes, durability: Durability::Sync };
        self.store.commit(&batch).unwrap();
    }

    fn note(&self, letter: &Letter<Piece<Delivery>>, what: &str) {
        let Piece { sequence, part, .. } = letter.what;
        self.told.lock().unwrap().push(format!("{sequence}.{part} {what}"));
    }

    fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }

    fn waiting(&self) -> Vec<u64> {
        let mut waiting = vec![];
        let kv: &dyn Kv = &*self.store;
        queue::scan(kv, HERE, 0, &mut |sequence, _: Delivery| {
            waiting.push(sequence);
            true
        })
        .unwrap();
        waiting
    }
}

impl Office for Room {
    type What = Piece<Delivery>;

    async fn request(&self, _: &Letter<Self::What>, _: Timestamp) -> Option<Request<Body>> {
        Some(Request::post(&self.url).body(empty()).unwrap())
    }

    fn failed(&self, letter: &Letter<Self::What>, _: &Failed, _: Timestamp) {
        self.note(letter, "failed");
    }

    async fn settle(&self, letter: &Letter<Self::What>, how: Settled) {
        self.note(letter, &format!("{how:?}"));
        if letter.what.last {
            self.write(|txn| queue::delete::<Delivery>(txn, HERE, letter.what.sequence));
        }
    }
}

impl Mailroom for Room {
    type Row = Delivery;

    const LETTERS_MAX: u32 = 3;

    fn written_at(row: &Delivery) -> Timestamp {
        row.at
    }

    fn receiver(&self, row: &Delivery) -> Option<String> {
        Some(row.config.clone()).filter(|config| config != "nobody")
    }

    fn letters(&self, _: PartitionId, row: &Delivery) -> Result<u32, Fault> {
        Ok(u32::try_from(row.event).unwrap())
    }

    fn unreadable(&self, _: PartitionId, fault: &Fault) {
        panic!("{fault}");
    }
}

fn room(url: String, rows: &[(&str, u64)]) -> Room {
    let store = Arc::new(Memory::new(Partitions(1)));
    let lease = Mutex::new(store.acquire(HERE).unwrap());
    let room = Room { url, told: Mutex::default(), store, lease };
    let invocation = InvocationId { partition_key: PartitionKey(1), uuid: 1 };
    let row =
        |&(to, event): &(&str, u64)| Delivery { invocation, config: to.to_owned(), event, at: NOW };
    let rows: Vec<Delivery> = rows.iter().map(row).collect();
    room.write(|txn| assert_eq!(queue::push(txn, HERE, &rows), Ok(1)));
    room
}

/// Delivers what is in a room, two letters of one receiver at a time, until nothing waits.
async fn delivered(room: Room, clock: &Arc<Manual>) -> Vec<String> {
    let means = Means { clock: clock.clone(), ..means() };
    let terms = Terms { held_max: 2, ..terms(PATIENCE) };
    let store = room.store.clone();
    let queue = Queue::new(room, terms, store, means);
    let shutdown = CancellationToken::new();
    let work = tokio::spawn(queue.clone().run(shutdown.clone()));
    let done = async {
        while !queue.mailroom().waiting().is_empty() {
            clock.advance(Duration::from_secs(1));
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    tokio::time::timeout(PATIENCE, done).await.expect("all is delivered in time");
    shutdown.cancel();
    work.await.unwrap();
    queue.mailroom().told()
}

#[tokio::test]
async fn the_letters_of_a_row_go_together_and_the_row_with_the_last() {
    let server = Answers::default().serve().await;
    let rows = [("a", 2), ("nobody", 1), ("a", 0), ("a", u64::from(u32::MAX)), ("b", 1)];
    let mut told = delivered(room(url(&server), &rows), &Arc::new(Manual::new(NOW))).await;
    let of_a: Vec<_> = told.iter().filter(|it| it.starts_with(['1', '4'])).cloned().collect();
    assert_eq!(of_a, ["1.0 Taken", "1.1 Taken", "4.0 Taken", "4.1 Taken", "4.2 Taken"]);
    told.retain(|it| !it.starts_with(['1', '4']));
    told.sort();
    assert_eq!(told, ["2.0 Nowhere", "3.0 Nowhere", "5.0 Taken"]);
}

#[tokio::test]
async fn what_there_is_no_room_for_comes_later_and_in_order() {
    let server = Answers::plan(&[503, 503]).serve().await;
    let rows = vec![("a", 1); 600];
    let told = delivered(room(url(&server), &rows), &Arc::new(Manual::new(NOW))).await;
    let failed = told.iter().filter(|it| it.ends_with("failed")).count();
    let taken: Vec<_> = told.iter().filter(|it| it.ends_with("Taken")).cloned().collect();
    let expected: Vec<_> = (1..=600).map(|sequence| format!("{sequence}.0 Taken")).collect();
    assert_eq!((failed, taken), (2, expected));
}
