//! Draws the page details.
//!
//! ```text
//!  human 9,120 ▲ 3.7%   AI 4,310 ▲ 38%   total 13,430 ▲ 13%   AI share 32% ▲ 6.0 pp
//!  14–20 Nov UTC, so far   change: complete days, 14–19 Nov vs 7–12 Nov        as of 14:02
//!  rank 1 of 1,200 pages, human 1, AI 4
//!
//!   2k ┤┈┈┈▅▅▅▅▅▅┈┈┈┈┈┈┈┈
//!      │   ██████   ╱╱╱╱╱╱
//!    0 ┴──────────────────
//!       Thu 19   Fri 20
//!  Trend: 5 of 7 days not loaded. Press t to load them (5 requests, 93 left this hour).
//!
//!  Reports of 14–20 Nov UTC
//!  Feedback    4 thumbs down   6 thumbs up   7 comments, 2 open
//!  Questions   9 questions, 2 unanswered
//!  Searches    not loaded: open the Searches tab (1 request)
//!
//!  Jobs about this page 1
//! ▌✓ completed    Shorten the quickstart                                     #1423   9d
//!    before  5–11 Nov  9,120 human · 4,310 AI
//!    after   13–19 Nov  10,002 human ▲ 9.7% · 5,100 AI ▲ 18%
//!
//!  Cached ranges 3 · average views per day (today counts as part of a day)
//!  range        days      human         AI      note       0 ──────────── 1,919
//!  14–20 Nov       7      1,303        616      on screen  ████████████▒▒▒▒▒▒
//! ```

use super::super::trend::TrendDialog;
use super::super::trend::chart::{AXIS_ROWS, Chart, chart_bars};
use super::super::trend::draw::page_legend;
use super::{ComparedViews, MIN_ONE_LINE_WIDTH, MIN_WIDE_WIDTH, PageDetail, PageDetailLine, PageReport, trend};
use crate::model::analytics::page_reports::ReportNumbers;
use crate::model::impact::{PageHistory, PageViewsInRange, PageViewsState, week_after, weeks_before_and_after};
use crate::model::job::Job;
use crate::model::job_state::state_word_in_lists;
use crate::model::load::Load;
use crate::model::period::DateRange;
use crate::model::views::{Count, Counts, DecimalCount};
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::rules::DialogFrame;
use crate::tui::draw::text::{TextRow, align_left, align_right, truncate, truncate_path};
use crate::tui::draw::{bars, impact};
use crate::tui::format::{count_text, display_width, format_views, mismatch_sign};
use crate::tui::format::{format_count, format_mean, grouped_number, plural};
use crate::tui::geometry::{inside_margin, title_area};
use crate::tui::jobs::list_draw;
use crate::tui::keymap::{Action, Context};
use crate::tui::view::View;
use crate::tui::views::compare::SiteChange;
use crate::tui::views::draw::totals::{fitting_totals_line, overlap_warning};
use crate::tui::views::range_line::{format_range, short_range, unfinished_state};
use crate::tui::widgets::table::{Column, Table, TableCell};
use ratatui::Frame;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// Width of the columns of numbers in the table of cached ranges.
const PERIOD_NUMBER_CELLS: usize = 11;
/// Width of the status of a job.
const STATUS_CELLS: usize = 13;
/// Maximum width of the range, which is followed by the range that it is compared with.
const MAX_RANGE_CELLS: usize = 32;
/// Width of the name of a report.
const REPORT_NAME_CELLS: usize = 12;
/// Minimum width of the pane at which the table of cached ranges has a bar.
const MIN_WIDTH_WITH_BARS: usize = 76;
/// Maximum width of a bar of the table of cached ranges.
const MAX_BAR_CELLS: usize = 40;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &PageDetail) {
    let theme = view.theme;
    let width = usize::from(title_area(view.app.geometry().upper_rule()).width);
    let title = truncate_path(open.path.as_str(), width);
    let inner = DialogFrame::new(view, title).draw(frame, view, open);
    let text = inside_margin(inner);
    let (width, rows) = (usize::from(text.width), usize::from(text.height));
    let lines = open.lines(width, rows);
    let chart = trend_chart(view, open, (width, trend::chart_rows(rows)));
    let trend = chart.as_ref().map(|chart| chart.lines(width, theme)).unwrap_or_default();
    let scale = PeriodScale::of(open);
    for (n, line) in lines.iter().skip(open.scroll).take(rows).enumerate() {
        // The mark of the selected job is in the blank column at the left.
        if matches!(line, PageDetailLine::Job(place) if *place == open.selected_job_index) {
            draw_line(frame, inner, n, Line::styled("▌", theme.mark));
        }
        let line = match line {
            PageDetailLine::Trend(row) => trend.get(*row).cloned().unwrap_or_default(),
            PageDetailLine::TrendCost => trend_cost_line(view, open, chart.as_ref(), width),
            line => detail_line(view, open, *line, scale, width),
        };
        draw_line(frame, text, n, line);
    }
}

