//! A small service that speaks the protocol frame by frame, over real sockets.

use crate::http::{
    Body,
    body::{BodyWriter, channel},
    empty, full,
    testing::{Manner, Server},
};
use bytes::Bytes;
use holdfast_wire::{
    frame::{Decoder, Frame},
    message::{MessageType, pb},
};
use http_body_util::BodyExt;
use hyper::{HeaderMap, Request, Response, StatusCode, body::Incoming};
use prost::Message;
use std::{
    error::Error,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};
use tokio::{sync::mpsc, task::JoinSet};

/// What the service saw of its requests, in order.
#[derive(Debug, PartialEq)]
pub enum Seen {
    Frame(MessageType),
    /// The request ended in good order.
    HalfClose,
    /// It was cut off.
    Reset(Option<h2::Reason>),
}

pub struct Service {
    pub server: Server,
    pub seen: mpsc::UnboundedReceiver<Seen>,
    /// Bytes that `flood` could send.
    pub flooded: Arc<AtomicUsize>,
    /// Head of the last request.
    pub head: Arc<Mutex<HeaderMap>>,
    more: Arc<Mutex<&'static str>>,
}

#[derive(Clone)]
struct State {
    tell: mpsc::UnboundedSender<Seen>,
    flooded: Arc<AtomicUsize>,
    head: Arc<Mutex<HeaderMap>>,
    tasks: Arc<Mutex<JoinSet<()>>>,
    mode: &'static str,
    /// Further fields of the service in its manifest.
    more: Arc<Mutex<&'static str>>,
}

/// Handlers, by name.
const HANDLERS: [&str; 5] = ["echo", "hang", "sleep", "refuse", "flood"];

impl Service {
    /// `mode` is the protocol mode it announces.
    pub async fn start(mode: &'static str) -> Service {
        Service::start_with(mode, Manner::default()).await
    }

    pub async fn start_with(mode: &'static str, manner: Manner) -> Service {
        let (tell, seen) = mpsc::unbounded_channel();
        let (flooded, head, more) = (Arc::default(), Arc::default(), Arc::default());
        let state = State {
            tell,
            flooded: Arc::clone(&flooded),
            head: Arc::clone(&head),
            tasks: Arc::default(),
            mode,
            more: Arc::clone(&more),
        };
        let server =
            Server::start(manner, move |request| std::future::ready(state.answer(request)));
        Service { server: server.await, seen, flooded, head, more }
    }

    /// Further fields of the service, from the next registration on.
    pub fn limit(&self, more: &'static str) {
        *self.more.lock().unwrap() = more;
    }

    pub async fn saw(&mut self) -> Seen {
        self.seen.recv().await.expect("the server runs as long as the service")
    }

    /// How a request ended, whatever was in it.
    pub async fn end(&mut self) -> Seen {
        loop {
            match self.saw().await {
                Seen::Frame(_) => {}
                end => return end,
            }
        }
    }
}

impl State {
    fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        if request.uri().path() == "/discover" {
            return self.manifest();
        }
        *self.head.lock().unwrap() = request.headers().clone();
        let handler = request.uri().path().rsplit('/').next().unwrap().to_owned();
        if handler == "refuse" {
            let mut response = Response::new(empty());
            *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
            return response;
        }
        let (writer, body) = channel(1);
        let mut response = Response::new(body);
        let content_type = request.headers()["content-type"].clone();
        response.headers_mut().insert("content-type", content_type);
        let handling = Handling { state: self.clone(), writer };
        self.tasks.lock().unwrap().spawn(handling.run(handler, request.into_body()));
        response
    }

    fn manifest(&self) -> Response<Body> {
        let handler = |name| format!(r#"{{"name":"{name}"}}"#);
        let handlers = HANDLERS.map(handler).join(",");
        let manifest = format!(
            r#"{{"protocolMode":"{}","minProtocolVersion":5,"maxProtocolVersion":7,
               "services":[{{"name":"S","ty":"SERVICE","handlers":[{handlers}]{}}}]}}"#,
            self.mode,
            self.more.lock().unwrap()
        );
        let mut response = Response::new(full(manifest));
        let content_type = "application/vnd.restate.endpointmanifest.v4+json".parse().unwrap();
        response.headers_mut().insert("content-type", content_type);
        response
    }
}

