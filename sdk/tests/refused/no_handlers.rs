//! A block without handlers.

use holdfast_sdk::prelude::*;

struct Shop;

#[service]
impl Shop {
    fn price(&self) -> u32 {
        7
    }
}
