//! Requests and decodes the reports other than page views, and conversations with the assistant. Decodes as tolerantly
//! as `decode`: a row is never lost; if a field is missing or of another type, only this field is lost.
//!
//! The texts that the site's readers wrote are cut to a length that a terminal can show. The readers' contact addresses
//! are never decoded.

use super::ApiResponse;
use super::client::{Client, OutgoingRequest, unusable_id_failure};
use super::decode::{NO_PATH, ROW_FIELDS, parse_count, parse_flag, parse_time};
use super::error::{ApiError, Unreadable};
use super::fields::{FieldValues, body_text, field_values, object_fields, parse_rows, scalar_text, truncated};
use super::response::BodyReader;
use crate::model::analytics::{
    AnalyticsKind, AnalyticsRow, AnswerSource, ConversationMessage, Cursor, Feedback, FeedbackStatus,
    GENERATED_ID_PREFIX, PageFeedback, Question, RowsResponse, Search,
};
use crate::model::endpoint::ApiKey;
use crate::model::hash::stable_hash;
use crate::model::log::Operation;
use crate::model::period::DateRange;
use crate::model::redaction::Redactor;
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, DecimalCount, PageRow};
use serde_json::value::RawValue;
use std::fmt::Debug;

/// The maximum number of characters of a text of several lines, such as a reader's comment or an answer.
const MAX_MULTILINE_TEXT_CHARS: usize = 10_000;
/// The maximum number of sources of an answer that are kept.
const MAX_ANSWER_SOURCES: usize = 50;
/// The text that is shown if the words of a search or the text of a question are missing.
const NO_QUERY: &str = "(no query)";

/// A row that [`Client::get_report_rows`] can request. Only this crate can implement this trait.
pub trait DecodableRow: AnalyticsRow + row::Decode {}

impl<R: AnalyticsRow + row::Decode> DecodableRow for R {}

/// The part of [`DecodableRow`] that other crates can neither call nor implement.
mod row {
    use super::{RawValue, TextReader};

    pub trait Decode: Sized {
        /// The name of the list of rows in a response.
        const LIST_FIELD: &'static str;

        /// Decodes the list of rows. Returns `None` if it is not a list.
        fn decode_list(raw: &RawValue, texts: &TextReader) -> Option<Vec<Self>>;
    }
}

/// A decoded response, before [`Self::into_response`] determines the cursor of the next request.
struct DecodedRows<R> {
    rows: Vec<R>,
    totals: Counts,
    has_more: Option<bool>,
    next: NextCursor,
}

/// The cursor in a response.
enum NextCursor {
    Missing,
    Usable(Cursor),
    /// The cursor is too long, contains the API key, or is neither text nor a number.
    Unusable,
}

impl Client {
    /// Fetches the first rows of a report other than page views, or the rows after `cursor`, which is from the previous
    /// response. Requests as many rows as one response can contain. Counts toward the hourly limit of analytics
    /// requests.
    ///
    /// A faulty service may return the same rows and the same cursor again and again, and then a load would never end.
    /// So the caller must stop when a response has no new rows.
    pub async fn get_report_rows<R: DecodableRow>(
        &self,
        range: DateRange,
        cursor: Option<&Cursor>,
    ) -> ApiResponse<RowsResponse<R>> {
        let Some(url) = self.address().analytics_url(R::KIND, range, cursor) else {
            return self.url_failure();
        };
        let outgoing = OutgoingRequest { operation: Operation::Analytics(R::KIND), url, body: None };
        self.request(outgoing, decode_rows::<R>).await.map(|response| response.into_response(cursor))
    }

    /// Fetches the messages of a conversation with the assistant, in the service's order. Counts toward the hourly
    /// limit of analytics requests.
    pub async fn get_question_thread(&self, id: &CleanText) -> ApiResponse<Vec<ConversationMessage>> {
        let Some(url) = self.address().thread_url(id.as_str()) else {
            return unusable_id_failure(id.clone());
        };
        self.request(OutgoingRequest { operation: Operation::Conversation, url, body: None }, decode_thread).await
    }
}

