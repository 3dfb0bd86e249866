//! The sentence in the details of a job that says what to do next.

use crate::model::connection::Connection;
use crate::model::job::Status;
use crate::model::poll::next_poll;
use crate::model::prompt::DeliveryKind;
use crate::model::pull_request::{PullRequestFact, PullRequestTurn};
use crate::model::row::Job;
use crate::tui::App;
use crate::tui::keymap::{Action, Context};
use crate::tui::wrap::wrap;
use std::ops::Range;

/// A sentence that names keys.
#[derive(Debug, Default)]
pub(in crate::tui) struct KeySentence {
    text: String,
    /// The parts of the text that are keys, in bytes.
    keys: Vec<Range<usize>>,
}

impl KeySentence {
    /// Replaces each `{}` in the text with one of the keys.
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

    /// Wraps the sentence. Splits each line into pieces, each with whether it is a key.
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
    let key = |action| app.key_label(Context::Detail, action);
    let jobs_key = |action| app.key_label(Context::Jobs, action);
    let (follow_up, dismiss) = (key(Action::FollowUp), jobs_key(Action::Dismiss));
    let (text, keys) = if job.local.dismissed {
        ("Dismissed. Bring it back with {}.", vec![dismiss])
    } else if let Some(kind) = job.local.undelivered {
        let resolve = vec![key(Action::Resolve)];
        let queue_keys = vec![jobs_key(Action::PauseQueue), jobs_key(Action::RemoveFromQueue)];
        match kind {
            DeliveryKind::Unconfirmed => ("The last prompt may have arrived. Choose what to do with {}.", resolve),
            DeliveryKind::NotSent => ("The last prompt never reached the service. Send or edit it with {}.", resolve),
            DeliveryKind::Rejected => ("The last prompt was refused. Edit it with {}.", resolve),
            DeliveryKind::Queued => ("Pause it with {}, or remove it with {}.", queue_keys),
            DeliveryKind::Paused => ("Resume it with {}, or remove it with {}.", queue_keys),
            DeliveryKind::Discarded => ("Dismiss it with {}.", vec![dismiss]),
            DeliveryKind::Sending | DeliveryKind::Accepted => ("Nothing to do.", Vec::new()),
        }
    } else if job.local.gone {
        ("Dismiss it with {}.", vec![dismiss])
    } else {
        let (done, retry) = (key(Action::MarkDone), key(Action::Retry));
        let needs_user = job.wants_action() && !job.is_handled();
        match &job.remote.status {
            Some(Status::Completed) if needs_user && job.has_supported_pr_link() => {
                ("Review its changes with {}, or follow up with {}.", vec![key(Action::Changes), follow_up])
            }
            Some(Status::Completed) if needs_user => {
                ("Open the pull request with {}, or follow up with {}.", vec![key(Action::OpenPr), follow_up])
            }
            Some(Status::Completed) if job.pr_fact() == Some(PullRequestFact::Queued) => {
                ("Nothing to do until it is merged. Follow up with {}.", vec![follow_up])
            }
            Some(Status::Completed) if job.pr_turn() == Some(PullRequestTurn::Host) => {
                ("Nothing to do until its checks finish. Follow up with {}.", vec![follow_up])
            }
            Some(Status::Completed) if job.pr_turn() == Some(PullRequestTurn::Nobody) => {
                ("Done. Follow up with {}.", vec![follow_up])
            }
            Some(Status::Completed) if job.remote.pr_link.is_some() => {
                ("Done. Follow up with {}, or move it back with {}.", vec![follow_up, done])
            }
            Some(Status::Completed) if next_poll(job).is_some() => {
                ("docdeck still looks for a pull request. Follow up with {}.", vec![follow_up])
            }
            Some(Status::Completed) => ("Ask for one in a follow-up with {}.", vec![follow_up]),
            Some(Status::Failed) if needs_user => {
                ("Retry the same prompt with {}, or follow up with {}.", vec![retry, follow_up])
            }
            Some(Status::Failed) => ("Done. Retry with {}, or move it back with {}.", vec![retry, done]),
            Some(Status::Archived) => ("Nothing to do. Start a new job with {}.", vec![key(Action::NewJob)]),
            Some(Status::Active) if is_unreachable(app) => {
                ("docdeck checks again when the service answers.", Vec::new())
            }
            Some(Status::Active) => ("Nothing to do until it finishes. Add something with {}.", vec![follow_up]),
            Some(Status::Unknown(_)) => {
                ("docdeck doesn't know this status and keeps checking. Follow up with {}.", vec![follow_up])
            }
            None => ("docdeck checks it next.", Vec::new()),
        }
    };
    KeySentence::new(text, &keys)
}

/// Whether jobs can't be checked at the moment.
pub(super) fn is_unreachable(app: &App) -> bool {
    matches!(app.connection, Connection::Offline { .. } | Connection::Limited(_) | Connection::Refused { .. })
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
