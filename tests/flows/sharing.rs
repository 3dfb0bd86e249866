//! Tests of two dashboards on one database.

use crate::support::dashboard::DashboardFixture;
use crate::support::{create_folder, start_sim};
use crossterm::event::KeyCode;
use docdeck::model::log::Operation;
use docdeck::tui::{Effect, JobsEffect};
use std::time::Duration;

#[tokio::test]
async fn a_job_submitted_in_one_dashboard_appears_in_the_other_and_only_one_polls_it() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut one = DashboardFixture::start(&sim, folder.path()).await;
    let mut two = DashboardFixture::start(&sim, folder.path()).await;
    one.send_accepted_job("Shared work [sim:seconds=50] [sim:pr]").await;
    // A dashboard checks the database for changes once a second. The second second allows for a busy machine.
    assert!(
        two.holds_within(Duration::from_secs(2), |dashboard| dashboard.shows("Shared work")).await,
        "{}",
        two.screen()
    );
    two.wait_until_shown("Needs you 1").await;
    one.wait_until_shown("Needs you 1").await;
    // If the second dashboard also polled the job, it would have sent its request by now.
    two.run_for(Duration::from_millis(500)).await;
    assert_eq!((sim.requests(Operation::Create), sim.requests(Operation::GetJob)), (1, 1));
}

/// Returns how many threads the dashboard has loaded because they were not prefetched.
fn thread_loads(dashboard: &DashboardFixture) -> usize {
    dashboard
        .requested_effects
        .iter()
        .filter(|effect| matches!(effect, Effect::Jobs(JobsEffect::LoadThread(_))))
        .count()
}

#[tokio::test]
async fn a_prefetched_thread_is_updated_after_another_dashboard_changed_it() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut one = DashboardFixture::start(&sim, folder.path()).await;
    for n in 1..=4 {
        one.send_accepted_job(&format!("Job {n} [sim:seconds=1] [sim:pr]")).await;
    }
    one.wait_until_shown("Needs you 4").await;
    let mut two = DashboardFixture::start(&sim, folder.path()).await;
    let mut visited = vec![two.selected_job().key];
    // Moves the selection until a thread is shown that was prefetched.
    let mut steps = [KeyCode::Down, KeyCode::Up].into_iter().cycle().take(400);
    loop {
        let before = thread_loads(&two);
        two.press_key(steps.next().expect("a step that loads no thread"));
        visited.push(two.selected_job().key);
        if thread_loads(&two) == before {
            break;
        }
        two.run_for(Duration::from_millis(20)).await;
    }
    let prefetched = two.requested_effects.iter().filter_map(|effect| match effect {
        Effect::Jobs(JobsEffect::PrefetchThreads(jobs)) => Some(jobs),
        _ => None,
    });
    let job =
        *prefetched.flatten().find(|job| !visited.contains(job)).expect("a prefetched job that was never selected");
    one.app.jobs.select(job);
    one.press_chars("f");
    one.press_chars("Also the redirects [sim:seconds=1]");
    one.press_ctrl('s');
    one.wait_until("a second prompt", |dashboard| dashboard.app.dialogs.is_empty()).await;
    let was = two.app.jobs.get(job).expect("a row").revision;
    two.wait_until("its new revision", |dashboard| dashboard.app.jobs.get(job).expect("a row").revision > was).await;
    two.app.jobs.select(job);
    two.press_chars("k");
    two.press_chars("j");
    assert_eq!(two.selected_job().key, job);
    two.wait_until_shown("Also the redirects").await;
}
