//! State by key, sent along or asked for, and one handler at a time.

use crate::{again, millis, number, sink, slot, text};
use holdfast_sdk::prelude::*;
use serde_json::{Value, json};

macro_rules! kv {
    ($ty:ident, $name:literal, $lazy:literal) => {
        pub struct $ty;

        #[object(
            name = $name,
            lazy_state = $lazy,
            retry(initial_interval = "20ms", factor = 1.3, max_interval = "250ms")
        )]
        impl $ty {
            async fn set(&self, ctx: &ObjectContext, asked: Value) {
                ctx.set(text(&asked, "k"), &asked["v"]);
            }

            #[handler(name = "setMany")]
            async fn set_many(&self, ctx: &ObjectContext, asked: serde_json::Map<String, Value>) {
                for (key, value) in &asked {
                    ctx.set(key, value);
                }
            }

            async fn get(&self, ctx: &SharedObjectContext, key: String) -> Result<Value> {
                Ok(ctx.get(&key).await?.unwrap_or_default())
            }

            #[handler(name = "getX")]
            async fn get_exclusively(&self, ctx: &ObjectContext, key: String) -> Result<Value> {
                Ok(ctx.get(&key).await?.unwrap_or_default())
            }

            async fn clear(&self, ctx: &ObjectContext, key: String) {
                ctx.clear(&key);
            }

            #[handler(name = "clearAll")]
            async fn clear_all(&self, ctx: &ObjectContext) -> Result<Value> {
                let before = sorted(ctx.keys().await?);
                ctx.clear_all();
                Ok(json!({ "before": before, "after": ctx.keys().await? }))
            }

            async fn keys(&self, ctx: &SharedObjectContext) -> Result<Vec<String>> {
                Ok(sorted(ctx.keys().await?))
            }

            #[handler(name = "keysX")]
            async fn keys_exclusively(&self, ctx: &ObjectContext) -> Result<Vec<String>> {
                Ok(sorted(ctx.keys().await?))
            }

            async fn add(&self, ctx: &ObjectContext, more: i64) -> Result<Value> {
                let old = ctx.get("n").await?.unwrap_or(0);
                ctx.set("n", &(old + more));
                Ok(json!({ "old": old, "new": old + more }))
            }

            async fn count(&self, ctx: &SharedObjectContext) -> Result<i64> {
                Ok(ctx.get("n").await?.unwrap_or(0))
            }

            #[handler(name = "addThenFail")]
            async fn add_then_fail(&self, ctx: &ObjectContext, more: i64) -> Result<()> {
                let old = ctx.get("n").await?.unwrap_or(0);
                ctx.set("n", &(old + more));
                Err(Terminal::new(format!("failed at {}", ctx.key())).code(418).into())
            }

            #[handler(name = "addFlaky")]
            async fn add_flaky(&self, ctx: &ObjectContext, asked: Value) -> Result<Value> {
                let old = ctx.get("n").await?.unwrap_or(0);
                ctx.set("n", &(old + number(&asked, "n")));
                ctx.run("sync", async || Ok(())).await?;
                if ctx.unrecorded(sink::hit(&slot(&asked, ""))).await? < 3 {
                    return again("after set");
                }
                Ok(json!({ "old": old, "new": ctx.get::<i64>("n").await? }))
            }

            #[handler(name = "readBack")]
            async fn read_back(&self, ctx: &ObjectContext, key: String) -> Result<Value> {
                let before = ctx.get::<String>(&key).await?;
                ctx.set(&key, "one");
                let one = ctx.get::<String>(&key).await?;
                ctx.set(&key, "two");
                let two = ctx.get::<String>(&key).await?;
                ctx.clear(&key);
                Ok(json!([before, one, two, ctx.get::<String>(&key).await?]))
            }

            #[handler(name = "bigSet")]
            async fn big_set(&self, ctx: &ObjectContext, asked: Value) -> Result<()> {
                let length = usize::try_from(number(&asked, "n"))?;
                ctx.set(text(&asked, "k"), &"z".repeat(length));
                Ok(())
            }

            #[handler(name = "bigLen")]
            async fn big_len(&self, ctx: &ObjectContext, key: String) -> Result<usize> {
                Ok(ctx.get::<String>(&key).await?.unwrap_or_default().len())
            }

            async fn me(&self, ctx: &SharedObjectContext) -> String {
                ctx.key().to_owned()
            }

            async fn hold(&self, ctx: &ObjectContext, asked: Value) -> Result<Value> {
                ctx.set(text(&asked, "k"), &asked["v"]);
                let (id, told) = ctx.awakeable();
                ctx.run("publish", async || sink::put(&slot(&asked, ""), &id).await).await?;
                Ok(told.await?)
            }
        }
    };
}

