use super::*;
use crate::sim::code_host::ActionRequest;
use axum::http::Method;
use serde_json::{Value, json};
use std::collections::HashSet;

fn at(seconds: i64) -> Time {
    Time::from_timestamp(1_795_000_000 + seconds, 0).expect("in range")
}

fn world(options: &SimOptions) -> SimWorld {
    SimWorld::new(options, at(0))
}

fn status(world: &SimWorld, id: &str, now: Time) -> Option<Status> {
    world.job(id, now).expect("a known job").state.status
}

#[test]
fn only_the_same_seed_gives_the_same_jobs() {
    let live = |seed| {
        let mut world = world(&SimOptions { seed, ..SimOptions::default() });
        let made: Vec<String> = (0..20).map(|n| world.create(&format!("job {n}"), at(n)).id).collect();
        let ends = made.iter().map(|id| format!("{:?}", world.job(id, at(10_000))));
        (ends.collect::<Vec<_>>(), format!("{:?}", world.initial_jobs(at(60))))
    };
    assert_eq!(live(7), live(7));
    assert_ne!(live(7), live(8));
}

#[test]
fn a_new_job_completes_then_gets_its_link_and_is_then_archived() {
    let mut world = world(&SimOptions::default());
    let job = world.create("Fix it [sim:seconds=30][sim:late-link=4][sim:archive=60]", at(0));
    assert_eq!((job.state.status, job.state.pr_link, job.state.archived_at), (Some(Status::Active), None, None));
    assert_eq!(job.state.source.git_ref, Some(CleanText::line("agent/fix-it")));
    assert_eq!(status(&world, &job.id, at(29)), Some(Status::Active));
    let fresh = world.job(&job.id, at(30)).expect("known");
    assert_eq!((fresh.state.status, fresh.state.pr_link), (Some(Status::Completed), None));
    let linked = world.job(&job.id, at(34)).expect("known");
    assert!(linked.state.pr_link.is_some_and(|link| crate::model::remote_job::pr_number(link.as_str()).is_some()));
    let archived = world.job(&job.id, at(90)).expect("known");
    assert_eq!(archived.state.status, Some(Status::Archived));
    assert_eq!(archived.state.archived_at, Some(at(90)));
}

#[test]
fn the_directives_of_a_prompt_can_request_every_outcome() {
    let mut world = world(&SimOptions::default());
    let mut end_of = |prompt: &str| {
        let id = world.create(prompt, at(0)).id;
        let end = world.job(&id, at(600)).expect("known");
        (end.state.status, end.state.pr_link.is_some())
    };
    assert_eq!(end_of("[sim:pr]"), (Some(Status::Completed), true));
    assert_eq!(end_of("[sim:no-pr]"), (Some(Status::Completed), false));
    assert_eq!(end_of("[sim:fail]"), (Some(Status::Failed), false));
    assert_eq!(end_of("[sim:status=reviewing]"), (Some(Status::parse("reviewing")), false));
    assert_eq!(end_of("[sim:archive]"), (Some(Status::Archived), true));
}

#[test]
fn a_follow_up_resumes_even_an_archived_job_and_keeps_its_pull_request() {
    let mut world = world(&SimOptions::default());
    let id = world.create("[sim:seconds=10][sim:archive]", at(0)).id;
    let before = world.job(&id, at(20)).expect("known");
    assert_eq!(before.state.status, Some(Status::Archived));
    let woken = world.follow_up(&id, "[sim:seconds=5]", at(20)).expect("known");
    assert_eq!((woken.state.status, woken.state.pr_link, woken.state.archived_at), (Some(Status::Active), None, None));
    assert_eq!(woken.created_at, before.created_at);
    let after = world.job(&id, at(25)).expect("known");
    assert_eq!((after.state.status, after.state.pr_link), (Some(Status::Completed), before.state.pr_link));
}

#[test]
fn a_follow_up_to_an_active_job_never_makes_it_end_earlier() {
    let mut world = world(&SimOptions::default());
    let id = world.create("[sim:seconds=100]", at(0)).id;
    world.follow_up(&id, "[sim:seconds=5]", at(10)).expect("known");
    assert_eq!(status(&world, &id, at(99)), Some(Status::Active));
    world.follow_up(&id, "[sim:seconds=50]", at(90)).expect("known");
    assert_eq!(status(&world, &id, at(139)), Some(Status::Active));
    assert_eq!(status(&world, &id, at(140)), Some(Status::Completed));
}

