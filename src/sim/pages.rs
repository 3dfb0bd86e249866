//! The page views of the simulated site. For each page and day, the views by humans and by AI are computed from the
//! seed when they are needed.
//!
//! A few pages are read often, most pages hardly ever. There are fewer views at weekends, and the share of AI grows.
//! Some pages become more or less popular, appear, or disappear. Days are counted from the first of the month in which
//! the history begins. After a restart, the views are therefore the same if the history still begins in that month.
//! `views` selects the range and the rows.

use super::paths::paths;
use super::rng::{SeededRng, mix};
use crate::model::Time;
use chrono::{Datelike, Days, NaiveDate, Timelike};

/// The number of days with views, including today.
pub(super) const HISTORY_DAYS: u64 = 120;

/// The factors of the weekdays in thousandths, Monday first. AI reads at weekends almost as much as on weekdays.
const HUMAN_WEEKDAY_FACTORS: [u64; 7] = [1080, 1170, 1150, 1110, 950, 420, 470];
const AI_WEEKDAY_FACTORS: [u64; 7] = [1020, 1050, 1040, 1030, 990, 920, 940];

/// The share of a day's views in each UTC hour, in thousandths.
const HOURLY_SHARES: [u64; 24] =
    [25, 22, 20, 20, 22, 26, 32, 42, 52, 58, 60, 58, 55, 58, 62, 62, 60, 54, 46, 40, 36, 34, 30, 26];

/// The pages of the simulated site. Their views are not stored.
#[derive(Debug)]
pub(super) struct Site {
    pages: Vec<SimPage>,
    epoch: NaiveDate,
    history_start: NaiveDate,
}

/// A page of the site.
#[derive(Debug)]
pub(super) struct SimPage {
    path: Box<str>,
    seed: u64,
    /// The number of views on an average day, in thousandths of a view.
    mean_views: u32,
    /// The difference between the page's and the site's share of views by AI, in thousandths.
    ai_bias: i64,
    trend: PageTrend,
}

#[derive(Debug, Clone, Copy)]
enum PageTrend {
    Steady,
    Rising,
    Falling,
    /// The page exists from this day on.
    New(i64),
    /// The page has no views from this day on.
    Gone(i64),
}

/// One day, with the factors (in thousandths) by which it multiplies the views of every page.
#[derive(Debug, Clone, Copy)]
pub(super) struct Day {
    date: NaiveDate,
    index: i64,
    human_factor: u64,
    ai_factor: u64,
    ai_share: i64,
    /// The share of the day's views that has arrived so far, in millionths.
    counted_share: u64,
}

/// The views of one or more pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct HumanAndAiCounts {
    pub(super) human: u64,
    pub(super) ai: u64,
}

impl HumanAndAiCounts {
    pub(super) fn total(self) -> u64 {
        self.human + self.ai
    }

    fn add(&mut self, other: Self) {
        self.human += other.human;
        self.ai += other.ai;
    }
}

impl Site {
    /// Creates a site with `count` pages. At `now`, its history has [`HISTORY_DAYS`] days.
    pub(super) fn new(seed: u64, count: u32, now: Time) -> Self {
        let today = now.date_naive();
        let history_start = today.checked_sub_days(Days::new(HISTORY_DAYS - 1)).unwrap_or(today);
        let epoch = history_start.with_day(1).unwrap_or(history_start);
        let pages = paths(seed, count).into_iter().zip(1_u32..).map(|(path, rank)| SimPage::new(seed, path, rank));
        Self { pages: pages.collect(), epoch, history_start }
    }

    /// Returns the path of the page with this index.
    pub(super) fn path(&self, index: u32) -> &str {
        self.page(index).map_or("", SimPage::path)
    }

    /// Returns the days of a range that have views, from the start of the history to today.
    pub(super) fn days(&self, from: NaiveDate, exclusive_end: NaiveDate, now: Time) -> Vec<Day> {
        let today = now.date_naive();
        let from = from.max(self.history_start);
        let days = from.iter_days().take_while(|day| *day < exclusive_end && *day <= today);
        days.map(|day| self.day(day, if day == today { counted_share_of_day(now) } else { 1_000_000 })).collect()
    }

    /// Like [`Self::days`], but today has all views that it will have when it is over.
    pub(super) fn complete_days(&self, from: NaiveDate, exclusive_end: NaiveDate, now: Time) -> Vec<Day> {
        let days = self.days(from, exclusive_end, now).into_iter();
        days.map(|day| Day { counted_share: 1_000_000, ..day }).collect()
    }

    /// Returns all pages, most read first, with their indexes.
    pub(super) fn pages(&self) -> impl Iterator<Item = (u32, &SimPage)> {
        (0..).zip(&self.pages)
    }

    /// Returns the page with this index.
    pub(super) fn page(&self, index: u32) -> Option<&SimPage> {
        self.pages.get(usize::try_from(index).ok()?)
    }

    pub(super) fn page_count(&self) -> u64 {
        u64::try_from(self.pages.len()).unwrap_or(u64::MAX)
    }

    /// Returns the number of pages divided by the default number, at least 1.
    pub(super) fn size_factor(&self) -> u64 {
        (self.page_count() / 1200).max(1)
    }

    /// Returns the sum of the views on these days for every page, in the order of the pages.
    pub(super) fn view_sums<'a>(&'a self, days: &'a [Day]) -> impl Iterator<Item = HumanAndAiCounts> + 'a {
        self.pages.iter().map(move |page| {
            let mut sum = HumanAndAiCounts::default();
            for day in days {
                sum.add(page.views(day));
            }
            sum
        })
    }

