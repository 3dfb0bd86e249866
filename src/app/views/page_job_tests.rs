use super::*;
use crate::app::finish_alerts::tests::{app, press};
use crate::app::jobs::tests::{at, row as job};
use crate::app::{Msg, SubmitError, Template};
use crate::model::failure::{Failure, FailureKind};
use crate::model::job::Status;
use crate::model::load::Timed;
use crate::model::prompt::PromptId;
use crate::model::views::ViewsPage;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use std::sync::Arc;

fn paths(paths: &[&str]) -> Vec<CleanText> {
    paths.iter().map(|path| CleanText::line(path)).collect()
}

fn counts(human: i64, ai: i64) -> Counts {
    Counts { human: Count::Known(human), ai: Count::Known(ai), total: Count::Known(human + ai) }
}

fn row(path: &str, human: i64, ai: i64) -> PageRow {
    PageRow { path: CleanText::line(path), counts: counts(human, ai) }
}

fn rows() -> Vec<PageRow> {
    vec![row("/a", 9120, 4310), row("/b", 880, 690), row("/c", 10, 0)]
}

/// On the views screen, the first of three pages selected.
fn looking() -> App {
    let mut app = app(vec![job(1, Status::Active)]);
    press(&mut app, '2');
    let query = app.views.query();
    let value = ViewsPage { totals: counts(10_010, 5000), rows: rows(), has_more: Some(true) };
    app.update(Msg::Views { query, result: Ok(Timed { value, as_of: at(0) }), old: None }, at(0));
    app
}

fn key(app: &mut App, code: KeyCode) -> Vec<Effect> {
    app.update(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))), at(0))
}

fn held(app: &mut App, c: char) -> Vec<Effect> {
    app.update(Msg::Input(Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL))), at(0))
}

fn typed(app: &mut App, text: &str) {
    text.chars().for_each(|c| drop(press(app, c)));
}

fn templates(app: &mut App, texts: &[&str]) {
    let template = |text: &&str| Template { name: CleanText::line(text), text: (*text).to_owned() };
    app.update(Msg::Templates(texts.iter().map(template).collect()), at(0));
}

fn editor(app: &App) -> &Editor {
    app.dialogs.iter().find_map(Dialog::as_editor).expect("an editor")
}

fn notice(app: &App) -> &str {
    app.notice.as_ref().map_or("", |notice| notice.text.as_str())
}

#[test]
fn the_key_opens_an_editor_about_the_page_with_the_templates_on_top_those_for_pages_first() {
    let mut app = looking();
    let asked = press(&mut app, 'n');
    assert!(asked.contains(&Effect::LoadTemplates) && asked.contains(&Effect::ReadDraft(DraftSlot::AboutPages)));
    assert_eq!(editor(&app).title.as_str(), "New job about /a");
    assert_eq!(editor(&app).pages, paths(&["/a"]));
    templates(&mut app, &["Update it", "Fix {{path}} ({{human}} and {{ai}}, {{share}} of {{total}}), {{change}}"]);
    key(&mut app, KeyCode::Enter);
    assert_eq!(editor(&app).input.text(), "Fix /a (9,120 and 4,310, 32% of 13,430), {{change}}");
}

#[test]
fn esc_leaves_an_editor_that_names_the_page_and_what_was_not_typed_is_neither_sent_nor_kept() {
    let mut app = looking();
    press(&mut app, 'n');
    key(&mut app, KeyCode::Esc);
    assert_eq!(editor(&app).input.text(), "/a: ");
    assert!(!held(&mut app, 's').iter().any(|effect| matches!(effect, Effect::SubmitJobAbout(..))));
    assert_eq!(
        editor(&app).message.as_ref().map(CleanText::as_str),
        Some("Nothing to send: say what the agent should do.")
    );
    assert_eq!(key(&mut app, KeyCode::Esc), []);
    assert_eq!((app.draft(DraftSlot::AboutPages), app.draft_count()), (None, 0));
}

