//! The changes of a pull request (while they are read, read, marked and searched, and if they can't be read), and what
//! else is known about it.

use crate::screen_fixture::{ScreenFixture, now};
use crate::{LARGE, SIZES, SMALL, render, snapshots, text};
use chrono::TimeDelta;
use docdeck::model::count::Count;
use docdeck::model::diff::{Diff, FileChange, LoadedDiff};
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::impact::PageViewsInRange;
use docdeck::model::job::JobKey;
use docdeck::model::load::Timed;
use docdeck::model::period::DateRange;
use docdeck::model::preview::{Build, BuildState, StartedBuild};
use docdeck::model::pull_request_details::{
    Commit, FileDiffStat, PassedAndPendingChecks, PendingCheck, PullRequestDetails, ReviewEntry, ReviewKind, SiteFacts,
};
use docdeck::model::text::CleanText;
use docdeck::model::views::Counts;
use docdeck::tui::draw::ColorDepth;
use docdeck::tui::{JobsMsg, Msg};
use unicode_width::UnicodeWidthStr as _;

pub(crate) const DIFF: &str = include_str!("changes.diff");

impl ScreenFixture {
    pub(crate) fn open_changes(&mut self) {
        self.load_pull_requests();
        self.press_keys("c");
    }

    pub(crate) fn load_diff(&mut self, result: Result<&str, Failure>) {
        let result = result.map(|text| {
            let (head, diff) = (CleanText::line("7d40698"), Diff::parse(text.to_owned()));
            Box::new(LoadedDiff {
                head,
                diff,
                is_truncated: false,
                as_of: now(),
                problem: None,
                site: SiteFacts::default(),
            })
        });
        let job = self.app.jobs.selected().map_or(JobKey(1), |job| job.key);
        self.handle(Msg::Jobs(JobsMsg::DiffLoaded { job, result }));
    }
}

#[test]
fn changes_while_they_are_read() {
    snapshots("changes_loading", &[], &["Loading the changes…"], ScreenFixture::open_changes);
}

#[test]
fn changes_with_files_of_every_kind() {
    snapshots("changes", &[SMALL], &["guides/sso.mdx", "+4 −3"], |fixture| {
        fixture.open_changes();
        fixture.load_diff(Ok(DIFF));
    });
}

/// Returns the views of the page `/guides/sso` in the seven days up to this one.
fn views_until(last_day: &str) -> SiteFacts {
    let range = DateRange::last_days(7, last_day.parse().expect("a day"));
    let [human, ai, total] = [4897, 1530, 6427].map(Count::Known);
    let views = Timed { value: Counts::new(human, ai, total), as_of: now() };
    let views = [(CleanText::line("/guides/sso"), PageViewsInRange { range, views })].into();
    SiteFacts { preview: None, views }
}

#[test]
fn changes_with_the_views_of_their_pages_and_the_days_of_the_views() {
    let mut fixture = ScreenFixture::new((120, 40));
    fixture.open_changes();
    for (last_day, words) in [("2026-11-20", "in the last 7 days"), ("2026-11-15", "on 9–15 Nov")] {
        let (head, diff) = (CleanText::line("7d40698"), Diff::parse(DIFF.to_owned()));
        let site = views_until(last_day);
        let loaded = LoadedDiff { head, diff, is_truncated: false, as_of: now(), problem: None, site };
        fixture.handle(Msg::Jobs(JobsMsg::DiffLoaded { job: JobKey(1), result: Ok(Box::new(loaded)) }));
        let shown = text(&render(&fixture.app, ColorDepth::None));
        assert!(shown.contains(&format!("→ /guides/sso · 4,897 human · 1,530 AI views {words}")), "{shown}");
    }
}

#[test]
fn a_follow_up_that_quotes_marked_lines() {
    snapshots("changes_quoted", &[], &["Follow-up"], |fixture| {
        fixture.open_changes();
        fixture.load_diff(Ok(DIFF));
        fixture.press_keys("j j j j v j f");
    });
}

#[test]
fn changes_while_a_text_is_searched() {
    snapshots("changes_search", &[], &["/steps"], |fixture| {
        fixture.open_changes();
        fixture.load_diff(Ok(DIFF));
        fixture.press_keys("/ s t e p s");
    });
}

