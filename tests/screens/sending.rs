//! Writing and sending: the editor, history, templates, drafts, batches, undelivered prompts.

use crate::screen_fixture::ScreenFixture;
use crate::{LARGE, SIZES, SMALL, WIDE, render, snapshots, text};
use chrono::TimeDelta;
use crossterm::event::{Event, KeyCode};
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::job::JobKey;
use docdeck::model::prompt::{DeliveryKind, DraftTarget};
use docdeck::tui::draw::ColorDepth;
use docdeck::tui::{Effect, Msg, PromptsEffect, PromptsMsg, SubmitError};
use ratatui::buffer::Buffer;
use ratatui::style::Modifier;

#[test]
fn follow_ups_after_an_undelivered_follow_up() {
    snapshots("job_waiting_follow_up", &[], &["? help"], |fixture| {
        fixture.load_jobs();
        fixture.add_blocked_follow_ups();
        fixture.press_keys("Enter G");
    });
}

#[test]
fn the_editor_before_the_first_key() {
    snapshots("editor_empty", &[], &["What should the agent do?", "uses 1 of 63 new jobs left"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("n");
    });
}

#[test]
fn the_editor_with_a_saved_draft() {
    snapshots(
        "editor_draft",
        &[SMALL, WIDE, LARGE],
        &["Cover installation, the first request and errors. 日本語"],
        |fixture| {
            fixture.load_jobs();
            fixture.press_keys("n");
            fixture
                .paste("Add a Python quickstart\n\nCover installation, the first request and errors. 日本語も見る。");
            fixture.save_drafts();
        },
    );
}

#[test]
fn the_editor_of_a_follow_up_below_the_thread() {
    snapshots("follow_up", &[SMALL, WIDE, LARGE], &["Add a diagram of the retries"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("f");
        fixture.handle(Msg::Input(Event::Paste("Add a diagram of the retries".to_owned())));
    });
}

#[test]
fn a_reply_of_several_lines() {
    snapshots("reply", &[SMALL, WIDE], &["Follow-up", "Link it."], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("Enter f");
        fixture.handle(Msg::Input(Event::Paste("Add a diagram of the retries\n\nLink it.".to_owned())));
    });
}

#[test]
fn the_editor_after_an_attempt_to_send_an_empty_prompt() {
    snapshots("editor_blank", &[], &["Nothing to send: the prompt is empty."], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("n Ctrl-s");
    });
}

#[test]
fn a_prompt_that_was_just_saved() {
    snapshots("prompt_saved", &[], &["Saved, sending now: Rewrite the landing page"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("n");
        fixture.paste("Rewrite the landing page");
        fixture.submit_new_job();
    });
}

#[test]
fn a_prompt_that_was_just_rejected() {
    snapshots(
        "prompt_rejected",
        &[],
        &["! Rejected: “Rewrite the landing page”. 400: prompt is too long for this project."],
        |fixture| {
            fixture.load_jobs();
            fixture.press_keys("n");
            fixture.paste("Rewrite the landing page");
            fixture.submit_rejected_job("400: prompt is too long for this project. Shorten it, then send it again.");
        },
    );
}

#[test]
fn the_editor_with_a_rejected_prompt() {
    snapshots("editor_rejected", &[], &["Last attempt: 400: prompt is too long for this project."], |fixture| {
        fixture.load_jobs();
        fixture.add_undelivered_follow_up(DeliveryKind::Rejected);
        fixture.press_keys("! e");
    });
}

#[test]
fn a_prompt_that_could_not_be_saved() {
    snapshots(
        "editor_not_saved",
        &[],
        &["Not sent: The disk is full. The text stays here; Ctrl-Y copies it."],
        |fixture| {
            fixture.load_jobs();
            fixture.press_keys("n");
            fixture.paste("Rewrite the landing page");
            fixture.press_keys("Ctrl-s");
            let failure = Failure::new(FailureKind::Store, "The disk is full.");
            let error = SubmitError { failure, text: "Rewrite the landing page".to_owned(), pages: Vec::new() };
            fixture
                .handle(Msg::Prompts(PromptsMsg::Submitted { draft_target: DraftTarget::NewJob, result: Err(error) }));
        },
    );
}

#[test]
fn an_id_to_link_that_the_service_does_not_know() {
    snapshots(
        "link_unknown",
        &[],
        &["The service has no job_9 (404: job not found). Check the id on the"],
        |fixture| {
            fixture.load_jobs();
            fixture.select_unconfirmed_job();
            fixture.press_keys("! l j o b _ 9 Enter");
            let asked = fixture.effects.iter().rev().find_map(|effect| match effect {
                Effect::Prompts(PromptsEffect::Resolve(prompt, _)) => Some(*prompt),
                _ => None,
            });
            let why = "The service has no job_9 (404: job not found). Check the id on the dashboard.";
            let failure = Failure::new(FailureKind::NotFound, why);
            fixture.handle(Msg::Prompts(PromptsMsg::Resolved {
                prompt: asked.expect("one is asked for"),
                result: Err(failure),
            }));
        },
    );
}

