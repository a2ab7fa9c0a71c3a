//! Combinators of nothing.

use holdfast_sdk::{join, select};

async fn nothing() {
    select! {}
}

async fn no_future() {
    join!(,);
}
