//! The jobs list in each of its states, with the detail pane beside it: groups, filters, sorting, marks, tags.

use crate::screen_fixture::ScreenFixture;
use crate::{SIZES, render, snapshots, text};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::text::CleanText;
use docdeck::tui::Msg;
use docdeck::tui::draw::ColorDepth;

#[test]
fn jobs_while_the_store_is_being_read() {
    snapshots("jobs_reading", |_| {});
}

#[test]
fn jobs_when_none_are_tracked() {
    snapshots("jobs_empty", ScreenFixture::load_no_jobs);
}

#[test]
fn jobs_with_the_tip_of_a_first_visit() {
    snapshots("jobs_tip", |fixture| {
        fixture.load_jobs_with_tips();
    });
}

#[test]
fn jobs_when_the_store_cannot_be_read() {
    snapshots("jobs_unreadable", |fixture| {
        let failure = Failure::new(
            FailureKind::Store,
            "The database can't be used (disk I/O error): check the data folder, then restart docdeck.",
        );
        fixture.handle(Msg::InitialDataLoaded(Err(failure)));
    });
}

#[test]
fn jobs_in_every_group() {
    snapshots("jobs_full", ScreenFixture::load_jobs);
}

#[test]
fn jobs_while_the_service_is_unreachable() {
    snapshots("jobs_offline", |fixture| {
        fixture.load_jobs();
        fixture.lose_connection();
    });
}

#[test]
fn an_open_job() {
    snapshots("job_open", |fixture| {
        fixture.load_jobs();
        fixture.press_keys("Enter");
    });
}

#[test]
fn a_long_scrolled_thread() {
    snapshots("job_scrolled", |fixture| {
        fixture.load_jobs();
        fixture.load_long_thread();
        fixture.press_keys("Enter j j j");
    });
}

#[test]
fn dismissed_jobs_when_shown() {
    snapshots("jobs_dismissed", |fixture| {
        fixture.load_jobs();
        fixture.press_keys("z G");
    });
}

#[test]
fn a_list_while_its_filter_is_typed() {
    snapshots("jobs_filter_typed", |fixture| {
        fixture.load_jobs();
        fixture.press_keys("/");
        fixture.paste("guide !quickstart");
    });
}

#[test]
fn a_list_with_an_applied_filter() {
    snapshots("jobs_filtered", |fixture| {
        fixture.load_jobs();
        fixture.press_keys("/ s : d o n e Enter v v");
    });
}

#[test]
fn a_filter_without_matches() {
    snapshots("jobs_no_match", |fixture| {
        fixture.load_jobs();
        fixture.press_keys("/ # 9 9 Enter");
    });
}

#[test]
fn saved_filters_as_tabs() {
    for (columns, rows) in SIZES {
        let mut fixture = ScreenFixture::with_saved_filters((columns, rows));
        fixture.load_jobs();
        fixture.add_custom_labels();
        fixture.press_keys("] ]");
        insta::assert_snapshot!(format!("jobs_tabs_{columns}x{rows}"), text(&render(&fixture.app, ColorDepth::None)));
    }
}

#[test]
fn jobs_sorted_by_status() {
    snapshots("jobs_by_status", |fixture| {
        fixture.load_jobs();
        fixture.press_keys("s s s");
    });
}

#[test]
fn marked_jobs() {
    snapshots("jobs_marked", |fixture| {
        fixture.load_jobs();
        fixture.press_keys("v j V");
    });
}

#[test]
fn the_question_before_dismissing_several_jobs() {
    snapshots("question_bulk", |fixture| {
        fixture.load_jobs();
        fixture.press_keys("g v G V d");
    });
}

#[test]
fn the_question_before_a_follow_up_to_several_jobs() {
    snapshots("question_follow_ups", |fixture| {
        fixture.load_jobs();
        fixture.press_keys("v v v f");
        fixture.paste("Use the new product name everywhere.");
        fixture.press_keys("Ctrl-s");
    });
}

#[test]
fn a_job_with_tags_and_a_note() {
    snapshots("job_own_words", |fixture| {
        fixture.load_jobs();
        fixture.add_custom_labels();
        fixture.press_keys("Enter");
    });
}

#[test]
fn tags_in_the_list() {
    snapshots("jobs_tags", |fixture| {
        fixture.load_jobs();
        fixture.add_custom_labels();
    });
}

#[test]
fn the_input_for_tags() {
    snapshots("ask_tags", |fixture| {
        fixture.load_jobs();
        fixture.add_custom_labels();
        fixture.press_keys("T");
    });
}

#[test]
fn the_input_for_a_job_id() {
    snapshots("ask_track", |fixture| {
        fixture.load_jobs();
        fixture.press_keys("+");
    });
}

#[test]
fn a_job_that_finished_unseen_is_marked_until_it_is_viewed() {
    let mut fixture = ScreenFixture::new((120, 40));
    fixture.load_job_without_pull_request(false);
    assert!(text(&render(&fixture.app, ColorDepth::None)).contains(" ○ ✓ Tidy the glossary"));
    fixture.load_job_without_pull_request(true);
    assert!(text(&render(&fixture.app, ColorDepth::None)).contains("   ✓ Tidy the glossary"));
}

#[test]
fn hostile_text_from_the_service_cannot_leave_its_cell() {
    let mut fixture = ScreenFixture::new((120, 40));
    fixture.load_hostile_job("\x1b]0;owned\x07\x1b[2JFix \u{202e}txet \u{1b}]8;;https://evil\u{1b}\\link");
    let shown = text(&render(&fixture.app, ColorDepth::None));
    assert!(shown.contains("Fix txet link"), "{shown}");
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'));
}

#[test]
fn an_error_notice_is_marked_by_more_than_colour() {
    let mut fixture = ScreenFixture::new((80, 24));
    fixture.load_jobs();
    fixture.handle(Msg::Engine(EngineEvent::Notice(CleanText::line("The store was moved aside."))));
    let shown = text(&render(&fixture.app, ColorDepth::None));
    let lines: Vec<&str> = shown.lines().collect();
    let [.., message, keys] = lines.as_slice() else { panic!("{shown}") };
    assert!(message.starts_with("└ ! The store was moved aside. ──"), "{shown}");
    assert!(keys.starts_with(" n new "), "the message leaves the keys visible: {shown}");
}
