//! Errors of handlers: most are tried again, some end the invocation.

use crate::attempt::Failed;
use holdfast_wire::message::pb::{self, ErrorBehavior};
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

/// Any error, as handlers meet them.
///
/// ```
/// use holdfast_sdk::{BoxError, Error};
///
/// let failed: BoxError = "the warehouse does not answer".into();
/// assert!(Error::retry(failed).terminal().is_none());
/// ```
pub type BoxError = Box<dyn StdError + Send + Sync>;

/// What handlers and steps return.
///
/// ```
/// use holdfast_sdk::{Result, Terminal};
///
/// fn parse(amount: &str) -> Result<u32> {
///     if amount.is_empty() {
///         return Err(Terminal::new("an amount is needed").code(400).into()); // ends it
///     }
///     Ok(amount.parse()?) // any other error is tried again
/// }
/// # assert_eq!(parse("7").unwrap(), 7);
/// ```
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// A failure that is a result: it is recorded, told to the caller, and never tried again.
///
/// The code is the HTTP status that a caller from outside sees; 500 unless set.
///
/// ```
/// use holdfast_sdk::Terminal;
///
/// let gone = Terminal::new("order 42 was cancelled").code(410).with("order", "42");
/// assert_eq!(gone.to_string(), "order 42 was cancelled");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terminal {
    code: u16,
    message: String,
    metadata: Vec<(String, String)>,
}

/// The code of an invocation that was cancelled.
const CODE_CANCELLED: u16 = 409;

impl Terminal {
    /// With code 500.
    ///
    /// ```
    /// # use holdfast_sdk::Terminal;
    /// assert_eq!(Terminal::new("no").http_code(), 500);
    /// ```
    pub fn new(message: impl Into<String>) -> Terminal {
        Terminal { code: 500, message: message.into(), metadata: vec![] }
    }

    /// With another code.
    ///
    /// ```
    /// # use holdfast_sdk::Terminal;
    /// assert_eq!(Terminal::new("no such order").code(404).http_code(), 404);
    /// ```
    #[must_use]
    pub fn code(mut self, code: u16) -> Terminal {
        self.code = code;
        self
    }

    /// With something for programs to read; from version 6 of the protocol on.
    ///
    /// ```
    /// # use holdfast_sdk::Terminal;
    /// let error = Terminal::new("out of stock").with("sku", "A-1");
    /// assert_eq!(error.metadata().next(), Some(("sku", "A-1")));
    /// ```
    #[must_use]
    pub fn with(mut self, key: impl Into<String>, value: impl Into<String>) -> Terminal {
        self.metadata.push((key.into(), value.into()));
        self
    }

    /// The code that a caller sees.
    ///
    /// ```
    /// # use holdfast_sdk::Terminal;
    /// assert_eq!(Terminal::new("no").http_code(), 500);
    /// ```
    #[must_use]
    pub fn http_code(&self) -> u16 {
        self.code
    }

    /// The message that a caller sees.
    ///
    /// ```
    /// # use holdfast_sdk::Terminal;
    /// assert_eq!(Terminal::new("no").message(), "no");
    /// ```
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What was added for programs.
    ///
    /// ```
    /// # use holdfast_sdk::Terminal;
    /// assert_eq!(Terminal::new("no").metadata().count(), 0);
    /// ```
    pub fn metadata(&self) -> impl Iterator<Item = (&str, &str)> {
        self.metadata.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Whether this is what an await fails with when the invocation is cancelled.
    ///
    /// ```
    /// # use holdfast_sdk::Terminal;
    /// assert!(!Terminal::new("no").is_cancelled());
    /// ```
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        let says = |word| self.message.eq_ignore_ascii_case(word);
        self.code == CODE_CANCELLED && (says("cancelled") || says("canceled"))
    }

    pub(crate) fn cancelled() -> Terminal {
        Terminal::new("cancelled").code(CODE_CANCELLED)
    }

    pub(crate) fn into_failure(self) -> pb::Failure {
        let pair = |(key, value)| pb::FailureMetadata { key, value };
        pb::Failure {
            code: self.code.into(),
            message: self.message,
            metadata: self.metadata.into_iter().map(pair).collect(),
        }
    }

    pub(crate) fn from_failure(failure: pb::Failure) -> Terminal {
        Terminal {
            code: u16::try_from(failure.code).unwrap_or(500),
            message: failure.message,
            metadata: failure.metadata.into_iter().map(|pair| (pair.key, pair.value)).collect(),
        }
    }
}

impl fmt::Display for Terminal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl StdError for Terminal {}

