//! Handlers under the double: whole runs, and proofs that hold and that fail.

use holdfast_sdk::prelude::*;
use holdfast_sdk::testing::Double;
use holdfast_sdk::{Answer, Request, join_all, race, schemars, select, try_join_all, unordered};
use serde_json::json;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 3600);

#[derive(Default)]
struct Shop {
    charged: Arc<AtomicU32>,
    attempts: Arc<AtomicU32>,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Approval {
    reason: String,
}

#[service]
impl Shop {
    async fn buy(&self, ctx: &Context, thing: String) -> Result<String> {
        let receipt = ctx.run("charge", async || {
            self.charged.fetch_add(1, Ordering::SeqCst);
            Ok(format!("receipt for {thing}"))
        });
        let receipt = receipt.await?;
        ctx.sleep(DAY).await?;
        let total: u32 = ctx.call(CartClient::new("ada").add(7)).await?;
        ctx.send_after(DAY, CartClient::new("bob").add(1));
        Ok(format!("{receipt}, {total}, {}", ctx.uuid()))
    }

    async fn fan(&self, ctx: &Context) -> Result<Vec<u32>> {
        let adds = (1..=5).map(|n| ctx.call(CartClient::new("fan").add(n)));
        let totals = try_join_all(adds).await?;
        let steps = (0..3).map(|n| ctx.run("n", async move || Ok(n)));
        let steps = join_all(steps).await?.into_iter().filter_map(|step| step.ok());
        Ok(totals.into_iter().chain(steps).collect())
    }

    async fn first(&self, ctx: &Context) -> Result<String> {
        let naps = [3, 1, 2].map(|days| ctx.sleep(DAY * days));
        let (which, nap) = race(naps).await;
        nap?;
        let (_, told) = ctx.awakeable::<String>();
        let said = select! {
            told = told => told?,
            nap = ctx.sleep(DAY) => { nap?; "nobody".to_owned() }
        };
        let mut order = vec![];
        let mut naps = unordered([2, 1].map(|days| ctx.sleep(DAY * days)));
        while let Some((which, _)) = naps.next().await {
            order.push(which);
        }
        Ok(format!("{which} {said} {order:?}"))
    }

    async fn approve(&self, ctx: &Context) -> Result<String> {
        ctx.progress_of("asking", 1.0, 2.0);
        match ctx.ask::<Approval>("Go on?").to("approvers").begin().await? {
            Answer::Accept { content, .. } => Ok(content.reason),
            Answer::Decline { .. } | Answer::Cancel { .. } => Ok("no".to_owned()),
        }
    }

    async fn stoppable(&self, ctx: &Context) -> Result<String> {
        ctx.on_failure(|ctx| async move {
            ctx.call(CartClient::new("undo").add(1)).await?;
            Ok(())
        });
        let work = ctx.signal::<String>("stop").await?;
        ctx.sleep(DAY).await?;
        Ok(work)
    }

    /// Contradicts itself in every second attempt.
    async fn crooked(&self, ctx: &Context) -> Result<()> {
        match self.attempts.fetch_add(1, Ordering::SeqCst) % 2 {
            0 => ctx.run("one", async || Ok(())).await?,
            _ => ctx.run("two", async || Ok(())).await?,
        }
        Ok(())
    }

    /// Gives something else each time.
    async fn fickle(&self, ctx: &Context) -> Result<u32> {
        ctx.sleep(DAY).await?;
        Ok(self.attempts.fetch_add(1, Ordering::SeqCst))
    }
}

/// Whom to remind, in no order and in one.
const NAMES: [&str; 8] = ["ada", "bob", "cleo", "dan", "eve", "fay", "gus", "hal"];

/// What is wrong with it shows only where it crashes: it never waits, and all is sent in the end.
struct Reminder;

#[service]
impl Reminder {
    /// A `HashMap` has another order in each attempt.
    async fn in_no_order(&self, ctx: &Context) -> Result<usize> {
        let names: HashMap<&str, u32> = NAMES.into_iter().map(|name| (name, 1)).collect();
        for (name, more) in &names {
            ctx.send(CartClient::new(*name).add(*more));
        }
        Ok(names.len())
    }

    async fn in_order(&self, ctx: &Context) -> Result<usize> {
        let names: BTreeMap<&str, u32> = NAMES.into_iter().map(|name| (name, 1)).collect();
        for (name, more) in &names {
            ctx.send(CartClient::new(*name).add(*more));
        }
        Ok(names.len())
    }
}

struct Cart;

#[object]
impl Cart {
    async fn add(&self, ctx: &ObjectContext, more: u32) -> Result<u32> {
        let total = ctx.get("total").await?.unwrap_or(0) + more;
        ctx.set("total", &total);
        ctx.sleep(DAY).await?;
        assert_eq!(ctx.keys().await?, ["total"]);
        Ok(total)
    }
}

struct Signup;

#[workflow]
impl Signup {
    async fn run(&self, ctx: &WorkflowContext, email: String) -> Result<String> {
        ctx.send(SignupClient::new(ctx.key()).confirm("1234"));
        let code: String = ctx.promise("code").await?;
        ctx.set("email", &email);
        Ok(code)
    }

