//! Responds to requests for page views. Parses the parameters as strictly as documented, and sorts the rows by total
//! views, then by path. Pages without views in the range are left out, so the totals are the sum of all rows. The
//! numbers change once a minute, so the sorted rows are reused until the minute or the range changes.

use super::pages::{HumanAndAiCounts, Site};
use crate::api::wire::{CountsBody, ErrorDetailBody, PageBody, ViewsBody};
use crate::model::Time;
use crate::model::text::CleanText;
use crate::model::views::{
    Count, Counts, DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, MIN_PAGE_SIZE, PageRow, ViewsQuery, ViewsResponse,
};
use chrono::{DateTime, NaiveDate, NaiveDateTime, NaiveTime, Timelike, Utc};
use serde::Deserialize;
use std::sync::{Arc, Mutex, PoisonError};

/// The unparsed query parameters of a request for page views or for another report. Unknown parameters are ignored.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Parameters {
    pub(super) date_from: Option<String>,
    pub(super) date_to: Option<String>,
    pub(super) limit: Option<String>,
    pub(super) offset: Option<String>,
    pub(super) cursor: Option<String>,
    pub(super) source: Option<String>,
    pub(super) status: Option<String>,
}

/// The parsed query parameters. The range is from the day `from` up to, but not including, the day `exclusive_end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SimViewsQuery {
    pub(super) from: NaiveDate,
    pub(super) exclusive_end: NaiveDate,
    pub(super) limit: usize,
    pub(super) offset: usize,
}

impl Parameters {
    /// Parses the parameters. On failure, returns a message for each invalid parameter.
    pub(super) fn parse(&self) -> Result<SimViewsQuery, Vec<ErrorDetailBody>> {
        let dates = self.parse_dates();
        let limit = parse_number("limit", self.limit.as_deref(), DEFAULT_PAGE_SIZE, MIN_PAGE_SIZE, MAX_PAGE_SIZE);
        let offset = parse_number("offset", self.offset.as_deref(), 0, 0, u32::MAX);
        match (dates, limit, offset) {
            (Ok((from, exclusive_end)), Ok(limit), Ok(offset)) => {
                Ok(SimViewsQuery { from, exclusive_end, limit, offset })
            }
            (dates, limit, offset) => {
                Err(error_details(dates.err().into_iter().flatten().chain(limit.err()).chain(offset.err())))
            }
        }
    }

    /// Parses the range: its first day, and the day after its last one. On failure, returns a message for each invalid
    /// parameter.
    pub(super) fn parse_dates(&self) -> Result<(NaiveDate, NaiveDate), Vec<String>> {
        let from = parse_date_time("dateFrom", self.date_from.as_deref());
        let to = parse_date_time("dateTo", self.date_to.as_deref());
        match (from, to) {
            (Ok(from), Ok(to)) if from >= to => Err(vec!["dateFrom must be before dateTo".to_owned()]),
            (Ok(from), Ok(to)) => {
                // Views are counted by day, so a day that begins before dateTo is included.
                let is_midnight = to.time() == NaiveTime::MIN;
                let exclusive_end = if is_midnight { Some(to.date()) } else { to.date().succ_opt() };
                Ok((from.date(), exclusive_end.unwrap_or(NaiveDate::MAX)))
            }
            (from, to) => Err(from.err().into_iter().chain(to.err()).collect()),
        }
    }
}

/// Returns the details of an error response.
pub(super) fn error_details(messages: impl Iterator<Item = String>) -> Vec<ErrorDetailBody> {
    messages.map(|message| ErrorDetailBody { message }).collect()
}

