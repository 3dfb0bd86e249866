use super::events::has_problem;
use super::*;
use crate::model::analytics::{AnalyticsRow, Feedback, PageFeedback, Question, RowsResponse, Search};
use crate::model::period::DateRange;
use crate::model::views::PageRow;
use crate::sim::views::Parameters;
use chrono::TimeDelta;
use std::collections::{HashMap, HashSet};

const ALL: [AnalyticsKind; 5] = AnalyticsKind::ALL;

struct TestWorld {
    site: Site,
    merges: FirstMerges,
    analytics: SimAnalytics,
}

fn now() -> Time {
    "2026-11-20T14:02:00Z".parse().expect("a time")
}

/// The 28 days before today.
fn last_four_weeks() -> DateRange {
    DateRange::new("2026-10-23".parse().expect("a day"), "2026-11-19".parse().expect("a day")).expect("a range")
}

impl TestWorld {
    fn new(seed: u64, pages: u32, merges: Vec<(String, Time)>) -> Self {
        let (site, merges) = (Site::new(seed, pages, now()), FirstMerges::new(merges));
        Self { site, merges, analytics: SimAnalytics::default() }
    }

    fn inputs(&self, now: Time) -> ReportInputs<'_> {
        ReportInputs { site: &self.site, merges: &self.merges, now }
    }

    fn rows<R: SimulatedRow>(&self) -> RowsResponse<R> {
        self.analytics.rows(last_four_weeks(), self.inputs(now()))
    }

    fn ask(&self, kind: AnalyticsKind, change: impl FnOnce(&mut Parameters)) -> Result<Value, &'static str> {
        self.ask_at(now(), kind, false, change)
    }

    fn ask_at(
        &self,
        now: Time,
        kind: AnalyticsKind,
        should_claim_more_rows: bool,
        change: impl FnOnce(&mut Parameters),
    ) -> Result<Value, &'static str> {
        let mut parameters = Parameters {
            date_from: Some(last_four_weeks().from().to_string()),
            date_to: Some(last_four_weeks().exclusive_end().to_string()),
            ..Parameters::default()
        };
        change(&mut parameters);
        let query = RowsQuery::parse(kind, &parameters, should_claim_more_rows).expect("valid parameters");
        self.analytics.response(kind, &query, self.inputs(now))
    }

    /// Loads all rows with this many per request. Returns the keys, with repetitions.
    fn load_all(&self, kind: AnalyticsKind, limit: usize) -> Vec<String> {
        let (list, key) = list_and_key_names(kind);
        let (mut keys, mut cursor): (Vec<String>, Option<String>) = (Vec::new(), None);
        loop {
            let response = self
                .ask(kind, |parameters| {
                    parameters.limit = Some(limit.to_string());
                    parameters.cursor = cursor.clone();
                    parameters.offset = Some(keys.len().to_string());
                })
                .expect("a valid cursor");
            let rows = response[list].as_array().expect("a list");
            assert!(rows.len() <= limit);
            keys.extend(rows.iter().map(|row| row[key].as_str().expect("a key").to_owned()));
            cursor = response["nextCursor"].as_str().map(str::to_owned);
            let has_more = match kind {
                AnalyticsKind::Searches => cursor.is_some(),
                AnalyticsKind::FeedbackByPage => false,
                _ => response["hasMore"] == Value::Bool(true),
            };
            if !has_more {
                assert!(!rows.is_empty() || keys.is_empty(), "no request in vain at the end");
                return keys;
            }
        }
    }

    fn keys(&self, kind: AnalyticsKind) -> Vec<String> {
        fn keys<R: AnalyticsRow>(response: RowsResponse<R>) -> Vec<String> {
            response.rows.iter().map(|row| row.key().to_string()).collect()
        }
        match kind {
            AnalyticsKind::Visitors => keys(self.rows::<PageRow>()),
            AnalyticsKind::Searches => keys(self.rows::<Search>()),
            AnalyticsKind::Feedback => keys(self.rows::<Feedback>()),
            AnalyticsKind::FeedbackByPage => keys(self.rows::<PageFeedback>()),
            AnalyticsKind::Questions => keys(self.rows::<Question>()),
        }
    }
}

