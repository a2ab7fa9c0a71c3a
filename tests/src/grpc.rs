//! A client of gRPC over HTTP/2 without TLS, as small as the tests need it, with the messages of
//! A2A. It looks at everything: headers, messages, trailers.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use http_body_util::{BodyExt, Full};
use hyper::{HeaderMap, Request, body::Incoming, client::conn::http2};
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost::Message;
use std::time::Duration;
use tokio::{net::TcpStream, time::timeout};

/// As generated, to the byte.
pub mod pb {
    include!("../../proxy/server/src/bridge/a2a/grpc/generated.rs");
}

const SERVICE: &str = "/lf.a2a.v1.A2AService/";
/// Longest wait for anything that a call gives.
const PATIENCE: Duration = Duration::from_secs(60);

/// How a call ended, if not well.
#[derive(Debug, Clone, PartialEq)]
pub struct Status {
    pub code: i32,
    pub message: String,
    pub details: Option<pb::Status>,
}

impl Status {
    fn of(trailers: &HeaderMap) -> Option<Status> {
        let text = |name: &str| trailers.get(name).map(|value| value.to_str().unwrap().to_owned());
        let code = text("grpc-status")?.parse().unwrap();
        let details = text("grpc-status-details-bin").map(|it| {
            pb::Status::decode(&*base64(&it)).expect("the details are a google.rpc.Status")
        });
        Some(Status { code, message: text("grpc-message").unwrap_or_default(), details })
    }

    /// The reason that clients tell errors apart by.
    pub fn reason(&self) -> String {
        self.detail::<pb::ErrorInfo>("google.rpc.ErrorInfo").map(|it| it.reason).unwrap_or_default()
    }

    /// The fields that are wrong.
    pub fn fields(&self) -> Vec<String> {
        let bad = self.detail::<pb::BadRequest>("google.rpc.BadRequest").unwrap_or_default();
        bad.field_violations.into_iter().map(|it| it.field).collect()
    }

    fn detail<M: Message + Default>(&self, name: &str) -> Option<M> {
        let details = self.details.as_ref()?;
        let any = details.details.iter().find(|any| any.type_url.ends_with(name))?;
        Some(M::decode(&*any.value).unwrap())
    }
}

/// A connection.
pub struct Client {
    /// What it says that it is connected to.
    pub authority: String,
    sender: http2::SendRequest<Full<Bytes>>,
    /// Sent with each call.
    pub metadata: Vec<(String, String)>,
}

impl Client {
    /// To `http://HOST:PORT`, as version 1.0.
    pub async fn connect(url: &str) -> Client {
        let authority = url.trim_start_matches("http://").to_owned();
        let stream = TcpStream::connect(&authority).await.unwrap();
        stream.set_nodelay(true).unwrap();
        let io = TokioIo::new(stream);
        let (sender, connection) = http2::handshake(TokioExecutor::new(), io).await.unwrap();
        tokio::spawn(async move { drop(connection.await) });
        let metadata = vec![("a2a-version".to_owned(), "1.0".to_owned())];
        Client { authority, sender, metadata }
    }

    /// A call with one answer.
    pub async fn call<M: Message + Default>(
        &mut self,
        method: &str,
        request: &impl Message,
    ) -> Result<M, Status> {
        let mut stream = self.stream(method, request).await?;
        let first = stream.next().await.expect("an answer or a status");
        let message = first?;
        assert!(stream.next::<M>().await.is_none(), "one answer");
        Ok(message)
    }

    /// A call with any number of answers. `Err`: it was refused before any.
    pub async fn stream(&mut self, method: &str, request: &impl Message) -> Result<Stream, Status> {
        self.raw(method, framed(request), &[]).await
    }

    /// A call whose body and headers are the test's own.
    pub async fn raw(
        &mut self,
        method: &str,
        body: Bytes,
        headers: &[(&str, &str)],
    ) -> Result<Stream, Status> {
        let mut request = Request::post(format!("http://{}{SERVICE}{method}", self.authority))
            .header("content-type", "application/grpc")
            .header("te", "trailers");
        for (name, value) in &self.metadata {
            request = request.header(name, value);
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(body)).unwrap();
        let response = timeout(PATIENCE, self.sender.send_request(request)).await.unwrap().unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "application/grpc");
        match Status::of(response.headers()) {
            Some(status) => Err(status),
            None => Ok(Stream { body: response.into_body(), rest: BytesMut::new(), ended: false }),
        }
    }
}

