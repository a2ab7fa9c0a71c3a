//! Connections from outside: TCP, and TLS where the address asks for it. Never pools, never sends a
//! request.

use crate::BoxError;
use http::Uri;
use hyper::rt::{Read, ReadBufCursor, Write};
use hyper_util::client::legacy::connect::{Connected, Connection, HttpConnector};
use hyper_util::rt::TokioIo;
use rustls::pki_types::{CertificateDer, ServerName, pem::PemObject};
use rustls::{ClientConfig, RootCertStore};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio_rustls::{TlsConnector, client::TlsStream};

/// How long the other side may take to accept a connection, and for the handshake of TLS.
const CONNECT_MAX: Duration = Duration::from_secs(10);

/// Why authorities cannot be trusted.
///
/// ```
/// # use holdfast_sdk::Ingress;
/// let error = Ingress::new("https://holdfast.internal").trusting(b"secret").unwrap_err();
/// assert!(error.to_string().contains("PEM"));
/// ```
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("authorities are certificates in PEM; there is none, or one that cannot be read")]
pub struct AuthoritiesError;

/// Opens connections.
#[derive(Clone, Debug)]
pub(super) struct Connector {
    tcp: HttpConnector,
    tls: Arc<Tls>,
}

/// What is trusted.
#[derive(Debug, Default)]
struct Tls {
    extra: Vec<CertificateDer<'static>>,
    /// The machine's authorities are read when the first `https://` address is met.
    config: OnceLock<Arc<ClientConfig>>,
}

impl Default for Connector {
    fn default() -> Connector {
        Connector::of(Tls::default())
    }
}

impl Connector {
    pub(super) fn trusting(pem: &[u8]) -> Result<Connector, AuthoritiesError> {
        let read: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
        let extra = read.map_err(|_| AuthoritiesError)?;
        let sound = !extra.is_empty()
            && extra.iter().all(|authority| RootCertStore::empty().add(authority.clone()).is_ok());
        match sound {
            true => Ok(Connector::of(Tls { extra, config: OnceLock::new() })),
            false => Err(AuthoritiesError),
        }
    }

    fn of(tls: Tls) -> Connector {
        let mut tcp = HttpConnector::new();
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_MAX));
        Connector { tcp, tls: Arc::new(tls) }
    }
}

impl Tls {
    fn config(&self) -> Arc<ClientConfig> {
        let read = || {
            let mut roots = RootCertStore::empty();
            // What cannot be read or parsed is as good as absent: the handshake says which
            // authority is missing.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            roots.add_parsable_certificates(self.extra.iter().cloned());
            let provider = Arc::new(rustls::crypto::ring::default_provider());
            let mut config = ClientConfig::builder_with_provider(provider)
                .with_safe_default_protocol_versions()
                .expect("the provider has the cipher suites of both versions")
                .with_root_certificates(roots)
                .with_no_client_auth();
            config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
            Arc::new(config)
        };
        self.config.get_or_init(read).clone()
    }
}

impl tower_service::Service<Uri> for Connector {
    type Response = Stream;
    type Error = BoxError;
    type Future = Pin<Box<dyn Future<Output = Result<Stream, BoxError>> + Send>>;

    fn poll_ready(&mut self, task: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        tower_service::Service::<Uri>::poll_ready(&mut self.tcp, task).map_err(Into::into)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let encrypted = uri.scheme_str() == Some("https");
        let name = uri.host().unwrap_or_default().trim_matches(['[', ']']).to_owned();
        let (opening, tls) = (self.tcp.call(uri), self.tls.clone());
        Box::pin(async move {
            let plain = opening.await?;
            if !encrypted {
                return Ok(Stream::Plain(plain));
            }
            let name = ServerName::try_from(name)?;
            let connector = TlsConnector::from(tls.config());
            let handshake = connector.connect(name, plain.into_inner());
            let stream = tokio::time::timeout(CONNECT_MAX, handshake).await??;
            Ok(Stream::Tls(Box::new(TokioIo::new(stream))))
        })
    }
}

/// A byte stream, encrypted or not.
pub(super) enum Stream {
    Plain(TokioIo<TcpStream>),
    Tls(Box<TokioIo<TlsStream<TcpStream>>>),
}

impl Connection for Stream {
    fn connected(&self) -> Connected {
        match self {
            Stream::Plain(stream) => stream.connected(),
            Stream::Tls(stream) => {
                let (tcp, session) = stream.inner().get_ref();
                let connected = tcp.connected();
                match session.alpn_protocol() {
                    Some(b"h2") => connected.negotiated_h2(),
                    _ => connected,
                }
            }
        }
    }
}

impl Read for Stream {
    fn poll_read(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        into: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_read(task, into),
            Stream::Tls(stream) => Pin::new(stream).poll_read(task, into),
        }
    }
}

impl Write for Stream {
    fn poll_write(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_write(task, bytes),
            Stream::Tls(stream) => Pin::new(stream).poll_write(task, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_flush(task),
            Stream::Tls(stream) => Pin::new(stream).poll_flush(task),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_shutdown(task),
            Stream::Tls(stream) => Pin::new(stream).poll_shutdown(task),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Stream::Plain(stream) => stream.is_write_vectored(),
            Stream::Tls(stream) => stream.is_write_vectored(),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Stream::Plain(stream) => Pin::new(stream).poll_write_vectored(task, slices),
            Stream::Tls(stream) => Pin::new(stream).poll_write_vectored(task, slices),
        }
    }
}
