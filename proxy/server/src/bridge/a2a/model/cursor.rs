//! A place in the events of one task.

use std::{fmt, str::FromStr};

/// Which event: the row of the feed, and the event among those that the row stands for. Written
/// `12.0`, as in the `id` of a server-sent event; `12` is after all events of the row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Cursor {
    pub sequence: u64,
    pub part: u32,
}

impl Cursor {
    /// After everything that the row stands for.
    pub const fn after(sequence: u64) -> Cursor {
        Cursor { sequence, part: u32::MAX }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no place in a stream; give the id of an event as it was received")]
pub struct BadCursor(pub String);

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.part {
            u32::MAX => write!(f, "{}", self.sequence),
            part => write!(f, "{}.{part}", self.sequence),
        }
    }
}

impl FromStr for Cursor {
    type Err = BadCursor;

    fn from_str(text: &str) -> Result<Cursor, BadCursor> {
        let read = || {
            Some(match text.split_once('.') {
                Some((sequence, part)) => {
                    Cursor { sequence: sequence.parse().ok()?, part: part.parse().ok()? }
                }
                None => Cursor::after(text.parse().ok()?),
            })
        };
        read().ok_or_else(|| BadCursor(text.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_and_read() {
        let cursor = Cursor { sequence: 12, part: 1 };
        assert_eq!(cursor.to_string(), "12.1");
        assert_eq!("12.1".parse(), Ok(cursor));
        assert_eq!("12".parse(), Ok(Cursor::after(12)));
        assert_eq!(Cursor::after(12).to_string(), "12");
        assert!(cursor < Cursor::after(12) && Cursor::after(11) < cursor);
        for bad in ["", "12.", ".1", "a.1", "1.2.3"] {
            assert_eq!(bad.parse::<Cursor>(), Err(BadCursor(bad.into())));
        }
    }

    #[test]
    fn rows_before_parts() {
        let [a, b, c] = [(1, 7), (2, 0), (2, 1)].map(|(sequence, part)| Cursor { sequence, part });
        assert!(a < b && b < c);
    }
}