#[test]
fn the_filter_opens_with_the_old_text_selected_and_typing_replaces_it() {
    let mut fixture = ScreenFixture::new((80, 24));
    fixture.load_jobs();
    fixture.press_keys("/ l i n k Enter /");
    let reversed = reversed(&render(&fixture.app, ColorDepth::None));
    assert!(reversed.contains("link"), "{reversed:?}");
    fixture.press_keys("x");
    assert_eq!(fixture.app.filter_text(), "x");
}

/// Returns the text that is drawn with foreground and background swapped.
fn reversed(buffer: &Buffer) -> String {
    let cells = buffer.content().iter().filter(|cell| cell.modifier.contains(Modifier::REVERSED));
    cells.map(ratatui::buffer::Cell::symbol).collect()
}

#[test]
fn an_unconfirmed_prompt() {
    snapshots(
        "undelivered_unconfirmed",
        &[SMALL, WIDE],
        &["The service may or may not have started this job."],
        |fixture| {
            fixture.load_jobs();
            fixture.select_unconfirmed_job();
            fixture.press_keys("!");
        },
    );
}

#[test]
fn an_unconfirmed_prompt_scrolled_to_its_end() {
    snapshots("undelivered_scrolled", &[], &["Start from the questions that support gets."], |fixture| {
        fixture.load_jobs();
        fixture.select_unconfirmed_job();
        fixture.press_keys("! G");
    });
}

#[test]
fn an_unconfirmed_follow_up() {
    snapshots("undelivered_follow_up", &[], &["The service may or may not have received this follow-up."], |fixture| {
        fixture.load_jobs();
        fixture.add_undelivered_follow_up(DeliveryKind::Unconfirmed);
        fixture.press_keys("!");
    });
}

#[test]
fn a_rejected_follow_up() {
    snapshots("undelivered_rejected", &[], &["reason 400: prompt is too long for this project."], |fixture| {
        fixture.load_jobs();
        fixture.add_undelivered_follow_up(DeliveryKind::Rejected);
        fixture.press_keys("!");
    });
}

#[test]
fn history_before_it_is_read() {
    snapshots("history_loading", &[], &["Sent prompts", "Type to search."], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("n Ctrl-r");
    });
}

#[test]
fn history_when_nothing_was_sent() {
    snapshots("history_empty", &[], &["No sent prompts yet.", "Sent prompts", "Type to search."], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("n Ctrl-r");
        fixture.handle(Msg::Prompts(PromptsMsg::HistoryLoaded(Ok(Vec::new()))));
    });
}

#[test]
fn history_filtered_by_typing() {
    snapshots("history_narrowed", &[], &["Write a page about webhooks 日本語"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("n Ctrl-r");
        fixture.load_history();
        fixture.press_keys("p a g e");
        fixture.handle(Msg::Input(Event::Key(KeyCode::Down.into())));
    });
}

#[test]
fn history_that_cannot_be_read() {
    snapshots("history_failed", &[], &["The database can't be used (disk", "Sent prompts"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("n Ctrl-r");
        let failure = Failure::new(FailureKind::Store, "The database can't be used (disk I/O error).");
        fixture.handle(Msg::Prompts(PromptsMsg::HistoryLoaded(Err(failure))));
    });
}

#[test]
fn templates_to_choose_from() {
    snapshots("templates", &[SMALL, WIDE], &["Translate {{path}} into", "Templates"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("n Ctrl-t");
        fixture.load_templates();
    });
}

#[test]
fn a_template_with_unfilled_blanks() {
    snapshots("template_inserted", &[], &["Seen while at work on"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("n Ctrl-t");
        fixture.load_templates();
        fixture.press_keys("Enter");
    });
}

#[test]
fn saved_drafts() {
    snapshots("drafts", &[], &["Follow-up: Update", "And the one", "x delete"], |fixture| {
        fixture.load_drafts();
        fixture.press_keys("D");
    });
}

#[test]
fn the_question_before_a_draft_is_deleted() {
    snapshots(
        "confirm_delete_draft",
        &[],
        &["Delete this draft (New job, 23 characters)? This can't be undone."],
        |fixture| {
            fixture.load_drafts();
            fixture.press_keys("D x");
        },
    );
}

#[test]
fn the_jobs_list_shows_that_there_are_drafts() {
    let mut fixture = ScreenFixture::new((120, 40));
    fixture.load_drafts();
    let shown = text(&render(&fixture.app, ColorDepth::None));
    assert!(shown.contains("D 2 drafts"), "{shown}");
}

#[test]
fn a_batch_before_the_first_key() {
    snapshots(
        "batch_empty",
        &[],
        &["Ctrl-S review", "Ctrl-S review", "Prompts, separated by blank lines."],
        |fixture| {
            fixture.load_jobs();
            fixture.press_keys("b");
        },
    );
}

#[test]
fn a_batch_of_three_prompts() {
    snapshots("batch_draft", &[WIDE], &["Describe endpoint 3"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("b");
        fixture.paste("Describe endpoint 1\n\nDescribe endpoint 2\n\nDescribe endpoint 3");
        fixture.save_drafts();
    });
}