#[test]
fn an_unknown_job_is_not_found_and_accepts_no_prompt() {
    let mut world = world(&SimOptions::default());
    assert!(world.job("nobody", at(0)).is_none());
    assert!(world.follow_up("nobody", "x", at(0)).is_none());
    assert!(world.received_prompts().is_empty());
}

#[test]
fn speed_shortens_runs() {
    let mut world = world(&SimOptions { speed: 10.0, ..SimOptions::default() });
    let id = world.create("[sim:seconds=100]", at(0)).id;
    assert_eq!(status(&world, &id, at(9)), Some(Status::Active));
    assert_eq!(status(&world, &id, at(10)), Some(Status::Completed));
}

#[test]
fn all_jobs_end_within_eight_minutes_and_most_of_them_with_a_pull_request() {
    let mut world = world(&SimOptions { jobs: 0, ..SimOptions::default() });
    let ids: Vec<String> = (0..400).map(|n| world.create(&format!("job {n}"), at(0)).id).collect();
    assert!(ids.iter().all(|id| status(&world, id, at(19)) == Some(Status::Active)));
    let ends: Vec<JobBody> = ids.iter().map(|id| world.job(id, at(501)).expect("known")).collect();
    let count = |what: &dyn Fn(&JobBody) -> bool| ends.iter().filter(|job| what(job)).count();
    assert_eq!(count(&|job| job.state.status == Some(Status::Active)), 0);
    assert!((250..340).contains(&count(&|job| job.state.pr_link.is_some())));
    assert!(
        (20..80).contains(&count(&|job| job.state.status == Some(Status::Completed) && job.state.pr_link.is_none()))
    );
    assert!((20..80).contains(&count(&|job| job.state.status == Some(Status::Failed))));
    let later = ids.iter().filter(|id| status(&world, id, at(4000)) == Some(Status::Archived)).count();
    assert!((10..80).contains(&later), "{later}");
    let comes_late = |id: &String, second: i64| {
        let (job, soon) = (world.job(id, at(second)), world.job(id, at(second + 20)));
        let (job, soon) = (job.expect("known"), soon.expect("known"));
        job.state.status == Some(Status::Completed) && job.state.pr_link.is_none() && soon.state.pr_link.is_some()
    };
    let links_come_late = ids.iter().any(|id| (20..500).any(|second| comes_late(id, second)));
    assert!(links_come_late);
}

#[test]
fn prompts_are_stored_in_the_order_of_arrival() {
    let mut world = world(&SimOptions::default());
    let id = world.create("first", at(0)).id;
    world.follow_up(&id, "second", at(1));
    assert_eq!(world.received_prompts(), [(id.clone(), "first".to_owned()), (id, "second".to_owned())]);
}

#[test]
fn the_initial_jobs_have_every_state_and_six_of_them_finish_soon() {
    let world = world(&SimOptions::default());
    let seeded = world.initial_jobs(at(0));
    assert_eq!(seeded.len(), 24);
    let words: HashSet<&str> =
        seeded.iter().filter_map(|job| job.body.state.status.as_ref()).map(Status::word).collect();
    assert_eq!(words, HashSet::from(["active", "completed", "failed", "archived", "reviewing"]));
    let active =
        |now| world.initial_jobs(now).iter().filter(|job| job.body.state.status == Some(Status::Active)).count();
    assert_eq!([active(at(0)), active(at(18)), active(at(100)), active(at(182))], [6, 5, 2, 0]);
    assert!(seeded.iter().all(|job| job.created_at < at(0) && job.finished_at.is_none_or(|end| end <= at(0))));
    assert!(seeded.iter().any(|job| !job.follow_ups.is_empty()));
    let oldest = at(0) - seeded.iter().map(|job| job.created_at).min().expect("some");
    assert!(oldest > TimeDelta::days(7) && oldest < TimeDelta::days(120), "{oldest}");
    let links: HashSet<&str> =
        seeded.iter().filter_map(|job| job.body.state.pr_link.as_ref()).map(CleanText::as_str).collect();
    assert_eq!(links.len(), seeded.iter().filter(|job| job.body.state.pr_link.is_some()).count());
}

#[test]
fn the_history_of_an_initial_job_ends_in_its_current_state() {
    for job in world(&SimOptions { jobs: 200, ..SimOptions::default() }).initial_jobs(at(0)) {
        assert!(job.changes.is_sorted_by_key(|(at, _)| *at));
        assert!(job.changes.iter().all(|(change_at, _)| *change_at >= job.created_at && *change_at <= at(0)));
        assert_eq!(job.changes.last().map(|(_, state)| state), Some(&job.body.state));
        assert_eq!(job.follow_ups.len(), job.follow_up_times.len());
    }
}

