//! The line below the text of an editor: the profile, a template or the number of prompts, the state of the draft, and
//! what sending costs.

use super::draft_state::DraftState;
use crate::model::Time;
use crate::model::ledger::{Quota, RATE_LIMIT_WINDOW, Wait};
use crate::model::prompt::DraftTarget;
use crate::tui::App;
use crate::tui::draw::Theme;
use crate::tui::draw::text::TextRow;
use crate::tui::view::View;
use ratatui::style::Style;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr as _;

/// The minimum number of cells between the left and the right part.
const MIN_GAP: usize = 2;

/// What the line shows besides the profile.
#[derive(Debug)]
pub(super) struct EditorStatus {
    /// A label and its value: the name of the template, or the number of prompts. The value has a long and a short
    /// form.
    pub label_and_value: Option<(&'static str, [String; 2])>,
    /// The state of the draft. May be empty.
    pub draft: String,
    /// The hourly limit that applies to sending the text.
    pub quota: Quota,
    /// The number of requests that sending the text uses.
    pub requests: usize,
}

impl EditorStatus {
    /// Returns what sending costs, with its style: the medium form if it fits, otherwise the short one, otherwise
    /// nothing.
    pub(super) fn cost(&self, view: View<'_>, width: usize) -> (String, Style) {
        let (forms, style) = cost_text_variants(view.app, view.theme, self.quota, self.requests, view.now);
        (forms.into_iter().skip(1).find(|text| text.width() <= width).unwrap_or_default(), style)
    }

    /// Returns the line in the longest form that fits; blank if none does. The left part loses its labels first, then
    /// the content, then the profile. Step by step, the cost at the right becomes shorter, too.
    pub(super) fn line<'a>(&self, view: View<'_>, width: usize) -> Line<'a> {
        let View { app, theme, now, .. } = view;
        // Each part is a label, a value and a remark.
        let profile = |label| [label, app.config.profile.as_str(), ""];
        let long = self.label_and_value.as_ref().map(|(label, [long, _])| [*label, long.as_str(), ""]);
        let short = self.label_and_value.as_ref().map(|(_, [_, short])| ["", short.as_str(), ""]);
        let draft = (!self.draft.is_empty()).then_some(["", "", self.draft.as_str()]);
        let lefts = [
            [Some(profile("profile ")), long, draft],
            [Some(profile("")), short, draft],
            [Some(profile("")), draft, None],
            [draft.or(Some(profile(""))), None, None],
            [None; 3],
        ];
        let lefts = lefts.map(|parts| {
            let mut left = TextRow::new(usize::MAX);
            for [label, value, remark] in parts.into_iter().flatten() {
                left.push(if left.used_cells() > 0 { " · " } else { "" }, theme.muted);
                left.push(label, theme.muted).push(value, theme.text).push(remark, theme.muted);
            }
            left.line()
        });
        let (rights, style) = cost_text_variants(app, theme, self.quota, self.requests, now);
        // The combinations to try, from the longest to the shortest. Each has an index into `lefts` and an index into
        // `rights`.
        let forms = [(0, 0), (1, 0), (1, 1), (2, 1), (2, 2), (3, 2), (4, 2)];
        let texts = |(left, right): (usize, usize)| Some((lefts.get(left)?, rights.get(right)?));
        let mut fitting = forms.into_iter().filter_map(texts).filter(|(left, right)| {
            left.width() + right.width() + if left.width() == 0 || right.is_empty() { 0 } else { MIN_GAP } <= width
        });
        let mut row = TextRow::new(width);
        if let Some((left, right)) = fitting.next() {
            for span in &left.spans {
                row.push(span.content.as_ref(), span.style);
            }
            row.pad_to(width - right.width()).push(right, style);
        }
        row.line()
    }
}

/// Returns the cost of sending in a long, a medium and a short form, and its style. The forms are empty if the number
/// of requests left is unknown.
fn cost_text_variants(app: &App, theme: &Theme, quota: Quota, requests: usize, now: Time) -> ([String; 3], Style) {
    if !app.is_budget_known(quota) {
        return (Default::default(), theme.muted);
    }
    let budget = app.budget(quota);
    let (left, label) = (budget.requests_left(), quota.label());
    let until = budget.resets_at.filter(|at| *at > now).unwrap_or(now + RATE_LIMIT_WINDOW);
    let when = app.send_time_text(budget.blocked.unwrap_or(Wait { until, is_estimate: false }), now);
    // New jobs that are already queued are sent before the new jobs of a batch.
    let ahead = if quota == Quota::Create && requests > 1 { app.jobs.count_queued_new_jobs() } else { 0 };
    let sent_now = usize::try_from(left).unwrap_or(usize::MAX).saturating_sub(ahead);
    match left {
        0 => {
            let forms =
                [format!("no {label} left, sending {when}"), format!("none left, sending {when}"), "none left".into()];
            (forms, theme.warning)
        }
        _ if requests > sent_now => {
            let some = format!("{sent_now} of {requests} will be sent now");
            ([format!("{some}, the others {when}"), some.clone(), some], theme.muted)
        }
        _ if requests == 0 => {
            let short = format!("{left} left");
            ([format!("{left} {label} left this hour"), format!("{short} this hour"), short], theme.muted)
        }
        _ => {
            let long = format!("uses {requests} of {left} {label} left this hour");
            let short = format!("uses {requests} of {left} {label} left");
            ([long, short.clone(), short], theme.muted)
        }
    }
}

