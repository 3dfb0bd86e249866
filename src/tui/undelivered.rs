//! The dialog about an undelivered prompt: what happened and when, the choices with their meaning, and the prompt.
//!
//! ```text
//! ─ New job: unconfirmed ─────────────────────────────────────────────
//!  Explain how to rotate API keys without downtime
//!  ! The service may or may not have started this job.
//!
//!  reason  The connection broke after the request went out …
//!  sent    18:37
//!
//!  What you can do
//!  l  link to job   Copy the job's id from your Mintlify dashboard. …
//!  s  send again    Only if the job isn't on your Mintlify dashboard …
//!
//!  Prompt  1 line, 47 characters
//!  Explain how to rotate API keys without downtime
//! ```

use super::component::prelude::*;
use super::compose::editor::Editor;
use super::confirm::{ConfirmAction, ConfirmDialog};
use super::draw::text::{TextRow, align_left};
use super::format;
use super::input_dialog::InputField;
use super::jobs::detail::kind_text;
use super::keymap::{BINDINGS, Keymap};
use super::wrap::wrap;
use crate::model::colors::ColorRole;
use crate::model::failure::Failure;
use crate::model::job::{Job, JobKey};
use crate::model::prompt::{Delivery, DeliveryKind, DraftTarget, Prompt, PromptId, PromptKind, PromptResolution};
use crate::model::text::CleanText;
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::rules::DialogFrame;
use crate::tui::format::more_below_text;
use crate::tui::geometry::inside_margin;
use crate::tui::{JobsEffect, PromptsEffect};
use chrono::TimeDelta;
use unicode_width::UnicodeWidthStr as _;

/// The width of the labels `reason`, `saved` and `sent`.
const LABEL_CELLS: usize = 8;
/// The minimum width of the column of keys before the choices.
const KEY_CELLS: usize = 3;
/// The minimum width of the dialog at which the meanings of the choices are beside their names.
const MIN_COLUMNS_WITH_MEANINGS_BESIDE: usize = 72;
/// The maximum number of characters of the prompt that are shown. The user gets the complete text by editing or copying
/// the prompt.
const MAX_PROMPT_CHARS: usize = 24_000;
/// The maximum number of lines of the prompt that are shown.
const MAX_PROMPT_LINES: usize = 300;

/// The pieces of a line with their colours.
type UndeliveredLine = Vec<(String, ColorRole)>;

/// The maximum number of characters of a prompt in the question whether to copy it.
const MAX_QUOTED_PROMPT_CHARS: usize = 60;
/// The actions that the dialog lists with their keys.
const CHOICES: [Action; 5] =
    [Action::EditPrompt, Action::LinkJob, Action::CheckJob, Action::SendAgain, Action::Discard];

/// The dialog in which the user decides about an undelivered prompt.
#[derive(Debug)]
pub struct UndeliveredDialog {
    pub job: JobKey,
    pub title: CleanText,
    pub prompt: Prompt,
    /// Whether the job has an id. Only then can docdeck request the job, to check whether a follow-up has arrived.
    pub job_has_id: bool,
    /// When the prompt was last sent; `None` if it was never sent.
    pub sent_at: Option<Time>,
    /// The index of the first visible line.
    pub scroll: usize,
    /// Whether all choices are visible, each with its key. The footer then leaves these keys out.
    shows_choices: bool,
}

