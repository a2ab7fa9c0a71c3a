//! The handlers of the simulation and the attempts that run them: the same lines for each attempt,
//! each with one command, and a failure here and there.

use super::*;
use crate::ask;

/// One line of a handler. Its command is entry `n` among the commands, its completions are
/// `2n + 1` and `2n + 2`.
#[derive(Debug, Clone)]
pub enum Line {
    Run,
    Sleep(u64),
    Call(Target),
    Send(Target),
    Set,
    Awakeable,
    Ask { expires: bool },
    Tell,
}

/// The handler of an invocation: the same for each attempt.
pub fn handler(record_depth: u64, seed: u64) -> Vec<Line> {
    let mut chance = Chance(seed);
    let lines = chance.below(4);
    (0..lines)
        .map(|_| match chance.below(11) {
            0 | 1 => Line::Run,
            2 => Line::Sleep(chance.below(500)),
            3 | 4 if record_depth < DEPTH_MAX => Line::Call(callee(record_depth + 1, &mut chance)),
            5 if record_depth < DEPTH_MAX => Line::Send(callee(record_depth + 1, &mut chance)),
            6 => Line::Awakeable,
            7 | 8 => Line::Ask { expires: chance.below(3) == 0 },
            9 => Line::Tell,
            _ => Line::Set,
        })
        .collect()
}

/// Handlers call only what is deeper, so that no two wait for each other's key.
pub fn callee(depth: u64, chance: &mut Chance) -> Target {
    match chance.below(4) {
        0 => target(&format!("Counter/{depth}-{}/add", chance.below(2))),
        1 => target(&format!("Wf{depth}/{}/run", chance.below(40))),
        _ => target(&format!("Greeter{depth}/greet")),
    }
}

pub fn depth_of(target: &Target) -> u64 {
    let text = format!("{}{}", target.service, target.key.as_deref().unwrap_or_default());
    let digit = text.chars().find(char::is_ascii_digit).expect("the depth is in the name");
    u64::from(digit.to_digit(10).expect("a digit"))
}

impl World {
    /// What the handler says, given the journal.
    pub fn converse(&mut self, start: &crate::attempt::Start) {
        let commands = start.entries.iter().filter(|entry| entry.ty.is_command()).count() - 1;
        let notified = notified(&start.entries);
        let cancelled = notified.contains(&Id::SignalIndex(1));
        let mut said = vec![];
        let mut end = None;
        for (n, line) in (0u32..).zip(handler(depth_of(&start.target), start.random_seed)) {
            if cancelled {
                break;
            }
            let (first, second) = (2 * n + 1, 2 * n + 2);
            if n as usize >= commands {
                said.push(self.command(&line, (first, second)));
            }
            let awaited = match line {
                Line::Run | Line::Sleep(_) | Line::Call(_) | Line::Ask { .. } => {
                    Id::CompletionId(second)
                }
                Line::Awakeable => Id::SignalIndex(17 + n),
                Line::Send(_) | Line::Set | Line::Tell => continue,
            };
            if notified.contains(&awaited) {
                continue;
            }
            if matches!(line, Line::Run) {
                said.push(self.ran(second));
            }
            end = Some(AttemptEnd::Suspended(awaiting(&awaited)));
            break;
        }
        if end.is_none() {
            let output = pb::OutputCommand {
                result: Some(pb::output_command::Result::Value(pb::Value::default())),
                ..Default::default()
            };
            said.push(command(MessageType::OUTPUT, &output, None));
            end = Some(AttemptEnd::Completed);
        }
        self.will_say(start, said, end);
    }

    /// In one piece or in two, or with a failure in the middle.
    fn will_say(
        &mut self,
        start: &crate::attempt::Start,
        mut said: Vec<Said>,
        mut end: Option<AttemptEnd>,
    ) {
        let saying = |said, end| AttemptSaid {
            invocation: start.invocation,
            attempt: start.attempt,
            pin: Some(pin(1)),
            said,
            end,
        };
        if !self.calm && self.chance.below(6) == 0 {
            let kept = usize::try_from(self.chance.below(said.len() as u64 + 1)).unwrap();
            said.truncate(kept);
            end = Some(AttemptEnd::Failed(Box::new(self.failed())));
        }
        if self.chance.below(2) == 0 {
            let rest = said.split_off(said.len() / 2);
            self.sayings.push_back(saying(said, None));
            said = rest;
        }
        self.sayings.push_back(saying(said, end));
    }

