//! The Rust of the documentation is compiled: each block of it on our SDK stands in this file too,
//! among the things that it takes for granted.
#![expect(dead_code, reason = "the documentation shows it; nobody calls it")]

use serde::{Deserialize, Serialize};
use std::path::Path;

/// What examples take for granted.
mod given {
    use super::*;
    use holdfast_sdk::{schemars, schemars::JsonSchema};
    use std::{io, time::Duration};

    pub const DAY: Duration = Duration::from_secs(24 * 3600);

    #[derive(Clone, Serialize, Deserialize)]
    pub struct Order {
        pub id: String,
        pub amount: f64,
    }

    #[derive(Clone, Serialize, Deserialize)]
    pub struct Receipt;

    #[derive(Clone, Serialize, Deserialize, JsonSchema)]
    pub struct Approval {
        pub approved: bool,
    }

    impl Approval {
        pub fn expired() -> Approval {
            Approval { approved: false }
        }
    }

    #[derive(Clone, Serialize, Deserialize)]
    pub struct Thing;

    #[derive(Clone, Serialize, Deserialize)]
    pub struct Cart {
        pub total: f64,
    }

    #[derive(Serialize, Deserialize)]
    pub struct Confirmation {
        pub payment: String,
    }

    #[derive(Clone)]
    pub struct Payments;

    impl Payments {
        pub fn new() -> Payments {
            Payments
        }

        pub async fn refund(&self, _: &Order, _: &str) -> io::Result<Receipt> {
            Ok(Receipt)
        }
    }

    pub async fn reserve(_: &str) -> io::Result<u64> {
        Ok(7)
    }
}

mod readme {
    use super::given::reserve;

    use holdfast_sdk::prelude::*;
    use std::time::Duration;

    struct Greeter;

    #[service]
    impl Greeter {
        async fn greet(&self, ctx: &Context, name: String) -> Result<String> {
            let number = ctx.run("reserve", async || Ok(reserve(&name).await?)).await?;
            ctx.sleep(Duration::from_secs(1)).await?;
            Ok(format!("Hello {name}, you are number {number}"))
        }
    }

    #[tokio::main]
    async fn main() -> std::io::Result<()> {
        Endpoint::builder().bind(Greeter).build().listen("127.0.0.1:9080").await
    }
}

mod first {
    use super::given::{Approval, Order, Payments, Receipt};

    use holdfast_sdk::prelude::*;
    use std::time::Duration;

    struct Refund {
        payments: Payments, // whatever your service needs
    }

    /// Gives money back.
    #[service(name = "Refund", expose = "mcp,a2a")]
    impl Refund {
        async fn refund(&self, ctx: &Context, order: Order) -> Result<Receipt> {
            let (id, approval) = ctx.awakeable::<Approval>();
            ctx.run("ask", async || Ok(self.mail_approver(&order, &id).await?)).await?;

            // Suspended here, for two days if need be: no process and no memory is held.
            let Some(approval) = approval.or_timeout(Duration::from_secs(48 * 3600)).await? else {
                return Err(Terminal::new("nobody approved").code(408).into());
            };
            if !approval.approved {
                return Err(Terminal::new("declined").code(403).into());
            }
            let key = ctx.uuid(); // the same in every attempt
            let receipt =
                ctx.run("pay back", async || Ok(self.payments.refund(&order, &key).await?));
            Ok(receipt.retry(RetryPolicy::new().max_attempts(5)).await?)
        }
    }

    #[tokio::main]
    async fn main() -> std::io::Result<()> {
        let refund = Refund { payments: Payments::new() };
        Endpoint::builder().bind(refund).build().listen("127.0.0.1:9080").await
    }

    impl Refund {
        async fn mail_approver(&self, _: &Order, _: &str) -> Result<(), std::io::Error> {
            Ok(())
        }
    }
}

mod options {
    use super::given::Thing;
    use holdfast_sdk::prelude::*;

