//! Why a question has no answer.

use holdfast_machine::kv::Fault;

/// What can go wrong with a question.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The engine does not understand it, or it names what is not there.
    #[error("{0}")]
    Wrong(String),
    /// It would change something.
    #[error("only questions are answered here: write one SELECT; nothing can be changed by SQL")]
    ReadOnly,
    /// More than one statement.
    #[error("more than one statement was given; ask one question at a time")]
    TwoStatements,
    /// The answer would be too large, or the way to it needs too much memory.
    #[error("the answer is too large: more than {max} {unit}; narrow it, or add a LIMIT")]
    TooLarge { max: u64, unit: &'static str },
    /// It took too long.
    #[error("no answer within {ms} ms; narrow the question, or raise `query.sql_ms_max`")]
    TooSlow { ms: u64 },
    /// The store cannot be read.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// Our own mistake.
    #[error("the SQL engine failed: {0}")]
    Engine(String),
}

impl Error {
    /// Names the page `docs/errors/{code}.md`.
    pub fn code(&self) -> &'static str {
        match self {
            Error::Wrong(_) => "HF0063",
            Error::ReadOnly | Error::TwoStatements => "HF0064",
            Error::TooLarge { .. } => "HF0065",
            Error::TooSlow { .. } => "HF0066",
            Error::Fault(_) | Error::Engine(_) => "HF0165",
        }
    }

    /// Whether whoever asked can do something about it.
    pub fn is_of_the_question(&self) -> bool {
        !matches!(self, Error::Fault(_) | Error::Engine(_))
    }
}