/// Returns the chart of the trend; `None` if there is no space for it or no bar is loaded. `rows` includes the axis.
fn trend_chart(view: View<'_>, open: &PageDetail, (width, rows): (usize, usize)) -> Option<Chart> {
    let rows = rows.saturating_sub(usize::from(AXIS_ROWS));
    if rows == 0 || !open.has_trend() || !open.has_known_bars() {
        return None;
    }
    let range = open.numbers.range;
    let previous = view.app.views.previous_period();
    let trend = TrendDialog::new(range);
    let bars = chart_bars(range, trend.bars(&open.totals), previous, &open.totals, view.now);
    Some(Chart::new(bars, (width, rows), view.theme))
}

fn detail_line<'a>(
    view: View<'_>,
    detail: &PageDetail,
    line: PageDetailLine,
    scale: PeriodScale,
    width: usize,
) -> Line<'a> {
    let theme = view.theme;
    let history = detail.history.shown().map(|known| &known.value);
    match line {
        PageDetailLine::Gap | PageDetailLine::Trend(_) | PageDetailLine::TrendCost => Line::default(),
        PageDetailLine::Numbers => numbers_line(view, detail, width),
        PageDetailLine::Range => range_line(view, detail, width),
        PageDetailLine::Compared => {
            let mut row = TextRow::new(width);
            push_compared_ranges(&mut row, view, detail);
            row.line()
        }
        PageDetailLine::Rank => rank_line(view, detail, width),
        PageDetailLine::Reports => reports_heading(view, detail, width),
        PageDetailLine::Report(report) => report_line(view, detail, report, width),
        PageDetailLine::Jobs => jobs_heading(view, detail, history, width),
        PageDetailLine::Job(place) => match history.and_then(|known| known.jobs.get(place)) {
            Some((key, ..)) => page_job_line(view, view.app.jobs.get(*key), place == detail.selected_job_index, width),
            None => Line::default(),
        },
        PageDetailLine::JobViews(place) | PageDetailLine::JobBefore(place) | PageDetailLine::JobAfter(place) => {
            job_views_line(view, history, line, place, width)
        }
        PageDetailLine::Periods => periods_heading(view, detail, scale, width),
        PageDetailLine::Scale => period_table(scale, width).headings(theme.muted),
        PageDetailLine::Period(place) => match history.and_then(|known| known.periods.get(place)) {
            Some(period) => period_line(view, detail, scale, period, width),
            None => Line::default(),
        },
        PageDetailLine::MorePeriods => {
            let more = detail.period_count().saturating_sub(detail.listed_period_indexes().len());
            let key = view.app.key_label(Context::PageDetail, Action::Fold);
            Line::styled(format!("{} more ranges: press {key} to list all", format_count(more)), theme.muted)
        }
    }
}

fn is_wide(width: usize) -> bool {
    width >= MIN_WIDE_WIDTH
}