impl<R: AnalyticsRow> DecodedRows<R> {
    /// Determines the cursor of the next request, and whether there are rows that can't be requested. `requested` is
    /// the cursor of this response's request.
    fn into_response(self, requested: Option<&Cursor>) -> RowsResponse<R> {
        let limit = R::KIND.max_rows();
        // Some reports have no cursor in their responses. If such a response has the maximum number of rows and doesn't
        // state whether more rows follow, docdeck assumes that more rows follow.
        let is_full = self.rows.len() >= usize::try_from(limit).unwrap_or(usize::MAX);
        let (next, has_unavailable_rows) = match (R::KIND, self.has_more, self.next) {
            (AnalyticsKind::Visitors, has_more, _) => {
                let before: u64 = requested.and_then(|cursor| cursor.as_str().parse().ok()).unwrap_or(0);
                let next = before.saturating_add(limit.into()).to_string();
                (Cursor::new(next).filter(|_| has_more.unwrap_or(is_full)), false)
            }
            // The service has no parameter for further rows of this report.
            (AnalyticsKind::FeedbackByPage, has_more, _) => (None, has_more.unwrap_or(is_full)),
            (_, Some(false), _) => (None, false),
            (_, _, NextCursor::Usable(cursor)) => (Some(cursor), false),
            (_, _, NextCursor::Unusable) => (None, true),
            (_, has_more, NextCursor::Missing) => (None, has_more == Some(true)),
        };
        RowsResponse { rows: self.rows, totals: self.totals, next, has_unavailable_rows }
    }
}

impl BodyReader<'_> {
    /// Decodes the rows of a report in a complete response to the first request. `retry_after` is the value of the
    /// header `Retry-After`.
    ///
    /// # Errors
    /// Fails if the status is not 2xx, or if the body has no rows of this kind.
    pub fn rows<R: DecodableRow>(
        &self,
        status: u16,
        retry_after: Option<&str>,
        body: &[u8],
    ) -> Result<RowsResponse<R>, ApiError> {
        self.decode_complete_response(status, retry_after, body, decode_first_rows::<R>)
    }
}

/// Decodes the response to the first request for a report.
fn decode_first_rows<R: DecodableRow>(body: &[u8], key: &ApiKey) -> Result<RowsResponse<R>, Unreadable> {
    decode_rows(body, key).map(|response| response.into_response(None))
}

/// Decodes rows of a report. A response without a list of rows is rejected, because it would look like an empty
/// report.
fn decode_rows<R: DecodableRow>(body: &[u8], key: &ApiKey) -> Result<DecodedRows<R>, Unreadable> {
    let (body, texts) = (body_text(body), TextReader(Redactor::new(key)));
    let names = &[R::LIST_FIELD, "totals", "totalSearches", "hasMore", "nextCursor"];
    let [list, totals, searches, has_more, next] = object_fields(&body, names)?;
    let rows = list.and_then(|raw| R::decode_list(raw, &texts)).ok_or(Unreadable::NoRows)?;
    // The totals have the same fields as a row of visitors, except for the path.
    let [_, human, ai, total] = totals.map_or([None; 4], |raw| field_values(raw, &ROW_FIELDS));
    Ok(DecodedRows {
        rows,
        totals: texts.read_counts(human, ai, total.or(searches)),
        has_more: has_more.and_then(parse_flag),
        next: next.map_or(NextCursor::Missing, |raw| parse_cursor(raw, &texts.0)),
    })
}

fn parse_cursor(raw: &RawValue, redactor: &Redactor) -> NextCursor {
    let is_text_or_number = raw.get().starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit());
    match scalar_text(raw).filter(|_| is_text_or_number) {
        Some(text) if text.is_empty() => NextCursor::Missing,
        Some(text) if redactor.finds_key_in(&text) => NextCursor::Unusable,
        Some(text) => Cursor::new(text).map_or(NextCursor::Unusable, NextCursor::Usable),
        None if raw.get() == "false" => NextCursor::Missing,
        None => NextCursor::Unusable,
    }
}

fn decode_thread(body: &[u8], key: &ApiKey) -> Result<Vec<ConversationMessage>, Unreadable> {
    let (body, texts) = (body_text(body), TextReader(Redactor::new(key)));
    let [messages] = object_fields(&body, &["messages"])?;
    // A message may be a string, which is then its content.
    let rows = messages.and_then(|raw| parse_rows(raw, &["content", "id", "role", "createdAt"]));
    let messages = rows.ok_or(Unreadable::NoMessages)?.into_iter().map(|[content, id, role, created_at]| {
        let (id, role) =
            (texts.single_line_text(id).unwrap_or_default(), texts.single_line_text(role).unwrap_or_default());
        let content = texts.multiline_text(content).unwrap_or_default();
        ConversationMessage { id, role, content, created_at: created_at.and_then(parse_time) }
    });
    Ok(messages.collect())
}

/// Reads texts from a response and removes the API key from them.
#[derive(Debug)]
pub struct TextReader(Redactor);

