//! The jobs list in each of its states, with the detail pane beside it: groups, filters, sorting, marks, tags.

use crate::screen_fixture::ScreenFixture;
use crate::{LARGE, SMALL, WIDE, render, render_with_theme, snapshots, snapshots_of, text};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::job::JobKey;
use docdeck::model::prompt::DraftTarget;
use docdeck::model::text::CleanText;
use docdeck::tui::draw::{ColorDepth, Theme};
use docdeck::tui::tour::Tour;
use docdeck::tui::{JobsMsg, Msg};
use ratatui::buffer::Cell;
use ratatui::style::{Color, Modifier};

#[test]
fn jobs_while_the_store_is_being_read() {
    snapshots("jobs_loading", &[], &["r refresh"], |_| {});
}

#[test]
fn jobs_when_none_are_tracked() {
    snapshots(
        "jobs_empty",
        &[WIDE],
        &["Mintlify's API can't list jobs, so docdeck tracks them."],
        ScreenFixture::load_no_jobs,
    );
}

#[test]
fn jobs_with_the_tip_of_a_first_visit() {
    snapshots("jobs_tip", &[], &["? help"], |fixture| {
        fixture.load_jobs_with_tips();
    });
}

#[test]
fn jobs_with_the_tour_of_the_demo() {
    snapshots("tour", &[SMALL], &["opens the selected job", "on a page starts a job about it"], |fixture| {
        fixture.load_jobs();
        fixture.app.open(Tour);
    });
}

#[test]
fn jobs_when_the_store_cannot_be_read() {
    snapshots(
        "jobs_unreadable",
        &[],
        &["The database can't be used (disk I/O error): check the data folder, then"],
        |fixture| {
            let failure = Failure::new(
                FailureKind::Store,
                "The database can't be used (disk I/O error): check the data folder, then restart docdeck.",
            );
            fixture.handle(Msg::Jobs(JobsMsg::InitialDataLoaded(Err(failure))));
        },
    );
}

#[test]
fn jobs_in_every_group() {
    snapshots("jobs_full", &[SMALL, WIDE, LARGE], &["f follow up"], ScreenFixture::load_jobs);
}

#[test]
fn jobs_while_the_service_is_unreachable() {
    snapshots("jobs_offline", &[], &["f follow up"], |fixture| {
        fixture.load_jobs();
        fixture.lose_connection();
    });
}

#[test]
fn an_open_job() {
    snapshots("job_open", &[SMALL], &["? help"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("Enter");
    });
}

#[test]
fn a_long_scrolled_thread() {
    snapshots("job_scrolled", &[], &["? help"], |fixture| {
        fixture.load_jobs();
        fixture.load_long_thread();
        fixture.press_keys("Enter j j j");
    });
}

#[test]
fn dismissed_jobs_when_shown() {
    snapshots("jobs_dismissed", &[], &["An old"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("z G");
    });
}

#[test]
fn a_list_while_its_filter_is_typed() {
    snapshots("jobs_filter_typed", &[WIDE], &["/guide !quickstart 2 of 15", "Needs you 1"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("/");
        fixture.paste("guide !quickstart");
    });
}

#[test]
fn a_list_with_an_applied_filter() {
    snapshots("jobs_filtered", &[], &["/s:done 7 of 15 2 marked"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("/ s : d o n e Enter v v");
    });
}

#[test]
fn a_filter_without_matches() {
    snapshots("jobs_no_match", &[], &["/#99 0 of 15", "changes it"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("/ # 9 9 Enter");
    });
}

#[test]
fn saved_filters_as_tabs() {
    let texts = ["Needs you 2", "2 of 15"];
    snapshots_of(ScreenFixture::with_saved_filters, "jobs_tabs", &[], &texts, |fixture| {
        fixture.load_jobs();
        fixture.add_custom_labels();
        fixture.press_keys("] ]");
    });
}

#[test]
fn jobs_sorted_by_status() {
    snapshots("jobs_by_status", &[], &["Jobs by status"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("s s s");
    });
}

#[test]
fn marked_jobs() {
    snapshots("jobs_marked", &[WIDE], &["3 marked: f follow up", "Jobs 3 marked"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("v j V");
    });
}