#[test]
fn changes_that_cannot_be_read() {
    let sentence = "No token for github.com. Run `gh auth login --hostname github.com`, or add a section \
        [hosts.\"github.com\"] to the configuration.";
    snapshots("changes_failed", &[], &["No token for github.com."], |fixture| {
        fixture.open_changes();
        fixture.load_diff(Err(Failure::new(FailureKind::Service, sentence)));
    });
}

#[test]
fn changes_of_an_older_commit_say_so() {
    let mut fixture = ScreenFixture::new((80, 24));
    fixture.open_changes();
    let loaded = LoadedDiff {
        head: CleanText::line("0000000"),
        diff: Diff::parse(DIFF.to_owned()),
        is_truncated: false,
        as_of: now(),
        problem: None,
        site: SiteFacts::default(),
    };
    fixture.handle(Msg::Jobs(JobsMsg::DiffLoaded { job: JobKey(1), result: Ok(Box::new(loaded)) }));
    let shown = text(&render(&fixture.app, ColorDepth::None));
    assert!(shown.contains("new commits: r loads them"), "{shown}");
}

#[test]
fn control_characters_in_changes_are_not_drawn() {
    let hostile = "diff --git a/\u{1b}[2Jx b/\u{202e}y\n--- a/x\n+++ b/\u{1b}]0;t\u{7}y\n@@ -1 +1,3 @@ \u{1b}[31m\n \
        a\u{1b}[2J\rb\n+\u{202e}tfel\n+\u{7}bell \u{200b}zero\n";
    for size in [SMALL, (80, 24), LARGE] {
        let mut fixture = ScreenFixture::new(size);
        fixture.open_changes();
        fixture.load_diff(Ok(hostile));
        let shown = text(&render(&fixture.app, ColorDepth::None));
        assert!(shown.contains("bell zero") && !shown.contains(['\u{1b}', '\u{7}', '\u{202e}', '\r']), "{shown:?}");
    }
}

fn details() -> PullRequestDetails {
    let line = CleanText::line;
    let entry = |author: &str, kind, text: &str, minutes| ReviewEntry {
        author: line(author),
        is_bot: false,
        kind,
        text: text.to_owned(),
        at: Some(now() - TimeDelta::minutes(minutes)),
    };
    let file = |path: &str, additions, deletions| FileDiffStat { path: line(path), additions, deletions };
    let passed =
        "build, lint, links, spelling, redirects, front matter, images, code samples, anchors, vale, size, deploy";
    PullRequestDetails {
        head: line("7d40698"),
        author: line("mintlify"),
        base: line("main"),
        entries: vec![
            entry("maya", ReviewKind::ChangeRequest, "The screenshot still shows the old settings page.", 30),
            entry("jonas", ReviewKind::Comment, "Does this also apply to the free plan?\n\nOtherwise it's fine.", 12),
            entry("maya", ReviewKind::Approval, "", 3),
        ],
        commits: vec![Commit {
            id: line("7d40698"),
            title: line("Fix the broken links in /api"),
            at: Some(now() - TimeDelta::days(1)),
        }],
        commit_count: 1,
        files: vec![file("guides/sso.mdx", 40, 12), file("docs.json", 8, 0)],
        checks: Some(PassedAndPendingChecks {
            head: line("7d40698"),
            pending: Vec::new(),
            passed: passed.split(", ").map(line).collect(),
        }),
        merge_methods: Vec::new(),
        preview: Some(line("https://acme-7d40698.mintlify.site/")),
    }
}

/// Returns details in which every text contains `text`.
fn details_with(text: &str) -> PullRequestDetails {
    let (line, title) = (CleanText::line(text), CleanText::title(text, 60));
    let mut details = details();
    (details.author, details.base, details.preview) = (title.clone(), line.clone(), Some(line.clone()));
    for entry in &mut details.entries {
        // The client for code hosts cleans the text in this way.
        (entry.author, entry.text) = (title.clone(), CleanText::block(text).as_str().to_owned());
    }
    if let Some(checks) = &mut details.checks {
        checks.pending = vec![PendingCheck { name: title.clone(), url: Some(line.clone()) }];
        checks.passed = vec![title.clone(); 3];
    }
    for commit in &mut details.commits {
        (commit.id, commit.title) = (line.clone(), line.clone());
    }
    details.files.iter_mut().for_each(|file| file.path = line.clone());
    details
}

