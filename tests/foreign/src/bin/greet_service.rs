//! The smallest handlers there are, to measure what an SDK adds to them: `Greeter/greet` answers at
//! once, `Greeter/step` after one recorded step. `PORT` says where it listens.

use foreign::{http::Error, serve::serve};
use restate_sdk::prelude::*;

struct Greeter;

#[service(name = "Greeter")]
impl Greeter {
    #[handler]
    async fn greet(&self, _: Context<'_>, name: String) -> HandlerResult<String> {
        Ok(format!("Hello {name}"))
    }

    #[handler]
    async fn step(&self, ctx: Context<'_>, name: String) -> HandlerResult<String> {
        Ok(ctx.run(|| async { Ok(format!("Hello {name}")) }).name("greet").await?)
    }
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    serve(Endpoint::builder().bind(Greeter).build()).await
}