    fn failed(&mut self) -> Failed {
        let reaction = match self.chance.below(8) {
            0 => Reaction::Pause,
            1 => Reaction::Fail,
            2 => Reaction::RetryAfter(Duration::from_millis(self.chance.below(100))),
            _ => Reaction::Retry,
        };
        Failed {
            failure: AttemptFailure {
                code: 500,
                message: self.chance.below(3).to_string(),
                ..AttemptFailure::default()
            },
            reaction,
            policy: RetryPolicy { max_attempts: Some(4), ..RetryPolicy::default() },
            jitter: self.chance.next(),
            counts_for_entry: true,
        }
    }

    fn command(&mut self, line: &Line, (first, second): (u32, u32)) -> Said {
        match line {
            Line::Run => {
                let run = pb::RunCommand { result_completion_id: second, ..Default::default() };
                command(MessageType::RUN, &run, None)
            }
            Line::Sleep(ms) => {
                let sleep = pb::SleepCommand {
                    wake_up_time: self.now + ms,
                    result_completion_id: second,
                    ..Default::default()
                };
                command(MessageType::SLEEP, &sleep, None)
            }
            Line::Call(target) => {
                let call = pb::CallCommand {
                    service_name: target.service.clone(),
                    handler_name: target.handler.clone(),
                    key: target.key.clone().unwrap_or_default(),
                    invocation_id_notification_idx: first,
                    result_completion_id: second,
                    ..Default::default()
                };
                let callee = self.callee_of(target);
                command(MessageType::CALL, &call, Some(callee))
            }
            Line::Send(target) => {
                let call = pb::OneWayCallCommand {
                    service_name: target.service.clone(),
                    handler_name: target.handler.clone(),
                    key: target.key.clone().unwrap_or_default(),
                    invoke_time: if self.chance.below(2) == 0 { 0 } else { self.now + 50 },
                    invocation_id_notification_idx: first,
                    ..Default::default()
                };
                let callee = self.callee_of(target);
                command(MessageType::ONE_WAY_CALL, &call, Some(callee))
            }
            Line::Ask { expires } => {
                let expires = if *expires { r#","expiresAfterMs":200"# } else { "" };
                let question = format!(r#"{{"message":"ok?"{expires}}}"#);
                let call = pb::CallCommand {
                    service_name: ask::HUMAN.into(),
                    handler_name: "ask".into(),
                    parameter: question.into(),
                    invocation_id_notification_idx: first,
                    result_completion_id: second,
                    ..Default::default()
                };
                command(MessageType::CALL, &call, ask::built_in(ask::HUMAN, "ask"))
            }
            Line::Tell => {
                let call = pb::OneWayCallCommand {
                    service_name: ask::TASK.into(),
                    handler_name: "progress".into(),
                    parameter: Bytes::from_static(br#"{"message":"on it"}"#),
                    invocation_id_notification_idx: first,
                    ..Default::default()
                };
                command(MessageType::ONE_WAY_CALL, &call, ask::built_in(ask::TASK, "progress"))
            }
            Line::Set | Line::Awakeable => {
                let set = pb::SetStateCommand {
                    key: Bytes::from_static(b"n"),
                    value: Some(pb::Value { content: self.now.to_string().into() }),
                    ..Default::default()
                };
                command(MessageType::SET_STATE, &set, None)
            }
        }
    }

    fn callee_of(&mut self, target: &Target) -> Callee {
        let kept = target.ty == HandlerType::Workflow;
        let (retention, idempotent_retention) = (self.retention(kept), self.retention(true));
        Callee { ty: target.ty, retention, idempotent_retention, lazy_state: false }
    }

    /// A result that no other attempt would come to.
    fn ran(&mut self, completion: u32) -> Said {
        let content = Content::value(self.chance.next().to_string());
        let payload = pb::Notification::completion(completion, content).encode_to_vec().into();
        Said::RunCompletion { completion, payload }
    }
}

fn command(ty: MessageType, message: &impl prost::Message, callee: Option<Callee>) -> Said {
    Said::Command { ty, payload: message.encode_to_vec().into(), callee }
}

fn notified(entries: &[Entry]) -> Vec<Id> {
    let notifications = entries.iter().filter(|entry| entry.ty.is_notification());
    notifications
        .map(|entry| pb::Notification::decode(entry.payload.clone()).unwrap().id.unwrap())
        .collect()
}

fn awaiting(id: &Id) -> Awaiting {
    let mut awaiting = Awaiting { signals: vec![SignalName::Index(1)], ..Awaiting::default() };
    match id {
        Id::CompletionId(id) => awaiting.completions.push(*id),
        Id::SignalIndex(index) => awaiting.signals.push(SignalName::Index(*index)),
        Id::SignalName(name) => awaiting.signals.push(SignalName::Name(name.clone())),
    }
    awaiting
}
