//! What an SDK adds to a handler: drives attempts of `Greeter/greet` and `Greeter/step` over HTTP/2,
//! as a sidecar does, and counts the CPU time that the service takes for each.
//!
//! ```text
//! sdk_dispatch ours=PROGRAM theirs=PROGRAM
//! ```
//!
//! Each program serves `Greeter` on `127.0.0.1:$PORT`, where 0 is a free port, and prints
//! `listening on http://ADDRESS` first. Rounds alternate between the programs; the median counts.

use bytes::Bytes;
use h2::client::SendRequest;
use holdfast_wire::frame::{Decoder, Frame};
use holdfast_wire::message::{MessageType, pb};
use holdfast_wire::version::Version;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error + Send + Sync>;

const ROUNDS: usize = 7;
const ROUND: Duration = Duration::from_millis(1500);
/// Attempts under way at once.
const CONCURRENCY: usize = 32;

/// One program under measurement.
struct Service {
    name: String,
    address: String,
    process: Child,
}

/// One round.
#[derive(Clone, Copy)]
struct Round {
    cpu_us: f64,
    attempts_per_s: f64,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let programs: Vec<String> = std::env::args().skip(1).collect();
    let mut services = vec![];
    for program in &programs {
        services.push(Service::start(program)?);
    }
    for handler in ["greet", "step"] {
        let mut rounds: Vec<Vec<Round>> = vec![vec![]; services.len()];
        for _ in 0..=ROUNDS {
            for (service, rounds) in services.iter().zip(&mut rounds) {
                rounds.push(service.round(handler).await?);
            }
        }
        for (service, rounds) in services.iter().zip(&mut rounds) {
            rounds.remove(0); // warm-up
            rounds.sort_by(|one, other| one.cpu_us.total_cmp(&other.cpu_us));
            let Round { cpu_us, attempts_per_s } = rounds[rounds.len() / 2];
            let name = &service.name;
            println!("{handler:6} {name:8} {cpu_us:7.2} us CPU/attempt {attempts_per_s:9.0}/s");
        }
    }
    for mut service in services {
        service.process.kill()?;
        service.process.wait()?;
    }
    Ok(())
}

impl Service {
    fn start(argument: &str) -> Result<Service, Failure> {
        let (name, program) = argument.split_once('=').ok_or("expected NAME=PROGRAM")?;
        let mut process = Command::new(program).env("PORT", "0").stdout(Stdio::piped()).spawn()?;
        let out = process.stdout.take().ok_or("no output")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let address = line.trim().rsplit('/').next().unwrap_or_default().to_owned();
        Ok(Service { name: name.to_owned(), address, process })
    }

    async fn round(&self, handler: &str) -> Result<Round, Failure> {
        let stream = tokio::net::TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        let (client, connection) = h2::client::handshake(stream).await?;
        let connection = tokio::spawn(connection);
        let uri = format!("http://{}/invoke/Greeter/{handler}", self.address);
        let (began, cpu) = (Instant::now(), self.cpu()?);
        let mut workers = tokio::task::JoinSet::new();
        for _ in 0..CONCURRENCY {
            workers.spawn(work(client.clone(), uri.clone(), began + ROUND));
        }
        let mut attempts = 0.0;
        while let Some(worked) = workers.join_next().await {
            attempts += worked??;
        }
        let (wall, cpu) = (began.elapsed(), self.cpu()? - cpu);
        drop(client);
        connection.await??;
        Ok(Round {
            cpu_us: cpu.as_secs_f64() * 1e6 / attempts,
            attempts_per_s: attempts / wall.as_secs_f64(),
        })
    }

    /// What the process has used so far.
    fn cpu(&self) -> Result<Duration, Failure> {
        const NANOS: usize = 0;
        let path = format!("/proc/{}/task", self.process.id());
        let mut nanos = 0;
        for task in std::fs::read_dir(path)? {
            let schedstat = std::fs::read_to_string(task?.path().join("schedstat"))?;
            let used = schedstat.split_whitespace().nth(NANOS).ok_or("no schedstat")?;
            nanos += used.parse::<u64>()?;
        }
        Ok(Duration::from_nanos(nanos))
    }
}

async fn work(client: SendRequest<Bytes>, uri: String, until: Instant) -> Result<f64, Failure> {
    let mut attempts = 0.0;
    while Instant::now() < until {
        attempt(client.clone(), &uri).await?;
        attempts += 1.0;
    }
    Ok(attempts)
}

/// One attempt in version 7, as a sidecar conducts it.
async fn attempt(client: SendRequest<Bytes>, uri: &str) -> Result<(), Failure> {
    let content_type = Version::V7.content_type();
    let request = http::Request::post(uri)
        .header("content-type", content_type)
        .header("accept", content_type)
        .body(())?;
    let (answer, mut body) = client.ready().await?.send_request(request, false)?;
    body.send_data(opening(), false)?;
    let mut answer = answer.await?.into_body();
    let mut decoder = Decoder::new(1 << 20);
    while let Some(chunk) = answer.data().await {
        let chunk = chunk?;
        answer.flow_control().release_capacity(chunk.len())?;
        decoder.push(chunk);
        while let Some(frame) = decoder.next()? {
            match frame.ty {
                MessageType::PROPOSE_RUN_COMPLETION => {
                    let ack = pb::ProposeRunCompletionAck { completion_id: 1 };
                    let ack = Frame::of(MessageType::PROPOSE_RUN_COMPLETION_ACK, &ack);
                    body.send_data(ack.encode(), false)?;
                }
                MessageType::END => body.send_data(Bytes::new(), true)?,
                MessageType::ERROR => return Err("the attempt failed".into()),
                _ => {}
            }
        }
    }
    Ok(())
}

/// The start and the input.
fn opening() -> Bytes {
    let start = pb::Start {
        id: Bytes::from_static(&[7; 24]),
        debug_id: "inv_1iELRKt48MDN5Yqc1EClu1Krt2N6SyJ7IH".to_owned(),
        known_entries: 1,
        partial_state: true,
        random_seed: 7,
        ..pb::Start::default()
    };
    let value = Some(pb::Value { content: Bytes::from_static(b"\"Ada\"") });
    let input = pb::InputCommand { value, ..pb::InputCommand::default() };
    let start = Frame::of(MessageType::START, &start).encode();
    [start, Frame::of(MessageType::INPUT, &input).encode()].concat().into()
}
