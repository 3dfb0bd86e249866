//! Finds the changes of a job on this computer that the team doesn't have yet, and applies the team's changes to the
//! job.

use super::{JobChange, ObservedTimes, ServiceField, SharedJob, SharedPullRequest, SharedValue};
use crate::model::Time;
use crate::model::backup::merge_rules::{last_response_at, merge_service_data};
use crate::model::change::normalized_tags;
use crate::model::job::{Job, PullRequestEndedBy};
use crate::model::prompt::{EventKind, JobEvent, MAX_AUTHOR_CHARS, MAX_TITLE_CHARS};
use crate::model::pull_request::PullRequest;
use crate::model::remote_job::Status;
use crate::model::text::CleanText;
use chrono::TimeDelta;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Clocks that differ by less than this count as equal. The measured difference is imprecise, because the response of
/// the database takes a moment.
const CLOCK_TOLERANCE: TimeDelta = TimeDelta::seconds(2);

/// Converts times between this computer's clock and the database's clock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TeamClock {
    /// How far the database's clock is ahead of the local clock. A whole number of seconds, so that a time in
    /// milliseconds stays the same when it is converted to the other clock and back.
    offset: TimeDelta,
}

impl TeamClock {
    /// `database` and `local` are readings of both clocks at about the same moment.
    pub fn new(database: Time, local: Time) -> Self {
        let offset = database - local;
        let is_equal = offset.abs() < CLOCK_TOLERANCE;
        Self { offset: if is_equal { TimeDelta::zero() } else { TimeDelta::seconds(offset.num_seconds()) } }
    }

    pub fn to_team_time(self, local: Time) -> Time {
        local.checked_add_signed(self.offset).unwrap_or(local)
    }

    pub fn to_local_time(self, team: Time) -> Time {
        team.checked_sub_signed(self.offset).unwrap_or(team)
    }
}

/// Returns the changes of the job on this computer since the team's state `base` was applied to it.
pub fn job_change(base: &SharedJob, job: &Job, clock: TeamClock) -> JobChange {
    let observation = observed_times(job, clock);
    let is_news = base.observation.as_ref().is_none_or(|known| observation.answered_at > known.answered_at);
    let mut change = JobChange::default();
    if is_news {
        for (field, value) in service_texts(job) {
            if base.service.get(&field).is_none_or(|known| known.value != value) {
                change.service.insert(field, SharedValue { at: observation.answered_at, value });
            }
        }
        let differs = base.observation.as_ref().is_none_or(|known| is_different(known, &observation));
        change.observation = (differs || !change.service.is_empty()).then_some(observation);
    }
    change.pull_request = pull_request(job, clock).filter(|local| {
        base.pull_request.as_ref().is_none_or(|known| {
            known.link != local.link || (known.state.as_of < local.state.as_of && differ_in_content(local, known))
        })
    });
    let title = title_text(job);
    change.title = (title != shared_text(base.title.as_ref())).then(|| title.to_owned());
    let note = note_text(job);
    change.note = (note != shared_text(base.note.as_ref())).then(|| note.to_owned());
    change.dismissed = (job.local.dismissed != is_dismissed(base)).then_some(job.local.dismissed);
    let (local, shared): (BTreeSet<&str>, BTreeSet<&str>) =
        (job.local.tags.iter().map(CleanText::as_str).collect(), base.current_tags().collect());
    change.tags.extend(local.difference(&shared).map(|tag| ((*tag).to_owned(), true)));
    change.tags.extend(shared.difference(&local).map(|tag| ((*tag).to_owned(), false)));
    change
}

