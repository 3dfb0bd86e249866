//! What several dialogs about a pull request show.

use crate::model::pull_request_details;
use crate::model::row::JobKey;
use crate::model::views::PageRow;
use crate::tui::App;

/// Returns the number and the title of a job's pull request.
pub(in crate::tui) fn title(app: &App, job: JobKey) -> String {
    let job = app.jobs.get(job);
    let number = job.and_then(|job| job.pr_number()).map(|number| format!("#{number} ")).unwrap_or_default();
    let title = job.and_then(|job| job.pull_request.as_ref().map(|state| &state.title));
    let title = title.or_else(|| job.map(|job| &job.local.title)).map_or("", |title| title.as_str());
    format!("{number}{title}")
}

/// Returns the listed page that a file is, with its views.
pub(in crate::tui) fn page_of_file<'a>(app: &'a App, path: &str) -> Option<&'a PageRow> {
    let page = pull_request_details::page_of_file(path)?;
    app.views.table.rows().iter().find(|row| row.path.as_str() == page)
}
