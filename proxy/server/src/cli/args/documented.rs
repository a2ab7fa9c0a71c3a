//! What the documentation says can be typed can be typed.

use super::Cli;
use crate::config::pages;
use clap::{Parser, error::ErrorKind};

/// The words of a line, as a shell makes them; a comment is none.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (vec![], None::<String>, None);
    for c in line.chars() {
        match (c, quote) {
            ('\'' | '"', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, Some(open)) if c == open => quote = None,
            ('#', None) if word.is_none() => break,
            (' ', None) => words.extend(word.take()),
            (c, _) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The command lines that a line stands for: `[…]` can be there, and `a|b` is either.
fn meant(line: &str) -> Vec<Vec<String>> {
    let (line, _) = line.split_once(" > ").unwrap_or((line, ""));
    let mut lines = vec![vec![]];
    for word in words(line) {
        let is_choice =
            word.contains('|') && word.chars().all(|c| c.is_ascii_lowercase() || c == '|');
        let word = word.trim_start_matches('[').trim_end_matches(']');
        let choices: Vec<&str> = if is_choice { word.split('|').collect() } else { vec![word] };
        let longer = |line: &Vec<String>| {
            let with = |choice: &&str| [line.as_slice(), &[(*choice).to_owned()]].concat();
            choices.iter().map(with).collect::<Vec<_>>()
        };
        lines = lines.iter().flat_map(longer).collect();
    }
    lines
}

#[test]
fn command_lines_in_the_documentation_can_be_typed() {
    let mut typed = 0;
    for page in pages::all() {
        let lines = page.blocks("sh").into_iter().flat_map(str::lines).map(str::trim_start);
        for line in lines.filter(|line| line.starts_with("holdfast ")).flat_map(meant) {
            if let Err(error) = Cli::try_parse_from(&line) {
                panic!("{}: {line:?}\n{error}", page.name);
            }
            typed += 1;
        }
    }
    assert!(typed > 60, "only {typed} were found");
}

#[test]
fn commands_and_options_in_sentences_exist() {
    let mut said = 0;
    for page in pages::all() {
        let spans = page.spans().filter(|span| span.starts_with("holdfast "));
        let lines = spans.filter(|span| !span.contains('\n'));
        // `COMMAND` stands for any of them.
        let lines = lines.map(|line| line.replace("COMMAND", "status"));
        for line in lines.flat_map(|line| meant(&line)) {
            let kind = Cli::try_parse_from(&line).err().map(|error| error.kind());
            let unknown = [ErrorKind::InvalidSubcommand, ErrorKind::UnknownArgument];
            let is_unknown = kind.is_some_and(|kind| unknown.contains(&kind));
            assert!(!is_unknown, "{}: there is no {line:?}", page.name);
            said += 1;
        }
    }
    assert!(said > 30, "only {said} were found");
}
