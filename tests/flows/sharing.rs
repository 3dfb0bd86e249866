//! Two dashboards on one record.

use crate::desk::{Desk, folder, sim};
use docdeck::model::log::Operation;
use std::time::Duration;

#[tokio::test]
async fn a_job_submitted_in_one_dashboard_appears_in_the_other_and_only_one_polls_it() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut one = Desk::begin(&sim, folder.path()).await;
    let mut two = Desk::begin(&sim, folder.path()).await;
    one.accepted("Shared work [sim:seconds=50] [sim:pr]").await;
    // A look at the record a second, and a second for a busy machine.
    assert!(two.within(Duration::from_secs(2), |desk| desk.shows("Shared work")).await, "{}", two.screen());
    two.until_shown("NEEDS YOU 1").await;
    one.until_shown("NEEDS YOU 1").await;
    // The other one's look would have come by now.
    two.go_on_for(Duration::from_millis(500)).await;
    assert_eq!((sim.requests(Operation::Create), sim.requests(Operation::Get)), (1, 1));
}
