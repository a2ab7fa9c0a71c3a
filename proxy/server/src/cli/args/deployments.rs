//! What can be typed about deployments.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum Deployments {
    /// Discover the services at URL and make them callable
    Register(Register),
    /// All deployments: active (new calls go there), draining, or drained
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// One deployment and its handlers
    Describe {
        id: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Change how a deployment is reached; its services stay what they are
    Update(Update),
    /// Forget a deployment that nothing needs any more
    Remove(Remove),
}

#[derive(Debug, Args)]
pub struct Register {
    pub url: String,
    /// Discover again although the address is known; allows a service to change its type
    #[arg(long)]
    pub force: bool,
    /// Allow a service to change its type
    #[arg(long)]
    pub breaking: bool,
    /// Only say what would happen
    #[arg(long)]
    pub dry_run: bool,
    /// The service speaks HTTP/1.1 only
    #[arg(long)]
    pub http1: bool,
    /// Sent with every request to the service; may be repeated
    #[arg(long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Kept with the deployment and shown with it; may be repeated
    #[arg(long = "metadata", value_name = "NAME=VALUE")]
    pub metadata: Vec<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Update {
    pub id: String,
    /// The new address
    #[arg(long, value_name = "URL")]
    pub uri: Option<String>,
    /// Sent with every request, in place of all that were sent; may be repeated
    #[arg(long = "header", value_name = "NAME: VALUE")]
    pub headers: Vec<String>,
    /// Send no headers of ours any more
    #[arg(long, conflicts_with = "headers")]
    pub no_headers: bool,
    /// Whether the service speaks HTTP/1.1 only
    #[arg(long, value_name = "BOOL")]
    pub http1: Option<bool>,
    /// Take the services over as they are at the new address
    #[arg(long)]
    pub overwrite: bool,
    /// Only say what would happen
    #[arg(long)]
    pub dry_run: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Remove {
    /// Deployments by id
    #[arg(required_unless_present = "drained")]
    pub ids: Vec<String>,
    /// All deployments that are drained: no new calls, nothing under way
    #[arg(long, conflicts_with_all = ["ids", "force"])]
    pub drained: bool,
    /// Even though it is used: invocations pinned to it cannot go on
    #[arg(long)]
    pub force: bool,
    /// Do not ask
    #[arg(long, short)]
    pub yes: bool,
}
