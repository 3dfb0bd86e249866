//! What the doctor found, as lines for people and as JSON. Made to be pasted where everybody reads it: whatever a check says,
//! the key and ids do not leave this file, and the home folder is `~`.

use crate::model::colors::ColorRole;
use crate::model::endpoint::ApiKey;
use crate::model::redaction::{Redactor, redacted_setting};
use crate::model::text::CleanText;
use serde_json::{Value, json};
use std::path::PathBuf;

/// How a thing is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CheckState {
    Ok,
    /// It works, and will be in the way one day.
    Warning,
    /// It does not work.
    Problem,
    /// Not looked at, and why.
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

    fn meaning(self) -> ColorRole {
        match self {
            Self::Ok => ColorRole::Good,
            Self::Warning => ColorRole::Warning,
            Self::Problem => ColorRole::Bad,
            Self::Skipped => ColorRole::Muted,
        }
    }
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DoctorCheck {
    pub(super) section: &'static str,
    pub(super) name: &'static str,
    pub(super) state: CheckState,
    pub(super) says: String,
    /// What to do about it.
    pub(super) remedy: Option<String>,
}

/// What must not be read by everybody.
#[derive(Debug, Default)]
pub(super) struct Private {
    pub(super) key: Option<ApiKey>,
    /// Ids of project and organization.
    pub(super) ids: Vec<String>,
    pub(super) home: Option<PathBuf>,
}

/// Shortest id that is struck out wherever it stands: a shorter one is a word.
const SHORTEST_ID: usize = 4;

impl Private {
    /// The text, fit for everybody.
    fn strike(&self, text: &str) -> String {
        let mut text = redacted_setting(text).into_owned();
        if let Some(key) = &self.key {
            text = Redactor::new(key).redacted(&text).into_owned();
        }
        for id in self.ids.iter().filter(|id| id.chars().count() >= SHORTEST_ID) {
            text = text.replace(id.as_str(), &masked(id));
        }
        let home = self.home.as_ref().and_then(|home| home.to_str()).filter(|home| home.len() > 1);
        home.map_or(text.clone(), |home| at_home(&text, home))
    }
}

/// The text with `~` for the home folder, also where nothing comes after it; not for a folder beside it.
fn at_home(text: &str, home: &str) -> String {
    let mut parts = text.split(home);
    let mut short = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let goes_on = part.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.'));
        short.push_str(if goes_on { home } else { "~" });
        short.push_str(part);
    }
    short
}

/// The beginning of an id: enough to tell one's own projects apart, too little for others.
pub(super) fn masked(id: &str) -> String {
    let head: String = id.chars().take(if id.chars().count() > 8 { 4 } else { 0 }).collect();
    format!("{head}***")
}

/// All that was found.
#[derive(Debug, Default)]
pub(super) struct DoctorReport {
    pub(super) checks: Vec<DoctorCheck>,
    pub(super) private: Private,
    section: &'static str,
}

impl DoctorReport {
    /// What is found from now on belongs under this heading.
    pub(super) fn begin(&mut self, section: &'static str) {
        self.section = section;
    }

    pub(super) fn ok(&mut self, name: &'static str, says: impl Into<String>) {
        self.add(name, CheckState::Ok, says.into(), None);
    }

    pub(super) fn skipped(&mut self, name: &'static str, why: impl Into<String>) {
        self.add(name, CheckState::Skipped, why.into(), None);
    }

    pub(super) fn warning(&mut self, name: &'static str, says: impl Into<String>, remedy: impl Into<String>) {
        self.add(name, CheckState::Warning, says.into(), Some(remedy.into()));
    }

    pub(super) fn problem(&mut self, name: &'static str, says: impl Into<String>, remedy: impl Into<String>) {
        self.add(name, CheckState::Problem, says.into(), Some(remedy.into()));
    }

    /// A sentence that says already what to do.
    pub(super) fn problem_said(&mut self, name: &'static str, sentence: impl Into<String>) {
        self.add(name, CheckState::Problem, sentence.into(), None);
    }

    fn add(&mut self, name: &'static str, state: CheckState, says: String, remedy: Option<String>) {
        self.checks.push(DoctorCheck { section: self.section, name, state, says, remedy });
    }

    /// How many lines are of this state.
    pub(super) fn count(&self, state: CheckState) -> usize {
        self.checks.iter().filter(|check| check.state == state).count()
    }

