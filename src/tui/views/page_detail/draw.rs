//! Draws the page details: a page's numbers now and before, its rank, the jobs about it, and its numbers in other
//! ranges.
//!
//! ```text
//! ┌ /quickstart ─────────────────────────────────────────────────────────────┐
//! │ 2026-11-14 … 2026-11-20, 7 days UTC, today so far    as of 14:02         │
//! │           human         AI      total   AI share                         │
//! │ 7 days    9,120      4,310     13,430        32%                         │
//! │ before    8,800      3,301     12,101        27%                         │
//! │ change   ▲ 3.6%      ▲ 31%      ▲ 11%   +5 points                        │
//! │ rank          1          4          2   of 1,200 pages                   │
//! │                                                                          │
//! │ JOBS 1                                                                   │
//! │▌✓ Shorten the quickstart                          completed  PR 1423  9d │
//! │    before  11-05…11-11  9,120 human · 4,310 AI                           │
//! │    after   11-13…11-19  10,002 ▲ 9.7% · 5,100 ▲ 18%                      │
//! ```

use super::{ComparedViews, MIN_WIDE_WIDTH, PageDetail, PageDetailLine};
use crate::model::comparison::ViewsChange;
use crate::model::impact::{PageHistory, PagePeriod, PageViewsState, after_window, job_windows};
use crate::model::job_state::list_word;
use crate::model::load::{Load, Timed};
use crate::model::period::DateRange;
use crate::model::row::Job;
use crate::model::views::{Count, Counts};
use crate::tui::draw::boxes::{draw_box, draw_line, draw_more_below};
use crate::tui::draw::text::{TextRow, left, right, truncate_path};
use crate::tui::draw::{bars, impact};
use crate::tui::format::{count_text, mismatch_sign};
use crate::tui::format::{format_count, format_mean, grouped_number, plural, short_age};
use crate::tui::jobs::list_draw;
use crate::tui::keymap::{Action, Context};
use crate::tui::view::View;
use crate::tui::views::draw::totals::overlap_warning;
use crate::tui::views::draw::views_range_text;
use crate::tui::widgets::table::{Column, Table, TableCell};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// Width of the labels.
const LABEL_CELLS: usize = 7;
/// Width of a number.
const NUMBER_CELLS: usize = 11;
/// Minimum width of the pane at which a range has its last day and a bar.
const MIN_WIDTH_WITH_BARS: usize = 66;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &PageDetail) {
    let area = view.app.geometry().full_dialog();
    let theme = view.theme;
    let title = truncate_path(open.path.as_str(), usize::from(area.width.saturating_sub(4)));
    let inner = draw_box(frame, area, Line::styled(format!(" {title} "), theme.title), theme.focus);
    let text = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let (width, rows) = (usize::from(text.width), usize::from(text.height));
    let lines = open.lines(width);
    for (n, line) in lines.iter().skip(open.scroll).take(rows).enumerate() {
        // The mark of the selected job is in the blank column at the left.
        if matches!(line, PageDetailLine::Job(place) if *place == open.selected) {
            draw_line(frame, inner, n, Line::styled("▌", theme.mark));
        }
        draw_line(frame, text, n, detail_line(view, open, *line, width));
    }
    draw_more_below(frame, view, area, lines.len().saturating_sub(open.scroll + rows));
}