/// Returns the name of the list of rows, and of the key of a row.
fn list_and_key_names(kind: AnalyticsKind) -> (&'static str, &'static str) {
    match kind {
        AnalyticsKind::Visitors => ("visitors", "path"),
        AnalyticsKind::Searches => ("searches", "searchQuery"),
        AnalyticsKind::Feedback => ("feedback", "id"),
        AnalyticsKind::FeedbackByPage => ("feedback", "path"),
        AnalyticsKind::Questions => ("conversations", "id"),
    }
}

#[test]
fn all_responses_together_have_all_rows_for_every_page_size() {
    for (seed, pages) in [(1, 0), (7, 150), (8, 600)] {
        let world = TestWorld::new(seed, pages, Vec::new());
        for kind in ALL {
            let expected = world.keys(kind);
            assert!(pages == 0 || expected.len() > 10, "{kind:?}: {}", expected.len());
            let different: HashSet<&String> = expected.iter().collect();
            assert_eq!(different.len(), expected.len(), "{kind:?}: each key once");
            let most = usize::try_from(kind.max_rows()).expect("small");
            for limit in [1, 7, most - 1, most] {
                let found = world.load_all(kind, limit);
                let expected = if kind == AnalyticsKind::FeedbackByPage {
                    &expected[..limit.min(expected.len())]
                } else {
                    &expected
                };
                assert_eq!(found, expected, "{kind:?} {limit}");
            }
        }
    }
}

