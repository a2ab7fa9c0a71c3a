//! What can be typed about invocations.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum Invocations {
    /// What is under way; with --all also what has ended
    List(List),
    /// The journal of one invocation as a timeline, and why it waits
    Describe {
        id: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Ask the handler to stop; it can clean up
    Cancel(Which),
    /// End at once, with everything it called
    Kill(Which),
    /// Stop making attempts until resumed
    Pause(Which),
    /// Go on with what is paused, suspended or backing off, now
    Resume {
        #[command(flatten)]
        which: Which,
        /// `keep`, `latest`, or a deployment id
        #[arg(long)]
        deployment: Option<String>,
    },
    /// Forget completed ones
    Purge(Which),
    /// Forget the journals of completed ones, not their outcomes
    PurgeJournal(Which),
    /// Run completed ones again under a new id
    #[command(visible_alias = "restart-as-new")]
    Restart {
        #[command(flatten)]
        which: Which,
        /// Keep the journal up to this entry
        #[arg(long)]
        from: Option<u32>,
        /// `keep`, `latest`, or a deployment id
        #[arg(long)]
        deployment: Option<String>,
    },
}

#[derive(Debug, Args)]
pub struct List {
    /// Also completed ones
    #[arg(long, short)]
    pub all: bool,
    /// Only these: pending, scheduled, ready, running, backing-off, suspended, paused, completed
    #[arg(long, value_name = "STATUS", value_delimiter = ',')]
    pub status: Vec<String>,
    #[arg(long)]
    pub service: Option<String>,
    #[arg(long)]
    pub handler: Option<String>,
    #[arg(long)]
    pub key: Option<String>,
    /// Only those that are pinned to it
    #[arg(long)]
    pub deployment: Option<String>,
    /// Only those of objects and workflows
    #[arg(long, visible_alias = "virtual-objects-only")]
    pub keyed: bool,
    /// Only completed ones that failed
    #[arg(long, conflicts_with_all = ["all", "status"])]
    pub failed: bool,
    /// Only those that are pinned to a deployment that was removed
    #[arg(long)]
    pub zombie: bool,
    /// The oldest first
    #[arg(long)]
    pub oldest_first: bool,
    /// At most so many
    #[arg(long, default_value_t = 50)]
    pub limit: u32,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Invocations to do something to.
#[derive(Debug, Args)]
pub struct Which {
    /// Ids, or what they call: `Service`, `Service/handler`, `Object/key`, `Object/key/handler`
    #[arg(required = true, value_name = "ID|TARGET")]
    pub which: Vec<String>,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}
