//! What readers did on a page: when, and in which mood. These events are computed from the seed when they are needed.
//! Pages that lose readers get more complaints. After a job that changed a page is merged, the page gets fewer.

use super::parameters::SimRange;
use crate::model::Time;
use crate::sim::pages::{SimPage, Site};
use crate::sim::rng::mix;
use chrono::{NaiveTime, TimeDelta};
use std::collections::HashMap;

/// The data from which reports are computed.
#[derive(Debug, Clone, Copy)]
pub(in crate::sim) struct ReportInputs<'a> {
    pub(in crate::sim) site: &'a Site,
    pub(in crate::sim) merges: &'a FirstMerges,
    /// The current time, without seconds, so that a response stays the same for a minute.
    pub(in crate::sim) now: Time,
}

/// Maps the path of a page to the time at which the first job that changed the page was merged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::sim) struct FirstMerges(HashMap<String, Time>);

impl FirstMerges {
    /// Keeps the first merge of each page.
    pub(in crate::sim) fn new(pages: Vec<(String, Time)>) -> Self {
        let mut first = HashMap::new();
        for (page, at) in pages {
            let known = first.entry(page).or_insert(at);
            *known = at.min(*known);
        }
        Self(first)
    }

    fn merged_at(&self, page: &SimPage) -> Option<Time> {
        self.0.get(page.path()).copied()
    }
}

/// How a reader feels about a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mood {
    Satisfied,
    /// The page has a problem.
    Annoyed,
    /// A merged job has changed the page.
    Relieved,
}

/// Something that a reader did on a page.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReaderEvent {
    /// The index of the page.
    pub(super) page: u32,
    pub(super) at: Time,
    pub(super) mood: Mood,
    /// When a job that changed the page was merged after the event; `None` if there is no such job.
    pub(super) fixed_at: Option<Time>,
    /// A random number for this event.
    pub(super) noise: u64,
}

impl ReaderEvent {
    /// Returns a random number below `count`. The numbers for different values of `purpose` are independent.
    pub(super) fn random_below(&self, purpose: u64, count: u64) -> u64 {
        mix(self.noise ^ mix(purpose)) % count.max(1)
    }

    /// Returns a random element. The elements for different values of `purpose` are independent.
    pub(super) fn choose<'t>(&self, purpose: u64, texts: &[&'t str]) -> &'t str {
        let index = self.random_below(purpose, u64::try_from(texts.len()).unwrap_or(1));
        usize::try_from(index).ok().and_then(|index| texts.get(index)).copied().unwrap_or_default()
    }
}

/// How often events of one kind happen on a site with the default number of pages.
#[derive(Debug, Clone, Copy)]
pub(super) struct EventRates {
    /// The random stream of these events, which makes them independent of events of other kinds.
    pub(super) rng_stream: u64,
    /// The number of events per million human views on pages that have no problem, or whose problem is fixed.
    pub(super) normal_page_rate: u64,
    /// The number of events per million human views on pages with a problem.
    pub(super) problem_page_rate: u64,
}

impl ReportInputs<'_> {
    /// Returns all events of a range, newest first.
    pub(super) fn events(&self, range: SimRange, rates: EventRates) -> Vec<ReaderEvent> {
        let days = self.site.complete_days(range.from, range.exclusive_end, self.now);
        let size_factor = self.site.size_factor();
        let mut events = Vec::new();
        for (index, page) in self.site.pages() {
            let (has_problem, merged_at) = (has_problem(page), self.merges.merged_at(page));
            for day in &days {
                let human = page.views(day).human;
                if human == 0 {
                    continue;
                }
                let midnight = day.date().and_time(NaiveTime::MIN).and_utc();
                let is_annoying = has_problem && merged_at.is_none_or(|at| at > midnight);
                let rate = if is_annoying { rates.problem_page_rate } else { rates.normal_page_rate };
                let noise = mix(page.seed() ^ mix(rates.rng_stream ^ day.number()));
                for n in 0..(human * rate * size_factor + noise % 1_000_000) / 1_000_000 {
                    let noise = mix(noise ^ (n + 1));
                    let at = midnight + TimeDelta::seconds(i64::try_from(noise % 86_400).unwrap_or(0));
                    let is_fixed = merged_at.is_some_and(|merged| merged <= at);
                    let mood = match (is_fixed, has_problem) {
                        (true, _) => Mood::Relieved,
                        (false, true) => Mood::Annoyed,
                        (false, false) => Mood::Satisfied,
                    };
                    let fixed_at = merged_at.filter(|_| !is_fixed);
                    events.push(ReaderEvent { page: index, at, mood, fixed_at, noise });
                }
            }
        }
        events.retain(|event| event.at <= self.now);
        events.sort_unstable_by_key(|event| std::cmp::Reverse((event.at, event.noise)));
        events
    }
}

/// Whether readers dislike a page. They dislike every page that loses readers, and a few others, some of them popular.
pub(super) fn has_problem(page: &SimPage) -> bool {
    page.is_falling() || mix(page.seed() ^ 0x70b1).is_multiple_of(11)
}
