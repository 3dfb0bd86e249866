//! The component of the tab with the pages that need work: one row per page, with its signals, which are its numbers in
//! all reports. Nothing is requested before the user has confirmed the cost, and a signal that is not loaded is shown
//! as `–`.
//!
//! ```text
//!                                                 thumbs      open                  never
//!    page                          views  change    down  comments  unanswered    clicked  score   0 ───── 6.1%
//! ▌  /guides/preview-deployments   1,411   ▼ 48%      12         3           9          3   6.1%   ████████████
//!    /billing                        950    ▲ 2%       7         0          14          –   4.7%   █████████▍
//! ```

use super::columns::MAX_TEXT_CELLS;
use super::detail::{RowContent, RowDetail, RowFunctions};
use super::draw;
use super::evidence::{READER_TEXT_HEADING, quote};
use super::needs_work::NeedsWorkTab;
use super::report_row::DetailPart;
use super::row_list::ListTab;
use super::screen::{
    clear_marks_or_filter, click_range_rule, close_label, handle_list_action, handle_range_action, sort_by_heading,
};
use super::tab::AnalyticsTab;
use crate::model::analytics::borrowed_page_path;
use crate::model::analytics::needs_work::{NeedsWorkRanking, PageSignals, ProblemSignal, ReportSet};
use crate::model::analytics::needs_work_export::NeedsWorkExport;
use crate::model::export::ExportFormat;
use crate::model::text::CleanText;
use crate::model::views::DecimalCount;
use crate::tui::component::prelude::*;
use crate::tui::confirm::{ConfirmAction, ConfirmDialog};
use crate::tui::draw::bars::{fraction_bar, linear_scale_line, short_number_with_decimal};
use crate::tui::draw::boxes::draw_line;
use crate::tui::format::{format_count, format_views, plural, truncate_path};
use crate::tui::views::columns::PERCENT_CHANGE_WIDTH;
use crate::tui::views::draw::change::ChangeWeight;
use crate::tui::views::draw::table::percent_change_text;
use crate::tui::widgets::list_state::ClickedRow;
use crate::tui::widgets::table::{Column, ListCell, ListRow, Table, TableCell};
use crate::tui::{NewFile, Overwrite};
use ratatui::text::Span;
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr as _;

const BAR_CELLS: usize = 14;
/// What is between the parts of the note.
const PART_GAP: &str = " · ";
/// The number of cells at the sides of the note, and between the note and the time.
const NOTE_MARGIN: usize = 4;
/// The maximum number of comments, and of questions, that a prompt quotes.
const MAX_QUOTES: usize = 10;

impl App {
    /// Computes the signals again. Called when a report has changed.
    pub(super) fn update_needs_work(&mut self) {
        let ranking = NeedsWorkRanking::compute(self.analytics.loaded_reports(), &self.config.weights);
        self.analytics.needs_work.show(ranking);
        self.is_dirty = true;
    }

    /// Asks whether to load the missing reports or, if `reloads_all` is set, all reports again. If none is missing or
    /// no requests are left, shows a notice instead.
    fn ask_to_load_signals(&mut self, reloads_all: bool, now: Time) {
        let missing = self.analytics.loaded_reports().missing();
        if !reloads_all && missing.is_empty() {
            let again = self.key_label(Context::Analytics, Action::Refresh);
            let text = format!("All reports of this range are loaded; {again} reloads them.");
            return self.notify(Severity::Info, &text, now);
        }
        let reports = ReportSet::all().count();
        let requests = if reloads_all { self.requests_to_reload_signals() } else { missing.count() };
        let left = self.view_requests_left();
        if left == 0 {
            return self.notify_no_requests_left(now);
        }
        let what = if reloads_all { "all reports" } else { "the missing reports" };
        let again = if missing.is_empty() { " again" } else { "" };
        let range = self.analytics.needs_work.range.map(|range| format!(" of {}", range.format_dates(true)));
        // The number of rows, and with it the number of requests, may have changed.
        let about = if reloads_all && requests > reports { "about " } else { "" };
        let (range, costs) = (range.unwrap_or_default(), plural(requests, "analytics request"));
        let left = format_count(left as usize);
        let text = format!("Load {what}{range}{again}? Uses {about}{costs} ({left} left this hour).");
        self.open(ConfirmDialog { text, on_yes: ConfirmAction::LoadSignals { reloads_all } });
    }

