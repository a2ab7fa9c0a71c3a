//! What a handler takes and gives, as rules that a door asks.
//!
//! A rule looks at the media type and at whether there is a body, never into the body.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a handler takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Input {
    /// Whether there must be a body or a content type.
    #[serde(default, deserialize_with = "super::or_default")]
    pub required: bool,
    /// `*/*`, `type/*` or `type/subtype`. Without it only the absence of input is taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Describes the body; with it, the body must not be empty.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json_schema: Option<Value>,
}

/// Why a handler does not take what a caller sends.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputRefusal {
    #[error("handler takes no input; send neither a body nor a content type")]
    TakesNothing,
    #[error(
        "handler requires an input but its discovery names no content type for it; set one where \
         the handler is defined"
    )]
    NothingSuits,
    #[error("no content type given; expected `{expected}`; set the header content-type")]
    ContentTypeMissing { expected: String },
    #[error("content type `{seen}` is not what the handler takes; expected `{expected}`")]
    ContentTypeDiffers { seen: String, expected: String },
    #[error("body is empty; expected `{expected}`")]
    BodyMissing { expected: String },
}

impl Input {
    /// Says whether a request with that content type and such a body is taken.
    ///
    /// # Errors
    /// The refusal, to be told to the caller.
    pub fn accepts(
        &self,
        content_type: Option<&str>,
        body_is_empty: bool,
    ) -> Result<(), InputRefusal> {
        if !self.required && body_is_empty && content_type.is_none() {
            return Ok(());
        }
        let Some(expected) = &self.content_type else {
            return Err(match self.required {
                true => InputRefusal::NothingSuits,
                false => InputRefusal::TakesNothing,
            });
        };
        let Some(seen) = content_type else {
            return Err(InputRefusal::ContentTypeMissing { expected: expected.clone() });
        };
        if !matches(expected, seen) {
            return Err(InputRefusal::ContentTypeDiffers {
                seen: seen.to_owned(),
                expected: expected.clone(),
            });
        }
        if self.json_schema.is_some() && body_is_empty {
            return Err(InputRefusal::BodyMissing { expected: expected.clone() });
        }
        Ok(())
    }
}

/// What a manifest means that says nothing of the input: anything goes, with any content type.
impl Default for Input {
    fn default() -> Input {
        Input { required: false, content_type: Some("*/*".to_owned()), json_schema: None }
    }
}

/// What a handler gives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Output {
    /// Without it the response has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Whether an empty output has the content type too.
    #[serde(default, deserialize_with = "super::or_default")]
    pub set_content_type_if_empty: bool,
    /// Describes the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub json_schema: Option<Value>,
}

impl Output {
    /// The content type of a response, given whether its body is empty.
    pub fn content_type_for(&self, empty: bool) -> Option<&str> {
        self.content_type.as_deref().filter(|_| !empty || self.set_content_type_if_empty)
    }
}

/// What a manifest means that says nothing of the output: JSON, unless there is none.
impl Default for Output {
    fn default() -> Output {
        Output {
            content_type: Some("application/json".to_owned()),
            set_content_type_if_empty: false,
            json_schema: None,
        }
    }
}

/// Whether this can stand in a manifest as what a handler takes.
pub(super) fn is_pattern(text: &str) -> bool {
    match text.split_once('/') {
        Some(("*", subtype)) => subtype == "*",
        Some((ty, subtype)) => is_token(ty) && (subtype == "*" || is_token(subtype)),
        None => false,
    }
}

/// Whether this can stand in a response header.
pub(super) fn is_header_value(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
}

fn matches(pattern: &str, content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default().trim();
    let Some((ty, subtype)) = essence.split_once('/') else {
        return false;
    };
    match pattern.split_once('/') {
        Some(("*", "*")) => true,
        Some((expected, "*")) => expected.eq_ignore_ascii_case(ty),
        Some((expected, sub)) => {
            expected.eq_ignore_ascii_case(ty) && sub.eq_ignore_ascii_case(subtype)
        }
        None => false,
    }
}
