use super::*;
use crate::model::failure::Failure;
use crate::model::pull_request_details::SiteFacts;
use crate::model::text::CleanText;
use crate::tui::jobs::tests::at;
use crate::tui::pull_request::tests::app_with;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

const DIFF: &str = "\
diff --git a/a.mdx b/a.mdx
--- a/a.mdx
+++ b/a.mdx
@@ -10,4 +10,4 @@ ## Setup
 before
-Open the setting page.
+Open the settings page.
-  spaces
+\tspaces
 after
diff --git a/b.mdx b/b.mdx
--- a/b.mdx
+++ b/b.mdx
@@ -1 +1,2 @@
 one
+two settings
diff --git a/logo.png b/logo.png
Binary files a/logo.png and b/logo.png differ
";

fn app() -> App {
    app_with(None)
}

fn press(app: &mut App, code: KeyCode) -> Vec<Effect> {
    app.update(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))), at(1))
}

fn press_keys(app: &mut App, keys: &str) {
    for c in keys.chars() {
        press(app, KeyCode::Char(c));
    }
}

fn load(app: &mut App, text: &str) {
    let head = CleanText::line("7d40698");
    let diff = Diff::parse(text.to_owned());
    let loaded =
        LoadedDiff { head, diff, is_truncated: false, as_of: at(0), problem: None, site: SiteFacts::default() };
    app.update(Msg::Jobs(JobsMsg::DiffLoaded { job: JobKey(1), result: Ok(Box::new(loaded)) }), at(1));
}

fn open_changes(text: &str) -> App {
    let mut app = app();
    let effects = press(&mut app, KeyCode::Char('c'));
    assert!(effects.contains(&Effect::Jobs(JobsEffect::LoadDiff { job: JobKey(1), is_reload: false })));
    load(&mut app, text);
    app
}

fn changes(app: &App) -> &Changes {
    app.dialogs.iter().find_map(|dialog| dialog.downcast_ref::<Changes>()).expect("the changes")
}

/// Returns the text of the selected row.
fn selected_text(app: &App) -> &str {
    let open = changes(app);
    open.rows.text(open.selected_row, open.diff().expect("a diff"))
}

#[test]
fn keys_go_from_file_to_file_and_from_line_to_line() {
    let mut app = open_changes(DIFF);
    assert_eq!(selected_text(&app), "a.mdx");
    press_keys(&mut app, "jj");
    assert_eq!(selected_text(&app), "before");
    press_keys(&mut app, "]");
    assert_eq!(selected_text(&app), "b.mdx");
    press_keys(&mut app, "]]");
    assert_eq!(selected_text(&app), "logo.png", "there is no further file");
    press_keys(&mut app, "[[");
    assert_eq!(selected_text(&app), "a.mdx");
    press(&mut app, KeyCode::Esc);
    assert!(app.dialogs.is_empty());
}

#[test]
fn a_search_wraps_around_and_esc_closes_it() {
    let mut app = open_changes(DIFF);
    press_keys(&mut app, "/SETTINGS");
    assert_eq!(selected_text(&app), "Open the settings page.");
    press(&mut app, KeyCode::Enter);
    press_keys(&mut app, "n");
    assert_eq!(selected_text(&app), "two settings");
    press_keys(&mut app, "n");
    assert_eq!(selected_text(&app), "Open the settings page.");
    press_keys(&mut app, "N");
    assert_eq!(selected_text(&app), "two settings");
    press_keys(&mut app, "/nowhere");
    press(&mut app, KeyCode::Enter);
    press_keys(&mut app, "n");
    assert_eq!(app.notice.as_ref().map(|notice| notice.text.as_str()), Some("Not found."));
    press(&mut app, KeyCode::Esc);
    assert!(changes(&app).search.is_none());
}

