//! What the actions of the key table do, by the layer that is on top.

use super::batch::Step;
use super::keymap::{Action, Context, Edit};
use super::overlay::{Ask, Consequence, Help, Overlay, Value, Wanted};
use super::picker::Picking;
use super::text_input::TextInput;
use super::views::calendar::{Calendar, Purpose};
use super::{App, Effect, Overwrite, Pane, Record, Screen, Tone};
use crate::model::Time;
use crate::model::prompt::Resolution;
use crate::model::text::CleanText;
use crossterm::event::KeyEvent;

impl App {
    pub(super) fn act(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        match action {
            Action::ShowJobs => self.turn_to(Screen::Jobs, now, effects),
            Action::ShowViews => self.turn_to(Screen::Views, now, effects),
            Action::ShowLog => self.turn_to(Screen::Log, now, effects),
            Action::Help => self.show_help(),
            Action::Palette => self.open_palette(),
            Action::Repaint => effects.push(Effect::Repaint),
            Action::Suspend => effects.push(Effect::Suspend),
            Action::Close => self.close_topmost(now, effects),
            Action::Interrupt if self.has_layer() => self.close_topmost(now, effects),
            Action::Interrupt | Action::Quit => self.leave(effects),
            Action::Down => self.scroll(Scroll::By(1)),
            Action::Up => self.scroll(Scroll::By(-1)),
            Action::PageDown => self.scroll(Scroll::Page(1)),
            Action::PageUp => self.scroll(Scroll::Page(-1)),
            Action::Top => self.scroll(Scroll::Top),
            Action::Bottom => self.scroll(Scroll::Bottom),
            Action::Edit(edit) => self.edit(edit, now),
            Action::Send if self.asks_before_sending() => {}
            Action::Send => self.send(effects),
            Action::Confirm => match self.overlays.last() {
                Some(Overlay::Picker(_)) => self.take_picked(now),
                Some(Overlay::Palette(_)) => self.take_choice(now, effects),
                Some(Overlay::Batch(_)) => self.go_on_with_batch(now, effects),
                Some(Overlay::Calendar(_)) => self.take_range(now, effects),
                Some(Overlay::Export(_)) => self.export_views(now, effects),
                Some(Overlay::Kept(_)) => self.show_kept(effects),
                _ => self.confirm(now, effects),
            },
            Action::Yes => self.yes(now, effects),
            Action::History => self.open_picker(Picking::History, effects),
            Action::Templates => self.open_picker(Picking::Templates, effects),
            Action::EditOutside => self.edit_outside(effects),
            Action::NextBlank => self.next_blank(now),
            Action::DeleteDraft => self.ask_to_delete_draft(),
            Action::ReadFile => self.ask_for_file(),
            Action::SendAgain | Action::EditPrompt | Action::LinkJob | Action::LookAtJob | Action::LetGo => {
                self.resolve_by(action, now, effects);
            }
            Action::CopyMain => self.copy_main(now, effects),
            Action::Open if matches!(self.overlays.last(), Some(Overlay::Card(_))) => self.go_to_card_job(now, effects),
            Action::Refresh => self.refresh(now, effects),
            action if self.screen == Screen::Jobs => self.act_on_jobs(action, now, effects),
            action if self.screen == Screen::Views => self.act_on_views(action, now, effects),
            _ => {}
        }
    }

    fn act_on_jobs(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        match action {
            Action::NewJob => self.open_new_job(now),
            Action::FollowUp => self.follow_up(now),
            Action::Open => self.open_detail(effects),
            Action::Peek => {
                self.look(effects);
                if !self.geometry().side_by_side && self.jobs.selected().is_some() {
                    self.pane = Pane::Detail;
                }
            }
            Action::NextPane => {
                self.pane = match self.pane {
                    Pane::List if self.jobs.selected().is_some() => Pane::Detail,
                    _ => Pane::List,
                }
            }
            Action::OpenPr => self.open_prs(now, effects),
            Action::CopyId => {
                if let Some(id) = self.jobs.selected().and_then(|row| row.id.as_ref()) {
                    effects.push(Effect::Copy { what: CleanText::line("job id"), text: id.as_str().to_owned() });
                }
            }
            Action::Dismiss => self.dismiss(now, effects),
            Action::Undo => self.take_back(now, effects),
            Action::FoldDismissed => self.jobs.toggle_dismissed(),
            Action::Track if self.record == Record::Read => self.ask(Wanted::TrackId, ""),
            Action::Resolve => self.open_resolve(now),
            Action::Drafts => self.open_drafts(now),
            Action::Batch => self.open_batch(now),
            Action::BeforeAfter => self.ask_for_before_and_after(now, effects),
            Action::QueuePause | Action::QueueUp | Action::QueueDown | Action::QueueRemove => {
                self.change_queue(action, now, effects);
            }
            _ => self.act_on_list(action, now, effects),
        }
    }

