//! Draws the page details: a page's numbers now and before, its rank, the jobs about it, and its numbers in other
//! ranges.
//!
//! ```text
//!  as of 14:02                human        AI     total  AI share
//!  14–20 Nov, so far          9,120     4,310    13,430       32%   ████████████▒▒▒▒▒▒
//!  complete days              8,102     4,011    12,113       33%
//!  7–12 Nov                   7,811     2,904    10,715       27%   ██████████▒▒▒▒
//!  change                    ▲ 3.7%     ▲ 38%     ▲ 13%   ▲ 6.0pp
//!  rank of 1,200 pages            1         4         2
//!
//!  Jobs about this page 1
//! ▌✓ completed    Shorten the quickstart                                     #1423   9d
//!    before  5–11 Nov  9,120 human · 4,310 AI
//!    after   13–19 Nov  10,002 ▲ 9.7% · 5,100 ▲ 18%
//! ```

use super::{ComparedViews, MIN_WIDE_WIDTH, PageDetail, PageDetailLine};
use crate::model::comparison::ViewsChange;
use crate::model::impact::{PageHistory, PagePeriod, PageViewsState, after_window, job_windows};
use crate::model::job_state::list_word;
use crate::model::load::Load;
use crate::model::period::DateRange;
use crate::model::row::Job;
use crate::model::views::{Count, Counts};
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::rules::DialogFrame;
use crate::tui::draw::text::{TextRow, align_left, align_right, truncate_path};
use crate::tui::draw::{bars, impact};
use crate::tui::format::{count_text, mismatch_sign};
use crate::tui::format::{format_count, format_mean, grouped_number, plural};
use crate::tui::geometry::{title_area, with_margin};
use crate::tui::jobs::list_draw;
use crate::tui::keymap::{Action, Context};
use crate::tui::view::View;
use crate::tui::views::draw::change::{ChangeWeight, compared_site_views};
use crate::tui::views::draw::table::{change_cell, points_cell};
use crate::tui::views::draw::totals::overlap_warning;
use crate::tui::views::range_line::format_range;
use crate::tui::views::range_totals::bar_height;
use crate::tui::widgets::table::{Column, Table, TableCell};
use chrono::Datelike as _;
use ratatui::Frame;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// Width of the labels: in a narrow and in a wide dialog.
const LABEL_CELLS: (usize, usize) = (7, 20);
/// Width of a number: in a narrow and in a wide dialog.
const NUMBER_CELLS: (usize, usize) = (9, 10);
/// Width of a number of another cached range.
const PERIOD_NUMBER_CELLS: usize = 11;
/// Minimum width of a bar, and of the gap before it.
const BAR_CELLS: (usize, usize) = (6, 3);
/// Width of the status of a job.
const STATUS_CELLS: usize = 13;
/// Minimum width of the pane at which the table of cached ranges has the last day of each range and a bar. A narrower
/// table has only the first day.
const MIN_WIDTH_WITH_BARS: usize = 66;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &PageDetail) {
    let theme = view.theme;
    let width = usize::from(title_area(view.app.geometry().upper_rule()).width);
    let title = truncate_path(open.path.as_str(), width);
    let inner = DialogFrame::new(view, title).draw(frame, view, open);
    let text = with_margin(inner);
    let (width, rows) = (usize::from(text.width), usize::from(text.height));
    let lines = open.lines(width);
    for (n, line) in lines.iter().skip(open.scroll).take(rows).enumerate() {
        // The mark of the selected job is in the blank column at the left.
        if matches!(line, PageDetailLine::Job(place) if *place == open.selected) {
            draw_line(frame, inner, n, Line::styled("▌", theme.mark));
        }
        draw_line(frame, text, n, detail_line(view, open, *line, width));
    }
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
            let as_of = numbers.now.as_of().filter(|_| is_wide(width)).map(|at| view.as_of_clock(at));
            row.left(as_of.unwrap_or_default(), label_width(width), theme.muted);
            row.push(align_right("human", number), theme.human);
            row.push(align_right("AI", number), theme.ai).push(align_right("total", number), theme.muted);
            if is_wide(width) {
                row.push(align_right("AI share", number), theme.muted);
            }
            row.line()
        }
        PageDetailLine::Now => {
            let so_far = if numbers.range.contains(view.now.date_naive()) { ", so far" } else { "" };
            counts_line(view, detail, line, &range_label(view, numbers.range, so_far, width), Some(&numbers.now), width)
        }
        PageDetailLine::CompleteDays => {
            let compared = numbers.compared.as_ref();
            let label = compared.filter(|_| !is_wide(width)).map(|compared| days_label(compared.ranges.now));
            let label = label.unwrap_or_else(|| "complete days".to_owned());
            counts_line(view, detail, line, &label, compared.map(|compared| &compared.now), width)
        }
        PageDetailLine::Before => {
            let compared = numbers.compared.as_ref().filter(|_| is_wide(width));
            let label = compared.map(|compared| range_label(view, compared.ranges.before, "", width));
            let label = label.unwrap_or_else(|| "before".to_owned());
            counts_line(view, detail, line, &label, numbers.compared.as_ref().map(|compared| &compared.before), width)
        }
        PageDetailLine::Change => change_line(view, detail, width),
        PageDetailLine::Rank => rank_line(view, detail, width),
        PageDetailLine::RankOf => Line::styled(
            format!(
                "{}of {}",
                " ".repeat(LABEL_CELLS.0 + 3),
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

fn is_wide(width: usize) -> bool {
    width >= MIN_WIDE_WIDTH
}

fn label_width(width: usize) -> usize {
    if is_wide(width) { LABEL_CELLS.1 } else { LABEL_CELLS.0 }
}

/// Returns the label of a range: its dates and `suffix` if they fit, otherwise the number of its days.
fn range_label(view: View<'_>, range: DateRange, suffix: &str, width: usize) -> String {
    let dates = range.words(range.to().year() != view.now.year());
    let forms = [format!("{dates}{suffix}"), dates, days_label(range)];
    let [.., shortest] = &forms;
    forms.iter().find(|form| form.width() < label_width(width)).unwrap_or(shortest).clone()
}

fn days_label(range: DateRange) -> String {
    let label = plural(range.days(), "day");
    if label.width() < LABEL_CELLS.0 { label } else { format!("{}d", grouped_number(range.days())) }
}

/// Returns the line with the range, and with the time at which its numbers were loaded.
fn range_line<'a>(view: View<'_>, range: DateRange, views: &PageViewsState, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    row.push(format_range(range, view.now, width), theme.title);
    if let Some(as_of) = views.as_of() {
        row.push(format!("   {}", view.as_of_clock(as_of)), theme.muted);
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
    row.push(if is_wide(width) { ranges.label(shown) } else { ranges.short_label(shown) }, view.theme.muted);
    for warning in [incomplete.to_owned(), overlap] {
        if warning.width() <= row.remaining() {
            row.push(warning, view.theme.warning);
        }
    }
    row.line()
}

fn counts_line<'a>(
    view: View<'_>,
    detail: &PageDetail,
    line: PageDetailLine,
    label: &str,
    views: Option<&PageViewsState>,
    width: usize,
) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    row.push(align_left(label, label_width(width)), theme.muted);
    match views {
        Some(PageViewsState::Known(known)) => {
            let counts = &known.value;
            for (count, style) in [(&counts.human, theme.human), (&counts.ai, theme.ai), (&counts.total, theme.text)] {
                row.push(align_right(&count_text(count), number_width(width)), style);
            }
            if is_wide(width) {
                row.push(align_right(&share(counts), number_width(width)), theme.text);
            }
            let sign = mismatch_sign(counts);
            row.push(sign, theme.warning);
            let space = row.remaining().saturating_sub(BAR_CELLS.1);
            if line != PageDetailLine::CompleteDays && is_wide(width) && space >= BAR_CELLS.0 {
                row.push(" ".repeat(BAR_CELLS.1.saturating_sub(sign.width())), theme.text);
                for span in bars::stacked_bar(counts, most_views(detail), space, theme) {
                    row.push(span.content, span.style);
                }
            }
        }
        Some(PageViewsState::NotListed(_)) => {
            row.push("   not in the report of this range", theme.muted);
        }
        Some(PageViewsState::Unknown) | None => {
            let key = view.app.key_label(Context::Views, Action::Compare);
            let how = match line {
                PageDetailLine::Before if is_wide(width) => format!(" (press {key} in the list)"),
                PageDetailLine::Before => format!(" ({key} in the list)"),
                _ => String::new(),
            };
            row.push(format!("   unknown{how}"), theme.muted);
        }
    }
    row.line()
}

