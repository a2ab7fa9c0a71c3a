//! The story, top to bottom. Each line it prints is printed after it was seen.

use crate::Seen;
use crate::outside::Fate;
use crate::process::LOOK_EVERY;
use crate::proof::Proof;
use crate::sidecar::Sidecar;
use crate::stage::{Cast, Stage};
use serde_json::json;

/// The step in which the service is killed.
const KILLED_IN: &str = "reserve-amount";
const ASK: &str = "ask-approver";

/// Tells it and returns who is still there at its end.
pub async fn tell(stage: &Stage) -> Seen<Cast> {
    let Stage { outside, sidecar, .. } = stage;
    let cast = begin(stage).await?;

    act("A refund is asked for; its second step takes a while");
    outside.hold(KILLED_IN);
    let order = json!({ "orderId": "order-42", "amount": 120.0 });
    let id = sidecar.send("Refund/refund", &order).await?;
    outside.see(&id, KILLED_IN, Fate::Waiting).await?;
    println!("   {id} is in step {KILLED_IN}");
    show(sidecar, &id, &["check-order"]).await?;

    let cast = kill_service(stage, cast, &id).await?;

    act("The invocation goes on by itself until it needs a human; then no process holds it");
    let asked = outside.see(&id, ASK, Fate::CarriedOut).await?;
    let awakeable = asked.detail.ok_or("the approver was not told which awakeable to resolve")?;
    sidecar.see_status(&id, "suspended").await?;
    show(sidecar, &id, &["check-order", KILLED_IN, ASK]).await?;

    let cast = kill_sidecar(stage, cast, &id).await?;

    act("A human approves");
    sidecar.resolve(&awakeable, &json!({ "approved": true, "by": "the demo" })).await?;
    let result = sidecar.result(&id).await?;
    println!("   {result}");
    sidecar.see_status(&id, "completed").await?;

    act("The finished journal, and what the outside world saw");
    show(sidecar, &id, &["check-order", KILLED_IN, ASK]).await?;
    Proof::of(&outside.calls(&id), &result, KILLED_IN).print_and_check()?;
    Ok(cast)
}

/// Tells how to go on by hand, and then which awakeables are waiting for an answer; never ends.
pub async fn keep(stage: &Stage) -> Seen<()> {
    let Stage { outside, sidecar, .. } = stage;
    let (ingress, admin, holdfast) = (&sidecar.ingress, &sidecar.admin, sidecar.path().display());
    act("Left running until Ctrl-C; in another terminal:");
    println!(
        "   curl {ingress}/Refund/refund/send --json '{{\"orderId\": \"order-43\", \"amount\": 7}}'
   {holdfast} invocations list --admin {admin}
   {holdfast} invocations describe ID --admin {admin}
   and answer with the command that will be printed here"
    );
    let mut told = outside.carried_out(ASK).len();
    loop {
        for ask in outside.carried_out(ASK).split_off(told) {
            told += 1;
            let awakeable = ask.detail.unwrap_or_default();
            println!("\n   {} asks for approval:", ask.id);
            println!(
                "   curl {ingress}/restate/awakeables/{awakeable}/resolve --json '{{\"approved\": true}}'"
            );
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
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