    fn act_on_list(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        match action {
            Action::Filter => self.open_filter(),
            Action::NextTab => self.turn_tab(true, now),
            Action::PreviousTab => self.turn_tab(false, now),
            Action::NextSort => self.next_sort(),
            Action::ReverseSort => self.reverse_sort(),
            Action::Mark => self.jobs.toggle_mark(),
            Action::MarkRange => self.jobs.mark_range(),
            Action::Rename => self.ask_title(),
            Action::Tags => self.ask_tags(),
            Action::Note => self.ask_note(),
            Action::Export => self.ask_export(now, effects),
            _ => {}
        }
    }

    fn act_on_views(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        let effect = match action {
            Action::NextPage | Action::PreviousPage if self.views.table.is_tree() => {
                self.walk_tree(action == Action::NextPage);
                None
            }
            Action::NextPage => self.views.turn_page(true),
            Action::PreviousPage => self.views.turn_page(false),
            Action::NextRange => self.views.next_preset(now),
            Action::PeriodBefore | Action::PeriodAfter => {
                self.step_period(if action == Action::PeriodAfter { 1 } else { -1 }, now, effects);
                None
            }
            Action::JumpToPage if self.views.table.report().is_some() => {
                self.say(Tone::Info, "All pages are listed: g and G go to the ends.", now);
                None
            }
            Action::JumpToPage => {
                self.ask(Wanted::Page, "");
                None
            }
            Action::PageSize => {
                self.ask(Wanted::PageSize, "");
                None
            }
            Action::CustomRange => {
                self.open_calendar(Purpose::Show, now);
                None
            }
            _ => {
                self.act_on_table(action, now, effects);
                None
            }
        };
        effects.extend(effect);
    }

    fn act_on_table(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        match action {
            Action::LoadAll => self.load_all(now, effects),
            Action::Compare => self.compare(now, effects),
            Action::CompareWith if matches!(self.overlays.last(), Some(Overlay::Kept(_))) => {
                self.compare_with_kept(now, effects);
            }
            Action::CompareWith => self.open_calendar(Purpose::Compare, now),
            Action::NextPane => self.turn_movers(),
            Action::Metric if matches!(self.overlays.last(), Some(Overlay::Movers(_))) => self.weigh_movers(),
            Action::Trend => self.open_trend(now, effects),
            Action::Movers => self.open_movers(now),
            Action::NewJob => self.open_job_about_pages(now, effects),
            Action::Open if matches!(self.overlays.last(), Some(Overlay::Movers(_))) => self.open_mover(effects),
            Action::Open => {
                if !self.views.table.toggle_folder() {
                    self.open_card(effects);
                }
            }
            Action::Export => self.open_export(now),
            Action::ListKept => self.open_kept(effects),
            _ => self.act_on_choice(action, now, effects),
        }
    }

    /// The keys of the layers in which a range or an export is chosen, else of the table of pages.
    fn act_on_choice(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        match (action, self.overlays.last_mut()) {
            (Action::NextDay, Some(Overlay::Calendar(open))) => open.move_days(1),
            (Action::PreviousDay, Some(Overlay::Calendar(open))) => open.move_days(-1),
            (Action::Today, Some(Overlay::Calendar(open))) => open.to_today(),
            (Action::OtherPart, Some(Overlay::Calendar(open))) => open.turn_focus(),
            (Action::CompareBefore(before), _) => self.take_before(before, now, effects),
            (Action::NextChoice, Some(Overlay::Export(_))) => self.change_export(true),
            (Action::PreviousChoice, Some(Overlay::Export(_))) => self.change_export(false),
            (_, None) => self.shape_table(action, now),
            _ => {}
        }
    }

    pub(super) fn has_layer(&self) -> bool {
        let narrowed = match self.screen {
            Screen::Jobs => self.jobs.marked() > 0 || !self.filter_text().trim().is_empty(),
            Screen::Views => {
                self.views.all.can_stop() || self.views.table.marked() > 0 || self.views.table.is_filtered()
            }
            Screen::Welcome | Screen::Log => false,
        };
        !self.overlays.is_empty() || self.pane == Pane::Detail || narrowed
    }

    /// Closes the topmost layer; marks and the filter lie under the detail. Does nothing at the root.
    fn close_topmost(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let jobs = self.screen == Screen::Jobs;
        match self.overlays.last().map(Overlay::context) {
            Some(Context::Filter) => {
                self.overlays.pop();
                self.clear_filter();
            }
            Some(Context::Calendar | Context::CalendarLine)
                if self.calendar_on_top().is_some_and(Calendar::step_back) => {}
            Some(_) => self.close(now, effects),
            None if self.pane == Pane::Detail => self.pane = Pane::List,
            None if jobs && self.jobs.marked() > 0 => self.jobs.clear_marks(),
            None if jobs && self.clear_filter() => {}
            None if self.screen == Screen::Views && self.views.all.can_stop() => {
                self.stop_loading(effects);
            }
            None if self.screen == Screen::Views && self.open_up_table() => {}
            None => self.notice = None,
        }
    }

