//! Messages into state: one match, each arm short or a call into the part that it concerns.

use super::dialog::Dialog;
use super::editor::DraftState;
use super::jobs::JobLine;
use super::keymap::{Action, Chord, Context};
use super::{App, Effect, Msg, Notice, Pane, Screen, Severity, StoreState};
use crate::model::Time;
use crate::model::connection::Connection;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::ledger::RateLimited;
use crate::model::prompt::DraftSlot;
use crate::model::row::{FirstRows, Job, JobKey};
use chrono::TimeDelta;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind};
use zeroize::Zeroizing;

/// How long no key is a shortcut after a text input closed while the user may still have been typing.
const NO_SHORTCUTS: TimeDelta = TimeDelta::milliseconds(500);
/// How long a record that can't be read is left alone.
const READ_AGAIN: TimeDelta = TimeDelta::seconds(2);

impl App {
    /// Takes one message; the effects are to be carried out in their order.
    pub fn update(&mut self, msg: Msg, now: Time) -> Vec<Effect> {
        let mut effects = Vec::new();
        // Keys account for the inputs that they close.
        let open_inputs = (!matches!(msg, Msg::Input(_))).then(|| self.open_inputs());
        match msg {
            Msg::Input(event) => self.input(event, now, &mut effects),
            Msg::News(news) => self.news(news, now, &mut effects),
            Msg::FirstRows(result) => self.first_rows(result, now, &mut effects),
            // What was known before was said as what it is.
            Msg::ReadOnly if self.config.read_only => {}
            Msg::ReadOnly => self.say_read_only(now),
            Msg::Loaded(result) => {
                self.loaded(result, now);
                self.begin_with_all_jobs(&mut effects);
                self.after_update(&mut effects);
                self.catch_up_with_keys(now, &mut effects);
            }
            Msg::JobsChanged(rows) => rows.into_iter().for_each(|row| self.put(row)),
            Msg::Thread { job, result } => {
                let next = self.detail.take(job, result, now);
                effects.extend(next.map(Effect::LoadThread));
                self.dirty |= self.detail_is_visible();
            }
            Msg::ReadAhead(result) => self.detail.ahead.answer(result, now),
            Msg::Submitted { slot, result } => {
                if result.is_ok() {
                    self.jobs.find_again();
                    effects.extend(self.recall_card());
                }
                if !self.submitted_to_one_of_many(slot, &result, now, &mut effects) {
                    self.submitted(slot, result, now, &mut effects);
                }
            }
            Msg::Resolved { prompt, result } => self.resolved(prompt, result, now),
            Msg::Discarded { sentence, result } => self.discarded(&sentence, result, now),
            Msg::RemovedFromQueue(result) => self.removed_from_queue(result, now),
            Msg::Restored(result) => self.restored(result, now),
            Msg::Refreshed { result, .. } => self.local_change(result, now),
            Msg::Tracked { id, result } => self.tracked(&id, result, now),
            Msg::Changed(Ok(rows)) => rows.into_iter().for_each(|row| self.changed_here(row)),
            Msg::Changed(Err(failure)) => self.notify_failure(&failure, now),
            Msg::PromptsFound { text, jobs } => self.prompts_found(text, jobs, now),
            Msg::History(result) => self.history_read(result),
            Msg::Templates(templates) => self.templates_read(templates, now),
            Msg::EditedOutside(result) => self.edited_outside(result, now),
            Msg::PromptsRead { file, result } => self.prompts_read(&file, result),
            Msg::BatchAdded(result) => self.batch_added(result, now, &mut effects),
            Msg::Views { query, result, old } => self.views_came(query, result, old, now),
            Msg::CachedReport { range, recalled } => self.recalled(range, recalled, now, &mut effects),
            Msg::LoadEnded { range, end } => {
                self.load_ended(range, end, now, &mut effects);
                self.recall_pages_again(&mut effects);
            }
            Msg::TotalsRecalled(result) => self.totals_recalled(result, now, &mut effects),
            Msg::TotalsLoaded(result) => self.totals_loaded(result, now),
            Msg::PageHistory { path, result } => self.page_history(&path, result, now),
            Msg::About { job, result } => self.about_read(job, result, now, &mut effects),
            Msg::Kept(result) => self.kept_listed(result, now),
            Msg::FileExists(file) => self.file_exists(file, now),
            Msg::ProfileChecked { attempt, result } => effects.extend(self.profile_checked(attempt, result)),
            Msg::ProfileAdded { profile, key } => self.profile_added(profile, key, now, &mut effects),
            Msg::FilterSaved { filter, result } => self.filter_saved(filter, result, now),
            Msg::KeyRead { attempt, result } => effects.extend(self.key_read(attempt, result)),
            Msg::ProfileTried { attempt, result } => effects.extend(self.profile_tried(attempt, result)),
            Msg::ConfigWritten { attempt, result } => effects.extend(self.config_written(attempt, result)),
            Msg::DraftSaved { slot, result } => self.draft_saved(slot, result),
            Msg::DraftRead { slot, text, pages } => self.draft_read(slot, text.unwrap_or_default(), &pages, now),
            Msg::AllJobs(result) => self.all_jobs_listed(result, now),
            Msg::ProfileKey(at, result) => self.profile_key_read(at, result, &mut effects),
            Msg::KeyTried(at, result) => self.key_tried(at, result, now, &mut effects),
            Msg::ActionFinished { what, result } => match result {
                Ok(()) => self.notify(Severity::Info, what.as_str(), now),
                Err(failure) => self.notify_failure(&failure, now),
            },
            Msg::Layout(key, left) => self.layout_recalled(&key, left.as_ref(), now),
            Msg::Wake => self.wake(now, &mut effects),
            Msg::Resumed => {
                self.dirty = true;
                self.detail.ahead.forget_all();
                effects.push(Effect::Repaint);
            }
            Msg::Terminate => self.leave(&mut effects),
        }
        if open_inputs.is_some_and(|open| self.open_inputs() < open) {
            self.input_closed_at = Some(now);
        }
        self.after_update(&mut effects);
        self.settle_tip(now, &mut effects);
        self.settle_layout(now);
        self.signal(now, &mut effects);
        effects
    }

