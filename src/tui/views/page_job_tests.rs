use super::*;
use crate::model::failure::{Failure, FailureKind};
use crate::model::load::Timed;
use crate::model::prompt::PromptId;
use crate::model::remote_job::Status;
use crate::model::views::ViewsResponse;
use crate::tui::compose::about_pages::template_sort_key;
use crate::tui::compose::editor::Editor;
use crate::tui::finish_alerts::tests::{app, press};
use crate::tui::help::Help;
use crate::tui::jobs::tests::{at, row as job};
use crate::tui::{Msg, PromptsEffect, PromptsMsg, SubmitError, Template, ViewsMsg};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use std::sync::Arc;

fn paths(paths: &[&str]) -> Vec<CleanText> {
    paths.iter().map(|path| CleanText::line(path)).collect()
}

fn counts(human: i64, ai: i64) -> Counts {
    Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai))
}

fn row(path: &str, human: i64, ai: i64) -> PageRow {
    PageRow { path: CleanText::line(path), counts: counts(human, ai) }
}

fn rows() -> Vec<PageRow> {
    vec![row("/a", 9120, 4310), row("/b", 880, 690), row("/c", 10, 0)]
}

/// Returns the views screen with three pages, of which the first is selected.
fn views_screen() -> App {
    let mut app = app(vec![job(1, Status::Active)]);
    press(&mut app, '2');
    let query = app.views.query();
    let value = ViewsResponse { totals: counts(10_010, 5000), rows: rows(), has_more: Some(true) };
    app.update(Msg::Views(ViewsMsg::Loaded { query, result: Ok(Timed { value, as_of: at(0) }), old: None }), at(0));
    app
}

fn press_key(app: &mut App, code: KeyCode) -> Vec<Effect> {
    app.update(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))), at(0))
}

fn press_ctrl(app: &mut App, c: char) -> Vec<Effect> {
    app.update(Msg::Input(Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL))), at(0))
}

fn type_text(app: &mut App, text: &str) {
    text.chars().for_each(|c| drop(press(app, c)));
}

fn load_templates(app: &mut App, texts: &[&str]) {
    let template = |text: &&str| Template { name: CleanText::line(text), text: (*text).to_owned() };
    app.update(Msg::Prompts(PromptsMsg::TemplatesLoaded(texts.iter().map(template).collect())), at(0));
}

fn editor(app: &App) -> &Editor {
    app.find::<Editor>().expect("an editor")
}

fn notice(app: &App) -> &str {
    app.notice.as_ref().map_or("", |notice| notice.text.as_str())
}

#[test]
fn n_opens_an_editor_and_lists_the_templates_for_pages_first() {
    let mut app = views_screen();
    let asked = press(&mut app, 'n');
    assert!(
        asked.contains(&Effect::Prompts(PromptsEffect::LoadTemplates))
            && asked.contains(&Effect::Prompts(PromptsEffect::ReadDraft(DraftTarget::AboutPages)))
    );
    assert_eq!(editor(&app).title.as_str(), "New job about /a");
    assert_eq!(editor(&app).pages, paths(&["/a"]));
    load_templates(&mut app, &["Update it", "Fix {{path}} ({{human}} and {{ai}}, {{share}} of {{total}}), {{change}}"]);
    press_key(&mut app, KeyCode::Enter);
    assert_eq!(editor(&app).input.text(), "Fix /a (9,120 and 4,310, 32% of 13,430), {{change}}");
}

#[test]
fn an_unchanged_initial_text_is_neither_sent_nor_saved() {
    let mut app = views_screen();
    press(&mut app, 'n');
    press_key(&mut app, KeyCode::Esc);
    assert_eq!(editor(&app).input.text(), "/a: ");
    assert!(
        !press_ctrl(&mut app, 's')
            .iter()
            .any(|effect| matches!(effect, Effect::Prompts(PromptsEffect::SubmitJobAbout(..))))
    );
    assert_eq!(
        editor(&app).message.as_ref().map(CleanText::as_str),
        Some("Nothing to send: describe what the agent should do.")
    );
    assert_eq!(press_key(&mut app, KeyCode::Esc), []);
    assert_eq!((app.draft(DraftTarget::AboutPages), app.draft_count()), (None, 0));
}