    /// Returns how many requests it takes to load all reports again.
    fn requests_to_reload_signals(&self) -> usize {
        let reports = ReportSet::all();
        let views = reports.has_views.then_some(None);
        let kinds = views.into_iter().chain(reports.kinds.into_iter().map(Some));
        let requests = kinds.map(|kind| self.analytics.requests_to_reload(kind));
        usize::try_from(requests.fold(0, u32::saturating_add)).unwrap_or(usize::MAX)
    }

    /// Opens the editor for a job about the marked pages or the selected one, with their numbers and what readers wrote
    /// about them.
    fn open_new_job_about_marked_pages(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let (paths, evidence) = self.signal_evidence(&self.analytics.needs_work.marked_or_selected());
        self.open_new_job_with_evidence(paths, &evidence, now, effects);
    }

    fn open_new_job_about_selected_page(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let selected: Vec<&PageSignals> = self.analytics.needs_work.selected().into_iter().collect();
        let (paths, evidence) = self.signal_evidence(&selected);
        self.open_new_job_with_evidence(paths, &evidence, now, effects);
    }

    /// Returns the paths of the pages, and the text about their signals for a prompt.
    fn signal_evidence(&self, pages: &[&PageSignals]) -> (Vec<CleanText>, String) {
        let evidence: Vec<String> = pages.iter().map(|page| self.signals_text(page)).collect();
        (pages.iter().filter_map(|page| page.path.clone()).collect(), evidence.join("\n\n"))
    }

    /// Returns the text about the signals of a page for a prompt.
    fn signals_text(&self, page: &PageSignals) -> String {
        let tab = &self.analytics.needs_work;
        let range = tab.range.map(|range| range.to_string()).unwrap_or_default();
        let name = page.path.as_ref().map_or("the items without a page", |path| path.as_str());
        let mut lines = vec![format!("Evidence about {name}, {range} (UTC):")];
        for signal in ProblemSignal::ALL {
            if let Some(value) = page.value(signal) {
                let share = tab.ranking.share(page, signal).filter(|share| *share > 0.0);
                let all = match signal {
                    _ if tab.ranking.has_partial_total(signal) => "those loaded",
                    ProblemSignal::LostViews => "all lost since the previous period",
                    _ => "all on the site",
                };
                let share = share.map(|share| format!(" ({:.1}% of {all})", share * 100.0));
                let share = share.unwrap_or_default();
                lines.push(format!("- {}: {}{share}", signal.label(), format_views(value)));
            }
        }
        let quotes = self.reader_texts(page);
        if !quotes.is_empty() {
            lines.push(READER_TEXT_HEADING.to_owned());
            lines.extend(quotes);
        }
        lines.join("\n")
    }

    /// Returns what readers wrote about a page, as quotes.
    fn reader_texts(&self, page: &PageSignals) -> Vec<String> {
        let [comments, questions] = self.open_comments_and_unanswered_questions(page);
        let comments = comments.into_iter().map(|comment| ("- comment:", comment));
        let questions = questions.into_iter().map(|question| ("- unanswered question:", question));
        let unclicked_searches = page.unclicked_searches.iter().map(|query| ("- search that nobody clicked:", query));
        let texts = comments.take(MAX_QUOTES).chain(questions.take(MAX_QUOTES)).chain(unclicked_searches);
        texts.flat_map(|(name, text)| std::iter::once(name.to_owned()).chain(quote(text.as_str()))).collect()
    }