#[test]
fn any_number_of_initial_jobs_can_be_created() {
    for jobs in [0, 1, 2, 7, 500] {
        let seeded = world(&SimOptions { jobs, ..SimOptions::default() }).initial_jobs(at(0));
        let ids: HashSet<&String> = seeded.iter().map(|job| &job.id).collect();
        assert_eq!(ids.len(), jobs as usize);
    }
}

/// Returns what GitHub responds about the state, the checks and the reviews of a pull request.
fn on_github(world: &SimWorld, url: &str, now: Time) -> Vec<Value> {
    let read = |fields: &str| {
        let query = format!("query {{ rateLimit }} fragment Part on PullRequest {{ {fields} }}");
        let body = json!({ "query": query, "variables": { "u0": url } }).to_string();
        let (reply, _) = world.code_host(now, None, "", None).graphql_reply(body.as_bytes());
        let reply: Value = serde_json::from_slice(&reply.body).expect("JSON");
        reply["data"]["p0"].clone()
    };
    ["state", "statusCheckRollup", "reviews("].map(read).to_vec()
}

#[test]
fn a_merged_pull_request_has_no_running_checks_and_does_not_change() {
    let mut world = world(&SimOptions { jobs: 0, ..SimOptions::default() });
    let urls = |world: &mut SimWorld| {
        let job = world.create("Fix it [sim:seconds=0]", at(0));
        job.state.pr_link.expect("a link").to_string()
    };
    let (mut has_changed, mut merges) = (false, 0);
    for url in (0..40).map(|_| urls(&mut world)).collect::<Vec<_>>() {
        let open = on_github(&world, &url, at(1));
        let body = json!({ "sha": open[0]["headRefOid"], "merge_method": "squash" }).to_string();
        let merge = ActionRequest { method: &Method::PUT, path: "merge", body: body.as_bytes() };
        let (_, done) = world.code_host(at(1), None, "", None).perform_action(&url, &merge);
        // Drafts and pull requests with conflicts can't be merged.
        let Some((number, actions)) = done else { continue };
        let if_open = on_github(&world, &url, at(3600));
        world.set_host_actions(number, actions);
        let merged = on_github(&world, &url, at(1));
        assert_eq!(merged[0]["state"], "MERGED");
        let checks = merged[1].to_string();
        assert!(checks.contains("COMPLETED") && !checks.contains("IN_PROGRESS"), "{checks}");
        for second in [60, 3600, 100_000] {
            assert_eq!(on_github(&world, &url, at(second)), merged, "{number}");
        }
        has_changed |= if_open[2] != merged[2];
        merges += 1;
    }
    assert!(merges > 20 && has_changed, "without the merge, reviews would have arrived");
}

#[test]
fn the_initial_pull_requests_have_every_state_and_reviews_arrive() {
    let world = world(&SimOptions::default());
    let on_github_at = |now| {
        let urls = world.initial_jobs(now).into_iter().filter_map(|job| job.body.state.pr_link);
        let urls = urls.filter(|url| url.as_str().starts_with("https://github.com/")).map(|url| url.to_string());
        urls.map(|url| on_github(&world, &url, now)).collect::<Vec<_>>()
    };
    let start = on_github_at(at(0));
    for (fields, value) in [
        ("/0/state", "MERGED"),
        ("/0/state", "CLOSED"),
        ("/0/mergeStateStatus", "CLEAN"),
        ("/0/mergeStateStatus", "DIRTY"),
        ("/0/mergeStateStatus", "BEHIND"),
        ("/0/reviewDecision", "CHANGES_REQUESTED"),
        ("/1/commits/nodes/0/commit/statusCheckRollup/state", "FAILURE"),
    ] {
        let has_value = |read: &&Vec<Value>| json!(read).pointer(fields) == Some(&json!(value));
        assert!(start.iter().any(|read| has_value(&read)), "{value}");
    }
    assert!(start.iter().any(|read| read[0]["isInMergeQueue"] == true));
    let change_requests =
        |read: &[Vec<Value>]| read.iter().filter(|read| read[0]["reviewDecision"] == "CHANGES_REQUESTED").count();
    let later = on_github_at(at(600));
    assert!(change_requests(&later) > change_requests(&start));
    assert!(later.iter().any(|read| read[0]["isDraft"] == true));
    // Nothing is dated in the future.
    for read in on_github_at(at(35)) {
        for comment in read[2]["comments"]["nodes"].as_array().expect("comments") {
            let time: Time = comment["createdAt"].as_str().and_then(|time| time.parse().ok()).expect("a time");
            assert!(time <= at(35), "{time}");
        }
    }
}