#[test]
fn a_text_that_is_typed_and_deleted_leaves_no_draft() {
    let mut app = views_screen();
    press(&mut app, 'n');
    press_key(&mut app, KeyCode::Esc);
    type_text(&mut app, "x");
    assert_eq!(
        app.update(Msg::Timer, at(1)),
        [Effect::Prompts(PromptsEffect::SaveDraftAbout("/a: x".to_owned(), paths(&["/a"])))]
    );
    press_key(&mut app, KeyCode::Backspace);
    app.update(Msg::Timer, at(2));
    app.update(
        Msg::Prompts(PromptsMsg::DraftSaved { draft_target: DraftTarget::AboutPages, result: Ok(at(2)) }),
        at(2),
    );
    assert_eq!(
        press_key(&mut app, KeyCode::Esc),
        [Effect::Prompts(PromptsEffect::DeleteDraft(DraftTarget::AboutPages))]
    );
}

/// Returns the views screen with a saved draft about /a, and with /b selected.
fn views_screen_with_draft() -> App {
    let mut app = views_screen();
    press(&mut app, 'n');
    press_key(&mut app, KeyCode::Esc);
    type_text(&mut app, "mend it");
    let saved = Effect::Prompts(PromptsEffect::SaveDraftAbout("/a: mend it".to_owned(), paths(&["/a"])));
    assert_eq!(press_key(&mut app, KeyCode::Esc), [saved]);
    assert_eq!(notice(&app), "Draft saved. Press n on a page to continue.");
    press(&mut app, 'j');
    app
}

fn question(app: &App) -> &str {
    &app.top::<ConfirmDialog>().expect("a question").text
}

#[test]
fn replacing_a_draft_about_other_pages_needs_a_confirmation_and_n_declines() {
    let mut app = views_screen_with_draft();
    press(&mut app, 'n');
    assert!(question(&app).starts_with("You have an unsent draft about /a. Start a new one about /b?"));
    assert_eq!(press(&mut app, 'n'), []);
    assert!(app.dialogs.is_empty());
    assert_eq!(
        (app.draft(DraftTarget::AboutPages), app.draft_pages()),
        (Some("/a: mend it"), paths(&["/a"]).as_slice())
    );
    press(&mut app, 'k');
    let asked = press(&mut app, 'n');
    assert!(!asked.contains(&Effect::Prompts(PromptsEffect::LoadTemplates)), "a restored draft needs no template");
    assert_eq!((editor(&app).title.as_str(), notice(&app)), ("New job about /a", "Draft restored."));
    for _ in 0..40 {
        press_key(&mut app, KeyCode::Backspace);
    }
    assert_eq!(
        press_key(&mut app, KeyCode::Esc),
        [Effect::Prompts(PromptsEffect::DeleteDraft(DraftTarget::AboutPages))]
    );
    press(&mut app, 'j');
    press(&mut app, 'n');
    assert_eq!(editor(&app).pages, paths(&["/b"]));
}

#[test]
fn starting_over_opens_an_editor_about_the_selected_page_and_keeps_the_old_draft() {
    let mut app = views_screen_with_draft();
    press(&mut app, 'n');
    let saved = Effect::Prompts(PromptsEffect::SaveDraft(DraftTarget::NewJob, "/a: mend it".to_owned()));
    let asked = press(&mut app, 'y');
    assert_eq!(
        asked[..2],
        [saved, Effect::Prompts(PromptsEffect::DeleteDraft(DraftTarget::AboutPages))],
        "saved before it is deleted"
    );
    assert_eq!((app.draft(DraftTarget::NewJob), app.draft(DraftTarget::AboutPages)), (Some("/a: mend it"), None));
    assert_eq!((editor(&app).title.as_str(), &editor(&app).pages), ("New job about /b", &paths(&["/b"])));
    press_key(&mut app, KeyCode::Esc);
    type_text(&mut app, "more");
    assert!(press_ctrl(&mut app, 's').contains(&Effect::Prompts(PromptsEffect::SubmitJobAbout(
        "/b: more".to_owned(),
        paths(&["/b"]),
        Vec::new()
    ))));
}

#[test]
fn a_draft_that_becomes_the_draft_of_a_new_job_names_its_pages() {
    let mut app = views_screen_with_draft();
    app.drafts.insert(DraftTarget::AboutPages, "mend it".to_owned());
    press(&mut app, 'n');
    press(&mut app, 'y');
    assert_eq!(app.draft(DraftTarget::NewJob), Some("/a: mend it"));
}

