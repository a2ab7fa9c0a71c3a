//! The settings that the documentation names are settings: in its TOML, in `--set`, in the
//! environment and in its sentences.

use super::*;
use crate::config::{
    load,
    pages::{self, Page},
};
use std::collections::BTreeSet;

#[test]
fn files_in_the_documentation_are_configuration_files() {
    let mut read = 0;
    for page in pages::all() {
        for block in page.blocks("toml") {
            // What stands for a secret may stand for its hash.
            let block = block.replace("\"…\"", &format!("\"{}\"", "0".repeat(64)));
            let config: Config = toml::from_str(&block)
                .unwrap_or_else(|error| panic!("{}: {error}\n{block}", page.name));
            load::check(config).unwrap_or_else(|error| panic!("{}: {error}\n{block}", page.name));
            read += 1;
        }
    }
    assert!(read >= 5, "only {read} were found");
}

/// Whether there is such a setting or section, whatever may stand in it.
fn is_known(key: &str) -> bool {
    let mut alone = Table::new();
    set(&mut alone, key, Value::Boolean(true)).unwrap();
    let read = Value::Table(alone).try_into::<Config>();
    read.err().is_none_or(|error| {
        let why = error.message();
        let beneath_a_value = why.contains("invalid type: map") && !why.contains("a sequence");
        !why.contains("unknown field") && !beneath_a_value
    })
}

/// What a page says are settings: `--set KEY=…`, `HOLDFAST__KEY`, and between backticks a dotted
/// name that begins with the name of a section.
fn named(page: &Page, sections: &BTreeSet<String>) -> Vec<String> {
    let is_of_key = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "._".contains(c);
    let flags = page.text.split("--set ").skip(1).filter_map(|rest| {
        let (key, _) = rest.split_once('=')?;
        (key.contains('.') && key.chars().all(is_of_key)).then(|| key.to_owned())
    });
    let variables = page.text.split(PREFIX).skip(1).map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_uppercase() && !c.is_ascii_digit() && c != '_');
        rest[..end.unwrap_or(rest.len())].to_lowercase().replace("__", ".")
    });
    let spans = page.spans().filter_map(|span| {
        let key = span.split([' ', '=']).next()?;
        let (section, _) = key.split_once('.')?;
        let is_key = sections.contains(section) && key.chars().all(is_of_key);
        (is_key && !key.ends_with('.') && !key.ends_with(".rs")).then(|| key.to_owned())
    });
    flags.chain(variables.filter(|key| !key.is_empty())).chain(spans).collect()
}

#[test]
fn settings_in_the_documentation_are_settings() {
    let sections = toml::from_str::<Table>(&Config::default().to_toml()).unwrap();
    let sections: BTreeSet<String> = sections.keys().cloned().collect();
    let mut all = BTreeSet::new();
    for page in pages::all() {
        for key in named(&page, &sections) {
            assert!(is_known(&key), "{}: there is no setting `{key}`", page.name);
            all.insert(key);
        }
    }
    assert!(all.len() > 30, "only these were found: {all:?}");
    assert!(all.contains("partition.inline_turns"), "{all:?}");
    assert!(!is_known("partition.nonsense") && !is_known("partition.partitions.x"));
}
