//! Tasks on real partitions in memory, whose attempts say what a test wants.

use super::*;
use crate::clock::Manual;
use crate::partition::{self, Admission, Admitted, Hands, Running};
use crate::registry::{self, Declared, Handler};
use crate::store::memory::Memory;
use crate::telemetry;
use holdfast_machine::{
    command::{AttemptEnd, AttemptSaid, Command, Reply, Said},
    id::{DeploymentId, Partitions},
    kv::{Fault, Kv},
    model::{Callee, Outcome, Pin},
    tables::TableId,
};
use holdfast_wire::{
    manifest::{HandlerType, Input, Output},
    message::{MessageType, pb},
    version::Version,
};
use prost::Message as _;
use std::{cell::Cell, time::Duration};

struct Bench {
    store: Arc<Memory>,
    clock: Arc<Manual>,
    tasks: Tasks,
    _running: Running,
}

/// There is never a place: what attempts say, tests say.
struct Busy;

impl Hands for Busy {
    fn admit(&self, _: InvocationId, _: u32, _: Option<&Target>) -> Admission {
        Admission::Waits
    }

    fn start(&self, _: Admitted) {}

    fn withdraw(&self, _: InvocationId, _: u32) -> bool {
        false
    }

    fn callee(&self, _: &str, _: &str) -> Option<Callee> {
        None
    }
}

impl Bench {
    fn new() -> Bench {
        Bench::with(Arc::new(Memory::new(Partitions(3))))
    }

    fn with(store: Arc<Memory>) -> Bench {
        let clock = Arc::new(Manual::new(Timestamp(1_000)));
        let metrics = partition::Metrics::new(&telemetry::Metrics::new());
        let config = partition::Config::default();
        let (router, waiting) =
            partition::start(config, store.clone(), clock.clone(), metrics).unwrap();
        let _running = waiting.run(Arc::new(Busy)).unwrap();
        let tasks = Tasks::new(router, clock.clone());
        Bench { store, clock, tasks, _running }
    }

    /// The process dies, and another begins on the same store.
    fn crash(self) -> Bench {
        Bench::with(Arc::new(self.store.reopen().unwrap()))
    }

    async fn create(&self, new: NewTask) -> Task {
        self.tasks.create(new).await.unwrap().task
    }

    /// What attempt `attempt` says. It is applied when this returns.
    async fn say(&self, task: &Task, attempt: u32, said: Vec<Said>, end: Option<AttemptEnd>) {
        let invocation = task.invocation;
        let pin = Some(Pin { deployment: DeploymentId(1), version: Version::V7 });
        let partition = self.tasks.router.of(invocation);
        partition.say(AttemptSaid { invocation, attempt, pin, said, end });
        let reply = partition.call(Command::Output { invocation }).await.unwrap();
        assert!(matches!(reply, Reply::Pending | Reply::Completed { .. }), "{reply:?}");
    }

    async fn complete(&self, task: &Task, attempt: u32) {
        let value = pb::Value { content: Bytes::from_static(b"1") };
        let result = Some(pb::output_command::Result::Value(value));
        let output = pb::OutputCommand { result, ..Default::default() };
        let payload = output.encode_to_vec().into();
        let said = vec![Said::Command { ty: MessageType::OUTPUT, payload, callee: None }];
        self.say(task, attempt, said, Some(AttemptEnd::Completed)).await;
    }
}

fn handler(ty: HandlerType) -> Arc<Handler> {
    let declared = Declared::default();
    Arc::new(Handler {
        name: "run".into(),
        ty,
        public: true,
        documentation: None,
        metadata: Default::default(),
        input: Input { required: false, content_type: None, json_schema: None },
        output: Output::default(),
        options: declared.resolve(&registry::Config::default()),
        declared,
        cuts: vec![],
    })
}

fn new_task(principal: &str) -> NewTask {
    NewTask {
        service: "Refund".into(),
        handler: handler(HandlerType::Service),
        key: None,
        body: Bytes::from_static(b"{}"),
        headers: vec![],
        principal: principal.into(),
        context: None,
        door: "test".into(),
        meta: Bytes::from_static(b"meta"),
        idempotency: None,
        message: None,
        pushes: vec![],
    }
}