impl Component for UndeliveredDialog {
    fn contexts(&self) -> &'static [Context] {
        &[Context::Resolve, Context::Lists, Context::Everywhere]
    }

    fn footer_label(&self, action: Action, _app: &App) -> Option<FooterLabel> {
        FooterLabel::default_if(self.can_resolve_with(action))
    }

    fn shows_key(&self, action: Action) -> bool {
        self.shows_choices && CHOICES.contains(&action)
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        if !self.can_resolve_with(action) {
            return Flow::Handled;
        }
        let id = self.prompt.id;
        match action {
            Action::SendAgain if self.is_unconfirmed() => {
                let text = "The service may have received this prompt already. If you send it again, the work may be \
                            done twice. Send it again?";
                let on_yes = ConfirmAction::Resolve(id, PromptResolution::SendAgain);
                cx.open(ConfirmDialog { text: text.to_owned(), on_yes });
                return Flow::Handled;
            }
            Action::LinkJob => {
                cx.app.open_input(InputField::LinkId(id), "");
                return Flow::Handled;
            }
            Action::Copy => {
                cx.run(Effect::copy("the prompt", self.prompt.text.clone()));
                return Flow::Handled;
            }
            Action::CheckJob => {
                cx.notify(Severity::Info, "Checking this job…");
                cx.run(Effect::Jobs(JobsEffect::Check(self.job)));
            }
            Action::EditPrompt => self.edit(cx.app),
            Action::SendAgain => cx.run(Effect::Prompts(PromptsEffect::Resolve(id, PromptResolution::SendAgain))),
            Action::Discard => {
                let from = Some(self.prompt.delivery.kind());
                let discarded = Prompt { delivery: Delivery::Discarded { from }, ..self.prompt.clone() };
                cx.run(Effect::Prompts(PromptsEffect::Discard(
                    id,
                    CleanText::line(discarded.discard_explanation().unwrap_or_default()),
                )));
            }
            _ => return Flow::Unhandled,
        }
        Flow::Close
    }

    fn scroll(&mut self, by: Scroll, cx: &mut Cx<'_>) {
        let (total, rows) = self.line_and_row_counts(cx.app);
        self.scroll = by.apply(self.scroll, rows, (total + 1).saturating_sub(rows));
    }

    fn refresh(&mut self, app: &App) {
        let g = app.geometry();
        let (lines, rows) = (self.lines(app, g.dialog_columns()), g.dialog_rows());
        self.scroll = self.scroll.min(lines.len().saturating_sub(rows));
        let is_choice = |line: &UndeliveredLine| line.first().is_some_and(|(_, role)| *role == ColorRole::Key);
        let is_visible = |at: usize| (self.scroll..self.scroll + rows).contains(&at);
        self.shows_choices = lines.iter().enumerate().all(|(at, line)| !is_choice(line) || is_visible(at));
    }

    fn position_text(&self, app: &App) -> String {
        let (total, rows) = self.line_and_row_counts(app);
        more_below_text(total.saturating_sub(self.scroll + rows))
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let theme = view.theme;
        let title = format!("{}: {}", kind_text(self.prompt.kind), self.prompt.delivery.kind().word());
        let text = inside_margin(DialogFrame::new(view, title).draw(frame, view, self));
        let (width, rows) = (usize::from(text.width), usize::from(text.height));
        let lines = self.lines(view.app, width);
        for (n, line) in lines.iter().skip(self.scroll).take(rows).enumerate() {
            let mut row = TextRow::new(width);
            for (text, role) in line {
                row.push(text, theme.role(*role));
            }
            draw_line(frame, text, n, row.line());
        }
    }
}

impl UndeliveredDialog {
    fn is_unconfirmed(&self) -> bool {
        self.prompt.delivery.kind() == DeliveryKind::Unconfirmed
    }

    fn can_resolve_with(&self, action: Action) -> bool {
        match action {
            Action::EditPrompt => !self.is_unconfirmed(),
            Action::LinkJob => self.is_unconfirmed() && self.prompt.kind == PromptKind::Create,
            Action::CheckJob => self.is_unconfirmed() && self.job_has_id,
            _ => true,
        }
    }

    /// Opens the prompt in the editor. Sending the edited text updates this prompt instead of creating another one, so
    /// that the prompt can't be sent twice.
    fn edit(&self, app: &mut App) {
        let prompt = &self.prompt;
        let text = app.draft(DraftTarget::Prompt(prompt.id)).unwrap_or(&prompt.text).to_owned();
        let reason = prompt.delivery.reason().cloned().unwrap_or_default();
        app.edit_undelivered_prompt(prompt.id, prompt.kind, reason, &text);
        let pages = app.jobs.get(self.job).map(|row| row.local.pages.clone()).unwrap_or_default();
        if let Some(editor) = app.find_mut::<Editor>() {
            editor.pages = pages.into();
        }
    }

