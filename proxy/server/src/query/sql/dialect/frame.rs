//! What is being read: frames (what is between two brackets, or between CASE and END) and the
//! expression at hand in each. Where points in time are calculated with, signs become calls, since
//! SQLite calculates with numbers alone.

use super::{kind::Kind, literal};
use std::borrow::Cow;

/// A token of the translation, with what is put around it.
#[derive(Debug, Default)]
pub struct Piece<'t> {
    pub before: String,
    pub text: Cow<'t, str>,
    pub after: String,
    /// Where the operand that ends here begins; `None`: no operand ends here.
    pub begins: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Role {
    /// Brackets around an expression, a list or a query; also the whole question.
    Group,
    /// The arguments of a function; its lower-case name.
    Call(String),
    /// What follows a call: `OVER (…)`, `FILTER (…)`.
    Suffix,
    Case,
}

/// The key of an `ORDER BY` at hand.
#[derive(Debug, Clone, Copy, Default)]
pub struct Order {
    pub descending: bool,
    /// It says itself where absent values go.
    pub says_nulls: bool,
}

#[derive(Debug)]
pub struct Frame {
    pub role: Role,
    /// Where the operand that it will be begins.
    pub begins: usize,
    pub expression: Expression,
    /// Of its first expression.
    pub first: Option<Kind>,
    /// Of the expression that ended last.
    pub ended: Option<Kind>,
    pub order: Option<Order>,
    /// What a cast says that it gives.
    pub cast: Option<Kind>,
    /// Its expressions are compared with a point in time.
    temporal: bool,
}

impl Frame {
    pub fn new(role: Role, begins: usize, temporal: bool) -> Frame {
        let expression = Expression::new(temporal);
        let (first, ended, order, cast) = (None, None, None, None);
        Frame { role, begins, expression, first, ended, order, cast, temporal }
    }

