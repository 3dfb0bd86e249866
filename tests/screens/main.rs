//! Snapshots of every screen and layer in the states it can be in, at a small, a usual and a large size.

#![expect(clippy::expect_used, reason = "a test that can't build its world should fail")]

mod keys;
mod layout;
mod pictures;
mod profiles;
mod ranges;
mod report;
mod reports;
mod styles;
mod welcome;
mod world;

use crossterm::event::{Event, KeyCode};
use docdeck::app::keymap::{Chord, Context};
use docdeck::app::{App, Msg};
use docdeck::model::about::PageHistory;
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::load::Stamped;
use docdeck::model::news::News;
use docdeck::model::prompt::DeliveryKind;
use docdeck::model::row::JobKey;
use docdeck::model::text::CleanText;
use docdeck::model::views::ViewsPage;
use docdeck::ui::{Depth, Theme, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Style};
use unicode_width::UnicodeWidthStr;
use world::{World, now};

const SIZES: [(u16, u16); 4] = [(40, 12), (80, 24), (120, 40), (160, 48)];

fn render(app: &App, depth: Depth) -> Buffer {
    drawn(app, &Theme::new(depth))
}

fn drawn(app: &App, theme: &Theme) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(app.size.0, app.size.1)).expect("a test terminal");
    terminal.draw(|frame| draw(frame, app, theme, now())).expect("a frame");
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let rows = buffer.content.chunks(width.max(1)).map(|row| {
        // The cell behind a wide character holds nothing of its own.
        let mut line = String::new();
        let mut covered = 0;
        for cell in row {
            if covered == 0 {
                line.push_str(cell.symbol());
                covered = cell.symbol().width().saturating_sub(1);
            } else {
                covered -= 1;
            }
        }
        line.trim_end().to_owned()
    });
    rows.collect::<Vec<_>>().join("\n")
}

/// Compares the state that `build` makes at every size with what was approved; in ASCII it has to be that, and with other
/// keys it names none of the usual ones.
fn snapshots(name: &str, build: impl Fn(&mut World)) {
    for (columns, rows) in SIZES {
        let mut world = World::new((columns, rows));
        build(&mut world);
        let in_ascii = text(&drawn(&world.app, &Theme { ascii: true, ..Theme::new(Depth::None) }));
        assert!(in_ascii.is_ascii(), "{name} in ASCII:\n{in_ascii}");
        insta::assert_snapshot!(format!("{name}_{columns}x{rows}"), text(&render(&world.app, Depth::None)));
    }
    keys::names_no_key_that_does_nothing(name, build);
}

#[test]
fn jobs_while_the_record_is_being_read() {
    snapshots("jobs_reading", |_| {});
}

