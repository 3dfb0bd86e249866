//! The rows of the reports. Their JSON uses the service's field names, and is both stored and exported.

use super::{AnalyticsKind, AnalyticsRow};
use crate::model::text::CleanText;
use crate::model::views::{Count, DecimalCount};
use crate::model::{Time, time_format};
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Deserializer, Serialize};
use std::borrow::Cow;

/// Deserializes a text with its line breaks, which the `Deserialize` of [`CleanText`] does not keep.
fn deserialize_multiline<'de, D: Deserializer<'de>>(deserializer: D) -> Result<CleanText, D::Error> {
    Ok(CleanText::block(&String::deserialize(deserializer)?))
}

/// Like [`deserialize_multiline`], but also accepts null.
fn deserialize_optional_multiline<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<CleanText>, D::Error> {
    Ok(Option::<String>::deserialize(deserializer)?.map(|text| CleanText::block(&text)))
}

/// A text that readers searched for.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Search {
    #[serde(rename = "searchQuery")]
    pub query: CleanText,
    /// How often readers searched for the text.
    pub hits: Count,
    /// The share of searches after which a result was clicked, 0 to 1.
    #[serde(rename = "ctr")]
    pub click_rate: Count,
    /// The page that was clicked most often; `None` if nobody clicked.
    #[serde(rename = "topClickedPage")]
    pub top_page: Option<CleanText>,
    #[serde(with = "time_format")]
    pub last_searched_at: Option<Time>,
}

impl Search {
    /// Whether nobody clicked a result. The service doesn't report whether there were results.
    pub fn is_unclicked(&self) -> bool {
        self.top_page.is_none() || matches!(self.click_rate, Count::Known(0))
    }

    /// Returns how many of the searches ended with a click on a result; `None` if that is unknown.
    pub fn searches_with_click(&self) -> Option<DecimalCount> {
        let clicked = self.hits.value()?.as_f64() * self.click_rate.value()?.as_f64();
        Count::from_f64(clicked.round())?.value()
    }
}

impl AnalyticsRow for Search {
    const KIND: AnalyticsKind = AnalyticsKind::Searches;

    fn key(&self) -> &CleanText {
        &self.query
    }
}

/// How far somebody has dealt with a reader's feedback.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FeedbackStatus {
    #[default]
    Pending,
    InProgress,
    Resolved,
    Dismissed,
    /// An unknown status, as received.
    #[serde(untagged)]
    Other(CleanText),
}

impl FeedbackStatus {
    /// Parses the service's word.
    pub fn parse(text: &str) -> Self {
        match text {
            "pending" => Self::Pending,
            "in_progress" => Self::InProgress,
            "resolved" => Self::Resolved,
            "dismissed" => Self::Dismissed,
            other => Self::Other(CleanText::line(other)),
        }
    }

    /// Returns the service's word.
    pub fn service_name(&self) -> &str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Resolved => "resolved",
            Self::Dismissed => "dismissed",
            Self::Other(text) => text.as_str(),
        }
    }

    /// Returns the status as a word for the screen.
    pub fn label(&self) -> &str {
        if *self == Self::InProgress { "in progress" } else { self.service_name() }
    }

    /// Whether the feedback still has to be dealt with: it is pending or in progress.
    pub fn is_open(&self) -> bool {
        matches!(self, Self::Pending | Self::InProgress)
    }
}

/// Feedback of a reader about a page. Contact addresses are not part of it, because they are never stored.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Feedback {
    pub id: CleanText,
    pub path: CleanText,
    /// What the reader wrote.
    #[serde(deserialize_with = "deserialize_optional_multiline")]
    pub comment: Option<CleanText>,
    #[serde(with = "time_format")]
    pub created_at: Option<Time>,
    /// Where the reader gave the feedback: `code_snippet`, `contextual`, `agent` or `thumbs_only`.
    pub source: Option<CleanText>,
    pub status: FeedbackStatus,
    /// The reader's vote; `None` for feedback about a code example.
    pub helpful: Option<bool>,
    /// The code example that the feedback is about.
    #[serde(deserialize_with = "deserialize_optional_multiline")]
    pub code: Option<CleanText>,
    /// The file name of the code example.
    pub filename: Option<CleanText>,
    /// The language of the code example.
    pub lang: Option<CleanText>,
}