    /// The expression at hand ends with the piece `last`.
    pub fn end_expression(&mut self, pieces: &mut [Piece<'_>], last: usize) {
        let next = Expression::new(self.temporal);
        let ended = std::mem::replace(&mut self.expression, next).end(pieces, last);
        if let Some(kind) = ended {
            self.first.get_or_insert(kind);
            self.ended = Some(kind);
        }
    }

    /// The key at hand of an `ORDER BY` ends: absent values count as the largest.
    pub fn end_key(&mut self, pieces: &mut [Piece<'_>], last: usize) {
        if let Some(order) = self.order.as_mut() {
            if !order.says_nulls {
                let place = if order.descending { " NULLS FIRST" } else { " NULLS LAST" };
                pieces[last].after.push_str(place);
            }
            *order = Order::default();
        }
    }

    /// What the whole frame is.
    pub fn kind(&self) -> Kind {
        let first = self.first.unwrap_or(Kind::Unknown);
        match &self.role {
            Role::Call(name) => self.cast.unwrap_or_else(|| Kind::call(name, first)),
            Role::Case => self.ended.unwrap_or(Kind::Unknown),
            Role::Group if first == Kind::Star => Kind::Unknown,
            Role::Group | Role::Suffix => first,
        }
    }
}

/// Operands with signs between them.
#[derive(Debug, Default)]
pub struct Expression {
    /// Where the sum at hand begins.
    begins: Option<usize>,
    /// Of the sum before the last sign.
    sum: Option<Kind>,
    /// The `+` or `-` between sum and term.
    sign: Option<usize>,
    /// Of the operands behind the last sign.
    term: Option<Kind>,
    /// Something is compared in it: the whole is true or false.
    truth: bool,
    like: bool,
    between: bool,
    /// Texts that are compared, and whether a point in time is compared with them.
    texts: Vec<usize>,
    temporal: bool,
}

impl Expression {
    fn new(temporal: bool) -> Expression {
        Expression { temporal, ..Expression::default() }
    }

    pub fn is_temporal(&self) -> bool {
        self.temporal
    }

    /// An operand that begins there; as one more name of a chain it takes the place of the last.
    pub fn operand(&mut self, begins: usize, kind: Kind, chained: bool) {
        self.begins.get_or_insert(begins);
        self.term = Some(match self.term {
            Some(Kind::Duration) if !chained => Kind::Duration,
            Some(seen) if !chained && seen != kind => Kind::Unknown,
            _ => kind,
        });
    }

    pub fn text(&mut self, place: usize) {
        self.texts.push(place);
    }

    /// What ended last was cast.
    pub fn cast(&mut self, kind: Kind) {
        self.term = Some(kind);
    }

    /// A sign before an operand.
    pub fn unary(&mut self, place: usize) {
        self.begins.get_or_insert(place);
    }

    /// A sign between operands.
    pub fn sign(&mut self, pieces: &mut [Piece<'_>], last: usize, place: usize) {
        self.fold(pieces, last);
        self.sign = Some(place);
    }

    /// A comparison, or a word that makes the whole true or false.
    pub fn compare(&mut self, pieces: &mut [Piece<'_>], last: usize) {
        self.end_sum(pieces, last);
        self.truth = true;
    }

    pub fn like(&mut self) {
        self.like = true;
    }

    /// The pattern says itself how it escapes.
    pub fn escape(&mut self) {
        self.like = false;
    }

    pub fn between(&mut self) {
        self.between = true;
    }

    /// `AND` or `OR`.
    pub fn logic(&mut self, pieces: &mut [Piece<'_>], last: usize) {
        self.compare(pieces, last);
        if !std::mem::take(&mut self.between) {
            self.end_comparison(pieces);
        }
    }

    fn end(mut self, pieces: &mut [Piece<'_>], last: usize) -> Option<Kind> {
        self.fold(pieces, last);
        let kind = if self.truth { Some(Kind::Truth) } else { self.sum };
        self.end_sum(pieces, last);
        self.end_comparison(pieces);
        kind
    }

    fn end_sum(&mut self, pieces: &mut [Piece<'_>], last: usize) {
        self.fold(pieces, last);
        self.temporal |= self.sum == Some(Kind::Timestamp);
        (self.sum, self.begins) = (None, None);
        if std::mem::take(&mut self.like) {
            pieces[last].after.push_str(" ESCAPE '\\'");
        }
    }

    /// Points in time are compared as columns hold them.
    fn end_comparison(&mut self, pieces: &mut [Piece<'_>]) {
        for place in self.texts.drain(..).filter(|_| self.temporal) {
            let text = pieces[place].text.trim_matches('\'');
            if let Some(point) = literal::point(text) {
                pieces[place].text = format!("'{point}'").into();
            }
        }
        self.temporal = false;
    }

    /// Takes the term into the sum.
    fn fold(&mut self, pieces: &mut [Piece<'_>], last: usize) {
        let Some(term) = self.term.take() else {
            return;
        };
        self.sum = Some(match (self.sum, self.sign.take()) {
            (Some(sum), Some(sign)) => {
                let minus = pieces[sign].text == "-";
                if !is_native(sum, term) {
                    self.call(pieces, last, sign, if minus { "minus(" } else { "plus(" });
                }
                sum_kind(sum, minus, term)
            }
            _ => term,
        });
    }

    fn call(&self, pieces: &mut [Piece<'_>], last: usize, sign: usize, function: &str) {
        let begins = self.begins.unwrap_or(sign);
        pieces[begins].before.insert_str(0, function);
        pieces[sign].text = ",".into();
        pieces[last].after.push(')');
    }
}

/// Whether SQLite calculates so by itself. What is not known can be a point in time.
fn is_native(left: Kind, right: Kind) -> bool {
    let is_number = |kind| !matches!(kind, Kind::Timestamp | Kind::Duration | Kind::Unknown);
    is_number(left) || is_number(right) || (left, right) == (Kind::Duration, Kind::Duration)
}

fn sum_kind(left: Kind, minus: bool, right: Kind) -> Kind {
    match (left, right) {
        (Kind::Timestamp, Kind::Timestamp) if minus => Kind::Duration,
        (Kind::Timestamp, Kind::Duration) | (Kind::Duration, Kind::Timestamp) => Kind::Timestamp,
        (Kind::Duration, Kind::Duration) => Kind::Duration,
        (Kind::Number, Kind::Number) => Kind::Number,
        _ => Kind::Unknown,
    }
}
