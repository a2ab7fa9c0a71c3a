//! What can be typed about notices.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum Notices {
    /// Notices that are not delivered yet, oldest first, with the tries so far
    List {
        /// At most so many
        #[arg(long, default_value_t = 50)]
        limit: u32,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}
