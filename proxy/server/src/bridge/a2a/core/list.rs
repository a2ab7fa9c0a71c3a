//! ListTasks: the caller's tasks of one agent, the newest first, page by page.

use super::{Agent, Caller, Core, refused};
use crate::bridge::a2a::error::Error;
use crate::bridge::a2a::model::{TaskPage, params};
use crate::bridge::a2a::render;
use crate::tasks::Filter;

impl Core {
    /// ListTasks.
    pub async fn list(
        &self,
        agent: &Agent,
        caller: &Caller,
        list: params::List,
    ) -> Result<TaskPage, Error> {
        list.check()?;
        let filter = filter(agent, &list);
        let page = self.tasks().list(caller.principal.as_str(), filter).await;
        let page = page.map_err(|error| refused("", error))?;
        let mut tasks = Vec::with_capacity(page.tasks.len());
        for task in &page.tasks {
            let told = self.told(agent, caller, task, list.history_length).await;
            match told {
                Ok(mut told) => {
                    if !list.include_artifacts {
                        told.artifacts.clear();
                    }
                    tasks.push(told);
                }
                // It was forgotten between the two looks.
                Err(Error::TaskNotFound(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(TaskPage {
            tasks,
            next_page_token: page.next.unwrap_or_default(),
            page_size: list.size(),
            total_size: i32::try_from(page.total).unwrap_or(i32::MAX),
        })
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
