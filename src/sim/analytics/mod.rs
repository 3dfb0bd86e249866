//! The reports of the simulated service besides page views. Everything is computed from the seed when it is needed, and
//! fits the page views: pages that lose readers get more thumbs down, complaints and unanswered questions, until a job
//! about them is merged.
//!
//! `events` has what readers did on which page; `visitors`, `searches`, `feedback` and `questions` the reports;
//! `topics`, `texts` and `question_texts` the texts of readers; `parameters` and `cursors` the contents of a request;
//! `rows` the rows as a client decodes them.

mod cursors;
mod events;
mod feedback;
mod parameters;
mod question_texts;
mod questions;
mod rows;
mod searches;
mod texts;
mod topics;
mod visitors;

pub(super) use events::{FirstMerges, ReportInputs};
pub(super) use parameters::RowsQuery;
pub use rows::SimulatedRow;

use crate::model::Time;
use crate::model::analytics::AnalyticsKind;
use crate::model::time_format::json_time;
use crate::sim::pages::Site;
use crate::sim::views::counts_body;
use feedback::FeedbackEntry;
use parameters::SimRange;
use questions::{AskedQuestion, QuestionOutcome};
use searches::{SearchTexts, SimSearch};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use visitors::SimVisitors;

/// The error message for a request with a cursor that the service did not send. The response has status 400.
const INVALID_CURSOR_MESSAGE: &str = "cursor is not valid";

/// Computes the responses of the reports, and keeps the last computed list of each report. A client that loads all rows
/// of a report within the same minute gets every response from the same list.
#[derive(Debug, Default)]
pub(super) struct SimAnalytics {
    texts: OnceLock<SearchTexts>,
    visitors: ReportCache<SimVisitors>,
    searches: ReportCache<Vec<SimSearch>>,
    feedback: ReportCache<Vec<FeedbackEntry>>,
    questions: ReportCache<Vec<AskedQuestion>>,
}

/// The last computed value of a report. It is reused while the range, the minute and the merged pull requests stay the
/// same.
#[derive(Debug)]
struct ReportCache<T>(Mutex<Option<ComputedValue<T>>>);

/// A value, with the range, the time and the merged pull requests for which it was computed.
#[derive(Debug)]
struct ComputedValue<T> {
    range: SimRange,
    now: Time,
    merges: FirstMerges,
    value: Arc<T>,
}

impl<T> Default for ReportCache<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T> ReportCache<T> {
    fn get_or_compute(&self, inputs: ReportInputs<'_>, range: SimRange, compute: impl FnOnce() -> T) -> Arc<T> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = last.as_ref()
            && (known.range, known.now) == (range, inputs.now)
            && known.merges == *inputs.merges
        {
            return Arc::clone(&known.value);
        }
        let value = Arc::new(compute());
        let merges = inputs.merges.clone();
        *last = Some(ComputedValue { range, now: inputs.now, merges, value: Arc::clone(&value) });
        value
    }
}