    fn clean(&self, text: &str) -> String {
        self.private.strike(CleanText::line(text).as_str())
    }

    /// The stable shape of `--json`.
    pub(super) fn json(&self, head: &ReportHead) -> Value {
        let checks = self.checks.iter().map(|check| {
            json!({
                "section": check.section,
                "check": check.name,
                "state": check.state.word(),
                "says": self.clean(&check.says),
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

    /// Lines for people, at most so wide where the width is known; `paint` gives a text the colour of its meaning.
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
                paint(check.state.meaning(), &state),
                paint(ColorRole::Muted, &format!("{:13}", check.name))
            );
            let mut rest = wrapped(&self.clean(&check.says), width).into_iter();
            lines.push(format!("{label} {}", rest.next().unwrap_or_default()).trim_end().to_owned());
            lines.extend(rest.map(|line| format!("{MARGIN}{line}")));
            let remedy = check.remedy.iter().flat_map(|remedy| wrapped(&format!("> {}", self.clean(remedy)), width));
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
            (0, 0) => "Nothing is wrong.".to_owned(),
            (0, warnings) => format!("Nothing is wrong; {} to look at.", some(warnings, "warning")),
            (problems, 0) => format!("{}.", some(problems, "problem")),
            (problems, warnings) => format!("{}, {}.", some(problems, "problem"), some(warnings, "warning")),
        }
    }
}

/// Before the first word of a line that goes on: two, a state, two, a name, one.
const MARGIN: &str = "                         ";

/// What stands over it all.
#[derive(Debug)]
pub(super) struct ReportHead {
    pub(super) version: String,
    pub(super) platform: String,
    /// RFC 3339, UTC.
    pub(super) at: String,
}

/// Words on lines behind the margin; one line where no width is known.
fn wrapped(text: &str, width: Option<usize>) -> Vec<String> {
    use unicode_width::UnicodeWidthStr as _;
    let Some(room) = width.map(|width| width.saturating_sub(MARGIN.len()).max(24)) else {
        return vec![text.to_owned()];
    };
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= room => {
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
        report.begin("Configuration");
        report.ok("file", "/home/me/.config/docdeck/config.toml");
        report.begin("Service");
        report.problem(
            "key",
            "The service says: mint_5ecret of 66f1c0ffee99 is unknown",
            "put a new one into /home/me/key",
        );
        report.private = Private {
            key: ApiKey::new("mint_5ecret"),
            ids: vec!["66f1c0ffee99".into()],
            home: Some("/home/me".into()),
        };
        report
    }

    #[test]
    fn neither_key_nor_ids_nor_the_home_folder_are_told() {
        let said =
            [report().lines(&head(), None, |_, text| text.to_owned()).join("\n"), report().json(&head()).to_string()];
        for said in said {
            for private in ["5ecret", "c0ffee", "/home/me"] {
                assert!(!said.contains(private), "{private}: {said}");
            }
            assert!(said.contains("~/.config/docdeck/config.toml") && said.contains("66f1***"), "{said}");
        }
    }

    #[test]
    fn lines_are_aligned_and_wrapped_where_a_width_is_known() {
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
    fn the_verdict_counts_what_is_wrong() {
        let mut report = report();
        report.warning("clock", "is off", "set it");
        report.warning("file", "is old", "renew it");
        assert_eq!(report.verdict(), "1 problem, 2 warnings.");
        assert_eq!(DoctorReport::default().verdict(), "Nothing is wrong.");
        let shape = report.json(&head());
        assert_eq!((&shape["ok"], &shape["problems"], &shape["warnings"]), (&json!(false), &json!(1), &json!(2)));
        assert_eq!(shape["checks"][1]["state"], "problem");
    }

    #[test]
    fn the_home_folder_is_a_tilde_and_the_one_beside_it_is_not() {
        assert_eq!(at_home("/home/me, /home/me/x, /home/me", "/home/me"), "~, ~/x, ~");
        assert_eq!(at_home("/home/me2/x", "/home/me"), "/home/me2/x");
    }

    #[test]
    fn a_short_id_is_masked_whole() {
        assert_eq!((masked("docs").as_str(), masked("66f1c0ffee99").as_str()), ("***", "66f1***"));
    }
}
