//! What readers search for: words from the paths of pages, and a few things that no page is about. After some searches,
//! readers never click a page.

use super::events::{ReportInputs, has_problem};
use super::parameters::SimRange;
use super::topics::SiteTopic;
use crate::model::Time;
use crate::sim::pages::{Day, SimPage, Site};
use crate::sim::rng::mix;
use chrono::{NaiveTime, TimeDelta};
use std::collections::HashSet;

/// Searches for things that no page is about.
const SEARCH_TEXTS_WITHOUT_PAGE: [&str; 16] = [
    "terraform provider",
    "docker image",
    "soc 2 report",
    "pdf download",
    "dark mode",
    "graphql",
    "vscode extension",
    "student discount",
    "air gapped install",
    "uptime sla",
    "ldap",
    "rtl languages",
    "epub",
    "ip allowlist",
    "kubernetes helm chart",
    "latex",
];
/// The approximate number of pages that readers search for, on a site with the default number of pages.
const SEARCHED_PAGE_COUNT: u64 = 48;

/// A text that readers search for.
#[derive(Debug)]
struct SearchText {
    text: String,
    /// The index of the page that the text is about; `None` if there is none.
    page: Option<u32>,
    seed: u64,
    /// The number of searches per thousand human views of the page. For a text without a page, the number of searches
    /// in ten thousand days.
    rate: u64,
    /// The share of searches after which the page is clicked, in thousandths.
    clicks_per_thousand: u64,
}

/// All texts that readers of a site search for.
#[derive(Debug)]
pub(super) struct SearchTexts(Vec<SearchText>);

/// A text that readers searched for, with its searches and clicks in a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SimSearch {
    pub(super) text: String,
    pub(super) hits: u64,
    /// The share of searches after which a result was clicked, in ten-thousandths.
    pub(super) clicks_per_ten_thousand: u32,
    /// The index of the page that was clicked most often; `None` if nobody clicked.
    pub(super) page: Option<u32>,
    pub(super) last_search_at: Time,
}

impl SearchTexts {
    pub(super) fn new(site: &Site) -> Self {
        let mut known = HashSet::new();
        let mut texts = Vec::new();
        let searched_page_count = SEARCHED_PAGE_COUNT * site.size_factor();
        let searched = site.pages().filter(|(index, page)| is_searched(*index, page, searched_page_count, site));
        for (index, page) in searched {
            let names = SiteTopic::from_path(page.path()).search_texts(page.seed());
            for (text, n) in names.into_iter().zip(0_u64..) {
                let seed = mix(page.seed() ^ mix(n ^ 0x5ea_7c4));
                let rate = if n == 0 { 6 + seed % 7 } else { 2 + seed % 3 };
                let leads_nowhere = seed % 1000 < if has_problem(page) { 420 } else { 90 };
                let clicks_per_thousand = if leads_nowhere { 0 } else { 280 + (seed >> 12) % 560 };
                if known.insert(text.clone()) {
                    texts.push(SearchText { text, page: Some(index), seed, rate, clicks_per_thousand });
                }
            }
        }
        let unknown = SEARCH_TEXTS_WITHOUT_PAGE.iter().zip(1_u64..).map(|(text, n)| {
            let seed = mix(n ^ 0x0dd);
            SearchText {
                text: (*text).to_owned(),
                page: None,
                seed,
                rate: 4_000 + seed % 26_000,
                clicks_per_thousand: 0,
            }
        });
        texts.extend(unknown);
        Self(texts)
    }

    /// Returns the searches of a range, most frequent first.
    pub(super) fn searches_in_range(&self, inputs: ReportInputs<'_>, range: SimRange) -> Vec<SimSearch> {
        let days = inputs.site.complete_days(range.from, range.exclusive_end, inputs.now);
        let arrived = inputs.site.days(range.from, range.exclusive_end, inputs.now);
        let days: Vec<(Day, Day)> = days.into_iter().zip(arrived).collect();
        let mut found: Vec<SimSearch> =
            self.0.iter().filter_map(|text| text.searches_on_days(&days, inputs.site, inputs.now)).collect();
        found.sort_unstable_by(|a, b| b.hits.cmp(&a.hits).then_with(|| a.text.cmp(&b.text)));
        found
    }
}

impl SearchText {
    /// Returns the searches for this text on these days, or `None` if there are none. Each day is given twice: with
    /// all views that it will have, and with the views that have arrived so far.
    fn searches_on_days(&self, days: &[(Day, Day)], site: &Site, now: Time) -> Option<SimSearch> {
        let page = self.page.and_then(|index| site.page(index));
        let (mut hits, mut last) = (0, None);
        for (day, arrived) in days {
            let noise = mix(self.seed ^ day.number());
            let today = match page {
                Some(page) => (page.views(day).human * self.rate + noise % 1_000) / 1_000,
                None => (self.rate * (700 + noise % 600) / 1_000 + (noise >> 20) % 10_000) / 10_000,
            };
            let today = arrived.counted_so_far(today);
            if today > 0 {
                hits += today;
                last = Some((day, noise));
            }
        }
        let (day, noise) = last?;
        let midnight = day.date().and_time(NaiveTime::MIN).and_utc();
        let second = i64::try_from((noise >> 30) % 86_400).unwrap_or(0);
        let last_search_at = (midnight + TimeDelta::seconds(second)).min(now);
        let clicks = hits * self.clicks_per_thousand / 1_000;
        let clicks_per_ten_thousand = u32::try_from(clicks * 10_000 / hits.max(1)).unwrap_or(0);
        let page = self.page.filter(|_| clicks_per_ten_thousand > 0);
        Some(SimSearch { text: self.text.clone(), hits, clicks_per_ten_thousand, page, last_search_at })
    }
}

/// Whether readers search for a page. They search for the most read pages, and for some of the others.
fn is_searched(index: u32, page: &SimPage, searched_page_count: u64, site: &Site) -> bool {
    let popular = searched_page_count / 2;
    let others = site.page_count().saturating_sub(popular).max(1);
    u64::from(index) < popular || mix(page.seed() ^ 0xf1d) % others < searched_page_count - popular
}