impl SimAnalytics {
    /// Returns the rows that the query asks for, or a message if the cursor is not valid.
    pub(super) fn response(
        &self,
        kind: AnalyticsKind,
        query: &RowsQuery,
        inputs: ReportInputs<'_>,
    ) -> Result<Value, &'static str> {
        match kind {
            AnalyticsKind::Visitors => Ok(self.visitors_body(query, inputs)),
            AnalyticsKind::Searches => self.searches_body(query, inputs),
            AnalyticsKind::Feedback => self.feedback_body(query, inputs),
            AnalyticsKind::FeedbackByPage => Ok(self.feedback_by_page_body(query, inputs)),
            AnalyticsKind::Questions => self.questions_body(query, inputs),
        }
    }

    /// Returns the conversation with this id, or `None` if there is none.
    pub(super) fn conversation(&self, id: &str, inputs: ReportInputs<'_>) -> Option<Value> {
        let asked_question = questions::find_question(inputs, id)?;
        let messages: Vec<Value> = asked_question
            .messages(inputs.site)
            .into_iter()
            .map(|message| {
                json!({ "id": message.id, "role": message.role, "content": message.content,
                        "createdAt": json_time(message.at) })
            })
            .collect();
        Some(json!({ "threadId": id, "createdAt": json_time(asked_question.asked_at()), "messages": messages }))
    }

    fn visitors(&self, range: SimRange, inputs: ReportInputs<'_>) -> Arc<SimVisitors> {
        self.visitors.get_or_compute(inputs, range, || SimVisitors::new(inputs, range))
    }

    fn searches(&self, range: SimRange, inputs: ReportInputs<'_>) -> Arc<Vec<SimSearch>> {
        let texts = self.texts.get_or_init(|| SearchTexts::new(inputs.site));
        self.searches.get_or_compute(inputs, range, || texts.searches_in_range(inputs, range))
    }

    fn feedback(&self, range: SimRange, inputs: ReportInputs<'_>) -> Arc<Vec<FeedbackEntry>> {
        self.feedback.get_or_compute(inputs, range, || feedback::entries(inputs, range))
    }

    fn questions(&self, range: SimRange, inputs: ReportInputs<'_>) -> Arc<Vec<AskedQuestion>> {
        self.questions.get_or_compute(inputs, range, || questions::questions(inputs, range))
    }

    fn visitors_body(&self, query: &RowsQuery, inputs: ReportInputs<'_>) -> Value {
        let visitors = self.visitors(query.range, inputs);
        let rows = visitors.pages.iter().skip(query.offset).take(query.limit);
        let rows: Vec<Value> = rows
            .map(|(page, of)| {
                json!({ "path": inputs.site.path(*page), "human": of.human, "ai": of.ai, "total": of.total() })
            })
            .collect();
        let has_more = visitors.pages.len() > query.offset.saturating_add(query.limit);
        json!({ "totals": counts_body(visitors.totals), "visitors": rows, "hasMore": has_more })
    }

    /// The cursor contains the minute of the first response, so that all responses come from the same list.
    fn searches_body(&self, query: &RowsQuery, inputs: ReportInputs<'_>) -> Result<Value, &'static str> {
        let number = query.cursor_list_id(AnalyticsKind::Searches);
        let position =
            query.cursor.as_deref().map(|cursor| cursors::decode(number, cursor).ok_or(INVALID_CURSOR_MESSAGE));
        let minute = u64::try_from(inputs.now.timestamp()).unwrap_or(0);
        let [minute, offset] = position.transpose()?.unwrap_or([minute, 0]);
        let at = i64::try_from(minute).ok().and_then(|seconds| Time::from_timestamp(seconds, 0));
        let searches = self.searches(query.range, ReportInputs { now: at.unwrap_or(inputs.now), ..inputs });
        let skipped = usize::try_from(offset).unwrap_or(usize::MAX);
        let rows = searches.iter().skip(skipped).take(query.limit).map(|search| search_row(search, inputs.site));
        let end = skipped.saturating_add(query.limit);
        let has_more = query.should_claim_more_rows || searches.len() > end;
        let next = has_more.then(|| cursors::encode(number, [minute, u64::try_from(end).unwrap_or(u64::MAX)]));
        let total: u64 = searches.iter().map(|search| search.hits).sum();
        Ok(json!({ "searches": rows.collect::<Vec<_>>(), "totalSearches": total, "nextCursor": next }))
    }

    /// The cursor is the position of the response's last row. The next response starts after that row, even if newer
    /// rows have been added at the top of the list.
    fn feedback_body(&self, query: &RowsQuery, inputs: ReportInputs<'_>) -> Result<Value, &'static str> {
        let number = query.cursor_list_id(AnalyticsKind::Feedback);
        let position =
            query.cursor.as_deref().map(|cursor| cursors::decode(number, cursor).ok_or(INVALID_CURSOR_MESSAGE));
        let after = position.transpose()?;
        let entries = self.feedback(query.range, inputs);
        let mut rest = entries
            .iter()
            .filter(|entry| query.filter.accepts(entry))
            .skip_while(|entry| after.is_some_and(|after| entry.position() >= after))
            .peekable();
        let page: Vec<&FeedbackEntry> = rest.by_ref().take(query.limit).collect();
        let has_more = query.should_claim_more_rows || rest.peek().is_some();
        let last = page.last().map(|entry| entry.position()).or(after).unwrap_or_default();
        let next = has_more.then(|| cursors::encode(number, last));
        let rows: Vec<Value> = page.into_iter().map(|entry| feedback_row(entry, inputs)).collect();
        Ok(json!({ "feedback": rows, "nextCursor": next, "hasMore": has_more }))
    }

    fn feedback_by_page_body(&self, query: &RowsQuery, inputs: ReportInputs<'_>) -> Value {
        let entries = self.feedback(query.range, inputs);
        let pages = feedback::count_by_page(entries.iter().filter(|entry| query.filter.accepts(entry)), inputs);
        let rows = pages.iter().take(query.limit).map(|(page, votes)| {
            json!({ "path": inputs.site.path(*page), "thumbsUp": votes.up, "thumbsDown": votes.down,
                    "code": votes.code, "total": votes.total })
        });
        json!({ "feedback": rows.collect::<Vec<_>>(), "hasMore": pages.len() > query.limit })
    }

    /// The cursor is the id of the last row in the response.
    fn questions_body(&self, query: &RowsQuery, inputs: ReportInputs<'_>) -> Result<Value, &'static str> {
        let after = query.cursor.as_deref();
        if after.is_some_and(|after| !questions::is_question_id(after)) {
            return Err(INVALID_CURSOR_MESSAGE);
        }
        let asked_questions = self.questions(query.range, inputs);
        let is_before =
            |asked_question: &AskedQuestion| after.is_some_and(|after| asked_question.id().as_str() >= after);
        let start = asked_questions.partition_point(is_before);
        let rest = asked_questions.get(start..).unwrap_or_default();
        let page = rest.get(..query.limit.min(rest.len())).unwrap_or_default();
        let has_more = query.should_claim_more_rows || rest.len() > page.len();
        let last = page.last().map(AskedQuestion::id).or_else(|| after.map(str::to_owned));
        let rows: Vec<Value> = page.iter().map(|asked_question| question_row(asked_question, inputs.site)).collect();
        Ok(json!({ "conversations": rows, "nextCursor": last.filter(|_| has_more), "hasMore": has_more }))
    }
}

fn search_row(search: &SimSearch, site: &Site) -> Value {
    let rate = f64::from(search.clicks_per_ten_thousand) / 10_000.0;
    json!({ "searchQuery": search.text, "hits": search.hits, "ctr": rate,
            "topClickedPage": search.page.map(|page| site.path(page)), "lastSearchedAt": json_time(search.last_search_at) })
}

fn feedback_row(entry: &FeedbackEntry, inputs: ReportInputs<'_>) -> Value {
    let text = entry.text(inputs);
    let mut row = json!({ "id": entry.id(), "path": inputs.site.path(entry.page()), "comment": text.comment,
                          "createdAt": json_time(entry.created_at()), "source": entry.source, "status": entry.status });
    let others = match text.code {
        Some(example) => json!({ "code": example.code, "filename": example.filename, "lang": example.language }),
        None => json!({ "helpful": entry.is_helpful, "contact": text.contact }),
    };
    if let (Some(row), Value::Object(others)) = (row.as_object_mut(), others) {
        row.extend(others);
    }
    row
}

fn question_row(asked_question: &AskedQuestion, site: &Site) -> Value {
    let text = asked_question.text(site);
    let kind = if asked_question.outcome == QuestionOutcome::Clarifying { "clarifying_question" } else { "answer" };
    let resolution = if asked_question.outcome == QuestionOutcome::Unanswered { "unanswered" } else { "answered" };
    let sources: Vec<Value> =
        text.sources.into_iter().map(|(title, url)| json!({ "title": title, "url": url })).collect();
    json!({ "id": asked_question.id(), "timestamp": json_time(asked_question.asked_at()), "query": text.query,
            "response": text.response, "responseType": kind, "sources": sources, "resolutionStatus": resolution,
            "queryCategory": text.category, "pageUrl": text.page })
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