/// Returns the number of views at the end of the bars: the larger one of the range on screen and the previous range.
fn most_views(detail: &PageDetail) -> f64 {
    let numbers = &detail.numbers;
    let both = [Some(&numbers.now), numbers.compared.as_ref().map(|compared| &compared.before)];
    let heights = both.into_iter().flatten().filter_map(|views| bar_height(views.counts()?));
    heights.max().unwrap_or_default().as_f64()
}

fn change_line<'a>(view: View<'_>, detail: &PageDetail, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    let compared = detail.numbers.compared.as_ref();
    let is_per_day = is_wide(width) && compared.is_some_and(|compared| compared.ranges.is_per_day());
    row.push(align_left(if is_per_day { "change per day" } else { "change" }, label_width(width)), theme.muted);
    let counts =
        compared.and_then(|compared| Some((compared.ranges, compared.now.counts()?, compared.before.counts()?)));
    let Some((ranges, now, before)) = counts else {
        row.push(align_right("–", number_width(width)), theme.muted);
        return row.line();
    };
    let pairs = [(&now.human, &before.human), (&now.ai, &before.ai), (&now.total, &before.total)];
    for (now, before) in pairs {
        let change = ranges.change(now, before).unwrap_or(ViewsChange::Unknown);
        let weight = ChangeWeight::of(change, compared_site_views(view));
        row.push(align_right(&change_cell(change), number_width(width)), weight.style(change, theme));
    }
    if is_wide(width) {
        let points = now.ai_share().zip(before.ai_share()).map(|(now, before)| points_cell((now - before) * 100.0));
        row.push(align_right(points.as_deref().unwrap_or("–"), number_width(width)), theme.text);
    }
    row.line()
}