fn ours(service: &str, handler: &str, number: u32, parameter: &str) -> Said {
    let command = pb::CallCommand {
        service_name: service.into(),
        handler_name: handler.into(),
        parameter: Bytes::copy_from_slice(parameter.as_bytes()),
        invocation_id_notification_idx: 2 * number,
        result_completion_id: 2 * number + 1,
        ..Default::default()
    };
    let callee = holdfast_machine::ask::built_in(service, handler);
    let payload = command.encode_to_vec().into();
    Said::Command { ty: MessageType::CALL, payload, callee }
}

fn ask(number: u32, parameter: &str) -> Said {
    ours("holdfast.Human", "ask", number, parameter)
}

fn progress(number: u32) -> Said {
    ours("holdfast.Task", "progress", number, r#"{"message":"half"}"#)
}

fn message(id: &str, text: &str) -> NewMessage {
    NewMessage {
        answers: None,
        id: id.into(),
        body: Bytes::from_static(b"{}"),
        digest: Some([7; 32]),
        action: Action::Accept,
        content: None,
        text: Some(text.into()),
        by: None,
    }
}

const QUESTION: &str = r#"{"message":"Sure?","schema":{"type":"object",
    "properties":{"ok":{"type":"boolean"}},"required":["ok"]}}"#;

#[tokio::test]
async fn a_task_is_seen_by_who_started_it_and_by_nobody_else() {
    let bench = Bench::new();
    let created = bench.tasks.create(new_task("ada")).await.unwrap();
    assert!(created.new && created.task.state == State::Submitted && created.task.sequence == 1);
    let id = created.task.id;
    let found = bench.tasks.get("ada", id).await.unwrap();
    assert_eq!((found.state, found.sequence), (State::Working, 2));
    assert_eq!(found.meta, "meta");
    assert!(found.context.starts_with("ctx_"));
    let text: TaskId = id.to_string().parse().unwrap();
    assert_eq!(bench.tasks.get("ada", text).await.unwrap().id, id);
    // Somebody else, or who knows the invocation only.
    let guessed = TaskId::new(id.invocation(), 7);
    assert_eq!(bench.tasks.get("bob", id).await, Err(Error::NotFound));
    assert_eq!(bench.tasks.get("ada", guessed).await, Err(Error::NotFound));
    assert_eq!(bench.tasks.cancel("bob", id).await, Err(Error::NotFound));
    assert_eq!(bench.tasks.message("bob", id, message("m", "x")).await, Err(Error::NotFound));
    assert_eq!(bench.tasks.events("ada", guessed, 0, 9).await, Err(Error::NotFound));
    let nobody = bench.tasks.list("bob", Filter { page_size: 9, ..Filter::default() }).await;
    assert_eq!(nobody.unwrap().total, 0);
}

#[tokio::test]
async fn the_same_request_is_done_once_over_a_crash() {
    let bench = Bench::new();
    let keyed = |digest: u8, principal: &str| {
        let (scope, key, digest) = ("tool".to_owned(), "k".to_owned(), [digest; 32]);
        NewTask { idempotency: Some(Idempotency { scope, key, digest }), ..new_task(principal) }
    };
    let first = bench.create(keyed(1, "ada")).await;
    let bench = bench.crash();
    let again = bench.tasks.create(keyed(1, "ada")).await.unwrap();
    assert!(!again.new && again.task.id == first.id);
    assert_eq!(bench.tasks.create(keyed(2, "ada")).await, Err(Error::OtherRequest));
    let other = bench.tasks.create(keyed(2, "bob")).await.unwrap();
    assert!(other.new && other.task.invocation != first.invocation);
    let (workflow, key) = (handler(HandlerType::Workflow), Some("k".to_owned()));
    let run = NewTask { handler: workflow, key, ..new_task("ada") };
    let first = bench.create(run.clone()).await;
    for principal in ["ada", "bob"] {
        let run = NewTask { principal: principal.to_owned(), ..run.clone() };
        let refused = bench.tasks.create(run).await.unwrap_err();
        assert_eq!(refused, Error::Exists);
        assert!(!refused.to_string().contains(&first.invocation.to_string()), "{refused}");
    }
    let unkeyed = NewTask { handler: handler(HandlerType::Exclusive), ..new_task("ada") };
    assert!(matches!(bench.tasks.create(unkeyed).await, Err(Error::Key(_))));
}

