//! Letters to real receivers on loopback.

mod rows;

use super::*;
use crate::clock::{Clock, Manual};
use crate::http::{
    client::{self, Client},
    empty, full,
    testing::{Manner, Server, testdata, until},
};
use crate::telemetry;
use hyper::{Response, body::Incoming};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
    task::Poll,
};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

const NOW: Timestamp = Timestamp(1_000_000);
const PATIENCE: Duration = Duration::from_secs(20);

/// Notes everything that becomes of its letters. A letter to `nowhere` has no request, and of one
/// that says `bug` none can be made.
struct Notes {
    clock: Arc<Manual>,
    told: Mutex<Vec<String>>,
    /// Settling waits for it where it is set.
    slow: Mutex<Option<Arc<Notify>>>,
}

impl Notes {
    fn note(&self, text: String) {
        self.told.lock().unwrap().push(text);
    }

    fn told(&self) -> Vec<String> {
        self.told.lock().unwrap().clone()
    }
}

impl Office for Notes {
    type What = &'static str;

    async fn request(
        &self,
        letter: &Letter<&'static str>,
        now: Timestamp,
    ) -> Option<Request<Body>> {
        assert!(letter.what != "bug" || now > NOW, "as planned");
        let to = Some(&letter.to).filter(|to| *to != "nowhere")?;
        Some(Request::post(to).body(full(letter.what)).unwrap())
    }

    fn is_gone(&self, status: StatusCode) -> bool {
        status == StatusCode::GONE
    }

    fn failed(&self, letter: &Letter<&'static str>, why: &Failed, next_at: Timestamp) {
        // Without the jitter.
        let pause = 1 << next_at.since(self.clock.now()).as_secs().ilog2();
        let why = match why {
            Failed::Unreachable(_) => "unreachable".to_owned(),
            why => why.to_string(),
        };
        self.note(format!("{} failed: {why}; next in {pause} s", letter.what));
    }

    async fn settle(&self, letter: &Letter<&'static str>, how: Settled) {
        self.note(format!("{} {how:?}", letter.what));
        let slow = self.slow.lock().unwrap().clone();
        if let Some(slow) = slow {
            slow.notified().await;
        }
    }
}

/// What receivers answer, in order: a status, or 0 for never; then 200.
#[derive(Clone, Default)]
struct Answers(Arc<Mutex<VecDeque<u16>>>);

impl Answers {
    fn plan(statuses: &[u16]) -> Answers {
        Answers(Arc::new(Mutex::new(statuses.iter().copied().collect())))
    }

    async fn give(self, _: Request<Incoming>) -> Response<Body> {
        let status = self.0.lock().unwrap().pop_front().unwrap_or(200);
        if status == 0 {
            std::future::pending::<()>().await;
        }
        let elsewhere = "http://127.0.0.1:1/";
        Response::builder().status(status).header("location", elsewhere).body(empty()).unwrap()
    }

    async fn serve(self) -> Server {
        Server::start(Manner::default(), move |request| self.clone().give(request)).await
    }
}

/// Pauses from 1 s, given up after an hour.
fn terms(timeout: Duration) -> Terms {
    Terms {
        timeout,
        retry: RetryPolicy {
            initial_interval: Duration::from_secs(1),
            max_attempts: None,
            ..RetryPolicy::default()
        },
        give_up_after: Duration::from_secs(3600),
        concurrent_max: 4,
        held_max: 8,
        held_all_max: 8,
    }
}

fn means() -> Means {
    Means {
        client: Client::new(client::Config::default(), CancellationToken::new()).unwrap(),
        clock: Arc::new(Manual::new(NOW)),
        metrics: Metrics::new(&telemetry::Metrics::new(), "post", "letters"),
    }
}

struct Bench {
    office: Arc<Notes>,
    clock: Arc<Manual>,
    courier: Courier<Notes>,
}

impl Bench {
    fn new() -> Bench {
        Bench::with(client::Config::default(), PATIENCE)
    }

    fn with(config: client::Config, timeout: Duration) -> Bench {
        let clock = Arc::new(Manual::new(NOW));
        let (told, slow) = (Mutex::default(), Mutex::default());
        let office = Arc::new(Notes { clock: clock.clone(), told, slow });
        let client = Client::new(config, CancellationToken::new()).unwrap();
        let means = Means { client, clock: clock.clone(), ..means() };
        let courier = Courier::new(office.clone(), terms(timeout), means);
        Bench { office, clock, courier }
    }

    fn offer(&mut self, what: &'static str, to: &str) {
        let (to, source) = (to.to_owned(), PartitionId(0));
        assert!(self.courier.offer(Letter { to, source, written_at: self.clock.now(), what }));
    }

    /// Lets the courier work until as much was told as is expected, and compares it.
    async fn check(&mut self, expected: &[&str]) {
        let office = self.office.clone();
        let all = async { until(|| office.told().len() >= expected.len()).await };
        let work = async {
            loop {
                self.courier.next().await;
            }
        };
        tokio::select! {
            () = all => {}
            () = work => {}
            () = tokio::time::sleep(PATIENCE) => {}
        }
        assert_eq!(self.office.told(), expected);
    }
}

fn url(server: &Server) -> String {
    format!("http://{}/hook", server.address)
}

