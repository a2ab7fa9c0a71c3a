//! What a manifest says of inputs and outputs: the media type, and a schema if the type has one.
//!
//! A type need not have a schema. Which of the three traits below answers is decided by the number
//! of references in front of [`Describe`], where the macros know the type: plain types first, then
//! those with a schema, then all others.

use crate::payload::{JSON, Proto, Raw, Text};
use holdfast_wire::manifest::{Input, Output};
use schemars::JsonSchema;
use serde_json::Value;
use std::marker::PhantomData;

/// Asks what is known of a type.
pub struct Describe<T>(pub PhantomData<T>);

/// What is known of a type.
pub struct Described {
    input: Option<&'static str>,
    output: Option<&'static str>,
    schema: Option<Value>,
}

/// Types that are no JSON.
pub trait DescribePlain {
    /// What is known of it.
    fn describe(&self) -> Described;
}

/// JSON with a schema.
pub trait DescribeSchema {
    /// What is known of it.
    fn describe(&self) -> Described;
}

/// JSON without one.
pub trait DescribeAny {
    /// What is known of it.
    fn describe(&self) -> Described;
}

impl Described {
    fn plain(input: &'static str, output: &'static str) -> Described {
        Described { input: Some(input), output: Some(output), schema: None }
    }

    /// As what a handler takes.
    #[must_use]
    pub fn input(self, required: bool) -> Input {
        Input {
            required: required && self.input.is_some(),
            content_type: self.input.map(str::to_owned),
            json_schema: self.schema,
        }
    }

    /// As what a handler gives.
    #[must_use]
    pub fn output(self) -> Output {
        Output {
            content_type: self.output.map(str::to_owned),
            set_content_type_if_empty: false,
            json_schema: self.schema,
        }
    }
}

impl DescribePlain for &&Describe<()> {
    fn describe(&self) -> Described {
        Described { input: None, output: None, schema: None }
    }
}

impl DescribePlain for &&Describe<Raw> {
    fn describe(&self) -> Described {
        Described::plain("*/*", "application/octet-stream")
    }
}

impl DescribePlain for &&Describe<Text> {
    fn describe(&self) -> Described {
        Described::plain("text/*", "text/plain; charset=utf-8")
    }
}

impl<M> DescribePlain for &&Describe<Proto<M>> {
    fn describe(&self) -> Described {
        Described::plain("application/protobuf", "application/protobuf")
    }
}

impl<T: JsonSchema> DescribeSchema for &Describe<T> {
    fn describe(&self) -> Described {
        Described { schema: Some(schema_of::<T>()), ..Described::plain(JSON, JSON) }
    }
}

impl<T> DescribeAny for Describe<T> {
    fn describe(&self) -> Described {
        Described::plain(JSON, JSON)
    }
}

/// The schema of a type, with everything it refers to inside.
pub(crate) fn schema_of<T: JsonSchema>() -> Value {
    schemars::schema_for!(T).to_value()
}
