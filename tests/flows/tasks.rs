//! Tests with many random keys that every async task that they start also ends.

use crate::support::dashboard::DashboardFixture;
use crate::support::{create_folder, start_sim};
use crossterm::event::{Event, KeyCode};
use std::time::Duration;

/// The letter keys to press. None of them quits the dashboard.
const LETTERS: &str = "abcdefghijklmnoprstuvwxyzACDGHLMNPRSTVY!?+[]<>112233 -/#:";

/// Returns the number of running async tasks, including those of the simulator.
fn task_count() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

/// Closes every dialog, and waits a moment until running tasks have ended.
async fn until_idle(dashboard: &mut DashboardFixture) {
    while !dashboard.app.dialogs.is_empty() {
        dashboard.press_key(KeyCode::Esc);
        dashboard.run_for(Duration::from_millis(2)).await;
    }
    dashboard.run_for(Duration::from_millis(100)).await;
}

#[tokio::test]
async fn the_number_of_tasks_does_not_grow_with_key_presses() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.send_accepted_job("Something to work on [sim:seconds=60000]").await;
    let letters: Vec<char> = LETTERS.chars().collect();
    let mut state = 7_u64;
    let mut random_below = |end: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("31 bits") % end
    };
    let mut series = Vec::new();
    for _ in 0..4 {
        for _ in 0..200 {
            match random_below(10) {
                0..=5 => dashboard.press_chars(&letters[random_below(letters.len())].to_string()),
                6 => dashboard.press_key(KeyCode::Enter),
                7 => dashboard.press_key([KeyCode::Tab, KeyCode::Up, KeyCode::Down, KeyCode::Left][random_below(4)]),
                8 => dashboard.input(Event::Resize([40, 80, 160][random_below(3)], [12, 24, 48][random_below(3)])),
                _ => dashboard.press_key(KeyCode::Esc),
            }
            dashboard.run_for(Duration::from_millis(1)).await;
        }
        until_idle(&mut dashboard).await;
        series.push(task_count());
    }
    println!("tasks after 200 keys each: {series:?}");
    // Pooled connections and the last keys may account for a few additional tasks.
    let (first, last) = (series[0], series[series.len() - 1]);
    assert!(last <= first + 8, "{series:?}");
}
