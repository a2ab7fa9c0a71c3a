//! One pass over the tokens of a question.

use super::{
    super::error::Error,
    frame::{Frame, Piece, Role},
    kind::{Columns, Kind},
    token::{Kind as TokenKind, Token},
    unnamed::names,
};
use std::borrow::Cow;

/// The question for SQLite, and what its outermost `SELECT` selects.
pub fn translate(tokens: &[Token<'_>], columns: &Columns) -> Result<(String, Vec<Kind>), Error> {
    let mut translator = Translator::new(tokens, columns);
    let mut names = names(tokens).into_iter().peekable();
    let mut at = 0;
    while at < tokens.len() {
        let next = translator.take(at)?;
        while let Some((_, name)) = names.next_if(|(end, _)| *end < next) {
            translator.put_behind(&format!(" AS {name}"));
        }
        at = next;
    }
    translator.end();
    let Translator { pieces, items, .. } = translator;
    let text = pieces.iter().fold(String::new(), |mut text, piece| {
        text.push_str(&piece.before);
        text.push_str(&piece.text);
        text.push_str(&piece.after);
        text
    });
    Ok((text, items.kinds))
}

pub(super) struct Translator<'t> {
    pub tokens: &'t [Token<'t>],
    columns: &'t Columns,
    pub pieces: Vec<Piece<'t>>,
    /// The last piece that is no blank.
    pub last: usize,
    /// The first is the whole question.
    pub frames: Vec<Frame>,
    items: Items,
}

/// What the outermost `SELECT` selects.
#[derive(Default)]
struct Items {
    kinds: Vec<Kind>,
    state: Selecting,
    /// The first piece and the first token of the item at hand.
    piece: usize,
    token: usize,
    named: bool,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Selecting {
    #[default]
    Before,
    Now,
    Done,
}

impl<'t> Translator<'t> {
    fn new(tokens: &'t [Token<'t>], columns: &'t Columns) -> Translator<'t> {
        Translator {
            tokens,
            columns,
            // There is always a piece before.
            pieces: vec![Piece::default()],
            last: 0,
            frames: vec![Frame::new(Role::Group, 0, false)],
            items: Items::default(),
        }
    }

    /// Takes the token in, and whatever belongs to it; gives the place of the next one.
    fn take(&mut self, at: usize) -> Result<usize, Error> {
        let token = self.tokens[at];
        match token.kind {
            TokenKind::Blank => {
                self.pieces.push(Piece { text: token.text.into(), ..Piece::default() });
                Ok(at + 1)
            }
            TokenKind::Word => self.word(at),
            TokenKind::Sign => self.sign(at),
            TokenKind::Number => {
                self.operand(number(token.text), Kind::Number);
                Ok(at + 1)
            }
            TokenKind::Text => {
                self.operand(token.text.into(), Kind::Unknown);
                let place = self.last;
                self.frame().expression.text(place);
                Ok(at + 1)
            }
            TokenKind::Quoted => {
                self.name(token.text.into(), token.text.trim_matches('"'));
                Ok(at + 1)
            }
        }
    }

    fn sign(&mut self, at: usize) -> Result<usize, Error> {
        let text = self.tokens[at].text;
        let between = self.ends_operand();
        match text {
            ";" => {}
            "(" => self.open(at, Role::Group),
            ")" => self.close(Role::Case, text),
            "," => {
                self.end_expression();
                self.end_key();
                self.end_item(at);
                self.put(text.into(), None);
                self.items.piece = self.pieces.len();
            }
            "::" if between => return self.cast_behind(at),
            "[" => return self.element_behind(at),
            "*" if !between => self.operand(text.into(), Kind::Star),
            "+" | "-" if between => {
                let last = self.last;
                self.put(text.into(), None);
                let place = self.last;
                self.with_expression(|expression, pieces| expression.sign(pieces, last, place));
            }
            "+" | "-" => {
                self.put(text.into(), None);
                let place = self.last;
                self.frame().expression.unary(place);
            }
            "=" | "==" | "<>" | "!=" | "<" | ">" | "<=" | ">=" => {
                self.compare();
                self.put(text.into(), None);
            }
            _ => self.put(text.into(), None),
        }
        Ok(at + 1)
    }

    // --- pieces

    pub fn put(&mut self, text: Cow<'t, str>, begins: Option<usize>) {
        self.last = self.pieces.len();
        self.pieces.push(Piece { text, begins, ..Piece::default() });
    }

    pub fn put_behind(&mut self, text: &str) {
        self.pieces[self.last].after.push_str(text);
    }

    /// Whether what was read last can stand before a sign.
    pub fn ends_operand(&self) -> bool {
        self.pieces[self.last].begins.is_some()
    }

    fn behind_dot(&self) -> bool {
        self.pieces[self.last].text == "."
    }

    pub fn next_code(&self, at: usize) -> Option<usize> {
        (at + 1..self.tokens.len()).find(|at| self.tokens[*at].kind != TokenKind::Blank)
    }

    pub fn next_is(&self, at: usize, text: &str) -> bool {
        self.next_code(at).is_some_and(|next| self.tokens[next].is(text))
    }

    // --- operands

    /// A column, or another name.
    pub fn name(&mut self, text: Cow<'t, str>, name: &str) {
        let kind = self.columns.kind(&name.to_ascii_lowercase());
        self.operand(text, kind);
    }

