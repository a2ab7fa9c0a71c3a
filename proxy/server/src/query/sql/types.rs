//! The types of columns. SQLite knows only numbers, texts and bytes: what a column really is stands
//! in its declaration, and an answer is written by it. Never looks at data.

use holdfast_machine::time::Timestamp;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Text,
    Bytes,
    /// As the same 64 bits with a sign: SQLite has no numbers without one.
    UInt64,
    UInt32,
    Int64,
    Float64,
    Boolean,
    /// As text in RFC 3339 of fixed length, so that it compares and sorts by time.
    Timestamp,
    /// As a number of milliseconds.
    Duration,
    /// As a JSON array.
    TextList,
    /// As a JSON array.
    UInt32List,
}

impl Type {
    const DECLARED: [Type; 9] = [
        Type::Text,
        Type::Bytes,
        Type::UInt64,
        Type::UInt32,
        Type::Boolean,
        Type::Timestamp,
        Type::Duration,
        Type::TextList,
        Type::UInt32List,
    ];

    /// How a table declares it. The words `INT`, `TEXT` and `BLOB` in it decide how SQLite compares
    /// such a column.
    pub const fn declaration(self) -> &'static str {
        match self {
            Type::Text => "TEXT",
            Type::Bytes => "BLOB",
            Type::UInt64 => "UNSIGNED BIGINT",
            Type::UInt32 => "UNSIGNED INT",
            Type::Int64 => "BIGINT",
            Type::Float64 => "DOUBLE",
            Type::Boolean => "BOOLEAN",
            Type::Timestamp => "TIMESTAMP TEXT",
            Type::Duration => "DURATION BIGINT",
            Type::TextList => "TEXT LIST",
            Type::UInt32List => "TEXT LIST OF NUMBERS",
        }
    }

    /// The type with this declaration.
    pub fn declared(declaration: &str) -> Option<Type> {
        Type::DECLARED.into_iter().find(|ty| ty.declaration() == declaration)
    }

    /// As `information_schema` names it.
    pub const fn name(self) -> &'static str {
        match self {
            Type::Text => "LargeUtf8",
            Type::Bytes => "LargeBinary",
            Type::UInt64 => "UInt64",
            Type::UInt32 => "UInt32",
            Type::Int64 => "Int64",
            Type::Float64 => "Float64",
            Type::Boolean => "Boolean",
            Type::Timestamp => "Timestamp(ms, \"+00:00\")",
            Type::Duration => "Duration(ms)",
            Type::TextList => "List(LargeUtf8)",
            Type::UInt32List => "List(UInt32)",
        }
    }
}

/// Milliseconds of a timestamp as columns hold it; `None` for any other text.
pub fn timestamp_ms(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_millisecond)
}

/// A timestamp as columns hold it.
pub fn timestamp(at: Timestamp) -> String {
    super::super::text::rfc3339(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_declaration_leads_back_to_its_type() {
        for ty in Type::DECLARED {
            assert_eq!(Type::declared(ty.declaration()), Some(ty));
        }
        assert_eq!(Type::declared("VARCHAR"), None);
    }

    #[test]
    fn timestamps_are_read_back() {
        let at = Timestamp(1_764_429_760_766);
        assert_eq!(timestamp(at), "2025-11-29T15:22:40.766Z");
        assert_eq!(timestamp_ms(&timestamp(at)), Some(1_764_429_760_766));
        assert_eq!(timestamp_ms("yesterday"), None);
    }
}
