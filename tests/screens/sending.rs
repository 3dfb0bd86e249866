//! What is written and sent: the editor, history, templates, drafts, many prompts at once, what is undelivered.

use crate::screen_fixture::ScreenFixture;
use crate::{SIZES, render, snapshots, text};
use chrono::TimeDelta;
use crossterm::event::{Event, KeyCode};
use docdeck::app::{Effect, Msg, SubmitError};
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::prompt::{DeliveryKind, DraftSlot};
use docdeck::model::row::JobKey;
use docdeck::ui::Depth;
use ratatui::buffer::Buffer;
use ratatui::style::Modifier;

#[test]
fn follow_ups_behind_an_undelivered_one() {
    snapshots("job_held", |world| {
        world.jobs();
        world.held_follow_ups();
        world.keys("Enter G");
    });
}

#[test]
fn the_editor_before_the_first_key() {
    snapshots("editor_empty", |world| {
        world.jobs();
        world.keys("n");
    });
}

#[test]
fn the_editor_with_a_draft_on_disk() {
    snapshots("editor_draft", |world| {
        world.jobs();
        world.keys("n");
        world.paste("Add a Python quickstart\n\nCover installation, the first request and errors. 日本語も見る。");
        world.saved();
    });
}

#[test]
fn the_editor_when_nothing_was_typed() {
    snapshots("editor_blank", |world| {
        world.jobs();
        world.keys("n Ctrl-s");
    });
}

#[test]
fn a_prompt_that_was_just_saved() {
    snapshots("prompt_saved", |world| {
        world.jobs();
        world.keys("n");
        world.paste("Rewrite the landing page");
        world.submitted();
    });
}

#[test]
fn a_prompt_that_was_just_rejected() {
    snapshots("prompt_rejected", |world| {
        world.jobs();
        world.keys("n");
        world.paste("Rewrite the landing page");
        world.rejected("400: prompt is too long for this project. Shorten it, then send it again.");
    });
}

#[test]
fn the_editor_with_a_prompt_that_was_rejected() {
    snapshots("editor_rejected", |world| {
        world.jobs();
        world.undelivered_follow_up(DeliveryKind::Rejected);
        world.keys("! e");
    });
}

#[test]
fn a_prompt_that_could_not_be_saved() {
    snapshots("editor_not_saved", |world| {
        world.jobs();
        world.keys("n");
        world.paste("Rewrite the landing page");
        world.keys("Ctrl-s");
        let failure = Failure::new(FailureKind::Store, "The disk is full.");
        let error = SubmitError { failure, text: "Rewrite the landing page".to_owned(), pages: Vec::new() };
        world.tell(Msg::Submitted { slot: DraftSlot::NewJob, result: Err(error) });
    });
}

#[test]
fn an_id_to_link_that_the_service_does_not_know() {
    snapshots("link_wrong", |world| {
        world.jobs();
        world.unconfirmed_selected();
        world.keys("! l j o b _ 9 Enter");
        let asked = world.effects.iter().rev().find_map(|effect| match effect {
            Effect::Resolve(prompt, _) => Some(*prompt),
            _ => None,
        });
        let why = "The service has no job job_9 (404: job not found). Copy the id from its dashboard once more.";
        let failure = Failure::new(FailureKind::NotFound, why);
        world.tell(Msg::Resolved { prompt: asked.expect("one is asked for"), result: Err(failure) });
    });
}

#[test]
fn the_filter_opens_with_the_old_one_selected_and_typing_replaces_it() {
    let mut world = ScreenFixture::new((80, 24));
    world.jobs();
    world.keys("/ l i n k Enter /");
    let reversed = reversed(&render(&world.app, Depth::None));
    assert!(reversed.contains("link"), "{reversed:?}");
    world.keys("x");
    assert_eq!(world.app.filter_text(), "x");
}

/// What is drawn reversed.
fn reversed(buffer: &Buffer) -> String {
    let cells = buffer.content().iter().filter(|cell| cell.modifier.contains(Modifier::REVERSED));
    cells.map(ratatui::buffer::Cell::symbol).collect()
}

#[test]
fn an_unconfirmed_prompt() {
    snapshots("resolve_unconfirmed", |world| {
        world.jobs();
        world.unconfirmed_selected();
        world.keys("!");
    });
}

#[test]
fn an_unconfirmed_prompt_read_to_its_end() {
    snapshots("resolve_scrolled", |world| {
        world.jobs();
        world.unconfirmed_selected();
        world.keys("! G");
    });
}

#[test]
fn a_follow_up_that_is_unconfirmed() {
    snapshots("resolve_follow_up", |world| {
        world.jobs();
        world.undelivered_follow_up(DeliveryKind::Unconfirmed);
        world.keys("!");
    });
}

#[test]
fn a_follow_up_that_was_rejected() {
    snapshots("resolve_rejected", |world| {
        world.jobs();
        world.undelivered_follow_up(DeliveryKind::Rejected);
        world.keys("!");
    });
}

#[test]
fn history_before_it_is_read() {
    snapshots("history_reading", |world| {
        world.jobs();
        world.keys("n Ctrl-r");
    });
}