#[test]
fn jobs_when_none_are_known() {
    snapshots("jobs_empty", World::nothing_known);
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
    snapshots("jobs_full", World::jobs);
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
        let mut world = World::with_saved_filters((columns, rows));
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
fn the_editor_when_a_prompt_came_back() {
    snapshots("editor_back", |world| {
        world.jobs();
        world.keys("n");
        world.paste("Rewrite the landing page");
        world.rejected("400: prompt is too long for this project. Shorten it, then send it again.");
    });
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
    let mut world = World::new((120, 40));
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
fn the_question_before_a_batch_is_queued() {
    snapshots("batch_question", |world| {
        world.jobs();
        world.batch(140);
        world.keys("Enter");
    });
}

#[test]
fn many_prompts_on_their_way_to_disk() {
    snapshots("batch_storing", |world| {
        world.jobs();
        world.batch(3);
        world.keys("Enter y");
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
fn an_id_that_is_asked_for() {
    snapshots("ask_track", |world| {
        world.jobs();
        world.keys("+");
    });
}

#[test]
fn the_keys_of_the_jobs_list() {
    snapshots("help_jobs", |world| {
        world.jobs();
        world.keys("?");
    });
}

#[test]
fn the_keys_that_hold_typed_words() {
    snapshots("help_found", |world| {
        world.jobs();
        world.keys("? / M a r k");
    });
}

#[test]
fn the_help_without_a_line_that_holds_the_words() {
    snapshots("help_nothing", |world| {
        world.jobs();
        world.keys("? / x y z z y Enter");
    });
}

#[test]
fn views_before_the_first_answer() {
    snapshots("views_loading", |world| {
        world.jobs();
        world.keys("2");
    });
}

#[test]
fn views_without_any_answer() {
    snapshots("views_failed", |world| {
        world.jobs();
        world.views_fail();
    });
}

#[test]
fn views_of_an_empty_range() {
    snapshots("views_empty", |world| {
        world.jobs();
        world.views(0, false);
    });
}

#[test]
fn views_in_full() {
    snapshots("views_full", |world| {
        world.jobs();
        world.views(50, true);
        world.keys("j j");
    });
}

#[test]
fn views_that_are_old_since_asking_again_failed() {
    snapshots("views_stale", |world| {
        world.jobs();
        world.views(50, true);
        world.keys("r");
        world.views_fail_again();
    });
}

#[test]
fn views_of_the_range_before_while_another_one_loads() {
    snapshots("views_switching", |world| {
        world.jobs();
        world.views(50, true);
        world.keys("d");
    });
}

#[test]
fn views_with_numbers_that_do_not_add_up() {
    snapshots("views_odd", |world| {
        world.jobs();
        world.odd_views();
    });
}

#[test]
fn a_pages_card_while_its_past_is_read() {
    snapshots("card_reading", |world| {
        world.jobs();
        world.views(50, true);
        world.keys("Enter");
    });
}

#[test]
fn a_pages_card_in_full() {
    snapshots("card_full", |world| {
        world.jobs();
        world.views(50, true);
        world.keys("Enter");
        world.page_with_a_past();
        world.keys("j");
    });
}

#[test]
fn a_pages_card_among_all_pages_scrolled_to_its_end() {
    snapshots("card_ranked", |world| {
        world.jobs();
        world.views(50, true);
        world.all_pages();
        world.keys("Enter");
        world.page_with_a_past();
        world.keys("G");
    });
}

#[test]
fn a_pages_card_without_a_past() {
    snapshots("card_empty", |world| {
        world.jobs();
        world.views(50, true);
        world.keys("Enter");
        world.page_history(PageHistory::default());
    });
}

#[test]
fn a_pages_card_with_numbers_that_do_not_add_up() {
    snapshots("card_odd", |world| {
        world.jobs();
        world.views(50, true);
        world.keys("Enter");
        world.page_with_odd_numbers();
    });
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
fn the_palette_on_the_views() {
    snapshots("palette_views", |world| {
        world.jobs();
        world.views(50, true);
        world.keys(":");
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
fn the_log_before_the_first_request() {
    snapshots("log_empty", |world| {
        world.nothing_known();
        world.keys("3");
    });
}

#[test]
fn the_log_in_full() {
    snapshots("log_full", |world| {
        world.jobs();
        world.log();
        world.keys("3");
    });
}

#[test]
fn sentences_name_the_users_own_keys() {
    let mut world = World::new((120, 40));
    let own = [
        (Context::Jobs, "undo", "F9"),
        (Context::Jobs, "fold-dismissed", "Z"),
        (Context::Jobs, "new-job", "F7"),
        (Context::Detail, "resolve", "F8"),
    ];
    for (context, action, key) in own {
        assert!(world.app.start.keymap.change(context, action, vec![Chord::parse(key).expect("a key")]), "{action}");
    }
    world.jobs();
    let shown = |world: &World| text(&render(&world.app, Depth::None));
    assert!(shown(&world).contains("Z shows them"));
    world.tell(Msg::Input(Event::Paste("x".to_owned())));
    assert!(shown(&world).contains("F7 opens the editor for a new job"));
    world.keys("d");
    assert!(shown(&world).contains("Dismissed; F9 takes it back."));
    world.unconfirmed_selected();
    assert!(shown(&world).contains("F8 decides"), "{}", shown(&world));
}

#[test]
fn a_screen_that_is_too_small() {
    for size in [(39, 12), (40, 11), (20, 5), (7, 2), (1, 1)] {
        let mut world = World::new(size);
        world.jobs();
        insta::assert_snapshot!(format!("small_{}x{}", size.0, size.1), text(&render(&world.app, Depth::None)));
    }
}

#[test]
fn no_size_and_no_layer_makes_the_drawing_fail() {
    for keys in [
        "",
        "Enter",
        "n",
        "+",
        "?",
        "2",
        "2 D",
        "3",
        "d",
        "n Ctrl-r",
        "b",
        "b Ctrl-f",
        "/ a",
        "v v d",
        "v v f",
        "T",
        "s s v",
        "2 Enter",
        "2 n",
        "2 C",
        "2 C 2 0 2 6",
        "2 e",
        "2 H",
    ] {
        for columns in [1, 2, 5, 13, 39, 40, 41, 59, 60, 69, 70, 80, 119, 120, 121, 200, 300] {
            for rows in [1, 2, 3, 5, 11, 12, 13, 24, 100] {
                let mut world = World::new((160, 48));
                world.jobs();
                world.views(50, true);
                world.keys("1");
                world.keys(keys);
                world.job_about_pages();
                world.page_with_a_past();
                world.resize(columns, rows);
                render(&world.app, Depth::Many);
            }
        }
    }
}

/// The styles of all cells in which this text stands first.
fn style_of(buffer: &Buffer, wanted: &str) -> Style {
    let shown = text(buffer);
    let (row, line) = shown.lines().enumerate().find(|(_, line)| line.contains(wanted)).expect("the text is shown");
    let column = line.split(wanted).next().map(|before| before.chars().count()).expect("a start");
    let at = (u16::try_from(column).expect("small"), u16::try_from(row).expect("small"));
    buffer.cell(at).expect("inside").style()
}

#[test]
fn colours_carry_the_meaning_that_the_signs_carry_too() {
    let mut world = World::new((160, 48));
    world.jobs();
    let buffer = render(&world.app, Depth::Sixteen);
    assert_eq!(style_of(&buffer, "failed").fg, Some(Color::Red));
    assert_eq!(style_of(&buffer, "unconfirmed").fg, Some(Color::Yellow));
    assert_eq!(style_of(&buffer, "◐ Add").fg, Some(Color::Cyan));
    world.views(50, true);
    let buffer = render(&world.app, Depth::Sixteen);
    assert_eq!(style_of(&buffer, "█").fg, Some(Color::Cyan));
    assert_eq!(style_of(&buffer, "▒").fg, Some(Color::Yellow));
}

#[test]
fn a_job_that_ended_unseen_is_marked_until_it_is_looked_at() {
    let mut world = World::new((120, 40));
    world.ended_without_pull_request(false);
    assert!(text(&render(&world.app, Depth::None)).contains(" ○ ✓ Tidy the glossary"));
    world.ended_without_pull_request(true);
    assert!(text(&render(&world.app, Depth::None)).contains("   ✓ Tidy the glossary"));
}

#[test]
fn without_colour_nothing_is_coloured() {
    let mut world = World::new((160, 48));
    world.jobs();
    world.views(50, true);
    let buffer = render(&world.app, Depth::None);
    let coloured = |cell: &ratatui::buffer::Cell| cell.fg != Color::Reset || cell.bg != Color::Reset;
    assert!(!buffer.content.iter().any(coloured));
}

#[test]
fn in_ascii_every_screen_and_layer_is_ascii() {
    for keys in ["", "Enter", "n", "+", "?", ":", "2", "3", "!", "2 Enter", "2 n", "2 D", "2 C", "2 e", "2 H"] {
        let mut world = World::new((120, 40));
        world.jobs();
        world.log();
        world.unconfirmed_selected();
        world.views(50, true);
        world.keys("1");
        world.keys(keys);
        world.page_with_a_past();
        let mut terminal = Terminal::new(TestBackend::new(120, 40)).expect("a test terminal");
        let theme = Theme { ascii: true, ..Theme::new(Depth::None) };
        terminal.draw(|frame| draw(frame, &world.app, &theme, now())).expect("a frame");
        let shown = text(terminal.backend().buffer());
        assert!(shown.is_ascii(), "after {keys:?}:\n{shown}");
    }
}

#[test]
fn hostile_text_from_the_service_cannot_leave_its_cell() {
    let mut world = World::new((120, 40));
    world.hostile_job("\x1b]0;owned\x07\x1b[2JFix \u{202e}txet \u{1b}]8;;https://evil\u{1b}\\link");
    let shown = text(&render(&world.app, Depth::None));
    assert!(shown.contains("Fix txet link"), "{shown}");
    assert!(!shown.contains('\u{1b}') && !shown.contains('\u{202e}'));
}

#[test]
fn a_page_whose_answer_is_late_never_shows_zero() {
    let mut world = World::new((80, 24));
    world.jobs();
    world.keys("2");
    let shown = text(&render(&world.app, Depth::None));
    assert!(shown.contains("Loading"), "{shown}");
    assert!(!shown.contains("human 0"));
    let empty = Stamped { value: ViewsPage::default(), as_of: now() };
    world.tell(Msg::Views { query: world.app.views.query(), result: Ok(empty), old: None });
    let shown = text(&render(&world.app, Depth::None));
    assert!(shown.contains("human ?"), "counts that are missing are not 0: {shown}");
}

#[test]
fn a_notice_of_trouble_is_marked_by_more_than_colour() {
    let mut world = World::new((80, 24));
    world.jobs();
    world.tell(Msg::News(News::Notice(CleanText::line("The store was moved aside."))));
    let shown = text(&render(&world.app, Depth::None));
    let lines: Vec<&str> = shown.lines().collect();
    let [.., said, keys] = lines.as_slice() else { panic!("{shown}") };
    assert!(said.starts_with("└ ! The store was moved aside. ──"), "{shown}");
    assert!(keys.starts_with(" n new "), "what is said leaves the keys in sight: {shown}");
}

#[test]
fn sentences_name_the_keys_of_ones_own() {
    let mut world = World::new((120, 40));
    world.jobs();
    let f8 = Chord::parse("F8").expect("a key");
    assert!(world.app.start.keymap.change(Context::Detail, "resolve", vec![f8]));
    world.unconfirmed_selected();
    let shown = text(&render(&world.app, Depth::None));
    assert!(shown.contains("a prompt is unconfirmed: F8 decides"), "{shown}");
}

#[test]
fn what_to_do_about_a_rejected_prompt_is_said_whole_beside_the_list_and_alone() {
    for size in SIZES {
        let mut world = World::new(size);
        world.jobs();
        world.undelivered_follow_up(DeliveryKind::Rejected);
        world.keys(if size.0 < 120 { "Enter G" } else { "Tab G" });
        let shown = text(&render(&world.app, Depth::None));
        let is_whole = ["edits and sends it again", "edits and resends it", "edits it"];
        assert!(is_whole.iter().any(|form| shown.contains(&format!("! rejected: ! {form}"))), "{shown}");
    }
}
