//! Two dashboards on one record.

use crate::dashboard_fixture::{DashboardFixture, folder, sim};
use crossterm::event::KeyCode;
use docdeck::app::Effect;
use docdeck::model::log::Operation;
use std::time::Duration;

#[tokio::test]
async fn a_job_submitted_in_one_dashboard_appears_in_the_other_and_only_one_polls_it() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut one = DashboardFixture::begin(&sim, folder.path()).await;
    let mut two = DashboardFixture::begin(&sim, folder.path()).await;
    one.accepted("Shared work [sim:seconds=50] [sim:pr]").await;
    // A look at the record a second, and a second for a busy machine.
    assert!(two.within(Duration::from_secs(2), |desk| desk.shows("Shared work")).await, "{}", two.screen());
    two.until_shown("NEEDS YOU 1").await;
    one.until_shown("NEEDS YOU 1").await;
    // The other one's look would have come by now.
    two.go_on_for(Duration::from_millis(500)).await;
    assert_eq!((sim.requests(Operation::Create), sim.requests(Operation::Get)), (1, 1));
}

/// How many threads were read by themselves.
fn reads(desk: &DashboardFixture) -> usize {
    desk.asked.iter().filter(|effect| matches!(effect, Effect::LoadThread(_))).count()
}

#[tokio::test]
async fn a_thread_that_was_read_ahead_gives_way_to_what_another_dashboard_wrote() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut one = DashboardFixture::begin(&sim, folder.path()).await;
    for n in 1..=4 {
        one.accepted(&format!("Job {n} [sim:seconds=1] [sim:pr]")).await;
    }
    one.until_shown("NEEDS YOU 4").await;
    let mut two = DashboardFixture::begin(&sim, folder.path()).await;
    let mut turned_to = vec![two.selected().key];
    // The threads around are there sooner or later.
    let mut steps = [KeyCode::Down, KeyCode::Up].into_iter().cycle().take(400);
    loop {
        let before = reads(&two);
        two.key(steps.next().expect("a step that reads nothing"));
        turned_to.push(two.selected().key);
        if reads(&two) == before {
            break;
        }
        two.go_on_for(Duration::from_millis(20)).await;
    }
    let ahead = two.asked.iter().filter_map(|effect| match effect {
        Effect::ReadAhead(jobs) => Some(jobs),
        _ => None,
    });
    let job = *ahead.flatten().find(|job| !turned_to.contains(job)).expect("a job that was not turned to");
    one.app.jobs.select(job);
    one.keys("f");
    one.keys("Also the redirects [sim:seconds=1]");
    one.ctrl('s');
    one.until("a second prompt", |desk| desk.app.dialogs.is_empty()).await;
    let was = two.app.jobs.get(job).expect("a row").revision;
    two.until("word of it", |desk| desk.app.jobs.get(job).expect("a row").revision > was).await;
    two.app.jobs.select(job);
    two.keys("k");
    two.keys("j");
    assert_eq!(two.selected().key, job);
    two.until_shown("Also the redirects").await;
}
