//! Handlers as tools: what a list says of one, page by page. Pure.

use super::error::Error;
use crate::registry::exposure::{Annotations, Catalogue, Exposed};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Map, Value, json};
use std::time::Duration;

/// Which tools a caller sees.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sight<'s> {
    pub is_local: bool,
    /// Of `/mcp/{service}`: only of this one.
    pub service: Option<&'s str>,
    /// Older protocols know only results that are objects.
    pub is_modern: bool,
}

impl Sight<'_> {
    fn sees(&self, exposed: &Exposed) -> bool {
        self.service.is_none_or(|service| exposed.service.name == service)
    }
}

/// One page of the list; where there are more, what to ask for them with.
pub(super) fn page(
    catalogue: &Catalogue,
    sight: Sight<'_>,
    cursor: Option<&Value>,
    page_max: usize,
) -> Result<(Vec<Value>, Option<String>), Error> {
    let after = cursor.map(after).transpose()?.flatten();
    let mut seen =
        catalogue.tools(after.as_deref(), sight.is_local).filter(|exposed| sight.sees(exposed));
    let page: Vec<_> = seen.by_ref().take(page_max.max(1)).collect();
    let more = seen.next().and_then(|_| page.last());
    let next = more.map(|last| URL_SAFE_NO_PAD.encode(&last.tool));
    Ok((page.into_iter().map(|exposed| tool(exposed, sight)).collect(), next))
}

/// The name that a cursor stands behind; the empty one stands at the beginning.
fn after(cursor: &Value) -> Result<Option<String>, Error> {
    let wrong = || Error::Params("`cursor` is none of ours".to_owned());
    match cursor {
        Value::Null => Ok(None),
        Value::String(text) if text.is_empty() => Ok(None),
        Value::String(text) => {
            let name = URL_SAFE_NO_PAD.decode(text).map_err(|_| wrong())?;
            String::from_utf8(name).map(Some).map_err(|_| wrong())
        }
        _ => Err(wrong()),
    }
}

/// The tool of that name, where the caller sees it.
pub(super) fn find<'c>(
    catalogue: &'c Catalogue,
    sight: Sight<'_>,
    name: &str,
) -> Option<&'c std::sync::Arc<Exposed>> {
    catalogue.tool(name, sight.is_local).filter(|exposed| sight.sees(exposed))
}

fn tool(exposed: &Exposed, sight: Sight<'_>) -> Value {
    let mut tool = Map::new();
    tool.insert("name".into(), json!(exposed.tool));
    if let Some(title) = &exposed.title {
        tool.insert("title".into(), json!(title));
    }
    tool.insert("description".into(), json!(description(exposed)));
    tool.insert("inputSchema".into(), exposed.input_schema.clone());
    if let Some(schema) = output_schema(exposed, sight.is_modern) {
        tool.insert("outputSchema".into(), schema.clone());
    }
    let annotations = annotations(exposed);
    if !annotations.is_empty() {
        tool.insert("annotations".into(), annotations.into());
    }
    tool.into()
}

/// What the results of a tool are said to be. Every result has to keep to it.
pub(super) fn output_schema(exposed: &Exposed, is_modern: bool) -> Option<&Value> {
    exposed.output_schema.as_ref().filter(|schema| is_modern || is_of_object(schema))
}

fn description(exposed: &Exposed) -> String {
    let said = exposed.description.as_deref().unwrap_or_default().trim_end();
    let kept = exposed.handler.retention(true).completion;
    let kept = match kept {
        Duration::ZERO => "Its result is not kept after the end.".to_owned(),
        kept => format!("Its result is kept for {} after the end.", words(kept)),
    };
    if said.is_empty() { kept } else { format!("{said}\n\n{kept}") }
}

fn words(duration: Duration) -> String {
    let seconds = duration.as_secs();
    let (count, unit) = match seconds {
        0 => return format!("{} ms", duration.as_millis()),
        _ if seconds.is_multiple_of(86_400) => (seconds / 86_400, "day"),
        _ if seconds.is_multiple_of(3_600) => (seconds / 3_600, "hour"),
        _ if seconds.is_multiple_of(60) => (seconds / 60, "minute"),
        _ => (seconds, "second"),
    };
    if count == 1 { format!("1 {unit}") } else { format!("{count} {unit}s") }
}

fn annotations(exposed: &Exposed) -> Map<String, Value> {
    let Annotations { read_only, destructive, idempotent, open_world } = exposed.annotations;
    let hints = [
        ("readOnlyHint", read_only),
        ("destructiveHint", destructive),
        ("idempotentHint", idempotent),
        ("openWorldHint", open_world),
    ];
    hints.into_iter().filter_map(|(name, hint)| Some((name.to_owned(), json!(hint?)))).collect()
}

fn is_of_object(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}