/// Applies the team's state `shared` to the job. Keeps the changes that were made on this computer since `base`, so
/// that they can be sent to the team. Returns events for the job's thread: one if the status has changed, and one if
/// the pull request link has changed.
pub fn apply_shared_job(job: &mut Job, base: &SharedJob, shared: &SharedJob, clock: TeamClock) -> Vec<JobEvent> {
    let pending = job_change(base, job, clock);
    let before = job.remote.clone();
    if let Some(mut incoming) = incoming_job(job, shared, clock) {
        if incoming.local.checked_at == Some(last_response_at(job)) {
            // The team's response and the local one have the same time. The added millisecond makes the team's response
            // the later one, so that it wins.
            incoming.local.checked_at = Some(last_response_at(job) + TimeDelta::milliseconds(1));
        }
        merge_service_data(job, &incoming);
    }
    if pending.title.is_none() {
        let title = CleanText::title(shared_text(shared.title.as_ref()), MAX_TITLE_CHARS);
        // If the team removed the custom title, the job's title stays empty until the store reads the job again and
        // sets the default title.
        if !title.is_empty() || job.local.has_custom_title {
            job.local.has_custom_title = !title.is_empty();
            job.local.title = title;
        }
    }
    if pending.note.is_none() {
        let note = CleanText::block(shared_text(shared.note.as_ref()));
        job.local.note = Some(note).filter(|note| !note.as_str().trim().is_empty());
    }
    if pending.dismissed.is_none() && job.local.dismissed != is_dismissed(shared) {
        job.local.dismissed = is_dismissed(shared);
        let name = shared.dismissed_by.as_ref().filter(|_| job.local.dismissed);
        job.local.team.get_or_insert_default().dismissed_by = name.and_then(member_name);
    }
    let has_ended = job.local.team.as_ref().is_some_and(|team| team.pr_ended_by.is_some());
    if let Some(name) = shared.pr_ended_by.as_ref().filter(|_| !has_ended).and_then(member_name) {
        job.local.team.get_or_insert_default().pr_ended_by = Some(PullRequestEndedBy::Member(name));
    }
    let added = pending.tags.iter().filter(|(_, is_added)| **is_added).map(|(tag, _)| tag.as_str());
    let kept = shared.current_tags().filter(|tag| pending.tags.get(*tag) != Some(&false));
    let known: Vec<String> = job.local.tags.iter().map(CleanText::to_string).collect();
    let tags: BTreeSet<&str> = kept.chain(added).collect();
    // Tags that the job already has keep their order.
    let ordered = known.iter().map(String::as_str).filter(|tag| tags.contains(tag));
    job.local.tags = normalized_tags(ordered.chain(tags.iter().copied())).into();
    let at = job.local.changed_at;
    let mut events = Vec::new();
    if let Some(to) = job.remote.status.clone().filter(|status| before.status.as_ref() != Some(status)) {
        events.push(JobEvent { at, kind: EventKind::Status { from: before.status, to } });
    }
    if let Some(link) = job.remote.pr_link.clone().filter(|link| before.pr_link.as_ref() != Some(link)) {
        events.push(JobEvent { at, kind: EventKind::PullRequest(link) });
    }
    events
}

/// Returns a copy of the job with the team's state. The caller merges this copy into the job like an imported job.
/// Returns `None` if the team has no response of the service about the job.
fn incoming_job(job: &Job, shared: &SharedJob, clock: TeamClock) -> Option<Job> {
    let observation = shared.observation.as_ref()?;
    let local = |time: Time| clock.to_local_time(time);
    let mut incoming = job.clone();
    let text = |field: ServiceField| shared.service.get(&field).map(|known| CleanText::line(&known.value));
    incoming.remote.status = shared.service.get(&ServiceField::Status).map(|status| Status::parse(&status.value));
    incoming.remote.source.repository = text(ServiceField::Repository).map(Arc::new);
    incoming.remote.source.git_ref = text(ServiceField::Ref);
    incoming.remote.model = text(ServiceField::Model).map(Arc::new);
    incoming.remote.pr_link = text(ServiceField::PrLink);
    incoming.remote.archived_at = observation.archived_at.map(local);
    incoming.created_at = local(observation.created_at);
    incoming.local.started_at = local(observation.started_at);
    incoming.local.changed_at = local(observation.changed_at);
    incoming.local.finished_at = observation.finished_at.map(local);
    incoming.local.followed_up_at = observation.followed_up_at.map(local);
    incoming.local.checked_at = Some(local(observation.answered_at));
    incoming.local.gone = observation.gone;
    incoming.local.gone_at = observation.gone_at.map(local);
    incoming.local.handled_at = None;
    incoming.pull_request = shared
        .pull_request
        .as_ref()
        .filter(|shared| incoming.remote.pr_link.as_ref().is_some_and(|link| *link == CleanText::line(&shared.link)))
        .map(|shared| {
            let mut state = shared.state.clone();
            shift_times(&mut state, local);
            Box::new(state)
        });
    Some(incoming)
}