/// Returns the page's numbers, each with its change if both compared ranges are known.
fn numbers_line<'a>(view: View<'_>, detail: &PageDetail, width: usize) -> Line<'a> {
    let numbers = &detail.numbers;
    match &numbers.current {
        PageViewsState::Known(known) => {
            let change = numbers.compared.as_ref().and_then(|compared| {
                let (current, previous) = (compared.current.counts()?.clone(), compared.previous.counts()?.clone());
                Some(SiteChange { ranges: compared.ranges, current, previous, compares_pages: true })
            });
            let mut line = fitting_totals_line(
                view.theme,
                &known.value,
                change.as_ref(),
                numbers.visitors.as_ref(),
                false,
                width + 1,
            );
            // The dialog has a blank column at the left already.
            if let Some(first) = line.spans.first_mut() {
                first.content = first.content.trim_start().to_owned().into();
            }
            line
        }
        PageViewsState::NotListed(_) => Line::styled("No views in this range.", view.theme.muted),
        PageViewsState::Unknown => {
            let key = view.app.key_label(Context::PageDetail, Action::LoadAll);
            let text = if is_wide(width) {
                format!("Views not loaded: not among the loaded pages of this range. Press {key} to load all.")
            } else {
                format!("Views not loaded: press {key} to load all.")
            };
            Line::styled(text, view.theme.muted)
        }
    }
}

/// Returns the line with the range, what it is compared with if there is space, and when its numbers were loaded.
fn range_line<'a>(view: View<'_>, detail: &PageDetail, width: usize) -> Line<'a> {
    let theme = view.theme;
    let numbers = &detail.numbers;
    let as_of = numbers.current.as_of().map(|at| view.as_of_text(at)).unwrap_or_default();
    let mut row = TextRow::new(width);
    let space = width.saturating_sub(as_of.width() + 2);
    let is_short = width < MIN_ONE_LINE_WIDTH;
    row.push(format_range(numbers.range, view.now, if is_short { space } else { MAX_RANGE_CELLS }), theme.title);
    if !is_short {
        row.push("   ", theme.muted);
        push_compared_ranges(&mut row, view, detail);
    }
    if row.used_cells() + as_of.width() < width {
        row.pad_to(width - as_of.width()).push(as_of, theme.muted);
    }
    row.line()
}

/// Adds the compared ranges, or why there is no change, and warnings about them.
fn push_compared_ranges(row: &mut TextRow<'_>, view: View<'_>, detail: &PageDetail) {
    let theme = view.theme;
    let Some(ComparedViews { ranges, current, previous }) = &detail.numbers.compared else { return };
    let shown = detail.numbers.range;
    let previous_days = short_range(ranges.previous, view.now);
    let key = || view.app.key_label(Context::Views, Action::Compare);
    let text = match previous {
        PageViewsState::Known(_) if current.counts().is_some() => {
            let forms = [ranges.label(shown), ranges.short_label(shown)].map(|label| format!("change: {label}"));
            forms.into_iter().find(|form| form.width() <= row.remaining_cells()).unwrap_or_default()
        }
        PageViewsState::NotListed(_) => format!("no views {previous_days}"),
        PageViewsState::Known(_) if matches!(current, PageViewsState::NotListed(_)) => {
            format!("no views {}", short_range(ranges.current, view.now))
        }
        PageViewsState::Known(_) | PageViewsState::Unknown => {
            let missing = if *previous == PageViewsState::Unknown {
                previous_days
            } else {
                short_range(ranges.current, view.now)
            };
            let forms = [
                format!("change unknown without {missing}; press {} in the list to load it", key()),
                format!("change unknown ({} in the list)", key()),
                "change unknown".to_owned(),
            ];
            forms.into_iter().find(|form| form.width() <= row.remaining_cells()).unwrap_or_default()
        }
    };
    row.push(text, theme.muted);
    let is_incomplete =
        |views: &PageViewsState, range: DateRange| views.counts().is_some() && !views.is_complete(range);
    let incomplete = if is_incomplete(current, ranges.current) || is_incomplete(previous, ranges.previous) {
        ", incomplete"
    } else {
        ""
    };
    let overlap = overlap_warning(ranges.current, ranges.previous).map(|text| format!(", {text}")).unwrap_or_default();
    for warning in [incomplete.to_owned(), overlap] {
        if warning.width() <= row.remaining_cells() {
            row.push(warning, theme.warning);
        }
    }
}

