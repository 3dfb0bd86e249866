//! The questions that readers asked the assistant, and the conversations that they belong to.

use super::events::{EventRates, Mood, ReaderEvent, ReportInputs};
use super::parameters::SimRange;
use super::question_texts::{self, CLARIFYING_QUESTIONS, NO_ANSWERS, QuestionText};
use super::topics::{SiteSection, SiteTopic};
use crate::model::Time;
use crate::sim::jobs::{new_id, time_of_id};
use crate::sim::pages::Site;
use crate::sim::rng::SeededRng;
use chrono::TimeDelta;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::cmp::Reverse;

const RATES: EventRates = EventRates { rng_stream: 0xa55, normal_page_rate: 420, problem_page_rate: 2_000 };
/// The web address of the simulated site.
const SITE_URL: &str = "https://docs.acme.dev";
/// The characters that are encoded in the path of a web address.
const ENCODED_IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_');

/// One question without its texts. [`AskedQuestion::text`] creates these when they are needed.
#[derive(Debug, Clone, Copy)]
pub(super) struct AskedQuestion {
    event: ReaderEvent,
    pub(super) outcome: QuestionOutcome,
}

/// How the assistant reacted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum QuestionOutcome {
    Answered,
    Unanswered,
    /// The assistant asked a question in return.
    Clarifying,
}

/// The texts of one question.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct AskedQuestionText {
    pub(super) query: String,
    pub(super) response: String,
    /// The titles and web addresses of the pages from which the answer was made.
    pub(super) sources: Vec<(String, String)>,
    pub(super) category: Option<&'static str>,
    /// The web address of the page on which the question was asked.
    pub(super) page: Option<String>,
}

/// A message of a conversation.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SimMessage {
    pub(super) id: String,
    pub(super) role: &'static str,
    pub(super) content: String,
    pub(super) at: Time,
}

/// Returns the questions of a range, newest first.
pub(super) fn questions(inputs: ReportInputs<'_>, range: SimRange) -> Vec<AskedQuestion> {
    let mut asked_questions: Vec<AskedQuestion> =
        inputs.events(range, RATES).into_iter().map(AskedQuestion::new).collect();
    // Sorts by id, because the cursor of the list is an id. Events of the same second have ids in random order.
    asked_questions.sort_by_cached_key(|asked_question| Reverse(asked_question.id()));
    asked_questions
}

/// Returns the question that began a conversation, or `None` for an unknown id.
pub(super) fn find_question(inputs: ReportInputs<'_>, id: &str) -> Option<AskedQuestion> {
    let day = time_of_id(id)?.date_naive();
    let range = SimRange { from: day, exclusive_end: day.succ_opt()? };
    questions(inputs, range).into_iter().find(|asked_question| asked_question.id() == id)
}

/// Whether the text has the form of an id.
pub(super) fn is_question_id(text: &str) -> bool {
    time_of_id(text).is_some()
}

impl AskedQuestion {
    fn new(event: ReaderEvent) -> Self {
        let unanswered = match event.mood {
            Mood::Satisfied => 110,
            Mood::Annoyed => 470,
            Mood::Relieved => 40,
        };
        let outcome = match event.random_below(1, 1_000) {
            n if n < unanswered => QuestionOutcome::Unanswered,
            n if n >= 930 => QuestionOutcome::Clarifying,
            _ => QuestionOutcome::Answered,
        };
        Self { event, outcome }
    }

    /// Returns the id of the question and of its conversation. Newer ids are greater.
    pub(super) fn id(&self) -> String {
        new_id(self.event.at, &mut SeededRng::new(self.event.noise, RATES.rng_stream))
    }

    pub(super) fn asked_at(&self) -> Time {
        self.event.at
    }

    fn question(&self, section: SiteSection) -> &'static QuestionText {
        const NONE: QuestionText = QuestionText { query: "", answer: "", category: "" };
        let questions_of_section = question_texts::questions_of_section(section);
        let index = self.event.random_below(2, u64::try_from(questions_of_section.len()).unwrap_or(1));
        usize::try_from(index).ok().and_then(|index| questions_of_section.get(index)).unwrap_or(&NONE)
    }

    pub(super) fn text(&self, site: &Site) -> AskedQuestionText {
        let path = site.path(self.event.page);
        let topic = SiteTopic::from_path(path);
        let question = self.question(topic.section);
        let response = match self.outcome {
            QuestionOutcome::Answered => question.answer,
            QuestionOutcome::Unanswered => self.event.choose(3, &NO_ANSWERS),
            QuestionOutcome::Clarifying => self.event.choose(3, &CLARIFYING_QUESTIONS),
        };
        let mut sources = Vec::new();
        if self.outcome != QuestionOutcome::Clarifying {
            sources.push((topic.fill_placeholders("{Topic}"), web_address(path)));
        }
        if self.outcome == QuestionOutcome::Answered && self.event.random_below(4, 2) == 0 {
            let other = site.path(u32::try_from(self.event.random_below(5, 12)).unwrap_or(0));
            if other != path {
                sources.push((SiteTopic::from_path(other).fill_placeholders("{Topic}"), web_address(other)));
            }
        }
        AskedQuestionText {
            query: topic.fill_placeholders(question.query),
            response: topic.fill_placeholders(response),
            sources,
            category: (self.event.random_below(6, 100) >= 15).then_some(question.category),
            // Some questions have no page. A question with the outcome `Clarifying` always has one: it has no sources,
            // so nothing else would show which page it is about.
            page: (self.outcome == QuestionOutcome::Clarifying || self.event.random_below(7, 100) >= 25)
                .then(|| web_address(path)),
        }
    }

    /// Returns the messages of the conversation.
    pub(super) fn messages(&self, site: &Site) -> Vec<SimMessage> {
        let text = self.text(site);
        let mut contents = vec![("user", text.query), ("assistant", text.response)];
        if self.outcome == QuestionOutcome::Clarifying {
            let topic = SiteTopic::from_path(site.path(self.event.page));
            contents.push(("user", "The hosted one. There is no error message.".to_owned()));
            contents.push(("assistant", topic.fill_placeholders(self.question(topic.section).answer)));
        }
        let messages = contents.into_iter().zip(0_i64..).map(|((role, content), n)| {
            let at = self.event.at + TimeDelta::seconds(n * 9);
            let noise = self.event.noise ^ u64::try_from(n + 1).unwrap_or(0);
            SimMessage { id: new_id(at, &mut SeededRng::new(noise, RATES.rng_stream)), role, content, at }
        });
        messages.collect()
    }
}

fn web_address(path: &str) -> String {
    format!("{SITE_URL}{}", utf8_percent_encode(path, ENCODED_IN_PATH))
}
