//! The sentence in the details of a job that says what to do next.

use crate::model::connection::ConnectionState;
use crate::model::job::Job;
use crate::model::poll::next_poll;
use crate::model::prompt::DeliveryKind;
use crate::model::pull_request::{PullRequestFact, PullRequestTurn};
use crate::model::remote_job::Status;
use crate::tui::keymap::{Action, Context};
use crate::tui::wrap::wrap;
use crate::tui::{App, Pane};
use std::ops::Range;

/// A text that names keyboard shortcuts.
#[derive(Debug, Default)]
pub(in crate::tui) struct KeySentence {
    text: String,
    /// The byte ranges of the keys in the text.
    keys: Vec<Range<usize>>,
}

impl KeySentence {
    /// Replaces each `{}` in the text with the next one of the keys.
    fn new(text: &str, keys: &[String]) -> Self {
        let mut sentence = Self::default();
        let mut keys = keys.iter();
        for (n, part) in text.split("{}").enumerate() {
            if n > 0 {
                let start = sentence.text.len();
                sentence.text.push_str(keys.next().map_or("", String::as_str));
                sentence.keys.push(start..sentence.text.len());
            }
            sentence.text.push_str(part);
        }
        sentence
    }

    /// Wraps the sentence into at most `max` lines of `columns` cells. Splits each line into pieces, each with whether
    /// it is a key.
    pub(super) fn lines(&self, columns: usize, max: usize) -> Vec<Vec<(String, bool)>> {
        let mut end = 0;
        let lines = wrap(&self.text, columns, max).0;
        let split = |line: String| {
            let start = self.text.get(end..).and_then(|rest| rest.find(&line)).map_or(end, |at| end + at);
            end = start + line.len();
            let mut pieces = Vec::new();
            let mut at = start;
            for key in self.keys.iter().filter(|key| key.start >= start && key.end <= end) {
                pieces.push((at..key.start, false));
                pieces.push((key.clone(), true));
                at = key.end;
            }
            pieces.push((at..end, false));
            let text = |(part, is_key): (Range<usize>, bool)| (self.text.get(part).unwrap_or("").to_owned(), is_key);
            pieces.into_iter().map(text).collect()
        };
        lines.into_iter().map(split).collect()
    }
}

/// Returns what the user can do next about a job, with the keys for it.
pub(in crate::tui) fn next_step(app: &App, job: &Job) -> KeySentence {
    let context = if app.pane == Pane::Detail { Context::Detail } else { Context::Jobs };
    let (text, actions) = sentence_and_actions(app, job);
    let keys: Vec<String> = actions.iter().map(|action| app.key_label(context, *action)).collect();
    KeySentence::new(text, &keys)
}

/// Returns what the user can do next about a job, with `{}` for the key of each action.
fn sentence_and_actions(app: &App, job: &Job) -> (&'static str, &'static [Action]) {
    if job.local.dismissed {
        return ("Dismissed. Press {} to restore it.", &[Action::Dismiss]);
    }
    if let Some(kind) = job.local.undelivered {
        return match kind {
            DeliveryKind::Unconfirmed => {
                ("A prompt may have reached the service. Press {} to resolve it.", &[Action::Resolve])
            }
            DeliveryKind::NotSent => {
                ("A prompt never reached the service. Press {} to send or edit it.", &[Action::Resolve])
            }
            DeliveryKind::Rejected => ("The service rejected a prompt. Press {} to edit it.", &[Action::Resolve]),
            DeliveryKind::Queued => {
                ("Press {} to pause, {} to remove.", &[Action::PauseQueue, Action::RemoveFromQueue])
            }
            DeliveryKind::Paused => {
                ("Press {} to resume, {} to remove.", &[Action::PauseQueue, Action::RemoveFromQueue])
            }
            DeliveryKind::Discarded => ("Press {} to dismiss it.", &[Action::Dismiss]),
            DeliveryKind::Sending | DeliveryKind::Accepted => ("Nothing to do.", &[]),
        };
    }
    if job.local.gone {
        return ("Press {} to dismiss it.", &[Action::Dismiss]);
    }
    let needs_user = job.needs_action() && !job.is_handled();
    match &job.remote.status {
        Some(Status::Completed) if needs_user && app.can_show_pull_request(job) => match job.pr_fact() {
            Some(PullRequestFact::Failing) => {
                ("Press {} to see the failed checks, {} to ask for a fix.", &[Action::PullRequest, Action::FollowUp])
            }
            Some(PullRequestFact::ChangesRequested) => {
                ("Press {} to read the review, {} to follow up.", &[Action::PullRequest, Action::FollowUp])
            }
            Some(PullRequestFact::Conflict) => {
                ("Press {} to see the pull request, {} to ask for a fix.", &[Action::PullRequest, Action::FollowUp])
            }
            _ => ("Press {} to review the changes, {} to follow up.", &[Action::Changes, Action::FollowUp]),
        },
        Some(Status::Completed) if needs_user => {
            ("Press {} to open the pull request, {} to follow up.", &[Action::OpenPr, Action::FollowUp])
        }
        Some(Status::Completed) if job.pr_fact() == Some(PullRequestFact::Queued) => {
            ("Nothing to do until it is merged. Press {} to follow up.", &[Action::FollowUp])
        }
        Some(Status::Completed) if job.pr_turn() == Some(PullRequestTurn::Host) => {
            ("Nothing to do until its checks finish. Press {} to follow up.", &[Action::FollowUp])
        }
        Some(Status::Completed) if job.pr_turn() == Some(PullRequestTurn::Nobody) => {
            ("Done. Press {} to follow up.", &[Action::FollowUp])
        }
        Some(Status::Completed) if job.remote.pr_link.is_some() => {
            ("Done. Press {} to follow up, {} to move back.", &[Action::FollowUp, Action::MarkDone])
        }
        Some(Status::Completed) if next_poll(job).is_some() => {
            ("docdeck is still looking for a pull request. Press {} to follow up.", &[Action::FollowUp])
        }
        Some(Status::Completed) => ("Press {} to ask for one.", &[Action::FollowUp]),
        Some(Status::Failed) if needs_user => {
            ("Press {} to retry, {} to follow up.", &[Action::Retry, Action::FollowUp])
        }
        Some(Status::Failed) => ("Done. Press {} to retry, {} to move back.", &[Action::Retry, Action::MarkDone]),
        Some(Status::Archived) => ("Nothing to do. Press {} to start a new job.", &[Action::NewJob]),
        Some(Status::Active) if is_poll_blocked(app) => ("docdeck checks again when the service answers.", &[]),
        Some(Status::Active) => ("The agent is working. Press {} to add instructions.", &[Action::FollowUp]),
        Some(Status::Unknown(_)) => {
            ("docdeck doesn't know this status and keeps checking. Press {} to follow up.", &[Action::FollowUp])
        }
        None => ("docdeck checks it next.", &[]),
    }
}