    pub struct Cart;

    #[object(
        name = "shop.Cart",
        inactivity_timeout = "30s",
        retry(
            initial_interval = "100ms",
            factor = 2.0,
            max_interval = "10s",
            max_attempts = 20,
            on_max_attempts = "pause"
        )
    )]
    impl Cart {
        /// Puts something into the cart.
        #[handler(idempotency_retention = "2d", title = "Add to cart")]
        async fn add(&self, ctx: &ObjectContext, thing: Thing) -> Result<usize> {
            let mut things: Vec<Thing> = ctx.get("things").await?.unwrap_or_default();
            things.push(thing);
            ctx.set("things", &things);
            Ok(things.len())
        }
    }

    pub struct Mail;

    #[service]
    impl Mail {
        async fn remind(&self, _: &Context, _: String) {}
    }
}

mod clients {
    use super::given::Thing;
    use super::options::{CartClient, MailClient};
    use holdfast_sdk::{BoxError, Ingress, prelude::*};
    use std::time::Duration;

    async fn within(ctx: &Context, thing: Thing) -> Result<usize> {
        let total = ctx.call(CartClient::new("ada").add(thing)).await?;
        ctx.send_after(
            Duration::from_secs(3600),
            MailClient::remind("ada").idempotency_key("remind-ada"),
        );
        Ok(total)
    }

    fn thing() -> Thing {
        Thing
    }

    async fn outside() -> Result<(usize, String, usize), BoxError> {
        let ingress = Ingress::new("http://127.0.0.1:8080");
        let total =
            ingress.call(CartClient::new("ada").add(thing()).idempotency_key("add-17")).await?;
        let invocation = ingress.send(MailClient::remind("ada")).await?;

        let add = || CartClient::new("ada").add(thing()).idempotency_key("add-17");
        let again = ingress.attach_request(add()).await?; // what the same request began, perhaps in another program
        Ok((total, invocation, again))
    }
}

mod asking {
    use super::given::{DAY, Order, Receipt};
    use holdfast_sdk::{Answer, prelude::*, schemars, schemars::JsonSchema};
    use serde::Deserialize;

    struct Refund;

    #[derive(Deserialize, JsonSchema)]
    struct Approval {
        /// Why, if it is not obvious.
        reason: Option<String>,
    }

    #[service]
    impl Refund {
        async fn refund(&self, ctx: &Context, order: Order) -> Result<Receipt> {
            ctx.progress("waits for an approval");
            let asked = ctx.ask::<Approval>(&format!("Refund {} for {}?", order.amount, order.id));
            match asked.to("approvers").expires_after(2 * DAY).begin().await? {
                Answer::Accept { .. } => self.pay_back(ctx, order).await,
                Answer::Decline { by, .. } => {
                    Err(Terminal::new(format!("declined by {by:?}")).code(403).into())
                }
                Answer::Cancel { .. } => Err(Terminal::new("nobody approved").code(408).into()),
            }
        }
    }

    impl Refund {
        async fn pay_back(&self, _: &Context, _: Order) -> Result<Receipt> {
            Ok(Receipt)
        }
    }
}

mod asks {
    use holdfast_sdk::{Answer, prelude::*, schemars, schemars::JsonSchema};
    use serde::Deserialize;

    #[derive(Deserialize, JsonSchema)]
    struct Approval {
        approved: bool,
        reason: Option<String>,
    }

    async fn ask(ctx: &Context) -> Result<bool> {
        let asked = ctx.ask::<Approval>("Refund 12.50 to order o-1?").to("approvers").begin();
        match asked.await? {
            Answer::Accept { content, .. } => Ok(content.approved),
            Answer::Decline { .. } | Answer::Cancel { .. } => Ok(false),
        }
    }
}

mod several {
    use super::given::{Approval, DAY};
    use holdfast_sdk::{prelude::*, select};

