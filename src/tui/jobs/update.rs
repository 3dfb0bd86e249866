//! Applies the messages about jobs.

use super::messages::{InitialData, JobsEffect, JobsMsg};
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::impact::{PageImpact, WeekAfterState, missing_reports, unloaded_weeks, week_after};
use crate::model::job::{FirstJobs, Job, JobKey};
use crate::model::load::Load;
use crate::model::prompt::DraftTarget;
use crate::tui::{App, Effect, Screen, Severity, StoreState};
use chrono::TimeDelta;

/// The time between two attempts to read an unreadable store.
const STORE_RETRY_INTERVAL: TimeDelta = TimeDelta::seconds(2);

impl App {
    pub(in crate::tui) fn handle_jobs_msg(&mut self, msg: JobsMsg, now: Time, effects: &mut Vec<Effect>) {
        match msg {
            JobsMsg::FirstRowsLoaded(result) => self.apply_first_rows(result, now, effects),
            JobsMsg::InitialDataLoaded(result) => {
                self.apply_initial_data(result, now);
                self.open_all_jobs_at_startup(effects);
                self.after_update(effects);
                self.run_queued_keys(now, effects);
            }
            JobsMsg::ThreadLoaded { job, result } => {
                let next = self.detail.apply_thread(job, result, now);
                effects.extend(next.map(JobsEffect::LoadThread).map(Effect::Jobs));
                self.is_dirty |= self.detail_is_visible();
            }
            JobsMsg::ThreadsPrefetched(result) => self.detail.prefetched.apply_result(result, now),
            JobsMsg::Checked(result) => self.apply_changed_job(result, now),
            JobsMsg::Tracked { id, result } => self.apply_track_result(&id, result, now),
            JobsMsg::LocalDataChanged(Ok(rows)) => rows.into_iter().for_each(|row| self.put_changed_job(row)),
            JobsMsg::LocalDataChanged(Err(failure)) => self.notify_failure(&failure, now),
            JobsMsg::JobsFoundByPrompt { text, jobs } => self.apply_prompt_search(text, jobs, now),
            JobsMsg::ImpactLoaded { job, result } => self.apply_impact(job, result, now, effects),
            JobsMsg::PullRequestActionEnded { job, action, outcome } => {
                self.finish_pull_request_action(job, &action, &outcome, now, effects);
            }
            // The review dialog is already closed, so a notice shows the failure.
            JobsMsg::UnsentReviewSaved { result: Err(failure), .. } => self.notify_failure(&failure, now),
            JobsMsg::UnsentReviewSaved { result: Ok(_), .. } => {}
            JobsMsg::PreviewStarted { job, result } => self.apply_started_build(job, result, effects),
            JobsMsg::BuildChecked { job, id, result } => self.apply_build(job, &id, result, now, effects),
            // The dialog that requested this data is closed.
            JobsMsg::DiffLoaded { .. } | JobsMsg::PullRequestDetailsLoaded { .. } => {}
            JobsMsg::AllJobsListed(result) => self.apply_all_jobs(result, now),
        }
    }

    pub(in crate::tui) fn merge_jobs(&mut self, gone: JobKey, into: JobKey) {
        self.detail.prefetched.invalidate(gone);
        self.detail.prefetched.invalidate(into);
        self.is_dirty |= self.jobs.remove_merged(gone, into);
        if let Some(open) = &mut self.all_jobs {
            open.list.remove_merged(gone, into);
        }
        if let Some(text) = self.drafts.remove(&DraftTarget::FollowUp(gone)) {
            // If both jobs have a draft, the drafts are joined, as in the store.
            let draft = self.drafts.entry(DraftTarget::FollowUp(into)).or_default();
            *draft = if draft.is_empty() { text } else { format!("{draft}\n\n{text}") };
        }
    }

    pub(in crate::tui) fn put_job(&mut self, row: Job) {
        self.queue_changed_row(&row);
        self.upsert_in_all_jobs(&row);
        if let Some(old) = self.jobs.get(row.key).filter(|old| old.revision <= row.revision) {
            self.finish_alerts.add_alert_if_finished(old, &row);
            self.team_notices.add_if_handled_by_member(old, &row);
        }
        // The log entry about the request that created the job arrived before the job, so it has the id instead of the
        // title.
        if let Some(id) = row.id.as_ref().filter(|_| self.jobs.get(row.key).is_none_or(|old| old.id.is_none())) {
            self.log.replace_ids_with_titles(|subject| (subject == id.as_str()).then(|| row.local.title.clone()));
        }
        // This redraws other screens too, because the counts in the header may change.
        self.is_dirty |= self.jobs.upsert(row);
    }

    /// Shows the first rows, which are enough for the first frame, and loads all other data.
    fn apply_first_rows(&mut self, result: Result<FirstJobs, Failure>, now: Time, effects: &mut Vec<Effect>) {
        // A failure is ignored here, because loading the other data then fails too and reports it.
        if let (Ok(mut first), StoreState::Reading) = (result, &self.store) {
            let thread = first.jobs.first().map(|row| row.key).zip(first.thread.take());
            self.jobs.show_first_rows(first);
            self.is_dirty = true;
            self.after_update(effects);
            if let Some((job, thread)) = thread
                && let Some(at) = effects.iter().position(|effect| *effect == Effect::Jobs(JobsEffect::LoadThread(job)))
            {
                effects.remove(at);
                effects.extend(
                    self.detail.apply_thread(job, Ok(thread), now).map(JobsEffect::LoadThread).map(Effect::Jobs),
                );
            }
        }
        effects.push(Effect::Jobs(JobsEffect::LoadInitialData));
    }