kv!(Kv, "CfKv", false);
kv!(KvLazy, "CfKvLazy", true);

fn sorted(mut keys: Vec<String>) -> Vec<String> {
    keys.sort();
    keys
}

pub struct Lock;

#[object(name = "CfLock", retry(initial_interval = "20ms", factor = 1.3, max_interval = "250ms"))]
impl Lock {
    async fn hold(&self, ctx: &ObjectContext, asked: Value) -> Result<Value> {
        ctx.unrecorded(sink::push(&slot(&asked, "/log"), "in")).await?;
        let (id, told) = ctx.awakeable();
        ctx.set("holder", text(&asked, "slot"));
        ctx.run("publish", async || sink::put(&slot(&asked, "/awk"), &id).await).await?;
        let value = told.await?;
        ctx.clear("holder");
        ctx.run("leave", async || sink::push(&slot(&asked, "/log"), "out").await).await?;
        Ok(value)
    }

    async fn holder(&self, ctx: &SharedObjectContext) -> Result<Option<String>> {
        Ok(ctx.get("holder").await?)
    }

    #[handler(name = "sharedWait")]
    async fn shared_wait(&self, ctx: &SharedObjectContext, asked: Value) -> Result<Value> {
        ctx.run("arrive", async || sink::hit(&slot(&asked, "/arrived")).await).await?;
        let (id, told) = ctx.awakeable();
        ctx.run("publish", async || sink::push(&slot(&asked, "/awks"), &id).await).await?;
        Ok(told.await?)
    }

    #[handler(name = "slowAdd")]
    async fn slow_add(&self, ctx: &ObjectContext, more: i64) -> Result<i64> {
        let old = ctx.get("n").await?.unwrap_or(0);
        ctx.unrecorded(tokio::time::sleep(millis(5))).await;
        ctx.set("n", &(old + more));
        Ok(old + more)
    }

    #[handler(name = "sleepAdd")]
    async fn sleep_add(&self, ctx: &ObjectContext, more: i64) -> Result<i64> {
        let old = ctx.get("n").await?.unwrap_or(0);
        ctx.sleep(millis(10)).await?;
        ctx.set("n", &(old + more));
        Ok(old + more)
    }

    async fn total(&self, ctx: &SharedObjectContext) -> Result<i64> {
        Ok(ctx.get("n").await?.unwrap_or(0))
    }

    async fn append(&self, ctx: &ObjectContext, value: Value) -> Result<usize> {
        let mut list: Vec<Value> = ctx.get("l").await?.unwrap_or_default();
        list.push(value);
        ctx.set("l", &list);
        Ok(list.len())
    }

    async fn list(&self, ctx: &SharedObjectContext) -> Result<Vec<Value>> {
        Ok(ctx.get("l").await?.unwrap_or_default())
    }

    async fn overlap(&self, ctx: &ObjectContext, asked: Value) -> Result<()> {
        let (place, key) = (slot(&asked, ""), ctx.key());
        ctx.run("in", async || sink::push(&place, &format!("+{key}")).await).await?;
        ctx.unrecorded(tokio::time::sleep(millis(number(&asked, "ms")))).await;
        ctx.run("out", async || sink::push(&place, &format!("-{key}")).await).await?;
        Ok(())
    }
}