    async fn first(ctx: &Context) -> Result<Approval> {
        let (_, approval) = ctx.awakeable::<Approval>();
        let answer = select! {
            answer = approval => answer?,
            _ = ctx.sleep(DAY) => Approval::expired(),
        };
        Ok(answer)
    }
}

mod saga {
    use super::given::{Cart, Confirmation};
    use holdfast_sdk::prelude::*;

    #[derive(Clone)]
    struct Payments;

    impl Payments {
        async fn refund(&self, _: &str) -> std::io::Result<()> {
            Ok(())
        }

        async fn charge(&self, _: &str, _: f64) -> std::io::Result<()> {
            Ok(())
        }
    }

    struct Warehouse;

    #[service]
    impl Warehouse {
        async fn reserve(&self, _: &Context, _: Cart) {}
    }

    struct Shop {
        payments: Payments,
    }

    #[service]
    impl Shop {
        async fn checkout(&self, ctx: &Context, cart: Cart) -> Result<Confirmation> {
            let payment = ctx.uuid();
            let undo = (self.payments.clone(), payment.clone());
            ctx.on_failure(|ctx| async move {
                let (payments, payment) = undo;
                Ok(ctx.run("refund", async || Ok(payments.refund(&payment).await?)).await?)
            });
            ctx.run("charge", async || Ok(self.payments.charge(&payment, cart.total).await?))
                .await?;
            ctx.call(WarehouseClient::reserve(cart)).await?; // fails for good: the charge is refunded
            Ok(Confirmation { payment })
        }
    }
}

mod proof {
    use super::given::{Approval, Order};
    use holdfast_sdk::{prelude::*, testing::Double};

    struct Refund;

    impl Refund {
        fn of_tests() -> Refund {
            Refund
        }
    }

    #[service]
    impl Refund {
        async fn refund(&self, ctx: &Context, order: Order) -> Result<f64> {
            let (_, approval) = ctx.awakeable::<Approval>();
            Ok(if approval.await?.approved { order.amount } else { 0.0 })
        }
    }

    fn order() -> Order {
        Order { id: "o-1".into(), amount: 12.5 }
    }

    #[tokio::test]
    async fn a_refund_is_deterministic() {
        let endpoint = Endpoint::builder().bind(Refund::of_tests()).build();
        let double = Double::new(endpoint).awakeable(&Approval { approved: true });
        double.prove(|| RefundClient::refund(order())).await; // panics with what differs, and after which entry
    }
}

mod mounted {
    use axum::{Router, routing::get};
    use holdfast_sdk::Endpoint;
    use tokio::net::TcpListener;

    async fn index() {}

    async fn interrupted() {}

    async fn serve(endpoint: Endpoint, listener: TcpListener) -> std::io::Result<()> {
        let app = Router::new().route("/", get(index)).nest_service("/durable", endpoint.clone());
        let stopped = async move {
            interrupted().await;
            endpoint.drain();
        };
        axum::serve(listener, app).with_graceful_shutdown(stopped).await?;
        Ok(())
    }
}

/// Without what a formatter decides.
fn plain(code: &str) -> String {
    let text: String = code.chars().filter(|c| !c.is_whitespace()).collect();
    [")", "]", "}"].iter().fold(text, |text, end| text.replace(&format!(",{end}"), end))
}

#[test]
fn the_rust_of_the_documentation_is_compiled() {
    let compiled = plain(include_str!("guide.rs"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut found = 0;
    for page in ["README.md", "docs/sdk.md", "docs/asks.md"] {
        let text = std::fs::read_to_string(root.join(page)).unwrap();
        let blocks = text.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next());
        // The other SDK is compiled in `tests/foreign`.
        for block in blocks.filter(|block| !block.contains("use restate_sdk")) {
            assert!(
                compiled.contains(&plain(block)),
                "{page}: not in sdk/tests/guide.rs:\n{block}"
            );
            found += 1;
        }
    }
    assert!(found > 10, "only {found} blocks were found");
}
