//! Tests of the client for code hosts against the simulated GitLab.

use docdeck::api::hosts::{HostClient, HostErrorKind, host_client_options};
use docdeck::model::diff::Diff;
use docdeck::model::endpoint::ApiKey;
use docdeck::model::pull_request::{
    ChecksState, HostKind, PullRequest, PullRequestFact, PullRequestLink, PullRequestState, ReviewDecision,
};
use docdeck::model::pull_request_action::{ActionOutcome, MergeMethod, PullRequestAction};
use docdeck::model::pull_request_details::ReviewKind;
use docdeck::model::text::CleanText;
use docdeck::sim::{HostFault, Sim, SimOptions};

/// Returns the simulated service, the links of its merge requests, and a client for its GitLab.
async fn start_gitlab() -> (Sim, Vec<PullRequestLink>, HostClient) {
    let sim = Sim::start(SimOptions { jobs: 2000, ..SimOptions::default() }).await.expect("it starts");
    let links = sim.initial_jobs().into_iter().filter_map(|job| job.body.state.pr_link);
    let links = links.filter_map(|link| PullRequestLink::parse(link.as_str()));
    let links: Vec<PullRequestLink> = links.filter(|link| link.kind == HostKind::GitLab).collect();
    assert!(links.len() > 20 && links.iter().all(|link| link.repository == "acme/platform/docs"), "{links:?}");
    let client = client_with(&sim, sim.host_token(HostKind::GitLab));
    (sim, links, client)
}

fn client_with(sim: &Sim, token: &str) -> HostClient {
    let token = ApiKey::new(token).expect("a token");
    HostClient::new(&sim.host_address(HostKind::GitLab), token, host_client_options()).expect("a client")
}

async fn state_of(client: &HostClient, link: &PullRequestLink) -> Result<PullRequest, HostErrorKind> {
    let response = client.pull_requests(std::slice::from_ref(link), chrono::Utc::now()).await;
    let mut states = response.result.map_err(|error| error.kind)?;
    states.pop().expect("one").1.map_err(|error| error.kind)
}

/// Returns the first merge request whose state is wanted.
async fn find(
    client: &HostClient,
    links: &[PullRequestLink],
    is_wanted: impl Fn(&PullRequest) -> bool,
) -> (PullRequestLink, PullRequest) {
    let mut found = None;
    for link in links {
        let state = state_of(client, link).await.expect("a state");
        if is_wanted(&state) {
            found = Some((link.clone(), state));
            break;
        }
    }
    found.expect("a merge request with the state")
}

fn is_mergeable(state: &PullRequest) -> bool {
    state.main_fact() == PullRequestFact::Ready && state.review.is_none()
}

async fn outcome(client: &HostClient, link: &PullRequestLink, head: &str, action: &PullRequestAction) -> ActionOutcome {
    let response = client.perform_action(link, &CleanText::line(head), action).await;
    response.result.map_or_else(|error| error.outcome(), |()| ActionOutcome::Done)
}

#[tokio::test]
async fn merge_requests_have_every_state() {
    let (sim, links, client) = start_gitlab().await;
    client.check_token().await.result.expect("accepted");
    let (mut facts, mut reviews) = (Vec::new(), Vec::new());
    for link in &links {
        let state = state_of(&client, link).await.expect("a state");
        assert!(state.files.is_some_and(|files| files > 0) && state.additions.is_none());
        assert_eq!(state.checks.state == ChecksState::Failing, !state.checks.failed.is_empty());
        facts.push(state.main_fact());
        reviews.push(state.review);
    }
    for fact in [
        PullRequestFact::Merged,
        PullRequestFact::Closed,
        PullRequestFact::Conflict,
        PullRequestFact::Failing,
        PullRequestFact::ChangesRequested,
        PullRequestFact::Ready,
        PullRequestFact::Draft,
    ] {
        assert!(facts.contains(&fact), "{fact:?} of {facts:?}");
    }
    assert!(reviews.contains(&Some(ReviewDecision::Required)), "{reviews:?}");
    let missing = PullRequestLink { number: 999_999, ..links[0].clone() };
    assert_eq!(state_of(&client, &missing).await, Err(HostErrorKind::NotFound));
    let other_project = PullRequestLink { repository: "acme/platform".to_owned(), ..links[0].clone() };
    assert_eq!(state_of(&client, &other_project).await, Err(HostErrorKind::NotFound));
    let with_token_of_github = client_with(&sim, sim.host_token(HostKind::GitHub));
    assert_eq!(state_of(&with_token_of_github, &links[0]).await, Err(HostErrorKind::Unauthorized));
}