#[test]
fn the_question_before_dismissing_several_jobs() {
    snapshots("confirm_bulk_dismiss", &[], &["y dismiss · n cancel", "Dismiss 13 jobs?", "Skipped: "], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("g v G V d");
    });
}

#[test]
fn the_question_before_a_follow_up_to_several_jobs() {
    snapshots(
        "confirm_follow_ups",
        &[],
        &["Send this to 3 jobs? Uses 3 of 96 follow-ups left this hour (counted on"],
        |fixture| {
            fixture.load_jobs();
            fixture.press_keys("v v v f");
            fixture.paste("Use the new product name everywhere.");
            fixture.press_keys("Ctrl-s");
        },
    );
}

#[test]
fn a_job_with_tags_and_a_note() {
    snapshots("job_tags_and_note", &[], &["#docs #api"], |fixture| {
        fixture.load_jobs();
        fixture.add_custom_labels();
        fixture.press_keys("Enter");
    });
}

#[test]
fn tags_in_the_list() {
    snapshots("jobs_tags", &[], &["f follow up"], |fixture| {
        fixture.load_jobs();
        fixture.add_custom_labels();
    });
}

#[test]
fn the_input_for_tags() {
    snapshots(
        "input_tags",
        &[SMALL],
        &["Plain words replace all tags; +docs adds a tag, -docs removes it."],
        |fixture| {
            fixture.load_jobs();
            fixture.add_custom_labels();
            fixture.press_keys("T");
        },
    );
}

#[test]
fn the_input_for_a_job_id() {
    snapshots(
        "input_track",
        &[],
        &["A job id, or a list of ids, from your Mintlify dashboard. One request"],
        |fixture| {
            fixture.load_jobs();
            fixture.press_keys("+");
        },
    );
}

#[test]
fn a_job_that_finished_unseen_is_marked_until_it_is_viewed() {
    let mut fixture = ScreenFixture::new((120, 40));
    fixture.load_job_without_pull_request(false);
    assert!(text(&render(&fixture.app, ColorDepth::None)).contains(" •✓ completed    Tidy the glossary"));
    fixture.load_job_without_pull_request(true);
    assert!(text(&render(&fixture.app, ColorDepth::None)).contains("  ✓ completed    Tidy the glossary"));
}

#[test]
fn jobs_show_the_state_of_their_pull_requests() {
    snapshots("jobs_pull_requests", &[], &["Change page 1"], |fixture| fixture.load_pull_requests());
}

#[test]
fn sorted_by_status_the_pull_requests_that_need_most_come_first() {
    let mut fixture = ScreenFixture::new((80, 24));
    fixture.load_pull_requests();
    fixture.press_keys("s s s");
    let shown = text(&render(&fixture.app, ColorDepth::None));
    let words = ["conflict", "failing", "rework", "ready", "draft PR", "pending", "merge queue", "merged", "closed"];
    let positions: Vec<_> = words.iter().map(|word| shown.find(&format!(" {word} "))).collect();
    assert!(positions.is_sorted() && positions.iter().all(Option::is_some), "{shown}");
}

#[test]
fn the_states_of_pull_requests_differ_in_ascii_and_without_colours() {
    let mut fixture = ScreenFixture::new((80, 24));
    fixture.load_pull_requests();
    let theme = Theme { ascii: true, shows_unicode_text: false, ..Theme::new(ColorDepth::None) };
    let shown = text(&render_with_theme(&fixture.app, &theme));
    let symbols: std::collections::BTreeSet<char> = (1421..=1429)
        .map(|number| {
            let line = shown.lines().find(|line| line.contains(&format!("#{number} "))).expect("the pull request");
            line.chars().nth(2).expect("a symbol")
        })
        .collect();
    assert_eq!(symbols.len(), 9, "{shown}");
}

#[test]
fn the_details_name_what_a_job_waits_for() {
    let mut fixture = ScreenFixture::new((160, 48));
    fixture.load_pull_requests();
    let details_of = |fixture: &mut ScreenFixture, keys: &str| {
        fixture.press_keys(keys);
        text(&render(&fixture.app, ColorDepth::None))
    };
    let ready = details_of(&mut fixture, "");
    assert!(ready.contains("✓ Ready for review") && ready.contains(" · 12 of 12 checks passed"), "{ready}");
    let (mut pending, mut steps) = (String::new(), 0);
    while !pending.contains("◌ Checks are running") && steps < 12 {
        (pending, steps) = (details_of(&mut fixture, "j"), steps + 1);
    }
    assert!(pending.contains("Nothing to do until its checks finish. Press f to follow up."), "{pending}");
}