    fn day(&self, date: NaiveDate, counted_share: u64) -> Day {
        let index = (date - self.epoch).num_days();
        let weekday = usize::try_from(date.weekday().num_days_from_monday()).unwrap_or(0);
        let grown = 1000 + u64::try_from(index).unwrap_or(0);
        let weekday_factor = |week: [u64; 7]| week.get(weekday).copied().unwrap_or(1000) * grown / 1000;
        Day {
            date,
            index,
            human_factor: weekday_factor(HUMAN_WEEKDAY_FACTORS),
            ai_factor: weekday_factor(AI_WEEKDAY_FACTORS),
            ai_share: 90 + index * 13 / 10,
            counted_share,
        }
    }
}

impl Day {
    pub(super) fn date(&self) -> NaiveDate {
        self.date
    }

    /// Returns the number of the day, counted from the first of the month in which the history begins.
    pub(super) fn number(&self) -> u64 {
        u64::try_from(self.index).unwrap_or(0)
    }

    /// Reduces `number`, a count for the whole day, to what has arrived so far.
    pub(super) fn counted_so_far(&self, number: u64) -> u64 {
        number * self.counted_share / 1_000_000
    }
}

impl SimPage {
    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Returns a random number that stays the same for this page.
    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether the page loses readers.
    pub(super) fn is_falling(&self) -> bool {
        matches!(self.trend, PageTrend::Falling)
    }

    fn new(seed: u64, path: Box<str>, rank: u32) -> Self {
        let mut rng = SeededRng::new(seed, (6 << 32) + u64::from(rank));
        // The average number of views is inversely proportional to (rank + 6) to the power of 1.5.
        let from_top = u64::from(rank) + 6;
        let mean_views = 35_000_000_000 / from_top.saturating_pow(3).saturating_mul(1_000_000).isqrt().max(1);
        let is_known = rank <= 12;
        let mean_views =
            mean_views * u64::from(if is_known { rng.between(960, 1040) } else { rng.between(650, 1400) }) / 1000;
        let trend = match if is_known { 0 } else { rng.between(0, 99) } {
            0..52 => PageTrend::Steady,
            52..68 => PageTrend::Rising,
            68..82 => PageTrend::Falling,
            82..92 => PageTrend::New(i64::from(rng.between(12, 146))),
            _ => PageTrend::Gone(i64::from(rng.between(50, 146))),
        };
        let ai_bias = i64::from(rng.between(0, 160)) - 80 + section_ai_bias(&path);
        Self { path, seed: rng.next(), mean_views: u32::try_from(mean_views).unwrap_or(u32::MAX), ai_bias, trend }
    }

    /// Returns the views on this day.
    pub(super) fn views(&self, day: &Day) -> HumanAndAiCounts {
        let mean_views = u64::from(self.mean_views) * self.trend.factor(day.index) / 1000;
        if mean_views == 0 {
            return HumanAndAiCounts::default();
        }
        let ai_share = u64::try_from((day.ai_share + self.ai_bias).clamp(20, 930)).unwrap_or(0);
        let noise = mix(self.seed ^ u64::try_from(day.index).unwrap_or(0).wrapping_mul(0x2545_f491_4f6c_dd1d));
        let (of_human, of_ai) = (noise & 0xffff, (noise >> 16) & 0xffff);
        // A crawler visits the page on one day in sixty.
        let crawled = if (noise >> 32).is_multiple_of(60) { 2400 } else { 1000 };
        let human = mean_views * (1000 - ai_share) / 1000 * day.human_factor / 1000 * (860 + of_human % 281) / 1000;
        let ai = mean_views * ai_share / 1000 * day.ai_factor / 1000 * (800 + of_ai % 401) / 1000 * crawled / 1000;
        let so_far = |thousandths: u64, noise: u64| (thousandths + noise % 1000) / 1000 * day.counted_share / 1_000_000;
        HumanAndAiCounts { human: so_far(human, noise >> 40), ai: so_far(ai, noise >> 50) }
    }
}

impl PageTrend {
    /// Returns the factor for the page's average views on this day, in thousandths.
    fn factor(self, day: i64) -> u64 {
        let thousandths = match self {
            Self::Steady => 1000,
            Self::Rising => 350 + 9 * day,
            Self::Falling => 1600 - 9 * day,
            Self::New(on) if day < on => 0,
            Self::New(on) => 120 * (day - on + 1),
            Self::Gone(on) if day >= on => 0,
            Self::Gone(_) => 900,
        };
        u64::try_from(thousandths).unwrap_or(0).min(1800)
    }
}

/// Returns the difference between the share of views by AI in the section of `path` and the site's share, in
/// thousandths. The difference is positive for references, which AI prefers, and negative for most other sections.
fn section_ai_bias(path: &str) -> i64 {
    match path.split('/').nth(1) {
        Some("api" | "llms.txt" | "mcp") => 260,
        Some("sdks" | "cli") => 120,
        Some("pricing" | "changelog" | "support" | "status") => -110,
        _ => -20,
    }
}

/// Returns the share of the day's views that has arrived by `now`, in millionths. It grows every minute.
fn counted_share_of_day(now: Time) -> u64 {
    let hour = usize::try_from(now.hour()).unwrap_or(0);
    let earlier_hours: u64 = HOURLY_SHARES.iter().take(hour).sum();
    let this_hour = HOURLY_SHARES.get(hour).copied().unwrap_or(0);
    earlier_hours * 1000 + this_hour * 1000 * u64::from(now.minute()) / 60
}

#[cfg(test)]
#[path = "pages_tests.rs"]
mod tests;
