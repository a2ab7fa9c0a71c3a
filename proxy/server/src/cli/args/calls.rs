//! What can be typed to call handlers.

use clap::{Args, Subcommand};

/// Whom to call, with what.
#[derive(Debug, Args)]
pub struct Payload {
    /// `Service/handler`, or `Object/key/handler`
    pub target: String,
    /// Key of the object or workflow, whatever is in it; the target is then `Object/handler`
    #[arg(long, value_name = "KEY")]
    pub key: Option<String>,
    /// JSON to send; `@FILE` takes a file, `-` what comes in by stdin
    #[arg(long, short, value_name = "JSON", allow_hyphen_values = true)]
    pub data: Option<String>,
    /// Media type of the data, where it is not JSON
    #[arg(long, default_value = "application/json", value_name = "TYPE")]
    pub content_type: String,
    /// Calls with the same key are one call
    #[arg(long, value_name = "KEY")]
    pub idempotency_key: Option<String>,
    /// Sent along to the handler; may be repeated
    #[arg(long = "header", short = 'H', value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
}

/// An invocation that was sent.
#[derive(Debug, Args)]
pub struct Sent {
    /// Id of the invocation
    pub id: String,
}

#[derive(Debug, Subcommand)]
pub enum Awakeables {
    /// Fulfil: whoever waits goes on with the value
    Resolve {
        /// Id of the awakeable
        id: String,
        /// JSON to go on with; `@FILE` takes a file, `-` what comes in by stdin
        #[arg(long, short, value_name = "JSON", allow_hyphen_values = true)]
        data: Option<String>,
    },
    /// Refuse: whoever waits fails with the reason
    Reject {
        /// Id of the awakeable
        id: String,
        /// Why
        reason: String,
    },
}