fn observed_times(job: &Job, clock: TeamClock) -> ObservedTimes {
    let team = |time: Time| clock.to_team_time(time);
    ObservedTimes {
        answered_at: team(last_response_at(job)),
        created_at: team(job.created_at),
        started_at: team(job.local.started_at),
        changed_at: team(job.local.changed_at),
        finished_at: job.local.finished_at.map(team),
        followed_up_at: job.local.followed_up_at.map(team),
        archived_at: job.remote.archived_at.map(team),
        gone: job.local.gone,
        gone_at: job.local.gone_at.map(team),
    }
}

/// Whether the observations differ in `gone`, or in the times of the start, finish, last follow-up and archiving. Small
/// differences of times are ignored, because the difference between the clocks is only known approximately.
fn is_different(one: &ObservedTimes, other: &ObservedTimes) -> bool {
    let is_near = |one: Option<Time>, other: Option<Time>| match (one, other) {
        (Some(one), Some(other)) => (one - other).abs() < CLOCK_TOLERANCE,
        (one, other) => one == other,
    };
    one.gone != other.gone
        || ![
            (Some(one.started_at), Some(other.started_at)),
            (one.finished_at, other.finished_at),
            (one.followed_up_at, other.followed_up_at),
            (one.archived_at, other.archived_at),
        ]
        .into_iter()
        .all(|(one, other)| is_near(one, other))
}

fn service_texts(job: &Job) -> BTreeMap<ServiceField, String> {
    let remote = &job.remote;
    let fields = [
        (ServiceField::Status, remote.status.as_ref().map(Status::service_word)),
        (ServiceField::Repository, remote.source.repository.as_ref().map(|text| text.as_str())),
        (ServiceField::Ref, remote.source.git_ref.as_ref().map(CleanText::as_str)),
        (ServiceField::Model, remote.model.as_ref().map(|text| text.as_str())),
        (ServiceField::PrLink, remote.pr_link.as_ref().map(CleanText::as_str)),
    ];
    fields.into_iter().filter_map(|(field, text)| Some((field, text?.to_owned()))).collect()
}

fn pull_request(job: &Job, clock: TeamClock) -> Option<SharedPullRequest> {
    let (link, mut state) = (job.remote.pr_link.as_ref()?.to_string(), (**job.pull_request.as_ref()?).clone());
    shift_times(&mut state, |time| clock.to_team_time(time));
    Some(SharedPullRequest { link, state })
}

fn shift_times(state: &mut PullRequest, shifted: impl Fn(Time) -> Time) {
    let PullRequest { merged_at, as_of, checks_as_of, changed_at, .. } = state;
    for time in [merged_at.as_mut(), Some(as_of), checks_as_of.as_mut(), Some(changed_at)].into_iter().flatten() {
        *time = shifted(*time);
    }
}

/// Whether two states of a pull request differ in more than their times, the name of the branch, and the numbers of
/// changed lines and files.
fn differ_in_content(one: &SharedPullRequest, other: &SharedPullRequest) -> bool {
    let facts = |shared: &SharedPullRequest| {
        let state = &shared.state;
        let (title, checks, review) = (state.title.clone(), state.checks.clone(), state.review);
        (title, state.state, checks, review, state.conflict, state.behind, state.head.clone())
    };
    facts(one) != facts(other)
}

fn shared_text(register: Option<&SharedValue<String>>) -> &str {
    register.map_or("", |register| register.value.as_str())
}

fn title_text(job: &Job) -> &str {
    if job.local.has_custom_title { job.local.title.as_str() } else { "" }
}

fn note_text(job: &Job) -> &str {
    job.local.note.as_ref().map_or("", CleanText::as_str)
}

fn is_dismissed(shared: &SharedJob) -> bool {
    shared.dismissed.as_ref().is_some_and(|dismissed| dismissed.value)
}

/// Returns a member's name for display; `None` if it has no visible characters.
fn member_name(register: &SharedValue<String>) -> Option<CleanText> {
    Some(CleanText::title(&register.value, MAX_AUTHOR_CHARS)).filter(|name| !name.is_empty())
}
