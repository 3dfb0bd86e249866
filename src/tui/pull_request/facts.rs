//! What several dialogs about a pull request show.

pub(in crate::tui) use crate::model::pull_request_details::page_of_file as page_of_path;
use crate::model::row::JobKey;
use crate::model::views::PageRow;
use crate::tui::App;
use crate::tui::format::count_text;

/// Returns the number and the title of a job's pull request.
pub(in crate::tui) fn title(app: &App, job: JobKey) -> String {
    let job = app.jobs.get(job);
    let number = job.and_then(|job| job.pr_number()).map(|number| format!("#{number} ")).unwrap_or_default();
    let title = job.and_then(|job| job.pull_request.as_ref().map(|state| &state.title));
    let title = title.or_else(|| job.map(|job| &job.local.title)).map_or("", |title| title.as_str());
    format!("{number}{title}")
}

/// Returns the views of a page.
pub(in crate::tui) fn views_text(page: &PageRow) -> String {
    format!("{} human · {} AI", count_text(&page.counts.human), count_text(&page.counts.ai))
}

/// Returns the row of the page views for the page in this file; `None` if the file is no page or has no row.
pub(in crate::tui) fn page_of_file<'a>(app: &'a App, path: &str) -> Option<&'a PageRow> {
    let page = page_of_path(path)?;
    app.views.table.rows().iter().find(|row| row.path.as_str() == page)
}