/// Describes the state of a draft. Empty if there is no draft. Also empty if saving the draft failed, because a message
/// then states the failure.
pub(super) fn draft_state_text(app: &App, draft_target: DraftTarget, state: &DraftState) -> String {
    saved_state_text(app, app.draft(draft_target).is_some_and(|text| !text.trim().is_empty()), state)
}

/// Describes whether a text is saved. `is_restored` is true if the text was already saved when its dialog was opened.
pub(in crate::tui) fn saved_state_text(app: &App, is_restored: bool, state: &DraftState) -> String {
    match state {
        DraftState::Failed(_) => String::new(),
        DraftState::Unchanged if !is_restored => String::new(),
        DraftState::Unchanged | DraftState::Saved(_) if app.config.is_demo => {
            "draft kept until the demo ends".to_owned()
        }
        DraftState::Unchanged => "draft saved".to_owned(),
        DraftState::Due(_) => "draft not saved yet".to_owned(),
        DraftState::Saving => "saving the draft…".to_owned(),
        DraftState::Saved(at) => format!("draft saved {}", at.with_timezone(&app.config.offset).format("%H:%M")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::engine_event::EngineEvent;
    use crate::model::job::{Job, JobKey};
    use crate::model::ledger::Budget;
    use crate::model::prompt::DeliveryKind;
    use crate::model::text::CleanText;
    use crate::tui::Msg;
    use crate::tui::draw::ColorDepth;
    use crate::tui::draw::KeptCells;
    use crate::tui::jobs::tests::at;

    /// Returns the line at this width for `requests` new jobs, after `used` of the 100 new jobs per hour are used.
    fn line(width: usize, requests: usize, used: u32) -> String {
        line_with_queue(width, requests, used, Quota::Create, 0)
    }

    /// Like [`line`], for prompts that count toward `quota`, while `queued` new jobs are queued.
    fn line_with_queue(width: usize, requests: usize, used: u32, quota: Quota, queued: i64) -> String {
        let queued_job = |key| {
            let mut job = Job::new(JobKey(key), CleanText::line("a job"), at(0));
            job.local.undelivered = Some(DeliveryKind::Queued);
            job
        };
        let mut app = crate::tui::finish_alerts::tests::app((1..=queued).map(queued_job).collect());
        app.config.profile = CleanText::line("acme-docs");
        let budget = Budget { used, limit: 100, resets_at: Some(at(1320)), ..Budget::unused(quota) };
        app.update(Msg::Engine(EngineEvent::Budget(quota, budget)), at(0));
        let label_and_value = Some(("template ", ["fix-page".to_owned(), "fix-page".to_owned()]));
        let draft = "draft saved 14:02".to_owned();
        let status = EditorStatus { label_and_value, draft, quota, requests };
        let theme = Theme::new(ColorDepth::None);
        let kept_cells = KeptCells::default();
        let line = status.line(View { app: &app, theme: &theme, now: at(0), kept_cells: &kept_cells }, width);
        let text: String = line.spans.iter().map(|span| span.content.as_ref()).collect();
        assert!(text.width() <= width, "{width}: {text:?}");
        text.split("  ").map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn a_narrow_line_leaves_out_the_template_then_the_profile_and_never_the_cost() {
        let long = "profile acme-docs · template fix-page · draft saved 14:02 | uses 1 of 63 new jobs left this hour";
        assert_eq!(line(118, 1, 37), long);
        assert_eq!(line(70, 1, 37), "acme-docs · fix-page · draft saved 14:02 | uses 1 of 63 new jobs left");
        assert_eq!(line(60, 1, 37), "acme-docs · draft saved 14:02 | uses 1 of 63 new jobs left");
        assert_eq!(line(48, 1, 37), "draft saved 14:02 | uses 1 of 63 new jobs left");
        assert!((0..160).all(|width| line(width, 1, 37).contains("uses 1 of 63 new jobs left") == (width >= 26)));
    }

    #[test]
    fn the_line_shows_how_many_prompts_have_to_wait_and_when_they_are_sent() {
        let when = at(1320).format("%H:%M");
        assert!(line(118, 1, 100).ends_with(&format!("| no new jobs left, sending after {when}")));
        assert!(line(118, 140, 37).ends_with(&format!("| 63 of 140 will be sent now, the others after {when}")));
        assert!(line(118, 0, 37).ends_with("| 63 new jobs left this hour"));
    }

    #[test]
    fn queued_new_jobs_are_sent_before_a_batch_but_not_before_follow_ups() {
        let with_queue = |requests, quota| line_with_queue(118, requests, 37, quota, 2);
        assert!(with_queue(63, Quota::Create).contains("| 61 of 63 will be sent now, the others "));
        assert!(with_queue(61, Quota::Create).contains("| uses 61 of 63 new jobs left"));
        assert!(with_queue(63, Quota::FollowUp).contains("| uses 63 of 63 follow-ups left"));
    }

    #[test]
    fn only_queued_new_jobs_that_are_not_paused_are_sent_before_a_batch() {
        let job = |key, state, is_new: bool, dismissed| {
            let mut job = crate::tui::jobs::tests::row(key, crate::model::remote_job::Status::Active);
            (job.local.undelivered, job.local.dismissed) = (Some(state), dismissed);
            job.id = job.id.filter(|_| !is_new);
            job
        };
        let app = crate::tui::finish_alerts::tests::app(vec![
            job(1, DeliveryKind::Queued, true, false),
            job(2, DeliveryKind::Queued, true, true),
            job(3, DeliveryKind::Paused, true, false),
            job(4, DeliveryKind::Queued, false, false),
            job(5, DeliveryKind::Rejected, true, false),
        ]);
        assert_eq!(app.jobs.count_queued_new_jobs(), 2);
    }
}
