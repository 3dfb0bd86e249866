//! The doctor's report, as lines for people and as JSON. Because reports are posted in public, the key is removed, ids
//! are shortened, and the home folder is written as `~` in everything that a check reports.

use super::super::out::{Out, rfc3339_seconds};
use crate::model::colors::ColorRole;
use crate::model::endpoint::ApiKey;
use crate::model::redaction::{Redactor, redacted_setting};
use crate::model::text::CleanText;
use crate::tui::format::plural;
use crate::tui::wrap::wrap;
use chrono::Utc;
use serde_json::{Value, json};
use std::env::consts::{ARCH, OS};
use std::fmt::Display;
use std::path::PathBuf;

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FindingState {
    Ok,
    /// The checked thing works, but may cause trouble.
    Warning,
    /// The checked thing doesn't work.
    Problem,
    /// The check was not run.
    Skipped,
}

impl FindingState {
    /// Returns the word for the state, and its colour.
    fn label(self) -> (&'static str, ColorRole) {
        match self {
            Self::Ok => ("ok", ColorRole::Good),
            Self::Warning => ("warning", ColorRole::Warning),
            Self::Problem => ("problem", ColorRole::Bad),
            Self::Skipped => ("skipped", ColorRole::Muted),
        }
    }
}

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) state: FindingState,
    message: String,
    /// What the user can do about the warning or problem.
    remedy: Option<String>,
}

/// The result of a check. `None` leaves the check out of the report, because it does not apply here or has nothing to
/// report.
pub(super) type CheckResult = Option<Finding>;

pub(super) fn ok(message: impl Display) -> CheckResult {
    Some(Finding { state: FindingState::Ok, message: message.to_string(), remedy: None })
}

pub(super) fn skipped(why: impl Display) -> CheckResult {
    Some(Finding { state: FindingState::Skipped, message: why.to_string(), remedy: None })
}

/// Returns the result of a check that was not run, with a remedy that lets it run.
pub(super) fn skipped_with_remedy(message: impl Display, remedy: impl Display) -> CheckResult {
    Some(Finding { state: FindingState::Skipped, message: message.to_string(), remedy: Some(remedy.to_string()) })
}

pub(super) fn warning(message: impl Display, remedy: impl Display) -> CheckResult {
    Some(Finding { state: FindingState::Warning, message: message.to_string(), remedy: Some(remedy.to_string()) })
}

pub(super) fn problem(message: impl Display, remedy: impl Display) -> CheckResult {
    Some(Finding { state: FindingState::Problem, message: message.to_string(), remedy: Some(remedy.to_string()) })
}

/// Returns a [`FindingState::Problem`] for an error whose message already contains the remedy.
pub(super) fn error(error: impl Display) -> CheckResult {
    Some(Finding { state: FindingState::Problem, message: error.to_string(), remedy: None })
}

/// Data that must not appear in the report.
#[derive(Debug, Default)]
pub(super) struct PrivateData {
    pub(super) key: Option<ApiKey>,
    /// The ids of the project and of the organization, and the names of repositories.
    pub(super) private_names: Vec<String>,
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
        for id in self.private_names.iter().filter(|id| id.chars().count() >= MIN_MASKED_ID_CHARS) {
            text = text.replace(id.as_str(), &mask_id(id));
        }
        let home = self.home.as_ref().and_then(|home| home.to_str()).filter(|home| home.len() > 1);
        home.map_or(text.clone(), |home| with_tilde(&text, home))
    }
}

/// Replaces the home folder with `~` to hide the name of the user, also inside a longer path: `/mnt/home/ana` becomes
/// `/mnt~`. A folder whose name only begins with the same characters, such as `/home/anabel`, is kept.
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

/// Returns the first 4 characters of the id and `***`, or only `***` if the id has at most 8 characters. With 4
/// characters, users can distinguish their projects, but nobody can use the id.
pub(super) fn mask_id(id: &str) -> String {
    let head: String = id.chars().take(if id.chars().count() > 8 { 4 } else { 0 }).collect();
    format!("{head}***")
}

#[derive(Debug, Default)]
pub(super) struct DoctorReport {
    /// The section, the name of the check, and what it found.
    pub(super) findings: Vec<(&'static str, &'static str, Finding)>,
    pub(super) private_data: PrivateData,
}

impl DoctorReport {
    pub(super) fn count(&self, state: FindingState) -> usize {
        self.findings.iter().filter(|(.., found)| found.state == state).count()
    }

    /// Returns the text as one line without control characters and private data.
    fn clean(&self, text: &str) -> String {
        self.private_data.mask(CleanText::line(text).as_str())
    }

