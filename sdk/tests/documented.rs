//! Every public item has an example that the compiler reads. That each has documentation at all is
//! held by `missing_docs`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use syn::{Attribute, ImplItem, Item, TraitItem, Type, UseTree, Visibility};

#[test]
fn every_public_item_has_an_example() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let root = parsed(&folder.join("lib.rs"));
    let exported = exported(&root);
    assert!(exported.contains("Endpoint") && exported.contains("Ingress"), "{exported:?}");
    let mut looked = Looked { exported, found: vec![], without: vec![] };
    for item in &root {
        looked.at_macro(item);
    }
    for path in files(&folder) {
        let items = parsed(&path);
        // What `testing` says is public is public.
        let all = path.ends_with("testing/mod.rs");
        items.iter().for_each(|item| looked.at(item, all));
    }
    assert!(looked.found.len() > 120, "only these were found: {:?}", looked.found);
    for expected in ["Context::call", "Ask::to", "Double::prove", "Durably::or_timeout", "select"] {
        assert!(looked.found.iter().any(|it| it == expected), "{expected} was not looked at");
    }
    assert!(looked.without.is_empty(), "without an example that compiles: {:#?}", looked.without);
}

struct Looked {
    /// The names that the crate gives away.
    exported: BTreeSet<String>,
    found: Vec<String>,
    without: Vec<String>,
}

impl Looked {
    fn hold(&mut self, name: String, attributes: &[Attribute]) {
        if is_hidden(attributes) {
            return;
        }
        if !has_example(&documentation(attributes)) {
            self.without.push(name.clone());
        }
        self.found.push(name);
    }

    /// A macro is documented where it is given away.
    fn at_macro(&mut self, item: &Item) {
        let Item::Use(given) = item else {
            return;
        };
        if let UseTree::Path(path) = &given.tree
            && path.ident == "holdfast_sdk_macros"
            && let UseTree::Name(name) = &*path.tree
        {
            self.hold(name.ident.to_string(), &given.attrs);
        }
    }

    fn at(&mut self, item: &Item, all: bool) {
        let public = |visibility: &Visibility| matches!(visibility, Visibility::Public(_));
        let (name, visibility, attributes) = match item {
            Item::Struct(it) => (&it.ident, &it.vis, &it.attrs),
            Item::Enum(it) => (&it.ident, &it.vis, &it.attrs),
            Item::Fn(it) => (&it.sig.ident, &it.vis, &it.attrs),
            Item::Type(it) => (&it.ident, &it.vis, &it.attrs),
            Item::Trait(it) => (&it.ident, &it.vis, &it.attrs),
            Item::Impl(block) if block.trait_.is_none() => {
                let Type::Path(ty) = &*block.self_ty else {
                    return;
                };
                let ty = ty.path.segments.last().unwrap().ident.to_string();
                if all || self.exported.contains(&ty) {
                    for item in &block.items {
                        if let ImplItem::Fn(function) = item
                            && public(&function.vis)
                        {
                            let name = format!("{ty}::{}", function.sig.ident);
                            self.hold(name, &function.attrs);
                        }
                    }
                }
                return;
            }
            _ => return,
        };
        if !public(visibility) || !(all || self.exported.contains(&name.to_string())) {
            return;
        }
        self.hold(name.to_string(), attributes);
        if let Item::Trait(it) = item {
            for item in &it.items {
                // What has a body is for those who use the trait.
                if let TraitItem::Fn(function) = item
                    && function.default.is_some()
                {
                    self.hold(format!("{name}::{}", function.sig.ident), &function.attrs);
                }
            }
        }
    }
}

/// The names that `pub use` in the root of the crate gives away.
fn exported(root: &[Item]) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for item in root {
        if let Item::Use(given) = item
            && matches!(given.vis, Visibility::Public(_))
            && !is_hidden(&given.attrs)
        {
            leaves(&given.tree, &mut names);
        }
    }
    names
}

fn leaves(tree: &UseTree, names: &mut BTreeSet<String>) {
    match tree {
        UseTree::Path(path) => leaves(&path.tree, names),
        UseTree::Name(name) => drop(names.insert(name.ident.to_string())),
        UseTree::Rename(name) => drop(names.insert(name.ident.to_string())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| leaves(tree, names)),
        UseTree::Glob(_) => {}
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = vec![];
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

fn parsed(path: &Path) -> Vec<Item> {
    syn::parse_file(&std::fs::read_to_string(path).unwrap()).unwrap().items
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("doc")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "hidden")
    })
}

fn documentation(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter_map(|attribute| {
        let pair = attribute.meta.require_name_value().ok()?;
        match &pair.value {
            syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(line), .. })
                if pair.path.is_ident("doc") =>
            {
                Some(format!("{}\n", line.value().trim()))
            }
            _ => None,
        }
    });
    lines.collect()
}

/// A block of Rust that is compiled at least.
fn has_example(documentation: &str) -> bool {
    let mut fences = documentation.lines().filter_map(|line| line.strip_prefix("```"));
    fences.any(|fence| matches!(fence, "" | "no_run" | "rust" | "should_panic"))
        && !documentation.contains(concat!("```ign", "ore"))
}

#[test]
fn an_example_is_a_block_that_is_compiled() {
    assert!(has_example("Says.\n\n```\nlet one = 1;\n```\n"));
    assert!(has_example("```no_run\nrun();\n```\n"));
    assert!(!has_example("Says `this`."));
}