fn detail_line<'a>(view: View<'_>, detail: &PageDetail, line: PageDetailLine, width: usize) -> Line<'a> {
    let theme = view.theme;
    let history = detail.history.shown().map(|known| &known.value);
    let numbers = &detail.numbers;
    match line {
        PageDetailLine::Gap => Line::default(),
        PageDetailLine::Range => range_line(view, numbers.range, &numbers.now, width),
        PageDetailLine::RangeBefore => before_line(view, detail, width),
        PageDetailLine::Heads => {
            let mut row = TextRow::new(width);
            let number = number_width(width);
            row.push(" ".repeat(LABEL_CELLS), theme.muted).push(right("human", number), theme.human);
            row.push(right("AI", number), theme.ai).push(right("total", number), theme.muted);
            if width >= MIN_WIDE_WIDTH {
                row.push(right("AI share", number), theme.muted);
            }
            row.line()
        }
        PageDetailLine::Now => counts_line(view, &days_label(numbers.range), Some(&numbers.now), width),
        PageDetailLine::CompleteDays => {
            let label = numbers.compared.as_ref().map(|compared| days_label(compared.ranges.now)).unwrap_or_default();
            counts_line(view, &label, numbers.compared.as_ref().map(|compared| &compared.now), width)
        }
        PageDetailLine::Before => {
            counts_line(view, "before", numbers.compared.as_ref().map(|compared| &compared.before), width)
        }
        PageDetailLine::Change => change_line(view, detail, width),
        PageDetailLine::Rank => rank_line(view, detail, width),
        PageDetailLine::RankOf => Line::styled(
            format!(
                "{}of {}",
                " ".repeat(LABEL_CELLS + 3),
                plural(numbers.rank.map_or(0, |rank| rank.page_count), "page")
            ),
            theme.muted,
        ),
        PageDetailLine::Share => share_line(view, detail, width),
        PageDetailLine::Jobs => jobs_head(view, detail, history, width),
        PageDetailLine::Job(place) => match history.and_then(|known| known.jobs.get(place)) {
            Some((key, ..)) => page_job_line(view, view.app.jobs.get(*key), place == detail.selected, width),
            None => Line::default(),
        },
        PageDetailLine::JobViews(place) | PageDetailLine::JobBefore(place) | PageDetailLine::JobAfter(place) => {
            job_views(view, history, line, place, width)
        }
        PageDetailLine::Periods => periods_head(view, detail, history, width),
        PageDetailLine::Scale => {
            let headings = |known| period_table(PeriodScale::of(known), view, width).headings(theme.muted);
            history.map_or_else(Line::default, headings)
        }
        PageDetailLine::Period(place) => match history.and_then(|known| Some((known, known.periods.get(place)?))) {
            Some((known, period)) => period_line(view, PeriodScale::of(known), period, width),
            None => Line::default(),
        },
    }
}

/// The label of a row: the number of days that its numbers cover.
fn days_label(range: DateRange) -> String {
    let label = plural(usize::try_from(range.days()).unwrap_or(usize::MAX), "day");
    if label.width() < LABEL_CELLS { label } else { format!("{}d", grouped_number(range.days())) }
}

/// Returns the line with the range, and with the time at which its numbers were loaded.
fn range_line<'a>(view: View<'_>, range: DateRange, views: &PageViewsState, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    row.push(views_range_text(range, view, width), theme.title);
    if let PageViewsState::Known(Timed { as_of, .. }) | PageViewsState::NotListed(as_of) = views {
        let at = as_of.with_timezone(&view.app.config.offset);
        let age = short_age(view.now - *as_of);
        let age_text = if age == "now" { String::new() } else { format!(", {age} ago") };
        let is_today = at.date_naive() == view.now.with_timezone(&view.app.config.offset).date_naive();
        let clock = at.format(if is_today { "%H:%M" } else { "%m-%d %H:%M" });
        row.push(format!("   as of {clock}{age_text}"), theme.muted);
    }
    row.line()
}

/// Returns the line with the compared ranges, and warnings about them.
fn before_line<'a>(view: View<'_>, detail: &PageDetail, width: usize) -> Line<'a> {
    let Some(ComparedViews { ranges, now, before }) = &detail.numbers.compared else { return Line::default() };
    let is_incomplete =
        |views: &PageViewsState, range: DateRange| views.counts().is_some() && !views.is_complete(range);
    let incomplete =
        if is_incomplete(now, ranges.now) || is_incomplete(before, ranges.before) { ", incomplete" } else { "" };
    let overlap = overlap_warning(ranges.now, ranges.before).map(|text| format!(", {text}")).unwrap_or_default();
    let shown = detail.numbers.range;
    let mut row = TextRow::new(width);
    row.push(if width < MIN_WIDE_WIDTH { ranges.short_label(shown) } else { ranges.label(shown) }, view.theme.muted);
    for warning in [incomplete.to_owned(), overlap] {
        if warning.width() <= row.remaining() {
            row.push(warning, view.theme.warning);
        }
    }
    row.line()
}