struct Handling {
    state: State,
    writer: BodyWriter,
}

impl Handling {
    async fn run(self, handler: String, mut body: Incoming) {
        let input = self.replay(&mut body).await;
        match handler.as_str() {
            "echo" => {
                self.say(MessageType::OUTPUT, &output(input)).await;
                self.say(MessageType::END, &pb::End {}).await;
            }
            // The hint comes in versions that have it, and the suspension when asked to.
            "sleep" => self.sleep(&mut body).await,
            "flood" => return self.flood().await,
            _ => {}
        }
        if self.rest(&mut body).await {
            if handler == "hang" {
                std::future::pending().await
            }
            // The sidecar may have left.
            if let Ok(room) = self.writer.reserve().await {
                room.finish();
            }
        }
    }

    /// Reads `Start` and what it announces, and gives the input.
    async fn replay(&self, body: &mut Incoming) -> Bytes {
        let mut decoder = Decoder::new(u32::MAX);
        let (mut known, mut input) = (u32::MAX, Bytes::new());
        while known > 0 {
            let chunk = body.frame().await.unwrap().unwrap().into_data().unwrap();
            decoder.push(chunk);
            while let Some(frame) = decoder.next().unwrap() {
                match frame.ty {
                    MessageType::START => {
                        known = pb::Start::decode(frame.payload).unwrap().known_entries
                    }
                    ty => {
                        known -= 1;
                        if ty == MessageType::INPUT {
                            let message = pb::InputCommand::decode(frame.payload).unwrap();
                            input = message.value.unwrap().content;
                        }
                    }
                }
            }
        }
        input
    }

    /// Waits for the end of the request, telling what comes. False if it was cut off.
    async fn rest(&self, body: &mut Incoming) -> bool {
        let mut decoder = Decoder::new(u32::MAX);
        loop {
            let end = match body.frame().await {
                Some(Ok(frame)) => {
                    decoder.push(frame.into_data().unwrap());
                    while let Some(frame) = decoder.next().unwrap() {
                        self.state.tell.send(Seen::Frame(frame.ty)).unwrap();
                    }
                    continue;
                }
                Some(Err(error)) => {
                    let h2 = error.source().and_then(|error| error.downcast_ref::<h2::Error>());
                    Seen::Reset(h2.and_then(h2::Error::reason))
                }
                None => Seen::HalfClose,
            };
            let orderly = end == Seen::HalfClose;
            // The test may have seen enough.
            let _ = self.state.tell.send(end);
            return orderly;
        }
    }

    async fn sleep(&self, body: &mut Incoming) {
        let wait = pb::SleepCommand {
            wake_up_time: u64::MAX / 2,
            result_completion_id: 1,
            name: String::new(),
        };
        self.say(MessageType::SLEEP, &wait).await;
        let future = pb::Future {
            waiting_completions: vec![1],
            combinator_type: 1,
            ..pb::Future::default()
        };
        let hint =
            pb::AwaitingOn { awaiting_on: Some(future.clone()), executing_side_effects: false };
        self.say(MessageType::AWAITING_ON, &hint).await;
        if self.rest(body).await {
            let end = pb::Suspension { awaiting_on: Some(future), ..pb::Suspension::default() };
            self.say(MessageType::SUSPENSION, &end).await;
        }
    }

    /// Sends commands for as long as somebody takes them.
    async fn flood(&self) {
        let name = "n".repeat(60 << 10);
        let mut run = pb::RunCommand { result_completion_id: 0, name };
        loop {
            run.result_completion_id += 1;
            let frame = Frame::of(MessageType::RUN, &run).encode();
            let bytes = frame.len();
            if self.writer.write(frame).await.is_err() {
                return;
            }
            self.state.flooded.fetch_add(bytes, Relaxed);
        }
    }

    async fn say(&self, ty: MessageType, message: &impl Message) {
        // The sidecar may be gone.
        let _ = self.writer.write(Frame::of(ty, message).encode()).await;
    }
}

fn output(content: Bytes) -> pb::OutputCommand {
    let value = pb::output_command::Result::Value(pb::Value { content });
    pb::OutputCommand { name: String::new(), result: Some(value) }
}
