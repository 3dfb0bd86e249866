//! The dialog in which the text of a review or comment is written. The text is saved for its pull requests like a
//! draft, until the review is sent.

use crate::model::job::{JobKey, JobsLeftAfterPrune};
use crate::model::pull_request_action::UnsentReviewKind;
use crate::model::text::CleanText;
use crate::tui::JobsEffect;
use crate::tui::bulk_action::PullRequestTargets;
use crate::tui::component::prelude::*;
use crate::tui::compose::draft_state::DraftState;
use crate::tui::compose::status_line::saved_state_text;
use crate::tui::draw::boxes::{box_title_columns, draw_box, draw_line};
use crate::tui::draw::cursor;
use crate::tui::draw::text::truncate;
use crate::tui::geometry::{inside_borders, inside_margin};
use crate::tui::jobs::messages::JobsMsg;
use crate::tui::keymap::Keymap;
use crate::tui::message_fit::fit_message;
use crate::tui::widgets::text_input::TextInput;

/// The height of the dialog, in rows.
const REVIEW_DIALOG_ROWS: u16 = 14;
/// Maximum number of lines for a message below the text.
const MAX_MESSAGE_LINES: usize = 3;

#[derive(Debug)]
pub(in crate::tui) struct ReviewDialog {
    targets: PullRequestTargets,
    /// The links of the pull requests. The text is saved for each of them.
    links: Vec<CleanText>,
    kind: UnsentReviewKind,
    title: String,
    pub(super) input: TextInput,
    draft_state: DraftState,
    /// Whether the text was saved before the dialog was opened.
    is_restored: bool,
}

impl ReviewDialog {
    /// Creates the dialog with the text that was written for one of these pull requests, but not sent.
    pub(super) fn new(app: &App, targets: PullRequestTargets, kind: UnsentReviewKind) -> Self {
        let links: Vec<CleanText> = targets.head_commits.iter().filter_map(|target| link_of(app, target.job)).collect();
        let unsent = &app.pull_request_work.unsent_reviews;
        let text = links.iter().find_map(|link| unsent.get(&(link.clone(), kind))).map_or("", String::as_str);
        let name = match kind {
            UnsentReviewKind::ChangeRequest => "Request changes",
            UnsentReviewKind::Comment => "Comment",
        };
        let only = if targets.listed_targets.keys.is_empty() { targets.head_commits.first() } else { None };
        let title = match only.and_then(|only| app.jobs.get(only.job)) {
            Some(job) => format!("{name}: {}", job.local.title),
            None => name.to_owned(),
        };
        let (input, is_restored) = (TextInput::multi_line(text), !text.is_empty());
        let draft_state = DraftState::Unchanged;
        Self { targets, links, kind, title, input, draft_state, is_restored }
    }

    /// Saves the text if it has changed, or deletes the saved text if the text is blank.
    fn save_or_delete_text(&mut self, cx: &mut Cx<'_>) {
        cx.effects.extend(self.save_draft());
        let unsent = &mut cx.app.pull_request_work.unsent_reviews;
        for link in &self.links {
            match self.input.is_blank() {
                true => unsent.remove(&(link.clone(), self.kind)),
                false => unsent.insert((link.clone(), self.kind), self.input.text()),
            };
        }
    }

    /// Asks the user to confirm the review with the text.
    fn confirm(&mut self, cx: &mut Cx<'_>) -> Flow {
        if self.input.is_blank() {
            return Flow::Handled;
        }
        self.save_or_delete_text(cx);
        let action = self.kind.action(self.input.text().trim().to_owned());
        cx.app.ask_to_run_pull_request_action(self.targets.clone(), action);
        Flow::Close
    }

    fn hint(&self) -> &'static str {
        match self.kind {
            UnsentReviewKind::ChangeRequest => "What has to change? The next step shows the review before it is sent.",
            UnsentReviewKind::Comment => "The next step shows the comment before it is sent.",
        }
    }

    fn outer_area(app: &App) -> Rect {
        app.geometry().small_dialog(REVIEW_DIALOG_ROWS)
    }

    /// Returns the area of the text, and the lines below it.
    fn text_and_message(&self, app: &App) -> (Rect, Vec<String>) {
        let inner = inside_margin(inside_borders(Self::outer_area(app)));
        let failure = self.draft_state.failure_text();
        let message = failure.as_deref().unwrap_or_else(|| self.hint());
        let mut lines = fit_message(message, usize::from(inner.width).max(1), MAX_MESSAGE_LINES);
        let saved = saved_state_text(app, self.is_restored, &self.draft_state);
        lines.extend((!saved.is_empty()).then_some(saved));
        let below = u16::try_from(lines.len() + 1).unwrap_or(inner.height);
        (Rect { height: inner.height.saturating_sub(below).max(1).min(inner.height), ..inner }, lines)
    }
}