    /// Returns the number of lines of the dialog, and the number of rows on screen for them.
    fn line_and_row_counts(&self, app: &App) -> (usize, usize) {
        let g = app.geometry();
        (self.lines(app, g.dialog_columns()).len(), g.dialog_rows())
    }

    /// Returns the lines of the dialog at this width.
    fn lines(&self, app: &App, width: usize) -> Vec<UndeliveredLine> {
        let mut builder = UndeliveredLineBuilder { lines: Vec::new(), width };
        builder.add_text(self.title.as_str(), ColorRole::Title);
        self.add_what_happened(app, &mut builder);
        builder.add_gap();
        builder.add_text("What you can do", ColorRole::Title);
        builder.add_choices(&app.config.keymap, &self.choices(app));
        builder.add_gap();
        builder.add_prompt(&self.prompt.text);
        builder.lines
    }

    fn add_what_happened(&self, app: &App, builder: &mut UndeliveredLineBuilder) {
        let prompt = &self.prompt;
        let (what, meaning) = match (prompt.delivery.kind(), prompt.kind) {
            // An unconfirmed prompt without a sending time was imported from a file.
            (DeliveryKind::Unconfirmed, _) if self.sent_at.is_none() => (
                "Imported from another computer. It may or may not have been sent from there.",
                "docdeck never sends it automatically: the work could be done twice. Check the other computer before \
                 you send it here.",
            ),
            (DeliveryKind::Unconfirmed, PromptKind::Create) => (
                "The service may or may not have started this job.",
                "The service can't list jobs, so docdeck can't find out. It never sends the prompt again \
                 automatically: that could start the job twice.",
            ),
            (DeliveryKind::Unconfirmed, PromptKind::FollowUp) => (
                "The service may or may not have received this follow-up.",
                "docdeck never sends it again automatically: the agent could do the work twice. Later follow-ups wait \
                 for your decision.",
            ),
            (DeliveryKind::Rejected, _) => (
                "The service rejected this prompt. Nothing was started.",
                "Unless you edit it, the service may reject it again.",
            ),
            _ => ("This prompt never reached the service. Nothing was started.", "It is safe to send it again."),
        };
        builder.add_labelled("!", 2, what, ColorRole::Warning);
        builder.add_text(meaning, ColorRole::Text);
        builder.add_gap();
        if let Some(reason) = prompt.delivery.reason() {
            builder.add_labelled("reason", LABEL_CELLS, reason.as_str(), ColorRole::Text);
        }
        let saved =
            Some(prompt.written_at).filter(|at| self.sent_at.is_none_or(|sent| sent - *at > MIN_DELAY_FOR_SAVED_TIME));
        for (label, at) in [("saved", saved), ("sent", self.sent_at)] {
            if let Some(at) = at {
                builder.add_labelled(label, LABEL_CELLS, &moment_text(app, at), ColorRole::Text);
            }
        }
    }

    /// Returns the possible choices, the safest first, each with its meaning.
    fn choices(&self, app: &App) -> Vec<(Action, String)> {
        let limited = self.prompt.kind.quota();
        let cost = if app.is_budget_known(limited) {
            format!("Uses one of {} {} left this hour.", app.budget(limited).requests_left(), limited.label())
        } else {
            "Uses one request of the hourly limit.".to_owned()
        };
        let unconfirmed = self.is_unconfirmed();
        let undo = app.key_label(Context::Jobs, Action::Undo);
        let discard = match (unconfirmed, self.prompt.kind) {
            (true, PromptKind::Create) => {
                format!("The service may still have started the job. To bring the prompt back, press {undo}.")
            }
            (true, PromptKind::FollowUp) => {
                format!("The service may still have received the follow-up. To bring the prompt back, press {undo}.")
            }
            (false, _) => format!("Nothing is sent. To undo, press {undo}."),
        };
        if !unconfirmed {
            return vec![
                (Action::EditPrompt, "Change the text, then send it.".to_owned()),
                (Action::SendAgain, format!("Send it unchanged. {cost}")),
                (Action::Discard, discard),
            ];
        }
        let again = match self.prompt.kind {
            PromptKind::Create => {
                format!("Only if the job isn't on your Mintlify dashboard; otherwise it runs twice. {cost}")
            }
            PromptKind::FollowUp => {
                format!("Only if the job isn't working on it; otherwise the work is done twice. {cost}")
            }
        };
        let mut choices = Vec::new();
        if self.prompt.kind == PromptKind::Create {
            let text =
                "Asks for the job's id, which your Mintlify dashboard shows. One request checks it; no prompt is sent.";
            choices.push((Action::LinkJob, text.to_owned()));
        } else if self.job_has_id {
            let text = "Uses one request. If the job is working again, the follow-up arrived, so discard this prompt.";
            choices.push((Action::CheckJob, text.to_owned()));
        }
        choices.push((Action::SendAgain, again));
        choices.push((Action::Discard, discard));
        choices
    }
}

