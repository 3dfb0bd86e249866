//! Draws the line that shows how old the listed rows are, whether they belong to the current query, and the progress of
//! loading all pages.

use crate::model::Time;
use crate::model::failure::{Failure, FailureKind};
use crate::model::load::Load;
use crate::model::report::Report;
use crate::tui::draw::text::TextRow;
use crate::tui::format::{format_count, grouped_number, plural, wait_text};
use crate::tui::keymap::{Action, Context};
use crate::tui::view::View;
use crate::tui::views::all_pages::ActiveLoad;
use crate::tui::views::draw::change::{ChangeWeight, OUTLIER_MARK, larger_site_views};
use crate::tui::views::draw::totals::overlap_warning;
use crate::tui::views::range_line::short_range;
use crate::tui::views::request_cost::floor_percent;
use crate::tui::views::table::Metric;
use ratatui::style::Style;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

/// Maximum and minimum width of the progress bar, in cells.
const MAX_AND_MIN_PROGRESS_BAR_CELLS: (usize, usize) = (24, 6);

/// Returns the status line of the table of pages. Its left part shows how the rows are ordered and which days the
/// changes compare; its right part shows how old the rows are. If there is a problem, the problem comes first, at the
/// left. While all pages are being loaded, the line shows only the progress.
pub(in crate::tui) fn table_status_line<'a>(view: View<'_>, width: usize) -> Line<'a> {
    let views = &view.app.views;
    if let Some(under_way) = views.all_pages.active_load() {
        return loading_line(view, under_way, width);
    }
    let mut parts = match views.table.report() {
        Some(report) => report_parts(view, report, width),
        None => single_response_parts(view, width),
    };
    if !views.lists_current_query() {
        return fitting_line(&parts, width);
    }
    let forms = order_and_change_text_forms(view);
    let style = if views.is_comparing() { view.theme.text } else { view.theme.muted };
    let is_partial = views.table.report().is_some_and(|report| !report.complete);
    if views.load_failure(view.now).is_some() || is_partial {
        let after: String = forms.iter().map(|form| format!("   {form}\n")).collect();
        parts.push((after, style));
        return fitting_line(&parts, width);
    }
    let right: usize = parts.iter().map(|(forms, _)| forms.lines().next().unwrap_or_default().width()).sum();
    let Some(form) = forms.into_iter().find(|form| form.width() + right + 5 <= width) else {
        return fitting_line(&parts, width);
    };
    let mut row = TextRow::new(width);
    row.push(" ", style).push(form, style).pad_to(width - right - 1);
    for (forms, style) in parts {
        row.push(forms.lines().next().unwrap_or_default(), style);
    }
    row.line()
}

/// Returns the text about how the rows are ordered and which days the changes compare, in several forms, the longest
/// first.
fn order_and_change_text_forms(view: View<'_>) -> Vec<String> {
    let views = &view.app.views;
    let shown = views.query().range;
    let change = views.site_change(view.now);
    let mut days: Vec<String> = change
        .iter()
        .flat_map(|change| {
            let overlap = overlap_warning(change.ranges.current, change.ranges.previous);
            let overlap = overlap.map(|text| format!(", {text}")).unwrap_or_default();
            let short = change.ranges.short_label(shown);
            [change.ranges.label(shown) + &overlap, format!("{short}{overlap}"), short]
        })
        .collect();
    days.iter_mut().for_each(|days| *days = format!("change: {days}"));
    if let [long, short, shortest] = days.as_slice()
        && shows_outliers(view)
    {
        // The meaning of the outlier's sign is more useful than the dates of the range on screen, but less useful than
        // a warning about an overlap.
        let explained = |days: &str| format!("{days}   {OUTLIER_MARK} = large change");
        days =
            vec![explained(long), explained(short), long.clone(), short.clone(), explained(shortest), shortest.clone()];
    }
    days.extend(change.map(|change| format!("change vs {}", change.ranges.previous.format_dates(false))));
    let key = load_key(view);
    let is_response = !views.table.lists_report() && !views.table.is_empty();
    let order = if is_response && views.all_pages.rows_of_interrupted_load(shown).is_none() {
        vec![
            format!("unsorted, as received (press {key} to load and sort all pages)"),
            format!("unsorted (press {key} to load all)"),
        ]
    } else {
        Vec::new()
    };
    if order.is_empty() || days.is_empty() {
        return [days, order].concat();
    }
    let both = order.iter().flat_map(|order| days.iter().map(move |days| format!("{order}   {days}")));
    both.chain(days.iter().cloned()).collect()
}

