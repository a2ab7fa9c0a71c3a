//! What handlers log: once, however often they are replayed, and within a span of the attempt.

use bytes::Bytes;
use holdfast_sdk::prelude::*;
use holdfast_wire::frame::Frame;
use holdfast_wire::message::MessageType;
use holdfast_wire::message::pb::notification::Result as Outcome;
use holdfast_wire::message::pb::{self, Notification};
use holdfast_wire::version::Version;
use http_body_util::{BodyExt, Full};
use std::io;
use std::sync::{Arc, Mutex};

struct Shop;

#[service]
impl Shop {
    async fn buy(&self, ctx: &Context) -> Result<()> {
        tracing::info!("it begins");
        ctx.run("charge", async || {
            tracing::info!("within the step");
            Ok(())
        })
        .await?;
        tracing::info_span!("later").in_scope(|| tracing::info!("it was charged"));
        ctx.sleep(std::time::Duration::from_secs(60)).await?;
        tracing::info!("it ends");
        Ok(())
    }
}

/// All lines that were logged.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Log {
    /// What was logged since it was asked last, without time and level.
    fn take(&self) -> Vec<String> {
        let bytes = std::mem::take(&mut *self.0.lock().unwrap());
        String::from_utf8(bytes).unwrap().lines().map(|line| line.trim().to_owned()).collect()
    }
}

/// One attempt with that journal behind the input, to its end or its suspension.
async fn attempt(journal: &[Bytes], commands: u32) {
    let start = pb::Start {
        id: Bytes::from_static(&[7; 24]),
        debug_id: "inv_test".to_owned(),
        known_entries: 1 + commands,
        ..pb::Start::default()
    };
    let start = Frame::of(MessageType::START, &start).encode();
    let input = Frame::of(MessageType::INPUT, &pb::InputCommand::default()).encode();
    let request = http::Request::post("/invoke/Shop/buy")
        .header("content-type", Version::V7.content_type())
        .body(Full::new(Bytes::from([&[start, input], journal].concat().concat())))
        .unwrap();
    let endpoint = Endpoint::builder().bind(Shop).build();
    endpoint.handle(request).into_body().collect().await.unwrap();
}

fn entry(ty: MessageType, message: &impl prost::Message) -> Bytes {
    Frame::of(ty, message).encode()
}

#[tokio::test]
async fn each_line_is_logged_once() {
    let log = Log::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_writer(move || writer.clone())
        .without_time()
        .with_level(false)
        .with_target(false)
        .with_ansi(false)
        .finish();
    let _logging = tracing::subscriber::set_default(subscriber);
    let charge = entry(
        MessageType::RUN,
        &pb::RunCommand { result_completion_id: 1, name: "charge".to_owned() },
    );
    let charged =
        entry(MessageType::RUN_COMPLETION, &Notification::completion(1, Outcome::value("null")));
    let nap = entry(
        MessageType::SLEEP,
        &pb::SleepCommand { wake_up_time: 1, result_completion_id: 2, name: String::new() },
    );
    let slept = entry(MessageType::SLEEP_COMPLETION, &Notification::completion(2, Outcome::void()));
    let span = "attempt{service=Shop handler=buy invocation=inv_test}";

    attempt(&[], 0).await;
    assert_eq!(log.take(), [format!("{span}: it begins"), format!("{span}: within the step")]);

    attempt(&[charge.clone(), charged.clone()], 2).await;
    assert_eq!(log.take(), [format!("{span}:later: it was charged")]);

    attempt(&[charge.clone(), charged.clone(), nap.clone()], 3).await;
    assert_eq!(log.take(), [""; 0], "it waits where it waited before");

    attempt(&[charge, charged, nap, slept], 4).await;
    assert_eq!(log.take(), [format!("{span}: it ends")]);
}
