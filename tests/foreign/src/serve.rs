//! Serving an example on loopback, and saying where. Must never listen beyond loopback.

use restate_sdk::endpoint::Endpoint;
use restate_sdk::http_server::HttpServer;
use std::net::Ipv4Addr;
use tokio::net::TcpListener;

/// Serves on `127.0.0.1:$PORT` until interrupted; 0 takes a free port, the default is 9080.
/// Prints `listening on http://127.0.0.1:PORT` once it accepts connections.
///
/// # Errors
/// When `PORT` is no port or is taken.
pub async fn serve(endpoint: Endpoint) -> Result<(), crate::http::Error> {
    tracing_subscriber::fmt()
        .with_env_filter(tracing_subscriber::EnvFilter::from_default_env())
        .with_writer(std::io::stderr)
        .init();
    let port = match std::env::var("PORT") {
        Ok(port) => port.parse().map_err(|_| format!("PORT is `{port}`, expected 0 to 65535"))?,
        Err(_) => 9080,
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .await
        .map_err(|error| format!("cannot listen on 127.0.0.1:{port}: {error}; set PORT"))?;
    println!("listening on http://{}", listener.local_addr()?);
    HttpServer::new(endpoint).serve(listener).await;
    Ok(())
}
