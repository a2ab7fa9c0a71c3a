//! Several futures at once: `select!`, `join!`, `try_join!`.
//!
//! All poll in the order in which they are written, never in a random one: with durable futures the
//! outcome is then the same in every attempt.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, Ident, Pat, Result, Token};

/// `pattern = future => what to do`.
struct Arm {
    pattern: Pat,
    future: Expr,
    body: Expr,
}

impl Parse for Arm {
    fn parse(input: ParseStream<'_>) -> Result<Arm> {
        let pattern = Pat::parse_multi_with_leading_vert(input)?;
        input.parse::<Token![=]>()?;
        let future = input.parse()?;
        input.parse::<Token![=>]>()?;
        let body = if input.peek(syn::token::Brace) {
            Expr::Block(syn::ExprBlock { attrs: vec![], label: None, block: input.parse()? })
        } else {
            input.parse()?
        };
        if input.peek(Token![,]) {
            input.parse::<Token![,]>()?;
        }
        Ok(Arm { pattern, future, body })
    }
}

struct Arms(Vec<Arm>);

impl Parse for Arms {
    fn parse(input: ParseStream<'_>) -> Result<Arms> {
        let mut arms = vec![];
        while !input.is_empty() {
            arms.push(input.parse()?);
        }
        match arms.is_empty() {
            false => Ok(Arms(arms)),
            true => Err(input.error("expected at least one arm: `result = future => what to do`")),
        }
    }
}

pub fn select(input: TokenStream) -> Result<TokenStream> {
    let Arms(arms) = syn::parse2(input)?;
    let variants: Vec<Ident> = (0..arms.len()).map(|at| format_ident!("Arm{at}")).collect();
    let futures: Vec<Ident> = (0..arms.len()).map(|at| format_ident!("__future_{at}")).collect();
    let made = arms.iter().zip(&futures).map(|(Arm { future, .. }, name)| {
        quote! {
            let mut #name = ::core::pin::pin!(::core::future::IntoFuture::into_future(#future));
        }
    });
    let bodies = arms.iter().zip(&variants).map(|(Arm { pattern, body, .. }, variant)| {
        quote! { __First::#variant(#pattern) => #body, }
    });
    Ok(quote! {{
        enum __First<#(#variants),*> { #(#variants(#variants)),* }
        // The futures end before what is done with the result of the first begins.
        let __first = {
            #(#made)*
            ::core::future::poll_fn(|__task| {
                #(
                    if let ::core::task::Poll::Ready(__result) =
                        ::core::future::Future::poll(#futures.as_mut(), __task)
                    {
                        return ::core::task::Poll::Ready(__First::#variants(__result));
                    }
                )*
                ::core::task::Poll::Pending
            })
            .await
        };
        match __first { #(#bodies)* }
    }})
}

pub fn join(input: TokenStream) -> Result<TokenStream> {
    let (made, polls, names) = joined(input)?;
    Ok(quote! {{
        #made
        ::core::future::poll_fn(|__task| {
            let mut __all = true;
            #polls
            match __all {
                true => ::core::task::Poll::Ready((#(#names.take().expect("it is ready"),)*)),
                false => ::core::task::Poll::Pending,
            }
        })
        .await
    }})
}

pub fn try_join(input: TokenStream) -> Result<TokenStream> {
    let (made, polls, names) = joined(input)?;
    Ok(quote! {{
        #made
        ::core::future::poll_fn(|__task| {
            let mut __all = true;
            #polls
            #(
                if let ::core::option::Option::Some(::core::result::Result::Err(_)) = &#names
                    && let ::core::option::Option::Some(::core::result::Result::Err(__error)) =
                        #names.take()
                {
                    return ::core::task::Poll::Ready(::core::result::Result::Err(__error));
                }
            )*
            if !__all {
                return ::core::task::Poll::Pending;
            }
            ::core::task::Poll::Ready(::core::result::Result::Ok((#(
                match #names.take() {
                    ::core::option::Option::Some(::core::result::Result::Ok(__value)) => __value,
                    _ => ::core::unreachable!("it is ready and no failure"),
                },
            )*)))
        })
        .await
    }})
}

/// Code that makes the futures, code that polls those that are not ready, and the names of their
/// results.
fn joined(input: TokenStream) -> Result<(TokenStream, TokenStream, Vec<Ident>)> {
    let futures = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(input)?;
    let names: Vec<Ident> = (0..futures.len()).map(|at| format_ident!("__result_{at}")).collect();
    let pinned: Vec<Ident> = (0..futures.len()).map(|at| format_ident!("__future_{at}")).collect();
    let futures = futures.iter();
    let made = quote! {
        #(
            let mut #pinned = ::core::pin::pin!(::core::future::IntoFuture::into_future(#futures));
            let mut #names = ::core::option::Option::None;
        )*
    };
    let polls = quote! {
        #(
            if #names.is_none() {
                match ::core::future::Future::poll(#pinned.as_mut(), __task) {
                    ::core::task::Poll::Ready(__result) => {
                        #names = ::core::option::Option::Some(__result);
                    }
                    ::core::task::Poll::Pending => __all = false,
                }
            }
        )*
    };
    Ok((made, polls, names))
}
