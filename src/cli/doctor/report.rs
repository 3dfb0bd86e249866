//! The doctor's report, as lines for people and as JSON. Because reports are posted in public, the key is removed, ids
//! are shortened, and the home folder is written as `~` in everything that a check reports.

use crate::model::colors::ColorRole;
use crate::model::endpoint::ApiKey;
use crate::model::redaction::{Redactor, redacted_setting};
use crate::model::text::CleanText;
use serde_json::{Value, json};
use std::path::PathBuf;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckState {
    Ok,
    /// The checked thing works, but may cause trouble.
    Warning,
    /// The checked thing doesn't work.
    Problem,
    /// The check was not run.
    Skipped,
}

impl CheckState {
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warning => "warning",
            Self::Problem => "problem",
            Self::Skipped => "skipped",
        }
    }

    fn role(self) -> ColorRole {
        match self {
            Self::Ok => ColorRole::Good,
            Self::Warning => ColorRole::Warning,
            Self::Problem => ColorRole::Bad,
            Self::Skipped => ColorRole::Muted,
        }
    }
}

/// The result of one check, as listed in the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DoctorCheck {
    pub(super) section: &'static str,
    pub(super) name: &'static str,
    pub(super) state: CheckState,
    pub(super) message: String,
    /// What the user can do about a warning or a problem.
    pub(super) remedy: Option<String>,
}

/// Data that must not appear in the report.
#[derive(Debug, Default)]
pub(super) struct PrivateData {
    pub(super) key: Option<ApiKey>,
    /// The ids of the project and of the organization.
    pub(super) ids: Vec<String>,
    pub(super) home: Option<PathBuf>,
}

/// Ids with fewer characters are not masked in texts, because they may be ordinary words.
const MIN_MASKED_ID_CHARS: usize = 4;

impl PrivateData {
    /// Masks private data in the text.
    fn mask(&self, text: &str) -> String {
        let mut text = redacted_setting(text).into_owned();
        if let Some(key) = &self.key {
            text = Redactor::new(key).redacted(&text).into_owned();
        }
        for id in self.ids.iter().filter(|id| id.chars().count() >= MIN_MASKED_ID_CHARS) {
            text = text.replace(id.as_str(), &mask_id(id));
        }
        let home = self.home.as_ref().and_then(|home| home.to_str()).filter(|home| home.len() > 1);
        home.map_or(text.clone(), |home| with_tilde(&text, home))
    }
}

/// Replaces the home folder with `~`, but not another folder whose name begins with the same characters.
fn with_tilde(text: &str, home: &str) -> String {
    let mut parts = text.split(home);
    let mut short = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_other_name = part.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
        short.push_str(if is_other_name { home } else { "~" });
        short.push_str(part);
    }
    short
}

/// Returns the first 4 characters of the id and `***`, or only `***` if the id is short. That is enough for users to
/// tell their projects apart, but useless to others.
pub(super) fn mask_id(id: &str) -> String {
    let head: String = id.chars().take(if id.chars().count() > 8 { 4 } else { 0 }).collect();
    format!("{head}***")
}

#[derive(Debug, Default)]
pub(super) struct DoctorReport {
    pub(super) checks: Vec<DoctorCheck>,
    pub(super) private: PrivateData,
    section: &'static str,
}

impl DoctorReport {
    /// Starts a section. Checks that are added afterwards belong to it.
    pub(super) fn begin_section(&mut self, section: &'static str) {
        self.section = section;
    }

    pub(super) fn ok(&mut self, name: &'static str, message: impl Into<String>) {
        self.add(name, CheckState::Ok, message.into(), None);
    }

    pub(super) fn skipped(&mut self, name: &'static str, why: impl Into<String>) {
        self.add(name, CheckState::Skipped, why.into(), None);
    }

    pub(super) fn warning(&mut self, name: &'static str, message: impl Into<String>, remedy: impl Into<String>) {
        self.add(name, CheckState::Warning, message.into(), Some(remedy.into()));
    }

    pub(super) fn problem(&mut self, name: &'static str, message: impl Into<String>, remedy: impl Into<String>) {
        self.add(name, CheckState::Problem, message.into(), Some(remedy.into()));
    }

    /// Adds a problem whose message already contains the remedy.
    pub(super) fn problem_with_remedy(&mut self, name: &'static str, sentence: impl Into<String>) {
        self.add(name, CheckState::Problem, sentence.into(), None);
    }

    fn add(&mut self, name: &'static str, state: CheckState, message: String, remedy: Option<String>) {
        self.checks.push(DoctorCheck { section: self.section, name, state, message, remedy });
    }

    /// Returns the number of checks in this state.
    pub(super) fn count(&self, state: CheckState) -> usize {
        self.checks.iter().filter(|check| check.state == state).count()
    }

    fn clean(&self, text: &str) -> String {
        self.private.mask(CleanText::line(text).as_str())
    }

    /// Returns the report as JSON. Scripts rely on the names of its fields.
    pub(super) fn json(&self, head: &ReportHead) -> Value {
        let checks = self.checks.iter().map(|check| {
            json!({
                "section": check.section,
                "check": check.name,
                "state": check.state.word(),
                "says": self.clean(&check.message),
                "remedy": check.remedy.as_deref().map(|remedy| self.clean(remedy)),
            })
        });
        json!({
            "version": head.version,
            "platform": head.platform,
            "at": head.at,
            "ok": self.count(CheckState::Problem) == 0,
            "problems": self.count(CheckState::Problem),
            "warnings": self.count(CheckState::Warning),
            "checks": checks.collect::<Vec<Value>>(),
        })
    }