/// Whether a row on screen has the sign of an outlier.
fn shows_outliers(view: View<'_>) -> bool {
    let table = &view.app.views.table;
    let metric = if table.metric() == Metric::Share { Metric::Total } else { table.metric() };
    let site = larger_site_views(view);
    let is_outlier = |change| ChangeWeight::of(change, site) == ChangeWeight::Outlier;
    table.comparison().is_some()
        && table.visible(view.app.visible_table_rows()).any(|row| is_outlier(row.metrics.change(metric)))
}

/// A part of the line: its text and its style. The text contains several forms, separated by line breaks, from the
/// longest to the shortest. The shortest form is empty if the part may be left out.
type StatusPart = (String, Style);

/// Joins the parts to a line of `width` cells. Every part gets at least its shortest form. The remaining space goes to
/// longer forms, beginning with the first part.
fn fitting_line<'a>(parts: &[StatusPart], width: usize) -> Line<'a> {
    let mut row = TextRow::new(width);
    row.push_cow(" ", Style::new());
    let least: usize = parts.iter().map(|(forms, _)| shortest_form(forms).width()).sum();
    let mut spare = row.remaining_cells().saturating_sub(least);
    for (forms, style) in parts {
        let space = shortest_form(forms).width() + spare;
        let form = forms.split('\n').find(|form| form.width() <= space).unwrap_or_else(|| shortest_form(forms));
        spare = space.saturating_sub(form.width());
        row.push(form, *style);
    }
    row.line()
}

fn shortest_form(forms: &str) -> &str {
    forms.rsplit('\n').next().unwrap_or_default()
}

/// Returns the dates of a range without the blanks around their dash, for the narrowest terminals.
fn without_dash_spaces(dates: &str) -> String {
    dates.replace(" – ", "–")
}

fn refresh_key(view: View<'_>) -> String {
    view.app.key_label(Context::Views, Action::Refresh)
}

fn load_key(view: View<'_>) -> String {
    view.app.key_label(Context::Views, Action::LoadAll)
}

fn loading_line<'a>(view: View<'_>, under_way: ActiveLoad, width: usize) -> Line<'a> {
    let theme = view.theme;
    let wanted = view.app.views.query().range;
    let is_wanted = under_way.range == wanted;
    let of_range = if is_wanted { String::new() } else { format!(" of {}", short_range(under_way.range, view.now)) };
    let mut row = TextRow::new(width);
    row.push(" ", theme.text);
    let end = if under_way.is_stopping {
        " · stopping after this answer\n · stopping".to_owned()
    } else {
        format!(" · {} stops", view.app.key_label(Context::Views, Action::Close))
    };
    let Some(progress) = under_way.progress else {
        let loading = if is_wanted {
            "loading all pages…".to_owned()
        } else {
            let dates = short_range(under_way.range, view.now);
            format!(
                "loading all pages{of_range}…\nloading all pages of {dates}…\nloading {dates}…\n{}…",
                without_dash_spaces(&dates)
            )
        };
        return fitting_line(&[(loading, theme.working), (end, theme.muted)], width);
    };
    let rows = format!(" · {} rows", format_count(progress.rows));
    let requests = format!(" · {}", plural(progress.requests as usize, "request"));
    let share = progress.share.map(|share| format!("{} of views", floor_percent(share)));
    let details = share.clone().unwrap_or_else(|| "share unknown".to_owned());
    let details = [details.as_str(), &rows, &requests, end.lines().next().unwrap_or_default()].concat();
    let lead = format!("loading all pages{of_range}  ");
    if width < lead.width() + details.width() + 2 {
        // If not everything fits, first the requests and the words around the share are left out, then the rows.
        let share = progress.share.map_or_else(|| "?".to_owned(), floor_percent);
        let dates = if is_wanted { String::new() } else { format!("{}: ", short_range(under_way.range, view.now)) };
        let loading = format!("loading {dates}{share}\n{dates}{share}\n{}{share}", without_dash_spaces(&dates));
        return fitting_line(&[(loading, theme.working), (rows + "\n", theme.working), (end, theme.muted)], width);
    }
    row.push(lead, theme.working);
    let bar = row.remaining_cells().saturating_sub(details.width() + 2).min(MAX_AND_MIN_PROGRESS_BAR_CELLS.0);
    if let Some(share) = progress.share.filter(|_| bar >= MAX_AND_MIN_PROGRESS_BAR_CELLS.1) {
        let done = (0..=bar).rev().find(|cells| share_of_cells(*cells, bar) <= share).unwrap_or(0);
        row.push("━".repeat(done), theme.working).push("┈".repeat(bar - done), theme.border).push(" ", theme.text);
    }
    row.push(details, theme.working);
    row.line()
}

