//! What the tests that count share: a service behind a real server, and a caller that blocks and does
//! as little as possible itself.

use benches::Failure;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// The service of the benchmark, until it is dropped.
pub struct Service {
    pub address: String,
    process: Child,
}

impl Service {
    pub fn start() -> Service {
        let mut process = Command::new(Path::new(env!("CARGO_BIN_EXE_bench_service")))
            .env("PORT", "0")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on ").unwrap().to_owned();
        Service { address, process }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// No answer is longer, its head included.
const ANSWER_BYTES_MAX: usize = 2 << 20;

/// One connection over HTTP/1.1 that makes the same request again and again, and allocates nothing.
pub struct Caller {
    stream: TcpStream,
    request: Vec<u8>,
    answer: Vec<u8>,
}

impl Caller {
    pub fn new(address: &str, path: &str, content_type: &str, body: &[u8]) -> Caller {
        let address = address.trim_start_matches("http://");
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let content_type = match body.is_empty() {
            true => String::new(),
            false => format!("content-type: {content_type}\r\n"),
        };
        let head = format!(
            "POST {path} HTTP/1.1\r\nhost: {address}\r\n{content_type}content-length: {}\r\n\r\n",
            body.len()
        );
        Caller {
            stream,
            request: [head.as_bytes(), body].concat(),
            answer: vec![0; ANSWER_BYTES_MAX],
        }
    }

    /// One call; it must succeed.
    pub fn call(&mut self) {
        self.stream.write_all(&self.request).unwrap();
        let mut length = 0;
        loop {
            let read = self.stream.read(&mut self.answer[length..]).unwrap();
            assert!(read > 0, "the connection ended: {}", self.said(length));
            length += read;
            if let Some(whole) = whole_length(&self.answer[..length])
                && length >= whole
            {
                break;
            }
        }
        assert!(self.answer.starts_with(b"HTTP/1.1 2"), "{}", self.said(length));
    }

    fn said(&self, length: usize) -> String {
        String::from_utf8_lossy(&self.answer[..length]).into_owned()
    }
}

/// How long an answer is, once its head is there.
fn whole_length(answer: &[u8]) -> Option<usize> {
    const END: &[u8] = b"\r\n\r\n";
    const LENGTH: &[u8] = b"content-length: ";
    let head = answer.windows(END.len()).position(|it| it == END)? + END.len();
    let at = answer[..head].windows(LENGTH.len()).position(|it| it.eq_ignore_ascii_case(LENGTH));
    let digits = at.map_or(&[][..], |at| &answer[at + LENGTH.len()..head]);
    let digits = digits.iter().take_while(|it| it.is_ascii_digit());
    Some(head + digits.fold(0, |length, digit| length * 10 + usize::from(digit - b'0')))
}

/// The kinds of calls that are counted: a name, a path, a content type, a body.
pub const CALLS: [(&str, &str, &str, &str); 5] = [
    ("echo", "/Bench/echo", "application/octet-stream", "hello, durable world"),
    ("steps", "/Bench/steps", "application/json", "\"Ada\""),
    ("counter", "/BenchCounter/one/add", "application/json", "1"),
    ("chain", "/Bench/chain", "application/json", "\"Ada\""),
    ("awakeable", "/Bench/awakeable", "application/json", ""),
];

/// A caller for one of them.
pub fn caller(ingress: &str, name: &str) -> Caller {
    let (_, path, content_type, body) =
        CALLS.iter().find(|(known, ..)| *known == name).expect("it is one of them");
    Caller::new(ingress, path, content_type, body.as_bytes())
}

/// What the rest of the process does in the meantime, for each operation.
const STRAY: f64 = 0.1;

/// Something measured against its bound, told; an error where it is over.
pub fn hold(what: &str, measured: f64, bound: f64) -> Result<(), Failure> {
    println!("{what:<44} {measured:>10.2} of at most {bound:.2}");
    match measured <= bound + STRAY {
        true => Ok(()),
        false => Err(format!(
            "{what}: {measured:.2}, at most {bound:.2}; find out what costs more, or raise the bound \
             beside the reason"
        )
        .into()),
    }
}
