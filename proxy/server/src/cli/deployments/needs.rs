//! Whether anything still needs a deployment.

use super::{list_of, text};
use crate::cli::{Failure, api::Admin, text::Paint};
use crate::query::model::Counts;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Whether something still needs a deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// New calls go there.
    Active,
    /// Only what is pinned to it, and not completed, goes on there.
    Draining,
    /// Nothing.
    Drained,
}

impl Need {
    pub fn as_str(self) -> &'static str {
        match self {
            Need::Active => "active",
            Need::Draining => "draining",
            Need::Drained => "drained",
        }
    }

    pub fn paint(self, paint: Paint) -> String {
        match self {
            Need::Active => paint.good(self.as_str()),
            Need::Draining => paint.waits(self.as_str()),
            Need::Drained => paint.dim(self.as_str()),
        }
    }
}

/// Who needs which deployment.
pub struct Needs {
    /// Hosts of the latest revisions.
    pub latest: BTreeSet<String>,
    /// Invocations that are pinned to each and not completed.
    pub by_deployment: BTreeMap<String, u64>,
}

impl Needs {
    pub fn read(admin: &Admin) -> Result<Needs, Failure> {
        let services: Value = admin.get("/services")?;
        let latest = list_of(&services, "services").iter().map(|it| text(it, "deployment_id"));
        let counts: Counts = admin.get("/holdfast/counts")?;
        Ok(Needs { latest: latest.collect(), by_deployment: counts.by_deployment })
    }

    /// How many invocations are pinned to it and not completed.
    pub fn pinned(&self, id: &str) -> u64 {
        self.by_deployment.get(id).copied().unwrap_or(0)
    }

    pub fn of(&self, id: &str) -> Need {
        match (self.latest.contains(id), self.pinned(id)) {
            (true, _) => Need::Active,
            (false, 0) => Need::Drained,
            (false, _) => Need::Draining,
        }
    }

    /// For programs: the deployment with what needs it.
    pub fn note(&self, deployment: &mut Value) {
        let id = text(deployment, "id");
        deployment["status"] = self.of(&id).as_str().into();
        deployment["pinned_invocations"] = self.pinned(&id).into();
    }
}
