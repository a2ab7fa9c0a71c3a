//! `holdfast identity …`

use clap::Subcommand;
use std::path::PathBuf;

#[derive(Debug, Subcommand)]
pub enum Identity {
    /// Make a key; prints what services are given, and the setting of the sidecar
    New {
        /// Where the private key goes; must not exist yet
        #[arg(long, value_name = "PATH")]
        file: PathBuf,
    },
    /// Print the public key, which services are given
    Show {
        /// The private key
        #[arg(long, value_name = "PATH")]
        file: PathBuf,
    },
}
