//! What those are told who write a definition wrongly, by the definitions in `refused/`.

use crate::definition::{Definition, Kind};
use expect_test::expect_file;
use std::fs;
use std::path::Path;
use syn::{Attribute, Item, Meta};

#[test]
fn definitions_that_are_wrong_are_told_what_to_write() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("refused");
    let mut said = String::new();
    let mut files: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for path in files.iter().filter(|path| path.extension().is_some_and(|it| it == "rs")) {
        let file = syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap();
        said.push_str(&format!("{}\n", path.file_name().unwrap().to_string_lossy()));
        for item in file.items {
            said.extend(refusal(item).map(|refusal| format!("  {refusal}\n")));
        }
    }
    expect_file![folder.join("expected.txt")].assert_eq(&said);
}

/// What is said about an item with one of our attributes.
fn refusal(item: Item) -> Option<String> {
    let Item::Impl(mut block) = item else {
        return None;
    };
    let (kind, options) = block.attrs.iter().find_map(attribute)?;
    block.attrs.clear();
    let refused = Definition::parse(kind, options, quote::quote! { #block });
    Some(refused.err().map_or_else(|| "is taken".to_owned(), |error| error.to_string()))
}

fn attribute(attribute: &Attribute) -> Option<(Kind, proc_macro2::TokenStream)> {
    let kind = match attribute.path().get_ident()?.to_string().as_str() {
        "service" => Kind::Service,
        "object" => Kind::Object,
        "workflow" => Kind::Workflow,
        _ => return None,
    };
    match &attribute.meta {
        Meta::List(list) => Some((kind, list.tokens.clone())),
        _ => Some((kind, proc_macro2::TokenStream::new())),
    }
}
