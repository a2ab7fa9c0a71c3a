//! Sessions of older protocols. All that is known of one stands in its id, which the client sends
//! with every request: what it is capable of. So a session outlives the sidecar, and takes no
//! memory. What a client could make up here it could as well say at the beginning.

use super::meta::{Capabilities, LEGACY};
use crate::chance;
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use std::{
    collections::{HashSet, VecDeque},
    sync::Mutex,
};

const PREFIX: &str = "hf1";
/// Ended sessions that are remembered, so that their ids are refused.
const ENDED_MAX: usize = 10_000;

/// What a client said when it initialized.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Session {
    pub version: &'static str,
    pub form: bool,
    pub url: bool,
}

impl Session {
    pub fn new(version: &'static str, capabilities: &Capabilities) -> Session {
        // Before 2025-06-18 nobody could be asked, before 2025-11-25 nobody be sent anywhere.
        Session {
            version,
            form: capabilities.form && version >= LEGACY[1],
            url: capabilities.url && version >= LEGACY[0],
        }
    }

    /// The text of a new session.
    pub fn id(&self) -> String {
        let chance = URL_SAFE_NO_PAD.encode(chance::bytes::<16>());
        let (form, url) = (u8::from(self.form), u8::from(self.url));
        format!("{PREFIX}.{}.{form}{url}.{chance}", self.version)
    }

    pub fn parse(id: &str) -> Option<Session> {
        let mut parts = id.split('.');
        let (prefix, version) = (parts.next()?, parts.next()?);
        let (modes, chance) = (parts.next()?, parts.next()?);
        let version = LEGACY.into_iter().find(|it| *it == version)?;
        let (form, url) = match modes {
            "00" => (false, false),
            "10" => (true, false),
            "01" => (false, true),
            "11" => (true, true),
            _ => return None,
        };
        let whole = prefix == PREFIX && parts.next().is_none() && chance.len() == 22;
        whole.then_some(Session { version, form, url })
    }
}

/// The sessions that their clients ended.
#[derive(Default)]
pub(super) struct Ended(Mutex<Remembered>);

#[derive(Default)]
struct Remembered {
    ids: HashSet<String>,
    oldest_first: VecDeque<String>,
}

impl Ended {
    pub fn add(&self, id: &str) {
        let mut ended = self.0.lock().expect("nobody panics while holding it");
        if !ended.ids.insert(id.to_owned()) {
            return;
        }
        ended.oldest_first.push_back(id.to_owned());
        if ended.oldest_first.len() > ENDED_MAX
            && let Some(oldest) = ended.oldest_first.pop_front()
        {
            ended.ids.remove(&oldest);
        }
    }

    pub fn has(&self, id: &str) -> bool {
        self.0.lock().expect("nobody panics while holding it").ids.contains(id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_stands_in_its_id() {
        let capabilities = Capabilities::asking(true, true);
        for (version, form, url) in
            [("2025-11-25", true, true), ("2025-06-18", true, false), ("2025-03-26", false, false)]
        {
            let session = Session::new(version, &capabilities);
            assert_eq!(session, Session { version, form, url });
            assert_eq!(Session::parse(&session.id()), Some(session.clone()));
            assert_ne!(session.id(), session.id());
        }
    }

    #[test]
    fn what_is_no_session_is_refused() {
        let good = Session::new("2025-11-25", &Capabilities::default()).id();
        let bad = ["", "x", &good[1..], &good[..good.len() - 1], &format!("{good}.x")];
        for id in bad {
            assert_eq!(Session::parse(id), None, "{id}");
        }
        assert_eq!(Session::parse(&good.replace("2025-11-25", "2026-07-28")), None);
    }

    #[test]
    fn not_all_ended_sessions_are_remembered() {
        let ended = Ended::default();
        for number in 0..=ENDED_MAX {
            ended.add(&number.to_string());
            ended.add(&number.to_string());
        }
        assert!(!ended.has("0"));
        assert!(ended.has("1") && ended.has(&ENDED_MAX.to_string()));
    }
}
