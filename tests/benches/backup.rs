//! Generates a backup with many jobs, for tests and benchmarks of the built program. All jobs are completed and have a
//! pull request. Every fiftieth job was not viewed and needs the user. No job is active, so docdeck sends no requests
//! to the service.

use std::fmt::Write as _;

/// Environment variables of a dashboard with these jobs. Nothing responds at the base URL.
pub(crate) const ENVIRONMENT: [(&str, &str); 4] = [
    ("DOCDECK_BASE_URL", "http://127.0.0.1:9"),
    ("DOCDECK_API_KEY", "mint_of_nobody"),
    ("DOCDECK_PROJECT_ID", "acme"),
    ("COLORTERM", "truecolor"),
];

/// Returns a backup of this many jobs, in the format of `docdeck export`.
pub(crate) fn backup_of_jobs(jobs: u32) -> String {
    backup(jobs, |_| String::new())
}

/// Like [`backup_of_jobs`], with the state of the pull request of four in five jobs. Half of these are merged, and
/// the others need the user; the checks of one in ten have failed.
pub(crate) fn backup_with_pull_requests(jobs: u32) -> String {
    backup(jobs, |n| if n.is_multiple_of(5) { String::new() } else { pull_request(n) })
}

/// Returns the fields of a job that has the state of a pull request, and was viewed, but not handled.
fn pull_request(n: u32) -> String {
    let state = if n.is_multiple_of(2) { "merged" } else { "open" };
    let merged_at = if n.is_multiple_of(2) { "\"2026-02-01T00:00:00Z\"" } else { "null" };
    let check = |name: &str| format!("{{\"name\":\"{name}\",\"url\":\"https://github.com/acme/docs/runs/{n}\"}}");
    let failed = format!("[{},{}]", check("broken links"), check("spelling"));
    let (checks, passed, failed) = if n % 10 == 3 { ("failing", 10, failed) } else { ("passing", 12, "[]".to_owned()) };
    format!(
        "\"pullRequest\":{{\"title\":\"Rewrite the guide about topic {n}\",\"state\":\"{state}\",\
         \"checks\":{{\"state\":\"{checks}\",\"passed\":{passed},\"total\":12,\"failed\":{failed}}},\
         \"review\":\"approved\",\"conflict\":false,\"behind\":false,\"head\":\"{n:040x}\",\
         \"branch\":\"agent/branch-{n}\",\"additions\":48,\"deletions\":12,\"files\":3,\"mergedAt\":{merged_at},\
         \"asOf\":\"2026-02-01T00:00:00Z\",\"changedAt\":\"2026-02-01T00:00:00Z\"}},\"handledAt\":null,"
    )
}

fn backup(jobs: u32, pull_request: fn(u32) -> String) -> String {
    let mut lines = "{\"kind\":\"docdeck\",\"version\":1}\n".to_owned();
    for n in 1..=jobs {
        let (day, hour, minute) = (1 + n % 28, n % 24, n % 60);
        let at = format!("2026-01-{day:02}T{hour:02}:{minute:02}:00Z");
        let viewed_at = if n.is_multiple_of(50) { "null" } else { "\"2026-02-01T00:00:00Z\"" };
        let text = format!("Rewrite the guide about topic {n}");
        let pull_request = pull_request(n);
        let _ = writeln!(
            lines,
            "{{\"kind\":\"job\",\"baseUrl\":\"http://127.0.0.1:9\",\"project\":\"acme\",\"id\":\"agent_{n:08}\",\
             \"status\":\"completed\",\
             \"source\":{{\"repository\":\"https://github.com/acme/docs\",\"ref\":\"agent/branch-{n}\"}},\
             \"model\":\"sonnet\",\"prLink\":\"https://github.com/acme/docs/pull/{n}\",\"createdAt\":\"{at}\",{pull_request}\
             \"title\":\"{text}\",\"startedAt\":\"{at}\",\"finishedAt\":\"{at}\",\"changedAt\":\"{at}\",\
             \"checkedAt\":\"2026-02-01T00:00:00Z\",\"viewedAt\":{viewed_at},\"prompts\":[{{\"kind\":\"create\",\
             \"text\":\"{text}\",\"delivery\":\"accepted\",\"writtenAt\":\"{at}\",\"sentAt\":\"{at}\"}}],\
             \"events\":[{{\"at\":\"{at}\",\"kind\":\"status\",\"from\":\"active\",\"to\":\"completed\"}}]}}"
        );
    }
    let _ = writeln!(lines, "{{\"kind\":\"end\",\"jobs\":{jobs},\"drafts\":0}}");
    lines
}
