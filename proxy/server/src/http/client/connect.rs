//! One new connection: name lookup, TCP and TLS. Never pools, never sends a request.

use super::{Error, Protocol, Unusable};
use crate::http::socket::Quick;
use hyper::Uri;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName, pem::PemObject},
};
use std::{
    io,
    net::{IpAddr, SocketAddr},
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};
use tokio_rustls::TlsConnector;

/// A byte stream, encrypted or not.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// Where a connection goes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Address {
    pub tls: bool,
    /// Host and port as in the URI; the port is there only if it is not the default.
    pub authority: String,
    /// Without the brackets of an IPv6 address.
    host: String,
    port: u16,
}

impl Address {
    pub(super) fn of(uri: &Uri) -> Result<Address, Error> {
        let refuse = |reason| Error::address(uri, reason);
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(refuse("expected http:// or https:// and a host")),
        };
        let authority =
            uri.authority().ok_or_else(|| refuse("expected http:// or https:// and a host"))?;
        let host = authority.host().trim_start_matches('[').trim_end_matches(']').to_owned();
        if host.is_empty() {
            return Err(refuse("expected http:// or https:// and a host"));
        }
        let port = authority.port_u16().unwrap_or(if tls { 443 } else { 80 });
        let text = authority.as_str();
        let authority = text.rsplit_once('@').map_or(text, |(_, host)| host).to_owned();
        Ok(Address { tls, authority, host, port })
    }
}

/// Says why no connection may go to an address, if it may not.
pub type Guard = Arc<dyn Fn(IpAddr) -> Result<(), &'static str> + Send + Sync>;

/// Opens streams.
pub(super) struct Connector {
    timeout: Duration,
    /// Asked of every address that a name has, before any of them is connected to.
    guard: Option<Guard>,
    extra: Vec<CertificateDer<'static>>,
    /// The system's authorities are read when the first `https://` address is met.
    roots: OnceLock<Arc<RootCertStore>>,
}

impl Connector {
    pub(super) fn new(
        timeout: Duration,
        extra: Option<&Path>,
        guard: Option<Guard>,
    ) -> Result<Connector, Unusable> {
        let extra = extra.map(read_authorities).transpose()?.unwrap_or_default();
        Ok(Connector { timeout, guard, extra, roots: OnceLock::new() })
    }

    /// A stream to `address` over which `protocol` can be spoken.
    pub(super) async fn open(
        &self,
        address: &Address,
        protocol: Protocol,
    ) -> Result<Box<dyn Stream>, Error> {
        let deadline = Instant::now() + self.timeout;
        let socket = self.tcp(address, deadline).await?;
        if !address.tls {
            return Ok(Box::new(socket));
        }
        let name = alpn_name(protocol);
        let stream = self.tls(address, socket, &[name], deadline).await?;
        if protocol == Protocol::Http2 && stream.get_ref().1.alpn_protocol() != Some(name) {
            let reason = "it did not choose HTTP/2 (ALPN `h2`)".to_owned();
            return Err(Error::Tls { authority: address.authority.clone(), reason });
        }
        Ok(Box::new(stream))
    }

    /// What the peer chooses when it is offered both protocols.
    pub(super) async fn negotiate(&self, address: &Address) -> Result<Protocol, Error> {
        if !address.tls {
            return Ok(Protocol::Http2);
        }
        let deadline = Instant::now() + self.timeout;
        let socket = self.tcp(address, deadline).await?;
        let names = [alpn_name(Protocol::Http2), alpn_name(Protocol::Http1)];
        let stream = self.tls(address, socket, &names, deadline).await?;
        Ok(match stream.get_ref().1.alpn_protocol() {
            Some(b"h2") => Protocol::Http2,
            _ => Protocol::Http1,
        })
    }