#[test]
fn a_batch_after_an_attempt_to_review_no_prompts() {
    snapshots(
        "batch_invalid",
        &[],
        &["No prompts found. Separate prompts with blank lines, or use CSV or JSON"],
        |fixture| {
            fixture.load_jobs();
            fixture.press_keys("b Ctrl-s");
        },
    );
}

#[test]
fn the_input_for_a_batch_file() {
    snapshots(
        "batch_file",
        &[],
        &["The path of a text file (prompts separated by blank lines), .csv file"],
        |fixture| {
            fixture.load_jobs();
            fixture.press_keys("b Ctrl-f");
        },
    );
}

#[test]
fn a_reviewed_batch_with_its_cost() {
    snapshots("batch_preview", &[SMALL], &["62 now, 78 from 14:24 on"], |fixture| {
        fixture.load_jobs();
        fixture.review_batch(140);
        fixture.press_keys("j j");
    });
}

#[test]
fn a_queued_job_with_its_keys() {
    snapshots("jobs_queued", &[], &["of 14"], |fixture| {
        fixture.load_jobs();
        fixture.app.jobs.select(JobKey(7));
        fixture.handle(Msg::Timer);
    });
}

#[test]
fn the_question_before_sending_again() {
    snapshots(
        "confirm_send_again",
        &[],
        &["The service may have received this prompt already. If you send it"],
        |fixture| {
            fixture.load_jobs();
            fixture.select_unconfirmed_job();
            fixture.press_keys("! s");
        },
    );
}

#[test]
fn the_question_before_quitting_with_a_queued_prompt() {
    snapshots(
        "confirm_quit",
        &[],
        &["1 job has a queued prompt (Explain rate limits). It is sent only while"],
        |fixture| {
            fixture.load_jobs();
            fixture.press_keys("q");
        },
    );
}

#[test]
fn a_prompt_that_waits_for_the_hourly_limit() {
    snapshots(
        "queued_until",
        &[SMALL],
        &["Hourly limit reached. The saved prompt will be sent after 14:24 if docdeck is running."],
        |fixture| fixture.reach_limit(TimeDelta::minutes(22), false),
    );
}

#[test]
fn a_prompt_that_waits_after_a_429_without_a_time() {
    snapshots(
        "queued_estimate",
        &[],
        &["Hourly limit reached. The saved prompt will be sent in about a minute if docdeck is running."],
        |fixture| fixture.reach_limit(TimeDelta::minutes(1), true),
    );
}

#[test]
fn a_job_about_pages_with_their_views() {
    snapshots("job_about_pages", &[], &["✓ Completed with a pull request"], |fixture| {
        fixture.load_jobs();
        fixture.load_job_about_pages();
        fixture.press_keys("Enter");
    });
}

#[test]
fn templates_for_a_job_about_a_page() {
    snapshots("about_page_templates", &[], &["Improve these pages together:"], |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, true);
        fixture.press_keys("n");
        fixture.load_page_templates();
    });
}

#[test]
fn a_draft_about_other_pages_when_no_further_draft_is_possible() {
    snapshots("about_other_pages_full", &[], &["You already have two drafts of new jobs: one about"], |fixture| {
        fixture.load_draft_about_pages();
        fixture.load_views(50, true);
        fixture.press_keys("n");
    });
}

#[test]
fn drafts_including_one_about_pages() {
    snapshots("drafts_about_pages", &[], &["Say which plan", "New job about", "x delete"], |fixture| {
        fixture.load_draft_about_pages();
        fixture.press_keys("D");
    });
}

#[test]
fn the_question_about_a_draft_about_other_pages() {
    snapshots(
        "about_other_pages",
        &[],
        &["You have an unsent draft about /pricing and /guides/sso. Start a new one"],
        |fixture| {
            fixture.load_draft_about_pages();
            fixture.press_keys("D x y Esc");
            fixture.load_views(50, true);
            fixture.press_keys("n");
        },
    );
}

#[test]
fn the_editor_about_a_page() {
    snapshots("about_page_editor", &[], &["New job about /quickstart"], |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, true);
        fixture.press_keys("n");
        fixture.load_page_templates();
        fixture.press_keys("Enter");
    });
}

#[test]
fn the_choices_for_a_rejected_prompt_are_complete_beside_the_list_and_alone() {
    for size in SIZES {
        let mut fixture = ScreenFixture::new(size);
        fixture.load_jobs();
        fixture.add_undelivered_follow_up(DeliveryKind::Rejected);
        fixture.press_keys(if size.0 < 120 { "Enter G" } else { "Tab G" });
        let shown = text(&render(&fixture.app, ColorDepth::None));
        let detail = shown.lines().map(|line| line.rsplit('│').next().unwrap_or_default());
        let shown = detail.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ");
        assert!(shown.contains("! Rejected") && shown.contains("Press ! to edit it."), "{shown}");
    }
}
