//! Schedules as nouns: what runs when, and why a run may not come about. Decides nothing; the
//! times are `cadence`'s, the rows are of `tables::schedule`.

use crate::cadence;
use crate::id::InvocationId;
use crate::model::Target;
use crate::time::Timestamp;
use bytes::Bytes;
use holdfast_wire::manifest::HandlerType;

/// Stands in a key for the time of the run.
pub const TIME_IN_KEY: &str = "{time}";
/// A run that begins so late is none for its time any more, but one that was missed.
pub const LATE: std::time::Duration = std::time::Duration::from_secs(10);
/// What a handler is told: the name of its schedule, and the time that the run is for.
pub const NAME_HEADER: &str = "x-holdfast-schedule";
pub const PLANNED_HEADER: &str = "x-holdfast-scheduled-at";

/// What is to run when, as people put it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    pub name: String,
    /// See [`cadence::Cadence::parse`].
    pub cron: String,
    pub time_zone: String,
    pub service: String,
    pub handler: String,
    /// With `{time}` in it: another key for each run.
    pub key: Option<String>,
    pub argument: Bytes,
    pub headers: Vec<(String, String)>,
    pub catch_up: CatchUp,
    pub overlap: Overlap,
}

/// What becomes of times that went by while nothing could run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CatchUp {
    Skip,
    /// One run for all of them, for the latest.
    Once,
}

/// What becomes of a time at which the run before has not ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Overlap {
    /// Both run.
    Allow,
    Skip,
}

/// Why a schedule did not call its target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unfired {
    #[error("nothing is registered for `{service}/{handler}`; register a deployment that has it")]
    NotRegistered { service: String, handler: String },
    #[error("`{service}/{handler}` {reason}")]
    Key { service: String, handler: String, reason: &'static str },
    #[error(transparent)]
    NoCadence(#[from] cadence::Error),
    #[error("its run `{0}` has not ended, and its runs do not overlap; wait, or cancel that one")]
    StillRunning(InvocationId),
    #[error("the schedule was changed at the same time; try again")]
    Changed,
}

impl Unfired {
    /// Names the page in `docs/errors`.
    pub fn code(&self) -> &'static str {
        match self {
            Unfired::NotRegistered { .. } => "HF0180",
            Unfired::Key { .. } => "HF0181",
            Unfired::NoCadence(error) => error.code(),
            Unfired::StillRunning(_) => "HF0170",
            Unfired::Changed => "HF0171",
        }
    }
}

impl Plan {
    /// What is called at `planned`, where the handler is of that type.
    ///
    /// # Errors
    /// `Key`, where such a handler needs another key than the plan has.
    pub fn target(&self, planned: Timestamp, ty: HandlerType) -> Result<Target, Unfired> {
        let varies = self.key.as_ref().is_some_and(|key| key.contains(TIME_IN_KEY));
        let reason = match (ty, &self.key) {
            (HandlerType::Service, Some(_)) => "is of a plain service and takes no key",
            (HandlerType::Exclusive | HandlerType::Shared, None) => {
                "is of an object or a workflow; say which key it is called with"
            }
            (HandlerType::Workflow, _) if !varies => {
                "runs once for each key; put `{time}` into the key, which stands for the time of \
                 the run"
            }
            _ => return Ok(self.target_with(planned, ty)),
        };
        let (service, handler) = (self.service.clone(), self.handler.clone());
        Err(Unfired::Key { service, handler, reason })
    }

    fn target_with(&self, planned: Timestamp, ty: HandlerType) -> Target {
        Target {
            service: self.service.clone(),
            key: self.key.as_ref().map(|key| key.replace(TIME_IN_KEY, &planned.rfc3339())),
            handler: self.handler.clone(),
            ty,
        }
    }

    /// The headers of a run.
    pub fn headers(&self, planned: Timestamp) -> Vec<(String, String)> {
        let ours = [(NAME_HEADER, self.name.clone()), (PLANNED_HEADER, planned.rfc3339())];
        let ours = ours.into_iter().map(|(name, value)| (name.to_owned(), value));
        self.headers.iter().cloned().chain(ours).collect()
    }
}
