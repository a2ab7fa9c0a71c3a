//! Where a task stands, in the words of the room below and in those of A2A.

use crate::bridge::a2a::model::TaskState;
use crate::tasks::State;

pub const fn to_model(state: State) -> TaskState {
    match state {
        State::Submitted => TaskState::Submitted,
        State::Working => TaskState::Working,
        State::InputRequired => TaskState::InputRequired,
        State::AuthRequired => TaskState::AuthRequired,
        State::Completed => TaskState::Completed,
        State::Failed => TaskState::Failed,
        State::Rejected => TaskState::Rejected,
        State::Cancelled => TaskState::Canceled,
    }
}

pub const fn from_model(state: TaskState) -> State {
    match state {
        TaskState::Submitted => State::Submitted,
        TaskState::Working => State::Working,
        TaskState::InputRequired => State::InputRequired,
        TaskState::AuthRequired => State::AuthRequired,
        TaskState::Completed => State::Completed,
        TaskState::Failed => State::Failed,
        TaskState::Rejected => State::Rejected,
        TaskState::Canceled => State::Cancelled,
    }
}
