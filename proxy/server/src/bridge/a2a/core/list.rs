//! ListTasks: the caller's tasks of one agent, the newest first, page by page.

use super::{Agent, Caller, Core, refused};
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::model::{TaskPage, params};
use crate::bridge::a2a::render::{self, Shown};
use crate::tasks::{Filter, Tasks};

/// A page that holds so much, in bytes, takes no further task.
const PAGE_BYTES_MAX: usize = 16 << 20;

impl Core {
    /// ListTasks. A page may hold fewer tasks than were asked for, where they are large.
    pub async fn list(
        &self,
        agent: &Agent,
        caller: &Caller,
        list: params::List,
    ) -> Result<TaskPage, Error> {
        list.check()?;
        let (filter, principal) = (filter(agent, &list), caller.principal.as_str());
        let page = self.tasks().list(principal, filter.clone()).await;
        let page = page.map_err(|error| refused("", error))?;
        let shown = Shown { artifacts: list.include_artifacts, history: list.history_length };
        let mut told = TaskPage {
            tasks: Vec::with_capacity(page.tasks.len()),
            next_page_token: page.next.unwrap_or_default(),
            page_size: list.size(),
            total_size: i32::try_from(page.total).unwrap_or(i32::MAX),
        };
        let mut bytes = 0;
        for (at, task) in page.tasks.iter().enumerate() {
            match self.told(agent, caller, task, shown).await {
                Ok(task) => {
                    bytes += task.bytes();
                    told.tasks.push(task);
                }
                // It was forgotten between the two looks.
                Err(Error::TaskNotFound(_)) => {}
                Err(error) => return Err(error),
            }
            if bytes >= PAGE_BYTES_MAX && at + 1 < page.tasks.len() {
                told.next_page_token = Tasks::token_after(principal, &filter, task);
                break;
            }
        }
        Ok(told)
    }
}

fn filter(agent: &Agent, list: &params::List) -> Filter {
    let of = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let handlers = agent.skills.iter();
    Filter {
        context: of(&list.context_id),
        state: list.status.map(render::from_model),
        updated_since: list.status_timestamp_after,
        handlers: handlers.map(|it| (it.service().to_owned(), it.handler().to_owned())).collect(),
        page_size: usize::try_from(list.size()).unwrap_or(1),
        page_token: of(&list.page_token),
    }
}