/// If the prompt was sent within this time after it was saved, the dialog leaves out when it was saved.
const MIN_DELAY_FOR_SAVED_TIME: TimeDelta = TimeDelta::seconds(60);

/// Returns the time of day, with the date unless it is today.
fn moment_text(app: &App, at: Time) -> String {
    let (at, today) = (at.with_timezone(&app.config.offset), app.updated_at.with_timezone(&app.config.offset));
    let format = if at.date_naive() == today.date_naive() { "%H:%M" } else { "%-d %b %Y, %H:%M" };
    at.format(format).to_string()
}

struct UndeliveredLineBuilder {
    lines: Vec<UndeliveredLine>,
    width: usize,
}

impl UndeliveredLineBuilder {
    fn add_gap(&mut self) {
        self.lines.push(Vec::new());
    }

    fn add_text(&mut self, text: &str, role: ColorRole) {
        self.lines.extend(wrap(text, self.width, 12).0.into_iter().map(|line| vec![(line, role)]));
    }

    /// Adds a label, followed by a text that is wrapped in the remaining width.
    fn add_labelled(&mut self, label: &str, label_width: usize, text: &str, role: ColorRole) {
        let label_role = if role == ColorRole::Text { ColorRole::Muted } else { role };
        self.add_columns(&[(label, label_width, label_role)], text, role);
    }

    /// Adds columns of fixed widths, followed by a text that is wrapped in the remaining width.
    fn add_columns(&mut self, columns: &[(&str, usize, ColorRole)], text: &str, role: ColorRole) {
        let indent: usize = columns.iter().map(|(_, width, _)| width).sum();
        let lines = wrap(text, self.width.saturating_sub(indent).max(8), 12).0;
        for (n, line) in lines.into_iter().enumerate() {
            let cell = |(text, width, role): &(&str, usize, ColorRole)| {
                (align_left(if n == 0 { text } else { "" }, *width), *role)
            };
            self.lines.push(columns.iter().map(cell).chain([(line, role)]).collect());
        }
    }

    /// Adds the choices with their keys and their meanings. The keys and the names come from the key bindings.
    fn add_choices(&mut self, keymap: &Keymap, choices: &[(Action, String)]) {
        let binding = |action: &Action| {
            let row = BINDINGS.iter().find(|row| row.context == Context::Resolve && row.action == *action)?;
            Some((keymap.keys(row).first()?.to_string(), row.hint))
        };
        let choices: Vec<_> =
            choices.iter().filter_map(|(action, meaning)| Some((binding(action)?, meaning.as_str()))).collect();
        let key_width = choices.iter().map(|((key, _), _)| key.width() + 2).fold(KEY_CELLS, usize::max);
        let name_width = choices.iter().map(|((_, name), _)| name.width() + 3).max().unwrap_or(0);
        for ((key, name), meaning) in &choices {
            let key = (key.as_str(), key_width, ColorRole::Key);
            if self.width >= MIN_COLUMNS_WITH_MEANINGS_BESIDE {
                self.add_columns(&[key, (name, name_width, ColorRole::Text)], meaning, ColorRole::Muted);
            } else {
                self.add_columns(&[key], name, ColorRole::Text);
                self.add_columns(&[("", key_width, ColorRole::Text)], meaning, ColorRole::Muted);
            }
        }
    }

