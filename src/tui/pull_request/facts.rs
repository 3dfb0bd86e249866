//! Texts that several dialogs about a pull request show: its title, and the views of its pages.

use crate::model::impact::PageViewsInRange;
use crate::model::job::JobKey;
use crate::model::period::DateRange;
use crate::model::views::Counts;
use crate::tui::App;
use crate::tui::format::count_text;

/// Returns the number and the title of a job's pull request.
pub(in crate::tui) fn number_and_title(app: &App, job: JobKey) -> String {
    let job = app.jobs.get(job);
    let number = job.and_then(|job| job.pr_number()).map(|number| format!("#{number} ")).unwrap_or_default();
    let title = job.and_then(|job| job.pull_request.as_ref().map(|state| &state.title));
    let title = title.or_else(|| job.map(|job| &job.local.title)).map_or("", |title| title.as_str());
    format!("{number}{title}")
}

/// Returns the cached views of a page with their days: `4,897 human · 1,530 AI views in the last 7 days`.
pub(in crate::tui) fn views_text(app: &App, period: &PageViewsInRange) -> String {
    format!("{} views {}", counts_text(&period.views.value), days_text(app, period.range))
}

/// Formats the views of a page: `4,647 human · 1,575 AI`.
pub(in crate::tui) fn counts_text(counts: &Counts) -> String {
    format!("{} human · {} AI", count_text(&counts.human), count_text(&counts.ai))
}

/// Formats the days of a range: `in the last 7 days` or `on 19–25 Nov`.
pub(super) fn days_text(app: &App, range: DateRange) -> String {
    match range == DateRange::last_days(range.days(), app.updated_at.date_naive()) {
        true => format!("in the last {} days", range.days()),
        false => format!("on {}", range.format_dates(false)),
    }
}
