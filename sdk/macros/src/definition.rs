//! A whole definition: the block, its options, its handlers.

use crate::handler::{Handler, HandlerType, is_ours};
use crate::options::{Of, Options};
use crate::values::check_service_name;
use proc_macro2::TokenStream;
use quote::ToTokens;
use syn::parse::Parser;
use syn::spanned::Spanned;
use syn::{Ident, ImplItem, Item, ItemImpl, ItemTrait, Result, TraitItem, Type};

/// What is being defined.
#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Service,
    Object,
    Workflow,
}

impl Kind {
    /// With its article, in a sentence.
    pub fn article(self) -> &'static str {
        match self {
            Kind::Service => "a service",
            Kind::Object => "an object",
            Kind::Workflow => "a workflow",
        }
    }

    /// Which contexts its handlers take.
    pub fn contexts(self) -> &'static str {
        match self {
            Kind::Service => "expected `ctx: &Context`",
            Kind::Object => {
                "expected `ctx: &ObjectContext` for one at a time for each key, or \
                 `ctx: &SharedObjectContext` to only read its state beside the others"
            }
            Kind::Workflow => {
                "expected `ctx: &WorkflowContext` for the run, or `ctx: &SharedWorkflowContext` for \
                 the handlers beside it"
            }
        }
    }

    /// What a handler with that context is.
    pub fn handler_type(self, context: &str) -> Option<HandlerType> {
        match (self, context) {
            (Kind::Service, "Context") => Some(HandlerType::Service),
            (Kind::Object, "ObjectContext") => Some(HandlerType::Exclusive),
            (Kind::Object, "SharedObjectContext") => Some(HandlerType::Shared),
            (Kind::Workflow, "WorkflowContext") => Some(HandlerType::Run),
            (Kind::Workflow, "SharedWorkflowContext") => Some(HandlerType::Shared),
            _ => None,
        }
    }
}

/// The block that was written.
pub enum Block {
    Impl(ItemImpl),
    Trait(ItemTrait),
}

/// A definition that can be made into code.
pub struct Definition {
    pub kind: Kind,
    /// The name of the type or trait, from which other names are made.
    pub ident: Ident,
    pub name: String,
    pub options: Options,
    pub handlers: Vec<Handler>,
    /// Without the attributes that are for us.
    pub block: Block,
}

impl Definition {
    pub fn parse(kind: Kind, options: TokenStream, item: TokenStream) -> Result<Definition> {
        let mut parsed = Options::default();
        let parser = syn::meta::parser(|meta| parsed.take(Of::Service, &meta));
        Parser::parse2(parser, options)?;
        let mut block = match syn::parse2::<Item>(item)? {
            Item::Impl(block) => Block::Impl(block),
            Item::Trait(block) => Block::Trait(block),
            other => {
                let message = "expected the `impl` block with the handlers, or a trait";
                return Err(syn::Error::new(other.span(), message));
            }
        };
        let ident = block.ident()?;
        parsed.take_documentation(block.attributes());
        let handlers = block.handlers(kind)?;
        let name = parsed.name.clone().unwrap_or_else(|| ident.to_string());
        check_service_name(&name).map_err(|message| syn::Error::new(ident.span(), message))?;
        check_handlers(kind, &ident, &handlers)?;
        block.remove_our_attributes();
        Ok(Definition { kind, ident, name, options: parsed, handlers, block })
    }
}

fn check_handlers(kind: Kind, ident: &Ident, handlers: &[Handler]) -> Result<()> {
    let Some(first) = handlers.first() else {
        let message = format!(
            "{} needs at least one handler: an `async fn` with `&self` and its context, {}",
            kind.article(),
            kind.contexts()
        );
        return Err(syn::Error::new(ident.span(), message));
    };
    for (at, handler) in handlers.iter().enumerate() {
        if handlers[..at].iter().any(|other| other.name == handler.name) {
            let message = format!("there are two handlers of the name `{}`", handler.name);
            return Err(syn::Error::new(handler.function.span(), message));
        }
    }
    let mut runs = handlers.iter().filter(|handler| handler.ty == HandlerType::Run);
    match (kind, runs.next(), runs.next()) {
        (Kind::Workflow, None, _) => Err(syn::Error::new(
            first.function.span(),
            "a workflow needs a run: one handler with `ctx: &WorkflowContext`",
        )),
        (_, _, Some(second)) => Err(syn::Error::new(
            second.function.span(),
            "a workflow has one run; handlers beside it take `ctx: &SharedWorkflowContext`",
        )),
        _ => Ok(()),
    }
}

impl Block {
    fn ident(&self) -> Result<Ident> {
        match self {
            Block::Trait(block) => Ok(block.ident.clone()),
            Block::Impl(block) => {
                if let Some((_, path, _)) = &block.trait_ {
                    let message = "put the attribute on the trait itself, or on an `impl` block \
                                   without a trait";
                    return Err(syn::Error::new(path.span(), message));
                }
                match &*block.self_ty {
                    Type::Path(ty) if let Some(last) = ty.path.segments.last() => {
                        Ok(last.ident.clone())
                    }
                    other => Err(syn::Error::new(other.span(), "expected the name of a type")),
                }
            }
        }
    }

    fn attributes(&self) -> &[syn::Attribute] {
        match self {
            Block::Impl(block) => &block.attrs,
            Block::Trait(block) => &block.attrs,
        }
    }

    /// Every `async fn`, and whatever is marked as a handler.
    fn handlers(&self, kind: Kind) -> Result<Vec<Handler>> {
        let functions: Vec<_> = match self {
            Block::Impl(block) => {
                let functions = block.items.iter().filter_map(|item| match item {
                    ImplItem::Fn(function) => Some((&function.sig, &function.attrs)),
                    _ => None,
                });
                functions.collect()
            }
            Block::Trait(block) => {
                let functions = block.items.iter().filter_map(|item| match item {
                    TraitItem::Fn(function) => Some((&function.sig, &function.attrs)),
                    _ => None,
                });
                functions.collect()
            }
        };
        let mut handlers = vec![];
        for (signature, attributes) in functions {
            let marked = attributes.iter().any(is_ours);
            if signature.asyncness.is_some() {
                handlers.push(Handler::parse(kind, signature, attributes)?);
            } else if marked {
                let message = "a handler is an `async fn`";
                return Err(syn::Error::new(signature.fn_token.span(), message));
            }
        }
        Ok(handlers)
    }

    fn remove_our_attributes(&mut self) {
        match self {
            Block::Impl(block) => block.items.iter_mut().for_each(|item| {
                if let ImplItem::Fn(function) = item {
                    function.attrs.retain(|attribute| !is_ours(attribute));
                }
            }),
            Block::Trait(block) => block.items.iter_mut().for_each(|item| {
                if let TraitItem::Fn(function) = item {
                    function.attrs.retain(|attribute| !is_ours(attribute));
                }
            }),
        }
    }
}

/// The block as it was written, but for the attributes that only we understand.
pub fn without_our_attributes(item: TokenStream) -> TokenStream {
    let mut block = match syn::parse2::<Item>(item.clone()) {
        Ok(Item::Impl(block)) => Block::Impl(block),
        Ok(Item::Trait(block)) => Block::Trait(block),
        _ => return item,
    };
    block.remove_our_attributes();
    match block {
        Block::Impl(block) => block.into_token_stream(),
        Block::Trait(block) => block.into_token_stream(),
    }
}