/// Whether jobs can't be checked at the moment.
pub(super) fn is_poll_blocked(app: &App) -> bool {
    matches!(
        app.connection,
        ConnectionState::Offline { .. } | ConnectionState::Limited(_) | ConnectionState::KeyRefused { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::pull_request::tests::open_pull_request;
    use crate::model::pull_request::{ChecksState, PullRequest, PullRequestState, ReviewDecision};
    use crate::model::text::CleanText;
    use crate::tui::finish_alerts::tests::app;
    use crate::tui::jobs::tests::{at, row};
    use crate::tui::keymap::BINDINGS;

    #[test]
    fn the_keys_of_a_sentence_are_found_on_the_lines_on_which_they_are() {
        let sentence =
            KeySentence::new("Open it with {}, or follow up with {}.", &["o".to_owned(), "Alt-f".to_owned()]);
        let key = |text: &str| (text.to_owned(), true);
        let text = |text: &str| (text.to_owned(), false);
        assert_eq!(
            sentence.lines(80, 3),
            [vec![text("Open it with "), key("o"), text(", or follow up with "), key("Alt-f"), text(".")]]
        );
        let wrapped = sentence.lines(21, 3);
        assert_eq!(wrapped[0], [text("Open it with "), key("o"), text(", or")]);
        assert_eq!(wrapped[1], [text("follow up with "), key("Alt-f"), text(".")]);
    }

    #[test]
    fn each_key_of_a_sentence_is_possible_where_the_sentence_is_shown() {
        let delivery = |kind| move |job: &mut Job| job.local.undelivered = Some(kind);
        let pull_request = |job: &mut Job| {
            job.remote.pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/7"));
        };
        let done = |job: &mut Job| job.local.handled_at = Some(at(2_000));
        let mut jobs: Vec<Job> =
            DeliveryKind::ALL.iter().map(|kind| changed(Status::Active, &delivery(*kind))).collect();
        type Change = fn(&mut PullRequest);
        let states: [Change; 6] = [
            |_| {},
            |state| state.checks.state = ChecksState::Failing,
            |state| state.checks.state = ChecksState::Pending,
            |state| state.review = Some(ReviewDecision::ChangesRequested),
            |state| state.conflict = Some(true),
            |state| state.state = PullRequestState::Merged,
        ];
        for change in states {
            jobs.push(changed(Status::Completed, &|job| {
                pull_request(job);
                let mut state = open_pull_request(at(0));
                change(&mut state);
                job.pull_request = Some(Box::new(state));
            }));
        }
        for status in [Status::Active, Status::Completed, Status::Failed, Status::Archived] {
            jobs.push(changed(status.clone(), &|_| {}));
            jobs.push(changed(status.clone(), &pull_request));
            jobs.push(changed(status.clone(), &|job| {
                pull_request(job);
                done(job);
            }));
            jobs.push(changed(status.clone(), &done));
            jobs.push(changed(status.clone(), &|job| job.local.gone = true));
            jobs.push(changed(status, &|job| job.local.dismissed = true));
        }
        for job in jobs {
            let mut app = app(vec![job.clone()]);
            app.jobs.select(job.key);
            let (sentence, actions) = sentence_and_actions(&app, &job);
            for pane in [Pane::List, Pane::Detail] {
                app.pane = pane;
                for action in actions {
                    let context = app.contexts().first().copied().expect("a context");
                    let row = BINDINGS.iter().find(|row| row.context == context && row.action == *action);
                    let row = row.unwrap_or_else(|| panic!("{action:?} has no key in {context:?}"));
                    assert!(app.footer_label_of(row).is_some(), "{sentence} {action:?} in {context:?}");
                }
            }
        }
    }

    fn changed(status: Status, change: &dyn Fn(&mut Job)) -> Job {
        let mut job = row(1, status);
        change(&mut job);
        job
    }
}