#[test]
fn ignored_whitespace_hides_lines_and_keeps_the_selection() {
    let mut app = open_changes(DIFF);
    press_keys(&mut app, "jjjjj");
    assert_eq!(selected_text(&app), "  spaces");
    let before = changes(&app).rows.len();
    press_keys(&mut app, "w");
    assert_eq!((before - changes(&app).rows.len(), selected_text(&app)), (1, "Open the settings page."));
    press_keys(&mut app, "w");
    assert_eq!(changes(&app).rows.len(), before);
    let only = "diff --git a/a.mdx b/a.mdx\n@@ -1 +1 @@\n-a  b\n+a b\n";
    let mut app = open_changes(only);
    press_keys(&mut app, "w");
    let remark = changes(&app).rows.get(1);
    assert_eq!(remark, Some(DiffRow::Remark(0)));
    assert_eq!(rows::no_lines_reason(changes(&app).diff().expect("a diff"), 0), "only whitespace has changed");
}

#[test]
fn a_follow_up_quotes_the_marked_lines_below_the_draft() {
    let mut app = open_changes(DIFF);
    press_keys(&mut app, "jjjjvj");
    press_keys(&mut app, "f");
    let editor = app.top::<Editor>().expect("an editor");
    assert_eq!(editor.input.text(), "> a.mdx:11\n> + Open the settings page.\n> -   spaces\n\n");
    press(&mut app, KeyCode::Esc);
    assert!(changes(&app).marking_start.is_none());
    press_keys(&mut app, "]f");
    let text = app.top::<Editor>().expect("an editor").input.text();
    assert!(text.starts_with("> a.mdx:11\n") && text.ends_with("\n\n> b.mdx\n\n"), "{text:?}");
}

#[test]
fn lines_of_several_files_are_quoted_with_their_numbers() {
    let diff = Diff::parse(DIFF.to_owned());
    let rows = DiffRows::new(&diff, false);
    let quoted = quote::quote(&diff, &rows, 6..=12).expect("a quotation");
    assert_eq!(quoted, "> a.mdx:12-13\n>     spaces\n> after\n\n> b.mdx:1-2\n> one\n> two settings\n");
    let removed = quote::quote(&diff, &rows, 3..=3).expect("a quotation");
    assert_eq!(removed, "> a.mdx:11 (removed)\n> Open the setting page.\n");
}

#[test]
fn a_failed_load_keeps_the_older_changes_and_r_tries_again() {
    let mut app = open_changes(DIFF);
    let effects = press(&mut app, KeyCode::Char('r'));
    assert!(effects.contains(&Effect::Jobs(JobsEffect::LoadDiff { job: JobKey(1), is_reload: true })));
    let failure = Failure::local("No network.");
    app.update(Msg::Jobs(JobsMsg::DiffLoaded { job: JobKey(1), result: Err(failure) }), at(2));
    assert_eq!(changes(&app).diff().map(|diff| diff.files.len()), Some(3));
}

#[test]
fn the_selected_line_is_always_visible() {
    let lines: String = (0..300).map(|n| format!("+{} {n}\n", "word ".repeat(n % 40))).collect();
    let mut app = open_changes(&format!("diff --git a/a.mdx b/a.mdx\n@@ -0,0 +1,300 @@\n{lines}"));
    let is_visible = |app: &App| {
        let g = app.geometry();
        let visible = changes(app).visible(rows::text_columns(g), g.dialog_rows());
        let heights = (visible.start..=changes(app).selected_row)
            .map(|row| changes(app).rows.height(row, changes(app).diff().expect("a diff"), rows::text_columns(g)));
        visible.contains(&changes(app).selected_row) && heights.sum::<usize>() <= g.dialog_rows()
    };
    for key in "jjjjjjjjjjjjjjjjjjjjjjjjGkkkkkkggG".chars() {
        press_keys(&mut app, &key.to_string());
        assert!(is_visible(&app), "{key} {}", changes(&app).selected_row);
    }
    for size in [(40, 12), (160, 48), (60, 14)] {
        app.update(Msg::Input(Event::Resize(size.0, size.1)), at(2));
        assert!(is_visible(&app), "{size:?}");
        for _ in 0..20 {
            press(&mut app, KeyCode::PageUp);
            assert!(is_visible(&app));
        }
        press(&mut app, KeyCode::End);
    }
}
