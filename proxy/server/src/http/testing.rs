//! Servers on loopback for the tests of clients: real sockets, ports chosen by the system.

use crate::http::{Body, body::channel, full};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::{Request, Response, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use std::{
    convert::Infallible,
    net::SocketAddr,
    ops::Range,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

/// A server, as long as it is not dropped.
pub struct Server {
    pub address: SocketAddr,
    connections: Arc<AtomicUsize>,
    _tasks: JoinSet<()>,
}

/// How a server listens.
#[derive(Clone, Default)]
pub struct Manner {
    pub tls: bool,
    /// The limit it announces.
    pub streams_max: Option<u32>,
    /// The connections, by their number from 0, on which it looks at no request: it refuses the
    /// first, and goes away with the second. Not with TLS.
    pub refusing: Range<usize>,
}

impl Server {
    /// How many connections were accepted so far.
    pub fn connections(&self) -> usize {
        self.connections.load(Relaxed)
    }

    /// Answers with `service` over HTTP/1.1 and HTTP/2.
    pub async fn start<S, F>(manner: Manner, service: S) -> Server
    where
        S: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        Server::start_at("127.0.0.1:0".parse().unwrap(), manner, service).await
    }

    /// The same at an address that was another server's before.
    pub async fn start_at<S, F>(address: SocketAddr, manner: Manner, service: S) -> Server
    where
        S: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response<Body>> + Send + 'static,
    {
        let listener = TcpListener::bind(address).await.unwrap();
        let address = listener.local_addr().unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let mut tasks = JoinSet::new();
        let count = connections.clone();
        tasks.spawn(async move {
            let mut open = JoinSet::new();
            let tls = manner.tls.then(acceptor);
            while let Ok((stream, _)) = listener.accept().await {
                let number = count.fetch_add(1, Relaxed);
                stream.set_nodelay(true).unwrap();
                if manner.refusing.contains(&number) {
                    open.spawn(refuse(stream));
                    continue;
                }
                let (tls, service, streams_max) =
                    (tls.clone(), service.clone(), manner.streams_max);
                open.spawn(async move {
                    match tls {
                        Some(tls) => {
                            let Ok(stream) = tls.accept(stream).await else {
                                return;
                            };
                            converse(stream, service, streams_max).await;
                        }
                        None => converse(stream, service, streams_max).await,
                    }
                });
            }
        });
        Server { address, connections, _tasks: tasks }
    }
}

async fn converse<S, F>(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    service: S,
    streams_max: Option<u32>,
) where
    S: Fn(Request<Incoming>) -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Response<Body>> + Send + 'static,
{
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http2().max_concurrent_streams(streams_max);
    let answer = service_fn(move |request| {
        let response = service(request);
        async move { Ok::<_, Infallible>(response.await) }
    });
    // A client that goes away is no failure of the server.
    let _ = builder.serve_connection(TokioIo::new(stream), answer).await;
}

/// Speaks as much HTTP/2 as it takes to refuse requests.
async fn refuse(mut stream: TcpStream) {
    const PREFACE_BYTES: usize = 24;
    const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    const SETTINGS_ACK: [u8; 9] = [0, 0, 0, 4, 1, 0, 0, 0, 0];
    const REFUSED_STREAM: [u8; 4] = [0, 0, 0, 7];
    let mut preface = [0; PREFACE_BYTES];
    let mut refused = 0;
    let talk = async {
        stream.read_exact(&mut preface).await?;
        stream.write_all(&SETTINGS).await?;
        loop {
            let mut head = [0; 9];
            stream.read_exact(&mut head).await?;
            let [a, b, c, ty, flags, id @ ..] = head;
            let mut payload = vec![0; u32::from_be_bytes([0, a, b, c]) as usize];
            stream.read_exact(&mut payload).await?;
            match (ty, flags, refused) {
                (4, 0, _) => stream.write_all(&SETTINGS_ACK).await?,
                (1, _, 0) => {
                    let reset = [&[0, 0, 4, 3, 0], &id[..], &REFUSED_STREAM].concat();
                    stream.write_all(&reset).await?;
                    refused = 1;
                }
                (1, _, _) => {
                    // No error, and the first stream was the last that was looked at.
                    let last: [u8; 8] = [0, 0, 0, 1, 0, 0, 0, 0];
                    let go_away = [&[0, 0, 8, 7, 0, 0, 0, 0, 0], &last[..]].concat();
                    stream.write_all(&go_away).await?;
                    stream.shutdown().await?;
                    // Whatever is unread would make the system take back what was written.
                    tokio::io::copy(&mut stream, &mut tokio::io::sink()).await?;
                    return Ok(());
                }
                _ => {}
            }
        }
    };
    // A client that goes away is no failure of the server.
    let _: std::io::Result<()> = talk.await;
}

fn acceptor() -> tokio_rustls::TlsAcceptor {
    let chain = CertificateDer::pem_file_iter(testdata("leaf.pem")).unwrap();
    let chain = chain.map(Result::unwrap).collect();
    let key = PrivateKeyDer::from_pem_file(testdata("leaf.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Arc::new(config).into()
}

/// A file of the test certificates.
pub fn testdata(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("testdata/tls").join(name)
}

/// Answers with the request's body as it comes.
pub async fn echo(request: Request<Incoming>) -> Response<Body> {
    Response::new(request.into_body().map_err(Into::into).boxed_unsync())
}

/// Answers with the version and the path of the request.
pub async fn describe(request: Request<Incoming>) -> Response<Body> {
    Response::new(full(format!("{:?} {}", request.version(), request.uri().path())))
}

/// A body of `pieces` times `piece`, made while it is sent.
pub fn stream(piece: Bytes, pieces: usize, tasks: &mut JoinSet<()>) -> Body {
    let (writer, body) = channel(2);
    tasks.spawn(async move {
        for _ in 0..pieces {
            if writer.write(piece.clone()).await.is_err() {
                return;
            }
        }
        if let Ok(room) = writer.reserve().await {
            room.finish();
        }
    });
    body
}

/// Polls until `done`; the test's own timeout is the limit.
pub async fn until(mut done: impl FnMut() -> bool) {
    while !done() {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
}
