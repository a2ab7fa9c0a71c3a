//! A workflow that never runs.

use holdfast_sdk::prelude::*;

struct Signup;

#[workflow]
impl Signup {
    async fn confirm(&self, _ctx: &SharedWorkflowContext) {}
}
