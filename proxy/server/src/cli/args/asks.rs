//! What can be typed about asks.

use clap::{Args, Subcommand, ValueEnum};

#[derive(Debug, Subcommand)]
pub enum Asks {
    /// Questions that wait for somebody, those first that have waited for longest
    List(ListAsks),
    /// One question: what is asked, what an answer has to look like, what it came to
    Show {
        id: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Answer a question: `holdfast asks answer ID accept --set approved=true`
    Answer(AnswerAsk),
}

#[derive(Debug, Args)]
pub struct ListAsks {
    /// Also those that were answered, have expired or were withdrawn
    #[arg(long)]
    pub closed: bool,
    /// Only those of this kind
    #[arg(long, value_name = "KIND", value_parser = ["input", "auth"])]
    pub kind: Option<String>,
    /// Only those for this person or group
    #[arg(long, value_name = "NAME")]
    pub to: Option<String>,
    /// Only those that a handler of this service asks
    #[arg(long)]
    pub service: Option<String>,
    /// Only those of this invocation, or asked on its behalf
    #[arg(long, value_name = "ID")]
    pub invocation: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = 50)]
    pub limit: u32,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct AnswerAsk {
    pub id: String,
    pub action: Action,
    /// The fields of the answer as a JSON object
    #[arg(short, long, value_name = "JSON", allow_hyphen_values = true, conflicts_with = "set")]
    pub data: Option<String>,
    /// One field of the answer; what is no JSON is taken as a text
    #[arg(long, value_name = "FIELD=VALUE")]
    pub set: Vec<String>,
    /// Who answers [default: the user who types this]
    #[arg(long, value_name = "NAME")]
    pub by: Option<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Action {
    /// Yes, with the fields that are asked for
    Accept,
    /// No
    Decline,
    /// Put it aside
    Cancel,
}
