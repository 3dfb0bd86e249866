//! The site's page views: for each page and day two whole numbers, computed from the seed whenever they are asked for.
//!
//! A few pages are read much and most hardly ever; weekends are quiet; the share of AI grows; some pages rise, fall,
//! are new or vanish. Days count from the first of a month, so that a restart in the same month tells the same past.
//! Which range and which rows of it are wanted is `views`' matter.

use super::paths::paths;
use super::rng::{SeededRng, mix};
use crate::model::Time;
use chrono::{Datelike, Days, NaiveDate, Timelike};

/// Days with views, today included.
pub(super) const HISTORY: u64 = 120;

/// Thousandths of a mean day, Monday first. Programs read at weekends, too.
const WEEK_HUMAN: [u64; 7] = [1080, 1170, 1150, 1110, 950, 420, 470];
const WEEK_AI: [u64; 7] = [1020, 1050, 1040, 1030, 990, 920, 940];

/// Thousandths of a day's views in each hour, UTC.
const DAY: [u64; 24] = [25, 22, 20, 20, 22, 26, 32, 42, 52, 58, 60, 58, 55, 58, 62, 62, 60, 54, 46, 40, 36, 34, 30, 26];

/// A site with its pages. About a hundred bytes a page; the counts themselves are not stored.
#[derive(Debug)]
pub(super) struct Site {
    pages: Vec<SimPage>,
    epoch: NaiveDate,
    first_day: NaiveDate,
}

#[derive(Debug)]
struct SimPage {
    path: Box<str>,
    seed: u64,
    /// Views on a mean day, in thousandths.
    mean: u32,
    /// Lean towards AI, in thousandths added to the site's share.
    lean: i64,
    trend: PageTrend,
}

#[derive(Debug, Clone, Copy)]
enum PageTrend {
    Steady,
    Rising,
    Falling,
    /// New on that day.
    Born(i64),
    /// Gone from that day on.
    Gone(i64),
}

/// One day, and all that is the same for every page on it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Day {
    index: i64,
    human: u64,
    ai: u64,
    ai_share: i64,
    /// How much of the day is over, in millionths.
    over: u64,
}

/// Views of one page, or of more than one together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Sum {
    pub(super) human: u64,
    pub(super) ai: u64,
}

impl Sum {
    pub(super) fn total(self) -> u64 {
        self.human + self.ai
    }

    fn add(&mut self, other: Self) {
        self.human += other.human;
        self.ai += other.ai;
    }
}

impl Site {
    /// A site of `count` pages whose history ends `now`.
    pub(super) fn new(seed: u64, count: u32, now: Time) -> Self {
        let today = now.date_naive();
        let first_day = today.checked_sub_days(Days::new(HISTORY - 1)).unwrap_or(today);
        let epoch = first_day.with_day(1).unwrap_or(first_day);
        let pages = paths(seed, count).into_iter().zip(1_u32..).map(|(path, rank)| SimPage::new(seed, path, rank));
        Self { pages: pages.collect(), epoch, first_day }
    }

    /// The path of a page by its place.
    pub(super) fn path(&self, place: u32) -> &str {
        usize::try_from(place).ok().and_then(|place| self.pages.get(place)).map_or("", |page| &page.path)
    }

    /// The days of a range that have views: none before the history, none after today.
    pub(super) fn days(&self, from: NaiveDate, before: NaiveDate, now: Time) -> Vec<Day> {
        let today = now.date_naive();
        let from = from.max(self.first_day);
        let days = from.iter_days().take_while(|day| *day < before && *day <= today);
        days.map(|day| self.day(day, if day == today { part_of_day(now) } else { 1_000_000 })).collect()
    }

    /// Views of every page on those days together, in the pages' order.
    pub(super) fn sums<'a>(&'a self, days: &'a [Day]) -> impl Iterator<Item = Sum> + 'a {
        self.pages.iter().map(move |page| {
            let mut sum = Sum::default();
            for day in days {
                sum.add(page.views(day));
            }
            sum
        })
    }

