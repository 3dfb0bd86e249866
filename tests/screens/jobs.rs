//! The jobs list in each of its states, with the detail beside it: groups, filters, sorting, marks, tags.

use crate::screen_fixture::ScreenFixture;
use crate::{SIZES, render, snapshots, text};
use docdeck::app::Msg;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::text::CleanText;
use docdeck::ui::Depth;

#[test]
fn jobs_while_the_record_is_being_read() {
    snapshots("jobs_reading", |_| {});
}

#[test]
fn jobs_when_none_are_known() {
    snapshots("jobs_empty", ScreenFixture::nothing_known);
}

#[test]
fn jobs_with_the_tip_of_a_first_visit() {
    snapshots("jobs_tip", |world| {
        world.first_visit();
    });
}

#[test]
fn jobs_when_the_record_cannot_be_read() {
    snapshots("jobs_unreadable", |world| {
        let failure = Failure::new(FailureKind::Store, "The record can't be read: disk I/O error. Run docdeck again.");
        world.tell(Msg::Loaded(Err(failure)));
    });
}

#[test]
fn jobs_in_every_group() {
    snapshots("jobs_full", ScreenFixture::jobs);
}

#[test]
fn jobs_while_the_service_cannot_be_reached() {
    snapshots("jobs_offline", |world| {
        world.jobs();
        world.offline();
    });
}

#[test]
fn a_job_that_is_open() {
    snapshots("job_open", |world| {
        world.jobs();
        world.keys("Enter");
    });
}

#[test]
fn a_long_thread_that_is_scrolled() {
    snapshots("job_scrolled", |world| {
        world.jobs();
        world.long_thread();
        world.keys("Enter j j j");
    });
}

#[test]
fn dismissed_jobs_when_shown() {
    snapshots("jobs_dismissed", |world| {
        world.jobs();
        world.keys("z G");
    });
}

#[test]
fn a_list_while_its_filter_is_typed() {
    snapshots("jobs_filter_typed", |world| {
        world.jobs();
        world.keys("/");
        world.paste("guide !quickstart");
    });
}

#[test]
fn a_list_whose_filter_is_kept() {
    snapshots("jobs_filtered", |world| {
        world.jobs();
        world.keys("/ s : d o n e Enter v v");
    });
}

#[test]
fn a_filter_that_nothing_passes() {
    snapshots("jobs_no_match", |world| {
        world.jobs();
        world.keys("/ # 9 9 Enter");
    });
}

#[test]
fn saved_filters_as_tabs() {
    for (columns, rows) in SIZES {
        let mut world = ScreenFixture::with_saved_filters((columns, rows));
        world.jobs();
        world.own_words();
        world.keys("] ]");
        insta::assert_snapshot!(format!("jobs_tabs_{columns}x{rows}"), text(&render(&world.app, Depth::None)));
    }
}

#[test]
fn jobs_sorted_by_status() {
    snapshots("jobs_by_status", |world| {
        world.jobs();
        world.keys("s s s");
    });
}

#[test]
fn marked_jobs() {
    snapshots("jobs_marked", |world| {
        world.jobs();
        world.keys("v j V");
    });
}

#[test]
fn the_question_before_dismissing_several() {
    snapshots("question_bulk", |world| {
        world.jobs();
        world.keys("g v G V d");
    });
}

#[test]
fn the_question_before_a_follow_up_to_several() {
    snapshots("question_follow_ups", |world| {
        world.jobs();
        world.keys("v v v f");
        world.paste("Use the new product name everywhere.");
        world.keys("Ctrl-s");
    });
}

#[test]
fn a_job_with_tags_and_a_note() {
    snapshots("job_own_words", |world| {
        world.jobs();
        world.own_words();
        world.keys("Enter");
    });
}

#[test]
fn tags_in_the_list() {
    snapshots("jobs_tags", |world| {
        world.jobs();
        world.own_words();
    });
}

#[test]
fn tags_that_are_asked_for() {
    snapshots("ask_tags", |world| {
        world.jobs();
        world.own_words();
        world.keys("T");
    });
}

#[test]
fn an_id_that_is_asked_for() {
    snapshots("ask_track", |world| {
        world.jobs();
        world.keys("+");
    });
}

#[test]
fn a_job_that_ended_unseen_is_marked_until_it_is_looked_at() {
    let mut world = ScreenFixture::new((120, 40));
    world.ended_without_pull_request(false);
    assert!(text(&render(&world.app, Depth::None)).contains(" ○ ✓ Tidy the glossary"));
    world.ended_without_pull_request(true);
    assert!(text(&render(&world.app, Depth::None)).contains("   ✓ Tidy the glossary"));
}

#[test]
fn hostile_text_from_the_service_cannot_leave_its_cell() {
    let mut world = ScreenFixture::new((120, 40));
    world.hostile_job("\x1b]0;owned\x07\x1b[2JFix \u{202e}txet \u{1b}]8;;https://evil\u{1b}\\link");
    let shown = text(&render(&world.app, Depth::None));
    assert!(shown.contains("Fix txet link"), "{shown}");
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'));
}

#[test]
fn a_notice_of_trouble_is_marked_by_more_than_colour() {
    let mut world = ScreenFixture::new((80, 24));
    world.jobs();
    world.tell(Msg::News(EngineEvent::Notice(CleanText::line("The store was moved aside."))));
    let shown = text(&render(&world.app, Depth::None));
    let lines: Vec<&str> = shown.lines().collect();
    let [.., said, keys] = lines.as_slice() else { panic!("{shown}") };
    assert!(said.starts_with("└ ! The store was moved aside. ──"), "{shown}");
    assert!(keys.starts_with(" n new "), "what is said leaves the keys in sight: {shown}");
}
