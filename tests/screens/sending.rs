//! Writing and sending: the editor, history, templates, drafts, batches, undelivered prompts.

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
    snapshots("job_held", |fixture| {
        fixture.jobs();
        fixture.blocked_follow_ups();
        fixture.keys("Enter G");
    });
}

#[test]
fn the_editor_before_the_first_key() {
    snapshots("editor_empty", |fixture| {
        fixture.jobs();
        fixture.keys("n");
    });
}

#[test]
fn the_editor_with_a_saved_draft() {
    snapshots("editor_draft", |fixture| {
        fixture.jobs();
        fixture.keys("n");
        fixture.paste("Add a Python quickstart\n\nCover installation, the first request and errors. 日本語も見る。");
        fixture.saved();
    });
}

#[test]
fn the_editor_with_an_unchanged_text() {
    snapshots("editor_blank", |fixture| {
        fixture.jobs();
        fixture.keys("n Ctrl-s");
    });
}

#[test]
fn a_prompt_that_was_just_saved() {
    snapshots("prompt_saved", |fixture| {
        fixture.jobs();
        fixture.keys("n");
        fixture.paste("Rewrite the landing page");
        fixture.submitted();
    });
}

#[test]
fn a_prompt_that_was_just_rejected() {
    snapshots("prompt_rejected", |fixture| {
        fixture.jobs();
        fixture.keys("n");
        fixture.paste("Rewrite the landing page");
        fixture.rejected("400: prompt is too long for this project. Shorten it, then send it again.");
    });
}

#[test]
fn the_editor_with_a_rejected_prompt() {
    snapshots("editor_rejected", |fixture| {
        fixture.jobs();
        fixture.undelivered_follow_up(DeliveryKind::Rejected);
        fixture.keys("! e");
    });
}

#[test]
fn a_prompt_that_could_not_be_saved() {
    snapshots("editor_not_saved", |fixture| {
        fixture.jobs();
        fixture.keys("n");
        fixture.paste("Rewrite the landing page");
        fixture.keys("Ctrl-s");
        let failure = Failure::new(FailureKind::Store, "The disk is full.");
        let error = SubmitError { failure, text: "Rewrite the landing page".to_owned(), pages: Vec::new() };
        fixture.handle(Msg::Submitted { slot: DraftSlot::NewJob, result: Err(error) });
    });
}

#[test]
fn an_id_to_link_that_the_service_does_not_know() {
    snapshots("link_wrong", |fixture| {
        fixture.jobs();
        fixture.unconfirmed_selected();
        fixture.keys("! l j o b _ 9 Enter");
        let asked = fixture.effects.iter().rev().find_map(|effect| match effect {
            Effect::Resolve(prompt, _) => Some(*prompt),
            _ => None,
        });
        let why = "The service has no job job_9 (404: job not found). Copy the id from its dashboard once more.";
        let failure = Failure::new(FailureKind::NotFound, why);
        fixture.handle(Msg::Resolved { prompt: asked.expect("one is asked for"), result: Err(failure) });
    });
}

#[test]
fn the_filter_opens_with_the_old_text_selected_and_typing_replaces_it() {
    let mut fixture = ScreenFixture::new((80, 24));
    fixture.jobs();
    fixture.keys("/ l i n k Enter /");
    let reversed = reversed(&render(&fixture.app, Depth::None));
    assert!(reversed.contains("link"), "{reversed:?}");
    fixture.keys("x");
    assert_eq!(fixture.app.filter_text(), "x");
}

/// The text that is drawn reversed.
fn reversed(buffer: &Buffer) -> String {
    let cells = buffer.content().iter().filter(|cell| cell.modifier.contains(Modifier::REVERSED));
    cells.map(ratatui::buffer::Cell::symbol).collect()
}

#[test]
fn an_unconfirmed_prompt() {
    snapshots("resolve_unconfirmed", |fixture| {
        fixture.jobs();
        fixture.unconfirmed_selected();
        fixture.keys("!");
    });
}

#[test]
fn an_unconfirmed_prompt_scrolled_to_its_end() {
    snapshots("resolve_scrolled", |fixture| {
        fixture.jobs();
        fixture.unconfirmed_selected();
        fixture.keys("! G");
    });
}

#[test]
fn an_unconfirmed_follow_up() {
    snapshots("resolve_follow_up", |fixture| {
        fixture.jobs();
        fixture.undelivered_follow_up(DeliveryKind::Unconfirmed);
        fixture.keys("!");
    });
}

#[test]
fn a_rejected_follow_up() {
    snapshots("resolve_rejected", |fixture| {
        fixture.jobs();
        fixture.undelivered_follow_up(DeliveryKind::Rejected);
        fixture.keys("!");
    });
}

#[test]
fn history_before_it_is_read() {
    snapshots("history_reading", |fixture| {
        fixture.jobs();
        fixture.keys("n Ctrl-r");
    });
}

#[test]
fn history_when_nothing_was_sent() {
    snapshots("history_empty", |fixture| {
        fixture.jobs();
        fixture.keys("n Ctrl-r");
        fixture.handle(Msg::History(Ok(Vec::new())));
    });
}

#[test]
fn history_filtered_by_typing() {
    snapshots("history_narrowed", |fixture| {
        fixture.jobs();
        fixture.keys("n Ctrl-r");
        fixture.history();
        fixture.keys("p a g e");
        fixture.handle(Msg::Input(Event::Key(KeyCode::Down.into())));
    });
}