fn counts_line<'a>(view: View<'_>, label: &str, views: Option<&PageViewsState>, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    row.push(left(label, LABEL_CELLS), theme.muted);
    match views {
        Some(PageViewsState::Known(known)) => {
            let counts = &known.value;
            for (count, style) in [(&counts.human, theme.human), (&counts.ai, theme.ai), (&counts.total, theme.text)] {
                row.push(right(&count_text(count), number_width(width)), style);
            }
            if width >= MIN_WIDE_WIDTH {
                row.push(right(&share(counts), NUMBER_CELLS), theme.text).push(" ", theme.text);
            }
            row.push(mismatch_sign(counts), theme.warning);
        }
        Some(PageViewsState::NotListed(_)) => {
            row.push("   not listed in this range", theme.muted);
        }
        Some(PageViewsState::Unknown) | None => {
            let key = view.app.key_label(Context::Views, Action::Compare);
            let how = match label {
                "before" if width < MIN_WIDE_WIDTH => format!(" ({key} in the list)"),
                "before" => format!(" (press {key} in the list)"),
                _ => String::new(),
            };
            row.push(format!("   unknown{how}"), theme.muted);
        }
    }
    row.line()
}

fn change_line<'a>(view: View<'_>, detail: &PageDetail, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    row.push(left("change", LABEL_CELLS), theme.muted);
    let compared = detail.numbers.compared.as_ref();
    let counts =
        compared.and_then(|compared| Some((compared.ranges, compared.now.counts()?, compared.before.counts()?)));
    let Some((ranges, now, before)) = counts else {
        row.push(right("–", number_width(width)), theme.muted);
        return row.line();
    };
    let pairs = [(&now.human, &before.human), (&now.ai, &before.ai), (&now.total, &before.total)];
    for (now, before) in pairs {
        let change = match ranges.change(now, before) {
            Some(ViewsChange::InBoth { now, before }) => impact::change_with_sign(now, before),
            _ => "–".to_owned(),
        };
        row.push(right(&change, number_width(width)), theme.text);
    }
    if width >= MIN_WIDE_WIDTH {
        row.push(right(&share_points(now, before), NUMBER_CELLS), theme.text);
    }
    row.line()
}

/// Formats the change of the AI share in percentage points.
fn share_points(now: &Counts, before: &Counts) -> String {
    let Some((now, before)) = now.ai_share().zip(before.ai_share()) else { return "–".to_owned() };
    let points = ((now - before) * 100.0).round();
    if points == 0.0 { "same".to_owned() } else { format!("{points:+.0} points") }
}

fn share(counts: &Counts) -> String {
    counts.ai_share().map_or_else(|| "–".to_owned(), |share| format!("{:.0}%", share * 100.0))
}

/// Returns the line with the AI share now and before. A narrow table has this line instead of a column.
fn share_line<'a>(view: View<'_>, detail: &PageDetail, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    let now = detail.numbers.now.counts().map_or_else(|| "–".to_owned(), share);
    row.push(left("AI", LABEL_CELLS), theme.muted).push(format!("   {now} of human and AI"), theme.text);
    if let Some(before) = detail.numbers.compared.as_ref().and_then(|compared| compared.before.counts()) {
        row.push(format!(", was {}", share(before)), theme.muted);
    }
    row.line()
}

fn number_width(width: usize) -> usize {
    if width >= MIN_WIDE_WIDTH { NUMBER_CELLS } else { 9 }
}

fn rank_line<'a>(view: View<'_>, detail: &PageDetail, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    row.push(left("rank", LABEL_CELLS), theme.muted);
    let Some(rank) = detail.numbers.rank else {
        let load_all = || view.app.key_label(Context::PageDetail, Action::LoadAll);
        let text = match detail.numbers.now {
            PageViewsState::NotListed(_) => "   not listed".to_owned(),
            _ if width < MIN_WIDE_WIDTH => format!("   unknown (press {})", load_all()),
            _ => format!("   unknown until all pages are loaded (press {})", load_all()),
        };
        row.push(text, theme.muted);
        return row.line();
    };
    for place in [rank.human, rank.ai, rank.total] {
        row.push(right(&place.map_or_else(|| "–".to_owned(), format_count), number_width(width)), theme.text);
    }
    if width >= MIN_WIDE_WIDTH {
        row.push(format!("   of {}", plural(rank.page_count, "page")), theme.muted);
    }
    row.line()
}

