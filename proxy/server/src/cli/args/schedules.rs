//! What can be typed about schedules.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum Schedules {
    /// All schedules, when they are due and how their last run went
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// One schedule and its next times
    Describe {
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Make a schedule, or give it another plan
    Set(Box<SetSchedule>),
    /// Nothing is due until resumed
    Pause { names: Vec<String> },
    /// Go on; what was missed meanwhile is not made up for
    Resume { names: Vec<String> },
    /// Run once now
    Trigger { names: Vec<String> },
    /// Forget schedules; what they have called goes on
    Delete { names: Vec<String> },
}

#[derive(Debug, Args)]
pub struct SetSchedule {
    pub name: String,
    /// When: `0 9 * * MON-FRI`, six fields with the second in front, `@daily`, `@every 90s`
    #[arg(long, value_name = "EXPRESSION")]
    pub cron: String,
    /// Whose clocks: a name of the IANA database [default: UTC]
    #[arg(long, value_name = "ZONE")]
    pub tz: Option<String>,
    /// What to call: `Service/handler`
    #[arg(long, value_name = "SERVICE/HANDLER")]
    pub target: String,
    /// Key of the object or workflow; `{time}` in it stands for the time of the run
    #[arg(long)]
    pub key: Option<String>,
    /// The input, as JSON
    #[arg(long, value_name = "JSON")]
    pub data: Option<String>,
    /// Given to the handler; may be repeated
    #[arg(long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Times missed while nothing could run: `once` for all of them, or `skip` [default: once]
    #[arg(long, value_name = "POLICY", value_parser = ["once", "skip"])]
    pub catch_up: Option<String>,
    /// A time at which the run before has not ended: `allow` both, or `skip` it [default: allow]
    #[arg(long, value_name = "POLICY", value_parser = ["allow", "skip"])]
    pub overlap: Option<String>,
    /// Only show the next times
    #[arg(long)]
    pub dry_run: bool,
}
