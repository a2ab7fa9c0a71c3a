//! What words do to a translation.

use super::{
    super::error::Error,
    frame::{Order, Role},
    kind::Kind,
    literal,
    token::{Kind as TokenKind, Token},
    translate::Translator,
};

/// The time at which a question is answered, as columns hold times.
const NOW: &str = "strftime('%Y-%m-%dT%H:%M:%fZ', 'now')";

impl<'t> Translator<'t> {
    /// Takes a word in, and whatever belongs to it; gives the place of the next token.
    pub fn word(&mut self, at: usize) -> Result<usize, Error> {
        let token = self.tokens[at];
        let word = token.text.to_ascii_lowercase();
        if self.pieces[self.last].text == "." {
            self.column(token.text, &word);
            return Ok(at + 1);
        }
        if let Some(next) = self.literal(at, &word)? {
            return Ok(next);
        }
        if let Some(next) = self.argument(at, &word) {
            return Ok(next);
        }
        if let Some(next) = self.clause(at, &word) {
            return Ok(next);
        }
        if self.comparison(token, &word) {
            return Ok(at + 1);
        }
        match self.next_code(at) {
            Some(bracket) if self.tokens[bracket].is("(") && !self.ends_operand() => {
                self.call(&word, token.text);
                Ok(bracket + 1)
            }
            _ => {
                self.column(token.text, &word);
                Ok(at + 1)
            }
        }
    }

    fn column(&mut self, text: &'t str, word: &str) {
        // A reserved word of SQLite, and a column of `sys_journal`.
        let text = if word == "index" { "\"index\"".into() } else { text.into() };
        self.name(text, word);
    }

    /// Points in time, lengths of time, and words that are values.
    fn literal(&mut self, at: usize, word: &str) -> Result<Option<usize>, Error> {
        let next = self.next_code(at);
        let text = next.filter(|next| self.tokens[*next].kind == TokenKind::Text);
        let number = next.filter(|next| self.tokens[*next].kind == TokenKind::Number);
        match (word, text, number) {
            ("interval", Some(value), _) | ("interval", None, Some(value)) => {
                return self.interval(value).map(Some);
            }
            ("timestamp" | "date", Some(value), _) => {
                let text = self.tokens[value].text;
                let point = literal::point(text.trim_matches('\''));
                match (point, word) {
                    (Some(point), "timestamp") => {
                        self.operand(format!("'{point}'").into(), Kind::Timestamp);
                    }
                    _ => self.operand(text.into(), Kind::Unknown),
                }
                return Ok(Some(value + 1));
            }
            ("now" | "current_timestamp" | "localtimestamp", ..) => {
                self.operand(NOW.into(), Kind::Timestamp);
            }
            ("today" | "current_date", ..) => self.operand("date('now')".into(), Kind::Unknown),
            ("true" | "false", ..) => {
                self.operand(self.tokens[at].text.into(), Kind::Truth);
            }
            _ => return Ok(None),
        }
        Ok(Some(self.behind_empty_brackets(at)))
    }

    fn behind_empty_brackets(&self, at: usize) -> usize {
        let open = self.next_code(at).filter(|next| self.tokens[*next].is("("));
        let close = open.and_then(|open| self.next_code(open));
        let close = close.filter(|next| self.tokens[*next].is(")"));
        close.unwrap_or(at) + 1
    }

    /// `INTERVAL '1 hour'`, `INTERVAL '1' HOUR`: the value stands at `value`.
    fn interval(&mut self, value: usize) -> Result<usize, Error> {
        let text = self.tokens[value].text.trim_matches('\'');
        let has_unit = text.contains(|c: char| c.is_alphabetic());
        let unit = self
            .next_code(value)
            .filter(|next| !has_unit && self.tokens[*next].kind == TokenKind::Word);
        let ms = literal::span(text, unit.map(|unit| self.tokens[unit].text))?;
        self.operand(ms.to_string().into(), Kind::Duration);
        Ok(unit.unwrap_or(value) + 1)
    }