impl AnalyticsRow for Feedback {
    const KIND: AnalyticsKind = AnalyticsKind::Feedback;

    fn key(&self) -> &CleanText {
        &self.id
    }
}

/// The feedback about a page, counted.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PageFeedback {
    pub path: CleanText,
    pub thumbs_up: Count,
    pub thumbs_down: Count,
    /// The number of comments about code examples.
    pub code: Count,
    pub total: Count,
}

impl AnalyticsRow for PageFeedback {
    const KIND: AnalyticsKind = AnalyticsKind::FeedbackByPage;

    fn key(&self) -> &CleanText {
        &self.path
    }
}

/// A page that the assistant used for an answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AnswerSource {
    pub title: CleanText,
    pub url: CleanText,
}

/// A question that a reader asked the assistant.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Question {
    pub id: CleanText,
    #[serde(rename = "timestamp", with = "time_format")]
    pub asked_at: Option<Time>,
    pub query: CleanText,
    #[serde(deserialize_with = "deserialize_multiline")]
    pub response: CleanText,
    /// Whether the assistant asked the reader a question in return instead of answering.
    #[serde(rename = "responseType", with = "response_type")]
    pub is_clarifying: bool,
    pub sources: Vec<AnswerSource>,
    /// Whether the question was answered; `None` if unknown.
    #[serde(rename = "resolutionStatus", with = "resolution_status")]
    pub is_answered: Option<bool>,
    #[serde(rename = "queryCategory")]
    pub category: Option<CleanText>,
    /// The page on which the reader asked the question.
    #[serde(rename = "pageUrl")]
    pub page: Option<CleanText>,
}

/// The kind of the assistant's answer, in the service's words.
mod response_type {
    use serde::{Deserialize as _, Deserializer, Serializer};

    const CLARIFYING: &str = "clarifying_question";

    pub(super) fn serialize<S: Serializer>(is_clarifying: &bool, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(if *is_clarifying { CLARIFYING } else { "answer" })
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
        Ok(Option::<String>::deserialize(deserializer)?.as_deref() == Some(CLARIFYING))
    }
}

/// Whether a question was answered, in the service's words.
mod resolution_status {
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer};

    pub(super) fn serialize<S: Serializer>(is_answered: &Option<bool>, serializer: S) -> Result<S::Ok, S::Error> {
        is_answered.map(|is_answered| if is_answered { "answered" } else { "unanswered" }).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<bool>, D::Error> {
        Ok(match Option::<String>::deserialize(deserializer)?.as_deref() {
            Some("answered") => Some(true),
            Some("unanswered") => Some(false),
            _ => None,
        })
    }
}

impl Question {
    /// Returns the id of the conversation. `None` if the service sent none.
    pub fn conversation_id(&self) -> Option<&CleanText> {
        Some(&self.id).filter(|id| !id.as_str().starts_with(GENERATED_ID_PREFIX))
    }

    /// Returns the page that the question is about: the page on which the reader asked it, or the first source of the
    /// answer if that page is unknown.
    pub fn subject_page(&self) -> Option<Cow<'_, str>> {
        let source = || self.sources.first().map(|source| &source.url);
        self.page.as_ref().or_else(source).map(borrowed_page_path)
    }
}

impl AnalyticsRow for Question {
    const KIND: AnalyticsKind = AnalyticsKind::Questions;

    fn key(&self) -> &CleanText {
        &self.id
    }
}

/// The prefix of the ids that docdeck generates for rows without an id.
pub const GENERATED_ID_PREFIX: &str = "(no id)";

/// A message of a conversation with the assistant. Messages are not stored.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ConversationMessage {
    /// The id of the message; empty if the service sends none.
    pub id: CleanText,
    /// Who wrote the message, in the service's word, such as `user`; empty if unknown.
    pub role: CleanText,
    /// The text, which may have several lines.
    pub content: CleanText,
    pub created_at: Option<Time>,
}

impl ConversationMessage {
    /// Whether the reader wrote the message, and not the assistant.
    pub fn is_by_reader(&self) -> bool {
        self.role.as_str().eq_ignore_ascii_case("user")
    }
}