fn rank_line<'a>(view: View<'_>, detail: &PageDetail, width: usize) -> Line<'a> {
    let theme = view.theme;
    let Some(rank) = detail.numbers.rank else {
        let key = view.app.key_label(Context::PageDetail, Action::LoadAll);
        let text = match detail.numbers.current {
            PageViewsState::NotListed(_) => String::new(),
            _ if is_wide(width) => format!("rank unknown until all pages are loaded (press {key})"),
            _ => format!("rank unknown (press {key})"),
        };
        return Line::styled(text, theme.muted);
    };
    let place = |place: Option<usize>| place.map_or_else(|| "–".to_owned(), format_count);
    let mut row = TextRow::new(width);
    row.push("rank ", theme.muted).push(place(rank.total), theme.text);
    row.push(format!(" of {}", plural(rank.page_count, "page")), theme.muted);
    for (name, number) in [("human", rank.human), ("AI", rank.ai)] {
        let number = place(number);
        if name.width() + number.width() + 3 <= row.remaining_cells() {
            row.push(format!(", {name} "), theme.muted).push(number, theme.text);
        }
    }
    row.line()
}

/// Returns a line about the missing days or weeks of the trend: their number, the key that loads them, and the cost. If
/// none are missing, returns the legend. While some are being loaded, returns the progress.
fn trend_cost_line<'a>(view: View<'_>, detail: &PageDetail, chart: Option<&Chart>, width: usize) -> Line<'a> {
    let (app, theme) = (view.app, view.theme);
    let open = TrendDialog::new(detail.numbers.range);
    if !matches!(detail.history, Load::Ready(_)) && detail.history.shown().is_none() {
        return Line::styled("Trend: loading from the cache…", theme.muted);
    }
    let (all, unit, pending) = (open.len(), open.unit(), app.views.totals.pending_count());
    let missing = open.missing_ranges(&detail.totals, view.now);
    if pending > 0 {
        return Line::styled(format!("loading, {} left", plural(pending, unit)), theme.muted);
    }
    if missing.is_empty() {
        return page_legend(view, &open, chart, width);
    }
    let n = missing.len();
    let key = app.key_label(Context::PageDetail, Action::Trend);
    let left = app.view_requests_left();
    let few = detail.is_one_request_per_day_enough(app, &missing, view.now);
    let (what, requests) = match few {
        true if n == 1 => ("it", plural(n, "request")),
        true => ("them", plural(n, "request")),
        false => ("all their pages", format!("at least {}", plural(n, "request"))),
    };
    let is_outdated = open.bars(&detail.totals).any(|bar| bar.totals.is_some() && bar.needs_loading(view.now));
    let (state, short_state) =
        if is_outdated { ("not loaded or outdated", "incomplete") } else { ("not loaded", "not loaded") };
    let forms = [
        format!("Trend: {n} of {all} {unit}s {state}. Press {key} to load {what} ({requests}, {left} left this hour)."),
        format!("Trend: {n} of {all} {unit}s {state}. Press {key} ({requests}, {left} left)."),
        format!("Trend: {n}/{all} {unit}s {short_state}: {key} ({requests})"),
        format!("{n}/{all} {unit}s {short_state}: {key} ({requests})"),
    ];
    let [.., shortest] = &forms;
    Line::styled(forms.iter().find(|form| form.width() <= width).unwrap_or(shortest).clone(), theme.muted)
}

fn reports_heading<'a>(view: View<'_>, detail: &PageDetail, width: usize) -> Line<'a> {
    let reports = &detail.reports;
    let times = [
        reports.votes.as_ref().map(|known| known.as_of),
        reports.comments.as_ref().map(|known| known.as_of),
        reports.questions.as_ref().map(|known| known.as_of),
        reports.searches.as_ref().map(|known| known.as_of),
    ];
    let mut row = TextRow::new(width);
    row.push("Reports", view.theme.title);
    row.push(format!("  {}", short_range(detail.numbers.range, view.now)), view.theme.muted);
    // The time of the oldest report is shown, because it holds for all of them: every report is at least that new.
    let as_of = times.into_iter().flatten().min().map(|at| view.as_of_text(at)).unwrap_or_default();
    if row.used_cells() + as_of.width() < width {
        row.pad_to(width - as_of.width()).push(as_of, view.theme.muted);
    }
    row.line()
}

