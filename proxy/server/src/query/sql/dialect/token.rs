//! Questions in tokens, without a byte left out.

use super::super::error::Error;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Blank,
    Word,
    Number,
    Text,
    /// A name in quotes.
    Quoted,
    Sign,
}

#[derive(Debug, Clone, Copy)]
pub struct Token<'t> {
    pub kind: Kind,
    pub text: &'t str,
}

impl Token<'_> {
    pub fn is(&self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }
}

pub fn tokens(text: &str) -> Result<Vec<Token<'_>>, Error> {
    let mut rest = text;
    let mut tokens = vec![];
    while let Some(first) = rest.chars().next() {
        let (kind, length) = token(rest, first)?;
        let (text, behind) = rest.split_at(length);
        tokens.push(Token { kind, text });
        rest = behind;
    }
    Ok(tokens)
}

/// Kind and length of the token at the beginning.
fn token(rest: &str, first: char) -> Result<(Kind, usize), Error> {
    let while_true = |is: fn(char) -> bool| rest.find(|c| !is(c)).unwrap_or(rest.len());
    Ok(match first {
        _ if rest.starts_with("--") => (Kind::Blank, rest.find('\n').unwrap_or(rest.len())),
        _ if rest.starts_with("/*") => (Kind::Blank, behind(rest, "*/", 2)?),
        '\'' => (Kind::Text, behind(rest, "'", 1)?),
        '"' => (Kind::Quoted, behind(rest, "\"", 1)?),
        '`' => (Kind::Quoted, behind(rest, "`", 1)?),
        c if c.is_whitespace() => (Kind::Blank, while_true(char::is_whitespace)),
        c if c.is_ascii_digit() => {
            (Kind::Number, while_true(|c| c.is_ascii_alphanumeric() || c == '.'))
        }
        c if c.is_alphabetic() || c == '_' => {
            (Kind::Word, while_true(|c| c.is_alphanumeric() || c == '_'))
        }
        c => (Kind::Sign, sign(rest).unwrap_or(c.len_utf8())),
    })
}

fn sign(rest: &str) -> Option<usize> {
    let long = ["->>", "::", "==", "<>", "!=", "<=", ">=", "||", "->", "<<", ">>"];
    long.into_iter().find(|sign| rest.starts_with(sign)).map(str::len)
}

/// Where what begins with `skip` bytes is over. A doubled quote needs no care: it ends one token
/// and begins the next.
fn behind(rest: &str, end: &str, skip: usize) -> Result<usize, Error> {
    let found = rest[skip..].find(end).map(|at| skip + at + end.len());
    found.ok_or_else(|| {
        Error::Wrong(format!("a text or a comment does not end: `{end}` is missing"))
    })
}