    fn day(&self, date: NaiveDate, over: u64) -> Day {
        let index = (date - self.epoch).num_days();
        let weekday = usize::try_from(date.weekday().num_days_from_monday()).unwrap_or(0);
        let grown = 1000 + u64::try_from(index).unwrap_or(0);
        let of_week = |week: [u64; 7]| week.get(weekday).copied().unwrap_or(1000) * grown / 1000;
        Day { index, human: of_week(WEEK_HUMAN), ai: of_week(WEEK_AI), ai_share: 90 + index * 13 / 10, over }
    }
}

impl SimPage {
    fn new(seed: u64, path: Box<str>, rank: u32) -> Self {
        let mut draw = SeededRng::new(seed, (6 << 32) + u64::from(rank));
        // The long tail: the mean falls with the rank to the power of 1.5.
        let from_top = u64::from(rank) + 6;
        let mean = 35_000_000_000 / from_top.saturating_pow(3).saturating_mul(1_000_000).isqrt().max(1);
        let is_known = rank <= 12;
        let mean = mean * u64::from(if is_known { draw.between(960, 1040) } else { draw.between(650, 1400) }) / 1000;
        let trend = match if is_known { 0 } else { draw.between(0, 99) } {
            0..52 => PageTrend::Steady,
            52..68 => PageTrend::Rising,
            68..82 => PageTrend::Falling,
            82..92 => PageTrend::Born(i64::from(draw.between(12, 146))),
            _ => PageTrend::Gone(i64::from(draw.between(50, 146))),
        };
        let lean = i64::from(draw.between(0, 160)) - 80 + lean_of(&path);
        Self { path, seed: draw.next(), mean: u32::try_from(mean).unwrap_or(u32::MAX), lean, trend }
    }

    fn views(&self, day: &Day) -> Sum {
        let mean = u64::from(self.mean) * self.trend.factor(day.index) / 1000;
        if mean == 0 {
            return Sum::default();
        }
        let ai_share = u64::try_from((day.ai_share + self.lean).clamp(20, 930)).unwrap_or(0);
        let luck = mix(self.seed ^ u64::try_from(day.index).unwrap_or(0).wrapping_mul(0x2545_f491_4f6c_dd1d));
        let (of_human, of_ai) = (luck & 0xffff, (luck >> 16) & 0xffff);
        // One day in sixty a crawler comes by.
        let crawled = if (luck >> 32).is_multiple_of(60) { 2400 } else { 1000 };
        let human = mean * (1000 - ai_share) / 1000 * day.human / 1000 * (860 + of_human % 281) / 1000;
        let ai = mean * ai_share / 1000 * day.ai / 1000 * (800 + of_ai % 401) / 1000 * crawled / 1000;
        let so_far = |thousandths: u64, luck: u64| (thousandths + luck % 1000) / 1000 * day.over / 1_000_000;
        Sum { human: so_far(human, luck >> 40), ai: so_far(ai, luck >> 50) }
    }
}

impl PageTrend {
    /// In thousandths of the mean.
    fn factor(self, day: i64) -> u64 {
        let thousandths = match self {
            Self::Steady => 1000,
            Self::Rising => 350 + 9 * day,
            Self::Falling => 1600 - 9 * day,
            Self::Born(on) if day < on => 0,
            Self::Born(on) => 120 * (day - on + 1),
            Self::Gone(on) if day >= on => 0,
            Self::Gone(_) => 900,
        };
        u64::try_from(thousandths).unwrap_or(0).min(1800)
    }
}

/// Programs read references; people read guides.
fn lean_of(path: &str) -> i64 {
    match path.split('/').nth(1) {
        Some("api" | "llms.txt" | "mcp") => 260,
        Some("sdks" | "cli") => 120,
        Some("pricing" | "changelog" | "support" | "status") => -110,
        _ => -20,
    }
}

/// How much of the day's views has come by now, in millionths; grows minute by minute.
fn part_of_day(now: Time) -> u64 {
    let hour = usize::try_from(now.hour()).unwrap_or(0);
    let before: u64 = DAY.iter().take(hour).sum();
    let this_hour = DAY.get(hour).copied().unwrap_or(0);
    before * 1000 + this_hour * 1000 * u64::from(now.minute()) / 60
}

#[cfg(test)]
#[path = "pages_tests.rs"]
mod tests;