    /// Returns the open comments on a page and the unanswered questions about it, from the rows that are loaded.
    fn open_comments_and_unanswered_questions(&self, page: &PageSignals) -> [Vec<&CleanText>; 2] {
        let is_about = |path: Option<Cow<'_, str>>| path.as_deref() == page.path.as_ref().map(CleanText::as_str);
        let comments = self.analytics.feedback.report().into_iter().flat_map(|report| &report.rows);
        let comments = comments
            .filter(|row| row.status.is_open() && is_about(Some(borrowed_page_path(&row.path))))
            .filter_map(|row| row.comment.as_ref());
        let questions = self.analytics.questions.report().into_iter().flat_map(|report| &report.rows);
        let questions = questions.filter(|row| row.is_answered == Some(false) && is_about(row.subject_page()));
        [comments.collect(), questions.map(|row| &row.query).collect()]
    }
}

/// The component of the tab with the pages that need work.
#[derive(Debug)]
pub(in crate::tui) struct NeedsWorkScreen;

impl Component for NeedsWorkScreen {
    fn contexts(&self) -> &'static [Context] {
        &[Context::Analytics, Context::Lists, Context::Everywhere]
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        let tab = &app.analytics.needs_work;
        let has_pages = !tab.ranking.pages.is_empty();
        match action {
            Action::Open | Action::Mark | Action::NewJob | Action::Copy => {
                FooterLabel::default_if(tab.selected().is_some())
            }
            Action::Filter | Action::NextSort | Action::ReverseSort | Action::Export => {
                FooterLabel::default_if(has_pages)
            }
            Action::Close => close_label(&tab.list),
            Action::LoadAll if app.analytics.loading_count() > 0 => None,
            Action::LoadAll if app.analytics.loaded_reports().missing().is_empty() => None,
            Action::LoadAll => Some("load missing".into()),
            Action::Fold | Action::Compare | Action::CompareWith => None,
            _ => Some(FooterLabel::Default),
        }
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        if handle_range_action(action, cx) {
            return Flow::Handled;
        }
        if handle_list_action(action, &COLUMN_FIELDS, self, |app| &mut app.analytics.needs_work, cx) {
            return Flow::Handled;
        }
        match action {
            Action::Open => {
                let functions = RowFunctions {
                    content: selected_content,
                    select_relative: |app, by| app.analytics.needs_work.select_relative(by),
                    start_job: App::open_new_job_about_selected_page,
                };
                RowDetail::open(functions, cx);
            }
            Action::Export => {
                let export = export(cx.app);
                cx.effects.extend(export);
            }
            Action::NewJob => cx.app.open_new_job_about_marked_pages(cx.now, cx.effects),
            Action::LoadAll => cx.app.ask_to_load_signals(false, cx.now),
            // After midnight, the reports of the new range are read from the cache instead.
            Action::Refresh => match cx.app.views.move_range_to_today(cx.now) {
                Some(read) => cx.effects.push(read),
                None => cx.app.ask_to_load_signals(true, cx.now),
            },
            Action::Copy => {
                let page = cx.app.analytics.needs_work.selected().and_then(|page| page.path.clone());
                cx.effects.extend(page.map(|path| Effect::copy(&format!("the path {path}"), path.to_string())));
            }
            _ => return Flow::Unhandled,
        }
        Flow::Handled
    }

    fn close(&mut self, cx: &mut Cx<'_>) -> Flow {
        clear_marks_or_filter(&mut cx.app.analytics.needs_work)
    }

    fn scroll(&mut self, by: Scroll, cx: &mut Cx<'_>) {
        let rows = usize::from(cx.app.report_areas().lines.height).max(1);
        cx.app.analytics.needs_work.list.state.scroll(by, rows);
    }

    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        let areas = cx.app.report_areas();
        if click_range_rule(AnalyticsTab::NeedsWork, at, areas.range, cx) {
            return Flow::Handled;
        }
        let tab = &mut cx.app.analytics.needs_work;
        if areas.headings.contains(at) {
            sort_by_heading(&table(usize::from(areas.lines.width), &tab.ranking), at, tab);
        } else if tab.list.state.click(areas.lines, at) == Some(ClickedRow::AlreadySelected) {
            return self.handle_action(Action::Open, cx);
        }
        Flow::Handled
    }

    /// Returns the next time at which the text about a reached limit changes; `None` if no limit is reached.
    fn next_timer(&self, app: &App, now: Time) -> Option<Time> {
        app.analytics.load_failure(now).and_then(|failure| app.failure_text_changes_at(failure, now))
    }

    fn position_text(&self, app: &App) -> String {
        app.analytics.needs_work.list.state.position_text(usize::from(app.report_areas().lines.height))
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let areas = view.app.report_areas();
        let tab = &view.app.analytics.needs_work;
        draw::draw_range_rule(frame, view, areas.range, AnalyticsTab::NeedsWork);
        draw::draw_lower_rule(frame, view, areas.lower_rule_row, &tab.list, self.position_text(view.app));
        draw_line(frame, areas.totals, 0, totals_line(view, tab, areas.totals.width));
        let as_of = view.app.analytics.loaded_reports().as_of();
        draw::draw_note(frame, view, areas.status, note_text(view, usize::from(areas.status.width), as_of), as_of);
        if tab.ranking.pages.is_empty() {
            draw_empty(frame, view, areas.lines);
            return;
        }
        let table = table(usize::from(areas.lines.width), &tab.ranking);
        // Some headings have two lines. If there is a blank row above the headings, it shows their first line.
        if areas.headings.y > areas.status.bottom() {
            let above = Rect { y: areas.headings.y - 1, ..areas.headings };
            let headings =
                table.headings_with(|column, _| TableCell::new(upper_heading_line(column.heading()), view.theme.muted));
            draw::draw_headings(frame, above, headings);
        }
        draw::draw_rows(frame, view, &areas, &table, tab);
    }
}