#[test]
fn jobs_of_a_team_have_their_author() {
    snapshots("jobs_of_a_team", &[], &["f follow up"], ScreenFixture::share_jobs);
    let mut fixture = ScreenFixture::new((160, 48));
    fixture.share_jobs();
    let shown = text(&render(&fixture.app, ColorDepth::None));
    for part in [" by ", " bob@laptop ", " maximilian@… ", "ana", "› you"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    fixture.press_keys("/ b y : b o b");
    let shown = text(&render(&fixture.app, ColorDepth::None));
    assert!(shown.contains("Add a Python quickstart") && shown.contains("1 of 15"), "{shown}");
}

#[test]
fn a_prompt_of_a_member_is_copied_only_after_a_warning() {
    snapshots("take_over", &[], &["ana"], |fixture| {
        fixture.add_unconfirmed_prompt_of_member();
        fixture.press_keys("!");
    });
    let mut fixture = ScreenFixture::new((120, 40));
    fixture.add_unconfirmed_prompt_of_member();
    let shown = text(&render(&fixture.app, ColorDepth::None));
    assert!(shown.contains("! copy prompt"), "{shown}");
    fixture.press_keys("! n");
    assert!(fixture.app.draft(DraftTarget::FollowUp(JobKey(1))).is_none());
    fixture.press_keys("! y");
    let shown = text(&render(&fixture.app, ColorDepth::None));
    assert!(shown.contains("Follow-up: Fix broken links") && shown.contains("Also check the images"), "{shown}");
}

#[test]
fn hostile_text_from_the_service_cannot_leave_its_cell() {
    for (size, keys, copies, places) in [
        ((120, 40), "", 4, "title, column, fact and thread"),
        ((80, 24), "Enter", 3, "title of the details, fact and thread"),
    ] {
        let mut fixture = ScreenFixture::new(size);
        fixture.load_hostile_job("\x1b]0;owned\x07\x1b[2JFix \u{202e}txet \u{1b}]8;;https://evil\u{1b}\\link");
        fixture.press_keys(keys);
        let shown = text(&render(&fixture.app, ColorDepth::None));
        assert_eq!(shown.matches("Fix txet").count(), copies, "{places}: {shown}");
        assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'));
    }
}

#[test]
fn an_error_notice_is_marked_by_more_than_colour() {
    let mut fixture = ScreenFixture::new((80, 24));
    fixture.load_jobs();
    fixture.handle(Msg::Engine(EngineEvent::Notice(CleanText::line("The store was moved aside."))));
    let shown = text(&render(&fixture.app, ColorDepth::None));
    let lines: Vec<&str> = shown.lines().collect();
    let [.., message, keys] = lines.as_slice() else { panic!("{shown}") };
    assert!(message.starts_with("─ ! The store was moved aside. ──"), "{shown}");
    assert!(keys.starts_with(" Enter open "), "the message leaves the keys visible: {shown}");
}

#[test]
fn the_selected_row_is_filled_even_while_another_pane_has_the_focus() {
    for keys in ["", "Enter", "f"] {
        let mut fixture = ScreenFixture::new((120, 40));
        fixture.load_jobs();
        fixture.press_keys(keys);
        for depth in [ColorDepth::TrueColor, ColorDepth::None] {
            let screen = render(&fixture.app, depth);
            let is_filled = |cell: &Cell| cell.bg != Color::Reset || cell.modifier.contains(Modifier::REVERSED);
            let row = (0..40).find(|y| screen[(0, *y)].symbol() == "▌").expect("a selected row");
            let list_width = (0..120_u16).find(|x| screen[(*x, row)].symbol() == "│").expect("a divider");
            let filled = (0..list_width).filter(|x| is_filled(&screen[(*x, row)])).count();
            assert!(filled + 1 >= usize::from(list_width), "{keys:?}, {depth:?}: {filled} of {list_width} cells");
        }
    }
}
