//! Error codes and their pages belong together: `HFnnnn` in the source, `docs/errors/HFnnnn.md`.

use super::{root, source};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

const CODE_LENGTH: usize = "HF0000".len();
const SECTIONS: [&str; 2] = ["## What happened", "## What to do"];

/// Codes without a page, pages without a code, and pages that lack something.
pub fn complaints() -> Vec<String> {
    let sources = source::under("proxy");
    let codes: BTreeSet<String> = sources.iter().flat_map(|source| codes(&source.text)).collect();
    let pages = pages();
    let unexplained = codes.iter().filter(|code| !pages.contains_key(*code));
    let unused = pages.keys().filter(|page| !codes.contains(*page));
    let mut found: Vec<String> = unexplained
        .map(|code| {
            format!("docs/errors/{code}.md: is missing; write what happened and what to do")
        })
        .chain(
            unused.map(|page| format!("docs/errors/{page}.md: no source has this code; remove it")),
        )
        .collect();
    found.extend(pages.iter().filter_map(|(name, text)| incomplete(name, text)));
    found
}

fn pages() -> BTreeMap<String, String> {
    let Ok(entries) = fs::read_dir(root().join("docs/errors")) else {
        return BTreeMap::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let pages = paths.filter_map(|path| {
        let name = path.file_name()?.to_str()?.strip_suffix(".md")?.to_owned();
        (name != "README").then(|| (name, fs::read_to_string(&path).unwrap()))
    });
    pages.collect()
}

fn incomplete(name: &str, text: &str) -> Option<String> {
    let title = format!("# {name}: ");
    if !text.starts_with(&title) {
        return Some(format!("docs/errors/{name}.md: begin with `{title}` and a title"));
    }
    let sections: Vec<&str> = text.lines().filter(|line| line.starts_with("## ")).collect();
    let wanted = SECTIONS.join(", ");
    (sections != SECTIONS)
        .then(|| format!("docs/errors/{name}.md: has the sections {sections:?}, expected {wanted}"))
}

/// The codes that a text names: `HF` and four digits, and no more of them.
fn codes(text: &str) -> Vec<String> {
    let named = text.match_indices("HF").filter_map(|(at, _)| {
        let code = text.get(at..at + CODE_LENGTH)?;
        let digits = code.bytes().skip(2).all(|byte| byte.is_ascii_digit());
        let ends = !text[at + CODE_LENGTH..].starts_with(|next: char| next.is_ascii_alphanumeric());
        (digits && ends).then(|| code.to_owned())
    });
    named.collect()
}

#[test]
fn a_page_must_say_all() {
    let good = "# HF0001: it broke\n\n## What happened\n\nIt.\n\n## What to do\n\nMend.\n";
    assert_eq!(incomplete("HF0001", good), None);
    assert!(incomplete("HF0002", good).is_some(), "the title of another page");
    assert!(incomplete("HF0001", "# HF0001: it broke\n\n## What happened\n").is_some());
    assert_eq!(codes("\"HF0012: x\" HF00 HF12345 SHF HF0013"), ["HF0012", "HF0013"]);
}
