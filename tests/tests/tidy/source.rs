//! The Rust files of the repository as tidy looks at them.

use super::root;
use std::fs;
use std::path::Path;

/// The folders that hold our source.
const PLACES: [&str; 6] = ["benches", "examples", "fuzz", "proxy", "sdk", "tests"];

/// One file.
pub struct Source {
    /// From the root of the repository, with forward slashes.
    pub path: String,
    pub text: String,
    /// It holds nothing but tests and what they need.
    pub is_test: bool,
}

/// All Rust files of ours.
pub fn all() -> Vec<Source> {
    let found: Vec<Source> = PLACES.iter().flat_map(|place| under(place)).collect();
    assert!(found.len() > 20, "tidy looks in the wrong place: it found {} files", found.len());
    found
}

/// The Rust files below a folder, in order; none if there is no such folder.
pub fn under(folder: &str) -> Vec<Source> {
    let mut found = vec![];
    collect(&root().join(folder), &mut found);
    found.sort_by(|one, other| one.path.cmp(&other.path));
    let only_for_tests: Vec<String> = found.iter().flat_map(modules_for_tests).collect();
    for source in &mut found {
        let module = source.path.trim_end_matches(".rs").trim_end_matches("/mod");
        let within = |test: &String| module == test || module.starts_with(&format!("{test}/"));
        source.is_test |= only_for_tests.iter().any(within);
    }
    found
}

fn collect(folder: &Path, found: &mut Vec<Source>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for entry in entries {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("target") {
            collect(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            let path = path.strip_prefix(root()).unwrap();
            let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
            let is_test = parts.iter().any(|part| part == "tests" || part == "benches");
            found.push(Source { path: parts.join("/"), text, is_test });
        }
    }
}

/// The modules in files of their own that a file declares for tests only, as paths without `.rs`.
fn modules_for_tests(source: &Source) -> Vec<String> {
    let (folder, file) = source.path.rsplit_once('/').unwrap_or_default();
    let own = file.trim_end_matches(".rs");
    let within = match own {
        "mod" | "lib" | "main" => folder.to_owned(),
        _ => format!("{folder}/{own}"),
    };
    let declared = source.text.split("#[cfg(test)]\n").skip(1).filter_map(|rest| {
        let (_, name) = rest.lines().next()?.split_once("mod ")?;
        name.strip_suffix(';')
    });
    declared.map(|name| format!("{within}/{name}")).collect()
}

impl Source {
    /// Written by a generator; another test holds it against what it is made from.
    pub fn is_generated(&self) -> bool {
        self.path.contains("generated")
    }

    /// The lines before what is for tests at the end of the file.
    pub fn without_tests(&self) -> &str {
        let opens = |(at, mark): &(usize, &str)| {
            let line = self.text[at + mark.len()..].lines().next();
            line.is_some_and(|line| line.ends_with('{'))
        };
        match self.text.match_indices("\n#[cfg(test)]\n").find(opens) {
            Some((tests, _)) => &self.text[..=tests],
            None => &self.text,
        }
    }

    /// The lines before the tests, without what is said in comments.
    pub fn code(&self) -> String {
        self.without_tests().lines().map(|line| format!("{}\n", before_comment(line))).collect()
    }
}

/// Cuts a comment off; an address such as `http://` in a string is none.
fn before_comment(line: &str) -> &str {
    let comment = line.match_indices("//").find(|(at, _)| !line[..*at].ends_with(':'));
    comment.map_or(line, |(at, _)| &line[..at])
}