#[tokio::test]
async fn what_is_not_taken_is_tried_again_after_a_pause() {
    let mut bench = Bench::with(client::Config::default(), Duration::from_millis(200));
    let server = Answers::plan(&[500, 0, 301]).serve().await;
    bench.offer("a", &url(&server));
    let first = "a failed: the receiver answered 500; next in 1 s";
    bench.check(&[first]).await;
    bench.clock.advance(Duration::from_secs(2));
    let second = "a failed: the receiver did not answer within 200 ms; next in 2 s";
    bench.check(&[first, second]).await;
    bench.clock.advance(Duration::from_secs(3));
    let third = "a failed: the receiver answered 301; next in 4 s";
    bench.check(&[first, second, third]).await;
    assert_eq!(bench.courier.failing(), 1);
    bench.clock.advance(Duration::from_secs(6));
    bench.check(&[first, second, third, "a Taken"]).await;
    while bench.courier.failing() > 0 {
        tokio::time::timeout(PATIENCE, bench.courier.next()).await.unwrap();
    }
    assert_eq!(bench.courier.oldest(), None);
}

#[tokio::test]
async fn letters_arrive_in_order_and_one_receiver_holds_up_no_other() {
    let mut bench = Bench::new();
    let (down, up) = (Answers::plan(&[503]).serve().await, Answers::default().serve().await);
    for what in ["a", "b", "c"] {
        bench.offer(what, &url(&down));
    }
    let failed = "a failed: the receiver answered 503; next in 1 s";
    bench.check(&[failed]).await;
    bench.offer("d", &url(&up));
    bench.offer("e", &url(&up));
    bench.check(&[failed, "d Taken", "e Taken"]).await;
    bench.clock.advance(Duration::from_secs(2));
    let all = [failed, "d Taken", "e Taken", "a Taken", "b Taken", "c Taken"];
    bench.check(&all).await;
}

#[tokio::test]
async fn the_next_letter_waits_until_the_last_is_settled() {
    let mut bench = Bench::new();
    let server = Answers::default().serve().await;
    let slow = Arc::new(Notify::new());
    *bench.office.slow.lock().unwrap() = Some(slow.clone());
    bench.offer("a", &url(&server));
    bench.offer("b", &url(&server));
    bench.check(&["a Taken"]).await;
    let early = tokio::time::timeout(Duration::from_millis(50), bench.courier.next()).await;
    assert!(early.is_err(), "`a` is not settled yet");
    assert_eq!(bench.office.told(), ["a Taken"]);
    slow.notify_one();
    bench.check(&["a Taken", "b Taken"]).await;
}

#[tokio::test]
async fn a_dead_receiver_is_given_up_in_time() {
    let mut bench = Bench::new();
    let nobody = {
        let server = Answers::default().serve().await;
        url(&server)
    };
    bench.offer("a", &nobody);
    let failed = "a failed: unreachable; next in 1 s";
    bench.check(&[failed]).await;
    bench.clock.advance(Duration::from_secs(3600));
    bench.offer("b", &nobody);
    let again = "a failed: unreachable; next in 2 s";
    bench.check(&[failed, again, "a GivenUp"]).await;
    bench.clock.advance(Duration::from_secs(3600));
    let of_b = "b failed: unreachable; next in 4 s";
    bench.check(&[failed, again, "a GivenUp", of_b, "b GivenUp"]).await;
}

#[tokio::test]
async fn what_has_nowhere_to_go_and_what_cannot_be_said_hold_up_nobody() {
    let mut bench = Bench::new();
    let server = Answers::default().serve().await;
    bench.offer("a", "nowhere");
    bench.check(&["a Nowhere"]).await;
    bench.offer("bug", &url(&server));
    let bug = "bug failed: the sidecar failed while it made the request; its log says more; \
               next in 1 s";
    bench.check(&["a Nowhere", bug]).await;
    bench.clock.advance(Duration::from_secs(2));
    bench.check(&["a Nowhere", bug, "bug Taken"]).await;
}

#[tokio::test]
async fn a_receiver_that_is_gone_gets_nothing_again() {
    let mut bench = Bench::new();
    let server = Answers::plan(&[410]).serve().await;
    bench.offer("a", &url(&server));
    bench.offer("b", &url(&server));
    bench.check(&["a Gone", "b Taken"]).await;
}

#[tokio::test]
async fn receivers_may_use_tls() {
    let extra_ca_file = Some(testdata("authority.pem"));
    let mut bench =
        Bench::with(client::Config { extra_ca_file, ..client::Config::default() }, PATIENCE);
    let manner = Manner { tls: true, ..Manner::default() };
    let answers = Answers::default();
    let server = Server::start(manner, move |request| answers.clone().give(request)).await;
    bench.offer("a", &format!("https://localhost:{}/", server.address.port()));
    bench.check(&["a Taken"]).await;
}

#[tokio::test]
async fn tries_under_way_have_their_time_at_the_end() {
    let mut bench = Bench::new();
    let server = Answers::default().serve().await;
    bench.offer("a", &url(&server));
    bench.offer("b", &url(&server));
    {
        let mut next = std::pin::pin!(bench.courier.next());
        let once = std::future::poll_fn(|context| Poll::Ready(next.as_mut().poll(context)));
        assert!(once.await.is_pending(), "it is on its way");
    }
    bench.courier.finish(PATIENCE).await;
    assert_eq!(bench.office.told(), ["a Taken"]);
}