#[tokio::test]
async fn every_fault_of_gitlab_is_an_error_of_its_own() {
    let (sim, links, client) = start_gitlab().await;
    let link = &links[0];
    sim.set_host_fault(Some(HostFault::ExpiredToken));
    assert_eq!(state_of(&client, link).await, Err(HostErrorKind::Unauthorized));
    client.check_token().await.result.expect_err("refused");
    sim.set_host_fault(Some(HostFault::BadGateway));
    let error = state_of(&client, link).await.expect_err("a page of HTML");
    assert!(matches!(&error, HostErrorKind::Failed { status: 502, text } if !text.as_str().contains('<')), "{error}");
    for (fault, minutes) in [(HostFault::LimitInStatus, 1), (HostFault::LimitInBody, 40)] {
        sim.set_host_fault(Some(fault));
        let response = client.pull_requests(&links[..1], sim.now()).await;
        assert_eq!(response.result.expect_err("limited").kind, HostErrorKind::Limited);
        assert_eq!(response.budget.remaining, Some(0));
        // The limit starts again at a whole second.
        let wait = response.budget.blocked_until(sim.now()) - sim.now();
        assert!((wait - chrono::TimeDelta::minutes(minutes)).num_seconds().abs() < 30, "{wait}");
    }
    sim.set_host_fault(Some(HostFault::OtherRepository));
    assert_eq!(state_of(&client, link).await, Err(HostErrorKind::OtherPullRequest));
    assert_eq!(client.details(link).await.result.expect_err("another").kind, HostErrorKind::OtherPullRequest);
    sim.set_host_fault(Some(HostFault::HalfMissing));
    for link in &links[..4] {
        assert_eq!(state_of(&client, link).await.is_ok(), link.number % 2 == 0);
    }
    sim.set_host_fault(Some(HostFault::UnknownConflicts));
    assert_eq!(state_of(&client, links.last().expect("one")).await.expect("a state").conflict, None);
    sim.set_host_fault(Some(HostFault::ForbiddenChecks));
    assert_eq!(state_of(&client, link).await.expect("a state").checks.state, ChecksState::Unavailable);
    sim.set_host_fault(Some(HostFault::MovingHead));
    let heads = [state_of(&client, link).await, state_of(&client, link).await].map(|state| state.expect("one").head);
    assert_ne!(heads[0], heads[1]);
}

#[tokio::test]
async fn an_approval_makes_a_merge_request_mergeable_at_its_head_only() {
    let (sim, links, client) = start_gitlab().await;
    let (link, state) = find(&client, &links, |state| state.review == Some(ReviewDecision::Required)).await;
    let (head, old) = (state.head.as_str(), "0".repeat(40));
    let merge = PullRequestAction::Merge(Some(MergeMethod::Squash));
    assert!(matches!(outcome(&client, &link, head, &merge).await, ActionOutcome::NotDone(_)), "not approved yet");
    assert_eq!(outcome(&client, &link, &old, &PullRequestAction::Approve).await, ActionOutcome::HeadChanged);
    assert_eq!(outcome(&client, &link, head, &PullRequestAction::Approve).await, ActionOutcome::Done);
    assert_eq!(state_of(&client, &link).await.expect("a state").review, None, "the approval is in the details");
    let comment = PullRequestAction::Comment("Thank \u{1b}[2Jyou.".to_owned());
    assert_eq!(outcome(&client, &link, head, &comment).await, ActionOutcome::Done);
    let details = client.details(&link).await.result.expect("details");
    let entries: Vec<_> = details.entries.iter().filter(|entry| entry.author.as_str() == "you").collect();
    assert!(entries.iter().any(|entry| entry.kind == ReviewKind::Approval), "{entries:?}");
    let texts: Vec<_> = entries.iter().map(|entry| entry.text.as_str()).filter(|text| !text.is_empty()).collect();
    assert_eq!(texts, ["Thank you."], "the note about the approval is GitLab's");
    for unsupported in [
        PullRequestAction::Merge(Some(MergeMethod::Rebase)),
        PullRequestAction::RequestChanges("Shorten it.".to_owned()),
    ] {
        assert!(matches!(outcome(&client, &link, head, &unsupported).await, ActionOutcome::NotDone(_)));
    }
    assert_eq!(outcome(&client, &link, &old, &merge).await, ActionOutcome::HeadChanged);
    sim.set_host_fault(Some(HostFault::MovedBeforeMerge));
    assert_eq!(outcome(&client, &link, head, &merge).await, ActionOutcome::HeadChanged);
    sim.set_host_fault(None);
    assert_eq!(outcome(&client, &link, head, &merge).await, ActionOutcome::HeadChanged, "a commit was pushed");
    let moved = state_of(&client, &link).await.expect("a state");
    let head = moved.head.as_str();
    assert_eq!(outcome(&client, &link, head, &merge).await, ActionOutcome::Done);
    assert_eq!(state_of(&client, &link).await.expect("a state").state, PullRequestState::Merged);
    assert!(matches!(outcome(&client, &link, head, &merge).await, ActionOutcome::NotDone(_)), "merged already");
}

