//! The feedback of readers about pages (votes and comments), as a list and counted by page.

use super::events::{EventRates, Mood, ReaderEvent, ReportInputs};
use super::parameters::{FeedbackFilter, SimRange};
use super::texts::{AGENT_REPORTS, CODE_EXAMPLES, CODE_REPORTS, CONTACTS, CodeExample, PRAISE, complaints};
use super::topics::{SiteSection, SiteTopic};
use crate::model::Time;
use crate::sim::rng::mix;
use chrono::TimeDelta;
use std::collections::HashMap;

const RATES: EventRates = EventRates { rng_stream: 0xfeed, normal_page_rate: 430, problem_page_rate: 2_100 };

/// One piece of feedback without its texts. [`FeedbackEntry::text`] creates these when they are needed.
#[derive(Debug, Clone, Copy)]
pub(super) struct FeedbackEntry {
    event: ReaderEvent,
    /// Where the reader gave the feedback, in the service's words.
    pub(super) source: &'static str,
    /// The status in the service's words.
    pub(super) status: &'static str,
    /// The vote; `None` for feedback about a code example.
    pub(super) is_helpful: Option<bool>,
}

/// The texts of one piece of feedback.
#[derive(Debug)]
pub(super) struct FeedbackText {
    pub(super) comment: Option<String>,
    pub(super) contact: Option<&'static str>,
    pub(super) code: Option<&'static CodeExample>,
}

/// The feedback about one page, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct SimPageFeedback {
    pub(super) up: u64,
    pub(super) down: u64,
    pub(super) code: u64,
    pub(super) total: u64,
}

/// Returns the feedback of a range, newest first.
pub(super) fn entries(inputs: ReportInputs<'_>, range: SimRange) -> Vec<FeedbackEntry> {
    let events = inputs.events(range, RATES).into_iter();
    events.map(|event| FeedbackEntry::new(event, inputs)).collect()
}

impl FeedbackFilter {
    pub(super) fn accepts(&self, entry: &FeedbackEntry) -> bool {
        self.source.is_none_or(|source| source == entry.source)
            && self.status.is_none_or(|status| status == entry.status)
    }
}

impl FeedbackEntry {
    fn new(event: ReaderEvent, inputs: ReportInputs<'_>) -> Self {
        let section = SiteTopic::from_path(inputs.site.path(event.page)).section;
        let has_code = matches!(section, SiteSection::Api | SiteSection::Sdk);
        let comments = if event.mood == Mood::Annoyed { 56 } else { 26 };
        let source = match event.random_below(1, 100) {
            0..12 if has_code => "code_snippet",
            n if n < comments => "contextual",
            n if n < comments + 4 => "agent",
            _ => "thumbs_only",
        };
        let down = match event.mood {
            Mood::Satisfied => 230,
            Mood::Annoyed => 720,
            Mood::Relieved => 90,
        };
        let is_helpful = match source {
            "code_snippet" => None,
            // Agents only report problems.
            "agent" => Some(false),
            _ => Some(event.random_below(2, 1_000) >= down),
        };
        let mut entry = Self { event, source, status: "pending", is_helpful };
        entry.status = entry.status_at(inputs.now);
        entry
    }

    /// Returns the status at the time `now`. Votes without a comment stay pending.
    fn status_at(&self, now: Time) -> &'static str {
        if self.source == "thumbs_only" {
            return "pending";
        }
        let age = now - self.event.at;
        let handled_after = TimeDelta::hours(i64::try_from(30 + self.event.random_below(3, 1_000)).unwrap_or(0));
        if self.event.fixed_at.is_some_and(|at| at <= now) {
            return "resolved";
        }
        match self.event.random_below(4, 10) {
            0..6 if age >= handled_after => "resolved",
            6..8 if age >= handled_after => "dismissed",
            0..5 if age >= handled_after / 2 => "in_progress",
            _ => "pending",
        }
    }

    /// Returns the id. It reveals neither the page nor the time.
    pub(super) fn id(&self) -> String {
        format!("{:016x}{:08x}", mix(self.event.noise), mix(self.event.noise ^ 1) >> 32)
    }

    /// Returns the position in the list. The list is sorted by position in descending order, so newer feedback comes
    /// first.
    pub(super) fn position(&self) -> [u64; 2] {
        [u64::try_from(self.event.at.timestamp()).unwrap_or(0), self.event.noise]
    }

    pub(super) fn page(&self) -> u32 {
        self.event.page
    }

    pub(super) fn created_at(&self) -> Time {
        self.event.at
    }

    pub(super) fn text(&self, inputs: ReportInputs<'_>) -> FeedbackText {
        let topic = SiteTopic::from_path(inputs.site.path(self.event.page));
        let comment = match (self.source, self.is_helpful) {
            ("code_snippet", _) => self.event.choose(5, &CODE_REPORTS),
            ("agent", _) => self.event.choose(5, &AGENT_REPORTS),
            ("contextual", Some(true)) => self.event.choose(5, &PRAISE),
            ("contextual", _) => self.event.choose(5, complaints(topic.section)),
            _ => "",
        };
        let has_contact = self.source == "contextual" && self.event.random_below(6, 10) < 4;
        let language = topic.example_language.map_or("bash", |(language, _)| language);
        let example = CODE_EXAMPLES.iter().find(|example| example.language == language);
        FeedbackText {
            comment: (!comment.is_empty()).then(|| topic.fill_placeholders(comment)),
            contact: has_contact.then(|| self.event.choose(7, &CONTACTS)),
            code: example.filter(|_| self.source == "code_snippet"),
        }
    }
}

/// Counts the feedback of each page. The page with the most feedback comes first.
pub(super) fn count_by_page<'a>(
    entries: impl Iterator<Item = &'a FeedbackEntry>,
    inputs: ReportInputs<'_>,
) -> Vec<(u32, SimPageFeedback)> {
    let mut pages: HashMap<u32, SimPageFeedback> = HashMap::new();
    for entry in entries {
        let votes = pages.entry(entry.event.page).or_default();
        match entry.is_helpful {
            Some(true) => votes.up += 1,
            Some(false) => votes.down += 1,
            None => votes.code += 1,
        }
        votes.total += 1;
    }
    let mut pages: Vec<_> = pages.into_iter().collect();
    pages.sort_unstable_by(|(a, of_a), (b, of_b)| {
        of_b.total.cmp(&of_a.total).then_with(|| inputs.site.path(*a).cmp(inputs.site.path(*b)))
    });
    pages
}