#[test]
fn history_when_nothing_was_sent() {
    snapshots("history_empty", |world| {
        world.jobs();
        world.keys("n Ctrl-r");
        world.tell(Msg::History(Ok(Vec::new())));
    });
}

#[test]
fn history_narrowed_by_what_is_typed() {
    snapshots("history_narrowed", |world| {
        world.jobs();
        world.keys("n Ctrl-r");
        world.history();
        world.keys("p a g e");
        world.tell(Msg::Input(Event::Key(KeyCode::Down.into())));
    });
}

#[test]
fn history_that_cannot_be_read() {
    snapshots("history_failed", |world| {
        world.jobs();
        world.keys("n Ctrl-r");
        let failure = Failure::new(FailureKind::Store, "The record can't be read: disk I/O error.");
        world.tell(Msg::History(Err(failure)));
    });
}

#[test]
fn templates_to_choose_from() {
    snapshots("templates", |world| {
        world.jobs();
        world.keys("n Ctrl-t");
        world.templates();
    });
}

#[test]
fn a_template_with_blanks_that_are_left() {
    snapshots("template_taken", |world| {
        world.jobs();
        world.keys("n Ctrl-t");
        world.templates();
        world.keys("Enter");
    });
}

#[test]
fn drafts_that_are_kept() {
    snapshots("drafts", |world| {
        world.drafts();
        world.keys("D");
    });
}

#[test]
fn the_question_before_a_draft_is_deleted() {
    snapshots("drafts_delete", |world| {
        world.drafts();
        world.keys("D x");
    });
}

#[test]
fn the_jobs_list_says_that_there_are_drafts() {
    let mut world = ScreenFixture::new((120, 40));
    world.drafts();
    let shown = text(&render(&world.app, Depth::None));
    assert!(shown.contains("D 2 drafts"), "{shown}");
}

#[test]
fn many_prompts_before_the_first_key() {
    snapshots("batch_empty", |world| {
        world.jobs();
        world.keys("b");
    });
}

#[test]
fn many_prompts_with_what_is_wrong() {
    snapshots("batch_wrong", |world| {
        world.jobs();
        world.keys("b Ctrl-s");
    });
}

#[test]
fn a_file_of_prompts_that_is_asked_for() {
    snapshots("batch_file", |world| {
        world.jobs();
        world.keys("b Ctrl-f");
    });
}

#[test]
fn many_prompts_looked_over_with_their_price() {
    snapshots("batch_preview", |world| {
        world.jobs();
        world.batch(140);
        world.keys("j j");
    });
}

#[test]
fn a_queued_job_with_its_keys() {
    snapshots("jobs_queued", |world| {
        world.jobs();
        world.app.jobs.select(JobKey(7));
        world.tell(Msg::Wake);
    });
}

#[test]
fn the_question_before_sending_again() {
    snapshots("question", |world| {
        world.jobs();
        world.unconfirmed_selected();
        world.keys("! s");
    });
}

#[test]
fn the_question_before_quitting_with_a_queued_prompt() {
    snapshots("quit_question", |world| {
        world.jobs();
        world.keys("q");
    });
}

#[test]
fn a_prompt_that_waits_for_the_hourly_limit() {
    snapshots("queued_until", |world| world.limit_reached(TimeDelta::minutes(22), false));
}

#[test]
fn a_prompt_that_waits_after_a_429_that_named_no_time() {
    snapshots("queued_estimate", |world| world.limit_reached(TimeDelta::minutes(1), true));
}

#[test]
fn a_job_about_pages_with_their_views() {
    snapshots("job_about_pages", |world| {
        world.jobs();
        world.job_about_pages();
        world.keys("Enter");
    });
}

#[test]
fn templates_for_a_job_about_a_page() {
    snapshots("about_page_templates", |world| {
        world.jobs();
        world.views(50, true);
        world.keys("n");
        world.page_templates();
    });
}

#[test]
fn a_draft_about_other_pages_with_no_room_for_another() {
    snapshots("about_other_pages_full", |world| {
        world.draft_about_pages();
        world.views(50, true);
        world.keys("n");
    });
}

#[test]
fn drafts_with_one_about_pages() {
    snapshots("drafts_about_pages", |world| {
        world.draft_about_pages();
        world.keys("D");
    });
}

#[test]
fn a_draft_about_other_pages_is_asked_about() {
    snapshots("about_other_pages", |world| {
        world.draft_about_pages();
        world.keys("D x y Esc");
        world.views(50, true);
        world.keys("n");
    });
}

#[test]
fn the_editor_about_a_page() {
    snapshots("about_page_editor", |world| {
        world.jobs();
        world.views(50, true);
        world.keys("n");
        world.page_templates();
        world.keys("Enter");
    });
}

#[test]
fn what_to_do_about_a_rejected_prompt_is_said_whole_beside_the_list_and_alone() {
    for size in SIZES {
        let mut world = ScreenFixture::new(size);
        world.jobs();
        world.undelivered_follow_up(DeliveryKind::Rejected);
        world.keys(if size.0 < 120 { "Enter G" } else { "Tab G" });
        let shown = text(&render(&world.app, Depth::None));
        let is_whole = ["edits and sends it again", "edits and resends it", "edits it"];
        assert!(is_whole.iter().any(|form| shown.contains(&format!("! rejected: ! {form}"))), "{shown}");
    }
}
