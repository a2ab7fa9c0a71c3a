//! An agent: a loop of recorded calls of a language model, which may use tools, within a budget of
//! tokens. The model is a fake that runs in this process, so that nothing is needed to try it.
//!
//! `PORT` says where it listens, `EFFECTS_URL` where calls of the model tell that they were made.

use examples::{effects::Effects, serve::serve};
use holdfast_sdk::prelude::*;
use holdfast_sdk::{
    BoxError,
    schemars::{self, JsonSchema},
};
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Task {
    /// A sum to be done, like `2 + 3 + 4`.
    question: String,
    /// Tokens that may be spent.
    budget: u32,
}

#[derive(Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
struct Solution {
    answer: String,
    spent: u32,
    turns: u32,
}

/// What a model says: it wants a tool, or it has an answer.
#[derive(Serialize, Deserialize)]
struct Said {
    tokens: u32,
    wants: Option<(i64, i64)>,
    answer: Option<String>,
}

struct Agent {
    effects: Effects,
}

#[service(expose = "mcp,a2a", retry(initial_interval = "50ms", max_interval = "1s"))]
impl Agent {
    /// Solves a task, turn by turn. Each call of the model is paid once, whatever dies.
    async fn solve(&self, ctx: &Context, task: Task) -> Result<Solution> {
        let (mut transcript, mut spent) = (task.question, 0);
        for turn in 1.. {
            let name = format!("model-{turn}");
            let ask = async || self.model(ctx.invocation_id(), &name, &transcript).await;
            let said = ctx.run(&name, ask).await?;
            spent += said.tokens;
            if let Some(answer) = said.answer {
                return Ok(Solution { answer, spent, turns: turn });
            }
            if spent >= task.budget {
                let message = format!("no answer within {} tokens", task.budget);
                return Err(Terminal::new(message).code(429).into());
            }
            if let Some((one, other)) = said.wants {
                let sum = ctx.call(ToolsClient::add((one, other))).await?;
                transcript = replaced(&transcript, sum);
            }
        }
        unreachable!("the loop ends by itself only after 4 billion turns")
    }
}

impl Agent {
    /// The fake: it asks to have the first two numbers added, until there is only one.
    async fn model(&self, id: &str, name: &str, transcript: &str) -> Result<Said> {
        self.effects.perform(id, name, Some(transcript)).await.map_err(Error::retry)?;
        let numbers = numbers(transcript);
        let tokens = 10 * u32::try_from(numbers.len())?;
        Ok(match numbers[..] {
            [one, other, ..] => Said { tokens, wants: Some((one, other)), answer: None },
            [only] => Said { tokens, wants: None, answer: Some(only.to_string()) },
            [] => return Err(Terminal::new("there is nothing to add").code(400).into()),
        })
    }
}

struct Tools;

#[service(retry(initial_interval = "50ms", max_interval = "1s"))]
impl Tools {
    /// Adds two numbers.
    async fn add(&self, _: &Context, numbers: (i64, i64)) -> i64 {
        numbers.0 + numbers.1
    }
}

fn numbers(text: &str) -> Vec<i64> {
    text.split('+').filter_map(|number| number.trim().parse().ok()).collect()
}

/// The sum in place of the first two numbers.
fn replaced(text: &str, sum: i64) -> String {
    let rest = numbers(text).into_iter().skip(2);
    let all: Vec<String> = std::iter::once(sum).chain(rest).map(|n| n.to_string()).collect();
    all.join(" + ")
}

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let agent = Agent { effects: Effects::from_env() };
    serve(Endpoint::builder().bind(agent).bind(Tools).build()).await
}