    async fn confirm(&self, ctx: &SharedWorkflowContext, code: String) -> Result<bool> {
        ctx.resolve_promise("code", &code).await?;
        let late = ctx.resolve_promise("code", "again").await.unwrap_err();
        Ok(late.http_code() == 409 && ctx.peek_promise::<String>("code").await?.is_some())
    }
}

fn double() -> (Double, Arc<AtomicU32>) {
    let shop = Shop::default();
    let charged = shop.charged.clone();
    let endpoint = Endpoint::builder().bind(shop).bind(Cart).bind(Signup).build();
    (Double::new(endpoint), charged)
}

#[tokio::test]
async fn a_handler_runs_through_with_all_it_calls() {
    let (double, charged) = double();
    let double = double.state("Cart", "ada", "total", &10);
    let bought = double.call(ShopClient::buy("a book")).await.unwrap();
    assert!(bought.starts_with("receipt for a book, 17, "), "{bought}");
    assert_eq!(charged.load(Ordering::SeqCst), 1);
    let proof = double.prove(|| ShopClient::buy("a book")).await;
    assert!(proof.crashes > 15, "{proof:?}");
}

#[tokio::test]
async fn combinators_are_deterministic() {
    let (double, _) = double();
    assert_eq!(double.call(ShopClient::fan()).await.unwrap(), [1, 3, 6, 10, 15, 0, 1, 2]);
    double.prove(ShopClient::fan).await;
    assert_eq!(double.call(ShopClient::first()).await.unwrap(), "1 nobody [1, 0]");
    double.prove(ShopClient::first).await;
    let told = double.awakeable("somebody");
    assert_eq!(told.call(ShopClient::first()).await.unwrap(), "1 somebody [1, 0]");
    told.prove(ShopClient::first).await;
}

#[tokio::test]
async fn workflows_meet_their_handlers() {
    let (double, _) = double();
    let run = || SignupClient::new("ada").run("ada@example.com");
    assert_eq!(double.call(run()).await.unwrap(), "1234");
    double.prove(run).await;
}

#[tokio::test]
async fn a_human_is_played_by_the_test() {
    let (double, _) = double();
    let asked = double
        .answer("holdfast.Human", "ask", |question| {
            assert_eq!(question["to"], "approvers");
            assert_eq!(question["schema"]["required"], json!(["reason"]));
            Ok(json!({ "action": "accept", "content": { "reason": "fair" }, "by": "ada" }))
        })
        .answer("holdfast.Task", "progress", |_| Ok(json!(null)));
    assert_eq!(asked.call(ShopClient::approve()).await.unwrap(), "fair");
    asked.prove(ShopClient::approve).await;
}

#[tokio::test]
async fn cancelling_undoes_what_was_done() {
    let (double, _) = double();
    let cancelled = double.cancel();
    assert!(cancelled.call(ShopClient::stoppable()).await.unwrap_err().is_cancelled());
    cancelled.prove(ShopClient::stoppable).await;
    let (double, _) = self::double();
    let told = double.signal("stop", "done").cancel();
    assert!(told.call(ShopClient::stoppable()).await.unwrap_err().is_cancelled());
    told.prove(ShopClient::stoppable).await;
}

/// What a test panics with.
async fn panic_of(test: impl Future<Output = ()> + Send + 'static) -> String {
    let panic = tokio::spawn(test).await.unwrap_err().into_panic();
    *panic.downcast::<String>().unwrap()
}

#[tokio::test]
async fn a_proof_says_what_is_not_deterministic() {
    let crooked = panic_of(async {
        double().0.prove(ShopClient::crooked).await;
    });
    let crooked = crooked.await;
    assert!(crooked.contains("not deterministic, when it is suspended"), "{crooked}");
    assert!(crooked.contains("the journal holds Run `two`"), "{crooked}");
    let fickle = panic_of(async {
        double().0.prove(ShopClient::fickle).await;
    });
    let fickle = fickle.await;
    assert!(fickle.contains("the outcome was `0`, and is `"), "{fickle}");
}

#[tokio::test]
async fn a_proof_crashes_a_handler_after_each_entry() {
    let double = || Double::new(Endpoint::builder().bind(Reminder).bind(Cart).build());
    let said = double().call(ReminderClient::in_no_order()).await;
    assert_eq!(said.unwrap(), NAMES.len(), "nothing is seen of it without a crash");
    let problem = panic_of(async move {
        double().prove(ReminderClient::in_no_order).await;
    });
    let problem = problem.await;
    assert!(problem.contains("not deterministic, when it crashes after "), "{problem}");
    assert!(problem.contains("journal mismatch at command "), "{problem}");
    assert!(problem.matches("Cart/").count() >= 2, "both sides are shown: {problem}");
    assert!(problem.contains("tests/double.rs:"), "the line is named: {problem}");
    let proof = double().prove(ReminderClient::in_order).await;
    assert!(proof.crashes > 2 * NAMES.len() as u32, "{proof:?}");
}

#[tokio::test]
async fn what_nobody_does_is_said() {
    let stuck = panic_of(async {
        let _ = double().0.call(ShopClient::stoppable()).await;
    });
    assert!(stuck.await.contains("Shop/stoppable still waits"));
    let unknown = panic_of(async {
        let _: Result<(), Terminal> = double().0.call(Request::new("Nobody", "home", &())).await;
    });
    assert!(unknown.await.contains("there is no handler `Nobody/home` in this test"));
}