#[tokio::test]
async fn a_refused_approval_does_not_blame_the_token_alone() {
    let (_sim, links, client) = start_gitlab().await;
    let (link, state) = find(&client, &links, is_mergeable).await;
    let head = state.head.as_str();
    assert_eq!(outcome(&client, &link, head, &PullRequestAction::Approve).await, ActionOutcome::Done);
    let again = outcome(&client, &link, head, &PullRequestAction::Approve).await;
    let ActionOutcome::NotDone(why) = again else { panic!("{again:?}") };
    assert!(why.as_str().contains("you have already done it"), "{why}");
}

#[tokio::test]
async fn only_an_open_merge_request_is_closed() {
    let (_sim, links, client) = start_gitlab().await;
    let (link, state) = find(&client, &links, is_mergeable).await;
    assert_eq!(outcome(&client, &link, state.head.as_str(), &PullRequestAction::Close).await, ActionOutcome::Done);
    assert_eq!(state_of(&client, &link).await.expect("a state").state, PullRequestState::Closed);
    let (link, state) = find(&client, &links, |state| state.state == PullRequestState::Merged).await;
    let ignored = outcome(&client, &link, state.head.as_str(), &PullRequestAction::Close).await;
    assert!(matches!(ignored, ActionOutcome::NotDone(_)), "{ignored:?}");
}

#[tokio::test]
async fn every_form_of_a_draft_becomes_ready_once() {
    let (sim, links, client) = start_gitlab().await;
    let mut prefixes = std::collections::BTreeSet::new();
    for link in &links {
        let state = state_of(&client, link).await.expect("a state");
        if state.state != PullRequestState::Draft {
            continue;
        }
        let (head, action) = (state.head.as_str(), PullRequestAction::MarkReady);
        sim.set_host_fault(Some(HostFault::OtherRepository));
        assert!(matches!(outcome(&client, link, head, &action).await, ActionOutcome::NotDone(_)));
        sim.set_host_fault(None);
        assert_eq!(outcome(&client, link, head, &action).await, ActionOutcome::Done);
        let ready = state_of(&client, link).await.expect("a state");
        assert_eq!(ready.state, PullRequestState::Open);
        let prefix = state.title.as_str().strip_suffix(ready.title.as_str()).expect("the same title");
        prefixes.insert(prefix.to_owned());
        assert!(matches!(outcome(&client, link, head, &action).await, ActionOutcome::NotDone(_)), "no draft any more");
    }
    assert!(prefixes.contains("draft: ") && prefixes.len() > 1, "{prefixes:?}");
}

