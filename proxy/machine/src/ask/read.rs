//! The parameter of `holdfast.Human/ask`, read strictly: a misspelt field would change what is
//! asked without anybody noticing.

use super::{AskKind, Form, Question};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use std::time::Duration;

/// Longest parameter, in bytes.
const QUESTION_BYTES_MAX: usize = 256 * 1024;
/// Longest time that an ask can be given.
const EXPIRES_MS_MAX: u64 = 100 * 365 * 24 * 60 * 60 * 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
struct Parameter {
    message: String,
    #[serde(default)]
    schema: Option<Value>,
    #[serde(default)]
    kind: Option<Kind>,
    #[serde(default)]
    to: Option<String>,
    #[serde(default)]
    url: Option<String>,
    #[serde(default)]
    expires_after_ms: Option<u64>,
    #[serde(default)]
    wants: Option<Wants>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Kind {
    Input,
    Auth,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Wants {
    Content,
    Message,
}

impl Question {
    /// Reads what a handler sent.
    ///
    /// # Errors
    /// A sentence: what is wrong with it.
    pub fn read(parameter: &Bytes) -> Result<Question, String> {
        if parameter.len() > QUESTION_BYTES_MAX {
            let length = parameter.len();
            return Err(format!("{length} bytes are too many, at most {QUESTION_BYTES_MAX}"));
        }
        let read: Parameter =
            serde_json::from_slice(parameter).map_err(|error| error.to_string())?;
        if read.message.trim().is_empty() {
            return Err("`message` is empty; say what is asked".into());
        }
        if read.expires_after_ms.is_some_and(|ms| ms == 0 || ms > EXPIRES_MS_MAX) {
            return Err(format!("`expiresAfterMs` is not within 1 and {EXPIRES_MS_MAX}"));
        }
        Ok(Question {
            kind: match read.kind {
                Some(Kind::Auth) => AskKind::Auth,
                Some(Kind::Input) | None => AskKind::Input,
            },
            message: read.message,
            form: Form::read(read.schema.as_ref()).map_err(|why| format!("`schema`: {why}"))?,
            to: read.to,
            url: read.url,
            expires_after: read.expires_after_ms.map(Duration::from_millis),
            whole_message: matches!(read.wants, Some(Wants::Message)),
        })
    }
}