    /// Returns the report as JSON. Scripts rely on the names of its fields.
    pub(super) fn json(&self) -> Value {
        let checks = self.findings.iter().map(|(section, name, found)| {
            json!({
                "section": section,
                "check": name,
                "state": found.state.label().0,
                "message": self.clean(&found.message),
                "remedy": found.remedy.as_deref().map(|remedy| self.clean(remedy)),
            })
        });
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "platform": format!("{OS} {ARCH}"),
            "at": rfc3339_seconds(Utc::now()),
            "ok": self.count(FindingState::Problem) == 0,
            "problems": self.count(FindingState::Problem),
            "warnings": self.count(FindingState::Warning),
            "checks": checks.collect::<Vec<Value>>(),
        })
    }

    /// Returns the report as lines for people, wrapped to `width` if given.
    pub(super) fn lines(&self, out: &Out, width: Option<usize>) -> Vec<String> {
        let (version, at) = (env!("CARGO_PKG_VERSION"), rfc3339_seconds(Utc::now()));
        let mut lines = vec![format!("docdeck {version} on {OS} {ARCH}, {at}")];
        let mut last = "";
        for (section, name, Finding { state, message, remedy }) in &self.findings {
            if *section != last {
                last = section;
                lines.extend([String::new(), out.paint(ColorRole::Title, section)]);
            }
            let (word, role) = state.label();
            let (word, name) = (format!("{word:7}"), format!("{name:13}"));
            let label = format!("  {}  {}", out.paint(role, &word), out.paint(ColorRole::Muted, &name));
            let mut rest = wrap_message(&self.clean(message), width).into_iter();
            lines.push(format!("{label} {}", rest.next().unwrap_or_default()).trim_end().to_owned());
            let remedy = remedy.iter().flat_map(|remedy| wrap_message(&format!("> {}", self.clean(remedy)), width));
            lines.extend(rest.chain(remedy).map(|line| format!("{:MESSAGE_INDENT$}{line}", "")));
        }
        lines.extend([String::new(), self.summary()]);
        lines
    }

    fn summary(&self) -> String {
        let problems = match self.count(FindingState::Problem) {
            0 => "No problems".to_owned(),
            n => plural(n, "problem"),
        };
        match self.count(FindingState::Warning) {
            0 => format!("{problems}."),
            n => format!("{problems}, {}.", plural(n, "warning")),
        }
    }
}

/// The indent of the continuation lines of a wrapped message: 2 spaces, state (7), 2 spaces, name (13), 1 space.
const MESSAGE_INDENT: usize = 25;

/// Wraps the text to `width` columns minus the indent, but to at least 24 columns. Returns one line if `width` is
/// `None`.
fn wrap_message(text: &str, width: Option<usize>) -> Vec<String> {
    let columns = width.map_or(usize::MAX, |width| width.saturating_sub(MESSAGE_INDENT).max(24));
    wrap(text, columns, usize::MAX - 1).0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> DoctorReport {
        let message = "The service says: mint_5ecret of 66f1c0ffee99 is unknown";
        let findings = [
            ("Configuration", "file", ok("/home/me/.config/docdeck/config.toml")),
            ("Service", "key", problem(message, "put a new one into /home/me/key")),
        ];
        DoctorReport {
            findings: findings.into_iter().filter_map(|(section, name, found)| Some((section, name, found?))).collect(),
            private_data: PrivateData {
                key: ApiKey::new("mint_5ecret"),
                private_names: vec!["66f1c0ffee99".into()],
                home: Some("/home/me".into()),
            },
        }
    }

    #[test]
    fn the_report_contains_neither_key_nor_ids_nor_the_home_folder() {
        let outputs = [report().lines(&Out::from_process(), None).join("\n"), report().json().to_string()];
        for output in outputs {
            for private in ["5ecret", "c0ffee", "/home/me"] {
                assert!(!output.contains(private), "{private}: {output}");
            }
            assert!(output.contains("~/.config/docdeck/config.toml") && output.contains("66f1***"), "{output}");
        }
    }

    #[test]
    fn lines_are_aligned_and_wrapped() {
        let lines = report().lines(&Out::from_process(), Some(58));
        assert!(lines[0].starts_with(concat!("docdeck ", env!("CARGO_PKG_VERSION"), " on ")), "{}", lines[0]);
        assert_eq!(
            lines[1..],
            [
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
        let warnings = [("clock", warning("is off", "set it")), ("file", warning("is old", "renew it"))];
        report.findings.extend(warnings.into_iter().filter_map(|(name, found)| Some(("Service", name, found?))));
        assert_eq!(report.summary(), "1 problem, 2 warnings.");
        assert_eq!(DoctorReport::default().summary(), "No problems.");
        let shape = report.json();
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
