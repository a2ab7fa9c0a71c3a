//! Which limits count a target. Pure.

use crate::registry::Limit;
use holdfast_machine::model::Target;
use std::collections::HashMap;

/// The limits by service.
#[derive(Debug, Default)]
pub(super) struct Rules(HashMap<String, Vec<Rule>>);

#[derive(Debug)]
struct Rule {
    handler: Option<String>,
    key_prefix: Option<String>,
    limit: usize,
}

impl Rules {
    pub(super) fn new(limits: &[Limit]) -> Rules {
        let mut rules: HashMap<String, Vec<Rule>> = HashMap::new();
        for (limit, Limit { subject, .. }) in limits.iter().enumerate() {
            rules.entry(subject.service.clone()).or_default().push(Rule {
                handler: subject.handler.clone(),
                key_prefix: subject.key_prefix.clone(),
                limit,
            });
        }
        Rules(rules)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Places of the limits that count `target`, in rising order.
    pub(super) fn of(&self, target: &Target) -> Vec<usize> {
        let rules = self.0.get(&target.service).into_iter().flatten();
        rules.filter(|rule| rule.counts(target)).map(|rule| rule.limit).collect()
    }
}

impl Rule {
    fn counts(&self, target: &Target) -> bool {
        let is_handler = self.handler.as_ref().is_none_or(|handler| *handler == target.handler);
        let is_key = self.key_prefix.as_ref().is_none_or(|prefix| {
            target.key.as_ref().is_some_and(|key| key.starts_with(prefix.as_str()))
        });
        is_handler && is_key
    }
}