    /// What holds after every message: the selection in sight, the detail of the selected job, the jobs on screen.
    pub(super) fn after_update(&mut self, effects: &mut Vec<Effect>) {
        let g = self.geometry();
        self.jobs.keep_in_sight(self.uncovered(g.list_lines()));
        self.views.table.keep_in_sight(self.uncovered(g.views_lines()));
        self.keep_layer_in_sight();
        self.settle_comparison();
        let selected = self.jobs.selected().map(|row| (row.key, row.revision));
        effects.extend(self.detail.show(selected).map(Effect::LoadThread));
        effects.extend(self.detail.about.show(self.jobs.selected()).map(Effect::RecallAbout));
        effects.extend(self.read_ahead());
        effects.extend(self.find_next());
        let seen: Vec<JobKey> = match self.screen {
            Screen::Jobs => self.working_on_screen(g.list_rows()),
            _ => Vec::new(),
        };
        if seen != self.on_screen {
            self.on_screen.clone_from(&seen);
            effects.push(Effect::OnScreen(seen));
        }
    }

    fn working_on_screen(&self, rows: usize) -> Vec<JobKey> {
        let lines = self.jobs.visible(rows);
        let jobs = lines.filter_map(|line| match line {
            JobLine::Job(row) if row.is_working() => Some(row.key),
            _ => None,
        });
        jobs.collect()
    }

    pub(super) fn input(&mut self, event: Event, now: Time, effects: &mut Vec<Effect>) {
        if self.type_ahead(&event, now) {
            return;
        }
        match event {
            Event::Key(key) if key.kind != KeyEventKind::Release => {
                self.finish_alerts.focus(true);
                if !self.is_typed_too_late(Chord::from_event(key), now) {
                    self.key(key, now, effects);
                }
            }
            Event::FocusGained => self.finish_alerts.focus(true),
            Event::FocusLost => self.finish_alerts.focus(false),
            Event::Mouse(event) => self.mouse(event, now, effects),
            // It may be a key.
            Event::Paste(text) => self.paste(&Zeroizing::new(text), now),
            Event::Resize(columns, rows) => {
                self.size = (columns, rows);
                self.dialogs.iter_mut().for_each(Dialog::unscroll);
                self.detail.fit(self.geometry().detail_columns());
                self.dirty = true;
            }
            _ => {}
        }
    }

