//! How our own SDK tells a mismatch: `journal mismatch at command 1: the journal holds X, but the
//! handler gives Y at FILE:LINE; the key differs; the handler must …`. Never shows a payload.

/// What the handler did instead, and where.
pub(super) struct Sentence<'a> {
    pub did: &'a str,
    /// The first thing that differs, in words; nothing where the command is another one.
    what: Option<&'a str>,
}

/// Words of the SDK, and the fields that they may stand for.
const WORDS: [(&str, &[&str]); 13] = [
    ("name", &["name"]),
    ("position among awaited results", &["result_completion_id", "invocation_id_notification_idx"]),
    ("service", &["service_name"]),
    ("handler", &["handler_name"]),
    ("key", &["key"]),
    ("name of the promise", &["key"]),
    ("parameter", &["parameter"]),
    ("headers", &["headers"]),
    ("idempotency key", &["idempotency_key"]),
    ("delay", &["invoke_time"]),
    ("result", &["result", "completion"]),
    ("id", &["awakeable_id"]),
    ("target", &["target", "target_invocation_id"]),
];

impl<'a> Sentence<'a> {
    pub(super) fn read(text: &'a str) -> Option<Sentence<'a>> {
        let (_, rest) = text.strip_prefix("journal mismatch at command ")?.split_once(BUT)?;
        let (did, _advice) = rest.split_once("; the handler must").unwrap_or((rest, ""));
        let what = did.rsplit_once("; the ");
        let what = what.and_then(|(did, what)| Some((did, what.strip_suffix(" differs")?)));
        Some(match what {
            Some((did, what)) => Sentence { did, what: Some(what) },
            None => Sentence { did, what: None },
        })
    }

    /// The handler waits, where the journal has another command.
    pub(super) fn waits(&self) -> bool {
        self.did.starts_with("waits")
    }

    /// Whether a field is what differs.
    pub(super) fn is_about(&self, field: &str) -> bool {
        let stands_for = |what: &str| WORDS.iter().find(|(words, _)| *words == what);
        match self.what {
            None => false,
            Some(what) => {
                stands_for(what).map_or(what == field, |(_, fields)| fields.contains(&field))
            }
        }
    }
}

const BUT: &str = ", but the handler ";
