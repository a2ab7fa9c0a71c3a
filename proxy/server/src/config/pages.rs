//! The pages of the documentation, for tests that hold them to the program.

use std::{fs, path::Path};

/// One page.
pub(crate) struct Page {
    pub name: String,
    pub text: String,
}

/// All pages that people read.
pub(crate) fn all() -> Vec<Page> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["docs", "docs/errors"].map(|folder| fs::read_dir(root.join(folder)).unwrap());
    let listed = folders.into_iter().flatten().map(|entry| entry.unwrap().path());
    let files = listed.filter(|path| path.extension().is_some_and(|it| it == "md"));
    let all = files.chain(["README.md", "ARCHITECTURE.md"].map(|name| root.join(name)));
    all.map(|path| Page {
        name: path.file_name().unwrap().to_string_lossy().into_owned(),
        text: fs::read_to_string(path).unwrap(),
    })
    .collect()
}

impl Page {
    /// Its blocks in a language.
    pub fn blocks(&self, language: &str) -> Vec<&str> {
        let begin = format!("```{language}\n");
        let blocks = self.text.split(begin.as_str()).skip(1);
        blocks.map(|rest| rest.split("```").next().unwrap_or_default()).collect()
    }

    /// What stands between backticks in its sentences, or seems to.
    pub fn spans(&self) -> impl Iterator<Item = &str> {
        self.text.split('`').skip(1).step_by(2)
    }
}