#[test]
fn typed_and_taken_away_again_it_leaves_no_draft_on_disk() {
    let mut app = looking();
    press(&mut app, 'n');
    key(&mut app, KeyCode::Esc);
    typed(&mut app, "x");
    assert_eq!(app.update(Msg::Wake, at(1)), [Effect::SaveDraftAbout("/a: x".to_owned(), paths(&["/a"]))]);
    key(&mut app, KeyCode::Backspace);
    app.update(Msg::Wake, at(2));
    app.update(Msg::DraftSaved { slot: DraftSlot::AboutPages, result: Ok(at(2)) }, at(2));
    assert_eq!(key(&mut app, KeyCode::Esc), [Effect::DeleteDraft(DraftSlot::AboutPages)]);
}

/// A draft about /a is kept, and /b is selected.
fn with_draft() -> App {
    let mut app = looking();
    press(&mut app, 'n');
    key(&mut app, KeyCode::Esc);
    typed(&mut app, "mend it");
    let saved = Effect::SaveDraftAbout("/a: mend it".to_owned(), paths(&["/a"]));
    assert_eq!(key(&mut app, KeyCode::Esc), [saved]);
    assert_eq!(notice(&app), "Draft kept; n on a page opens it again.");
    press(&mut app, 'j');
    app
}

fn question(app: &App) -> &str {
    match app.dialogs.last() {
        Some(Dialog::Question(question)) => &question.text,
        other => panic!("no question: {other:?}"),
    }
}

#[test]
fn a_draft_about_other_pages_is_asked_about_and_no_changes_nothing() {
    let mut app = with_draft();
    press(&mut app, 'n');
    assert!(question(&app).starts_with("Your draft about /a is not sent yet. Begin anew about /b?"));
    assert_eq!(press(&mut app, 'n'), []);
    assert!(app.dialogs.is_empty());
    assert_eq!((app.draft(DraftSlot::AboutPages), app.draft_pages()), (Some("/a: mend it"), paths(&["/a"]).as_slice()));
    press(&mut app, 'k');
    let asked = press(&mut app, 'n');
    assert!(!asked.contains(&Effect::LoadTemplates), "a draft that is back needs no template");
    assert_eq!((editor(&app).title.as_str(), notice(&app)), ("New job about /a", "Your draft is back."));
    for _ in 0..40 {
        key(&mut app, KeyCode::Backspace);
    }
    assert_eq!(key(&mut app, KeyCode::Esc), [Effect::DeleteDraft(DraftSlot::AboutPages)]);
    press(&mut app, 'j');
    press(&mut app, 'n');
    assert_eq!(editor(&app).pages, paths(&["/b"]));
}

#[test]
fn begun_anew_the_job_is_about_the_page_that_was_chosen_and_the_old_text_is_kept() {
    let mut app = with_draft();
    press(&mut app, 'n');
    let kept = Effect::SaveDraft(DraftSlot::NewJob, "/a: mend it".to_owned());
    let asked = press(&mut app, 'y');
    assert_eq!(asked[..2], [kept, Effect::DeleteDraft(DraftSlot::AboutPages)], "kept before it is deleted");
    assert_eq!((app.draft(DraftSlot::NewJob), app.draft(DraftSlot::AboutPages)), (Some("/a: mend it"), None));
    assert_eq!((editor(&app).title.as_str(), &editor(&app).pages), ("New job about /b", &paths(&["/b"])));
    key(&mut app, KeyCode::Esc);
    typed(&mut app, "more");
    assert!(held(&mut app, 's').contains(&Effect::SubmitJobAbout("/b: more".to_owned(), paths(&["/b"]))));
}

#[test]
fn a_kept_text_names_the_pages_that_it_was_about() {
    let mut app = with_draft();
    app.drafts.insert(DraftSlot::AboutPages, "mend it".to_owned());
    press(&mut app, 'n');
    press(&mut app, 'y');
    assert_eq!(app.draft(DraftSlot::NewJob), Some("/a: mend it"));
}

#[test]
fn where_both_drafts_are_taken_nothing_is_begun() {
    let mut app = with_draft();
    app.drafts.insert(DraftSlot::NewJob, "another".to_owned());
    assert_eq!(press(&mut app, 'n'), []);
    assert!(question(&app).contains("no room for one about /b"), "{}", question(&app));
    assert_eq!((app.draft(DraftSlot::NewJob), app.draft_count()), (Some("another"), 2));
    press(&mut app, 'y');
    assert_eq!((editor(&app).title.as_str(), editor(&app).input.text().as_str()), ("New job about /a", "/a: mend it"));
}

