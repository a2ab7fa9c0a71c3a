//! The attributes of holdfast-sdk: from an `impl` block (or a trait) with handlers to a service
//! that can be served, and a client that can call it.
//!
//! Here is only the parsing of definitions and the writing of code; what the code does is in the
//! SDK. Every refusal says what to write instead, at the place where it is to be written.

mod client;
mod definition;
mod expand;
mod handler;
mod options;
mod together;
mod values;

use definition::{Definition, Kind};
use proc_macro::TokenStream;

/// Makes a service of the `impl` block: every `async fn` in it is a handler.
#[proc_macro_attribute]
pub fn service(options: TokenStream, item: TokenStream) -> TokenStream {
    define(Kind::Service, options, item)
}

/// Makes an object of the `impl` block: every `async fn` in it is a handler of a key.
#[proc_macro_attribute]
pub fn object(options: TokenStream, item: TokenStream) -> TokenStream {
    define(Kind::Object, options, item)
}

/// Makes a workflow of the `impl` block: the `async fn` with a `&WorkflowContext` is its run.
#[proc_macro_attribute]
pub fn workflow(options: TokenStream, item: TokenStream) -> TokenStream {
    define(Kind::Workflow, options, item)
}

/// Goes on with the first of several futures that is ready.
#[proc_macro]
pub fn select(input: TokenStream) -> TokenStream {
    or_error(together::select(input.into()))
}

/// Awaits several futures at the same time, and gives a tuple of what they gave.
#[proc_macro]
pub fn join(input: TokenStream) -> TokenStream {
    or_error(together::join(input.into()))
}

/// Awaits several futures at the same time, up to the first failure.
#[proc_macro]
pub fn try_join(input: TokenStream) -> TokenStream {
    or_error(together::try_join(input.into()))
}

fn or_error(code: syn::Result<proc_macro2::TokenStream>) -> TokenStream {
    code.unwrap_or_else(|error| error.to_compile_error()).into()
}

fn define(kind: Kind, options: TokenStream, item: TokenStream) -> TokenStream {
    let original: proc_macro2::TokenStream = item.clone().into();
    match Definition::parse(kind, options.into(), item.into()) {
        Ok(definition) => expand::expand(&definition).into(),
        Err(error) => {
            // The block itself stays, so that there are no errors but those that matter.
            let original = definition::without_our_attributes(original);
            let error = error.to_compile_error();
            quote::quote! { #original #error }.into()
        }
    }
}