    fn yes(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(Overlay::Question(question)) = self.overlays.pop() else { return };
        match question.yes {
            Consequence::Resolve(prompt, resolution) => {
                self.overlays.pop_if(|overlay| matches!(overlay, Overlay::Resolve(_)));
                effects.push(Effect::Resolve(prompt, resolution));
            }
            Consequence::DeleteDraft(slot) => self.delete_draft(slot, effects),
            Consequence::QueueBatch => self.queue_batch(effects),
            Consequence::Queue(jobs, change) => effects.push(Effect::ChangeQueue(jobs, change)),
            Consequence::Bulk(bulk, keys) => self.carry_out(bulk, keys, now, effects),
            Consequence::LoadAll(orders) => self.load_in_turn(orders, effects),
            Consequence::LoadTotals(ranges) => self.load_totals(ranges, effects),
            Consequence::Overwrite { name, text } => {
                effects.push(Effect::WriteFile { name, text, overwrite: Overwrite::Yes });
            }
        }
    }

    fn show_help(&mut self) {
        let contexts = self.contexts().to_vec();
        if matches!(self.overlays.last(), Some(Overlay::Help(_))) {
            self.overlays.pop();
        } else {
            self.overlays.push(Overlay::Help(Help { contexts, scroll: 0 }));
        }
    }

    fn ask(&mut self, wanted: Wanted, text: &str) {
        self.overlays.push(Overlay::Ask(Box::new(Ask::new(wanted, text))));
    }

    fn confirm(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if matches!(self.overlays.last(), Some(Overlay::Filter(_))) {
            self.overlays.pop();
            return;
        }
        let Some(Overlay::Ask(ask)) = self.overlays.last() else { return };
        // What is wrong with the value stands below it already.
        let Ok(value) = ask.value() else { return };
        let wanted = ask.wanted.clone();
        self.overlays.pop();
        let effect = match (wanted, value) {
            (Wanted::TrackId, Value::Ids(ids)) => {
                self.track(ids, now, effects);
                None
            }
            (Wanted::LinkId(prompt), Value::Id(id)) => {
                self.overlays.pop_if(|overlay| matches!(overlay, Overlay::Resolve(_)));
                Some(Effect::Resolve(prompt, Resolution::Link(id)))
            }
            (Wanted::PromptsFile, Value::Text(file)) => {
                self.read_file(&file, effects);
                None
            }
            (Wanted::Page, Value::Number(page)) => self.views.jump(page),
            (Wanted::PageSize, Value::Number(limit)) => self.views.set_limit(limit),
            (wanted, value) => {
                self.confirm_local(wanted, value, now, effects);
                None
            }
        };
        effects.extend(effect);
    }

    /// Enter: the selected job counts as looked at, and its detail has the keys.
    fn open_detail(&mut self, effects: &mut Vec<Effect>) {
        if self.jobs.selected().is_some() {
            self.look(effects);
            self.pane = Pane::Detail;
        }
    }

    /// The selected job was looked at.
    fn look(&mut self, effects: &mut Vec<Effect>) {
        let selected = self.jobs.selected().map(|row| row.key);
        self.look_at(selected.as_slice(), effects);
    }

    fn copy_main(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let copy = match (self.overlays.last(), self.screen) {
            (Some(Overlay::Editor(editor)), _) => Some(("text", editor.input.text())),
            (Some(Overlay::Resolve(resolve)), _) => Some(("prompt", resolve.prompt.text.clone())),
            (Some(Overlay::Card(card)), _) => Some(("path", card.path.to_string())),
            (Some(_), _) => None,
            (None, Screen::Jobs) => {
                self.copy_links(now, effects);
                None
            }
            (None, Screen::Views) => self.views.selected_row().map(|row| ("path", row.path.to_string())),
            (None, _) => None,
        };
        effects.extend(copy.map(|(what, text)| Effect::Copy { what: CleanText::line(what), text }));
    }

    fn refresh(&mut self, now: Time, effects: &mut Vec<Effect>) {
        match self.screen {
            Screen::Jobs => match self.jobs.selected() {
                Some(row) if row.id.is_some() => {
                    effects.push(Effect::Refresh(row.key));
                    self.say(Tone::Info, "Asking the service about this job…", now);
                }
                Some(_) => self.say(Tone::Info, "This job has no id yet, so there is nothing to ask for.", now),
                None => {}
            },
            Screen::Views => self.refresh_views(now, effects),
            _ => {}
        }
    }