impl TextReader {
    /// Returns text of one line, or `None` if nothing would be visible.
    fn single_line_text(&self, raw: Option<&RawValue>) -> Option<CleanText> {
        let mut text = CleanText::line(&scalar_text(raw?)?);
        // The key is removed before the text is cut, so that no part of it remains.
        self.0.redact_line(&mut text);
        let kept = truncated(text.as_str());
        if kept.len() < text.as_str().len() {
            text = CleanText::line(kept);
        }
        (!text.is_empty()).then_some(text)
    }

    fn read_count(&self, raw: Option<&RawValue>) -> Count {
        match parse_count(raw) {
            // `parse_count` may have cut the text in the middle of the key, so the key is looked for in the complete
            // value.
            Count::Other(_) if raw.is_some_and(|raw| self.contains_api_key(raw)) => Count::Missing,
            count => count,
        }
    }

    fn read_counts(&self, human: Option<&RawValue>, ai: Option<&RawValue>, total: Option<&RawValue>) -> Counts {
        Counts::new(self.read_count(human), self.read_count(ai), self.read_count(total))
    }

    fn contains_api_key(&self, raw: &RawValue) -> bool {
        let text = scalar_text(raw).unwrap_or_else(|| raw.get().into());
        self.0.finds_key_in(CleanText::line(&text).as_str())
    }

    /// Returns text of several lines, cut to [`MAX_MULTILINE_TEXT_CHARS`], or `None` if nothing would be visible.
    fn multiline_text(&self, raw: Option<&RawValue>) -> Option<CleanText> {
        let mut text = CleanText::block(&scalar_text(raw?)?);
        // The key is removed before the text is cut, so that no part of it remains.
        self.0.redact_block(&mut text);
        let kept = text.as_str().trim_end().trim_start_matches('\n');
        let end = kept.char_indices().nth(MAX_MULTILINE_TEXT_CHARS).and_then(|(end, _)| kept.get(..end));
        match end {
            Some(head) => Some(CleanText::block(&format!("{head}…"))),
            None if kept.trim().is_empty() => None,
            None if kept.len() < text.as_str().len() => Some(CleanText::block(kept)),
            None => Some(text),
        }
    }
}

/// Generates an id for a row without one. The same row always gets the same id.
fn derive_row_id(row: &impl Debug) -> CleanText {
    // The hash of the standard library may change with a Rust release, and then each row would get a new id.
    CleanText::line(&format!("{GENERATED_ID_PREFIX} {:016x}", stable_hash(format!("{row:?}").into_bytes())))
}