#[test]
fn no_text_of_a_code_host_leaves_its_place_on_the_screen() {
    let control =
        "\u{1b}[2J\u{9b}1;1H\u{202e}ab\u{2066}c\u{1b}]8;;https://evil.example\u{1b}\\d\u{1b}]8;;\u{1b}\\\re\u{7}\0";
    let marks = format!("a{}b", "\u{301}\u{489}".repeat(500));
    let (long, wide) = ("x".repeat(2000), "界".repeat(1000));
    for hostile in [control, &marks, &long, &wide] {
        for size in SIZES {
            let mut fixture = ScreenFixture::new(size);
            fixture.load_pull_request_with(hostile);
            let list = text(&render(&fixture.app, ColorDepth::None));
            fixture.press_keys("O");
            let job = fixture.app.jobs.selected().map_or(JobKey(1), |job| job.key);
            let result = Ok(Some(Timed { value: details_with(hostile), as_of: now() }));
            fixture.handle(Msg::Jobs(JobsMsg::PullRequestDetailsLoaded { job, result, site: SiteFacts::default() }));
            let start = text(&render(&fixture.app, ColorDepth::None));
            fixture.press_keys("G");
            let end = text(&render(&fixture.app, ColorDepth::None));
            for shown in [&list, &start, &end] {
                let is_hidden = |c: char| {
                    c.is_control() && c != '\n' || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
                };
                assert!(!shown.contains(is_hidden) && !shown.contains("evil"), "{size:?} {shown:?}");
                assert!(shown.lines().all(|line| line.width() <= usize::from(size.0)), "{size:?}\n{shown}");
                assert_eq!(shown.lines().count(), usize::from(size.1), "{size:?}\n{shown}");
            }
        }
    }
}

/// Opens a pull request with reviews, commits and files.
pub(crate) fn open_pull_request(fixture: &mut ScreenFixture) {
    fixture.load_pull_requests();
    fixture.press_keys("O");
    let job = fixture.app.jobs.selected().map_or(JobKey(1), |job| job.key);
    let result = Ok(Some(Timed { value: details(), as_of: now() }));
    let site = SiteFacts { preview: details().preview, ..views_until("2026-11-20") };
    fixture.handle(Msg::Jobs(JobsMsg::PullRequestDetailsLoaded { job, result, site }));
}

#[test]
fn a_pull_request_with_reviews_commits_and_files() {
    let contains = ["✓ Ready for review", "Checks 12"];
    snapshots("pull_request", &[SMALL, LARGE], &contains, open_pull_request);
}

#[test]
fn the_text_of_a_review_is_written_on_several_lines() {
    snapshots("review_text", &[], &["Request changes: ", "draft not saved yet"], |fixture| {
        fixture.load_pull_requests();
        fixture.press_keys("O x o n e Enter t w o");
    });
}

#[test]
fn a_pull_request_whose_preview_could_not_be_built() {
    snapshots("preview_failed", &[(80, 24)], &["the build failed: Syntax"], |fixture| {
        fixture.load_pull_requests();
        fixture.press_keys("O");
        let job = fixture.app.jobs.selected().map_or(JobKey(1), |job| job.key);
        fixture.press_keys("b");
        let (id, line) = (CleanText::line("build-1"), CleanText::line);
        let result = Ok(StartedBuild { id: id.clone(), url: None });
        fixture.handle(Msg::Jobs(JobsMsg::PreviewStarted { job, result }));
        let result = Ok(Build {
            state: BuildState::Failure,
            summary: line("Syntax error in guides/webhooks.mdx"),
            log: vec![line("Parsing 128 pages"), line("guides/webhooks.mdx:14:3: Expected a closing tag for <Steps>")],
            files: vec![(FileChange::Modified, line("guides/webhooks.mdx"))],
        });
        fixture.handle(Msg::Jobs(JobsMsg::BuildChecked { job, id, result }));
    });
}
