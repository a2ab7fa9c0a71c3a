//! What can be typed about state. Values are shown as JSON; text that is no JSON as
//! `{"$text": …}`, other bytes as `{"$base64": …}`.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub enum State {
    /// All values of one key
    Get {
        service: String,
        key: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Change some values of one key: `holdfast state patch Counter k1 '{"count": 7, "old": null}'`
    Patch {
        service: String,
        key: String,
        /// A JSON object: null removes a value, what is not named stays; `@FILE`, or `-` for stdin
        patch: String,
        /// Whatever was changed in between
        #[arg(long)]
        force: bool,
    },
    /// Edit the values of one key in $VISUAL or $EDITOR
    Edit {
        service: String,
        key: String,
        /// Whatever was changed in between
        #[arg(long)]
        force: bool,
    },
    /// Remove all values of one key, or of all keys of a service
    Clear {
        service: String,
        key: Option<String>,
        /// Whatever was changed in between
        #[arg(long)]
        force: bool,
        /// Do not ask
        #[arg(long, short)]
        yes: bool,
    },
}
