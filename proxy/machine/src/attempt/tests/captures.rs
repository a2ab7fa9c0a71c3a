//! Conversations as they were recorded between existing servers and SDKs, to the byte. A capture
//! is never edited to make a test pass.

mod awakeables;
mod calls;
mod combinators;
mod errors;
mod promises;
mod runs;
mod sleeps;
mod state;
mod unary;

use super::*;
use expect_test::expect;

const GREETER_START: &str = "00000000000000520a18c3ba0630971751d9e709d695742dc6a7fd1735e8021d4ec41226696e765f3169454c524b7434384d444e355971633145436c75314b7274324e3653794a37494818012801400148e6d0ca988cb6bf926f";
const GREETER_INPUT: &str = "040000000000006a0a280a16782d726573746174652d696e67726573732d70617468120e2f477265657465722f67726565740a200a0c636f6e74656e742d7479706512106170706c69636174696f6e2f6a736f6e0a130a0e636f6e74656e742d6c656e67746812013572070a052241646122";
const GREETER: &str =
    "id=inv_1iELRKt48MDN5Yqc1EClu1Krt2N6SyJ7IH seed=8008804973000435814 unchanged=1 partial";

fn greeter(version: &str, then: &str) -> String {
    format!(
        "open Greeter/greet {version} {GREETER}
         entry {GREETER_INPUT}
         sends {GREETER_START} {GREETER_INPUT}
         head 200
         {then}"
    )
}