/// Returns the page's numbers in a report. A number from a partial report is a lower bound.
fn report_line<'a>(view: View<'_>, detail: &PageDetail, report: PageReport, width: usize) -> Line<'a> {
    fn lower_bound_prefix<N>(known: &ReportNumbers<N>) -> &'static str {
        if known.is_partial { "at least " } else { "" }
    }
    let theme = view.theme;
    let reports = &detail.reports;
    let (name, parts) = match report {
        PageReport::Feedback => {
            let votes = reports.votes.as_ref().map(|known| {
                let (down, up) = (format_views(known.numbers.down), format_views(known.numbers.up));
                [format!("{}{down} thumbs down", lower_bound_prefix(known)), format!("{up} thumbs up")]
            });
            let comments = reports.comments.as_ref().map(|known| {
                let (all, open) = (plural(known.numbers.all, "comment"), format_count(known.numbers.open));
                let open = if known.numbers.open > 0 { format!(", {open} open") } else { String::new() };
                format!("{}{all}{open}", lower_bound_prefix(known))
            });
            ("Feedback", votes.into_iter().flatten().chain(comments).collect::<Vec<_>>())
        }
        PageReport::Questions => {
            let known = reports.questions.as_ref().map(|known| {
                let (all, unanswered) = (plural(known.numbers.all, "question"), format_count(known.numbers.unanswered));
                vec![format!("{}{all}, {unanswered} unanswered", lower_bound_prefix(known))]
            });
            ("Questions", known.unwrap_or_default())
        }
        PageReport::Searches => {
            let known = reports.searches.as_ref().map(|known| {
                let queries: Vec<&str> = known.numbers.queries.iter().map(|query| query.as_str()).collect();
                let (least, hits) = (lower_bound_prefix(known), searches_text(known.numbers.hits));
                match known.numbers.searches_with_click.filter(|_| !queries.is_empty()) {
                    Some(clicked) => {
                        let loaded = if least.is_empty() { "" } else { " (not all loaded)" };
                        let clicked = format!("{hits}, {} with a click{loaded}", format_views(clicked));
                        vec![clicked, format!("top page for: {}", queries.join(", "))]
                    }
                    None if queries.is_empty() => vec![format!("{least}{hits}")],
                    None => vec![format!("{least}{hits}"), format!("top page for: {}", queries.join(", "))],
                }
            });
            ("Searches", known.unwrap_or_default())
        }
    };
    let mut row = TextRow::new(width);
    row.push(align_left(name, REPORT_NAME_CELLS), theme.muted);
    if parts.is_empty() {
        let forms = [format!("not loaded: open the {name} tab (1 request)"), "not loaded".to_owned()];
        let form = forms.into_iter().find(|form| form.width() <= row.remaining_cells()).unwrap_or_default();
        row.push(form, theme.muted);
    }
    for (n, part) in parts.into_iter().enumerate() {
        let gap = if n == 0 { "" } else { "   " };
        if n == 0 || gap.len() + display_width(&part) <= row.remaining_cells() || report == PageReport::Searches {
            row.push(gap, theme.text)
                .push(part, if report == PageReport::Searches && n > 0 { theme.muted } else { theme.text });
        }
    }
    row.line()
}

fn searches_text(hits: DecimalCount) -> String {
    if hits == DecimalCount::ONE { "1 search".to_owned() } else { format!("{} searches", format_views(hits)) }
}

/// Returns a heading with the number `n` of entries, or with `empty_text` if there are none. If `n` is `None`, the
/// heading shows that the entries are being loaded, or why they could not be loaded.
fn section_heading<'a>(
    view: View<'_>,
    title: &str,
    n: Option<usize>,
    empty_text: &str,
    detail: &PageDetail,
    width: usize,
) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    row.push(title, theme.title);
    match (n, &detail.history) {
        (Some(0), _) => row.push(format!("  {empty_text}"), theme.muted),
        (Some(n), _) => row.push(format!(" {}", format_count(n)), theme.muted),
        (None, Load::Failed { failure, .. }) => row.push(format!("  {}", failure.message), theme.bad),
        (None, _) => row.push("  loading…", theme.muted),
    };
    row.line()
}

fn jobs_heading<'a>(view: View<'_>, detail: &PageDetail, history: Option<&PageHistory>, width: usize) -> Line<'a> {
    let n = history.map(|known| known.jobs.len());
    let empty_text = format!("none yet; {} starts one", view.app.key_label(Context::PageDetail, Action::NewJob));
    section_heading(view, "Jobs about this page", n, &empty_text, detail, width)
}

