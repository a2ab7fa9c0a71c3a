//! The binary `holdfast`.

use std::process::ExitCode;

fn main() -> ExitCode {
    holdfast::cli::main()
}