    /// Words between the arguments of some functions.
    fn argument(&mut self, at: usize, word: &str) -> Option<usize> {
        let Role::Call(function) = self.frame().role.clone() else {
            return None;
        };
        match (function.as_str(), word) {
            ("cast" | "try_cast", "as") => {
                let (ty, next) = self.type_name(at)?;
                self.end_expression();
                self.frame().cast = Some(Kind::cast(&ty));
                self.put(format!(", '{ty}'").into(), None);
                Some(next)
            }
            ("extract", _) if self.next_is(at, "from") => {
                self.operand(format!("'{word}'").into(), Kind::Unknown);
                Some(at + 1)
            }
            ("extract", "from") | ("substring" | "substr", "from" | "for") | ("position", "in") => {
                self.end_expression();
                self.put(",".into(), None);
                Some(at + 1)
            }
            _ => None,
        }
    }

    /// Words that end an expression.
    fn clause(&mut self, at: usize, word: &str) -> Option<usize> {
        let text = self.tokens[at].text;
        match word {
            "distinct" | "all" | "recursive" => {}
            "from" if self.pieces[self.last].text.eq_ignore_ascii_case("distinct") => {}
            "case" => {
                let place = self.pieces.len();
                self.put(text.into(), None);
                self.frames.push(super::frame::Frame::new(Role::Case, place, false));
                return Some(at + 1);
            }
            "end" if self.frame().role == Role::Case => {
                self.close(Role::Group, text);
                return Some(at + 1);
            }
            "select" => {
                self.end_expression();
                self.frame().first = None;
                self.begin_items(at);
            }
            "from" | "where" | "group" | "having" | "window" => {
                self.end_expression();
                self.end_items(at);
            }
            "rows" | "range" | "groups" if self.frame().role != Role::Suffix => return None,
            "order" | "limit" | "offset" | "union" | "except" | "intersect" | "rows" | "range"
            | "groups" => {
                self.end_expression();
                self.end_key();
                self.end_items(at);
                self.frame().order = (word == "order").then(Order::default);
            }
            "asc" | "desc" | "nulls" => {
                self.end_expression();
                if let Some(order) = self.frame().order.as_mut() {
                    order.descending |= word == "desc";
                    order.says_nulls |= word == "nulls";
                }
            }
            "as" => return Some(self.name_behind(at)),
            "over" | "filter" if self.ends_operand() => return Some(self.suffix(at)),
            "left" | "right" if self.next_is(at, "(") => return None,
            "when" | "then" | "else" | "by" | "partition" | "join" | "inner" | "left" | "right"
            | "full" | "cross" | "natural" | "outer" | "on" | "using" | "with" | "values" => {
                self.end_expression();
            }
            _ => return None,
        }
        self.put(text.into(), None);
        Some(at + 1)
    }

    /// `AS`, and the name behind it if there is one.
    fn name_behind(&mut self, at: usize) -> usize {
        self.end_expression();
        self.put(self.tokens[at].text.into(), None);
        let name = self.next_code(at);
        let name = name.filter(|name| {
            matches!(self.tokens[*name].kind, TokenKind::Word | TokenKind::Quoted | TokenKind::Text)
        });
        let Some(name) = name else {
            return at + 1;
        };
        let Token { kind, text } = self.tokens[name];
        self.put_behind(" ");
        match kind {
            // Some words are reserved here and not there.
            TokenKind::Word
                if !["not", "materialized"].iter().any(|it| text.eq_ignore_ascii_case(it)) =>
            {
                self.alias(format!("\"{text}\"").into());
            }
            _ => self.alias(text.into()),
        }
        name + 1
    }

    /// `OVER` or `FILTER` behind a call, which stays the operand that it is.
    fn suffix(&mut self, at: usize) -> usize {
        let begins = self.pieces[self.last].begins;
        self.put(self.tokens[at].text.into(), begins);
        match (self.next_code(at), begins) {
            (Some(bracket), Some(begins)) if self.tokens[bracket].is("(") => {
                self.put_behind(" ");
                self.open_call(Role::Suffix, begins);
                bracket + 1
            }
            _ => at + 1,
        }
    }

