//! What a prompt may ask of the simulator, so that tests and demonstrations need not wait for luck.
//!
//! | in the prompt | what its run does |
//! |---|---|
//! | `[sim:seconds=3]` | works that long (at speed 1; fractions and 0 are fine) |
//! | `[sim:pr]` | completes with a pull request |
//! | `[sim:no-pr]` | completes without one |
//! | `[sim:fail]` | fails |
//! | `[sim:status=reviewing]` | ends in that word, for good |
//! | `[sim:late-link=4]` | completes, the pull request's link comes that many seconds later |
//! | `[sim:archive]`, `[sim:archive=60]` | is archived at once, or that many seconds after it has finished |
//!
//! A run with any directive leaves nothing to luck: what is not asked for is a pull request, at once, not archived.

use chrono::TimeDelta;
use std::time::Duration;

/// How a run ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum RunOutcome {
    /// Completed; the link comes this long after the end.
    PullRequest { late: TimeDelta },
    /// Completed, no files changed.
    NoPullRequest,
    /// Failed.
    Failed,
    /// A status that api.md does not name.
    Word(String),
}

/// What was asked for in one prompt. Durations are those at speed 1.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Directives {
    pub(super) work: Option<TimeDelta>,
    pub(super) outcome: Option<RunOutcome>,
    pub(super) archive_after: Option<TimeDelta>,
}

impl Directives {
    /// `None` when the prompt has none. Words that are not known are passed over.
    pub(super) fn parse(prompt: &str) -> Option<Self> {
        let mut asked = Self::default();
        let mut any = false;
        for rest in prompt.split("[sim:").skip(1) {
            let Some((directive, _)) = rest.split_once(']') else { continue };
            any |= asked.take(directive);
        }
        any.then_some(asked)
    }

    fn take(&mut self, directive: &str) -> bool {
        let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
        match name {
            "seconds" => self.work = seconds(value),
            "pr" => self.outcome = Some(RunOutcome::PullRequest { late: TimeDelta::zero() }),
            "no-pr" => self.outcome = Some(RunOutcome::NoPullRequest),
            "fail" => self.outcome = Some(RunOutcome::Failed),
            "status" => self.outcome = Some(RunOutcome::Word(value.to_owned())),
            "late-link" => {
                self.outcome = Some(RunOutcome::PullRequest { late: seconds(value).unwrap_or_default() });
            }
            "archive" => self.archive_after = Some(seconds(value).unwrap_or_default()),
            _ => return false,
        }
        true
    }
}

fn seconds(value: &str) -> Option<TimeDelta> {
    let length = Duration::try_from_secs_f64(value.parse().ok()?).ok()?;
    TimeDelta::from_std(length).ok().filter(|length| *length < TimeDelta::days(3650))
}

/// The prompt without its directives, for what is made of its words.
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
    fn a_prompt_without_directives_asks_for_nothing() {
        assert_eq!(Directives::parse("Fix [simple] links"), None);
        assert_eq!(Directives::parse("[sim:unheard-of] x"), None);
        assert_eq!(Directives::parse("[sim:fail without an end"), None);
    }

    #[test]
    fn directives_are_read_from_anywhere_in_the_prompt() {
        let asked = Directives::parse("a [sim:seconds=0.5] b [sim:status=reviewing][sim:archive=60]").expect("some");
        assert_eq!(asked.work, Some(TimeDelta::milliseconds(500)));
        assert_eq!(asked.outcome, Some(RunOutcome::Word("reviewing".to_owned())));
        assert_eq!(asked.archive_after, Some(TimeDelta::seconds(60)));
    }

    #[test]
    fn a_number_that_is_no_length_of_time_is_passed_over() {
        for odd in ["-1", "NaN", "inf", "1e30", "x", ""] {
            let asked = Directives::parse(&format!("[sim:seconds={odd}]")).expect("some");
            assert_eq!(asked.work, None, "{odd}");
        }
    }

    #[test]
    fn the_words_of_a_prompt_are_what_is_left_without_its_directives() {
        assert_eq!(without_directives("Fix [sim:fail]links[sim:seconds=1]"), "Fix links");
    }
}