fn share_of_cells(cells: usize, all: usize) -> f64 {
    let float = |n: usize| crate::model::views::as_f64(u64::try_from(n).unwrap_or(0));
    float(cells) / float(all.max(1))
}

fn report_parts(view: View<'_>, report: &Report, width: usize) -> Vec<StatusPart> {
    let View { app, theme, now, .. } = view;
    let views = &app.views;
    if !views.lists_current_query() {
        let dates = short_range(report.range, view.now);
        let pages = if report.complete {
            "all pages".to_owned()
        } else {
            format!("{} rows, partial", format_count(report.rows.len()))
        };
        return outdated_parts(
            view,
            &format!("{dates}, {pages}\n{dates}\n{}", without_dash_spaces(&dates)),
            report.as_of,
            width,
        );
    }
    let failure = views.load_failure(now);
    let limit = failure.and_then(|failure| limit_texts(view, failure));
    let mut parts: Vec<StatusPart> = Vec::new();
    if report.complete {
        let fresh = report.range.is_fresh(report.as_of, now);
        let clock = view.as_of_text(report.as_of);
        parts.push((
            format!("all pages {clock}\nall {clock}\n{clock}"),
            if fresh { theme.muted } else { theme.warning },
        ));
        match views.all_pages.rows_of_interrupted_load(report.range).filter(|_| limit.is_none()) {
            Some(rows) => parts.push((resume_hint(view, "; ", rows), theme.muted)),
            None if !fresh && failure.is_none() => {
                parts.push((format!("; {} refreshes", refresh_key(view)), theme.muted));
            }
            None => {}
        }
    } else {
        let share =
            views.loaded_share().map(|share| format!(", {} of views", floor_percent(share))).unwrap_or_default();
        let rows = format!("{} rows", format_count(report.rows.len()));
        let partial = format!("! partial: {rows}{share}\n! partial: {rows}\n! partial");
        parts.push((partial, theme.warning));
        let key = load_key(view);
        match &limit {
            Some(LimitTexts { from, .. }) => {
                let resume = format!("; {from}, press {key} to resume\n; {from}, {key} resumes");
                parts.push((format!("{resume}\n; press {key} {from}\n; {key} {from}"), theme.warning))
            }
            None => parts.push((format!("; press {key} to resume\n; press {key}\n"), theme.muted)),
        }
        parts.push((format!("  {}\n", view.as_of_text(report.as_of)), theme.muted));
    }
    if let Some(failure) = failure.filter(|_| report.complete || limit.is_none()) {
        parts.push((failure_forms(view, failure, "  "), theme.warning));
    }
    parts
}

fn single_response_parts(view: View<'_>, width: usize) -> Vec<StatusPart> {
    let View { app, theme, now, .. } = view;
    let views = &app.views;
    let Some(shown) = views.load().shown() else { return Vec::new() };
    if !views.lists_current_query() {
        let (query, wanted) = (shown.value.query, views.query());
        let page = format!("rows from {}", grouped_number(query.offset().saturating_add(1)));
        let size = if query.limit == wanted.limit { String::new() } else { format!(", {} per request", query.limit) };
        let dates = short_range(query.range, view.now);
        let forms = match query.page {
            same if query.range == wanted.range && same == wanted.page => {
                format!("{page}{size}\n{} per request", query.limit)
            }
            _ if query.range == wanted.range => format!("{page}{size}\n{page}"),
            1 => format!("{dates}\n{}", without_dash_spaces(&dates)),
            _ => format!("{dates}, {page}{size}\n{dates}, {page}\n{dates}"),
        };
        return outdated_parts(view, &forms, shown.as_of, width);
    }
    let clock = view.as_of_text(shown.as_of);
    let is_loading = matches!(views.load(), Load::Loading { .. });
    let how_old = if is_loading { format!("refreshing…  {clock}\nrefreshing…") } else { clock };
    let mut parts: Vec<StatusPart> = vec![(how_old, theme.muted)];
    let failure = views.load_failure(now);
    let is_limited = failure.is_some_and(|failure| limit_texts(view, failure).is_some());
    if let Some(rows) = views.all_pages.rows_of_interrupted_load(views.query().range).filter(|_| !is_limited) {
        parts.push((resume_hint(view, "   ", rows), theme.muted));
    }
    if let Some(failure) = failure {
        parts.push((failure_forms(view, failure, "  "), theme.warning));
    }
    parts
}