fn draw_empty(frame: &mut Frame<'_>, view: View<'_>, lines: Rect) {
    let key = view.app.key_label(Context::Analytics, Action::LoadAll);
    let analytics = &view.app.analytics;
    let missing = analytics.loaded_reports().missing();
    let text = match missing.count() {
        _ if analytics.loading_count() > 0 => "Loading…".to_owned(),
        0 => "No page needs work, according to the loaded reports.".to_owned(),
        n if n == ReportSet::all().count() => {
            format!("Nothing is loaded for this range. Press {key} to load it (shows the cost first).")
        }
        _ => format!(
            "Not all reports of this range are loaded. Press {key} to load the missing ones (shows the cost first)."
        ),
    };
    draw::draw_placeholder(frame, lines, &text, view.theme.muted);
}

/// Returns the line with the totals of the site.
fn totals_line<'a>(view: View<'_>, tab: &NeedsWorkTab, width: u16) -> Line<'a> {
    let number = |(name, signal)| {
        let total = tab.ranking.total(signal).map_or_else(|| "–".to_owned(), format_views);
        (name, total, String::new())
    };
    let totals = [
        ("thumbs down", ProblemSignal::ThumbsDown),
        ("open comments", ProblemSignal::OpenComments),
        ("unanswered", ProblemSignal::UnansweredQuestions),
        ("searches never clicked", ProblemSignal::UnclickedSearches),
    ];
    draw::numbers_line(view.theme, totals.map(number).into(), width)
}