    fn edit(&mut self, edit: Edit, now: Time) {
        self.change_text(now, |input| input.edit(edit));
    }

    pub(super) fn type_key(&mut self, key: KeyEvent, now: Time) {
        self.change_text(now, |input| input.type_key(key));
    }

    pub(super) fn paste(&mut self, text: &str, now: Time) {
        self.dirty = true;
        if !self.change_text(now, |input| input.paste(text)) {
            self.say(Tone::Info, "Nothing takes a paste here: n opens the editor for a new job.", now);
        }
    }

    /// Changes the text of the topmost layer; false where it has none.
    fn change_text(&mut self, now: Time, change: impl FnOnce(&mut TextInput) -> bool) -> bool {
        match self.overlays.last_mut() {
            Some(Overlay::Editor(editor)) => editor.change(now, change),
            Some(Overlay::Ask(ask)) => {
                change(&mut ask.input);
            }
            Some(Overlay::Palette(palette)) => {
                change(&mut palette.input);
                palette.narrow();
            }
            Some(Overlay::Picker(picker)) if picker.takes_text() => {
                change(&mut picker.filter);
                picker.narrow();
            }
            Some(Overlay::Batch(batch)) if matches!(batch.step, Step::Writing) => {
                if change(&mut batch.input) {
                    batch.message = None;
                    batch.saved.touched(now);
                }
            }
            Some(Overlay::Filter(input)) => {
                change(input);
                self.filter_typed();
            }
            Some(Overlay::Calendar(open)) => open.type_with(change),
            _ => return false,
        }
        true
    }

    /// Tab: the next blank of a template, or a tab where there is none.
    fn next_blank(&mut self, now: Time) {
        self.change_text(now, |input| input.next_blank() || input.edit(Edit::Tab));
    }

    fn scroll(&mut self, by: Scroll) {
        let g = self.geometry();
        let total = match self.overlays.last() {
            Some(Overlay::Help(help)) => self.help_lines(&help.contexts, g.help_columns()).len(),
            _ => 0,
        };
        if let Some(Overlay::Help(help)) = self.overlays.last_mut() {
            help.scroll = by.apply(help.scroll, g.help_rows(), (total + 1).saturating_sub(g.help_rows()));
            return;
        }
        // A filter lies beside its list, not over it.
        if !matches!(self.overlays.last(), None | Some(Overlay::Filter(_))) {
            self.scroll_layer(by);
            return;
        }
        match (self.screen, self.pane) {
            (Screen::Jobs, Pane::List) => match by {
                Scroll::By(n) => self.jobs.move_by(n),
                Scroll::Page(n) => self.jobs.move_by(n.saturating_mul(page(g.list_rows()))),
                Scroll::Top => self.jobs.move_to_end(false),
                Scroll::Bottom => self.jobs.move_to_end(true),
            },
            (Screen::Jobs, Pane::Detail) => {
                let total = self.detail.lines().len() + self.detail_head_lines() + 1;
                let last = total.saturating_sub(g.detail_rows());
                self.detail.scroll = by.apply(self.detail.scroll, g.detail_rows(), last + 1);
            }
            (Screen::Views, _) => match by {
                Scroll::By(n) => self.views.table.move_by(n),
                Scroll::Page(n) => self.views.table.move_by(n.saturating_mul(page(g.views_rows()))),
                Scroll::Top => self.views.table.move_to_end(false),
                Scroll::Bottom => self.views.table.move_to_end(true),
            },
            (Screen::Log, _) => {
                let rows = g.log_rows();
                let step = match by {
                    Scroll::By(n) => n,
                    Scroll::Page(n) => n.saturating_mul(page(rows)),
                    Scroll::Top => isize::MIN / 2,
                    Scroll::Bottom => isize::MAX / 2,
                };
                self.log.scroll_by(step, rows);
            }
            (Screen::Welcome, _) => {}
        }
    }
}

/// A movement through something long.
#[derive(Debug, Clone, Copy)]
pub(super) enum Scroll {
    By(isize),
    Page(isize),
    Top,
    Bottom,
}

impl Scroll {
    pub(super) fn apply(self, at: usize, rows: usize, total: usize) -> usize {
        match self {
            Self::By(n) => super::scroll::moved(at, n, total),
            Self::Page(n) => super::scroll::moved(at, n.saturating_mul(page(rows)), total),
            Self::Top => 0,
            Self::Bottom => total.saturating_sub(1),
        }
    }
}

/// A screenful less one line, so that the eye keeps its place.
fn page(rows: usize) -> isize {
    isize::try_from(rows.saturating_sub(1).max(1)).unwrap_or(1)
}