#[test]
fn no_draft_is_replaced_if_a_new_job_already_has_a_draft() {
    let mut app = views_screen_with_draft();
    app.drafts.insert(DraftTarget::NewJob, "another".to_owned());
    assert_eq!(press(&mut app, 'n'), []);
    assert_eq!(
        question(&app),
        "You already have two drafts of new jobs: one about /a and one without pages. Send or delete one before you \
         start another. Open the one about /a?"
    );
    assert_eq!((app.draft(DraftTarget::NewJob), app.draft_count()), (Some("another"), 2));
    press(&mut app, 'y');
    assert_eq!((editor(&app).title.as_str(), editor(&app).input.text().as_str()), ("New job about /a", "/a: mend it"));
}

#[test]
fn a_template_is_shown_from_its_start_and_becomes_a_draft_once_it_is_changed() {
    let mut app = views_screen();
    press(&mut app, 'n');
    let text = format!("Fix {{{{path}}}}\n{}", "line\n".repeat(60));
    load_templates(&mut app, &[&text]);
    press_key(&mut app, KeyCode::Enter);
    assert!(editor(&app).input.text().starts_with("Fix /a\nline"));
    assert_eq!(editor(&app).input.area().cursor(), (0, 0));
    assert_eq!(app.update(Msg::Timer, at(5)), [], "nothing to write");
    assert_eq!(press_key(&mut app, KeyCode::Esc), []);
    assert_eq!(app.draft_count(), 0);
    press(&mut app, 'n');
    load_templates(&mut app, &[&text]);
    press_key(&mut app, KeyCode::Enter);
    type_text(&mut app, "x");
    assert!(matches!(
        press_key(&mut app, KeyCode::Esc).as_slice(),
        [Effect::Prompts(PromptsEffect::SaveDraftAbout(..))]
    ));
    assert_eq!(app.draft_count(), 1);
}

#[test]
fn a_prompt_that_cannot_be_stored_keeps_its_text_and_pages() {
    let mut app = views_screen();
    press(&mut app, 'n');
    press_key(&mut app, KeyCode::Esc);
    type_text(&mut app, "mend it");
    let sent = Effect::Prompts(PromptsEffect::SubmitJobAbout("/a: mend it".to_owned(), paths(&["/a"]), Vec::new()));
    let draft = Effect::Prompts(PromptsEffect::SaveDraftAbout("/a: mend it".to_owned(), paths(&["/a"])));
    let effects = press_ctrl(&mut app, 's');
    assert_eq!(effects[..2], [draft, sent.clone()], "the draft first");
    assert!(app.dialogs.is_empty());
    assert!(!press_ctrl(&mut app, 's').contains(&sent), "not twice");
    let draft_target = DraftTarget::AboutPages;
    let failure = Failure::new(FailureKind::Store, "The disk is full.");
    let refused = || SubmitError { failure: failure.clone(), text: "/a: mend it".to_owned(), pages: paths(&["/a"]) };
    app.update(Msg::Prompts(PromptsMsg::Submitted { draft_target, result: Err(refused()) }), at(1));
    assert_eq!(editor(&app).title.as_str(), "New job about /a");
    assert!(press_ctrl(&mut app, 's').contains(&sent), "the same pages again");
    // If another dialog is opened meanwhile, the text becomes a draft.
    let pressed = |c, with| Msg::Input(Event::Key(KeyEvent::new(KeyCode::Char(c), with)));
    app.update(pressed('?', KeyModifiers::NONE), at(2));
    app.update(Msg::Prompts(PromptsMsg::Submitted { draft_target, result: Err(refused()) }), at(2));
    assert!(app.top::<Help>().is_some() && app.dialogs.len() == 1);
    assert!(notice(&app).starts_with("Not sent: The disk is full. Saved as a draft"), "{}", notice(&app));
    assert_eq!((app.draft(draft_target), app.draft_pages()), (Some("/a: mend it"), paths(&["/a"]).as_slice()));
    press_key(&mut app, KeyCode::Esc);
    app.update(pressed('n', KeyModifiers::NONE), at(2));
    app.update(pressed('s', KeyModifiers::CONTROL), at(2));
    let mut made = job(9, Status::Active);
    made.local.pages = paths(&["/a"]).into();
    app.update(Msg::Prompts(PromptsMsg::Submitted { draft_target, result: Ok((PromptId(9), made)) }), at(3));
    assert_eq!((app.draft(draft_target), app.jobs.selected().map(|row| row.key.0)), (None, Some(9)));
    assert!(app.dialogs.is_empty());
}