fn parse_date_time(name: &str, value: Option<&str>) -> Result<NaiveDateTime, String> {
    let text = value.ok_or_else(|| format!("{name} is required"))?;
    let is_plain = text.len() == 10 && text.starts_with(|first: char| first.is_ascii_digit());
    let day = is_plain.then(|| NaiveDate::parse_from_str(text, "%Y-%m-%d").ok()).flatten();
    day.map(|day| day.and_time(NaiveTime::MIN))
        .or_else(|| DateTime::parse_from_rfc3339(text).ok().map(|at| at.with_timezone(&Utc).naive_utc()))
        .or_else(|| NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f").ok())
        .ok_or_else(|| format!("{name} must be a date in ISO 8601 or YYYY-MM-DD"))
}

/// Parses a whole number from `low` to `high`. On failure, returns a message.
pub(super) fn parse_number(
    name: &str,
    value: Option<&str>,
    default: u32,
    low: u32,
    high: u32,
) -> Result<usize, String> {
    let number = match value {
        None => Some(default),
        Some(text) if text.bytes().all(|b| b.is_ascii_digit()) => text.parse().ok(),
        Some(_) => None,
    };
    let number = number.filter(|n| (low..=high).contains(n)).and_then(|n| usize::try_from(n).ok());
    number.ok_or_else(|| match high {
        u32::MAX => format!("{name} must be a whole number, {low} or more"),
        _ => format!("{name} must be a whole number from {low} to {high}"),
    })
}

/// The site's page views and the last ranking. A client that loads all rows within the same minute gets every response
/// from the same ranking.
#[derive(Debug)]
pub(super) struct SimViews {
    site: Site,
    last_ranking: Mutex<Option<(RankingKey, Arc<Ranking>)>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct RankingKey {
    from: NaiveDate,
    exclusive_end: NaiveDate,
    minute: i64,
}

/// All rows of one range, most views first, and their sum.
#[derive(Debug)]
struct Ranking {
    totals: HumanAndAiCounts,
    rows: Vec<SimViewsRow>,
}

/// The index of a page in the site, and the page's views. The form is compact so that 25,000 rows need little memory.
#[derive(Debug, Clone, Copy)]
struct SimViewsRow {
    index: u32,
    human: u32,
    ai: u32,
}

impl SimViews {
    pub(super) fn new(site: Site) -> Self {
        Self { site, last_ranking: Mutex::new(None) }
    }

    pub(super) fn site(&self) -> &Site {
        &self.site
    }

    /// Returns the rows that the query asks for, with the totals of the complete range.
    pub(super) fn response(&self, wanted: SimViewsQuery, now: Time) -> ViewsBody {
        let ranking = self.ranking(wanted, now);
        let rows = ranking.rows.iter().skip(wanted.offset).take(wanted.limit);
        let views = rows.map(|row| PageBody {
            path: self.site.path(row.index).to_owned(),
            counts: counts_body(HumanAndAiCounts { human: row.human.into(), ai: row.ai.into() }),
        });
        ViewsBody {
            totals: counts_body(ranking.totals),
            views: views.collect(),
            has_more: ranking.rows.len() > wanted.offset.saturating_add(wanted.limit),
        }
    }

    /// Returns the response to a query as the client decodes it.
    pub(super) fn decoded_response(&self, query: ViewsQuery, now: Time) -> ViewsResponse {
        let number = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        let (from, exclusive_end) = (query.range.from(), query.range.exclusive_end());
        let wanted =
            SimViewsQuery { from, exclusive_end, limit: number(query.limit.into()), offset: number(query.offset()) };
        let response = self.response(wanted, now);
        let rows = response.views.into_iter();
        ViewsResponse {
            totals: counts_from_body(&response.totals),
            rows: rows
                .map(|row| PageRow { path: CleanText::line(&row.path), counts: counts_from_body(&row.counts) })
                .collect(),
            has_more: Some(response.has_more),
        }
    }

    fn ranking(&self, wanted: SimViewsQuery, now: Time) -> Arc<Ranking> {
        let key = RankingKey {
            from: wanted.from,
            exclusive_end: wanted.exclusive_end,
            minute: now.timestamp().div_euclid(60),
        };
        let mut last = self.last_ranking.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, ranking)) = last.as_ref()
            && *of == key
        {
            return Arc::clone(ranking);
        }
        let now = now.with_second(0).unwrap_or(now);
        let ranking = Arc::new(Ranking::new(&self.site, wanted, now));
        *last = Some((key, Arc::clone(&ranking)));
        ranking
    }
}

impl Ranking {
    fn new(site: &Site, wanted: SimViewsQuery, now: Time) -> Self {
        let days = site.days(wanted.from, wanted.exclusive_end, now);
        let mut totals = HumanAndAiCounts::default();
        let mut rows = Vec::new();
        for (sum, index) in site.view_sums(&days).zip(0_u32..).filter(|(sum, _)| sum.total() > 0) {
            let small = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
            let row = SimViewsRow { index, human: small(sum.human), ai: small(sum.ai) };
            totals.human += u64::from(row.human);
            totals.ai += u64::from(row.ai);
            rows.push(row);
        }
        rows.sort_unstable_by(|a, b| {
            let total = |row: &SimViewsRow| u64::from(row.human) + u64::from(row.ai);
            total(b).cmp(&total(a)).then_with(|| site.path(a.index).cmp(site.path(b.index)))
        });
        Self { totals, rows }
    }
}

pub(super) fn counts_from_body(body: &CountsBody) -> Counts {
    let [human, ai, total] =
        [body.human, body.ai, body.total].map(|n| i64::try_from(n).map_or(Count::Missing, Count::Known));
    Counts::new(human, ai, total)
}

pub(super) fn counts_body(sum: HumanAndAiCounts) -> CountsBody {
    CountsBody { human: sum.human, ai: sum.ai, total: sum.total() }
}

#[cfg(test)]
#[path = "views_tests.rs"]
mod tests;