#[tokio::test]
async fn a_merge_whose_response_is_lost_is_unconfirmed_and_sent_once() {
    let (sim, links, client) = start_gitlab().await;
    for (fault, is_merged) in [(HostFault::LostAction, false), (HostFault::LostActionResponse, true)] {
        let (link, state) = find(&client, &links, is_mergeable).await;
        let before = sim.host_action_count();
        sim.set_host_fault(Some(fault));
        let lost = outcome(&client, &link, state.head.as_str(), &PullRequestAction::Merge(None)).await;
        assert!(matches!(lost, ActionOutcome::Unconfirmed { .. }), "{lost:?}");
        assert_eq!(sim.host_action_count() - before, 1);
        sim.set_host_fault(None);
        let state = state_of(&client, &link).await.expect("a state");
        assert_eq!(state.state == PullRequestState::Merged, is_merged);
    }
}

#[tokio::test]
async fn the_details_are_those_of_the_merge_request() {
    let (_sim, links, client) = start_gitlab().await;
    let (link, state) = find(&client, &links, |state| state.review == Some(ReviewDecision::ChangesRequested)).await;
    let response = client.details(&link).await;
    assert_eq!(response.budget.cost, Some(5));
    let details = response.result.expect("details");
    assert_eq!((details.author.as_str(), details.base.as_str(), details.commit_count), ("mintlify", "main", 1));
    assert!(state.head.as_str().starts_with(details.commits[0].id.as_str()));
    let checks = details.checks.as_ref().expect("the pipeline");
    let has_failed = state.checks.state == ChecksState::Failing;
    assert_eq!((&checks.head, checks.passed.len() + checks.pending.len()), (&state.head, usize::from(!has_failed)));
    assert!(details.entries.iter().any(|entry| entry.author.as_str() == "maya"), "{details:?}");
    assert!(details.entries.is_sorted_by_key(|entry| entry.at), "oldest first");
    let diff = Diff::parse(client.diff(&link).await.result.expect("a diff").text);
    let sizes: Vec<_> = details.files.iter().map(|file| (&file.path, file.additions, file.deletions)).collect();
    let expected: Vec<_> =
        diff.files.iter().map(|file| (&file.path, u64::from(file.additions), u64::from(file.deletions))).collect();
    assert_eq!(sizes, expected);
    assert!(details.preview.is_some_and(|preview| preview.as_str().starts_with("https://acme-")));
}

#[tokio::test]
async fn titles_notes_and_commits_contain_neither_control_sequences_nor_the_token() {
    let (sim, links, client) = start_gitlab().await;
    sim.set_host_fault(Some(HostFault::HostileText));
    let state = state_of(&client, &links[0]).await.expect("a state");
    let details = client.details(&links[0]).await.result.expect("details");
    let texts = details.entries.iter().map(|entry| entry.text.as_str());
    let texts = texts.chain([state.title.as_str(), details.commits[0].title.as_str()]);
    for text in texts.filter(|text| !text.is_empty()) {
        assert!(text.ends_with("***"), "{text:?}");
        assert!(!text.contains(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}'), "{text:?}");
    }
    // The control sequences of a diff are removed where it is shown.
    let diff = client.diff(&links[0]).await.result.expect("a diff").text;
    assert!(diff.contains("***") && !diff.contains(sim.host_token(HostKind::GitLab)));
}

#[tokio::test]
async fn a_diff_has_all_files_of_the_merge_request() {
    let (sim, links, client) = start_gitlab().await;
    for link in &links[..3] {
        let state = state_of(&client, link).await.expect("a state");
        let reported = client.diff(link).await.result.expect("a diff");
        let diff = Diff::parse(reported.text);
        assert_eq!((Some(diff.files.len() as u64), reported.is_truncated), (state.files, false));
    }
    sim.set_host_fault(Some(HostFault::ManyFiles));
    let response = client.diff(&links[0]).await;
    assert_eq!(response.budget.cost, Some(11), "GitLab's pages have at most 30 files");
    let reported = response.result.expect("a diff");
    assert_eq!((Diff::parse(reported.text).files.len() > 300, reported.is_truncated), (true, false));
    for (fault, kind) in
        [(HostFault::ExpiredToken, HostErrorKind::Unauthorized), (HostFault::LimitInStatus, HostErrorKind::Limited)]
    {
        sim.set_host_fault(Some(fault));
        assert_eq!(client.diff(&links[0]).await.result.expect_err("a fault").kind, kind);
    }
}