    pub(super) fn key(&mut self, key: KeyEvent, now: Time, effects: &mut Vec<Effect>) {
        let chord = Chord::from_event(key);
        if !super::geometry::is_usable(self.size) {
            // Nothing can be seen, so nothing but leaving and a clean line is offered.
            match self.config.keymap.action(&[Context::Everywhere], chord) {
                Some(Action::Quit | Action::Interrupt) => self.leave(effects),
                Some(Action::Suspend) => effects.push(Effect::Suspend),
                Some(Action::Repaint) => effects.push(Effect::Repaint),
                _ => {}
            }
            return;
        }
        self.dirty = true;
        self.tips.dismiss();
        let takes_text = self.takes_text();
        // What types a character where text is typed is no command of the screens below.
        let contexts = self.contexts();
        let is_text = takes_text && chord.types_text();
        let asked: &[Context] = match contexts {
            [first, ..] if is_text => std::slice::from_ref(first),
            all => all,
        };
        let (layers, open_inputs) = (self.dialogs.len(), self.open_inputs());
        let of_the_terminal = || if is_text { None } else { self.of_the_terminal(chord) };
        let action = self.config.keymap.action(asked, chord).or_else(of_the_terminal);
        // Esc has to know what was said before it: it may be asked for twice.
        let closes = action == Some(Action::Close);
        let said = if closes { self.notice.clone() } else { self.take_info() };
        match action {
            Some(action) => self.act(action, now, effects),
            None if takes_text => self.type_key(key, now),
            None if matches!(self.dialogs.last(), Some(Dialog::Question(_))) => {
                self.dialogs.pop();
            }
            None => {
                self.run_own(chord, now, effects);
                self.notice = self.notice.take().or_else(|| said.clone());
            }
        }
        if closes && self.notice == said {
            self.take_info();
        }
        let is_sent =
            matches!(action, Some(Action::Send | Action::Confirm)) && chord != Chord::from_event(KeyCode::Enter.into());
        if is_sent && self.open_inputs() < open_inputs {
            self.input_closed_at = Some(now);
        }
        self.layer_opened(layers, effects);
    }

    /// How many dialogs take text.
    fn open_inputs(&self) -> usize {
        self.dialogs.iter().filter(|overlay| overlay.takes_text()).count()
    }

    /// Whether a key was meant for a text input that has just closed. Esc, arrows and keys held with Ctrl or Alt are not,
    /// but for the one that sends, pressed again.
    fn is_typed_too_late(&self, chord: Chord, now: Time) -> bool {
        let since = self.input_closed_at.map(|at| now - at);
        if self.takes_text() || !since.is_some_and(|since| (TimeDelta::zero()..NO_SHORTCUTS).contains(&since)) {
            return false;
        }
        let edits = matches!(chord.code, KeyCode::Enter | KeyCode::Backspace | KeyCode::Delete);
        let is_sent = || self.config.keymap.action(self.contexts(), chord) == Some(Action::Confirm);
        edits || chord.types_text() || is_sent()
    }

    /// What a key does for the terminal whatever lies over the screen: it is no answer to a question, and no text. The
    /// second Ctrl-C is none either.
    fn of_the_terminal(&self, chord: Chord) -> Option<Action> {
        let action = self.config.keymap.action(&[Context::Everywhere], chord);
        let is_again = action == Some(Action::Interrupt) && self.asks_to_quit();
        action.filter(|action| is_again || matches!(action, Action::Repaint | Action::Suspend))
    }

