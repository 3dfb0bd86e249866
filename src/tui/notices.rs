//! Notices: one message at a time in the lower rule of the screen. A warning or an error stays until the user has read
//! it. A newer notice that ends on its own only covers the warning or error, which is shown again afterwards.

use super::App;
use super::keymap::Action;
use super::notice::{Message, Notice, Severity};
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::text::CleanText;
use crate::tui::format::plural;
use chrono::TimeDelta;

impl App {
    pub(super) fn notify(&mut self, severity: Severity, text: &str, now: Time) {
        let seconds = match severity {
            Severity::Info => Some(5),
            Severity::Success => Some(15),
            Severity::Tip => Some(12),
            Severity::Warning | Severity::Error => None,
        };
        let until = seconds.map(|seconds| now + TimeDelta::seconds(seconds));
        let covered =
            self.notice.take().filter(|notice| notice.severity.stays_until_read()).or(self.covered_notice.take());
        self.covered_notice = covered.filter(|_| !severity.stays_until_read());
        let text = CleanText::line(text);
        self.notice = Some(Notice { severity, text, until, next_step: None, is_seen: false });
        self.is_dirty = true;
    }

    /// Shows a notice about a problem that `next_step` solves.
    pub(super) fn notify_until_done(&mut self, next_step: Action, severity: Severity, text: &str, now: Time) {
        self.notify(severity, text, now);
        if let Some(notice) = &mut self.notice {
            notice.next_step = Some(next_step);
        }
    }

    /// Shows a notice about a problem that ends on its own at a known time.
    pub(super) fn notify_until_time(&mut self, until: Time, severity: Severity, text: &str, now: Time) {
        self.notify(severity, text, now);
        if let Some(notice) = &mut self.notice {
            notice.until = Some(until);
        }
    }

    pub(super) fn notify_failure(&mut self, failure: &Failure, now: Time) {
        let text = self.failure_notice_text(failure, now);
        self.notify(Severity::Error, &text, now);
    }

    /// Removes the notice and shows the one that it covered.
    pub(super) fn end_notice(&mut self) {
        self.notice = self.covered_notice.take();
    }

    /// Ends the notices that asked for this action.
    pub(super) fn end_notices_about(&mut self, action: Action) {
        let is_done = |notice: &mut Notice| notice.next_step == Some(action);
        self.covered_notice.take_if(is_done);
        if self.notice.take_if(is_done).is_some() {
            self.end_notice();
        }
    }

    pub(super) fn end_due_notice(&mut self, now: Time) {
        let is_due = |notice: &Notice| notice.until.is_some_and(|until| until <= now);
        if self.notice.as_ref().is_some_and(is_due) {
            self.end_notice();
        }
    }

    /// Ends and returns the notice, unless it is a warning or an error. A warning or an error is only marked as seen,
    /// so that it shrinks to one line. Also marks the alert about unrecorded outcomes as seen.
    pub(super) fn dismiss_or_shrink_notice(&mut self) -> Option<Notice> {
        if let Some(notice) = &mut self.notice {
            notice.is_seen = true;
        }
        self.is_unrecorded_alert_seen = true;
        let ended = self.notice.take_if(|notice| !notice.severity.stays_until_read());
        if ended.is_some() {
            self.end_notice();
        }
        ended
    }

    /// Returns the message in the lower rule, if there is one.
    pub fn message(&self) -> Option<Message> {
        let of_notice = |notice: &Notice| Message {
            severity: notice.severity,
            text: notice.text.to_string(),
            is_seen: notice.is_seen,
        };
        let (stays, passes) = match &self.notice {
            Some(notice) if notice.severity.stays_until_read() => (Some(notice), None),
            other => (None, other.as_ref()),
        };
        let filter = || Some(Message { severity: Severity::Warning, text: self.filter_problem()?, is_seen: false });
        let tip = || Some(Message { severity: Severity::Tip, text: self.tip()?.to_owned(), is_seen: false });
        // A warning or error that the user has not seen yet comes before an alert that the user has seen.
        let unseen = stays.filter(|notice| self.is_unrecorded_alert_seen && !notice.is_seen);
        let notice =
            passes.map(of_notice).or_else(filter).or_else(|| unseen.map(of_notice)).or_else(|| self.unrecorded_alert());
        notice.or_else(|| stays.map(of_notice)).or_else(tip)
    }

    /// Returns the alert about prompts whose outcome could not be recorded on disk, if there are any. It stays until
    /// the outcomes are recorded.
    fn unrecorded_alert(&self) -> Option<Message> {
        let mut all = self.unrecorded.iter();
        let oldest = all.next()?;
        let more = match all.count() {
            0 => String::new(),
            n => format!(" {} also can't be recorded.", plural(n, "more prompt")),
        };
        let text = format!("{}{more}", oldest.sentence());
        Some(Message { severity: Severity::Warning, text, is_seen: self.is_unrecorded_alert_seen })
    }