fn periods_heading<'a>(view: View<'_>, detail: &PageDetail, scale: PeriodScale, width: usize) -> Line<'a> {
    let n = detail.history.shown().map(|known| known.value.periods.len());
    let mut line = section_heading(view, "Cached ranges", n, "none yet", detail, width);
    if scale.is_per_day {
        let short = " · average views per day";
        let long = format!("{short} (today counts as part of a day)");
        let fits = line.width() + long.width() <= width;
        line.push_span(Span::styled(if fits { long } else { short.to_owned() }, view.theme.muted));
    }
    line
}

fn page_job_line<'a>(view: View<'_>, job: Option<&Job>, selected: bool, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    let Some(job) = job else {
        row.push("this job is not in the list yet", theme.muted);
        return row.line();
    };
    let (glyph, style) = list_draw::state_glyph(view, job);
    row.push(glyph, style).push(" ", theme.text);
    let pr = match (job.pr_number(), &job.remote.pr_link) {
        (Some(number), _) => format!("#{number}"),
        (None, Some(_)) => "PR".to_owned(),
        (None, None) => String::new(),
    };
    let dismissed = if job.local.dismissed { "dismissed  " } else { "" };
    let info = format!("  {dismissed}{}{}", align_right(&pr, 7), align_right(&list_draw::state_age(job, view.now), 6));
    if is_wide(width) {
        row.push(align_left(state_word_in_lists(job), STATUS_CELLS), theme.muted);
    }
    let title_width = row.remaining_cells().saturating_sub(info.width());
    row.push(align_left(job.local.title.as_str(), title_width), theme.text);
    row.push(info, theme.muted);
    row.list_line(selected, theme)
}

fn job_views_line<'a>(
    view: View<'_>,
    history: Option<&PageHistory>,
    line: PageDetailLine,
    job_index: usize,
    width: usize,
) -> Line<'a> {
    let mut row = TextRow::new(width);
    row.push("  ", view.theme.text);
    let known = history.and_then(|known| known.jobs.get(job_index));
    let Some((key, before, later)) = known else { return row.line() };
    let Some(job) = view.app.jobs.get(*key) else { return row.line() };
    let Some(weeks) = weeks_before_and_after(job) else { return row.line() };
    // In a narrow terminal the dates are left out, because the numbers matter more.
    let has_days = width >= MIN_WIDE_WIDTH;
    if !matches!(line, PageDetailLine::JobAfter(_)) {
        impact::push_views_before(&mut row, view, before, weeks.before, has_days);
    }
    if matches!(line, PageDetailLine::JobViews(_)) {
        row.push("   ", view.theme.text);
    }
    if !matches!(line, PageDetailLine::JobBefore(_)) {
        let against = Some((before, weeks.before));
        impact::push_views_after(&mut row, view, later, against, week_after(job, view.now.date_naive()), has_days);
    }
    row.line()
}

/// How the cached ranges are shown: with their sums, or with the mean per day if the ranges have different lengths. A
/// day that was in progress when the views were loaded counts as the fraction that had passed.
#[derive(Debug, Clone, Copy)]
struct PeriodScale {
    is_per_day: bool,
    /// The number of views at the end of the scale.
    max_views: f64,
}

impl PeriodScale {
    /// Returns how the listed ranges are shown.
    fn of(detail: &PageDetail) -> Self {
        let periods = detail.history.shown().map_or(&[][..], |known| known.value.periods.as_slice());
        let listed = detail.listed_period_indexes().into_iter();
        let periods: Vec<&PageViewsInRange> = listed.filter_map(|index| periods.get(index)).collect();
        let length = |period: &PageViewsInRange| period.range.elapsed_seconds(period.views.as_of);
        let first = periods.first().map(|period| length(period));
        let is_per_day = periods.iter().any(|period| Some(length(period)) != first);
        let scale = Self { is_per_day, max_views: 1.0 };
        Self { max_views: periods.into_iter().map(|period| scale.bar_value(period)).fold(1.0, f64::max), ..scale }
    }

    fn divisor(self, period: &PageViewsInRange) -> f64 {
        if self.is_per_day { period.range.elapsed_days(period.views.as_of) } else { 1.0 }
    }

