//! The builds of site previews. A build is queued, then in progress, and then succeeds, unless the name of its branch
//! contains `broken`.

use super::options::scaled;
use super::rng::mix;
use crate::model::Time;
use chrono::TimeDelta;
use serde_json::{Value, json};

/// How long a build is queued, at speed 1.
const QUEUED_FOR: TimeDelta = TimeDelta::seconds(3);
/// How long after its start a build ends, at speed 1.
const ENDS_AFTER: TimeDelta = TimeDelta::seconds(12);

#[derive(Debug, Default)]
pub(super) struct SimPreviews {
    builds: Vec<SimBuild>,
}

#[derive(Debug)]
struct SimBuild {
    branch: String,
    started_at: Time,
}

impl SimPreviews {
    /// Starts a build. Returns the response.
    pub(super) fn start(&mut self, branch: &str, now: Time) -> Value {
        self.builds.push(SimBuild { branch: branch.to_owned(), started_at: now });
        let hash = branch.bytes().fold(0, |hash, byte| mix(hash ^ u64::from(byte)));
        let url = format!("https://acme-docs-{:08x}.mintlify.site/", hash >> 32);
        json!({ "statusId": format!("build-{}", self.builds.len()), "previewUrl": url })
    }

    /// Returns the state of a build, or `None` for an unknown id.
    pub(super) fn status(&self, id: &str, speed: f64, now: Time) -> Option<Value> {
        let number: usize = id.strip_prefix("build-")?.parse().ok()?;
        let build = self.builds.get(number.checked_sub(1)?)?;
        let age = now - build.started_at;
        let is_broken = build.branch.contains("broken");
        let (status, summary) = match () {
            () if age < scaled(QUEUED_FOR, speed) => ("queued", ""),
            () if age < scaled(ENDS_AFTER, speed) => ("in_progress", "Building pages"),
            () if is_broken => ("failure", "Syntax error in guides/webhooks.mdx"),
            () => ("success", "Preview deployed"),
        };
        let mut logs = vec![format!("Checking out {}", build.branch)];
        if status != "queued" {
            logs.push("Parsing 128 pages".to_owned());
        }
        if status == "failure" {
            logs.push("guides/webhooks.mdx:14:3: Expected a closing tag for <Steps>".to_owned());
        }
        Some(json!({
            "_id": id,
            "projectId": super::service::PROJECT,
            "createdAt": build.started_at.to_rfc3339(),
            "endedAt": matches!(status, "success" | "failure").then(|| (build.started_at + ENDS_AFTER).to_rfc3339()),
            "status": status,
            "summary": summary,
            "logs": logs,
            "subdomain": super::service::PROJECT,
            "commit": {
                "ref": build.branch,
                "message": "Update docs",
                "filesChanged": { "added": [], "modified": ["guides/webhooks.mdx"], "removed": [] },
            },
            "source": "api",
        }))
    }
}