#[tokio::test]
async fn followers_see_every_row_once_and_in_order_over_a_crash() {
    let bench = Bench::new();
    let task = bench.create(new_task("ada")).await;
    let mut one = bench.tasks.follow("ada", task.id, 0).await.unwrap();
    let mut two = bench.tasks.follow("ada", task.id, 1).await.unwrap();
    let mut seen = sequences(&one.next().await.unwrap().unwrap());
    bench.say(&task, 1, vec![progress(1), ask(2, QUESTION)], None).await;
    let settled = bench.tasks.settled("ada", task.id, 0).await.unwrap();
    assert_eq!((settled.state, settled.asks.len()), (State::InputRequired, 1));
    while *seen.last().unwrap() < 4 {
        seen.extend(sequences(&one.next().await.unwrap().unwrap()));
    }
    assert_eq!(sequences(&two.next().await.unwrap().unwrap()).first(), Some(&2));
    let bench = bench.crash();
    let mut one = bench.tasks.follow("ada", task.id, 4).await.unwrap();
    // Who waits is woken; waiting that is given up loses nothing.
    assert!(tokio::time::timeout(Duration::from_millis(20), one.next()).await.is_err());
    let said = bench.tasks.message("ada", task.id, message("m1", "yes")).await.unwrap();
    assert_eq!((said.sequence, said.repeated, said.answered), (5, false, Some(1)));
    bench.complete(&task, 1).await;
    while let Some(events) = one.next().await.unwrap() {
        seen.extend(sequences(&events));
    }
    assert_eq!(seen, (1..=7).collect::<Vec<_>>());
    let ended = bench.tasks.settled("ada", task.id, 6).await.unwrap();
    assert_eq!(ended.ended.unwrap().outcome, Outcome::Success(Bytes::from_static(b"1")));
    // Who comes late is given nothing, and does not wait.
    let mut late = bench.tasks.follow("ada", task.id, 7).await.unwrap();
    assert_eq!(late.next().await, Ok(None));
    let again = bench.tasks.message("ada", task.id, message("m1", "yes")).await.unwrap();
    assert!(again.repeated && again.sequence == 5);
    let late = bench.tasks.message("ada", task.id, message("m2", "yes")).await;
    assert_eq!(late, Err(Error::Ended(State::Completed)));
}

fn sequences(events: &[Event]) -> Vec<u64> {
    events.iter().map(|event| event.sequence).collect()
}

#[tokio::test]
async fn who_follows_is_not_shown_the_next_task_of_that_id() {
    let bench = Bench::new();
    let run = |principal: &str| {
        let (handler, key) = (handler(HandlerType::Workflow), Some("k".to_owned()));
        NewTask { handler, key, ..new_task(principal) }
    };
    let task = bench.create(run("ada")).await;
    let mut feed = bench.tasks.follow("ada", task.id, 0).await.unwrap();
    assert_eq!(sequences(&feed.next().await.unwrap().unwrap()).first(), Some(&1));
    bench.complete(&task, 1).await;
    let invocation = task.invocation;
    let partition = bench.tasks.router.of(invocation);
    let purged = partition.call(Command::Purge { invocation }).await.unwrap();
    assert_eq!(purged, Reply::Done);
    let next = bench.create(run("bob")).await;
    assert!(next.invocation == invocation && next.id != task.id);
    bench.say(&next, 1, vec![progress(1)], None).await;
    assert_eq!(feed.next().await, Err(Error::NotFound));
    assert_eq!(bench.tasks.settled("ada", task.id, 0).await, Err(Error::NotFound));
}

