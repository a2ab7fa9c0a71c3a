//! From a definition to its code.

use crate::client;
use crate::definition::{Block, Definition, Kind};
use crate::handler::{Handler, HandlerType};
use crate::options::{Options, Retry};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::{ItemImpl, ItemTrait, TraitItem, Type};

/// All code of a definition.
pub fn expand(definition: &Definition) -> TokenStream {
    let sdk = sdk(definition);
    let describe = describe(&sdk, definition);
    let served = match &definition.block {
        Block::Impl(block) => serve_impl(&sdk, definition, block, &describe),
        Block::Trait(block) => serve_trait(&sdk, definition, block, &describe),
    };
    let client = client::client(&sdk, definition);
    quote! { #served #client }
}

fn sdk(definition: &Definition) -> TokenStream {
    match &definition.options.sdk {
        Some(path) => quote! { #path },
        None => quote! { ::holdfast_sdk },
    }
}

fn serve_impl(
    sdk: &TokenStream,
    definition: &Definition,
    block: &ItemImpl,
    describe: &TokenStream,
) -> TokenStream {
    let (generics, _, bounds) = block.generics.split_for_impl();
    let ty = &block.self_ty;
    let handle = handle(sdk, definition, |handler| {
        let function = &handler.function;
        (quote! { <#ty>::#function }, quote! { __service })
    });
    quote! {
        #block

        impl #generics #sdk::Service for #ty #bounds {
            #describe
            #handle
        }
    }
}

/// A trait is served by a wrapper around what implements it.
fn serve_trait(
    sdk: &TokenStream,
    definition: &Definition,
    block: &ItemTrait,
    describe: &TokenStream,
) -> TokenStream {
    let mut block = block.clone();
    for item in &mut block.items {
        if let TraitItem::Fn(function) = item
            && function.sig.asyncness.take().is_some()
        {
            let output = match &function.sig.output {
                syn::ReturnType::Default => quote! { () },
                syn::ReturnType::Type(_, ty) => quote! { #ty },
            };
            function.sig.output = syn::parse_quote! {
                -> impl ::core::future::Future<Output = #output> + ::core::marker::Send
            };
            if let Some(body) = &mut function.default {
                *body = syn::parse_quote! { { async move #body } };
            }
        }
    }
    for bound in [
        syn::parse_quote! { ::core::marker::Send },
        syn::parse_quote! { ::core::marker::Sync },
        syn::parse_quote! { 'static },
    ] {
        block.supertraits.push(bound);
    }
    let (ident, visibility) = (&block.ident, &block.vis);
    let wrapper = format_ident!("{ident}Service");
    let documentation = format!("Serves what implements [`{ident}`].");
    let handle = handle(sdk, definition, |handler| {
        let function = &handler.function;
        (quote! { <__T as #ident>::#function }, quote! { &__service.0 })
    });
    quote! {
        #block

        #[doc = #documentation]
        #visibility struct #wrapper<T>(
            /// What implements the handlers.
            pub T,
        );

        impl<__T: #ident> #sdk::Service for #wrapper<__T> {
            #describe
            #handle
        }
    }
}

/// `called` gives the function that is called, and what it is called on.
fn handle(
    sdk: &TokenStream,
    definition: &Definition,
    called: impl Fn(&Handler) -> (TokenStream, TokenStream),
) -> TokenStream {
    let arms = definition.handlers.iter().enumerate().map(|(at, handler)| {
        let (context, input) = (&handler.context, input_type(handler));
        let output = &handler.output;
        let (function, service) = called(handler);
        let called = match &handler.input {
            Some(_) => quote! { #function(#service, __context, __input) },
            None => quote! { #function(#service, __context) },
        };
        let input_name = match &handler.input {
            Some(_) => quote! { __input },
            None => quote! { (): () },
        };
        let result = match handler.fallible {
            true => quote! { #sdk::generated::result(#called.await) },
            false => quote! { ::core::result::Result::Ok(#called.await) },
        };
        quote! {
            #at => ::std::boxed::Box::pin(async move {
                let __context =
                    <#context as #sdk::generated::FromContext>::from_context(__context);
                let (__context, __service) = (&__context, &*__service);
                #sdk::generated::run::<#input, #output, _>(
                    __context,
                    __bytes,
                    |#input_name| async move { #result },
                )
                .await
            }),
        }
    });
    quote! {
        fn handle(
            self: ::std::sync::Arc<Self>,
            __handler: usize,
            __context: #sdk::Context,
            __bytes: #sdk::generated::Bytes,
        ) -> #sdk::Running {
            let __service = self;
            match __handler {
                #(#arms)*
                _ => ::core::unreachable!("handlers are given by their place in the description"),
            }
        }
    }
}

fn describe(sdk: &TokenStream, definition: &Definition) -> TokenStream {
    let name = &definition.name;
    let ty = match definition.kind {
        Kind::Service => quote! { Service },
        Kind::Object => quote! { VirtualObject },
        Kind::Workflow => quote! { Workflow },
    };
    let options = options(sdk, &definition.options);
    let handlers = definition.handlers.iter().map(|handler| describe_handler(sdk, handler));
    quote! {
        fn describe() -> #sdk::generated::manifest::Service {
            // Which of them answers depends on the type.
            # [allow (unused_imports)]
            use #sdk::generated::{DescribeAny as _, DescribePlain as _, DescribeSchema as _};
            #sdk::generated::manifest::Service {
                name: ::std::string::String::from(#name),
                ty: #sdk::generated::manifest::ServiceType::#ty,
                options: #options,
                handlers: ::std::vec![#(#handlers),*],
            }
        }
    }
}

fn describe_handler(sdk: &TokenStream, handler: &Handler) -> TokenStream {
    let name = &handler.name;
    let ty = match handler.ty {
        HandlerType::Service => quote! { Service },
        HandlerType::Exclusive => quote! { Exclusive },
        HandlerType::Shared => quote! { Shared },
        HandlerType::Run => quote! { Workflow },
    };
    let (input, output) = (input_type(handler), &handler.output);
    let required = !is_option(&input);
    let retention = some(handler.options.workflow_retention_ms.map(|(ms, _)| ms));
    let options = options(sdk, &handler.options);
    let describe = |ty: &Type| {
        quote! { (&&&#sdk::generated::Describe::<#ty>(::core::marker::PhantomData)).describe() }
    };
    let (input, output) = (describe(&input), describe(output));
    quote! {
        #sdk::generated::manifest::Handler {
            name: ::std::string::String::from(#name),
            ty: #sdk::generated::manifest::HandlerType::#ty,
            input: #input.input(#required),
            output: #output.output(),
            workflow_completion_retention_ms: #retention,
            options: #options,
        }
    }
}

fn options(sdk: &TokenStream, options: &Options) -> TokenStream {
    let documentation = match &options.documentation {
        Some(text) => quote! { ::core::option::Option::Some(::std::string::String::from(#text)) },
        None => quote! { ::core::option::Option::None },
    };
    let metadata = options.metadata.iter().map(|(key, value)| {
        quote! { (::std::string::String::from(#key), ::std::string::String::from(#value)) }
    });
    let inactivity = some(options.inactivity_timeout_ms);
    let abort = some(options.abort_timeout_ms);
    let journal = some(options.journal_retention_ms);
    let idempotency = some(options.idempotency_retention_ms.map(|(ms, _)| ms));
    let lazy = some(options.lazy_state);
    let private = some(options.private);
    let retry = retry(sdk, &options.retry);
    quote! {
        #sdk::generated::manifest::Options {
            documentation: #documentation,
            metadata: ::core::iter::IntoIterator::into_iter([#(#metadata),*])
                .collect::<::std::collections::BTreeMap<
                    ::std::string::String,
                    ::std::string::String,
                >>(),
            inactivity_timeout_ms: #inactivity,
            abort_timeout_ms: #abort,
            journal_retention_ms: #journal,
            idempotency_retention_ms: #idempotency,
            enable_lazy_state: #lazy,
            ingress_private: #private,
            retry: #retry,
        }
    }
}

fn retry(sdk: &TokenStream, retry: &Retry) -> TokenStream {
    let initial = some(retry.initial_interval_ms);
    let max = some(retry.max_interval_ms);
    let factor = some(retry.factor);
    let attempts = some(retry.max_attempts);
    let on_max = match retry.pause_on_max_attempts {
        None => quote! { ::core::option::Option::None },
        Some(pause) => {
            let what = if pause {
                quote! { Pause }
            } else {
                quote! { Kill }
            };
            quote! {
                ::core::option::Option::Some(#sdk::generated::manifest::OnMaxAttempts::#what)
            }
        }
    };
    quote! {
        #sdk::generated::manifest::RetryPolicy {
            initial_interval_ms: #initial,
            max_interval_ms: #max,
            max_attempts: #attempts,
            exponentiation_factor: #factor,
            on_max_attempts: #on_max,
        }
    }
}

fn some(value: Option<impl quote::ToTokens>) -> TokenStream {
    match value {
        Some(value) => quote! { ::core::option::Option::Some(#value) },
        None => quote! { ::core::option::Option::None },
    }
}

pub fn input_type(handler: &Handler) -> Type {
    handler.input.clone().unwrap_or_else(|| syn::parse_quote!(()))
}

/// Whether callers may leave the input out.
fn is_option(ty: &Type) -> bool {
    match ty {
        Type::Path(ty) => ty.path.segments.last().is_some_and(|last| last.ident == "Option"),
        _ => false,
    }
}