    /// Returns the number of days of the range or, if its mean is shown and its last day was in progress, the number of
    /// days that had passed, such as `6.4`.
    fn days_text(self, period: &PageViewsInRange) -> String {
        let (divisor, days) = (self.divisor(period), period.range.days());
        if self.is_per_day && divisor < f64::from(days) { format!("{divisor:.1}") } else { grouped_number(days) }
    }

    fn bar_value(self, period: &PageViewsInRange) -> f64 {
        let Counts { human, ai, .. } = &period.views.value;
        (human.value().unwrap_or_default() + ai.value().unwrap_or_default()).as_f64() / self.divisor(period)
    }

    /// Formats a number as received, or its mean per day if the ranges have different lengths.
    fn number_text(self, count: &Count, period: &PageViewsInRange) -> String {
        match count.value() {
            Some(value) if self.is_per_day => mean_text(value.as_f64() / self.divisor(period)),
            _ => count_text(count),
        }
    }
}

#[derive(Debug, Clone, Copy)]
enum PeriodColumn {
    Range,
    Days,
    Human,
    Ai,
    Mismatch,
    State,
    Bar,
}

fn period_table(scale: PeriodScale, width: usize) -> Table<PeriodColumn> {
    type C = Column<PeriodColumn>;
    let is_wide = is_wide(width);
    let number = if is_wide { PERIOD_NUMBER_CELLS } else { 8 };
    let mut columns = vec![
        C::left_aligned("range", if is_wide { 22 } else { 16 }, PeriodColumn::Range),
        C::right_aligned("days", 5, PeriodColumn::Days),
        C::right_aligned("human", number, PeriodColumn::Human),
        C::right_aligned("AI", number, PeriodColumn::Ai),
        C::left_aligned("", 1, PeriodColumn::Mismatch),
    ];
    columns.extend(is_wide.then(|| C::left_aligned("note", 13, PeriodColumn::State).with_gap_before(2)));
    let used = 22 + 5 + 2 * PERIOD_NUMBER_CELLS + 1 + 15 + 2;
    let bar = width.saturating_sub(used).min(MAX_BAR_CELLS);
    let heading = bars::linear_scale_line(&mean_text(scale.max_views), bar);
    columns.extend(
        (width >= MIN_WIDTH_WITH_BARS).then(|| C::left_aligned(heading, bar, PeriodColumn::Bar).with_gap_before(2)),
    );
    Table::new(columns, width)
}

fn period_line<'a>(
    view: View<'_>,
    detail: &PageDetail,
    scale: PeriodScale,
    period: &PageViewsInRange,
    width: usize,
) -> Line<'a> {
    let theme = view.theme;
    let counts = &period.views.value;
    let previous = detail.numbers.compared.as_ref().map(|compared| compared.ranges.previous);
    let (state, state_style) = match period.range {
        range if range == detail.numbers.range => ("on screen", theme.text),
        range if Some(range) == previous => ("comparison", theme.text),
        range => match unfinished_state(range, period.views.as_of, view.now) {
            Some(state) => (state, theme.warning),
            None => ("", theme.muted),
        },
    };
    period_table(scale, width).line(|column, width| match column {
        PeriodColumn::Range => TableCell::new(short_range(period.range, view.now), theme.text),
        PeriodColumn::Days => TableCell::new(scale.days_text(period), theme.muted),
        // Even a number that had to be cut has a blank before it.
        PeriodColumn::Human => {
            TableCell::new(truncate(&scale.number_text(&counts.human, period), width - 1), theme.text)
        }
        PeriodColumn::Ai => TableCell::new(truncate(&scale.number_text(&counts.ai, period), width - 1), theme.text),
        PeriodColumn::Mismatch => TableCell::new(mismatch_sign(counts), theme.warning),
        PeriodColumn::State => TableCell::new(state, state_style),
        PeriodColumn::Bar => {
            TableCell::Spans(bars::stacked_bar(counts, scale.max_views * scale.divisor(period), width, theme))
        }
    })
}

/// Formats a mean number of views.
fn mean_text(n: f64) -> String {
    Count::from_f64(n).and_then(|count| count.value()).map_or_else(|| format!("{n:.0}"), format_mean)
}