    /// Takes away what was said for information: whatever acts next shows its keys again. A problem stays its time, smaller
    /// where it covers much.
    pub(super) fn take_info(&mut self) -> Option<Notice> {
        if let Some(notice) = &mut self.notice {
            notice.is_read = true;
        }
        self.notice.take_if(|notice| notice.severity == Severity::Info)
    }

    /// After what may have opened a layer: there were `layers` before it.
    pub(super) fn layer_opened(&mut self, layers: usize, effects: &mut Vec<Effect>) {
        if let Some(Dialog::Editor(editor)) = self.dialogs.get(layers) {
            effects.push(Effect::ReadDraft(editor.slot));
        }
    }

    fn news(&mut self, news: EngineEvent, now: Time, effects: &mut Vec<Effect>) {
        match news {
            EngineEvent::Job(row) => self.put(*row),
            EngineEvent::Prompt { prompt, delivery, job } => {
                effects.extend(self.detail.stale(job.key).map(Effect::LoadThread));
                self.put((*job).clone());
                self.delivered(prompt, &delivery, &job, now, effects);
            }
            EngineEvent::Thread(job) => effects.extend(self.detail.stale(job).map(Effect::LoadThread)),
            EngineEvent::Merged { gone, into } if self.merged_ahead(gone, into) => {}
            EngineEvent::Merged { gone, into } => self.merged(gone, into),
            EngineEvent::Left(left) => self.pruned(&left, now, effects),
            EngineEvent::OthersWrote => self.refresh_all_jobs(effects),
            EngineEvent::SendsQueue(sends) => self.sends_queue = sends,
            EngineEvent::Loading(progress) => self.loading(progress, now),
            EngineEvent::Totals { range, totals } => self.totals_told(range, totals),
            EngineEvent::Connection(connection) => {
                // What has succeeded before this connection was made counts: a key that was checked, for one.
                let is_beginning = matches!(connection, Connection::Unknown | Connection::Connecting);
                if !(is_beginning && self.connection == Connection::Ready) {
                    self.dirty |= self.connection != connection;
                    self.connection = connection;
                }
            }
            EngineEvent::Budget(limited, budget) => {
                self.dirty |= self.budgets.insert(limited, budget) != Some(budget);
            }
            EngineEvent::Logged(entry) => {
                self.log.push(entry);
                self.dirty |= self.screen == Screen::Log;
            }
            EngineEvent::Trouble(failure) => self.notify_failure(&failure, now),
            EngineEvent::Unrecorded(_) | EngineEvent::Recorded(_) => self.recording_changed(&news, now),
            EngineEvent::Notice(text) => self.notify(Severity::Problem, text.as_str(), now),
        }
    }

    /// The outcome of a prompt could not be recorded, or is on disk after all.
    fn recording_changed(&mut self, news: &EngineEvent, now: Time) {
        self.dirty = true;
        if let (Some(sentence), EngineEvent::Recorded(_)) = (self.unrecorded.apply(news), news) {
            self.notify(Severity::Greeting, sentence.as_str(), now);
        }
    }

    pub(super) fn merged(&mut self, gone: JobKey, into: JobKey) {
        self.detail.ahead.forget(gone);
        self.detail.ahead.forget(into);
        self.dirty |= self.jobs.merge(gone, into);
        if let Some(open) = self.all_jobs_mut() {
            open.list.merge(gone, into);
        }
        if let Some(text) = self.drafts.remove(&DraftSlot::FollowUp(gone)) {
            // As the store does it: where both have a draft, one stands below the other.
            let kept = self.drafts.entry(DraftSlot::FollowUp(into)).or_default();
            *kept = if kept.is_empty() { text } else { format!("{kept}\n\n{text}") };
        }
    }

    pub(super) fn put(&mut self, row: Job) {
        self.row_ahead(&row);
        self.put_among_all(&row);
        if let Some(old) = self.jobs.get(row.key).filter(|old| old.revision <= row.revision) {
            self.finish_alerts.compare(old, &row);
        }
        // Off the jobs screen only the header's counts could change.
        self.dirty |= self.jobs.upsert(row);
    }