#[test]
fn a_template_is_seen_from_its_top_and_is_no_draft_before_it_is_changed() {
    let mut app = looking();
    press(&mut app, 'n');
    let text = format!("Fix {{{{path}}}}\n{}", "line\n".repeat(60));
    templates(&mut app, &[&text]);
    key(&mut app, KeyCode::Enter);
    assert!(editor(&app).input.text().starts_with("Fix /a\nline"));
    assert_eq!(editor(&app).input.area().cursor(), (0, 0));
    assert_eq!(app.update(Msg::Wake, at(5)), [], "nothing to write");
    assert_eq!(key(&mut app, KeyCode::Esc), []);
    assert_eq!(app.draft_count(), 0);
    press(&mut app, 'n');
    templates(&mut app, &[&text]);
    key(&mut app, KeyCode::Enter);
    typed(&mut app, "x");
    assert!(matches!(key(&mut app, KeyCode::Esc).as_slice(), [Effect::SaveDraftAbout(..)]));
    assert_eq!(app.draft_count(), 1);
}

#[test]
fn what_can_not_be_stored_keeps_text_and_pages_and_what_can_becomes_the_prompt() {
    let mut app = looking();
    press(&mut app, 'n');
    key(&mut app, KeyCode::Esc);
    typed(&mut app, "mend it");
    let sent = Effect::SubmitJobAbout("/a: mend it".to_owned(), paths(&["/a"]));
    let draft = Effect::SaveDraftAbout("/a: mend it".to_owned(), paths(&["/a"]));
    let effects = held(&mut app, 's');
    assert_eq!(effects[..2], [draft, sent.clone()], "the draft first");
    assert!(app.dialogs.is_empty());
    assert!(!held(&mut app, 's').contains(&sent), "not twice");
    let slot = DraftSlot::AboutPages;
    let failure = Failure::new(FailureKind::Store, "The disk is full.");
    let refused = || SubmitError { failure: failure.clone(), text: "/a: mend it".to_owned(), pages: paths(&["/a"]) };
    app.update(Msg::Submitted { slot, result: Err(refused()) }, at(1));
    assert_eq!(editor(&app).title.as_str(), "New job about /a");
    assert!(held(&mut app, 's').contains(&sent), "the same pages again");
    // Something else was opened meanwhile: the text is a draft.
    let pressed = |c, with| Msg::Input(Event::Key(KeyEvent::new(KeyCode::Char(c), with)));
    app.update(pressed('?', KeyModifiers::NONE), at(2));
    app.update(Msg::Submitted { slot, result: Err(refused()) }, at(2));
    assert!(matches!(app.dialogs.as_slice(), [Dialog::Help(_)]));
    assert!(notice(&app).starts_with("Not sent: The disk is full. The text is kept as a draft"), "{}", notice(&app));
    assert_eq!((app.draft(slot), app.draft_pages()), (Some("/a: mend it"), paths(&["/a"]).as_slice()));
    key(&mut app, KeyCode::Esc);
    app.update(pressed('n', KeyModifiers::NONE), at(2));
    app.update(pressed('s', KeyModifiers::CONTROL), at(2));
    let mut made = job(9, Status::Active);
    made.pages = paths(&["/a"]).into();
    app.update(Msg::Submitted { slot, result: Ok((PromptId(9), made)) }, at(3));
    assert_eq!((app.draft(slot), app.jobs.selected().map(|row| row.key.0)), (None, Some(9)));
    assert!(app.dialogs.is_empty());
}

#[test]
fn a_draft_of_another_docdeck_about_another_page_is_not_written_over() {
    let mut app = looking();
    press(&mut app, 'n');
    let theirs =
        Msg::DraftRead { slot: DraftSlot::AboutPages, text: Some("theirs".to_owned()), pages: paths(&["/x", "/y"]) };
    app.update(theirs, at(0));
    assert_eq!(app.dialogs.len(), 1, "templates for /a are of no use now");
    assert_eq!(
        (editor(&app).title.as_str(), editor(&app).input.text().as_str()),
        ("New job about /x and /y", "theirs")
    );
    assert_eq!(
        notice(&app),
        "A draft about /x and /y from another docdeck on this computer is here: send it or empty it, then n on this page."
    );
    assert_eq!(app.draft_pages(), paths(&["/x", "/y"]));
}

