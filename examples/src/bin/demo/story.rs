//! The story, top to bottom. Each line it prints is printed after it was seen.

use crate::Seen;
use crate::outside::Fate;
use crate::proof::Proof;
use crate::sidecar::Sidecar;
use crate::stage::{Cast, Stage};
use serde_json::json;

/// The step in which the service is killed.
const KILLED_IN: &str = "reserve-amount";
const CHECK: &str = "check-order";
const PAY: &str = "pay-back";

/// Tells it and returns who is still there at its end.
pub async fn tell(stage: &Stage) -> Seen<Cast> {
    let Stage { outside, sidecar, agent, .. } = stage;
    let cast = begin(stage).await?;

    act("An agent calls the tool refund over MCP and gets a task; the second step takes a while");
    outside.hold(KILLED_IN);
    let task = agent.call("refund", &json!({ "orderId": "order-42", "amount": 120.0 })).await?;
    let id = outside.first().await?;
    outside.see(&id, KILLED_IN, Fate::Waiting).await?;
    println!("   {task}\n   is {id}, which is in step {KILLED_IN}");
    show(sidecar, &id, &[CHECK]).await?;

    let cast = kill_service(stage, cast, &id).await?;

    act("The invocation goes on by itself until it asks a human; then no process holds it");
    let asking = agent.see(&task, "input_required").await?;
    println!("   tasks/get: {}", asking["inputRequests"]);
    sidecar.see_status(&id, "suspended").await?;
    show(sidecar, &id, &[CHECK, KILLED_IN, "holdfast.Human/ask"]).await?;

    let cast = kill_sidecar(stage, cast, &id).await?;

    act("A human approves, and the agent sees the task completed");
    agent.answer(&agent.see(&task, "input_required").await?, &json!({ "approved": true })).await?;
    let done = agent.see(&task, "completed").await?;
    let result = &done["result"]["structuredContent"];
    println!("   {result}");
    sidecar.see_status(&id, "completed").await?;

    act("The finished journal, and what the outside world saw");
    show(sidecar, &id, &[CHECK, KILLED_IN, PAY]).await?;
    Proof::of(&outside.calls(&id), result, KILLED_IN).print_and_check()?;
    Ok(cast)
}

/// Tells how to go on by hand; never ends.
pub async fn keep(stage: &Stage) -> Seen<()> {
    let Stage { sidecar, .. } = stage;
    let (ingress, admin, holdfast) = (&sidecar.ingress, &sidecar.admin, sidecar.path().display());
    act("Left running until Ctrl-C. Give the tool to an agent, or call it in another terminal:");
    println!(
        "   claude mcp add --transport http holdfast {ingress}/mcp
   curl {ingress}/Refund/refund/send --json '{{\"orderId\": \"order-43\", \"amount\": 7}}'
   {holdfast} asks list --admin {admin}
   {holdfast} asks answer ASK accept --set approved=true --admin {admin}
   {holdfast} invocations list --admin {admin}
   {holdfast} invocations describe ID --admin {admin}"
    );
    std::future::pending().await
}

async fn begin(stage: &Stage) -> Seen<Cast> {
    act("A sidecar with an empty journal, a refund service beside it");
    let service = stage.service.start()?;
    let sidecar = stage.sidecar.start("Refund").await?;
    Ok(Cast { service, sidecar })
}

async fn kill_service(stage: &Stage, cast: Cast, id: &str) -> Seen<Cast> {
    act("The service is killed in the middle of that step, and started again");
    cast.service.kill().await?;
    stage.outside.see(id, KILLED_IN, Fate::Abandoned).await?;
    stage.outside.release();
    Ok(Cast { service: stage.service.start()?, ..cast })
}

async fn kill_sidecar(stage: &Stage, cast: Cast, id: &str) -> Seen<Cast> {
    act("The sidecar is killed while the invocation is suspended, and started again");
    let before = stage.outside.calls(id).len();
    cast.sidecar.kill().await?;
    let sidecar = stage.sidecar.start("Refund").await?;
    stage.sidecar.see_status(id, "suspended").await?;
    if stage.outside.calls(id).len() != before {
        return Err("the restart of the sidecar made the suspended handler run".into());
    }
    println!("   still suspended, and nothing ran in the meantime");
    Ok(Cast { sidecar, ..cast })
}

fn act(title: &str) {
    println!("\n== {title}");
}

/// Prints the journal, and fails if a step is missing in it.
async fn show(sidecar: &Sidecar, id: &str, steps: &[&str]) -> Seen<()> {
    let journal = sidecar.journal(id).await?;
    println!("{}", journal.trim_end());
    match steps.iter().find(|step| !journal.contains(*step)) {
        Some(missing) => Err(format!("the journal does not show step {missing}").into()),
        None => Ok(()),
    }
}