    /// What the first frame needs is there; all else is read now.
    fn first_rows(&mut self, result: Result<FirstRows, Failure>, now: Time, effects: &mut Vec<Effect>) {
        // A store that can't be read says so once, when all is read.
        if let (Ok(mut first), StoreState::Reading) = (result, &self.store) {
            let thread = first.rows.first().map(|row| row.key).zip(first.thread.take());
            self.jobs.begin(first);
            self.dirty = true;
            self.after_update(effects);
            if let Some((job, thread)) = thread
                && let Some(asked) = effects.iter().position(|effect| *effect == Effect::LoadThread(job))
            {
                effects.remove(asked);
                effects.extend(self.detail.take(job, Ok(thread), now).map(Effect::LoadThread));
            }
        }
        effects.push(Effect::LoadKnown);
    }

    fn loaded(&mut self, result: Result<Box<super::InitialData>, Failure>, now: Time) {
        self.dirty = true;
        match result {
            Ok(known) => {
                self.jobs.replace(known.jobs);
                if let Some(key) = self.pending_selection.take() {
                    self.jobs.select(key);
                }
                self.drafts.extend(known.drafts);
                self.draft_pages = known.draft_pages;
                self.log.prepend(known.log);
                self.tips.begin(known.tips.as_deref());
                self.store = StoreState::Read;
                self.catch_up_with_news();
            }
            Err(why) => {
                if !matches!(&self.store, StoreState::Unreadable { why: known, .. } if *known == why) {
                    self.notify_failure(&why, now);
                }
                self.store = StoreState::Unreadable { why, again: Some(now + READ_AGAIN) };
            }
        }
    }

    /// Reads the record again when its time has come: who had it locked may have let go.
    fn read_again(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if let StoreState::Unreadable { again, .. } = &mut self.store
            && again.take_if(|at| *at <= now).is_some()
        {
            effects.push(Effect::LoadKnown);
        }
    }

    fn local_change(&mut self, result: Result<Job, Failure>, now: Time) {
        match result {
            Ok(row) => self.put(row),
            Err(failure) => self.notify_failure(&failure, now),
        }
    }

    fn wake(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if self.notice.as_ref().is_some_and(|notice| notice.until <= now) {
            self.notice = None;
        }
        self.tips.expire(now);
        self.read_again(now, effects);
        // Also under another layer: what is typed is on disk a second later, whatever is looked at meanwhile.
        let is_due = |saved: &DraftState| matches!(saved, DraftState::Due(at) if *at <= now);
        effects.extend(self.dialogs.iter_mut().filter_map(|overlay| overlay.write_draft(is_due)));
        effects.extend(self.remember_layout(Some(now)));
        let freed = |limited: RateLimited| self.budget(limited).resets_at.is_some_and(|at| at <= now);
        if RateLimited::ALL.into_iter().any(freed) {
            // Not asked for again until the report comes.
            for budget in self.budgets.values_mut() {
                budget.resets_at = budget.resets_at.filter(|at| *at > now);
            }
            effects.push(Effect::ReportBudgets);
        }
        self.dirty = true;
    }

    /// Ends the program; what is typed goes to disk first.
    pub(super) fn leave(&mut self, effects: &mut Vec<Effect>) {
        effects.extend(self.dialogs.iter_mut().filter_map(|overlay| overlay.write_draft(DraftState::is_unsaved)));
        effects.extend(self.remember_layout(None));
        effects.push(Effect::Quit);
    }

    /// Turns to a screen; layers over the old one close.
    pub(super) fn switch_screen(&mut self, screen: Screen, now: Time, effects: &mut Vec<Effect>) {
        if self.screen == Screen::Welcome {
            return;
        }
        // A layer may have a step to go back first, and one that is on its way to disk stays.
        for _ in 0..2 * self.dialogs.len() {
            self.close(now, effects);
        }
        if !self.dialogs.is_empty() {
            return;
        }
        self.screen = screen;
        self.pane = Pane::List;
        if screen == Screen::Views {
            effects.extend(self.views.shown_first());
        }
    }
}