/// The answers of a call.
pub struct Stream {
    body: Incoming,
    rest: BytesMut,
    ended: bool,
}

impl Stream {
    /// The next answer; `None`: it ended well. A status that is not well comes once.
    pub async fn next<M: Message + Default>(&mut self) -> Option<Result<M, Status>> {
        loop {
            if let Some(message) = self.message() {
                return Some(Ok(M::decode(message).unwrap()));
            }
            if self.ended {
                return None;
            }
            let frame = timeout(PATIENCE, self.body.frame()).await.expect("a frame in time");
            // Without trailers the sidecar went away.
            let Some(Ok(frame)) = frame else {
                self.ended = true;
                let message = "the connection broke".to_owned();
                return Some(Err(Status { code: -1, message, details: None }));
            };
            match frame.into_data() {
                Ok(data) => self.rest.extend_from_slice(&data),
                Err(frame) => {
                    self.ended = true;
                    let trailers = frame.into_trailers().unwrap();
                    let status = Status::of(&trailers).expect("trailers have a status");
                    if status.code != 0 {
                        return Some(Err(status));
                    }
                }
            }
        }
    }

    fn message(&mut self) -> Option<Bytes> {
        let (prefix, rest) = self.rest.split_first_chunk::<5>()?;
        let length = u32::from_be_bytes([prefix[1], prefix[2], prefix[3], prefix[4]]) as usize;
        if rest.len() < length {
            return None;
        }
        self.rest.advance(5);
        Some(self.rest.split_to(length).freeze())
    }
}

/// A message with its prefix.
pub fn framed(message: &impl Message) -> Bytes {
    let mut bytes = BytesMut::new();
    bytes.put_u8(0);
    bytes.put_u32(message.encoded_len().try_into().unwrap());
    message.encode(&mut bytes).unwrap();
    bytes.freeze()
}

/// Standard base64, with or without padding.
fn base64(text: &str) -> Vec<u8> {
    let value = |byte: u8| match byte {
        b'A'..=b'Z' => byte - b'A',
        b'a'..=b'z' => byte - b'a' + 26,
        b'0'..=b'9' => byte - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        other => panic!("`{}` in base64", char::from(other)),
    };
    let digits: Vec<u8> = text.trim_end_matches('=').bytes().map(value).collect();
    let bytes = digits.chunks(4).flat_map(|four| {
        let bits = four.iter().fold(0_u32, |bits, digit| bits << 6 | u32::from(*digit));
        let bits = bits << (6 * (4 - four.len()));
        bits.to_be_bytes()[1..four.len()].to_vec()
    });
    bytes.collect()
}

/// A message of the user with one text.
pub fn text(id: &str, text: &str) -> pb::Message {
    message(id, pb::part::Content::Text(text.to_owned()))
}

/// A message of the user with one JSON value.
pub fn data(id: &str, value: &serde_json::Value) -> pb::Message {
    message(id, pb::part::Content::Data(json(value)))
}

fn message(id: &str, content: pb::part::Content) -> pb::Message {
    pb::Message {
        message_id: id.to_owned(),
        role: pb::Role::User.into(),
        parts: vec![pb::Part { content: Some(content), ..Default::default() }],
        ..Default::default()
    }
}

/// A JSON value as protobuf has it.
pub fn json(value: &serde_json::Value) -> prost_types::Value {
    use prost_types::value::Kind;
    use serde_json::Value;
    let kind = match value {
        Value::Null => Kind::NullValue(0),
        Value::Bool(it) => Kind::BoolValue(*it),
        Value::Number(it) => Kind::NumberValue(it.as_f64().unwrap()),
        Value::String(it) => Kind::StringValue(it.clone()),
        Value::Array(it) => {
            Kind::ListValue(prost_types::ListValue { values: it.iter().map(json).collect() })
        }
        Value::Object(it) => {
            let fields = it.iter().map(|(name, it)| (name.clone(), json(it))).collect();
            Kind::StructValue(prost_types::Struct { fields })
        }
    };
    prost_types::Value { kind: Some(kind) }
}