/// Why a handler or a step did not come to a result.
///
/// `?` makes one of any error: of a [`Terminal`] one that ends the invocation, of any other one
/// that is tried again. What the awaits of a context fail with is always a [`Terminal`].
///
/// ```
/// use holdfast_sdk::{Error, Terminal};
///
/// let io = std::io::Error::other("connection refused");
/// assert!(Error::from(io).terminal().is_none());
/// assert!(Error::from(Terminal::new("no")).terminal().is_some());
/// ```
pub struct Error(Box<Kind>);

enum Kind {
    Terminal(Terminal),
    Retry { source: BoxError, code: u16, after: Option<Duration>, pause: bool },
}

impl Error {
    /// An error that is tried again, from a sentence or from a boxed error.
    ///
    /// ```
    /// # use holdfast_sdk::Error;
    /// let error = Error::retry("the warehouse does not answer");
    /// assert_eq!(error.to_string(), "the warehouse does not answer");
    /// ```
    pub fn retry(source: impl Into<BoxError>) -> Error {
        Error(Box::new(Kind::Retry { source: source.into(), code: 500, after: None, pause: false }))
    }

    /// With another code than 500, for those who look at why an invocation is tried again. Changes
    /// nothing of an error that is not tried again.
    ///
    /// ```
    /// # use holdfast_sdk::Error;
    /// let error = Error::retry("no answer").code(504);
    /// # let _ = error;
    /// ```
    #[must_use]
    pub fn code(mut self, with: u16) -> Error {
        if let Kind::Retry { code, .. } = &mut *self.0 {
            *code = with;
        }
        self
    }

    /// Tried again after that time, whatever the retry policy says. Changes nothing of an error
    /// that is not tried again.
    ///
    /// ```
    /// # use holdfast_sdk::Error;
    /// # use std::time::Duration;
    /// let error = Error::retry("rate limited").after(Duration::from_secs(30));
    /// # let _ = error;
    /// ```
    #[must_use]
    pub fn after(mut self, delay: Duration) -> Error {
        if let Kind::Retry { after, .. } = &mut *self.0 {
            *after = Some(delay);
        }
        self
    }

    /// Pauses the invocation until a person resumes it; where the protocol is older than version 7
    /// it is tried again like any other error.
    ///
    /// ```
    /// # use holdfast_sdk::Error;
    /// let error = Error::pause("the exchange rate looks wrong");
    /// # let _ = error;
    /// ```
    pub fn pause(source: impl Into<BoxError>) -> Error {
        Error(Box::new(Kind::Retry { source: source.into(), code: 500, after: None, pause: true }))
    }

    /// The failure, if this is one that ends the invocation.
    ///
    /// ```
    /// # use holdfast_sdk::Error;
    /// assert!(Error::retry("later").terminal().is_none());
    /// ```
    #[must_use]
    pub fn terminal(&self) -> Option<&Terminal> {
        match &*self.0 {
            Kind::Terminal(terminal) => Some(terminal),
            Kind::Retry { .. } => None,
        }
    }

    pub(crate) fn into_ending(self) -> Ending {
        match *self.0 {
            Kind::Terminal(terminal) => Ending::Terminal(terminal),
            Kind::Retry { source, code, after, pause } => Ending::Failed(Failed {
                next_retry_delay: after,
                behavior: if pause { ErrorBehavior::Pause } else { ErrorBehavior::Retry },
                ..Failed::new(code.into(), sentence(&*source))
            }),
        }
    }
}

/// What becomes of an error.
pub(crate) enum Ending {
    Terminal(Terminal),
    /// The attempt is over, the invocation is not.
    Failed(Failed),
}

/// An error and what it came from, unless it says that itself.
fn sentence(error: &(dyn StdError + 'static)) -> String {
    let mut said = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        let text = error.to_string();
        if !said.contains(&text) {
            said = format!("{said}: {text}");
        }
        source = error.source();
    }
    said
}

impl<E: StdError + Send + Sync + 'static> From<E> for Error {
    fn from(error: E) -> Error {
        let error: BoxError = Box::new(error);
        match error.downcast::<Terminal>() {
            Ok(terminal) => Error(Box::new(Kind::Terminal(*terminal))),
            Err(error) => Error::retry(error),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Terminal(terminal) => terminal.fmt(f),
            Kind::Retry { source, .. } => f.write_str(&sentence(&**source)),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Terminal(terminal) => terminal.fmt(f),
            Kind::Retry { source, .. } => fmt::Debug::fmt(source, f),
        }
    }
}