#[test]
fn a_draft_from_another_docdeck_is_not_overwritten() {
    let mut app = views_screen();
    press(&mut app, 'n');
    let theirs = Msg::Prompts(PromptsMsg::DraftRead {
        draft_target: DraftTarget::AboutPages,
        text: Some("theirs".to_owned()),
        pages: paths(&["/x", "/y"]),
    });
    app.update(theirs, at(0));
    assert_eq!(app.dialogs.len(), 1, "the templates for /a are closed");
    assert_eq!(
        (editor(&app).title.as_str(), editor(&app).input.text().as_str()),
        ("New job about /x and /y", "theirs")
    );
    assert_eq!(
        notice(&app),
        "Loaded a draft about /x and /y from another docdeck on this computer. Send or clear it, then press n on your \
         page again."
    );
    assert_eq!(app.draft_pages(), paths(&["/x", "/y"]));
}

#[test]
fn a_merged_draft_is_about_the_pages_of_both_drafts() {
    let mut editor = Editor::new(DraftTarget::AboutPages, CleanText::default(), "ours");
    editor.pages = paths(&["/a", "/x"]);
    editor.load_draft_of_other_instance("theirs\n\nours", &paths(&["/x", "/y"]), true);
    assert_eq!((editor.pages, editor.input.text()), (paths(&["/x", "/y", "/a"]), "theirs\n\nours".to_owned()));
}

#[test]
fn without_a_page_a_notice_explains_how_to_select_a_page() {
    let mut app = app(Vec::new());
    press(&mut app, '2');
    press(&mut app, 'n');
    assert!(app.dialogs.is_empty());
    assert!(notice(&app).starts_with("No page is selected."), "{}", notice(&app));
}

#[test]
fn several_pages_are_listed_and_their_views_are_added_up() {
    let values = views_screen().page_template_values(&paths(&["/a", "/b", "/c"]), at(0));
    assert_eq!(values.path.as_deref(), Some("/a, /b and /c"));
    let lines = "- /a: 9,120 views by people, 4,310 by AI\n- /b: 880 views by people, 690 by AI\n\
                 - /c: 10 views by people, 0 by AI";
    assert_eq!(values.pages.as_deref(), Some(lines));
    assert_eq!((values.human.as_deref(), values.ai.as_deref()), (Some("10,010"), Some("5,000")));
    assert_eq!((values.total.as_deref(), values.share.as_deref()), (Some("15,010"), Some("33%")));
    assert_eq!(values.views_change, None, "nothing is compared");
}

#[test]
fn a_sum_is_unknown_if_one_page_is_unknown() {
    let values = views_screen().page_template_values(&paths(&["/a", "/nowhere"]), at(0));
    assert_eq!((values.human, values.share, values.total), (None, None, None));
    assert_eq!(values.pages.as_deref(), Some("- /a: 9,120 views by people, 4,310 by AI\n- /nowhere"));
    assert_eq!(app(Vec::new()).page_template_values(&paths(&["/a"]), at(0)).from, None, "no range is listed");
}

#[test]
fn invalid_counts_are_shown_as_received_and_missing_counts_as_unknown() {
    let mut app = views_screen();
    let query = app.views.query();
    let mut rows = rows();
    rows[0].counts = Counts::new(Count::Other(CleanText::line("12.5")), Count::Missing, Count::Known(-3));
    let value = ViewsResponse { totals: counts(1, 1), rows, has_more: Some(true) };
    app.update(Msg::Views(ViewsMsg::Loaded { query, result: Ok(Timed { value, as_of: at(0) }), old: None }), at(0));
    let values = app.page_template_values(&paths(&["/a"]), at(0));
    assert_eq!(values.human.as_deref(), Some("12.5 (as received)"));
    assert_eq!((values.ai.as_deref(), values.total.as_deref()), (Some(UNKNOWN_NUMBER_TEXT), Some("-3 (as received)")));
    assert_eq!(values.share.as_deref(), Some("an unknown share"));
    let several = app.page_template_values(&paths(&["/a", "/b"]), at(0));
    assert_eq!(
        (several.human.as_deref(), several.ai.as_deref()),
        (Some(UNKNOWN_NUMBER_TEXT), Some(UNKNOWN_NUMBER_TEXT))
    );
    assert!(
        several.pages.is_some_and(|lines| lines.starts_with("- /a: 12.5 (as received) views by people, an unknown"))
    );
}

#[test]
fn the_end_of_a_range_that_includes_today_is_labeled_today_so_far() {
    let app = views_screen();
    let to = app.views.query().range.to();
    assert_eq!(app.page_template_values(&paths(&["/a"]), at(0)).to, Some(format!("{to}, today so far")));
    let later = at(0) + chrono::TimeDelta::days(1);
    assert_eq!(app.page_template_values(&paths(&["/a"]), later).to, Some(to.to_string()));
}

