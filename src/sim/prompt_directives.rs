//! Directives in a prompt that control the simulator, so that tests and demonstrations do not depend on chance.
//!
//! | in the prompt | effect on the run |
//! |---|---|
//! | `[sim:seconds=3]` | works that long (at speed 1; fractions and 0 are allowed) |
//! | `[sim:pr]` | completes with a pull request |
//! | `[sim:no-pr]` | completes without one |
//! | `[sim:fail]` | fails |
//! | `[sim:status=reviewing]` | ends with that status, permanently |
//! | `[sim:late-link=4]` | completes; the pull request's link appears that many seconds later |
//! | `[sim:archive]`, `[sim:archive=60]` | is archived at once, or that many seconds after it has finished |
//!
//! A run with any directive is deterministic: by default it ends with an immediate pull request and is not archived.

use chrono::TimeDelta;
use std::time::Duration;

/// How a run ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RunOutcome {
    /// Completed; the link appears this long after the end.
    PullRequest {
        late: TimeDelta,
    },
    /// Completed without changes.
    NoPullRequest,
    Failed,
    /// A status that is not documented.
    Word(String),
}

/// The directives of one prompt. Durations are those at speed 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Directives {
    pub(super) work: Option<TimeDelta>,
    pub(super) outcome: Option<RunOutcome>,
    pub(super) archive_after: Option<TimeDelta>,
}

impl Directives {
    /// Returns `None` if the prompt has no directives. Unknown ones are ignored.
    pub(super) fn parse(prompt: &str) -> Option<Self> {
        let mut directives = Self::default();
        let mut any = false;
        for rest in prompt.split("[sim:").skip(1) {
            let Some((directive, _)) = rest.split_once(']') else { continue };
            any |= directives.apply(directive);
        }
        any.then_some(directives)
    }

    fn apply(&mut self, directive: &str) -> bool {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        match name {
            "seconds" => self.work = parse_delay(value),
            "pr" => self.outcome = Some(RunOutcome::PullRequest { late: TimeDelta::zero() }),
            "no-pr" => self.outcome = Some(RunOutcome::NoPullRequest),
            "fail" => self.outcome = Some(RunOutcome::Failed),
            "status" => self.outcome = Some(RunOutcome::Word(value.to_owned())),
            "late-link" => {
                self.outcome = Some(RunOutcome::PullRequest { late: parse_delay(value).unwrap_or_default() });
            }
            "archive" => self.archive_after = Some(parse_delay(value).unwrap_or_default()),
            _ => return false,
        }
        true
    }
}

fn parse_delay(value: &str) -> Option<TimeDelta> {
    let length = Duration::try_from_secs_f64(value.parse().ok()?).ok()?;
    TimeDelta::from_std(length).ok().filter(|length| *length < TimeDelta::days(3650))
}

/// The prompt without its directives, for text derived from it.
pub(super) fn without_directives(prompt: &str) -> String {
    let mut parts = prompt.split("[sim:");
    let mut out = parts.next().unwrap_or("").to_owned();
    for part in parts {
        out.push_str(part.split_once(']').map_or("", |(_, rest)| rest));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_without_directives_has_none() {
        assert_eq!(Directives::parse("Fix [simple] links"), None);
        assert_eq!(Directives::parse("[sim:unheard-of] x"), None);
        assert_eq!(Directives::parse("[sim:fail without an end"), None);
    }

    #[test]
    fn directives_are_read_from_anywhere_in_the_prompt() {
        let directives =
            Directives::parse("a [sim:seconds=0.5] b [sim:status=reviewing][sim:archive=60]").expect("some");
        assert_eq!(directives.work, Some(TimeDelta::milliseconds(500)));
        assert_eq!(directives.outcome, Some(RunOutcome::Word("reviewing".to_owned())));
        assert_eq!(directives.archive_after, Some(TimeDelta::seconds(60)));
    }

    #[test]
    fn an_invalid_duration_is_ignored() {
        for odd in ["-1", "NaN", "inf", "1e30", "x", ""] {
            let directives = Directives::parse(&format!("[sim:seconds={odd}]")).expect("some");
            assert_eq!(directives.work, None, "{odd}");
        }
    }

    #[test]
    fn directives_are_removed_from_the_prompt() {
        assert_eq!(without_directives("Fix [sim:fail]links[sim:seconds=1]"), "Fix links");
    }
}