/// Returns a heading with the number `n` of entries, or with the reason why there are none.
fn section_heading<'a>(
    view: View<'_>,
    title: &str,
    n: Option<usize>,
    none: &str,
    detail: &PageDetail,
    width: usize,
) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    row.push(title, theme.muted);
    match (n, &detail.history) {
        (Some(0), _) => row.push(format!("  {none}"), theme.muted),
        (Some(n), _) => row.push(format!(" {}", format_count(n)), theme.muted),
        (None, Load::Failed { failure, .. }) => row.push(format!("  {}", failure.message), theme.bad),
        (None, _) => row.push("  loading…", theme.muted),
    };
    row.line()
}

fn jobs_head<'a>(view: View<'_>, detail: &PageDetail, history: Option<&PageHistory>, width: usize) -> Line<'a> {
    let n = history.map(|known| known.jobs.len());
    let none = format!("none yet; {} starts one", view.app.key_label(Context::PageDetail, Action::NewJob));
    section_heading(view, "JOBS", n, &none, detail, width)
}

fn periods_head<'a>(view: View<'_>, detail: &PageDetail, history: Option<&PageHistory>, width: usize) -> Line<'a> {
    let n = history.map(|known| known.periods.len());
    section_heading(view, "CACHED RANGES", n, "none yet", detail, width)
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
    // The status of a dismissed job is shown too, because the age at the end of the line belongs to the status.
    let dismissed = if job.local.dismissed { "dismissed, " } else { "" };
    let status = list_word(job);
    let pr = match (job.pr_number(), &job.remote.pr_link) {
        (Some(number), _) => format!("  #{number}"),
        (None, Some(_)) => "  PR".to_owned(),
        (None, None) => String::new(),
    };
    let info = format!("  {dismissed}{status}{pr}{}", right(&list_draw::state_age(job, view.now), 6));
    let title_width = row.remaining().saturating_sub(info.chars().count());
    row.push(left(job.local.title.as_str(), title_width), theme.text);
    row.push(info, theme.muted);
    row.list_line(selected, theme)
}

fn job_views<'a>(
    view: View<'_>,
    history: Option<&PageHistory>,
    line: PageDetailLine,
    place: usize,
    width: usize,
) -> Line<'a> {
    let mut row = TextRow::new(width);
    row.push("  ", view.theme.text);
    let known = history.and_then(|known| known.jobs.get(place));
    let Some((key, before, later)) = known else { return row.line() };
    let Some(job) = view.app.jobs.get(*key) else { return row.line() };
    let Some(windows) = job_windows(job) else { return row.line() };
    // In a narrow terminal the dates are left out, because the numbers matter more.
    let dated = width >= MIN_WIDE_WIDTH;
    if !matches!(line, PageDetailLine::JobAfter(_)) {
        impact::push_views_before(&mut row, view, before, windows.before, dated);
    }
    if matches!(line, PageDetailLine::JobViews(_)) {
        row.push("   ", view.theme.text);
    }
    if !matches!(line, PageDetailLine::JobBefore(_)) {
        let against = Some((before, windows.before));
        impact::push_views_after(&mut row, view, later, against, after_window(job, view.now.date_naive()), dated);
    }
    row.line()
}

/// How the cached ranges are shown: with their sums, or with the mean per day if the ranges have different lengths.
#[derive(Debug, Clone, Copy)]
struct PeriodScale {
    is_per_day: bool,
    /// The number of views at the end of the scale.
    full: f64,
}

impl PeriodScale {
    fn of(history: &PageHistory) -> Self {
        let periods = &history.periods;
        let first = periods.first().map(|period| period.range.days());
        let is_per_day = periods.iter().any(|period| Some(period.range.days()) != first);
        let scale = Self { is_per_day, full: 1.0 };
        Self { full: periods.iter().map(|period| scale.sum_of(period)).fold(1.0, f64::max), ..scale }
    }