#[test]
fn two_drafts_that_meet_are_about_the_pages_of_both() {
    let mut editor = Editor::new(DraftSlot::AboutPages, CleanText::default(), "ours");
    editor.pages = paths(&["/a", "/x"]);
    draft_about_read(&mut editor, "theirs\n\nours", &paths(&["/x", "/y"]), true);
    assert_eq!((editor.pages, editor.input.text()), (paths(&["/x", "/y", "/a"]), "theirs\n\nours".to_owned()));
}

#[test]
fn nothing_chosen_is_said() {
    let mut app = app(Vec::new());
    press(&mut app, '2');
    press(&mut app, 'n');
    assert!(app.dialogs.is_empty());
    assert!(notice(&app).starts_with("A job about which page?"), "{}", notice(&app));
}

#[test]
fn several_pages_stand_in_a_sentence_in_lines_and_summed_up() {
    let values = looking().page_values(&paths(&["/a", "/b", "/c"]), at(0));
    assert_eq!(values.path.as_deref(), Some("/a, /b and /c"));
    let lines = "- /a: 9,120 views by people, 4,310 by AI\n- /b: 880 views by people, 690 by AI\n\
                 - /c: 10 views by people, 0 by AI";
    assert_eq!(values.pages.as_deref(), Some(lines));
    assert_eq!((values.human.as_deref(), values.ai.as_deref()), (Some("10,010"), Some("5,000")));
    assert_eq!((values.total.as_deref(), values.share.as_deref()), (Some("15,010"), Some("33%")));
    assert_eq!(values.change, None, "nothing is compared");
}

#[test]
fn what_is_not_known_of_one_page_is_not_known_of_all() {
    let values = looking().page_values(&paths(&["/a", "/nowhere"]), at(0));
    assert_eq!((values.human, values.share, values.total), (None, None, None));
    assert_eq!(values.pages.as_deref(), Some("- /a: 9,120 views by people, 4,310 by AI\n- /nowhere"));
    assert_eq!(app(Vec::new()).page_values(&paths(&["/a"]), at(0)).from, None, "no range is listed");
}

#[test]
fn what_is_no_count_is_told_as_received_and_what_is_missing_as_unknown() {
    let mut app = looking();
    let query = app.views.query();
    let mut rows = rows();
    rows[0].counts = Counts { human: Count::Odd(CleanText::line("12.5")), ai: Count::Missing, total: Count::Known(-3) };
    let value = ViewsPage { totals: counts(1, 1), rows, has_more: Some(true) };
    app.update(Msg::Views { query, result: Ok(Timed { value, as_of: at(0) }), old: None }, at(0));
    let values = app.page_values(&paths(&["/a"]), at(0));
    assert_eq!(values.human.as_deref(), Some("12.5 (as received)"));
    assert_eq!((values.ai.as_deref(), values.total.as_deref()), (Some(UNKNOWN), Some("-3 (as received)")));
    assert_eq!(values.share.as_deref(), Some("an unknown share"));
    let several = app.page_values(&paths(&["/a", "/b"]), at(0));
    assert_eq!((several.human.as_deref(), several.ai.as_deref()), (Some(UNKNOWN), Some(UNKNOWN)));
    assert!(
        several.pages.is_some_and(|lines| lines.starts_with("- /a: 12.5 (as received) views by people, an unknown"))
    );
}

#[test]
fn a_range_that_holds_today_says_so() {
    let app = looking();
    let to = app.views.query().range.to();
    assert_eq!(app.page_values(&paths(&["/a"]), at(0)).to, Some(format!("{to} (today so far)")));
    let later = at(0) + chrono::TimeDelta::days(1);
    assert_eq!(app.page_values(&paths(&["/a"]), later).to, Some(to.to_string()));
}

