//! A handler that awaits what no journal knows of: the sidecar is told where.

use bytes::Bytes;
use holdfast_sdk::prelude::*;
use holdfast_wire::frame::{Decoder, Frame};
use holdfast_wire::message::{MessageType, pb};
use holdfast_wire::version::Version;
use http_body_util::{BodyExt, Full};
use prost::Message;
use std::time::Duration;

struct Shop;

#[service]
impl Shop {
    async fn naps(&self, _ctx: &Context) {
        tokio::time::sleep(Duration::from_millis(1)).await; // the line of naps
    }

    async fn asks(&self, _ctx: &Context) -> Result<()> {
        let (_tell, told) = tokio::sync::oneshot::channel::<()>();
        helper(told).await?;
        Ok(())
    }

    async fn naps_in_a_step(&self, ctx: &Context) -> Result<()> {
        let nap = async || {
            tokio::time::sleep(Duration::from_millis(1)).await;
            Ok(())
        };
        Ok(ctx.run("nap", nap).await?)
    }
}

async fn helper(told: tokio::sync::oneshot::Receiver<()>) -> Result<()> {
    Ok(told.await?) // the line of asks
}

/// What a handler fails with, if it fails.
async fn failure(handler: &str) -> Option<String> {
    let start = pb::Start {
        id: Bytes::from_static(&[7; 24]),
        debug_id: "inv_test".to_owned(),
        known_entries: 1,
        ..pb::Start::default()
    };
    let start = Frame::of(MessageType::START, &start).encode();
    let input = Frame::of(MessageType::INPUT, &pb::InputCommand::default()).encode();
    let request = http::Request::post(format!("/invoke/Shop/{handler}"))
        .header("content-type", Version::V7.content_type())
        .body(Full::new(Bytes::from([start, input].concat())))
        .unwrap();
    let endpoint = Endpoint::builder().bind(Shop).build();
    let answer = endpoint.handle(request).into_body().collect();
    let answer = tokio::time::timeout(Duration::from_secs(20), answer).await;
    let mut decoder = Decoder::new(1 << 20);
    decoder.push(answer.expect("it fails, and does not hang").unwrap().to_bytes());
    let mut failure = None;
    while let Some(frame) = decoder.next().unwrap() {
        if frame.ty == MessageType::ERROR {
            failure = Some(pb::Error::decode(frame.payload).unwrap().message);
        }
    }
    failure
}

/// The line of this file that ends with those words.
fn line_of(words: &str) -> usize {
    let lines = include_str!("stray.rs").lines();
    lines.into_iter().position(|line| line.ends_with(words)).unwrap() + 1
}

#[tokio::test]
async fn awaiting_something_else_fails_the_attempt_and_names_the_line() {
    for handler in ["naps", "asks"] {
        let failure = failure(handler).await.expect("the attempt fails");
        let line = format!("tests/stray.rs:{}:", line_of(&format!("// the line of {handler}")));
        assert!(failure.contains("awaits something that is not in its journal"), "{failure}");
        assert!(failure.contains(&line), "{line} is not in: {failure}");
    }
}

#[tokio::test]
async fn within_a_step_anything_may_be_awaited() {
    assert_eq!(failure("naps_in_a_step").await, None);
}
