//! What can be typed about limits.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum Limits {
    /// All limits, and how many run and wait under each
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}