impl App {
    /// Deletes the text of a review that was sent, unless another text was written since.
    pub(super) fn delete_sent_review(
        &mut self,
        job: JobKey,
        kind: UnsentReviewKind,
        sent_text: &str,
        effects: &mut Vec<Effect>,
    ) {
        let Some(link) = link_of(self, job) else { return };
        let unsent = &mut self.pull_request_work.unsent_reviews;
        let key = (link, kind);
        if unsent.get(&key).is_some_and(|text| text.trim() == sent_text) {
            unsent.remove(&key);
            let links = vec![key.0];
            effects.push(Effect::Jobs(JobsEffect::SaveUnsentReview { links, kind, text: String::new() }));
        }
    }
}

/// Returns the link of the pull request of a job.
fn link_of(app: &App, job: JobKey) -> Option<CleanText> {
    app.jobs.get(job)?.remote.pr_link.clone()
}

impl Component for ReviewDialog {
    fn contexts(&self) -> &'static [Context] {
        &[Context::Review, Context::Text, Context::Everywhere]
    }

    fn footer_label(&self, action: Action, _app: &App) -> Option<FooterLabel> {
        match action {
            Action::Confirm => (!self.input.is_blank()).then(|| "next".into()),
            Action::Close if self.input.is_blank() => Some("close".into()),
            _ => Some(FooterLabel::Default),
        }
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        if action == Action::Confirm { self.confirm(cx) } else { Flow::Unhandled }
    }

    fn close(&mut self, cx: &mut Cx<'_>) -> Flow {
        self.save_or_delete_text(cx);
        Flow::Close
    }

    fn input(&mut self) -> Option<&mut TextInput> {
        Some(&mut self.input)
    }

    fn input_changed(&mut self, cx: &mut Cx<'_>) {
        self.draft_state.mark_changed(cx.now);
    }

    fn save_draft(&mut self) -> Option<Effect> {
        let (links, kind) = (self.links.clone(), self.kind);
        let text = self.input.text();
        self.draft_state.start_saving().then(|| Effect::Jobs(JobsEffect::SaveUnsentReview { links, kind, text }))
    }

    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        let (text, _) = self.text_and_message(cx.app);
        self.input.click(text, at);
        Flow::Handled
    }

    fn scroll_with_wheel(&mut self, _at: Position, by: isize, _cx: &mut Cx<'_>) {
        self.input.move_cursor_by_lines(by);
    }

    fn receive(&mut self, msg: Msg, cx: &mut Cx<'_>) -> Result<Flow, Msg> {
        match msg {
            Msg::Jobs(JobsMsg::UnsentReviewSaved { links, kind, result })
                if links == self.links && kind == self.kind =>
            {
                self.draft_state.apply_saved(result);
                Ok(Flow::Handled)
            }
            msg => {
                if matches!(msg, Msg::Timer) && self.draft_state.is_due(cx.now) {
                    self.save_or_delete_text(cx);
                }
                Err(msg)
            }
        }
    }

    fn next_timer(&self, _app: &App, _now: Time) -> Option<Time> {
        self.draft_state.due_at()
    }

    fn retain_jobs(&mut self, remaining: &JobsLeftAfterPrune, _keymap: &Keymap) -> bool {
        self.targets.head_commits.iter().all(|target| remaining.contains(target.job))
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let theme = view.theme;
        let area = Self::outer_area(view.app);
        let title = truncate(&self.title, box_title_columns(area));
        let inner = draw_box(frame, area, Line::styled(format!(" {title} "), theme.title), theme.focus);
        let (text, message) = self.text_and_message(view.app);
        frame.render_widget(self.input.area(), text);
        cursor::place_cursor_in_input(frame, view, text);
        let style = if self.draft_state.failure_text().is_some() { theme.warning } else { theme.muted };
        for (n, line) in message.into_iter().enumerate() {
            draw_line(frame, inside_margin(inner), usize::from(text.height) + 1 + n, Line::styled(line, style));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{action_ended, app_with_open_dialog, press};
    use super::*;
    use crate::model::failure::Failure;
    use crate::model::pull_request_action::{ActionOutcome, PullRequestAction};
    use crate::tui::jobs::tests::at;

    fn links() -> Vec<CleanText> {
        vec![CleanText::line("https://github.com/acme/docs/pull/7")]
    }

    fn save(text: &str) -> Effect {
        Effect::Jobs(JobsEffect::SaveUnsentReview {
            links: links(),
            kind: UnsentReviewKind::ChangeRequest,
            text: text.to_owned(),
        })
    }

    fn saved(result: Result<Time, Failure>) -> Msg {
        Msg::Jobs(JobsMsg::UnsentReviewSaved { links: links(), kind: UnsentReviewKind::ChangeRequest, result })
    }

    fn typed(app: &App) -> Option<String> {
        app.find::<ReviewDialog>().map(|dialog| dialog.input.text())
    }

    #[test]
    fn the_text_of_a_review_is_kept_until_the_review_was_sent() {
        let mut app = app_with_open_dialog();
        press(&mut app, "x N o Ctrl-S n");
        press(&mut app, "x");
        assert_eq!(typed(&app).as_deref(), Some("No"), "after a cancelled confirmation");
        press(&mut app, "t Esc x");
        assert_eq!(typed(&app).as_deref(), Some("Not"), "after Esc");
        press(&mut app, "Ctrl-S y");
        let review = || PullRequestAction::RequestChanges("Not".to_owned());
        app.update(action_ended(ActionOutcome::HeadChanged, review()), at(2));
        press(&mut app, "x");
        assert_eq!(typed(&app).as_deref(), Some("Not"), "after a refusal");
        press(&mut app, "Ctrl-S y");
        assert!(app.update(action_ended(ActionOutcome::Done, review()), at(2)).contains(&save("")));
        press(&mut app, "x");
        assert_eq!(typed(&app).as_deref(), Some(""));
    }

    #[test]
    fn a_review_and_a_comment_have_texts_of_their_own() {
        let mut app = app_with_open_dialog();
        press(&mut app, "x N o Ctrl-S n n");
        assert_eq!(typed(&app).as_deref(), Some(""));
        press(&mut app, "H i Ctrl-S y");
        app.update(action_ended(ActionOutcome::Done, PullRequestAction::Comment("Hi".to_owned())), at(2));
        press(&mut app, "n");
        assert_eq!(typed(&app).as_deref(), Some(""), "it was sent");
        press(&mut app, "Esc x");
        assert_eq!(typed(&app).as_deref(), Some("No"));
    }

    #[test]
    fn a_text_is_saved_a_second_after_a_change_and_when_docdeck_ends() {
        let mut app = app_with_open_dialog();
        assert_eq!(press(&mut app, "x N o"), []);
        assert_eq!(app.next_timer(at(1)), Some(at(2)));
        assert_eq!(app.update(Msg::Timer, at(2)), [save("No")]);
        app.update(saved(Ok(at(2))), at(2));
        assert_eq!(press(&mut app, "Esc"), [], "it is saved already");
        press(&mut app, "x t");
        assert_eq!(app.update(Msg::Terminate, at(2)).first(), Some(&save("Not")));
        let mut app = app_with_open_dialog();
        assert_eq!(press(&mut app, "x N Enter o Esc"), [save("N\no")], "Enter inserts a line break");
    }

    #[test]
    fn a_text_that_could_not_be_saved_is_saved_again_and_a_newer_one_survives_sending() {
        let mut app = app_with_open_dialog();
        press(&mut app, "x N o");
        app.update(Msg::Timer, at(2));
        app.update(saved(Err(Failure::local("The disk is full."))), at(2));
        let dialog = app.find::<ReviewDialog>().expect("open");
        assert_eq!(dialog.draft_state.failure_text().as_deref(), Some("Could not save the draft: The disk is full."));
        assert_eq!(press(&mut app, "Esc"), [save("No")]);
        app.update(saved(Err(Failure::local("The disk is full."))), at(2));
        assert!(app.notice.as_ref().is_some_and(|notice| notice.text.as_str().contains("disk is full")));
        press(&mut app, "x Ctrl-S y");
        press(&mut app, "x w Esc");
        let sent = PullRequestAction::RequestChanges("No".to_owned());
        assert!(!app.update(action_ended(ActionOutcome::Done, sent), at(3)).contains(&save("")));
        press(&mut app, "x");
        assert_eq!(typed(&app).as_deref(), Some("Now"));
    }
}