/// Returns the note about the reports, and whether the note states a problem. `as_of` is the time that is shown in the
/// same line of `width` cells.
fn note_text(view: View<'_>, width: usize, as_of: Option<Time>) -> (String, bool) {
    let analytics = &view.app.analytics;
    let (tab, loading) = (&analytics.needs_work, analytics.loading_count());
    if loading > 0 {
        return (format!("loading {}…", plural(loading, "report")), false);
    }
    if let Some(failure) = analytics.load_failure(view.now) {
        return (view.app.failure_text(failure, view.now), true);
    }
    let space = width.saturating_sub(as_of.map_or(0, |at| view.as_of_text(at).width()) + NOTE_MARGIN);
    let changes = match (&tab.comparison, tab.range) {
        (Some(comparison), Some(range)) => {
            let ranges = comparison.ranges();
            [ranges.label(range), ranges.short_label(range)].map(|label| format!("change: {label}")).into()
        }
        _ => Vec::new(),
    };
    // Returns the part about the change: the long form if it fits beside the other parts, otherwise the short one.
    let fitting_change = |others: &[&str]| {
        let taken: usize = others.iter().map(|other| other.width() + PART_GAP.width()).sum();
        changes.iter().find(|change| taken + change.width() <= space).or(changes.last()).cloned()
    };
    let missing = analytics.loaded_reports().missing();
    if missing.is_empty() {
        let partial = tab.views().is_some_and(|views| !views.complete);
        let views = partial.then(|| "views: most viewed pages only".to_owned());
        let others = ReportSet { has_views: false, ..analytics.loaded_reports().partial() };
        let in_part = (!others.is_empty()).then(|| format!("partial: {}", others.names_in_sentence()));
        let searches = unmatched_searches_note(&tab.ranking);
        let beside: Vec<&str> = views.iter().chain(&in_part).chain(&searches).map(String::as_str).collect();
        let change = fitting_change(&beside);
        let change = change.or_else(|| (!partial).then(|| "the previous period is not loaded".to_owned()));
        // The searches come last, because the last parts are left out in a narrow terminal.
        return (join_fitting([views, change, in_part, searches].into_iter().flatten(), space), false);
    }
    // If the list is empty, the text in its place names the key that loads the reports, so the note doesn't repeat it.
    if tab.ranking.pages.is_empty() {
        return (String::new(), false);
    }
    let load = format!(
        "press {} to load {}",
        view.app.key_label(Context::Analytics, Action::LoadAll),
        missing.names_in_sentence()
    );
    let change = fitting_change(&[&load]);
    (join_fitting(std::iter::once(load).chain(change), space), false)
}

/// Joins the first parts of the note, as many as fit in `space` cells, but at least one. If even the first part is too
/// long, its end is cut off when the note is drawn.
fn join_fitting(parts: impl Iterator<Item = String>, space: usize) -> String {
    let mut note = String::new();
    for part in parts {
        if note.is_empty() {
            note = part;
        } else if note.width() + PART_GAP.width() + part.width() <= space {
            note.push_str(PART_GAP);
            note.push_str(&part);
        } else {
            break;
        }
    }
    note
}

/// Returns the note about searches that fit no page, because no path matches their words; `None` if there are no such
/// searches. The last row of the list also shows how many they are.
fn unmatched_searches_note(ranking: &NeedsWorkRanking) -> Option<String> {
    let none = ranking.pages.iter().find(|page| page.path.is_none())?;
    let searches = none.value(ProblemSignal::UnclickedSearches).filter(|searches| !searches.is_zero())?;
    let fit = if searches == DecimalCount::ONE { "search fits" } else { "searches fit" };
    Some(format!("{} unclicked {fit} no page", format_views(searches)))
}

/// The names of the fields that have a column.
const COLUMN_FIELDS: [&str; 8] = ["page", "views", "change", "down", "comments", "unanswered", "searches", "score"];
/// The width of a share in cells: `   12.3%`.
const SHARE_CELLS: usize = 8;
/// The minimum width of a table that shows the share beside each number.
const MIN_WIDTH_WITH_SHARES: usize = 156;
/// The minimum width of a table that shows all digits of page views, instead of a rounded number.
const MIN_WIDTH_WITH_EXACT_VIEWS: usize = 100;

