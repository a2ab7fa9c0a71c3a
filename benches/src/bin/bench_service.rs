//! The service under load. Listens on `127.0.0.1:$PORT`, a free port without, and prints where.

use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), benches::Failure> {
    let port: u16 = match std::env::var("PORT") {
        Ok(port) => port.parse()?,
        Err(_) => 0,
    };
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    println!("listening on http://{}", listener.local_addr()?);
    benches::service::endpoint().serve_until(listener, std::future::pending()).await;
    Ok(())
}