    /// Words that make an expression true or false.
    fn comparison(&mut self, token: Token<'t>, word: &str) -> bool {
        let last = self.last;
        match word {
            "and" | "or" => self.with_expression(|it, pieces| it.logic(pieces, last)),
            "escape" => {
                self.frame().expression.escape();
                self.compare();
            }
            "not" | "is" | "in" | "glob" | "isnull" | "notnull" | "exists" => self.compare(),
            "like" | "ilike" => {
                self.compare();
                self.frame().expression.like();
            }
            "between" => {
                self.compare();
                self.frame().expression.between();
            }
            _ => return false,
        }
        // SQLite has no `ILIKE`, but an operator that calls a function of ours.
        let text = if word == "ilike" { "REGEXP" } else { token.text };
        self.put(text.into(), None);
        true
    }

    /// The name of a function, and the bracket behind it.
    fn call(&mut self, word: &str, text: &'t str) {
        let (name, first) = match word {
            "cast" => ("cast_as", ""),
            "try_cast" => ("try_cast_as", ""),
            "extract" => ("date_part", ""),
            "approx_distinct" => ("count", "DISTINCT "),
            "char_length" | "character_length" => ("length", ""),
            "array_agg" => ("json_group_array", ""),
            "array_length" | "cardinality" => ("json_array_length", ""),
            "bool_and" => ("min", ""),
            "bool_or" => ("max", ""),
            _ => (text, ""),
        };
        let place = self.pieces.len();
        self.put(name.to_owned().into(), None);
        self.open_call(Role::Call(word.into()), place);
        self.put_behind(first);
    }

    /// `operand::type`
    pub fn cast_behind(&mut self, at: usize) -> Result<usize, Error> {
        let Some((ty, next)) = self.type_name(at) else {
            return Err(Error::Wrong("`::` has no type behind it".into()));
        };
        let begins = self.pieces[self.last].begins.unwrap_or(self.last);
        self.pieces[begins].before.insert_str(0, "cast_as(");
        self.put_behind(&format!(", '{ty}')"));
        self.frame().expression.cast(Kind::cast(&ty));
        Ok(next)
    }

    /// `operand[1]`: an element of a list, counted from 1.
    pub fn element_behind(&mut self, at: usize) -> Result<usize, Error> {
        let number = self.next_code(at);
        let close = number.and_then(|number| self.next_code(number));
        let place = number.and_then(|number| self.tokens[number].text.parse::<u32>().ok());
        match (self.pieces[self.last].begins, place, close) {
            (Some(begins), Some(place @ 1..), Some(close)) if self.tokens[close].is("]") => {
                self.pieces[begins].before.insert_str(0, "json_extract(");
                self.put_behind(&format!(", '$[{}]')", place - 1));
                self.frame().expression.cast(Kind::Unknown);
                Ok(close + 1)
            }
            _ => Err(Error::Wrong("`[` takes the place of one element, from 1".into())),
        }
    }

    /// The name of a type behind the token `at`, in lower case, and the place behind it.
    fn type_name(&self, at: usize) -> Option<(String, usize)> {
        let first = self.next_code(at)?;
        let is_name = matches!(self.tokens[first].kind, TokenKind::Word | TokenKind::Quoted);
        let mut name = self.tokens[first].text.trim_matches('"').to_ascii_lowercase();
        let mut end = first;
        let more: &[&[&str]] = &[
            &["precision"],
            &["varying"],
            &["unsigned"],
            &["with", "time", "zone"],
            &["without", "time", "zone"],
        ];
        for words in more {
            if let Some(last) = self.words_behind(end, words) {
                name = format!("{name} {}", words.join(" "));
                end = last;
            }
        }
        if let Some(close) = self.size_behind(end) {
            end = close;
        }
        is_name.then_some((name.replace('\'', ""), end + 1))
    }

    fn words_behind(&self, at: usize, words: &[&str]) -> Option<usize> {
        words
            .iter()
            .try_fold(at, |at, word| self.next_code(at).filter(|next| self.tokens[*next].is(word)))
    }

    /// `(10, 2)` behind a type says nothing to us; gives where it ends.
    fn size_behind(&self, at: usize) -> Option<usize> {
        let mut at = self.next_code(at).filter(|next| self.tokens[*next].is("("))?;
        loop {
            at = self.next_code(at)?;
            match self.tokens[at].text {
                ")" => return Some(at),
                "," => {}
                _ if self.tokens[at].kind == TokenKind::Number => {}
                _ => return None,
            }
        }
    }
}
