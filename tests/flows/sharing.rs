//! Two dashboards on one database.

use crate::dashboard_fixture::{DashboardFixture, folder, sim};
use crossterm::event::KeyCode;
use docdeck::app::Effect;
use docdeck::model::log::Operation;
use std::time::Duration;

#[tokio::test]
async fn a_job_submitted_in_one_dashboard_appears_in_the_other_and_only_one_polls_it() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut one = DashboardFixture::start(&sim, folder.path()).await;
    let mut two = DashboardFixture::start(&sim, folder.path()).await;
    one.accepted("Shared work [sim:seconds=50] [sim:pr]").await;
    // The database is checked once a second; the other second is for a busy machine.
    assert!(two.within(Duration::from_secs(2), |dashboard| dashboard.shows("Shared work")).await, "{}", two.screen());
    two.until_shown("NEEDS YOU 1").await;
    one.until_shown("NEEDS YOU 1").await;
    // The other dashboard's check would have happened by now.
    two.run_for(Duration::from_millis(500)).await;
    assert_eq!((sim.requests(Operation::Create), sim.requests(Operation::Get)), (1, 1));
}

/// How many threads were prefetched.
fn prefetches(dashboard: &DashboardFixture) -> usize {
    dashboard.requested_effects.iter().filter(|effect| matches!(effect, Effect::LoadThread(_))).count()
}

#[tokio::test]
async fn a_prefetched_thread_is_replaced_by_what_another_dashboard_wrote() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut one = DashboardFixture::start(&sim, folder.path()).await;
    for n in 1..=4 {
        one.accepted(&format!("Job {n} [sim:seconds=1] [sim:pr]")).await;
    }
    one.until_shown("NEEDS YOU 4").await;
    let mut two = DashboardFixture::start(&sim, folder.path()).await;
    let mut turned_to = vec![two.selected().key];
    // The neighbouring threads are prefetched sooner or later.
    let mut steps = [KeyCode::Down, KeyCode::Up].into_iter().cycle().take(400);
    loop {
        let before = prefetches(&two);
        two.key(steps.next().expect("a step that reads nothing"));
        turned_to.push(two.selected().key);
        if prefetches(&two) == before {
            break;
        }
        two.run_for(Duration::from_millis(20)).await;
    }
    let ahead = two.requested_effects.iter().filter_map(|effect| match effect {
        Effect::PrefetchThreads(jobs) => Some(jobs),
        _ => None,
    });
    let job = *ahead.flatten().find(|job| !turned_to.contains(job)).expect("a job that was not turned to");
    one.app.jobs.select(job);
    one.keys("f");
    one.keys("Also the redirects [sim:seconds=1]");
    one.ctrl('s');
    one.until("a second prompt", |dashboard| dashboard.app.dialogs.is_empty()).await;
    let was = two.app.jobs.get(job).expect("a row").revision;
    two.until("its new revision", |dashboard| dashboard.app.jobs.get(job).expect("a row").revision > was).await;
    two.app.jobs.select(job);
    two.keys("k");
    two.keys("j");
    assert_eq!(two.selected().key, job);
    two.until_shown("Also the redirects").await;
}
