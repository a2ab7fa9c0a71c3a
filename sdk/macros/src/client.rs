//! The client of a definition: requests that can be made from handlers and from outside.

use crate::definition::{Definition, Kind};
use crate::handler::Handler;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::Type;

pub fn client(sdk: &TokenStream, definition: &Definition) -> TokenStream {
    let client = format_ident!("{}Client", definition.ident);
    let documentation = format!("Requests to `{}`, to be made or sent.", definition.name);
    let keyed = definition.kind != Kind::Service;
    let methods = definition.handlers.iter().map(|handler| method(sdk, definition, handler, keyed));
    let (fields, of_key) = match keyed {
        false => (quote! { ; }, quote! {}),
        true => (
            quote! { { key: ::std::string::String } },
            quote! {
                /// Requests to the one with this key.
                pub fn new(key: impl ::core::convert::Into<::std::string::String>) -> Self {
                    Self { key: key.into() }
                }
            },
        ),
    };
    quote! {
        #[doc = #documentation]
        #[derive(Clone, Debug)]
        # [allow (dead_code)]
        pub struct #client #fields

        # [allow (dead_code, private_interfaces)]
        impl #client {
            #of_key
            #(#methods)*
        }
    }
}

fn method(
    sdk: &TokenStream,
    definition: &Definition,
    handler: &Handler,
    keyed: bool,
) -> TokenStream {
    let (service, name) = (&definition.name, &handler.name);
    let (function, output) = (&handler.function, &handler.output);
    let documentation = match &handler.options.documentation {
        Some(documentation) => documentation.clone(),
        None => format!("A request to `{name}`."),
    };
    let (parameter, input) = match &handler.input {
        None => (quote! {}, quote! { &() }),
        Some(ty) if is_string(ty) => (
            quote! { input: impl ::core::convert::Into<::std::string::String> },
            quote! { &::core::convert::Into::<::std::string::String>::into(input) },
        ),
        Some(ty) => (quote! { input: #ty }, quote! { &input }),
    };
    let (receiver, with_key) = match keyed {
        true => (quote! { &self, }, quote! { .key(self.key.as_str()) }),
        false => (quote! {}, quote! {}),
    };
    quote! {
        #[doc = #documentation]
        pub fn #function(#receiver #parameter) -> #sdk::Request<#output> {
            #sdk::Request::new(#service, #name, #input) #with_key
        }
    }
}

fn is_string(ty: &Type) -> bool {
    match ty {
        Type::Path(ty) => ty.path.is_ident("String"),
        _ => false,
    }
}