fn share(counts: &Counts) -> String {
    counts.ai_share().map_or_else(|| "–".to_owned(), |share| format!("{:.0}%", share * 100.0))
}

/// Returns the line with the AI share now and before. A narrow table has this line instead of a column.
fn share_line<'a>(view: View<'_>, detail: &PageDetail, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    let now = detail.numbers.now.counts().map_or_else(|| "–".to_owned(), share);
    row.push(align_left("AI", LABEL_CELLS.0), theme.muted).push(format!("   {now} of human and AI"), theme.text);
    if let Some(before) = detail.numbers.compared.as_ref().and_then(|compared| compared.before.counts()) {
        row.push(format!(", was {}", share(before)), theme.muted);
    }
    row.line()
}

fn number_width(width: usize) -> usize {
    if is_wide(width) { NUMBER_CELLS.1 } else { NUMBER_CELLS.0 }
}

fn rank_line<'a>(view: View<'_>, detail: &PageDetail, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    let pages = detail.numbers.rank.filter(|_| is_wide(width)).map(|rank| plural(rank.page_count, "page"));
    let label = pages.map_or_else(|| "rank".to_owned(), |pages| format!("rank of {pages}"));
    row.push(align_left(&label, label_width(width)), theme.muted);
    let Some(rank) = detail.numbers.rank else {
        let load_all = || view.app.key_label(Context::PageDetail, Action::LoadAll);
        let text = match detail.numbers.now {
            PageViewsState::NotListed(_) => "   not in the report".to_owned(),
            _ if width < MIN_WIDE_WIDTH => format!("   unknown (press {})", load_all()),
            _ => format!("   unknown until all pages are loaded (press {})", load_all()),
        };
        row.push(text, theme.muted);
        return row.line();
    };
    for place in [rank.human, rank.ai, rank.total] {
        row.push(align_right(&place.map_or_else(|| "–".to_owned(), format_count), number_width(width)), theme.text);
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
    row.push(title, theme.title);
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
    section_heading(view, "Jobs about this page", n, &none, detail, width)
}

fn periods_head<'a>(view: View<'_>, detail: &PageDetail, history: Option<&PageHistory>, width: usize) -> Line<'a> {
    let n = history.map(|known| known.periods.len());
    section_heading(view, "Cached ranges", n, "none yet", detail, width)
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
        row.push(align_left(list_word(job), STATUS_CELLS), theme.muted);
    }
    let title_width = row.remaining().saturating_sub(info.width());
    row.push(align_left(job.local.title.as_str(), title_width), theme.text);
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
    let number = if is_wide { PERIOD_NUMBER_CELLS } else { 8 };
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
    let bar = width.saturating_sub(31 + 2 * PERIOD_NUMBER_CELLS);
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