    pub fn operand(&mut self, text: Cow<'t, str>, kind: Kind) {
        let place = self.pieces.len();
        if self.behind_dot() {
            let owner = self.pieces[..self.last].iter().rposition(|piece| piece.begins.is_some());
            let begins = owner.and_then(|owner| self.pieces[owner].begins).unwrap_or(place);
            self.put(text, Some(begins));
            self.frame().expression.operand(begins, kind, true);
        } else if self.ends_operand() {
            // Two operands without anything between: the second is a name.
            self.end_expression();
            self.items.named |= self.frames.len() == 1;
            self.put(text, None);
        } else {
            self.put(text, Some(place));
            self.frame().expression.operand(place, kind, false);
        }
    }

    /// What stands behind `AS`.
    pub fn alias(&mut self, text: Cow<'t, str>) {
        self.items.named |= self.frames.len() == 1;
        self.put(text, None);
    }

    // --- expressions

    pub fn frame(&mut self) -> &mut Frame {
        self.frames.last_mut().expect("the whole question is always there")
    }

    pub fn with_expression(
        &mut self,
        act: impl FnOnce(&mut super::frame::Expression, &mut [Piece<'t>]),
    ) {
        let frame = self.frames.last_mut().expect("the whole question is always there");
        act(&mut frame.expression, &mut self.pieces);
    }

    pub fn compare(&mut self) {
        let last = self.last;
        self.with_expression(|expression, pieces| expression.compare(pieces, last));
    }

    pub fn end_expression(&mut self) {
        let frame = self.frames.last_mut().expect("the whole question is always there");
        frame.end_expression(&mut self.pieces, self.last);
    }

    pub fn end_key(&mut self) {
        let frame = self.frames.last_mut().expect("the whole question is always there");
        frame.end_key(&mut self.pieces, self.last);
    }

    // --- frames

    fn open(&mut self, at: usize, role: Role) {
        let place = self.pieces.len();
        let is_query = ["select", "values", "with"].iter().any(|word| self.next_is(at, word));
        let behind = self.pieces[self.last].text.to_ascii_lowercase();
        // Also behind the bracket of a WITH.
        let combines = ["", ")", "union", "all", "except", "intersect"].contains(&behind.as_str());
        self.put(self.tokens[at].text.into(), None);
        if is_query && combines {
            // SQLite combines queries without brackets alone.
            self.pieces[place].before.push_str("SELECT * FROM ");
        }
        let temporal = self.frame().expression.is_temporal();
        self.frames.push(Frame::new(role, place, temporal));
    }

    /// The arguments of a function, or what follows a call; `begins` is where the operand begins.
    pub fn open_call(&mut self, role: Role, begins: usize) {
        self.put("(".into(), None);
        self.frames.push(Frame::new(role, begins, false));
    }

    /// Ends the frame at hand, unless it is of the role `not`, or the last.
    pub fn close(&mut self, not: Role, text: &'t str) {
        if self.frames.len() == 1 || self.frame().role == not {
            return self.put(text.into(), None);
        }
        self.end_expression();
        self.end_key();
        let frame = self.frames.pop().expect("there is more than one");
        self.put(text.into(), Some(frame.begins));
        if frame.role != Role::Suffix {
            self.frame().expression.operand(frame.begins, frame.kind(), false);
        }
    }

    // --- what is selected

    /// The outermost `SELECT` begins; nothing behind it is selected any more from `end_items` on.
    pub fn begin_items(&mut self, at: usize) {
        if self.frames.len() == 1 && self.items.state == Selecting::Before {
            self.items.state = Selecting::Now;
            (self.items.piece, self.items.token) = (self.pieces.len() + 1, at + 1);
        }
    }

    pub fn end_items(&mut self, at: usize) {
        self.end_item(at);
        if self.frames.len() == 1 && self.items.state == Selecting::Now {
            self.items.state = Selecting::Done;
        }
    }

    /// The item that ends before the token `at`.
    fn end_item(&mut self, at: usize) {
        if self.frames.len() != 1 || self.items.state != Selecting::Now {
            return;
        }
        let kind = self.frame().ended.take().unwrap_or(Kind::Unknown);
        self.items.kinds.push(kind);
        if !std::mem::take(&mut self.items.named) {
            self.keep_name(at);
        }
        self.items.token = at + 1;
    }

    /// An expression without a name is called by its text: by the one that was asked.
    fn keep_name(&mut self, at: usize) {
        let asked: String = self.tokens[self.items.token..at].iter().map(|it| it.text).collect();
        let asked = asked.trim();
        let pieces = &self.pieces[self.items.piece..];
        let said = pieces
            .iter()
            .fold(String::new(), |text, piece| text + &piece.before + &piece.text + &piece.after);
        if said.trim() == asked || self.items.kinds.last() == Some(&Kind::Star) {
            return;
        }
        let is_column = asked.chars().all(|c| c.is_alphanumeric() || "_.\"".contains(c));
        let column = asked.rsplit('.').next().filter(|_| is_column).unwrap_or(asked);
        let name = column.trim_matches('"').replace('"', "\"\"");
        self.put_behind(&format!(" AS \"{name}\""));
    }

    fn end(&mut self) {
        while self.frames.len() > 1 {
            self.frames.pop();
        }
        self.end_expression();
        self.end_key();
        self.end_items(self.tokens.len());
    }
}

/// Numbers that need 64 bits without a sign are the same bits with one, as the columns hold them.
fn number(text: &str) -> Cow<'_, str> {
    match (text.parse::<i64>(), text.parse::<u64>()) {
        (Err(_), Ok(large)) => format!("({})", large.cast_signed()).into(),
        _ => text.into(),
    }
}
