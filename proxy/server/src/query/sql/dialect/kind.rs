//! What expressions are, as far as their words tell: enough to calculate with points in time, and to
//! write answers with their types.

use super::super::types::Type;
use std::collections::HashMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// All columns of one or more tables.
    Star,
    Truth,
    Timestamp,
    Duration,
    Number,
    /// An array.
    List,
    /// Nothing is known of it.
    Unknown,
}

impl Kind {
    /// How an answer shows it; `None` where only the values tell.
    pub fn ty(self) -> Option<Type> {
        match self {
            Kind::Truth => Some(Type::Boolean),
            Kind::Timestamp => Some(Type::Timestamp),
            Kind::Duration => Some(Type::Duration),
            Kind::List => Some(Type::TextList),
            Kind::Star | Kind::Number | Kind::Unknown => None,
        }
    }

    fn of(ty: Type) -> Kind {
        match ty {
            Type::Boolean => Kind::Truth,
            Type::Timestamp => Kind::Timestamp,
            Type::Duration => Kind::Duration,
            Type::UInt64 | Type::UInt32 | Type::Int64 | Type::Float64 => Kind::Number,
            Type::TextList | Type::UInt32List => Kind::List,
            Type::Text | Type::Bytes => Kind::Unknown,
        }
    }

    /// What a cast to `ty` gives; a lower-case name of a type.
    pub fn cast(ty: &str) -> Kind {
        match ty {
            "interval" => Kind::Duration,
            "boolean" | "bool" => Kind::Truth,
            _ if ty.starts_with("timestamp") => Kind::Timestamp,
            _ if ty.contains("int") || ty.starts_with("float") => Kind::Number,
            "double" | "double precision" | "real" | "decimal" | "numeric" => Kind::Number,
            _ => Kind::Unknown,
        }
    }

    /// What a function gives whose first argument is of kind `first`; a lower-case name.
    pub fn call(name: &str, first: Kind) -> Kind {
        match name {
            "to_timestamp"
            | "to_timestamp_seconds"
            | "to_timestamp_millis"
            | "from_unixtime"
            | "date_trunc"
            | "date_bin" => Kind::Timestamp,
            "min" | "max" | "first_value" | "last_value" | "coalesce" | "nullif" | "greatest"
            | "least" | "lag" | "lead" => first,
            "sum" | "avg" if first == Kind::Duration => Kind::Duration,
            "sum" | "avg" | "count" | "length" | "date_part" | "extract" | "to_unixtime" => {
                Kind::Number
            }
            "starts_with" | "ends_with" | "contains" | "array_has" | "bool_and" | "bool_or" => {
                Kind::Truth
            }
            "array_agg" => Kind::List,
            _ => Kind::Unknown,
        }
    }
}

/// What the columns of all tables are, by name.
#[derive(Debug, Clone, Default)]
pub struct Columns(HashMap<&'static str, Kind>);

impl Columns {
    /// A name that means different things in different tables says nothing.
    pub fn new(columns: impl IntoIterator<Item = (&'static str, Type)>) -> Columns {
        let mut known = HashMap::new();
        for (name, ty) in columns {
            let kind = Kind::of(ty);
            known.entry(name).and_modify(|seen| merge(seen, kind)).or_insert(kind);
        }
        Columns(known)
    }

    /// A lower-case name.
    pub fn kind(&self, name: &str) -> Kind {
        self.0.get(name).copied().unwrap_or(Kind::Unknown)
    }
}

fn merge(seen: &mut Kind, kind: Kind) {
    if *seen != kind {
        *seen = Kind::Unknown;
    }
}