#[test]
fn a_comparison_shows_the_change_and_an_unlisted_page_had_no_views() {
    let mut app = views_screen();
    let range = app.views.query().range;
    let report = |rows: Vec<PageRow>, range: DateRange, complete: bool| {
        let page = ViewsResponse { totals: Counts::default(), rows, has_more: None };
        Arc::new(Report::from_first_response(range, page, complete, at(0)))
    };
    let previous = range.step(-1).expect("a range");
    let earlier = vec![row("/a", 8769, 6246)];
    app.views.table.show_report(report(rows(), range, true), Some(report(earlier.clone(), previous, true)));
    let change = |app: &App, pages: &[&str]| app.page_template_values(&paths(pages), at(0)).views_change;
    assert_eq!(change(&app, &["/a"]), Some(format!("human +4%, AI −31% compared with {previous}")));
    assert_eq!(
        change(&app, &["/b"]),
        Some(format!("human 880 instead of none, AI 690 instead of none compared with {previous}"))
    );
    app.views.table.show_report(report(rows(), range, true), Some(report(earlier, previous, false)));
    assert_eq!(change(&app, &["/a", "/b"]), None, "the other range is partial");
}

#[test]
fn many_pages_are_counted_in_the_title_and_listed_in_the_text() {
    let pages = paths(&["/a", "/b", "/c", "/d"]);
    assert_eq!(
        (short_page_list(&pages).as_str(), title_of_job_about_pages(&pages).as_str()),
        ("4 pages", "New job about /a, /b and 2 more pages")
    );
    assert_eq!(initial_text(&pages), "4 pages: \n\n- /a\n- /b\n- /c\n- /d");
    let mut editor = Editor::new(DraftTarget::AboutPages, CleanText::default(), "");
    editor.set_initial_text(initial_text(&pages));
    assert_eq!(editor.input.cursor_column(), "4 pages: ".len(), "the cursor is after them");
    assert_eq!([("x {{pages}}", 4), ("{{path}}", 4), ("x", 4)].map(|(text, n)| template_sort_key(text, n)), [0, 1, 3]);
}

#[test]
fn hidden_marked_pages_are_reported_instead_of_using_the_selected_page() {
    let mut app = views_screen();
    let range = app.views.query().range;
    let page = ViewsResponse { totals: Counts::default(), rows: rows(), has_more: None };
    app.views.table.show_report(Arc::new(Report::from_first_response(range, page, true, at(0))), None);
    type_text(&mut app, "vv");
    app.views.table.set_filter("/c");
    press(&mut app, 'n');
    assert!(app.dialogs.is_empty());
    assert_eq!(notice(&app), "2 marked pages are hidden by the filter: Esc clears it.");
    press_key(&mut app, KeyCode::Esc);
    assert_eq!(app.views.table.marked_count(), 2);
    press_key(&mut app, KeyCode::Esc);
    assert_eq!((notice(&app), app.views.table.marked_count()), ("2 marks: press Esc again to clear them.", 2));
    press_key(&mut app, KeyCode::Esc);
    assert_eq!(app.views.table.marked_count(), 0);
}

#[test]
fn without_pages_the_footer_has_no_keys_for_the_list() {
    let mut app = views_screen();
    let range = app.views.query().range;
    let hinted = |app: &App| app.hints().map(|(_, row, _)| row.hint).collect::<Vec<_>>();
    let report = |rows: Vec<PageRow>| {
        Arc::new(Report::from_first_response(range, ViewsResponse { rows, ..ViewsResponse::default() }, true, at(0)))
    };
    let shaping = ["filter", "sort", "tree", "largest changes"];
    app.views.table.show_report(report(rows()), None);
    assert!(["filter", "sort", "tree"].iter().all(|hint| hinted(&app).contains(hint)), "{:?}", hinted(&app));
    app.views.table.show_report(report(Vec::new()), Some(report(Vec::new())));
    assert!(!shaping.iter().any(|hint| hinted(&app).contains(hint)), "{:?}", hinted(&app));
    assert!(hinted(&views_screen()).contains(&"load all"));
    let mut spent = crate::model::ledger::Budget::unused(crate::model::ledger::Quota::Views);
    spent.used = spent.limit;
    app.budgets.insert(crate::model::ledger::Quota::Views, spent);
    assert!(!hinted(&app).contains(&"load all"));
}
