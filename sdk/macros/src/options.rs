//! What can stand in the brackets of `#[service(…)]` and `#[handler(…)]`.

use crate::values::{check_handler_name, check_service_name, millis};
use proc_macro2::Span;
use syn::meta::ParseNestedMeta;
use syn::{Attribute, Expr, ExprLit, LitBool, LitFloat, LitInt, LitStr, Meta, Path, Result, Token};

/// Whether the options are those of a service or of a handler.
#[derive(Clone, Copy, PartialEq)]
pub enum Of {
    Service,
    Handler,
}

/// All options; what is not set is `None`.
#[derive(Default)]
pub struct Options {
    pub name: Option<String>,
    pub documentation: Option<String>,
    /// In the order in which they were written.
    pub metadata: Vec<(String, String)>,
    pub inactivity_timeout_ms: Option<u64>,
    pub abort_timeout_ms: Option<u64>,
    pub journal_retention_ms: Option<u64>,
    pub idempotency_retention_ms: Option<(u64, Span)>,
    pub workflow_retention_ms: Option<(u64, Span)>,
    pub lazy_state: Option<bool>,
    pub private: Option<bool>,
    pub retry: Retry,
    /// Where the SDK is found, if not as `::holdfast_sdk`.
    pub sdk: Option<Path>,
}

/// How attempts are repeated.
#[derive(Default)]
pub struct Retry {
    pub initial_interval_ms: Option<u64>,
    pub max_interval_ms: Option<u64>,
    pub factor: Option<f64>,
    pub max_attempts: Option<u64>,
    /// True: pause; false: kill.
    pub pause_on_max_attempts: Option<bool>,
}

const KNOWN: &str = "expected name, inactivity_timeout, abort_timeout, journal_retention, \
                     idempotency_retention, lazy_state, private, retry(…), metadata(…), expose, tool, agent, \
                     skill, title, description";
const KNOWN_RETRY: &str =
    "expected initial_interval, max_interval, factor, max_attempts or on_max_attempts";

impl Options {
    /// Takes one option.
    pub fn take(&mut self, of: Of, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let Some(option) = meta.path.get_ident() else {
            return Err(meta.error(KNOWN));
        };
        match option.to_string().as_str() {
            "name" => self.name = Some(name(of, &meta.value()?.parse()?)?),
            "inactivity_timeout" => self.inactivity_timeout_ms = Some(duration(meta)?),
            "abort_timeout" => self.abort_timeout_ms = Some(duration(meta)?),
            "journal_retention" => self.journal_retention_ms = Some(duration(meta)?),
            "idempotency_retention" => {
                self.idempotency_retention_ms = Some((duration(meta)?, option.span()));
            }
            "workflow_retention" if of == Of::Handler => {
                self.workflow_retention_ms = Some((duration(meta)?, option.span()));
            }
            "lazy_state" => self.lazy_state = Some(flag(meta)?),
            "private" => self.private = Some(flag(meta)?),
            "retry" => meta.parse_nested_meta(|meta| self.retry.take(&meta))?,
            "crate" if of == Of::Service => self.sdk = Some(meta.value()?.parse()?),
            "metadata" => self.take_metadata(meta)?,
            known @ ("expose" | "tool" | "agent" | "skill" | "title" | "description") => {
                let value: LitStr = meta.value()?.parse()?;
                self.metadata.push((format!("holdfast.{known}"), value.value()));
            }
            unknown => return Err(meta.error(format!("there is no option `{unknown}`; {KNOWN}"))),
        }
        Ok(())
    }

    /// `metadata("key" = "value", …)`, as sidecars read it.
    fn take_metadata(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let content;
        syn::parenthesized!(content in meta.input);
        while !content.is_empty() {
            let key: LitStr = content.parse()?;
            content.parse::<Token![=]>()?;
            let value: LitStr = content.parse()?;
            self.metadata.push((key.value(), value.value()));
            if !content.is_empty() {
                content.parse::<Token![,]>()?;
            }
        }
        Ok(())
    }

    /// Takes the lines of `///`.
    pub fn take_documentation(&mut self, attributes: &[Attribute]) {
        let lines: Vec<String> = attributes.iter().filter_map(line).collect();
        if !lines.is_empty() {
            self.documentation = Some(lines.join("\n").trim().to_owned());
        }
    }
}

impl Retry {
    fn take(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        let Some(option) = meta.path.get_ident() else {
            return Err(meta.error(KNOWN_RETRY));
        };
        match option.to_string().as_str() {
            "initial_interval" => self.initial_interval_ms = Some(duration(meta)?),
            "max_interval" => self.max_interval_ms = Some(duration(meta)?),
            "factor" => self.factor = Some(number(meta)?),
            "max_attempts" => {
                self.max_attempts = Some(meta.value()?.parse::<LitInt>()?.base10_parse()?);
            }
            "on_max_attempts" => {
                let value: LitStr = meta.value()?.parse()?;
                self.pause_on_max_attempts = Some(match value.value().as_str() {
                    "pause" => true,
                    "kill" => false,
                    _ => {
                        let message = "expected \"pause\" or \"kill\"";
                        return Err(syn::Error::new(value.span(), message));
                    }
                });
            }
            unknown => {
                let message = format!("there is no option `{unknown}`; {KNOWN_RETRY}");
                return Err(meta.error(message));
            }
        }
        Ok(())
    }
}

fn name(of: Of, text: &LitStr) -> Result<String> {
    let name = text.value();
    let checked = match of {
        Of::Service => check_service_name(&name),
        Of::Handler => check_handler_name(&name),
    };
    checked.map(|()| name).map_err(|message| syn::Error::new(text.span(), message))
}

fn duration(meta: &ParseNestedMeta<'_>) -> Result<u64> {
    millis(&meta.value()?.parse()?)
}

/// `lazy_state` alone, or with `= true` or `= false`.
fn flag(meta: &ParseNestedMeta<'_>) -> Result<bool> {
    match meta.input.peek(Token![=]) {
        true => Ok(meta.value()?.parse::<LitBool>()?.value),
        false => Ok(true),
    }
}

fn number(meta: &ParseNestedMeta<'_>) -> Result<f64> {
    let value = meta.value()?;
    match value.peek(LitInt) {
        true => value.parse::<LitInt>()?.base10_parse(),
        false => value.parse::<LitFloat>()?.base10_parse(),
    }
}

/// The text of a line of documentation.
fn line(attribute: &Attribute) -> Option<String> {
    let Meta::NameValue(pair) = &attribute.meta else {
        return None;
    };
    match &pair.value {
        Expr::Lit(ExprLit { lit: syn::Lit::Str(text), .. }) if pair.path.is_ident("doc") => {
            let text = text.value();
            Some(text.strip_prefix(' ').unwrap_or(&text).to_owned())
        }
        _ => None,
    }
}
