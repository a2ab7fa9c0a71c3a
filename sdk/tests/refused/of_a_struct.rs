//! The attribute where there are no handlers.

use holdfast_sdk::prelude::*;

#[service]
struct Shop;