    fn apply_initial_data(&mut self, result: Result<Box<InitialData>, Failure>, now: Time) {
        self.is_dirty = true;
        match result {
            Ok(data) => {
                self.jobs.replace(data.jobs);
                if data.is_project_shared {
                    self.team_notices.start();
                }
                if let Some(key) = self.pending_selection.take() {
                    self.jobs.select(key);
                }
                self.drafts.extend(data.drafts);
                self.draft_pages = data.draft_pages;
                self.pull_request_work.unsent_reviews.extend(data.unsent_reviews);
                let jobs = &self.jobs;
                let title = |id: &str| {
                    let job = jobs.rows().find(|job| job.id.as_ref().is_some_and(|other| other.as_str() == id));
                    job.map(|job| job.local.title.clone())
                };
                // These entries are about requests that were sent before the jobs were read, so they have ids instead
                // of titles.
                self.log.replace_ids_with_titles(title);
                self.log.prepend(data.log);
                self.tips.set_seen(data.seen_tips.as_deref());
                self.store = StoreState::Loaded;
                self.apply_queued_engine_events();
            }
            Err(why) => {
                let is_known = matches!(&self.store, StoreState::Unreadable { why: known, .. } if *known == why);
                // The jobs screen itself shows why the store can't be read, so only the other screens need a notice.
                if !is_known && self.screen != Screen::Jobs {
                    self.notify_failure(&why, now);
                }
                self.store = StoreState::Unreadable { why, retry_at: Some(now + STORE_RETRY_INTERVAL) };
            }
        }
    }

    fn apply_changed_job(&mut self, result: Result<Job, Failure>, now: Time) {
        match result {
            Ok(row) => self.put_job(row),
            Err(failure) => self.notify_failure(&failure, now),
        }
    }

    /// Applies the page views from before and after a job, for the pages that the job is about.
    pub(in crate::tui) fn apply_impact(
        &mut self,
        job: JobKey,
        result: Result<Vec<PageImpact>, Failure>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        effects.extend(
            self.detail.job_pages.finish_read(job, result, now).map(JobsEffect::LoadJobImpact).map(Effect::Jobs),
        );
        self.is_dirty |= self.detail_is_visible();
    }

    /// Reads the views of the selected job's pages again, because more views may be available.
    pub(in crate::tui) fn reread_pages(&mut self, effects: &mut Vec<Effect>) {
        effects.extend(self.detail.job_pages.request_read().map(JobsEffect::LoadJobImpact).map(Effect::Jobs));
    }

    /// Asks whether to fetch the missing views of the selected job's pages before and after the job. If there is
    /// nothing to fetch, shows a notice.
    pub(in crate::tui) fn ask_to_load_impact(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(row) = self.jobs.selected() else { return };
        if row.local.pages.is_empty() {
            let text = "This job was not started for a page. For a job about a page, press n on it on the Pages tab.";
            self.notify(Severity::Info, text, now);
            return;
        }
        let Load::Ready(known) = self.detail.job_pages.pages() else {
            self.notify(Severity::Info, "The views of the job's pages are still loading. Try again in a moment.", now);
            return;
        };
        let (row, pages) = (row.clone(), known.value.clone());
        self.ask_to_load_views_around_job(&row, &pages, now, effects);
    }

    pub(in crate::tui) fn ask_to_load_views_around_job(
        &mut self,
        row: &Job,
        pages: &[PageImpact],
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        let ranges = unloaded_weeks(row, pages, now.date_naive());
        if !ranges.is_empty() {
            self.ask_to_load(ranges, now, effects);
            return;
        }
        if let Some((range, kinds)) = missing_reports(row, pages, now.date_naive()) {
            return self.ask_to_load_reports(range, kinds, now);
        }
        let text = match week_after(row, now.date_naive()) {
            WeekAfterState::Complete(_) => "Nothing to load: both weeks are loaded.".to_owned(),
            WeekAfterState::LoadableFrom(day) => {
                format!("Nothing to load yet: the week after the job is available from {} (UTC).", day.format("%-d %b"))
            }
            WeekAfterState::Working => "Nothing to load yet: the job has not finished.".to_owned(),
            WeekAfterState::NotSent => "Nothing to load yet: the job was not sent.".to_owned(),
            WeekAfterState::FinishUnknown => "Nothing to load: the finish time of the job is unknown.".to_owned(),
        };
        self.notify(Severity::Info, &text, now);
    }

    /// Returns the effect that prefetches threads, if the selection has moved by a single job. After a longer jump, the
    /// next selection can't be predicted.
    pub(in crate::tui) fn prefetch_threads(&mut self) -> Option<Effect> {
        let (jobs, prefetch) = (&self.jobs, &mut self.detail.prefetched);
        let job = jobs.selected()?.key;
        if prefetch.last_selected.is_some_and(|(last_selected, _)| last_selected == job) {
            return None;
        }
        let at = jobs.position(job)?;
        let (_, from) = prefetch.last_selected.replace((job, at))?;
        let down = at == from + 1;
        if !down && at + 1 != from {
            return None;
        }
        let read = prefetch.start_next_prefetch(&|offset| {
            let position = at.checked_add_signed(if down { offset } else { -offset })?;
            jobs.row_at(position).filter(|_| position < jobs.listed_count()).map(|row| (row.key, row.revision))
        });
        read.map(JobsEffect::PrefetchThreads).map(Effect::Jobs)
    }
}