/// Returns the forms of a hint that an interrupted load can be resumed. The hint may be left out, because the footer
/// also shows the key.
fn resume_hint(view: View<'_>, gap: &str, rows: usize) -> String {
    let key = load_key(view);
    format!("{gap}load stopped after {} rows, press {key} to resume\n{gap}press {key} to resume\n", format_count(rows))
}

/// Returns the parts for rows that don't belong to the current query. The first part names the listed rows, because the
/// dates above the table are those of the new range. Then follows why the rows of the new range are not listed.
fn outdated_parts(view: View<'_>, shown: &str, as_of: Time, width: usize) -> Vec<StatusPart> {
    let View { app, theme, now, .. } = view;
    let lead = if width < 60 { "shown: " } else { "still showing " };
    let shown = format!("{lead}{}\n{}", shown.replace('\n', &format!("\n{lead}")), shortest_form(shown));
    let why = match (app.views.load_failure(now), app.views.load()) {
        (_, Load::Loading { .. }) => "loading…".to_owned(),
        (Some(failure), _) => failure_forms(view, failure, ""),
        (None, _) => format!("{} loads it", refresh_key(view)),
    };
    vec![
        (shown, theme.warning),
        (" · ".to_owned(), theme.muted),
        (why, theme.warning),
        (format!("  {}\n", view.as_of_text(as_of)), theme.muted),
    ]
}

/// When requests are possible again. `from` is `after 14:12` or `in 50s`, `until` is `until 14:12` or `for 50s`, and
/// `short_until` is the shortest form of `until`.
struct LimitTexts {
    from: String,
    until: String,
    short_until: String,
}

fn limit_texts(view: View<'_>, failure: &Failure) -> Option<LimitTexts> {
    let FailureKind::Limited(wait) = failure.kind else { return None };
    let (at, left) = (wait.until, wait.until - view.now);
    if wait.is_estimate {
        let words = wait.time_left_text(view.now);
        let (from, until) = (format!("in {words}"), format!("for {words}"));
        return (at > view.now).then_some(LimitTexts { from, until, short_until: "for ~1 min".to_owned() });
    }
    if left.num_seconds() >= 60 {
        let clock = at.with_timezone(&view.app.config.offset).format("%H:%M");
        let until = format!("until {clock}");
        return Some(LimitTexts { from: format!("after {clock}"), short_until: until.clone(), until });
    }
    let seconds = wait_text(left);
    let until = format!("for {seconds}");
    (at > view.now).then(|| LimitTexts { from: format!("in {seconds}"), short_until: until.clone(), until })
}

/// Returns the reason why there are no newer rows, in several forms, one per line, the longest first. A form may leave
/// out details, because a notice has already shown the complete reason.
fn failure_forms(view: View<'_>, failure: &Failure, gap: &str) -> String {
    let r = refresh_key(view);
    if let Some(LimitTexts { until, short_until, .. }) = limit_texts(view, failure) {
        let key = |action| view.app.key_label(Context::Views, action);
        let (trend, cached) = (key(Action::Trend), key(Action::CachedRanges));
        let limited = format!("{gap}limited {until}");
        return format!(
            "{limited}; trend ({trend}) and cached ranges ({cached}) still work\n{limited}, {r} refreshes then\n\
             {limited}\n{gap}limited {short_until}"
        );
    }
    let kind = match failure.kind {
        FailureKind::Offline => "offline",
        FailureKind::KeyRefused => "key refused",
        FailureKind::NotFound => "not found",
        FailureKind::Limited(_) => "limit reached",
        FailureKind::Service => "no usable answer",
        FailureKind::Store => "database error",
        FailureKind::Local => "local error",
    };
    let short = format!("{gap}{kind}, {r} retries\n{gap}{kind}, {r} again\n{gap}{kind}");
    // The notice about the failure already contains the whole reason.
    let is_in_notice = view.app.notice.as_ref().is_some_and(|notice| notice.text == failure.message);
    if is_in_notice { short } else { format!("{gap}{}\n{short}", failure.message) }
}
