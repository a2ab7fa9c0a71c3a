//! Limits: how many invocations may run at once of a service, a handler, or the keys with one
//! prefix. Said in the settings or in the metadata of services; the settings win. Pure, and never
//! counts anything.

use super::Error;
use holdfast_wire::manifest;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, fmt};

/// Most limits that the settings may have.
pub const SETTINGS_MAX: usize = 1_000;
/// Most limits that the metadata of one service may have, those of its handlers included.
const DECLARED_MAX: usize = 100;

const PREFIX: &str = "holdfast.limit.";
const CONCURRENCY: &str = "holdfast.limit.concurrency";
const KEY_PREFIX: &str = "holdfast.limit.key-prefix.";

/// What a limit counts.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject {
    pub service: String,
    /// `None`: all of them.
    pub handler: Option<String>,
    /// Keys that begin with it; `None`: all of them, and what has no key.
    pub key_prefix: Option<String>,
}

/// So many of these at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limit {
    pub subject: Subject,
    /// 0 lets none begin.
    pub concurrency: u32,
    pub origin: Origin,
}

/// Where a limit comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    Settings,
    /// Of the latest revision of the service.
    Metadata,
}

/// A limit in the settings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Setting(Limit);

/// A limit as it is written in a configuration file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    /// The name of a service; it need not be registered yet.
    service: String,
    /// One of its handlers; without it all of them together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    handler: Option<String>,
    /// Only keys that begin with it, together; for objects and workflows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key_prefix: Option<String>,
    /// Invocations that run at once. 0: none begins.
    concurrency: u32,
}

impl TryFrom<Written> for Setting {
    type Error = &'static str;

    fn try_from(written: Written) -> Result<Setting, &'static str> {
        let Written { service, handler, key_prefix, concurrency } = written;
        if service.is_empty() {
            return Err("`service` is empty; name the service that is to be limited");
        }
        if handler.as_deref() == Some("") {
            return Err("`handler` is empty; name one, or leave it out to limit all of them");
        }
        if key_prefix.as_deref() == Some("") {
            return Err("`key_prefix` is empty; leave it out to limit all keys together");
        }
        let subject = Subject { service, handler, key_prefix };
        Ok(Setting(Limit { subject, concurrency, origin: Origin::Settings }))
    }
}

impl From<Setting> for Written {
    fn from(Setting(limit): Setting) -> Written {
        let Limit { subject: Subject { service, handler, key_prefix }, concurrency, .. } = limit;
        Written { service, handler, key_prefix, concurrency }
    }
}

/// What no single setting can say of itself.
///
/// # Errors
/// A sentence, where there are too many or two say the same.
pub fn check(settings: &[Setting]) -> Result<(), String> {
    if settings.len() > SETTINGS_MAX {
        let given = settings.len();
        return Err(format!("there are {given}; at most {SETTINGS_MAX} are taken"));
    }
    let mut subjects: Vec<_> = settings.iter().map(|Setting(limit)| &limit.subject).collect();
    subjects.sort();
    match subjects.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("`{}` is limited twice; leave one of the two out", pair[0])),
        None => Ok(()),
    }
}

/// The limits that the metadata of a service and of its handlers declare.
///
/// # Errors
/// `Limit` where one of them cannot be one.
pub fn declared(service: &manifest::Service) -> Result<Vec<Limit>, Error> {
    let of_handlers = service
        .handlers
        .iter()
        .map(|handler| (Some(handler.name.as_str()), &handler.options.metadata));
    let mut limits = Vec::new();
    for (handler, metadata) in std::iter::once((None, &service.options.metadata)).chain(of_handlers)
    {
        for (field, value) in metadata.iter().filter(|(field, _)| field.starts_with(PREFIX)) {
            let of = Subject {
                service: service.name.clone(),
                handler: handler.map(str::to_owned),
                key_prefix: None,
            };
            let wrong = |reason| Error::Limit { of: of.to_string(), field: field.clone(), reason };
            let limit = limit(of.clone(), field, value, service.ty.is_keyed());
            limits.push(limit.map_err(wrong)?);
        }
    }
    if limits.len() > DECLARED_MAX {
        let reason = format!("there are {}; at most {DECLARED_MAX} are taken", limits.len());
        let (of, field) = (service.name.clone(), format!("{PREFIX}*"));
        return Err(Error::Limit { of, field, reason });
    }
    Ok(limits)
}

fn limit(of: Subject, field: &str, value: &str, is_keyed: bool) -> Result<Limit, String> {
    let key_prefix = match field.strip_prefix(KEY_PREFIX) {
        Some("") => return Err("it names no prefix; write one behind the last dot".into()),
        Some(_) if !is_keyed => {
            return Err("a plain service has no keys; limit the service or a handler".into());
        }
        Some(prefix) => Some(prefix.to_owned()),
        None if field == CONCURRENCY => None,
        None => return Err(format!("there is only `{CONCURRENCY}` and `{KEY_PREFIX}PREFIX`")),
    };
    let concurrency = value.trim().parse().map_err(|_| {
        format!("`{value}` is no count; write how many may run at once, or 0 for none")
    })?;
    Ok(Limit { subject: Subject { key_prefix, ..of }, concurrency, origin: Origin::Metadata })
}

/// All limits, one for each subject, in order.
pub(super) fn in_force<'a>(
    settings: &[Setting],
    services: impl Iterator<Item = &'a manifest::Service>,
) -> Vec<Limit> {
    // What was registered before limits were known may declare what is none.
    let declared = services.flat_map(|service| declared(service).unwrap_or_default());
    let set = settings.iter().map(|Setting(limit)| limit.clone());
    let by_subject = |limit: Limit| (limit.subject.clone(), limit);
    let limits: BTreeMap<_, _> = declared.chain(set).map(by_subject).collect();
    limits.into_values().collect()
}

impl Origin {
    pub fn as_str(self) -> &'static str {
        match self {
            Origin::Settings => "config",
            Origin::Metadata => "metadata",
        }
    }
}

/// As a target with a star for the rest of the key: `Payments`, `Payments/charge`,
/// `Account/eu-*`, `Account/eu-*/charge`.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.service)?;
        if let Some(prefix) = &self.key_prefix {
            write!(f, "/{prefix}*")?;
        }
        match &self.handler {
            Some(handler) => write!(f, "/{handler}"),
            None => Ok(()),
        }
    }
}
