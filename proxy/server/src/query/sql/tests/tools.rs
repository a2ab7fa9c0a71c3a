//! The questions that existing tools ask, as they ask them.

use super::check;
use expect_test::expect;

#[tokio::test]
async fn a_list_of_invocations() {
    check(
        "SELECT COUNT(1) FROM (SELECT * FROM sys_invocation inv LIMIT 50000)
         WHERE inv.status != 'completed'",
        expect![[r#"
            {"COUNT(1)":8}
        "#]],
    )
    .await;
    check(
        "SELECT id FROM sys_invocation inv
         WHERE inv.target_service_name IN (select name from sys_service where ty='virtual_object')
         AND status != 'completed' ORDER BY inv.created_at DESC, inv.id LIMIT 100",
        expect![[r#"
            {"id":"inv_10T5Thwsbi8d09qXCwwSQagbNB2POtVHIA"}
            {"id":"inv_10T5Thwsbi8d07xY61dUgVO9rheFrZ8XM4"}
        "#]],
    )
    .await;
    check(
        "SELECT inv.id, inv.target, inv.target_service_ty, inv.idempotency_key, inv.status,
            inv.created_at, inv.modified_at AS state_modified_at, inv.pinned_deployment_id,
            inv.retry_count AS num_retries, inv.last_failure AS last_failure_message,
            inv.last_failure_related_entry_index AS last_failure_entry_index,
            inv.last_failure_related_entry_name AS last_failure_entry_name,
            inv.last_failure_related_entry_type AS last_failure_entry_ty,
            inv.last_attempt_deployment_id, inv.last_attempt_server, inv.next_retry_at,
            inv.last_start_at, inv.invoked_by_id, inv.invoked_by_target, inv.trace_id,
            inv.completion_result, inv.completion_failure,
            dp.id IS NOT NULL AS pinned_deployment_exists
         FROM sys_invocation inv LEFT JOIN sys_deployment dp ON dp.id = inv.pinned_deployment_id
         WHERE inv.status IN ('backing-off', 'suspended') ORDER BY inv.created_at DESC, inv.id",
        expect![[r#"
            {"id":"inv_141kvpM925260dcWFx8PYDagweFaxtvbBC","target":"Svc/waiting","target_service_ty":"service","status":"suspended","created_at":"2027-01-15T08:00:08.000Z","state_modified_at":"2027-01-15T08:00:09.000Z","pinned_deployment_id":"dp_10dcWFx8PYDagweFaxtvbBC","pinned_deployment_exists":true}
            {"id":"inv_141kvpM925260bjX91PRpoIe9UR0aYIrF6","target":"Svc/failing","target_service_ty":"service","status":"backing-off","created_at":"2027-01-15T08:00:06.000Z","state_modified_at":"2027-01-15T08:00:07.000Z","num_retries":1,"last_failure_message":"[500] no route to bank\nat charge","last_attempt_deployment_id":"dp_10dcWFx8PYDagweFaxtvbBC","last_attempt_server":"sdk/1","next_retry_at":"2027-01-15T08:00:07.503Z","last_start_at":"2027-01-15T08:00:07.000Z","pinned_deployment_exists":false}
        "#]],
    )
    .await;
    check(
        "SELECT COUNT(1) FROM sys_invocation inv WHERE pinned_deployment_id IS NOT NULL
         AND pinned_deployment_id NOT IN (select id from sys_deployment)",
        expect![[r#"
            {"COUNT(1)":0}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn what_a_deployment_and_a_service_do() {
    check(
        "SELECT pinned_deployment_id, target_service_name AS service, target_handler_name AS handler,
            COUNT(1) AS inv_count FROM sys_invocation_status
         WHERE pinned_deployment_id = 'dp_10dcWFx8PYDagweFaxtvbBC' AND status != 'completed'
         GROUP BY pinned_deployment_id, target_service_name, target_handler_name
         ORDER BY inv_count DESC, handler",
        expect![[r#"
            {"pinned_deployment_id":"dp_10dcWFx8PYDagweFaxtvbBC","service":"Obj","handler":"holds","inv_count":1}
            {"pinned_deployment_id":"dp_10dcWFx8PYDagweFaxtvbBC","service":"Svc","handler":"waiting","inv_count":1}
        "#]],
    )
    .await;
    check(
        "SELECT target_service_name AS service_name, target_handler_name AS handler_name,
            'pending' AS status, COUNT(1) AS num_invocations, MIN(created_at) AS oldest_at,
            FIRST_VALUE(id ORDER BY created_at ASC) AS oldest_invocation
         FROM sys_invocation_status WHERE status == 'inboxed' AND target_service_name IN ('Obj')
         GROUP BY target_service_name, target_handler_name",
        expect![[r#"
            {"service_name":"Obj","handler_name":"queued","status":"pending","num_invocations":1,"oldest_at":"2027-01-15T08:00:05.000Z","oldest_invocation":"inv_10T5Thwsbi8d09qXCwwSQagbNB2POtVHIA"}
        "#]],
    )
    .await;
    check(
        "WITH held AS (SELECT service_name, service_key, COUNT(1) AS queue FROM sys_inbox
                       GROUP BY service_name, service_key)
         SELECT i.target_service_name AS service, i.target_service_key AS key, i.status,
            first_value(i.id ORDER BY i.created_at) AS id, sum(i.retry_count) AS retries, h.queue
         FROM sys_invocation i LEFT JOIN held h ON h.service_name = i.target_service_name
            AND h.service_key = i.target_service_key
         WHERE i.status != 'pending' AND i.target_service_key IS NOT NULL
         GROUP BY i.target_service_name, i.target_service_key, i.status, h.queue",
        expect![[r#"
            {"service":"Obj","key":"k","status":"ready","id":"inv_10T5Thwsbi8d07xY61dUgVO9rheFrZ8XM4","retries":0,"queue":1}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn who_is_meant() {
    check(
        "SELECT id, target FROM sys_invocation_status WHERE ((target='Obj/k' AND
         target_service_ty='service') OR (target LIKE 'Obj/k/%' AND target_service_ty != 'service'))
         AND status IN ('invoked','suspended') LIMIT 500",
        expect![[r#"
            {"id":"inv_10T5Thwsbi8d07xY61dUgVO9rheFrZ8XM4","target":"Obj/k/holds"}
        "#]],
    )
    .await;
    check(
        "SELECT id FROM sys_invocation_status WHERE target LIKE 'Svc/%' AND status = 'paused'",
        expect![[r#"
            {"id":"inv_141kvpM925260gYVIxKN764leShvgt4FuE"}
        "#]],
    )
    .await;
}

#[tokio::test]
async fn what_the_web_interface_counts() {
    check(
        "SELECT ss.id, ss.status, sis.in_flight FROM sys_invocation_status ss
         LEFT JOIN sys_invocation_state sis ON ss.id = sis.id
         WHERE ss.status = 'invoked' ORDER BY ss.created_at LIMIT 1",
        expect![[r#"
            {"id":"inv_141kvpM9252601SZwviYzes2mjOamuMJWw","status":"invoked","in_flight":true}
        "#]],
    )
    .await;
    check(
        "SELECT s.status, s.completion_result, s.target_service_name, s.target_handler_name,
            count(*) AS count, count(v.id) AS queues
         FROM sys_invocation s LEFT JOIN sys_vqueues v ON v.entry_id = s.id
         GROUP BY s.status, s.completion_result, s.target_service_name, s.target_handler_name
         ORDER BY s.target_service_name, s.target_handler_name LIMIT 3",
        expect![[r#"
            {"status":"ready","target_service_name":"Obj","target_handler_name":"holds","count":1,"queues":0}
            {"status":"pending","target_service_name":"Obj","target_handler_name":"queued","count":1,"queues":0}
            {"status":"completed","completion_result":"success","target_service_name":"Svc","target_handler_name":"done","count":1,"queues":0}
        "#]],
    )
    .await;
    check(
        "WITH active AS (SELECT deployment_id AS id FROM sys_service
                         UNION SELECT pinned_deployment_id FROM sys_invocation_status
                         WHERE status != 'completed' AND pinned_deployment_id IS NOT NULL)
         (SELECT id FROM sys_deployment) EXCEPT (SELECT id FROM active)",
        expect![""],
    )
    .await;
    check(
        "SELECT DISTINCT key FROM state WHERE service_name = 'Obj' AND service_key = 'k' ORDER BY key",
        expect![[r#"
            {"key":"name"}
            {"key":"raw"}
        "#]],
    )
    .await;
    check(
        "SELECT m.id, q.stage, e.status, r.pattern, u.usage FROM sys_vqueue_meta m
         LEFT JOIN sys_vqueues q ON q.id = m.id LEFT JOIN sys_vqueue_entry_status e ON true
         LEFT JOIN sys_rules r ON true LEFT JOIN sys_user_limits u ON true",
        expect![],
    )
    .await;
    check(
        "SELECT COUNT(*) AS before FROM sys_inbox WHERE service_name = 'Obj' AND service_key = 'k'
         AND sequence_number < 1",
        expect![[r#"
            {"before":1}
        "#]],
    )
    .await;
}
