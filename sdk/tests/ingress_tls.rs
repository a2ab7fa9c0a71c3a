//! The client from outside, where TLS stands in front of the sidecar.

use bytes::Bytes;
use holdfast_sdk::{Ingress, IngressError, Request, RetryPolicy};
use http::Response;
use http_body_util::Full;
use hyper::{body::Incoming, service::service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject};
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

/// A file of the test certificates: of an authority that only we trust, and of `localhost`.
fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../proxy/server/testdata/tls").join(name)
}

fn acceptor(protocol: &str) -> tokio_rustls::TlsAcceptor {
    let chain = CertificateDer::pem_file_iter(testdata("leaf.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_file(testdata("leaf.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain.map(Result::unwrap).collect(), key)
        .unwrap();
    config.alpn_protocols = vec![protocol.as_bytes().to_vec()];
    Arc::new(config).into()
}

/// Answers with the version, the path and the token of a request, as JSON. Ends with the tasks.
async fn listen(protocol: &str, tasks: &mut JoinSet<()>) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let acceptor = acceptor(protocol);
    tasks.spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            connections.spawn(async move {
                // Clients that do not trust us go away.
                let Ok(stream) = acceptor.accept(stream).await else {
                    return;
                };
                let server = hyper_util::server::conn::auto::Builder::new(TokioExecutor::new());
                drop(server.serve_connection(TokioIo::new(stream), service_fn(describe)).await);
            });
        }
    });
    port
}

async fn describe(request: http::Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    let token = request.headers().get("authorization").map_or("", |it| it.to_str().unwrap());
    let said = format!("\"{:?} {} {token}\"", request.version(), request.uri().path());
    Ok(Response::new(Full::from(said)))
}

fn greet() -> Request<String> {
    Request::new("Greeter", "greet", "Ada")
}

#[tokio::test]
async fn tls_is_spoken_with_whom_the_authorities_know() {
    let mut tasks = JoinSet::new();
    let authority = std::fs::read(testdata("authority.pem")).unwrap();
    for (protocol, version) in [("h2", "HTTP/2.0"), ("http/1.1", "HTTP/1.1")] {
        let port = listen(protocol, &mut tasks).await;
        for host in ["localhost", "127.0.0.1"] {
            let ingress = Ingress::new(format!("https://{host}:{port}/"))
                .trusting(&authority)
                .unwrap()
                .header("authorization", "Bearer of good news");
            let expected = format!("{version} /Greeter/greet Bearer of good news");
            assert_eq!(ingress.call(greet()).await.unwrap(), expected, "{host} {protocol}");
        }
    }
}

#[tokio::test]
async fn strangers_are_not_told_anything() {
    let mut tasks = JoinSet::new();
    let port = listen("h2", &mut tasks).await;
    let once = RetryPolicy::new().max_attempts(1);
    let ingress = Ingress::new(format!("https://localhost:{port}")).retry(once);
    match ingress.call(greet()).await {
        Err(IngressError::NoAnswer(reason)) => {
            let sources =
                std::iter::successors(Some(&*reason as &dyn std::error::Error), |it| it.source());
            let said: String = sources.map(|error| format!("{error}: ")).collect();
            assert!(said.contains("UnknownIssuer"), "{said}");
        }
        other => panic!("a certificate of nobody was taken: {other:?}"),
    }
    let plain = Ingress::new(format!("http://localhost:{port}")).retry(once);
    assert!(matches!(plain.call(greet()).await, Err(IngressError::NoAnswer(_))));
}

#[test]
fn authorities_are_certificates() {
    for none in ["", "secret", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        let refused = Ingress::new("https://localhost").trusting(none.as_bytes());
        assert!(refused.is_err(), "{none}");
    }
}
