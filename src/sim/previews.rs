//! The builds of site previews. A build is queued, then in progress, and then succeeds, or fails if the name of its
//! branch contains `broken`. A build reports the files that the pull request of its branch changes.

use super::code_host::ChangedFile;
use super::options::scaled;
use super::rng::mix;
use crate::model::Time;
use chrono::TimeDelta;
use serde_json::{Value, json};

/// How long a build is queued, at speed 1.
const BUILD_QUEUE_TIME: TimeDelta = TimeDelta::seconds(3);
/// How long after its start a build ends, at speed 1.
const BUILD_DURATION: TimeDelta = TimeDelta::seconds(12);

#[derive(Debug, Default)]
pub(super) struct SimPreviews {
    builds: Vec<SimBuild>,
}

#[derive(Debug, Clone)]
pub(super) struct SimBuild {
    pub(super) branch: String,
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

    /// Returns the build with this id.
    pub(super) fn build(&self, id: &str) -> Option<&SimBuild> {
        let number: usize = id.strip_prefix("build-")?.parse().ok()?;
        self.builds.get(number.checked_sub(1)?)
    }
}

impl SimBuild {
    /// Returns the state of the build. `files` are the changed files of the branch.
    pub(super) fn status(&self, id: &str, files: &[ChangedFile], speed: f64, now: Time) -> Value {
        let age = now - self.started_at;
        let paths = |status| -> Vec<&str> {
            files.iter().filter(|file| file.status == status).map(|file| file.path.as_str()).collect()
        };
        let broken = files.first().map_or("docs.json", |file| file.path.as_str());
        let is_broken = self.branch.contains("broken");
        let (status, summary) = match () {
            () if age < scaled(BUILD_QUEUE_TIME, speed) => ("queued", String::new()),
            () if age < scaled(BUILD_DURATION, speed) => ("in_progress", "Building pages".to_owned()),
            () if is_broken => ("failure", format!("Syntax error in {broken}")),
            () => ("success", "Preview deployed".to_owned()),
        };
        let mut logs = vec![format!("Checking out {}", self.branch)];
        if status != "queued" {
            logs.push("Parsing 128 pages".to_owned());
        }
        if status == "failure" {
            logs.push(format!("{broken}:14:3: Expected a closing tag for <Steps>"));
        }
        json!({
            "_id": id,
            "projectId": super::service::PROJECT_ID,
            "createdAt": self.started_at.to_rfc3339(),
            "endedAt": matches!(status, "success" | "failure").then(|| (self.started_at + scaled(BUILD_DURATION, speed)).to_rfc3339()),
            "status": status,
            "summary": summary,
            "logs": logs,
            "subdomain": super::service::PROJECT_ID,
            "commit": {
                "ref": self.branch,
                "message": "Update docs",
                "filesChanged": { "added": paths("added"), "modified": paths("modified"), "removed": [] },
            },
            "source": "api",
        })
    }
}
