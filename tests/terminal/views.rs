//! Tests of `docdeck views` on a terminal: bars, headings and the progress of loading all pages.

use crate::support::pty::{Pty, Setup};
use docdeck::sim::{Sim, SimOptions};
use std::sync::mpsc;
use tokio::sync::oneshot;

/// Starts a simulated service on another thread; returns the variables that select it, and a sender that stops it when
/// dropped.
fn start_service(faults: &[&str]) -> (Vec<(String, String)>, oneshot::Sender<()>) {
    let faults = faults.iter().map(|fault| fault.parse().expect("a fault")).collect();
    let options = SimOptions { jobs: 0, pages: 640, faults, ..SimOptions::default() };
    let (sender, receiver) = mpsc::channel();
    let (stop, stopped) = oneshot::channel::<()>();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let sim = Sim::start(options).await.expect("a simulator");
            let variables = [
                ("DOCDECK_BASE_URL", sim.base_url()),
                ("DOCDECK_PROJECT_ID", sim.project().to_owned()),
                ("DOCDECK_API_KEY", sim.api_key().to_owned()),
            ];
            sender.send(variables.map(|(name, value)| (name.to_owned(), value)).to_vec()).expect("somebody waits");
            // Ends when the test drops the sender.
            let _ = stopped.await;
        });
    });
    (receiver.recv().expect("a simulator"), stop)
}

fn run_views_effect(words: &[&str], variables: &[(String, String)]) -> Pty {
    let setup = Setup::command(&[&["views"], words].concat());
    Pty::spawn(variables.iter().fold(setup, |setup, (name, value)| setup.with(name, value)))
}

#[test]
fn bars_with_a_scale_distinguish_human_from_ai_without_colours() {
    let (variables, _service) = start_service(&[]);
    let mut pty = run_views_effect(&["--limit", "10", "--color", "never"], &variables);
    assert_eq!(pty.wait_for_end(), 0);
    let text = pty.screen().contents();
    assert!(
        text.contains("7 days UTC, today so far, as of ") && text.contains("█ human ") && text.contains("▒ AI "),
        "{text}"
    );
    let heading = text.lines().find(|line| line.contains(" path ")).expect("headings");
    assert!(heading.contains("share") && heading.contains("0 to "), "{text}");
    let first = text.lines().find(|line| line.trim_start().starts_with("1  /")).expect("the first page");
    assert!(first.contains('█') && first.contains('▒'), "{text}");
    assert!(text.contains("Partial: not all pages are loaded."), "{text}");
    assert!(!pty.sent().contains("\x1b[3"), "no colours: {:?}", pty.sent());
}

#[test]
fn colours_match_the_symbols_and_ascii_uses_only_ascii() {
    let (variables, _service) = start_service(&[]);
    let mut pty = run_views_effect(&["--limit", "5", "--color", "always"], &variables);
    assert_eq!(pty.wait_for_end(), 0);
    assert!(pty.sent().contains("\x1b["), "{:?}", pty.sent());
    let mut pty = run_views_effect(&["--limit", "5", "--ascii"], &variables);
    assert_eq!(pty.wait_for_end(), 0);
    assert!(pty.sent().is_ascii(), "{}", pty.sent());
    assert!(pty.screen().contents().contains("# human "), "{}", pty.screen().contents());
}

#[test]
fn a_progress_bar_shows_the_load_of_all_pages_and_disappears_at_the_end() {
    // Slow enough that a busy test still sees the bar of the first response before the second one arrives.
    let (variables, _service) = start_service(&["views=latency-1000"]);
    let mut pty = run_views_effect(&["--all"], &variables);
    pty.wait_for_text("Loading all pages of ");
    pty.wait_for_text("% of the views, 250 rows, 1 request");
    assert_eq!(pty.wait_for_end(), 0);
    let text = pty.screen().contents();
    assert!(
        !text.contains("of the views") && text.contains(" rows as of ") && text.contains(", 3 requests."),
        "{text}"
    );
    pty.assert_modes_off();
}

#[test]
fn with_reduced_motion_each_response_is_a_line() {
    let (variables, _service) = start_service(&[]);
    let mut variables = variables;
    variables.push(("DOCDECK_REDUCED_MOTION".to_owned(), "1".to_owned()));
    let mut pty = run_views_effect(&["--all", "--format", "csv"], &variables);
    assert_eq!(pty.wait_for_end(), 0);
    let sent = pty.sent();
    for line in ["250 rows, 1 request\r\n", "500 rows, 2 requests\r\n", " rows, 3 requests\r\n"] {
        assert!(sent.contains(line), "{sent}");
    }
}

#[test]
fn a_narrow_terminal_gets_numbers_without_bars() {
    let (variables, _service) = start_service(&[]);
    let mut pty = Pty::spawn_at(
        40,
        12,
        variables
            .iter()
            .fold(Setup::command(&["views", "--limit", "5"]), |setup, (name, value)| setup.with(name, value)),
    );
    assert_eq!(pty.wait_for_end(), 0);
    let text = pty.screen().contents();
    let pages: Vec<&str> = text.lines().filter(|line| line.contains("%") && line.contains('/')).collect();
    assert!(pages.len() == 5 && pages.iter().all(|line| !line.contains('█') && line.chars().count() <= 40), "{text}");
}
