//! Many at once: a job is split, its parts run wherever there is room, and the results are put
//! together. The one who waits is suspended, and woken once.
//!
//! `PORT` says where it listens.

use examples::serve::serve;
use holdfast_sdk::prelude::*;
use holdfast_sdk::{BoxError, try_join_all};

struct Words;

#[service(retry(initial_interval = "50ms", max_interval = "1s"))]
impl Words {
    /// Counts the words of many texts.
    async fn count(&self, ctx: &Context, texts: Vec<String>) -> Result<usize> {
        let parts = texts.into_iter().map(|text| ctx.call(WordsClient::count_one(text)));
        Ok(try_join_all(parts).await?.into_iter().sum())
    }

    /// Counts the words of one.
    async fn count_one(&self, ctx: &Context, text: String) -> Result<usize> {
        Ok(ctx.run("count", async || Ok(text.split_whitespace().count())).await?)
    }
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    serve(Endpoint::builder().bind(Words).build()).await
}