/// Decodes each row of a list with `decode`, which gets the values of the fields `names`. Returns `None` if `raw` is
/// not a list.
fn decode_each<R, const N: usize>(
    raw: &RawValue,
    names: &[&str; N],
    decode: impl Fn(FieldValues<'_, N>) -> R,
) -> Option<Vec<R>> {
    Some(parse_rows(raw, names)?.into_iter().map(decode).collect())
}

impl row::Decode for PageRow {
    const LIST_FIELD: &'static str = "visitors";

    fn decode_list(raw: &RawValue, texts: &TextReader) -> Option<Vec<Self>> {
        decode_each(raw, &ROW_FIELDS, |[path, human, ai, total]| Self {
            path: texts.single_line_text(path).unwrap_or_else(|| CleanText::line(NO_PATH)),
            counts: texts.read_counts(human, ai, total),
        })
    }
}

impl row::Decode for Search {
    const LIST_FIELD: &'static str = "searches";

    fn decode_list(raw: &RawValue, texts: &TextReader) -> Option<Vec<Self>> {
        let names = &["searchQuery", "hits", "ctr", "topClickedPage", "lastSearchedAt"];
        let mut rows = decode_each(raw, names, |[query, hits, click_rate, page, at]| Self {
            query: texts.single_line_text(query).unwrap_or_else(|| CleanText::line(NO_QUERY)),
            hits: texts.read_count(hits),
            click_rate: texts.read_count(click_rate),
            top_page: texts.single_line_text(page),
            last_searched_at: at.and_then(parse_time),
        })?;
        normalize_click_rates(&mut rows);
        Some(rows)
    }
}

/// If any click rate in a response is above 1, treats all rates of the response as percentages, and converts them to
/// fractions. Otherwise leaves the rates unchanged. The service doesn't document whether it sends percentages or
/// fractions.
fn normalize_click_rates(rows: &mut [Search]) {
    let number = |rate: &Count| rate.value().map(DecimalCount::as_f64);
    if rows.iter().filter_map(|row| number(&row.click_rate)).any(|rate| rate > 1.0) {
        for row in rows {
            if let Some(rate) = number(&row.click_rate).and_then(|rate| Count::from_f64(rate / 100.0)) {
                row.click_rate = rate;
            }
        }
    }
}

impl row::Decode for Feedback {
    const LIST_FIELD: &'static str = "feedback";

    /// Decodes every field except `contact`.
    fn decode_list(raw: &RawValue, texts: &TextReader) -> Option<Vec<Self>> {
        let names = &["id", "path", "comment", "createdAt", "source", "status", "helpful", "code", "filename", "lang"];
        decode_each(raw, names, |[id, path, comment, created_at, source, status, helpful, code, filename, lang]| {
            let status = texts.single_line_text(status);
            let row = Self {
                id: CleanText::default(),
                path: texts.single_line_text(path).unwrap_or_else(|| CleanText::line(NO_PATH)),
                comment: texts.multiline_text(comment),
                created_at: created_at.and_then(parse_time),
                source: texts.single_line_text(source),
                status: status.map_or_else(FeedbackStatus::default, |status| FeedbackStatus::parse(status.as_str())),
                helpful: helpful.and_then(parse_flag),
                code: texts.multiline_text(code),
                filename: texts.single_line_text(filename),
                lang: texts.single_line_text(lang),
            };
            let id = texts.single_line_text(id).unwrap_or_else(|| derive_row_id(&row));
            Self { id, ..row }
        })
    }
}

impl row::Decode for PageFeedback {
    const LIST_FIELD: &'static str = "feedback";

    fn decode_list(raw: &RawValue, texts: &TextReader) -> Option<Vec<Self>> {
        decode_each(raw, &["path", "thumbsUp", "thumbsDown", "code", "total"], |[path, up, down, code, total]| Self {
            path: texts.single_line_text(path).unwrap_or_else(|| CleanText::line(NO_PATH)),
            thumbs_up: texts.read_count(up),
            thumbs_down: texts.read_count(down),
            code: texts.read_count(code),
            total: texts.read_count(total),
        })
    }
}

impl row::Decode for Question {
    const LIST_FIELD: &'static str = "conversations";

    fn decode_list(raw: &RawValue, texts: &TextReader) -> Option<Vec<Self>> {
        let names = &[
            "id",
            "timestamp",
            "query",
            "response",
            "responseType",
            "sources",
            "resolutionStatus",
            "queryCategory",
            "pageUrl",
        ];
        decode_each(raw, names, |[id, asked_at, query, response, kind, sources, resolution, category, page]| {
            let row = Self {
                id: CleanText::default(),
                asked_at: asked_at.and_then(parse_time),
                query: texts.single_line_text(query).unwrap_or_else(|| CleanText::line(NO_QUERY)),
                response: texts.multiline_text(response).unwrap_or_default(),
                is_clarifying: texts.single_line_text(kind).is_some_and(|kind| kind.as_str() == "clarifying_question"),
                sources: sources.map_or_else(Vec::new, |raw| decode_sources(raw, texts)),
                is_answered: texts.single_line_text(resolution).and_then(|status| match status.as_str() {
                    "answered" => Some(true),
                    "unanswered" => Some(false),
                    _ => None,
                }),
                category: texts.single_line_text(category),
                page: texts.single_line_text(page).map(without_url_query),
            };
            let id = texts.single_line_text(id).unwrap_or_else(|| derive_row_id(&row));
            Self { id, ..row }
        })
    }
}

/// Removes the query and the fragment from the address of a page, because they may contain what a reader typed.
fn without_url_query(address: CleanText) -> CleanText {
    match address.as_str().split_once(['?', '#']) {
        Some((page, _)) => CleanText::line(page),
        None => address,
    }
}

/// Decodes the sources of an answer. A source without an address is left out. If a source is a string, this
/// string is the address.
fn decode_sources(raw: &RawValue, texts: &TextReader) -> Vec<AnswerSource> {
    let rows = parse_rows(raw, &["url", "title"]).unwrap_or_default();
    let source = |[url, title]: FieldValues<'_, 2>| {
        Some(AnswerSource {
            url: texts.single_line_text(url)?,
            title: texts.single_line_text(title).unwrap_or_default(),
        })
    };
    rows.into_iter().filter_map(source).take(MAX_ANSWER_SOURCES).collect()
}

#[cfg(test)]
#[path = "analytics_tests.rs"]
mod tests;