    fn add_prompt(&mut self, text: &str) {
        let characters = text.chars().count();
        let size =
            format!("  {}, {}", format::plural(text.lines().count(), "line"), format::plural(characters, "character"));
        self.lines.push(vec![("Prompt".to_owned(), ColorRole::Title), (size, ColorRole::Muted)]);
        let head: String = text.chars().take(MAX_PROMPT_CHARS).collect();
        let (lines, cut) = wrap(CleanText::block(&head).as_str().trim_end(), self.width, MAX_PROMPT_LINES);
        self.lines.extend(lines.into_iter().map(|line| vec![(line, ColorRole::Text)]));
        if cut || characters > MAX_PROMPT_CHARS {
            self.add_text("… the rest is not shown", ColorRole::Muted);
        }
    }
}

/// Returns the question whether to copy an undelivered prompt of another member into a follow-up. The question warns
/// that the work may be done twice. `None` if the user wrote the prompt.
fn question_about_copying_prompt(prompt: &Prompt) -> Option<ConfirmDialog> {
    let author = prompt.author.as_ref()?;
    let title = CleanText::title(&prompt.text, MAX_QUOTED_PROMPT_CHARS);
    let risk = match prompt.delivery.kind() {
        DeliveryKind::Unconfirmed => "The service may have received it already, and",
        DeliveryKind::Sending => "It may be on its way to the service, and",
        _ => "It never reached the service, but",
    };
    let text = format!(
        "{author} wrote this prompt: “{title}”. {risk} {author} can still send it. If you send a copy, the work may be \
         done twice. Copy it into a new follow-up?"
    );
    Some(ConfirmDialog { text, on_yes: ConfirmAction::CopyToFollowUp(prompt.text.clone()) })
}

impl App {
    /// Closes the dialog about this undelivered prompt, if it is open.
    pub(super) fn close_undelivered(&mut self, prompt: PromptId) {
        self.close_dialogs_if(|open: &UndeliveredDialog| open.prompt.id == prompt);
    }

    pub(super) fn open_undelivered(&mut self, now: Time) {
        let Some(row) = self.jobs.selected() else { return };
        if !row.local.undelivered.is_some_and(DeliveryKind::needs_user) {
            if let Some(question) = self.detail.undelivered_of_others().and_then(question_about_copying_prompt) {
                self.open(question);
                return;
            }
            let text = self.reason_nothing_to_resolve(row.local.undelivered);
            self.notify(Severity::Info, text, now);
            return;
        }
        let Some(prompt) = self.detail.undelivered() else {
            self.notify(Severity::Info, "The thread is still loading.", now);
            return;
        };
        let resolve = UndeliveredDialog {
            job: row.key,
            title: row.local.title.clone(),
            prompt: prompt.clone(),
            job_has_id: row.id.is_some(),
            sent_at: prompt.sent_at,
            scroll: 0,
            shows_choices: false,
        };
        self.open(resolve);
    }

    /// Returns why the selected job has no prompt to resolve. `undelivered` is the most urgent delivery state of the
    /// job's prompts.
    fn reason_nothing_to_resolve(&self, undelivered: Option<DeliveryKind>) -> &'static str {
        match undelivered {
            Some(DeliveryKind::Discarded) => self.detail.discard_explanation().unwrap_or("Discarded."),
            Some(DeliveryKind::Queued) => "Nothing to resolve: the prompt is queued.",
            Some(DeliveryKind::Paused) => "Nothing to resolve: the prompt is paused.",
            Some(DeliveryKind::Sending) => "Nothing to resolve yet: the prompt is being sent.",
            _ => match self.detail.thread().shown() {
                Some(thread)
                    if thread
                        .value
                        .prompts
                        .iter()
                        .all(|prompt| !prompt.is_from_this_computer() || prompt.delivery == Delivery::Accepted) =>
                {
                    "Nothing to resolve: all prompts of this job were delivered."
                }
                _ => "This job has no undelivered prompt.",
            },
        }
    }

    /// Applies the result of resolving an undelivered prompt.
    pub(super) fn apply_resolve_result(&mut self, result: Result<Job, Failure>, now: Time) {
        self.is_dirty = true;
        match result {
            Ok(row) => self.put_job(row),
            Err(failure) => self.notify_failure(&failure, now),
        }
    }
}