#[test]
fn a_comparison_says_the_change_and_what_is_not_among_all_pages_had_no_views() {
    let mut app = looking();
    let range = app.views.query().range;
    let report = |rows: Vec<PageRow>, range: DateRange, complete: bool| {
        let page = ViewsPage { totals: Counts::default(), rows, has_more: None };
        Arc::new(Report::begin(range, page, complete, at(0)))
    };
    let before = range.step(-1).expect("a range");
    let earlier = vec![row("/a", 8769, 6246)];
    app.views.table.show_report(report(rows(), range, true), Some(report(earlier.clone(), before, true)));
    let change = |app: &App, pages: &[&str]| app.page_values(&paths(pages), at(0)).change;
    assert_eq!(change(&app, &["/a"]), Some(format!("human +4%, AI −31% against {before}")));
    assert_eq!(
        change(&app, &["/b"]),
        Some(format!("human 880 instead of none, AI 690 instead of none against {before}"))
    );
    app.views.table.show_report(report(rows(), range, true), Some(report(earlier, before, false)));
    assert_eq!(change(&app, &["/a", "/b"]), None, "not all pages of the other range are known");
}

#[test]
fn many_pages_are_counted_in_the_title_and_listed_in_the_text() {
    let pages = paths(&["/a", "/b", "/c", "/d"]);
    assert_eq!(
        (named(&pages).as_str(), about_title(&pages).as_str()),
        ("4 pages", "New job about /a, /b and 2 more pages")
    );
    assert_eq!(beginning(&pages), "4 pages: \n\n- /a\n- /b\n- /c\n- /d");
    let mut editor = Editor::new(DraftSlot::AboutPages, CleanText::default(), "");
    editor.begin_with(beginning(&pages));
    assert_eq!(editor.input.column(), "4 pages: ".len(), "what to do is typed behind them");
    assert_eq!([("x {{pages}}", 4), ("{{path}}", 4), ("x", 4)].map(|(text, n)| for_pages(text, n)), [0, 1, 3]);
}

#[test]
fn marks_that_are_hidden_are_said_instead_of_taking_another_page() {
    let mut app = looking();
    let range = app.views.query().range;
    let page = ViewsPage { totals: Counts::default(), rows: rows(), has_more: None };
    app.views.table.show_report(Arc::new(Report::begin(range, page, true, at(0))), None);
    typed(&mut app, "vv");
    app.views.table.set_filter("/c");
    press(&mut app, 'n');
    assert!(app.dialogs.is_empty());
    assert_eq!(notice(&app), "2 marked pages are hidden by the filter: Esc clears it.");
    key(&mut app, KeyCode::Esc);
    assert_eq!(app.views.table.marked(), 2);
    key(&mut app, KeyCode::Esc);
    assert_eq!((notice(&app), app.views.table.marked()), ("2 marks: Esc again takes them away.", 2));
    key(&mut app, KeyCode::Esc);
    assert_eq!(app.views.table.marked(), 0);
}

#[test]
fn without_a_page_nothing_is_offered_that_shapes_the_list() {
    let mut app = looking();
    let range = app.views.query().range;
    let hinted = |app: &App| app.hints().map(|(_, row)| row.hint).collect::<Vec<_>>();
    let report =
        |rows: Vec<PageRow>| Arc::new(Report::begin(range, ViewsPage { rows, ..ViewsPage::default() }, true, at(0)));
    let shaping = ["filter", "sort", "fold", "movers"];
    app.views.table.show_report(report(rows()), None);
    assert!(["filter", "sort", "fold"].iter().all(|hint| hinted(&app).contains(hint)), "{:?}", hinted(&app));
    app.views.table.show_report(report(Vec::new()), Some(report(Vec::new())));
    assert!(!shaping.iter().any(|hint| hinted(&app).contains(hint)), "{:?}", hinted(&app));
    assert!(hinted(&looking()).contains(&"load all"));
    let mut spent = crate::model::ledger::Budget::unused(crate::model::ledger::RateLimited::Views);
    spent.used = spent.limit;
    app.budgets.insert(crate::model::ledger::RateLimited::Views, spent);
    assert!(!hinted(&app).contains(&"load all"));
}
