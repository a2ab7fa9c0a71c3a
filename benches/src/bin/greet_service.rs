//! The smallest handlers there are, to measure what our SDK adds to them: `Greeter/greet` answers
//! at once, `Greeter/step` after one recorded step. Prints where it listens.

use holdfast_sdk::prelude::*;

struct Greeter;

#[service]
impl Greeter {
    async fn greet(&self, _: &Context, name: String) -> Result<String> {
        Ok(format!("Hello {name}"))
    }

    async fn step(&self, ctx: &Context, name: String) -> Result<String> {
        Ok(ctx.run("greet", async || Ok(format!("Hello {name}"))).await?)
    }
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    println!("listening on http://{}", listener.local_addr()?);
    let endpoint = Endpoint::builder().bind(Greeter).build();
    endpoint.serve_until(listener, std::future::pending()).await;
    Ok(())
}