#[test]
fn history_that_cannot_be_read() {
    snapshots("history_failed", |fixture| {
        fixture.jobs();
        fixture.keys("n Ctrl-r");
        let failure = Failure::new(FailureKind::Store, "The database can't be used (disk I/O error).");
        fixture.handle(Msg::History(Err(failure)));
    });
}

#[test]
fn templates_to_choose_from() {
    snapshots("templates", |fixture| {
        fixture.jobs();
        fixture.keys("n Ctrl-t");
        fixture.templates();
    });
}

#[test]
fn a_template_with_unfilled_blanks() {
    snapshots("template_taken", |fixture| {
        fixture.jobs();
        fixture.keys("n Ctrl-t");
        fixture.templates();
        fixture.keys("Enter");
    });
}

#[test]
fn saved_drafts() {
    snapshots("drafts", |fixture| {
        fixture.drafts();
        fixture.keys("D");
    });
}

#[test]
fn the_question_before_a_draft_is_deleted() {
    snapshots("drafts_delete", |fixture| {
        fixture.drafts();
        fixture.keys("D x");
    });
}

#[test]
fn the_jobs_list_shows_that_there_are_drafts() {
    let mut fixture = ScreenFixture::new((120, 40));
    fixture.drafts();
    let shown = text(&render(&fixture.app, Depth::None));
    assert!(shown.contains("D 2 drafts"), "{shown}");
}

#[test]
fn a_batch_before_the_first_key() {
    snapshots("batch_empty", |fixture| {
        fixture.jobs();
        fixture.keys("b");
    });
}

#[test]
fn a_batch_with_mistakes() {
    snapshots("batch_wrong", |fixture| {
        fixture.jobs();
        fixture.keys("b Ctrl-s");
    });
}

#[test]
fn the_input_for_a_batch_file() {
    snapshots("batch_file", |fixture| {
        fixture.jobs();
        fixture.keys("b Ctrl-f");
    });
}

#[test]
fn a_reviewed_batch_with_its_cost() {
    snapshots("batch_preview", |fixture| {
        fixture.jobs();
        fixture.batch(140);
        fixture.keys("j j");
    });
}

#[test]
fn a_queued_job_with_its_keys() {
    snapshots("jobs_queued", |fixture| {
        fixture.jobs();
        fixture.app.jobs.select(JobKey(7));
        fixture.handle(Msg::Timer);
    });
}

#[test]
fn the_question_before_sending_again() {
    snapshots("question", |fixture| {
        fixture.jobs();
        fixture.unconfirmed_selected();
        fixture.keys("! s");
    });
}

#[test]
fn the_question_before_quitting_with_a_queued_prompt() {
    snapshots("quit_question", |fixture| {
        fixture.jobs();
        fixture.keys("q");
    });
}

#[test]
fn a_prompt_that_waits_for_the_hourly_limit() {
    snapshots("queued_until", |fixture| fixture.limit_reached(TimeDelta::minutes(22), false));
}

#[test]
fn a_prompt_that_waits_after_a_429_without_a_time() {
    snapshots("queued_estimate", |fixture| fixture.limit_reached(TimeDelta::minutes(1), true));
}

#[test]
fn a_job_about_pages_with_their_views() {
    snapshots("job_about_pages", |fixture| {
        fixture.jobs();
        fixture.job_about_pages();
        fixture.keys("Enter");
    });
}

#[test]
fn templates_for_a_job_about_a_page() {
    snapshots("about_page_templates", |fixture| {
        fixture.jobs();
        fixture.views(50, true);
        fixture.keys("n");
        fixture.page_templates();
    });
}

#[test]
fn a_draft_about_other_pages_when_no_further_draft_is_possible() {
    snapshots("about_other_pages_full", |fixture| {
        fixture.draft_about_pages();
        fixture.views(50, true);
        fixture.keys("n");
    });
}

#[test]
fn drafts_with_one_about_pages() {
    snapshots("drafts_about_pages", |fixture| {
        fixture.draft_about_pages();
        fixture.keys("D");
    });
}

#[test]
fn the_question_about_a_draft_about_other_pages() {
    snapshots("about_other_pages", |fixture| {
        fixture.draft_about_pages();
        fixture.keys("D x y Esc");
        fixture.views(50, true);
        fixture.keys("n");
    });
}

#[test]
fn the_editor_about_a_page() {
    snapshots("about_page_editor", |fixture| {
        fixture.jobs();
        fixture.views(50, true);
        fixture.keys("n");
        fixture.page_templates();
        fixture.keys("Enter");
    });
}

#[test]
fn the_choices_for_a_rejected_prompt_are_complete_beside_the_list_and_alone() {
    for size in SIZES {
        let mut fixture = ScreenFixture::new(size);
        fixture.jobs();
        fixture.undelivered_follow_up(DeliveryKind::Rejected);
        fixture.keys(if size.0 < 120 { "Enter G" } else { "Tab G" });
        let shown = text(&render(&fixture.app, Depth::None));
        let is_whole = ["to edit and send again", "to edit and resend", "to edit"];
        assert!(is_whole.iter().any(|form| shown.contains(&format!("! rejected: ! {form}"))), "{shown}");
    }
}
