//! Random keys for a long time: every task that they start ends.

use crate::dashboard_fixture::{DashboardFixture, folder, sim};
use crossterm::event::{Event, KeyCode};
use std::time::Duration;

/// The keys to press; none of them quits the dashboard.
const LETTERS: &str = "abcdefghijklmnoprstuvwxyzACDGHLMNPRSTVY!?+[]<>112233 -/#:";

/// Number of running tasks, including the simulator's.
fn tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

/// Closes every dialog, then waits a moment for running work.
async fn until_idle(dashboard: &mut DashboardFixture) {
    while !dashboard.app.dialogs.is_empty() {
        dashboard.key(KeyCode::Esc);
        dashboard.run_for(Duration::from_millis(2)).await;
    }
    dashboard.run_for(Duration::from_millis(100)).await;
}

#[tokio::test]
async fn tasks_do_not_grow_with_key_presses() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.accepted("Something to work on [sim:seconds=60000]").await;
    let letters: Vec<char> = LETTERS.chars().collect();
    let mut dice = 7_u64;
    let mut below = |end: usize| {
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(dice >> 33).expect("31 bits") % end
    };
    let mut series = Vec::new();
    for _ in 0..4 {
        for _ in 0..200 {
            match below(10) {
                0..=5 => dashboard.keys(&letters[below(letters.len())].to_string()),
                6 => dashboard.key(KeyCode::Enter),
                7 => dashboard.key([KeyCode::Tab, KeyCode::Up, KeyCode::Down, KeyCode::Left][below(4)]),
                8 => dashboard.input(Event::Resize([40, 80, 160][below(3)], [12, 24, 48][below(3)])),
                _ => dashboard.key(KeyCode::Esc),
            }
            dashboard.run_for(Duration::from_millis(1)).await;
        }
        until_idle(&mut dashboard).await;
        series.push(tasks());
    }
    println!("tasks after 200 keys each: {series:?}");
    // Pooled connections and work that a key just started may add a few.
    let (first, last) = (series[0], series[series.len() - 1]);
    assert!(last <= first + 8, "{series:?}");
}