#[tokio::test]
async fn answers_and_the_wish_to_end() {
    let bench = Bench::new();
    let task = bench.create(new_task("ada")).await;
    bench.say(&task, 1, vec![ask(1, QUESTION), ask(2, QUESTION)], None).await;
    let answer = |ok: &'static str| Answer {
        action: Action::Accept,
        content: Some(Bytes::from_static(ok.as_bytes())),
        by: Some("ada".into()),
    };
    let [_, asked] = &bench.tasks.get("ada", task.id).await.unwrap().asks[..] else {
        panic!("two are open");
    };
    let asked = &asked.clone();
    let refused = bench.tasks.answer("ada", task.id, asked, answer(r#"{"ok":1}"#)).await;
    assert!(matches!(refused, Err(Error::Violation(_))), "{refused:?}");
    let taken = bench.tasks.answer("ada", task.id, asked, answer(r#"{"ok":true}"#)).await;
    assert!(matches!(taken, Ok(Answered::Taken { sequence: Some(5) })), "{taken:?}");
    let late = bench.tasks.answer("ada", task.id, asked, answer(r#"{"ok":false}"#)).await;
    assert!(matches!(late, Ok(Answered::Late(Closed { how: Closing::Answered, .. }))), "{late:?}");
    let unknown = &Ask { number: 3, ..asked.clone() };
    let refused = bench.tasks.answer("ada", task.id, unknown, answer("{}")).await;
    assert_eq!(refused, Err(Error::NoSuchAsk));
    let same_number = &Ask { number: 1, ..asked.clone() };
    let refused = bench.tasks.answer("ada", task.id, same_number, answer("{}")).await;
    assert_eq!(refused, Err(Error::NoSuchAsk));
    assert_eq!(bench.tasks.get("ada", task.id).await.unwrap().asks.len(), 1);
    assert_eq!(bench.tasks.cancel("ada", task.id).await, Ok(Cancelled::Asked));
    let now = bench.tasks.get("ada", task.id).await.unwrap();
    assert!(now.asks.is_empty() && now.cancel_wanted && now.state == State::Working);
    assert_eq!(bench.tasks.cancel("ada", task.id).await, Ok(Cancelled::Asked));
    bench.complete(&task, 1).await;
    let over = bench.tasks.cancel("ada", task.id).await;
    assert_eq!(over, Ok(Cancelled::AlreadyEnded(State::Completed)));
}

#[tokio::test]
async fn a_message_answers_the_question_that_it_is_meant_for_and_no_other() {
    let bench = Bench::new();
    let task = bench.create(new_task("ada")).await;
    bench.say(&task, 1, vec![ask(1, QUESTION), ask(2, QUESTION)], None).await;
    let [first, second] = &bench.tasks.get("ada", task.id).await.unwrap().asks[..] else {
        panic!("two are open");
    };
    let meant =
        |id: &str, answers: AskId| NewMessage { answers: Some(answers), ..message(id, "yes") };
    let taken = bench.tasks.message("ada", task.id, meant("m1", second.id)).await.unwrap();
    assert_eq!(taken.answered, Some(second.number));
    let late = bench.tasks.message("ada", task.id, meant("m2", second.id)).await;
    assert!(matches!(late, Err(Error::Late(_))), "{late:?}");
    let unknown = AskId::of(task.invocation);
    let refused = bench.tasks.message("ada", task.id, meant("m3", unknown)).await;
    assert_eq!(refused, Err(Error::NoSuchAsk));
    let open = bench.tasks.get("ada", task.id).await.unwrap().asks;
    assert_eq!(open.iter().map(|ask| ask.id).collect::<Vec<_>>(), [first.id]);
}

#[tokio::test]
async fn a_trace_holds_for_as_long_as_nothing_becomes_of_the_task() {
    let bench = Bench::new();
    let task = bench.create(new_task("ada")).await;
    let other = bench.create(new_task("ada")).await;
    let mut last = bench.tasks.get_traced("ada", task.id).await.unwrap();
    let mut changed = async |what: &str| {
        assert!(!bench.tasks.is_still(task.id, &last.1).unwrap(), "{what}");
        let now = bench.tasks.get_traced("ada", task.id).await.unwrap();
        assert_ne!(last.0, now.0, "{what}");
        assert!(bench.tasks.is_still(task.id, &now.1).unwrap(), "{what}");
        assert!(!bench.tasks.is_still(other.id, &now.1).unwrap(), "of another one");
        last = now;
    };
    bench.say(&task, 1, vec![progress(1)], None).await;
    changed("progress").await;
    bench.say(&task, 1, vec![ask(2, QUESTION)], None).await;
    changed("a question").await;
    bench.say(&other, 1, vec![progress(1)], None).await;
    bench.tasks.message("ada", task.id, message("m1", "yes")).await.unwrap();
    changed("an answer").await;
    bench.tasks.cancel("ada", task.id).await.unwrap();
    changed("the wish to end it").await;
    bench.complete(&task, 1).await;
    changed("the end").await;
    let invocation = task.invocation;
    let partition = bench.tasks.router.of(invocation);
    assert_eq!(partition.call(Command::Purge { invocation }).await.unwrap(), Reply::Done);
    assert!(!bench.tasks.is_still(task.id, &last.1).unwrap(), "it is gone");
}

/// Counts reads, and refuses to be scanned.
struct GetOnly<'a> {
    kv: &'a dyn Kv,
    gets: Cell<usize>,
}

impl Kv for GetOnly<'_> {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, Fault> {
        self.gets.set(self.gets.get() + 1);
        self.kv.get(key)
    }

    fn scan(
        &self,
        from: &[u8],
        _: &[u8],
        _: &mut dyn FnMut(&[u8], &[u8]) -> bool,
    ) -> Result<(), Fault> {
        panic!("a scan of table {:?}", TableId::of_key(from))
    }
}

#[tokio::test]
async fn a_look_at_a_task_that_waits_is_a_few_reads() {
    let bench = Bench::new();
    let task = bench.create(new_task("ada")).await;
    bench.say(&task, 1, vec![progress(1), ask(2, QUESTION)], None).await;
    let kv = GetOnly { kv: &*bench.store, gets: Cell::new(0) };
    let id = task.invocation;
    let found = bench.tasks.load(&kv, id).unwrap().unwrap();
    assert_eq!((found.asks.len(), kv.gets.take()), (1, 3), "its rows and its ask");
    let trace = Trace::read(&kv, bench.tasks.home(id), id).unwrap();
    assert!(trace.is_some() && kv.gets.take() == 2, "who looks again needs its rows only");
}

#[tokio::test]
async fn pages_stay_right_while_tasks_change() {
    let bench = Bench::new();
    let mut all = vec![];
    for number in 0..7 {
        bench.clock.advance(Duration::from_millis(1));
        let context = Some(if number == 3 { "odd" } else { "even" }.to_owned());
        all.push(bench.create(NewTask { context, ..new_task("ada") }).await);
    }
    let page = async |token: Option<String>, filter: Filter| {
        let filter = Filter { page_size: 3, page_token: token, ..filter };
        bench.tasks.list("ada", filter).await
    };
    let ids = |page: &Page| page.tasks.iter().map(|task| task.id).collect::<Vec<_>>();
    let expected: Vec<_> = all.iter().rev().map(|task| task.id).collect();
    let first = page(None, Filter::default()).await.unwrap();
    assert_eq!((ids(&first), first.total), (expected[..3].to_vec(), 7));
    // One that was not shown yet changes: it moves to the front, and nothing else moves.
    bench.clock.advance(Duration::from_millis(1));
    bench.say(&all[0], 1, vec![progress(1)], None).await;
    let second = page(first.next.clone(), Filter::default()).await.unwrap();
    assert_eq!(ids(&second), expected[3..6].to_vec());
    assert_eq!(second.next, None);
    let odd = Filter { context: Some("odd".into()), ..Filter::default() };
    assert_eq!(page(first.next, odd.clone()).await, Err(Error::PageToken));
    assert_eq!(ids(&page(None, odd).await.unwrap()), [all[3].id]);
    let working = Filter { state: Some(State::Working), ..Filter::default() };
    assert_eq!(page(None, working).await.unwrap().total, 7);
    let since = Filter { updated_since: Some(all[5].created_at), ..Filter::default() };
    assert_eq!(ids(&page(None, since).await.unwrap()), [all[0].id, all[6].id, all[5].id]);
    let of = |service: &str| Filter {
        handlers: vec![(service.into(), "run".into())],
        ..Filter::default()
    };
    assert_eq!(page(None, of("Refund")).await.unwrap().total, 7);
    assert_eq!(page(None, of("Other")).await.unwrap().total, 0);
}

#[tokio::test]
async fn what_is_kept_is_bounded() {
    let bench = Bench::new();
    let large = NewTask { meta: vec![0; 65 * 1024].into(), ..new_task("ada") };
    assert!(matches!(bench.tasks.create(large).await, Err(Error::Full(_))));
    let task = bench.create(new_task("ada")).await;
    for number in 0..64 {
        let early = message(&format!("m{number}"), "yes");
        bench.tasks.message("ada", task.id, early).await.unwrap();
    }
    let more = bench.tasks.message("ada", task.id, message("m64", "yes")).await;
    assert!(matches!(more, Err(Error::Full(_))), "{more:?}");
}
