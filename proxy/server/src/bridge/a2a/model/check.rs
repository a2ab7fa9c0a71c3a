//! What the model itself demands of what clients send, whatever binding it came by.

use super::{Message, Role, params};
use crate::bridge::a2a::error::{Error, Violation};

/// The most that one page of tasks holds.
const PAGE_SIZE_MAX: i32 = 100;
/// What a page of tasks holds where the client does not say.
const PAGE_SIZE_DEFAULT: i32 = 50;

/// Collects everything that is wrong, so that a client can mend it in one go.
#[derive(Default)]
struct Found(Vec<Violation>);

impl Found {
    fn unless(&mut self, fine: bool, field: &str, description: &str) {
        if !fine {
            self.0.push(Violation { field: field.into(), description: description.into() });
        }
    }

    fn required(&mut self, value: &str, field: &str) {
        self.unless(!value.is_empty(), field, "is required");
    }

    fn history_length(&mut self, length: Option<i32>, field: &str) {
        let fine = length.is_none_or(|length| length >= 0);
        self.unless(fine, field, "must not be negative");
    }

    fn end(self) -> Result<(), Error> {
        if self.0.is_empty() { Ok(()) } else { Err(Error::InvalidParams(self.0)) }
    }
}

impl params::Send {
    pub fn check(&self) -> Result<(), Error> {
        let mut found = Found::default();
        check_message(&self.message, &mut found);
        found.history_length(self.configuration.history_length, "configuration.historyLength");
        found.end()
    }
}

fn check_message(message: &Message, found: &mut Found) {
    found.required(&message.message_id, "message.messageId");
    found.unless(message.role == Role::User, "message.role", "must be ROLE_USER");
    found.unless(!message.parts.is_empty(), "message.parts", "needs at least one part");
}

impl params::Get {
    pub fn check(&self) -> Result<(), Error> {
        let mut found = Found::default();
        found.required(&self.id, "id");
        found.history_length(self.history_length, "historyLength");
        found.end()
    }
}

impl params::List {
    pub fn check(&self) -> Result<(), Error> {
        let mut found = Found::default();
        let size = self.page_size.unwrap_or(PAGE_SIZE_DEFAULT);
        found.unless((1..=PAGE_SIZE_MAX).contains(&size), "pageSize", "must be between 1 and 100");
        found.history_length(self.history_length, "historyLength");
        found.end()
    }

    /// Tasks on a page.
    pub fn size(&self) -> i32 {
        self.page_size.unwrap_or(PAGE_SIZE_DEFAULT)
    }
}

impl params::Cancel {
    pub fn check(&self) -> Result<(), Error> {
        named(&self.id)
    }
}

impl params::Subscribe {
    pub fn check(&self) -> Result<(), Error> {
        named(&self.id)
    }
}

impl params::PushConfigOf {
    pub fn check(&self) -> Result<(), Error> {
        let mut found = Found::default();
        found.required(&self.task_id, "taskId");
        found.required(&self.id, "id");
        found.end()
    }
}

impl params::PushConfigsOf {
    pub fn check(&self) -> Result<(), Error> {
        let mut found = Found::default();
        found.required(&self.task_id, "taskId");
        found.unless(self.page_size >= 0, "pageSize", "must not be negative");
        found.end()
    }
}

fn named(id: &str) -> Result<(), Error> {
    let mut found = Found::default();
    found.required(id, "id");
    found.end()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bridge::a2a::model::Part;

    fn message() -> Message {
        Message {
            message_id: "m-1".into(),
            context_id: String::new(),
            task_id: String::new(),
            role: Role::User,
            parts: vec![Part::text("hello")],
            metadata: Default::default(),
            extensions: vec![],
            reference_task_ids: vec![],
        }
    }

    fn send(message: Message, history_length: Option<i32>) -> params::Send {
        let configuration = params::Configuration { history_length, ..Default::default() };
        params::Send { message, configuration, metadata: Default::default() }
    }

    fn fields(checked: Result<(), Error>) -> Vec<String> {
        match checked {
            Ok(()) => vec![],
            Err(Error::InvalidParams(violations)) => {
                violations.into_iter().map(|it| it.field).collect()
            }
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn everything_wrong_is_told_at_once() {
        let bad =
            Message { message_id: String::new(), role: Role::Agent, parts: vec![], ..message() };
        assert_eq!(fields(send(message(), Some(0)).check()), [""; 0]);
        let wrong = ["message.messageId", "message.role", "message.parts"];
        assert_eq!(fields(send(bad, None).check()), wrong);
        assert_eq!(fields(send(message(), Some(-1)).check()), ["configuration.historyLength"]);
    }

    #[test]
    fn page_sizes() {
        let of = |page_size| params::List { page_size, ..Default::default() };
        for fine in [None, Some(1), Some(100)] {
            assert_eq!(fields(of(fine).check()), [""; 0]);
        }
        for bad in [Some(0), Some(-1), Some(101)] {
            assert_eq!(fields(of(bad).check()), ["pageSize"]);
        }
        assert_eq!((of(None).size(), of(Some(7)).size()), (50, 7));
    }
}