    /// Returns the lines of the message, for a screen of this width.
    pub fn message_lines(&self, width: usize) -> Vec<String> {
        let Some(message) = self.message() else { return Vec::new() };
        message.lines(self.message_rule_width().min(width), width, usize::from(self.size.1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::remote_job::Status;
    use crate::tui::Msg;
    use crate::tui::finish_alerts::tests::{app, press};
    use crate::tui::format::display_width;
    use crate::tui::jobs::tests::{at, row};
    use crate::tui::notice::ROWS_KEPT_FREE_BY_MESSAGE;
    use crossterm::event::{Event, KeyCode};

    const LONG: &str = "Rejected: “Rewrite the landing page”. 400: “prompt is too long for this project, so shorten it a \
                        lot before you send it to the service again”. Press ! to resolve it.";

    fn fixture() -> App {
        app((1..=40).map(|key| row(key, Status::Failed)).collect())
    }

    fn esc(app: &mut App) {
        app.update(Msg::Input(Event::Key(KeyCode::Esc.into())), at(1));
    }

    fn shown(app: &App) -> String {
        app.message().map(|message| message.text).unwrap_or_default()
    }

    #[test]
    fn each_kind_ends_after_its_time_or_with_the_next_key_unless_it_stays() {
        for (severity, seconds) in [(Severity::Info, 5), (Severity::Success, 15)] {
            let mut app = fixture();
            app.notify(severity, "one", at(0));
            app.update(Msg::Timer, at(seconds - 1));
            assert_eq!(shown(&app), "one");
            app.update(Msg::Timer, at(seconds));
            assert_eq!(shown(&app), "");
            app.notify(severity, "two", at(0));
            press(&mut app, 'j');
            assert_eq!(shown(&app), "");
        }
        for severity in [Severity::Warning, Severity::Error] {
            let mut app = fixture();
            app.notify(severity, "one", at(0));
            press(&mut app, 'j');
            app.update(Msg::Timer, at(100_000));
            assert_eq!(shown(&app), "one");
            esc(&mut app);
            assert_eq!(shown(&app), "");
        }
    }

    #[test]
    fn a_newer_notice_covers_an_error_for_its_time() {
        let mut app = fixture();
        app.notify(Severity::Error, "failed", at(0));
        app.notify(Severity::Info, "saved", at(0));
        app.notify(Severity::Info, "saved again", at(0));
        assert_eq!(shown(&app), "saved again");
        app.update(Msg::Timer, at(5));
        assert_eq!(shown(&app), "failed");
        app.notify(Severity::Warning, "limit reached", at(6));
        esc(&mut app);
        assert_eq!(shown(&app), "", "the log has the older error");
    }

    #[test]
    fn an_error_ends_when_its_action_is_taken_and_a_warning_when_its_reason_ends() {
        let mut app = fixture();
        app.notify_until_done(Action::Export, Severity::Error, "failed", at(0));
        press(&mut app, 's');
        assert_eq!(shown(&app), "failed");
        app.notify(Severity::Info, "saved", at(0));
        app.end_notices_about(Action::Export);
        app.update(Msg::Timer, at(5));
        assert_eq!(shown(&app), "");
        app.notify_until_time(at(20), Severity::Warning, "limit reached", at(6));
        press(&mut app, 'j');
        assert_eq!(shown(&app), "limit reached");
        app.update(Msg::Timer, at(20));
        assert_eq!(shown(&app), "");
    }

    #[test]
    fn a_long_error_covers_the_rows_that_it_needs_until_the_next_key() {
        for size in [(40, 12), (80, 24), (160, 48)] {
            let mut app = fixture();
            app.update(Msg::Input(Event::Resize(size.0, size.1)), at(0));
            app.notify(Severity::Error, LONG, at(0));
            let (width, rows) = (usize::from(size.0), usize::from(size.1));
            let lines = app.message_lines(width);
            assert!(
                (2..=rows - ROWS_KEPT_FREE_BY_MESSAGE).contains(&lines.len()) || width == 160,
                "{size:?}: {lines:?}"
            );
            assert!(lines.concat().ends_with("resolve it."), "{lines:?}");
            assert!(lines.iter().all(|line| display_width(line) <= width));
            assert!(app.message_area(&lines).bottom() < app.geometry().body.bottom(), "the position stays visible");
            press(&mut app, 'j');
            let lines = app.message_lines(width);
            assert_eq!(lines.len(), 1, "{lines:?}");
            assert!(lines.iter().all(|line| display_width(line) <= app.message_rule_width()), "{lines:?}");
            assert!(width < 80 || lines.concat().ends_with("Press ! to resolve it"), "{lines:?}");
        }
    }
}
