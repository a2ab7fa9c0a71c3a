//! One handler: what its signature says.

use crate::definition::Kind;
use crate::options::{Of, Options};
use crate::values::check_handler_name;
use proc_macro2::Span;
use syn::spanned::Spanned;
use syn::{
    Attribute, FnArg, GenericArgument, Ident, PathArguments, Receiver, Result, ReturnType,
    Signature, Type, TypePath, TypeReference,
};

/// One handler.
pub struct Handler {
    pub function: Ident,
    pub name: String,
    pub ty: HandlerType,
    /// The type of its context, as it is written.
    pub context: Type,
    /// Without one it takes `()`.
    pub input: Option<Type>,
    pub output: Type,
    /// Whether it returns a `Result` with the output in it.
    pub fallible: bool,
    pub options: Options,
}

/// How it goes together with others of the same key.
#[derive(Clone, Copy, PartialEq)]
pub enum HandlerType {
    Service,
    Exclusive,
    Shared,
    Run,
}

impl Handler {
    pub fn parse(kind: Kind, signature: &Signature, attributes: &[Attribute]) -> Result<Handler> {
        let mut options = Options::default();
        options.take_documentation(attributes);
        for attribute in attributes.iter().filter(|attribute| is_ours(attribute)) {
            if !matches!(attribute.meta, syn::Meta::Path(_)) {
                attribute.parse_nested_meta(|meta| options.take(Of::Handler, &meta))?;
            }
        }
        no_generics(signature)?;
        let mut inputs = signature.inputs.iter();
        receiver(signature, inputs.next())?;
        let (context, ty) = context(kind, signature, inputs.next())?;
        let input = input(inputs.next())?;
        if let Some(more) = inputs.next() {
            let message = "a handler takes one input; put several values into a struct";
            return Err(syn::Error::new(more.span(), message));
        }
        let (output, fallible) = output(&signature.output);
        let function = signature.ident.clone();
        let name = match &options.name {
            Some(name) => name.clone(),
            None => function.to_string().trim_start_matches("r#").to_owned(),
        };
        check_handler_name(&name).map_err(|message| syn::Error::new(function.span(), message))?;
        check_retentions(ty, &options)?;
        Ok(Handler { function, name, ty, context, input, output, fallible, options })
    }
}

/// Whether an attribute is for us to read and remove.
pub fn is_ours(attribute: &Attribute) -> bool {
    attribute.path().segments.last().is_some_and(|segment| segment.ident == "handler")
}

fn no_generics(signature: &Signature) -> Result<()> {
    if signature.generics.params.is_empty() {
        return Ok(());
    }
    let message = "a handler cannot be generic: callers only know its name";
    Err(syn::Error::new(signature.generics.span(), message))
}

fn receiver(signature: &Signature, first: Option<&FnArg>) -> Result<()> {
    match first {
        Some(FnArg::Receiver(Receiver { reference: Some(_), mutability: None, .. })) => Ok(()),
        other => {
            let span = other.map_or(signature.ident.span(), Spanned::span);
            let message = "a handler takes `&self`: many attempts run at the same time; a function \
                           that is no handler belongs into another `impl` block";
            Err(syn::Error::new(span, message))
        }
    }
}

/// The type of the context, which says what kind of handler it is.
fn context(
    kind: Kind,
    signature: &Signature,
    argument: Option<&FnArg>,
) -> Result<(Type, HandlerType)> {
    let expected = kind.contexts();
    let Some(FnArg::Typed(argument)) = argument else {
        let message = format!(
            "a handler takes its context after `&self`: {expected}; a function that is no handler \
             belongs into another `impl` block"
        );
        return Err(syn::Error::new(signature.ident.span(), message));
    };
    let refuse = |span: Span, what: &str| {
        let message = format!("{what}: {expected}");
        Err(syn::Error::new(span, message))
    };
    let Type::Reference(TypeReference { elem, mutability: None, .. }) = &*argument.ty else {
        return refuse(argument.ty.span(), "the context of a handler is borrowed");
    };
    let Type::Path(TypePath { path, .. }) = &**elem else {
        return refuse(elem.span(), "the first argument of a handler is its context");
    };
    let name = path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
    match kind.handler_type(&name) {
        Some(ty) => Ok(((**elem).clone(), ty)),
        None => {
            let what = format!("`{name}` is not the context of a handler of {}", kind.article());
            refuse(elem.span(), &what)
        }
    }
}

fn input(argument: Option<&FnArg>) -> Result<Option<Type>> {
    let Some(FnArg::Typed(argument)) = argument else {
        return Ok(None);
    };
    match &*argument.ty {
        Type::Reference(borrowed) => {
            let message = "the input of a handler comes from outside and must be owned: take a \
                           `String` in place of a `&str`, a `Vec<T>` in place of a `&[T]`";
            Err(syn::Error::new(borrowed.span(), message))
        }
        ty => Ok(Some(ty.clone())),
    }
}

/// What a handler gives, and whether it may fail.
fn output(output: &ReturnType) -> (Type, bool) {
    let unit = || syn::parse_quote!(());
    let ReturnType::Type(_, ty) = output else {
        return (unit(), false);
    };
    let Type::Path(TypePath { path, .. }) = &**ty else {
        return ((**ty).clone(), false);
    };
    let Some(last) = path.segments.last().filter(|last| last.ident.to_string().ends_with("Result"))
    else {
        return ((**ty).clone(), false);
    };
    let PathArguments::AngleBracketed(arguments) = &last.arguments else {
        return (unit(), true);
    };
    let first = arguments.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty.clone()),
        _ => None,
    });
    (first.unwrap_or_else(unit), true)
}

fn check_retentions(ty: HandlerType, options: &Options) -> Result<()> {
    match (ty, options.idempotency_retention_ms, options.workflow_retention_ms) {
        (HandlerType::Run, Some((_, span)), _) => Err(syn::Error::new(
            span,
            "the run of a workflow runs once for each key by itself; say with `workflow_retention` \
             how long its result is kept",
        )),
        (HandlerType::Run, None, _) | (_, _, None) => Ok(()),
        (_, _, Some((_, span))) => Err(syn::Error::new(
            span,
            "`workflow_retention` is for the run of a workflow, the handler with a \
             `&WorkflowContext`",
        )),
    }
}