fn table(width: usize, ranking: &NeedsWorkRanking) -> Table<ListCell<PageSignals>> {
    type C = Column<ListCell<PageSignals>>;
    let has_shares = width >= MIN_WIDTH_WITH_SHARES;
    // The share is in the column of its number, so that both have one heading.
    let signal = |names: [&'static str; 2], width, key| {
        let [name, with_share] = names;
        if has_shares {
            C::right_aligned(with_share, width + SHARE_CELLS, key)
        } else {
            C::right_aligned(name, width, key)
        }
    };
    let change: ListCell<PageSignals> = views_change_cell;
    let down: ListCell<PageSignals> = |row, width| signal_cell(row, ProblemSignal::ThumbsDown, width);
    let comments: ListCell<PageSignals> = |row, width| signal_cell(row, ProblemSignal::OpenComments, width);
    let unanswered: ListCell<PageSignals> = |row, width| signal_cell(row, ProblemSignal::UnansweredQuestions, width);
    let searches: ListCell<PageSignals> = |row, width| signal_cell(row, ProblemSignal::UnclickedSearches, width);
    let longest = highest_score(ranking);
    let columns = vec![
        C::flexible("page", 20, |row, width| match &row.item.path {
            Some(path) => row.cell(truncate_path(path.as_str(), width.saturating_sub(1))),
            None => row.muted_cell("(no page)"),
        })
        .with_max_width(MAX_TEXT_CELLS),
        if width >= MIN_WIDTH_WITH_EXACT_VIEWS {
            C::right_aligned("views", 9, |row, _| views_cell(row, format_views))
        } else {
            C::right_aligned("views", 7, |row, _| views_cell(row, short_number_with_decimal)).optional(3)
        },
        signal(["change", "change  of loss"], PERCENT_CHANGE_WIDTH - 1, change).optional(4),
        signal(["down", "down  of all"], 8, down),
        signal(["comments", "comments  of all"], 10, comments).optional(5),
        signal(["unanswered", "unanswered  of all"], 12, unanswered).optional(1),
        signal(["clicked", "clicked  of all"], 11, searches).optional(2),
        C::right_aligned("score", 8, |row, _| match row.item.path {
            Some(_) => row.cell(share_text(row.item.score)),
            None => row.cell(""),
        }),
        C::left_aligned(linear_scale_line(&share_text(longest), BAR_CELLS), BAR_CELLS, score_bar)
            .with_gap_before(2)
            .optional(6),
        C::left_aligned("", 1, |row, _| row.cell("")),
    ];
    draw::table(columns, width, true)
}

/// Returns the highest score of a page. The row for what belongs to no page is left out, because it is not ranked.
fn highest_score(ranking: &NeedsWorkRanking) -> f64 {
    ranking.pages.iter().find(|page| page.path.is_some()).map_or(0.0, |page| page.score)
}

/// Returns the first line of a heading that has two lines; empty for a heading of one line.
fn upper_heading_line(heading: &str) -> String {
    let name = heading.strip_suffix("  of all").or_else(|| heading.strip_suffix("  of loss"));
    let (name, share) = name.map_or((heading, ""), |name| (name, "   share"));
    let above = match name {
        "down" => "thumbs",
        "comments" => "open",
        "clicked" => "never",
        _ => "",
    };
    format!("{above}{share}")
}

fn share_text(share: f64) -> String {
    format!("{:.1}%", share * 100.0)
}

/// Returns the details of the selected page.
fn selected_content(app: &App) -> Option<RowContent> {
    let tab = &app.analytics.needs_work;
    let page = tab.selected()?;
    Some(RowContent {
        title: format!("{}: why it needs work", page.path_text()),
        parts: details(app, page),
        page: page.path.clone(),
        conversation_id: None,
        position: tab.position(),
    })
}

/// Returns the details of a page: a table of the signals whose weight is above 0, with their shares of the site's
/// totals and their weights, then the score of the page and what readers wrote.
fn details(app: &App, page: &PageSignals) -> Vec<DetailPart> {
    let ranking = &app.analytics.needs_work.ranking;
    let signal = |signal: ProblemSignal| {
        let weight = app.config.weights.get(signal);
        let name = signal_heading(signal);
        let Some(value) = page.value(signal) else { return (name, "not loaded".to_owned()) };
        let total = ranking.total(signal).map(format_views).unwrap_or_default();
        let partial = if ranking.has_partial_total(signal) { " (partial)" } else { "" };
        let share = ranking.share(page, signal).map(share_text).unwrap_or_default();
        (name, format!("{:>7}  {share:>7}  {weight:>6}  {total:>10}{partial}", format_views(value)))
    };
    let mut parts = vec![("", format!("{:>7}  {:>7}  {:>6}  {:>10}", "count", "share", "weight", "site total"))];
    parts.extend(ProblemSignal::ALL.into_iter().filter(|signal| app.config.weights.get(*signal) > 0.0).map(signal));
    let score = format!("{:>16}  the weighted average of these shares", share_text(page.score));
    parts.push(("Score", score));
    let [comments, questions] = app.open_comments_and_unanswered_questions(page);
    let lines = |texts: Vec<&CleanText>| texts.into_iter().map(CleanText::as_str).collect::<Vec<_>>().join("\n");
    parts.push(("Searches", lines(page.unclicked_searches.iter().collect())));
    parts.push(("Comments", lines(comments)));
    parts.push(("Questions", lines(questions)));
    parts
}