    async fn tcp(&self, address: &Address, deadline: Instant) -> Result<Quick, Error> {
        let fail = |reason: String| Error::Connect { authority: address.authority.clone(), reason };
        let lookup = tokio::net::lookup_host((address.host.as_str(), address.port));
        let found = match timeout_at(deadline, lookup).await {
            Ok(Ok(found)) => found.collect::<Vec<SocketAddr>>(),
            Ok(Err(error)) => return Err(fail(format!("its name cannot be resolved: {error}"))),
            Err(_) => return Err(fail(late("the name lookup", self.timeout))),
        };
        self.check(&found).map_err(fail)?;
        let mut reason = "its name has no address".to_owned();
        for (i, socket) in found.iter().enumerate() {
            // Each address gets its share, so that a silent one does not hide one that answers.
            let left = deadline.saturating_duration_since(Instant::now());
            let share = left / u32::try_from(found.len() - i).unwrap_or(u32::MAX);
            match timeout(share, TcpStream::connect(socket)).await {
                Ok(Ok(stream)) => return Quick::new(stream).map_err(|e| fail(e.to_string())),
                Ok(Err(error)) => reason = told(&error),
                Err(_) => reason = late("the connection", self.timeout),
            }
        }
        Err(fail(reason))
    }

    /// One address that is refused is enough: a name that leads to several may be a trap.
    fn check(&self, found: &[SocketAddr]) -> Result<(), String> {
        let Some(guard) = &self.guard else {
            return Ok(());
        };
        let refused =
            found.iter().find_map(|socket| Some((socket.ip(), guard(socket.ip()).err()?)));
        refused.map_or(Ok(()), |(ip, why)| Err(format!("{ip} is not to be sent to: {why}")))
    }

    async fn tls(
        &self,
        address: &Address,
        socket: Quick,
        alpn: &[&[u8]],
        deadline: Instant,
    ) -> Result<tokio_rustls::client::TlsStream<Quick>, Error> {
        let fail = |reason: String| Error::Tls { authority: address.authority.clone(), reason };
        let name = ServerName::try_from(address.host.clone())
            .map_err(|_| fail("its name cannot stand in a certificate".to_owned()))?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| fail(error.to_string()))?
            .with_root_certificates(self.roots())
            .with_no_client_auth();
        config.alpn_protocols = alpn.iter().map(|name| name.to_vec()).collect();
        let handshake = TlsConnector::from(Arc::new(config)).connect(name, socket);
        match timeout_at(deadline, handshake).await {
            Ok(stream) => stream.map_err(|error| fail(error.to_string())),
            Err(_) => Err(fail(late("the handshake", self.timeout))),
        }
    }

    fn roots(&self) -> Arc<RootCertStore> {
        let read = || {
            let mut roots = RootCertStore::empty();
            // Certificates of the system that cannot be read or parsed are as good as absent: the
            // handshake says which authority is missing.
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            roots.add_parsable_certificates(self.extra.iter().cloned());
            Arc::new(roots)
        };
        self.roots.get_or_init(read).clone()
    }
}

fn read_authorities(path: &Path) -> Result<Vec<CertificateDer<'static>>, Unusable> {
    let fail = |reason: String| Unusable::Authorities { path: path.display().to_string(), reason };
    let pems = CertificateDer::pem_file_iter(path).map_err(|error| fail(error.to_string()))?;
    let found = pems.collect::<Result<Vec<_>, _>>().map_err(|error| fail(error.to_string()))?;
    if found.is_empty() {
        return Err(fail("it holds no PEM certificate".to_owned()));
    }
    Ok(found)
}

fn alpn_name(protocol: Protocol) -> &'static [u8] {
    match protocol {
        Protocol::Http1 => b"http/1.1",
        Protocol::Http2 => b"h2",
    }
}

fn late(what: &str, limit: Duration) -> String {
    format!("{what} took longer than {} ms", limit.as_millis())
}

/// What a person should think of first.
fn told(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused; is the service running?".into(),
        _ => error.to_string(),
    }
}
