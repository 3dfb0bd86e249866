//! What loading all pages costs, as far as it is known: the service gives no row count, so the price is a lower bound with what
//! it was the last time, or an estimate that names what it comes from, and how many requests are left on this computer.

use super::super::{App, format};
use super::all_pages::AT_A_GO;
use crate::model::Time;
use crate::model::connection::Connection;
use crate::model::ledger::RateLimited;
use crate::model::period::DateRange;
use crate::model::report::{Basis, Expected, LoadPlan, LoadProgress, Recalled, SimilarRange, requests_for};
use crate::model::views::{LIMIT_MAX, ViewsQuery};

/// What is known of a price.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Price {
    /// Requests that it takes in any case.
    at_least: u32,
    expected: Option<Expected>,
}

impl Price {
    /// The price of several ranges. One that nothing is known of probably takes as many requests as each of the others.
    fn of_all(prices: &[Self]) -> Self {
        let at_least = prices.iter().fold(0_u32, |sum, price| sum.saturating_add(price.at_least));
        let known: Vec<Expected> = prices.iter().filter_map(|price| price.expected).collect();
        // A sum with an estimate in it is an estimate.
        let basis =
            known.iter().map(|known| known.basis).reduce(|one, next| if one == Basis::LastTime { next } else { one });
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let (unknown, known_ranges) = (count(prices.len() - known.len()), count(known.len()));
        let sum = known.iter().fold(0_u32, |sum, known| sum.saturating_add(known.requests));
        let expected = basis.filter(|basis| unknown == 0 || *basis != Basis::LastTime).map(|basis| {
            let rest = unknown.saturating_mul(sum.div_ceil(known_ranges.max(1)));
            Expected { requests: sum.saturating_add(rest), basis }
        });
        Self { at_least, expected }
    }

    /// What to expect; the least number if nothing more is known.
    fn requests(self) -> u32 {
        self.expected.map_or(self.at_least, |expected| expected.requests.max(self.at_least))
    }
}

/// How many requests to expect: `at least 2 requests, last time 5`, or an estimate with what it comes from.
pub fn price_words(at_least: u32, expected: Option<Expected>) -> String {
    let least = format!("at least {}", format::plural(at_least as usize, "request"));
    let Some(Expected { requests, basis }) = expected else { return least };
    let about = format!("about {}", format::plural(requests.max(at_least) as usize, "request"));
    match basis {
        Basis::LastTime => format!("{least}, last time {requests}"),
        Basis::Similar(SimilarRange { range, rows }) => {
            format!("{about}, estimated from the {} of {range}", format::plural(rows as usize, "page"))
        }
        Basis::FirstRows { rows, share } => {
            format!("{about}, estimated from the first {} rows ({} of the views)", format::number(rows), percent(share))
        }
    }
}

impl App {
    /// Requests for page views that are left on this computer.
    pub(in crate::app) fn views_left(&self) -> u32 {
        self.budget(RateLimited::Views).left()
    }

    /// What to expect of loading a range: what is stored of it, or an estimate from the rows that are listed.
    pub(super) fn expected(&self, range: DateRange) -> Option<Expected> {
        let stored = self.views.all.known(range).and_then(Recalled::expected);
        stored.or_else(|| {
            let shown = self.views.load().shown()?;
            let (query, page) = (shown.value.query, &shown.value.page);
            let is_first = query.range == range && query.page == 1;
            is_first.then(|| Expected::from_first_rows(&page.rows, &page.totals))?
        })
    }

    /// Rows that the listed answer proves to be there, and whether that is all of them.
    fn rows_seen(&self, range: DateRange) -> Option<(u64, bool)> {
        let shown = self.views.load().shown().filter(|shown| shown.value.query.range == range)?;
        let (query, page) = (shown.value.query, &shown.value.page);
        let rows = query.offset().saturating_add(u64::try_from(page.rows.len()).unwrap_or(0));
        // A page behind the last one proves nothing about the rows before it.
        (!page.rows.is_empty() || query.page == 1).then(|| (rows, !query.has_next(page)))
    }

    /// Whether the first answer that a load takes in is listed and fresh: it is taken from the cache.
    fn has_first_answer(&self, range: DateRange, now: Time) -> bool {
        let first = ViewsQuery { range, limit: LIMIT_MAX, page: 1 };
        let shown = self.views.load().shown().filter(|shown| shown.value.query == first);
        shown.is_some_and(|shown| range.is_fresh(shown.as_of, now))
    }