/// Returns the path of a page, such as `/guides/sso`, given its path or web address. Removes the query, the fragment
/// and slashes at the end, and decodes percent-encoded characters.
pub fn page_path(address: &str) -> CleanText {
    CleanText::line(&uncleaned_page_path(address))
}

/// Like [`page_path`], but makes no copy if the address contains the path unchanged.
pub fn borrowed_page_path(address: &CleanText) -> Cow<'_, str> {
    match uncleaned_page_path(address.as_str()) {
        // A part of a clean text needs no cleaning, except that it can begin or end with spaces.
        Cow::Borrowed(path) => Cow::Borrowed(path.trim()),
        Cow::Owned(path) => Cow::Owned(CleanText::line(&path).to_string()),
    }
}

fn uncleaned_page_path(address: &str) -> Cow<'_, str> {
    let rest =
        address.split_once("://").map_or(address, |(_, rest)| rest.find('/').map_or("/", |at| rest.split_at(at).1));
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
    // Web addresses are percent-encoded, the paths of page views are not. Invalid UTF-8 is left as it is.
    let path = percent_decode_str(path).decode_utf8().unwrap_or(Cow::Borrowed(path));
    if path.starts_with('/') { path } else { Cow::Owned(format!("/{path}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_page_is_the_same_in_all_reports() {
        for address in [
            "/guides/sso",
            "guides/sso",
            "https://docs.acme.dev/guides/sso?q=1#top",
            "https://docs.acme.dev/guides/sso/",
        ] {
            assert_eq!(page_path(address).as_str(), "/guides/sso", "{address}");
            assert_eq!(borrowed_page_path(&CleanText::line(address)), "/guides/sso", "{address}");
        }
        assert_eq!(page_path("https://docs.acme.dev").as_str(), "/");
        assert_eq!(page_path("").as_str(), "/");
        assert_eq!(page_path("https://docs.acme.dev/de/%C3%BCbersicht").as_str(), "/de/übersicht");
        assert_eq!(page_path("/de/übersicht/%ff").as_str(), "/de/übersicht/%ff");
    }

    #[test]
    fn a_search_without_clicks_is_recognized_in_both_forms() {
        let search = |rate, page: Option<&str>| Search {
            click_rate: rate,
            top_page: page.map(CleanText::line),
            ..Search::default()
        };
        assert!(search(Count::Known(0), Some("/a")).is_unclicked());
        assert!(search(Count::Missing, None).is_unclicked());
        assert!(!search(Count::from_f64(0.5).expect("a count"), Some("/a")).is_unclicked());
    }

    #[test]
    fn every_row_survives_storing() {
        let question = Question {
            id: CleanText::line("q1"),
            query: CleanText::line("Which port?"),
            response: CleanText::block("I don't know.\nAsk support."),
            is_answered: Some(false),
            is_clarifying: true,
            sources: vec![AnswerSource { title: CleanText::line("SSO"), url: CleanText::line("/guides/sso") }],
            ..Question::default()
        };
        let json = serde_json::to_string(&question).expect("JSON");
        assert!(json.contains(r#""responseType":"clarifying_question""#), "{json}");
        assert!(json.contains(r#""resolutionStatus":"unanswered""#), "{json}");
        assert_eq!(serde_json::from_str::<Question>(&json).expect("read"), question);
        let search = Search { click_rate: Count::from_f64(0.25).expect("a count"), ..Search::default() };
        let json = serde_json::to_string(&search).expect("JSON");
        assert!(json.contains(r#""ctr":0.25,"topClickedPage":null"#), "{json}");
        assert_eq!(serde_json::from_str::<Search>(&json).expect("read"), search);
    }

    #[test]
    fn an_unknown_status_survives_storing() {
        for word in ["pending", "in_progress", "resolved", "dismissed", "escalated"] {
            let status = FeedbackStatus::parse(word);
            let json = serde_json::to_string(&status).expect("JSON");
            assert_eq!(json, format!("\"{word}\""));
            assert_eq!(serde_json::from_str::<FeedbackStatus>(&json).expect("read"), status);
        }
    }
}
