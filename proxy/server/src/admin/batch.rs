//! One verb for many invocations. Answers 200 and tells for each what became of it.

use super::{
    App,
    error::Error,
    invocations::{Choice, Done, Verb},
};
use axum::{
    Json,
    extract::{Path, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use holdfast_machine::id::InvocationId;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

#[derive(Debug, Deserialize)]
pub(super) struct Batch {
    #[serde(deserialize_with = "ids")]
    invocation_ids: Vec<InvocationId>,
    deployment: Option<String>,
}

fn ids<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<InvocationId>, D::Error> {
    let texts = Vec::<String>::deserialize(deserializer)?;
    texts.iter().map(|text| text.parse().map_err(serde::de::Error::custom)).collect()
}

pub(super) async fn run(
    State(app): State<App>,
    Path(verb): Path<String>,
    Json(batch): Json<Batch>,
) -> Result<Response, Error> {
    let Some(verb) = Verb::ALL.into_iter().find(|known| known.name() == verb) else {
        return Ok(StatusCode::NOT_FOUND.into_response());
    };
    let (given, max) = (batch.invocation_ids.len(), app.config.batch_invocations_max);
    if given > max {
        return Err(Error::BatchTooLarge { given, max });
    }
    let choice = Choice { deployment: batch.deployment, from: 0 };
    let (mut succeeded, mut failed) = (Vec::new(), Vec::new());
    for id in batch.invocation_ids {
        match verb.run(&app, id, &choice).await {
            Ok(done) => succeeded.push(success(id, done)),
            Err(error) => {
                failed.push(json!({ "invocation_id": id.to_string(), "error": error.to_string() }))
            }
        }
    }
    Ok(Json(json!({ "succeeded": succeeded, "failed": failed })).into_response())
}

fn success(id: InvocationId, done: Done) -> Value {
    match done {
        Done::Restarted(new) => json!({
            "old_invocation_id": id.to_string(),
            "new_invocation_id": new.to_string(),
        }),
        Done::Now | Done::Accepted => Value::String(id.to_string()),
    }
}