/// Returns the name of a signal with a capital letter, for the start of a line.
fn signal_heading(signal: ProblemSignal) -> &'static str {
    match signal {
        ProblemSignal::Views => "Views",
        ProblemSignal::LostViews => "Lost views",
        ProblemSignal::ThumbsDown => "Thumbs down",
        ProblemSignal::OpenComments => "Open comments",
        ProblemSignal::UnansweredQuestions => "Unanswered questions",
        ProblemSignal::UnclickedSearches => "Searches never clicked",
    }
}

/// Returns the effect that writes the shown pages as CSV.
fn export(app: &App) -> Option<Effect> {
    let tab = &app.analytics.needs_work;
    let range = tab.range?;
    let pages: Vec<&PageSignals> = tab.rows().collect();
    let what = CleanText::line(&plural(pages.len(), "page"));
    let export =
        NeedsWorkExport { range, needs_work: &tab.ranking, pages: &pages, reports: app.analytics.loaded_reports() };
    let text = export.write(ExportFormat::Csv).ok()?;
    let name = format!("docdeck-needs-work-{}_{}.csv", range.from(), range.to());
    Some(Effect::WriteFile(NewFile { name, text, description: what }, Overwrite::Ask))
}

fn views_cell<'a>(row: &ListRow<'a, PageSignals>, format: fn(DecimalCount) -> String) -> TableCell<'a> {
    row.item.value(ProblemSignal::Views).map_or_else(|| row.muted_cell("–"), |value| row.cell(format(value)))
}

/// Returns the cell with the number of a signal. In a wide column, it also has the share of the site's total.
fn signal_cell<'a>(row: &ListRow<'a, PageSignals>, signal: ProblemSignal, width: usize) -> TableCell<'a> {
    let theme = row.view.theme;
    let number = match row.item.value(signal) {
        Some(value) => Span::styled(format_views(value), if value.is_zero() { theme.muted } else { theme.text }),
        None => Span::styled("–", theme.muted),
    };
    // Only a column with shares is at least this wide: 8 cells for the number, and `SHARE_CELLS` for the share.
    TableCell::Spans(number_and_share(row, number, signal, width >= SHARE_CELLS + 8))
}

/// Returns the cell with the change of the views. In a wide column, it also has the share of the site's lost views.
fn views_change_cell<'a>(row: &ListRow<'a, PageSignals>, width: usize) -> TableCell<'a> {
    let change = row.item.views_change;
    let style = ChangeWeight::of(change, DecimalCount::ZERO).style(change, row.view.theme);
    let change = Span::styled(percent_change_text(change), style);
    TableCell::Spans(number_and_share(
        row,
        change,
        ProblemSignal::LostViews,
        width >= PERCENT_CHANGE_WIDTH - 1 + SHARE_CELLS,
    ))
}

/// Returns the number of a signal and, if the column is wide, the share of the site's total. The share is left blank if
/// the page has none.
fn number_and_share<'a>(
    row: &ListRow<'a, PageSignals>,
    number: Span<'a>,
    signal: ProblemSignal,
    is_wide: bool,
) -> Vec<Span<'a>> {
    if !is_wide {
        return vec![number];
    }
    let share = row.view.app.analytics.needs_work.ranking.share(row.item, signal).filter(|share| *share > 0.0);
    let share = share.map(share_text).unwrap_or_default();
    vec![number, Span::styled(format!("{share:>SHARE_CELLS$}"), row.view.theme.muted)]
}

fn score_bar<'a>(row: &ListRow<'a, PageSignals>, width: usize) -> TableCell<'a> {
    let longest = highest_score(&row.view.app.analytics.needs_work.ranking);
    let is_ranked = row.item.path.is_some() && longest > 0.0;
    let share = if is_ranked { row.item.score / longest } else { 0.0 };
    let theme = row.view.theme;
    TableCell::Spans(fraction_bar(share, width, theme.warning, theme))
}
