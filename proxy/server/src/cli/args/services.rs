//! What can be typed about services.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum Services {
    /// All services
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// One service, its handlers and its settings
    Describe {
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// What is under way by handler, what is oldest, what is stuck, and who holds which key
    Status {
        /// Only these
        names: Vec<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Settings that can be changed while the service runs
    Config {
        #[command(subcommand)]
        command: ServiceConfig,
    },
}

#[derive(Debug, Subcommand)]
pub enum ServiceConfig {
    /// The settings in force
    View {
        name: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Change settings, until the service is discovered again
    Patch {
        name: String,
        #[command(flatten)]
        settings: Settings,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// Durations are written as `1h 30m`, `5d` or `PT90M`.
#[derive(Debug, Args)]
#[group(required = true, multiple = true)]
pub struct Settings {
    /// Whether the ingress takes calls of it
    #[arg(long, value_name = "BOOL")]
    pub public: Option<bool>,
    /// How long the outcome of a call with an idempotency key is kept
    #[arg(long, value_name = "DURATION")]
    pub idempotency_retention: Option<String>,
    /// How long outcome, state and promises of a workflow are kept
    #[arg(long, value_name = "DURATION")]
    pub workflow_completion_retention: Option<String>,
    /// How long journals are kept
    #[arg(long, value_name = "DURATION")]
    pub journal_retention: Option<String>,
    /// After how long without a message a handler is asked to suspend
    #[arg(long, value_name = "DURATION")]
    pub inactivity_timeout: Option<String>,
    /// How long it may then take until its attempt is aborted
    #[arg(long, value_name = "DURATION")]
    pub abort_timeout: Option<String>,
}
