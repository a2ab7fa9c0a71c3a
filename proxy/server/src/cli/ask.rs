//! Asks the person at the terminal, and takes in what they give: data, files, edits.

use super::Failure;
use std::io::{BufRead, IsTerminal, Read, Write};

/// Whether to go on. Where nobody can be asked, `--yes` has to say so.
pub fn confirm(question: &str, yes: bool) -> Result<bool, Failure> {
    if yes {
        return Ok(true);
    }
    if !std::io::stdin().is_terminal() {
        return Err(format!("{question} nobody can be asked here; say it with --yes").into());
    }
    eprint!("{question} [y/N] ");
    std::io::stderr().flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(["y", "yes"].contains(&answer.trim().to_lowercase().as_str()))
}

/// What is given itself, as `@FILE`, or as `-` by stdin.
pub fn data(given: &str) -> Result<Vec<u8>, Failure> {
    if given == "-" {
        let mut bytes = vec![];
        std::io::stdin().lock().read_to_end(&mut bytes)?;
        return Ok(bytes);
    }
    match given.strip_prefix('@') {
        Some(file) => {
            std::fs::read(file).map_err(|error| format!("cannot read `{file}`: {error}").into())
        }
        None => Ok(given.as_bytes().to_vec()),
    }
}

/// `NAME: VALUE`
pub fn header(text: &str) -> Result<(String, String), Failure> {
    let pair = text.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
    match pair {
        Some((name, value)) if !name.is_empty() => Ok((name.to_lowercase(), value.to_owned())),
        _ => Err(format!("`{text}` is not a header; write NAME: VALUE").into()),
    }
}

/// `NAME=VALUE`
pub fn pair(text: &str) -> Result<(String, String), Failure> {
    let pair = text.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    match pair {
        Some((name, value)) if !name.is_empty() => Ok((name.to_owned(), value.to_owned())),
        _ => Err(format!("`{text}` is not a pair; write NAME=VALUE").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_pairs_are_read() {
        let text = |a: &str, b: &str| Some((a.to_owned(), b.to_owned()));
        assert_eq!(header("X-Team: a:b").ok(), text("x-team", "a:b"));
        assert_eq!(pair("git.sha=a=b").ok(), text("git.sha", "a=b"));
        assert!(header("x").is_err() && header(": x").is_err() && pair("=x").is_err());
    }
}