    fn divisor(self, period: &PagePeriod) -> f64 {
        // A day that was in progress when the views were loaded counts as the fraction that had passed.
        if self.is_per_day { period.range.elapsed_days(period.views.as_of) } else { 1.0 }
    }

    fn sum_of(self, period: &PagePeriod) -> f64 {
        let Counts { human, ai, .. } = &period.views.value;
        (human.value().unwrap_or_default() + ai.value().unwrap_or_default()).as_f64() / self.divisor(period)
    }

    /// Formats a number as received, or its mean per day if the ranges have different lengths.
    fn number_text(self, count: &Count, period: &PagePeriod) -> String {
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
    /// The first day and the number of days, in a narrow table.
    Start,
    Human,
    Ai,
    Mismatch,
    Bar,
}

fn period_table(scale: PeriodScale, view: View<'_>, width: usize) -> Table<PeriodColumn> {
    type C = Column<PeriodColumn>;
    let theme = view.theme;
    let is_wide = width >= MIN_WIDTH_WITH_BARS;
    let (human, ai) = match (scale.is_per_day, is_wide) {
        (true, true) => ("human/day", "AI/day"),
        (true, false) => ("human/d", "AI/d"),
        (false, _) => ("human", "AI"),
    };
    let number = if is_wide { NUMBER_CELLS } else { 8 };
    let range = if is_wide {
        vec![C::left("days, UTC", 23, PeriodColumn::Range), C::right("", 5, PeriodColumn::Days)]
    } else {
        vec![C::left("from, UTC", 19, PeriodColumn::Start)]
    };
    let views = [
        C::right(human, number, PeriodColumn::Human).after_gap(usize::from(is_wide)).with_heading_style(theme.human),
        C::right(ai, number, PeriodColumn::Ai).with_heading_style(theme.ai),
        C::left("", 2, PeriodColumn::Mismatch),
    ];
    let bar = width.saturating_sub(31 + 2 * NUMBER_CELLS);
    let bar_heading = bars::plain_scale_line(&mean_text(scale.full), bar);
    let bar = is_wide.then(|| C::left(bar_heading, bar, PeriodColumn::Bar));
    Table::new(range.into_iter().chain(views).chain(bar), width)
}

fn period_line<'a>(view: View<'_>, scale: PeriodScale, period: &PagePeriod, width: usize) -> Line<'a> {
    let theme = view.theme;
    let counts = &period.views.value;
    let days = format!("{}d", grouped_number(period.range.days()));
    let is_incomplete = period.views.as_of.date_naive() <= period.range.to();
    period_table(scale, view, width).line(|column, width| match column {
        PeriodColumn::Range => TableCell::new(impact::range_or_day(period.range), theme.text),
        PeriodColumn::Days => TableCell::new(days.clone(), theme.muted),
        PeriodColumn::Start => TableCell::Spans(vec![
            Span::styled(period.range.from().to_string(), theme.text),
            Span::styled(format!(" {days}{}", if is_incomplete { " part" } else { "" }), theme.muted),
        ]),
        PeriodColumn::Human => TableCell::new(scale.number_text(&counts.human, period), theme.human),
        PeriodColumn::Ai => TableCell::new(scale.number_text(&counts.ai, period), theme.ai),
        PeriodColumn::Mismatch => TableCell::new(mismatch_sign(counts), theme.warning),
        PeriodColumn::Bar => {
            // Behind the longest bar, there is space for the word.
            let (full, space) = (scale.full * scale.divisor(period), width.saturating_sub(11).max(1));
            let incomplete = Span::styled(if is_incomplete { " incomplete" } else { "" }, theme.warning);
            TableCell::Spans(bars::stacked_bar(counts, full, space, theme).into_iter().chain([incomplete]).collect())
        }
    })
}

/// Formats a mean number of views.
fn mean_text(n: f64) -> String {
    Count::from_f64(n).and_then(|count| count.value()).map_or_else(|| format!("{n:.0}"), format_mean)
}
