//! What is called, and with what.

use bytes::Bytes;

/// Keys of the counter with many.
const KEYS: u64 = 1000;
/// Messages that one call sends.
const SENDS: u32 = 100;
const LARGE_BYTES: usize = 1 << 20;
const JSON: &str = "application/json";
const BYTES: &str = "application/octet-stream";

/// One kind of call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Scenario {
    /// A handler that answers at once
    Echo,
    /// Three recorded steps, one after the other
    Steps,
    /// State of one key: calls wait for each other
    CounterOne,
    /// State of 1,000 keys
    CounterMany,
    /// A call of another handler, awaited
    Chain,
    /// An awakeable that another invocation completes
    Awakeable,
    /// A call that sends 100 messages, all executed
    Sends,
    /// 1 MiB there and back
    Large,
}

/// One request.
pub struct Request {
    pub path: String,
    pub content_type: &'static str,
    pub body: Bytes,
}

impl Scenario {
    pub const ALL: [Scenario; 8] = [
        Scenario::Echo,
        Scenario::Steps,
        Scenario::CounterOne,
        Scenario::CounterMany,
        Scenario::Chain,
        Scenario::Awakeable,
        Scenario::Sends,
        Scenario::Large,
    ];

    /// As in options and reports.
    pub fn name(self) -> &'static str {
        match self {
            Scenario::Echo => "echo",
            Scenario::Steps => "steps",
            Scenario::CounterOne => "counter-one",
            Scenario::CounterMany => "counter-many",
            Scenario::Chain => "chain",
            Scenario::Awakeable => "awakeable",
            Scenario::Sends => "sends",
            Scenario::Large => "large",
        }
    }

    /// In a few words, for people.
    pub fn title(name: &str) -> &'static str {
        match name {
            "echo" => "echo",
            "steps" => "three recorded steps",
            "counter-one" => "counter, one key",
            "counter-many" => "counter, 1,000 keys",
            "chain" => "call and await another",
            "awakeable" => "awakeable, round trip",
            "sends" => "100 messages sent",
            "large" => "echo of 1 MiB",
            _ => "something else",
        }
    }

    /// Callers at once, where nothing else is said.
    pub fn callers(self) -> &'static [u32] {
        match self {
            Scenario::Echo => &[1, 32, 256],
            Scenario::Steps => &[1, 32, 128],
            Scenario::Sends => &[4],
            Scenario::Large => &[4],
            _ => &[1, 32],
        }
    }

    /// The `number`th request of a caller. Deterministic, and spread over keys.
    pub fn request(self, caller: u32, number: u64) -> Request {
        let json = |handler: &str, body: &str| Request {
            path: format!("/Bench/{handler}"),
            content_type: JSON,
            body: Bytes::copy_from_slice(body.as_bytes()),
        };
        match self {
            Scenario::Echo => {
                Request { content_type: BYTES, ..json("echo", "hello, durable world") }
            }
            Scenario::Steps => json("steps", "\"Ada\""),
            Scenario::CounterOne => Request { path: add("one"), ..json("", "1") },
            Scenario::CounterMany => {
                let key = spread(u64::from(caller) << 32 | number) % KEYS;
                Request { path: add(&format!("key-{key}")), ..json("", "1") }
            }
            Scenario::Chain => json("chain", "\"Ada\""),
            Scenario::Awakeable => Request { content_type: BYTES, ..json("awakeable", "") },
            Scenario::Sends => json("send", &SENDS.to_string()),
            Scenario::Large => Request {
                body: Bytes::from_static(&[b'x'; LARGE_BYTES]),
                content_type: BYTES,
                ..json("echo", "")
            },
        }
    }

    /// What an answer must be, where it is always the same.
    pub fn expected_bytes(self) -> Option<usize> {
        match self {
            Scenario::Echo => Some("hello, durable world".len()),
            Scenario::Large => Some(LARGE_BYTES),
            _ => None,
        }
    }

    /// Bytes of payload that a call carries there and back, where that is what counts.
    pub fn payload_bytes(self) -> Option<u64> {
        (self == Scenario::Large).then_some(2 * LARGE_BYTES as u64)
    }

    /// Messages that a call sends besides.
    pub fn messages(self) -> Option<u64> {
        (self == Scenario::Sends).then_some(u64::from(SENDS))
    }
}

fn add(key: &str) -> String {
    format!("/BenchCounter/{key}/add")
}

/// A number that looks drawn by chance (the finalizer of splitmix64).
fn spread(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
