//! Random keys for a long time: every task that they begin ends.

use crate::dashboard_fixture::{DashboardFixture, folder, sim};
use crossterm::event::{Event, KeyCode};
use std::time::Duration;

/// What is pressed; nothing of it ends the dashboard.
const LETTERS: &str = "abcdefghijklmnoprstuvwxyzACDGHLMNPRSTVY!?+[]<>112233 -/#:";

/// Tasks that have begun and not ended, the simulator's among them.
fn tasks() -> usize {
    tokio::runtime::Handle::current().metrics().num_alive_tasks()
}

/// Out of every layer, then a moment for what is under way.
async fn settle(desk: &mut DashboardFixture) {
    while !desk.app.dialogs.is_empty() {
        desk.key(KeyCode::Esc);
        desk.go_on_for(Duration::from_millis(2)).await;
    }
    desk.go_on_for(Duration::from_millis(100)).await;
}

#[tokio::test]
async fn tasks_do_not_grow_with_what_is_pressed() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.accepted("Something to work on [sim:seconds=60000]").await;
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
                0..=5 => desk.keys(&letters[below(letters.len())].to_string()),
                6 => desk.key(KeyCode::Enter),
                7 => desk.key([KeyCode::Tab, KeyCode::Up, KeyCode::Down, KeyCode::Left][below(4)]),
                8 => desk.input(Event::Resize([40, 80, 160][below(3)], [12, 24, 48][below(3)])),
                _ => desk.key(KeyCode::Esc),
            }
            desk.go_on_for(Duration::from_millis(1)).await;
        }
        settle(&mut desk).await;
        series.push(tasks());
    }
    println!("tasks after 200 keys each: {series:?}");
    // Connections that are kept for a while, and what a key just began.
    let (first, last) = (series[0], series[series.len() - 1]);
    assert!(last <= first + 8, "{series:?}");
}
