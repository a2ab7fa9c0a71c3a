//! Invocations by id, or by what they call, as a condition in SQL.

use super::super::api::quote;

/// What was typed.
#[derive(Debug, PartialEq, Eq)]
pub enum Target<'t> {
    Id(&'t str),
    /// `Service`, `Service/handler`, `Object/key` or `Object/key/handler`.
    Called(&'t str),
}

impl<'t> Target<'t> {
    pub fn read(text: &'t str) -> Target<'t> {
        if text.starts_with("inv_") { Target::Id(text) } else { Target::Called(text) }
    }
}

/// Which invocations call `text`. The handler of a plain service stands where the key of an object
/// does, so two parts can mean either; the type of the service tells which.
pub fn condition(text: &str) -> String {
    let parts: Vec<&str> = text.split('/').collect();
    let service = format!("target_service_name = {}", quote(parts[0]));
    match parts.as_slice() {
        [_] => service,
        [_, second] => format!(
            "{service} AND ((target_service_ty = 'service' AND target_handler_name = {0}) \
             OR (target_service_ty != 'service' AND target_service_key = {0}))",
            quote(second)
        ),
        // Keys may have slashes.
        [_, key @ .., handler] => format!(
            "{service} AND target_service_ty != 'service' AND ((target_service_key = {} \
             AND target_handler_name = {}) OR target_service_key = {})",
            quote(&key.join("/")),
            quote(handler),
            quote(&parts[1..].join("/"))
        ),
        [] => service,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn what_is_typed_becomes_a_condition() {
        let typed = ["Lock", "Lock/k'1", "Lock/k1/hold", "Lock/a/b/hold"];
        let conditions = typed.map(|text| format!("{}\n", condition(text)));
        expect![[r#"
            target_service_name = 'Lock'
            target_service_name = 'Lock' AND ((target_service_ty = 'service' AND target_handler_name = 'k''1') OR (target_service_ty != 'service' AND target_service_key = 'k''1'))
            target_service_name = 'Lock' AND target_service_ty != 'service' AND ((target_service_key = 'k1' AND target_handler_name = 'hold') OR target_service_key = 'k1/hold')
            target_service_name = 'Lock' AND target_service_ty != 'service' AND ((target_service_key = 'a/b' AND target_handler_name = 'hold') OR target_service_key = 'a/b/hold')
        "#]].assert_eq(&conditions.concat());
        assert_eq!(Target::read("inv_1x"), Target::Id("inv_1x"));
        assert_eq!(Target::read("Lock/k1"), Target::Called("Lock/k1"));
    }
}