    fn price(&self, range: DateRange, afresh: bool, now: Time) -> Price {
        let known = self.views.all.known(range);
        let broken_off = known.and_then(|known| known.broken_off);
        let taken_in = match broken_off.filter(|_| !afresh) {
            Some(answers) => answers,
            None => u32::from(!afresh && self.has_first_answer(range, now)),
        };
        let all = match self.rows_seen(range) {
            Some((rows, true)) => requests_for(rows),
            Some((rows, false)) => requests_for(rows.saturating_add(1)),
            None => 1,
        };
        let rest = |requests: u32| requests.saturating_sub(taken_in).max(1);
        let expected = self.expected(range).map(|known| Expected { requests: rest(known.requests), ..known });
        Price { at_least: rest(all), expected }
    }

    /// Whether all that is known says that one request is enough.
    pub(super) fn is_one_request(&self, order: &LoadPlan) -> bool {
        let all = &self.views.all;
        let was_one = all.whole(order.range).is_some_and(|report| report.answers <= 1);
        let fits = self.rows_seen(order.range).is_some_and(|(rows, is_all)| is_all && requests_for(rows) == 1);
        all.broken_off(order.range).is_none() && (was_one || fits)
    }

    /// The question before loading: what is loaded, and what is known of its price.
    pub(super) fn price_question(&self, orders: &[LoadPlan], now: Time) -> String {
        let what = match orders {
            [one] => {
                let rows = self.views.all.broken_off(one.range).filter(|_| !one.afresh);
                let on = rows.map(|rows| format!(", going on after {} rows", format::count(rows)));
                format!("{}{}", one.range, on.unwrap_or_default())
            }
            [one, other] => format!("{} and of {}", one.range, other.range),
            [one, two, three] => format!("{}, of {} and of {}", one.range, two.range, three.range),
            many => format!("{} ranges", many.len()),
        };
        let prices: Vec<Price> = orders.iter().map(|order| self.price(order.range, order.afresh, now)).collect();
        let price = Price::of_all(&prices);
        let is_known = |order: &LoadPlan| order.afresh && self.views.all.whole(order.range).is_some();
        let again = if !orders.is_empty() && orders.iter().all(is_known) { " again" } else { "" };
        let (words, limits) = (capital(&price_words(price.at_least, price.expected)), self.limits_words(price));
        let left = self.views_left();
        format!("{}Load all pages of {what}{again}? {words}, {left} left here.{limits}", self.offline_words())
    }

    /// Said before a question whose yes may lead nowhere; empty while nothing is known against it.
    fn offline_words(&self) -> &'static str {
        let is_offline = matches!(self.connection, Connection::Offline { .. });
        if is_offline { "Offline now: this may fail. " } else { "" }
    }

    fn limits_words(&self, price: Price) -> String {
        let left = self.views_left();
        if price.requests() > left {
            return format!(" That is more than is left: it stops after {left} and can go on later.");
        }
        if price.requests() > AT_A_GO { format!(" It asks again after {AT_A_GO}.") } else { String::new() }
    }

    /// The question after a go of requests is used up.
    pub(super) fn question_to_go_on(&self, rest: &[LoadPlan], progress: Option<LoadProgress>) -> String {
        let so_far = progress.map(|progress| {
            let share = progress.share.map(|share| format!(", {} of the views", percent(share))).unwrap_or_default();
            let requests = format::plural(progress.requests as usize, "request");
            format!("{} rows{share}, by {requests} so far. ", format::count(progress.rows))
        });
        let range = match rest {
            [one] => format!("loading all pages of {}", one.range),
            many => format!("with {} ranges", many.len()),
        };
        let left = self.views_left();
        let most = AT_A_GO.min(left);
        let so_far = format!("{}{}", self.offline_words(), so_far.unwrap_or_default());
        format!("{so_far}There is more. Go on {range}? At most {most} more, {left} left here.")
    }

    /// Why nothing can be asked of the service now, and what can be seen all the same.
    pub(in crate::app) fn nothing_left(&self, now: Time) -> String {
        let when = match self.budget(RateLimited::Views).wait().filter(|wait| wait.until > now) {
            Some(wait) => format!("the next is free in {}", wait.words(now)),
            None => "the next is free in a moment".to_owned(),
        };
        format!("No requests for page views are left on this computer this hour; {when}. {STILL_SEEN}")
    }
}

/// What can be seen without any request.
pub const STILL_SEEN: &str = "The trend (t), what is kept (H) and every cached range can still be seen.";

/// A share as whole percent, rounded down: 100% is only said of all.
pub fn percent(share: f64) -> String {
    format!("{:.0}%", (share * 100.0).floor())
}

fn capital(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