    /// Returns the report as lines for people, wrapped to `width` if given. `paint` adds the colour of a role to a
    /// text.
    pub(super) fn lines(
        &self,
        head: &ReportHead,
        width: Option<usize>,
        paint: impl Fn(ColorRole, &str) -> String,
    ) -> Vec<String> {
        let mut lines = vec![format!("docdeck {} on {}, {}", head.version, head.platform, head.at)];
        let mut section = "";
        for check in &self.checks {
            if check.section != section {
                section = check.section;
                lines.push(String::new());
                lines.push(paint(ColorRole::Title, section));
            }
            let state = format!("{:7}", check.state.word());
            let label = format!(
                "  {}  {}",
                paint(check.state.role(), &state),
                paint(ColorRole::Muted, &format!("{:13}", check.name))
            );
            let mut rest = wrap_message(&self.clean(&check.message), width).into_iter();
            lines.push(format!("{label} {}", rest.next().unwrap_or_default()).trim_end().to_owned());
            lines.extend(rest.map(|line| format!("{MARGIN}{line}")));
            let remedy =
                check.remedy.iter().flat_map(|remedy| wrap_message(&format!("> {}", self.clean(remedy)), width));
            lines.extend(remedy.map(|line| format!("{MARGIN}{line}")));
        }
        lines.push(String::new());
        lines.push(self.verdict());
        lines
    }

    fn verdict(&self) -> String {
        let some = |n: usize, one: &str| match n {
            1 => format!("1 {one}"),
            n => format!("{n} {one}s"),
        };
        match (self.count(CheckState::Problem), self.count(CheckState::Warning)) {
            (0, 0) => "No problems.".to_owned(),
            (0, warnings) => format!("No problems, {}.", some(warnings, "warning")),
            (problems, 0) => format!("{}.", some(problems, "problem")),
            (problems, warnings) => format!("{}, {}.", some(problems, "problem"), some(warnings, "warning")),
        }
    }
}

/// The indent of the continuation lines of a wrapped message: 2 spaces, state (7), 2 spaces, name (13), 1 space.
const MARGIN: &str = "                         ";

/// What the first line of the report states.
#[derive(Debug)]
pub(super) struct ReportHead {
    pub(super) version: String,
    pub(super) platform: String,
    /// When the checks were run, as RFC 3339 in UTC.
    pub(super) at: String,
}

/// Wraps the text to `width` columns minus the margin. Returns one line if `width` is `None`.
fn wrap_message(text: &str, width: Option<usize>) -> Vec<String> {
    use unicode_width::UnicodeWidthStr as _;
    let Some(columns) = width.map(|width| width.saturating_sub(MARGIN.len()).max(24)) else {
        return vec![text.to_owned()];
    };
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> ReportHead {
        ReportHead { version: "1.2.3".into(), platform: "linux x86_64".into(), at: "2026-11-20T12:00:00Z".into() }
    }

    fn report() -> DoctorReport {
        let mut report = DoctorReport::default();
        report.begin_section("Configuration");
        report.ok("file", "/home/me/.config/docdeck/config.toml");
        report.begin_section("Service");
        report.problem(
            "key",
            "The service says: mint_5ecret of 66f1c0ffee99 is unknown",
            "put a new one into /home/me/key",
        );
        report.private = PrivateData {
            key: ApiKey::new("mint_5ecret"),
            ids: vec!["66f1c0ffee99".into()],
            home: Some("/home/me".into()),
        };
        report
    }

    #[test]
    fn the_report_contains_neither_key_nor_ids_nor_the_home_folder() {
        let outputs =
            [report().lines(&head(), None, |_, text| text.to_owned()).join("\n"), report().json(&head()).to_string()];
        for output in outputs {
            for private in ["5ecret", "c0ffee", "/home/me"] {
                assert!(!output.contains(private), "{private}: {output}");
            }
            assert!(output.contains("~/.config/docdeck/config.toml") && output.contains("66f1***"), "{output}");
        }
    }

    #[test]
    fn lines_are_aligned_and_wrapped() {
        let lines = report().lines(&head(), Some(58), |_, text| text.to_owned());
        assert_eq!(
            lines,
            [
                "docdeck 1.2.3 on linux x86_64, 2026-11-20T12:00:00Z",
                "",
                "Configuration",
                "  ok       file          ~/.config/docdeck/config.toml",
                "",
                "Service",
                "  problem  key           The service says: *** of 66f1***",
                "                         is unknown",
                "                         > put a new one into ~/key",
                "",
                "1 problem."
            ]
        );
    }

    #[test]
    fn the_verdict_counts_problems_and_warnings() {
        let mut report = report();
        report.warning("clock", "is off", "set it");
        report.warning("file", "is old", "renew it");
        assert_eq!(report.verdict(), "1 problem, 2 warnings.");
        assert_eq!(DoctorReport::default().verdict(), "No problems.");
        let shape = report.json(&head());
        assert_eq!((&shape["ok"], &shape["problems"], &shape["warnings"]), (&json!(false), &json!(1), &json!(2)));
        assert_eq!(shape["checks"][1]["state"], "problem");
    }

    #[test]
    fn only_the_home_folder_itself_becomes_a_tilde() {
        assert_eq!(with_tilde("/home/me, /home/me/x, /home/me", "/home/me"), "~, ~/x, ~");
        assert_eq!(with_tilde("/home/me2/x", "/home/me"), "/home/me2/x");
    }

    #[test]
    fn a_short_id_is_masked_completely() {
        assert_eq!((mask_id("docs").as_str(), mask_id("66f1c0ffee99").as_str()), ("***", "66f1***"));
    }
}