#[test]
fn new_rows_do_not_move_the_next_response() {
    let world = TestWorld::new(7, 600, Vec::new());
    let midnight = last_four_weeks().to().and_time(chrono::NaiveTime::MIN).and_utc();
    for kind in [AnalyticsKind::Searches, AnalyticsKind::Feedback, AnalyticsKind::Questions] {
        let (list, key) = list_and_key_names(kind);
        let mut keys = HashSet::new();
        let mut cursor: Option<String> = None;
        for minutes in 0.. {
            // Two hours pass between the responses about a range that is not over.
            let at = midnight + TimeDelta::hours(2 * minutes);
            let response = world.ask_at(at, kind, false, |parameters| {
                (parameters.cursor, parameters.limit) = (cursor.clone(), Some("20".to_owned()));
            });
            let response = response.expect("a valid cursor");
            for row in response[list].as_array().expect("a list") {
                assert!(keys.insert(row[key].clone()), "{kind:?} repeats {row}");
            }
            cursor = response["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        assert!(keys.len() > 40, "{kind:?}");
    }
}

#[test]
fn only_cursors_of_the_same_list_are_accepted() {
    let world = TestWorld::new(7, 600, Vec::new());
    for kind in [AnalyticsKind::Searches, AnalyticsKind::Feedback, AnalyticsKind::Questions] {
        let with = |cursor: &str| world.ask(kind, |parameters| parameters.cursor = Some(cursor.to_owned()));
        for wrong in ["", "x", "00000000000000000000000000x", "AAAAAAAAAAA=", "01m86w344ry1mw2crf3te1sdxq"] {
            assert_eq!(with(wrong).err(), Some(INVALID_CURSOR_MESSAGE), "{kind:?} {wrong}");
        }
    }
    let next = |change: fn(&mut Parameters)| {
        let limit_one = |parameters: &mut Parameters| {
            parameters.limit = Some("1".to_owned());
            change(parameters);
        };
        world.ask(AnalyticsKind::Feedback, limit_one).expect("an answer")["nextCursor"]
            .as_str()
            .expect("more")
            .to_owned()
    };
    let cursor = next(|_| {});
    let other_list = world.ask(AnalyticsKind::Feedback, |parameters| {
        (parameters.cursor, parameters.status) = (Some(cursor.clone()), Some("pending".to_owned()));
    });
    assert_eq!(other_list.err(), Some(INVALID_CURSOR_MESSAGE));
    assert_ne!(cursor, next(|parameters| parameters.status = Some("pending".to_owned())));
}

#[test]
fn a_stuck_or_endless_report_always_has_a_cursor() {
    let world = TestWorld::new(7, 150, Vec::new());
    for kind in [AnalyticsKind::Searches, AnalyticsKind::Feedback, AnalyticsKind::Questions] {
        let mut cursor: Option<String> = None;
        for _ in 0..30 {
            let response = world.ask_at(now(), kind, true, |parameters| parameters.cursor = cursor.clone());
            cursor = response.expect("a valid cursor")["nextCursor"].as_str().map(str::to_owned);
            assert!(cursor.is_some(), "{kind:?}");
        }
    }
}

#[test]
fn filters_select_feedback_and_the_counts_by_page_match_the_list() {
    let world = TestWorld::new(7, 600, Vec::new());
    let all = world.rows::<Feedback>().rows;
    let mut filtered = 0;
    for source in parameters::FEEDBACK_SOURCES {
        let filter = |parameters: &mut Parameters| {
            (parameters.source, parameters.limit) = (Some(source.to_owned()), Some("100".to_owned()));
        };
        let rows = world.ask(AnalyticsKind::Feedback, filter).expect("an answer");
        let rows = rows["feedback"].as_array().expect("a list");
        assert!(!rows.is_empty() && rows.iter().all(|row| row["source"] == source), "{source}");
        let pages = world.ask(AnalyticsKind::FeedbackByPage, filter).expect("an answer");
        let total = |name: &str| -> u64 {
            pages["feedback"].as_array().expect("a list").iter().filter_map(|row| row[name].as_u64()).sum()
        };
        assert_eq!(total("total"), total("thumbsUp") + total("thumbsDown") + total("code"));
        assert_eq!(total("code") > 0, source == "code_snippet");
        filtered += all.iter().filter(|row| row.source.as_ref().is_some_and(|found| found.as_str() == source)).count();
    }
    assert_eq!(filtered, all.len());
    let statuses: HashSet<&str> = all.iter().map(|row| row.status.service_name()).collect();
    assert_eq!(statuses.len(), 4, "{statuses:?}");
}

#[test]
fn visitors_are_at_most_the_views_and_fewer_than_the_sum_of_their_days_and_pages() {
    let world = TestWorld::new(7, 300, Vec::new());
    let count =
        |row: &PageRow| [&row.counts.human, &row.counts.ai].map(|count| count.value().expect("a number").rounded());
    let report = world.rows::<PageRow>();
    let in_range: HashMap<_, _> = report.rows.iter().map(|row| (row.path.clone(), count(row))).collect();
    let mut sums: HashMap<_, [i128; 2]> = HashMap::new();
    for day in last_four_weeks().single_days() {
        let days = world.site.days(day.from(), day.exclusive_end(), now());
        let views: HashMap<&str, _> = world.site.pages().map(|(_, page)| (page.path(), page.views(&days[0]))).collect();
        for row in world.analytics.rows::<PageRow>(day, world.inputs(now())).rows {
            let [human, ai] = count(&row);
            let views = views[row.path.as_str()];
            assert!(human <= views.human.into() && ai <= views.ai.into(), "{day:?} {row:?} {views:?}");
            let sum = sums.entry(row.path).or_default();
            *sum = [sum[0] + human, sum[1] + ai];
        }
    }
    assert_eq!(sums.len(), in_range.len());
    assert!(sums.iter().all(|(path, sum)| in_range[path][0] <= sum[0] && in_range[path][1] <= sum[1]));
    let total = report.totals.total.value().expect("a number").rounded();
    assert!(total < in_range.values().flatten().sum(), "readers of several pages are counted once");
}

#[test]
fn pages_with_a_problem_get_more_complaints_and_fewer_after_a_merge() {
    let world = TestWorld::new(7, 1200, Vec::new());
    let problem: HashSet<String> =
        world.site.pages().filter(|(_, page)| has_problem(page)).map(|(_, page)| page.path().to_owned()).collect();
    let share = |world: &TestWorld, of_problem: bool| {
        let rows = world.rows::<Feedback>().rows.into_iter();
        let votes: Vec<bool> = rows
            .filter(|row| problem.contains(row.path.as_str()) == of_problem)
            .filter_map(|row| row.helpful)
            .collect();
        assert!(votes.len() > 50, "{}", votes.len());
        votes.iter().filter(|helpful| !**helpful).count() * 100 / votes.len()
    };
    let unanswered = |of_problem: bool| {
        let rows = world.rows::<Question>().rows.into_iter();
        let answered: Vec<bool> = rows
            .filter(|row| row.subject_page().is_some_and(|page| problem.contains(&*page) == of_problem))
            .filter_map(|row| row.is_answered)
            .collect();
        answered.iter().filter(|answered| !**answered).count() * 100 / answered.len()
    };
    assert!(share(&world, true) > share(&world, false) + 25);
    assert!(unanswered(true) > unanswered(false) + 20);
    let before = last_four_weeks().from().and_time(chrono::NaiveTime::MIN).and_utc() - TimeDelta::days(1);
    let improved = TestWorld::new(7, 1200, problem.iter().map(|path| (path.clone(), before)).collect());
    let after = {
        let rows = improved.rows::<Feedback>().rows.into_iter();
        let votes: Vec<bool> =
            rows.filter(|row| problem.contains(row.path.as_str())).filter_map(|row| row.helpful).collect();
        votes.iter().filter(|helpful| !**helpful).count() * 100 / votes.len()
    };
    assert!(after < 20, "{after} %");
}

#[test]
fn a_week_of_the_usual_site_fits_into_one_response_of_each_report() {
    let world = TestWorld::new(7, 1200, Vec::new());
    let week = DateRange::last_days(7, now().date_naive());
    let inputs = world.inputs(now());
    let counts = [
        world.analytics.rows::<Search>(week, inputs).rows.len(),
        world.analytics.rows::<Feedback>(week, inputs).rows.len(),
        world.analytics.rows::<PageFeedback>(week, inputs).rows.len(),
        world.analytics.rows::<Question>(week, inputs).rows.len(),
    ];
    assert!(counts.iter().all(|count| (30..=100).contains(count)), "{counts:?}");
}

#[test]
fn searches_fit_the_pages_and_some_lead_nowhere() {
    let world = TestWorld::new(7, 1200, Vec::new());
    let rows = world.rows::<Search>().rows;
    let unclicked = rows.iter().filter(|row| row.is_unclicked()).count();
    assert!((20..rows.len() / 2).contains(&unclicked), "{unclicked} of {}", rows.len());
    assert!(rows.iter().all(|row| row.is_unclicked() == row.top_page.is_none()));
    assert!(rows.iter().any(|row| row.query.as_str() == "terraform provider"), "a search that no page matches");
}

#[test]
fn some_readers_leave_an_address_and_the_rows_have_none() {
    let world = TestWorld::new(7, 600, Vec::new());
    let response = world.ask(AnalyticsKind::Feedback, |parameters| {
        (parameters.source, parameters.limit) = (Some("contextual".to_owned()), Some("100".to_owned()));
    });
    let response = response.expect("an answer").to_string();
    assert!(texts::CONTACTS.iter().any(|contact| response.contains(contact)));
    let rows = format!("{:?}", world.rows::<Feedback>());
    assert!(texts::CONTACTS.iter().all(|contact| !rows.contains(contact)));
}

#[test]
fn a_conversation_begins_with_its_question_and_others_are_unknown() {
    let world = TestWorld::new(7, 600, Vec::new());
    let inputs = world.inputs(now());
    for row in world.rows::<Question>().rows.iter().take(40) {
        let conversation = world.analytics.conversation(row.id.as_str(), inputs).expect("a conversation");
        assert_eq!(conversation["threadId"], row.id.as_str());
        assert_eq!(conversation["messages"][0]["content"], row.query.as_str());
        assert_eq!(conversation["messages"][1]["content"], row.response.as_str());
        let expected = if row.is_clarifying { 4 } else { 2 };
        assert_eq!(conversation["messages"].as_array().map(Vec::len), Some(expected));
    }
    for unknown in ["", "x", "01M86W344RY1MW2CRF3TE1SDXQ", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", "ZZZZZZZZZZZZZZZZZZZZZZZZZZ"] {
        assert_eq!(world.analytics.conversation(unknown, inputs), None, "{unknown}");
    }
}

#[test]
fn no_text_has_an_unfilled_placeholder_and_all_are_clean() {
    let world = TestWorld::new(9, 2500, Vec::new());
    let rows = format!("{:?} {:?}", world.rows::<Feedback>().rows, world.rows::<Question>().rows);
    for blank in ["{topic}", "{Topic}", "{language}"] {
        assert!(!rows.contains(blank), "{blank}");
    }
    assert!(world.rows::<Question>().rows.iter().all(|row| !row.query.is_empty() && !row.response.is_empty()));
}
