//! `docdeck prune`: deletes cached analytics or, with `--jobs`, finished jobs, and frees their disk space. Needs
//! neither key nor network.

use super::data_folder::{cli_store_error, open_undamaged, store_exists};
use super::error::CliError;
use super::exit_code::Code;
use super::export::scope_filter;
use super::number_parser::number_parser;
use super::session::CommandContext;
use crate::config::environment::Environment;
use crate::config::{GlobalOptions, data_folder, reader_text_days};
use crate::model::Time;
use crate::model::file_size::format_size;
use crate::store::{
    AnalyticsPruneFilter, JobPruneFilter, PruneOutcome, PrunedAnalyticsCounts, PrunedJobCounts, Store, StoreError,
};
use crate::tui::format::plural;
use chrono::{TimeDelta, Utc};
use clap::Args;
use serde_json::{Value, json};

/// Analytics that were loaded more than this many days ago are removed by default.
const DEFAULT_MAX_AGE_DAYS: u32 = 400;

/// Help text about the JSON output and the exit codes.
pub(super) const OUTPUT_HELP: &str = "\
With --json: {\"dryRun\", \"ranges\", \"reports\", \"answers\", \"totals\", \"otherReports\", \"bytesBefore\", \
\"bytesAfter\", \"stillLarge\"}; with --jobs {\"dryRun\", \"jobs\", \"prompts\", \"kept\", \"bytesBefore\", \
\"bytesAfter\", \"stillLarge\"}. \"ranges\" (date ranges with pages), \"reports\" (lists of the pages of a range, \
complete or partial), \"answers\" (single responses with some of the pages), \"totals\" (the site's totals of a \
range or day), \"otherReports\" (visitors, searches, feedback and questions), \"jobs\" and \"prompts\" are numbers of \
deleted items. \"kept\" is the number of old jobs that were not deleted. \"bytesBefore\" and \"bytesAfter\" are the \
sizes of the database. \"stillLarge\" is true if the disk space could not be freed.

Exit codes: 0 done; 2 usage or database error.";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// delete analytics loaded more than this many days ago, or with --jobs, jobs unchanged for that long
    /// [default: 400; no default with --keep, --all or --jobs]
    #[arg(long, value_name = "DAYS", allow_negative_numbers = true,
          value_parser = number_parser(0..=u32::MAX, "a whole number of days, like 400"))]
    older_than: Option<u32>,
    /// delete all analytics except the N ranges of each project that were loaded most recently
    #[arg(long = "keep", value_name = "N", allow_negative_numbers = true,
          value_parser = number_parser(0..=u32::MAX, "a whole number of ranges, like 20"))]
    keep_ranges: Option<u32>,
    /// delete all analytics
    #[arg(long, conflicts_with_all = ["older_than", "keep_ranges"])]
    all: bool,
    /// delete finished jobs instead of analytics (needs --older-than)
    #[arg(long, requires = "older_than", conflicts_with_all = ["keep_ranges", "all"])]
    jobs: bool,
    /// only print what would be deleted
    #[arg(long)]
    dry_run: bool,
    /// print JSON (its fields are described below)
    #[arg(long)]
    pub(super) json: bool,
}

enum PruneSelection {
    Jobs(JobPruneFilter),
    Analytics(AnalyticsPruneFilter),
}

impl Options {
    /// Returns what the options select. A selection of analytics also includes all readers' texts that are older than
    /// the configuration allows.
    fn selection(
        &self,
        global_options: &GlobalOptions,
        environment: &Environment,
        now: Time,
    ) -> Result<PruneSelection, CliError> {
        if let Some(days) = self.older_than.filter(|_| self.jobs) {
            let filter = JobPruneFilter { before: subtract_days(days, now), scopes: scope_filter(global_options) };
            return Ok(PruneSelection::Jobs(filter));
        }
        let days = match (self.older_than, self.keep_ranges, self.all) {
            (None, None, false) => Some(DEFAULT_MAX_AGE_DAYS),
            (older_than, ..) => older_than,
        };
        Ok(PruneSelection::Analytics(AnalyticsPruneFilter {
            before: days.map(|days| subtract_days(days, now)),
            keep_newest_ranges: self.keep_ranges,
            should_delete_all: self.all,
            reader_texts_before: Some(reader_text_days(global_options, environment)?.cutoff(now)),
            team_reader_texts_expired_before: Some(now),
            scopes: scope_filter(global_options),
        }))
    }
}

/// Returns the time `days` days before `now`, or the earliest representable time if the result would be earlier.
fn subtract_days(days: u32, now: Time) -> Time {
    now.checked_sub_signed(TimeDelta::days(i64::from(days))).unwrap_or(Time::MIN_UTC)
}

/// Runs `docdeck prune`.
pub(super) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    let CommandContext { global_options, environment, out, .. } = cx;
    let folder = data_folder(global_options, environment)?;
    let exists = store_exists(&folder)?;
    let selection = options.selection(global_options, environment, Utc::now())?;
    let (json, lines) = if exists {
        let store = open_undamaged(&folder, !options.dry_run, out).await?;
        let pruned = prune(&store, selection, options.dry_run).await;
        store.close().await;
        pruned.map_err(|error| cli_store_error(&folder, &error))?
    } else if options.jobs {
        describe(PruneOutcome::default(), options.dry_run, pruned_jobs_json, pruned_jobs_lines)
    } else {
        describe(PruneOutcome::default(), options.dry_run, pruned_analytics_json, pruned_analytics_lines)
    };
    if options.json {
        out.print_json(&json);
    } else if exists {
        out.print_lines(&lines);
    } else {
        out.print_line(&format!("Nothing to delete: {} contains no database.", folder.display()));
    }
    Ok(Code::Done)
}

/// Deletes what is selected or, if `dry_run` is true, only counts it. Returns the counts, as JSON and as lines.
async fn prune(store: &Store, selection: PruneSelection, dry_run: bool) -> Result<(Value, Vec<String>), StoreError> {
    match selection {
        PruneSelection::Jobs(filter) => {
            let pruned = if dry_run { store.plan_prune_jobs(filter).await } else { store.prune_jobs(filter).await };
            Ok(describe(pruned?, dry_run, pruned_jobs_json, pruned_jobs_lines))
        }
        PruneSelection::Analytics(filter) => {
            let pruned =
                if dry_run { store.plan_prune_analytics(filter).await } else { store.prune_analytics(filter).await };
            Ok(describe(pruned?, dry_run, pruned_analytics_json, pruned_analytics_lines))
        }
    }
}

/// Describes what was deleted and the size of the database, as JSON and as lines.
fn describe<C>(
    pruned: PruneOutcome<C>,
    dry_run: bool,
    counts_json: fn(&C) -> Value,
    counts_lines: fn(&C, bool) -> Vec<String>,
) -> (Value, Vec<String>) {
    let PruneOutcome { counts, bytes_before, bytes_after, shrinking_failed } = pruned;
    let mut json = counts_json(&counts);
    if let Value::Object(fields) = &mut json {
        fields.insert("dryRun".to_owned(), dry_run.into());
        fields.insert("bytesBefore".to_owned(), bytes_before.into());
        fields.insert("bytesAfter".to_owned(), bytes_after.into());
        fields.insert("stillLarge".to_owned(), shrinking_failed.into());
    }
    let mut lines = counts_lines(&counts, dry_run);
    lines.push(if bytes_before == bytes_after {
        format!("The database uses {}.", format_size(bytes_after))
    } else {
        format!("The database used {} and now uses {}.", format_size(bytes_before), format_size(bytes_after))
    });
    if shrinking_failed {
        lines.push(
            "The disk space could not be freed, because another docdeck uses the database or the disk is full. docdeck \
             reuses it, and the next prune tries again."
                .to_owned(),
        );
    }
    (json, lines)
}

fn pruned_analytics_json(pruned: &PrunedAnalyticsCounts) -> Value {
    let PrunedAnalyticsCounts { ranges, reports, responses, totals, other_reports } = pruned;
    json!({
        "ranges": ranges, "reports": reports, "answers": responses, "totals": totals, "otherReports": other_reports
    })
}

fn pruned_analytics_lines(pruned: &PrunedAnalyticsCounts, dry_run: bool) -> Vec<String> {
    let PrunedAnalyticsCounts { ranges, reports, responses, totals, other_reports } = *pruned;
    let reports_text = format!("{} of pages", plural(reports, "list"));
    let responses_text = plural(responses, "single response");
    let parts = [(reports, reports_text), (responses, responses_text), (totals, plural(totals, "site total"))];
    let parts: Vec<String> = parts.into_iter().filter(|(n, _)| *n > 0).map(|(_, text)| text).collect();
    let of_ranges = if ranges > 0 { format!(" of {}", plural(ranges, "date range")) } else { String::new() };
    let what = format!("page views{of_ranges}: {}", parts.join(", "));
    let mut lines = vec![deletion_line(parts.is_empty(), dry_run, "page views", &what)];
    if other_reports > 0 {
        let what = format!("{} of visitors, searches, feedback and questions", plural(other_reports, "report"));
        lines.push(deletion_line(false, dry_run, "reports", &what));
    }
    lines
}

fn pruned_jobs_json(PrunedJobCounts { jobs, prompts, skipped }: &PrunedJobCounts) -> Value {
    json!({ "jobs": jobs, "prompts": prompts, "kept": skipped })
}

fn pruned_jobs_lines(pruned: &PrunedJobCounts, dry_run: bool) -> Vec<String> {
    let what = format!("{} with {}", plural(pruned.jobs, "job"), plural(pruned.prompts, "prompt"));
    let mut lines = vec![deletion_line(pruned.jobs == 0, dry_run, "jobs", &what)];
    if pruned.skipped > 0 {
        let are = if pruned.skipped == 1 { "is" } else { "are" };
        let old_jobs = plural(pruned.skipped, "old job");
        lines.push(format!("{old_jobs} {are} kept: working, unsent, unopened, needing you, or with a draft."));
    }
    lines
}

/// Returns what was deleted, or would be deleted, as a sentence. `kind` is the noun for what can be deleted.
fn deletion_line(has_nothing_to_delete: bool, dry_run: bool, kind: &str, what: &str) -> String {
    match (has_nothing_to_delete, dry_run) {
        (true, _) => format!("No {kind} to delete."),
        (false, true) => format!("Would delete {what}."),
        (false, false) => format!("Deleted {what}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::arguments::{Arguments, Command};
    use clap::Parser;

    fn filter(arguments: &[&str]) -> AnalyticsPruneFilter {
        let read = Arguments::parse_from([&["docdeck", "prune"], arguments].concat());
        let Some(Command::Prune(options)) = read.command else { panic!("{:?}", read.command) };
        let config = tempfile::NamedTempFile::new().expect("a file");
        let global_options =
            GlobalOptions { config: Some(config.path().to_owned()), ..GlobalOptions::from(read.global) };
        match options.selection(&global_options, &Environment::default(), now()) {
            Ok(PruneSelection::Analytics(filter)) => filter,
            Ok(PruneSelection::Jobs(_)) => panic!("not jobs"),
            Err(error) => panic!("{error:?}"),
        }
    }

    fn now() -> Time {
        "2026-11-20T12:00:00Z".parse().expect("a time")
    }

    /// The filter that selects only expired texts of readers.
    fn default_filter() -> AnalyticsPruneFilter {
        AnalyticsPruneFilter {
            reader_texts_before: before("2026-10-21T12:00:00Z"),
            team_reader_texts_expired_before: Some(now()),
            ..AnalyticsPruneFilter::default()
        }
    }

    fn before(text: &str) -> Option<Time> {
        Some(text.parse().expect("a time"))
    }

    #[test]
    fn analytics_older_than_400_days_and_texts_of_readers_older_than_30_are_removed_by_default() {
        assert_eq!(filter(&[]), AnalyticsPruneFilter { before: before("2025-10-16T12:00:00Z"), ..default_filter() });
        assert_eq!(filter(&["--dry-run", "--json"]), filter(&[]));
        assert_eq!(filter(&["--keep", "3"]), AnalyticsPruneFilter { keep_newest_ranges: Some(3), ..default_filter() });
        assert_eq!(filter(&["--all"]), AnalyticsPruneFilter { should_delete_all: true, ..default_filter() });
        let both = AnalyticsPruneFilter {
            before: before("2026-11-20T12:00:00Z"),
            keep_newest_ranges: Some(3),
            ..default_filter()
        };
        assert_eq!(filter(&["--older-than", "0", "--keep", "3"]), both);
        assert_eq!(filter(&["--older-than", "4294967295"]).before, Some(Time::MIN_UTC));
    }

    #[test]
    fn a_project_and_a_service_can_be_selected() {
        let named = filter(&["--all", "--project", "docs", "--base-url", "https://x.example/"]);
        assert_eq!(named.scopes.project.as_deref(), Some("docs"));
        assert_eq!(named.scopes.base_url.as_deref(), Some("https://x.example"));
    }

    #[test]
    fn the_all_option_conflicts_with_other_options_and_a_negative_age_is_refused() {
        assert!(Arguments::try_parse_from(["docdeck", "prune", "--all", "--keep", "3"]).is_err());
        assert!(Arguments::try_parse_from(["docdeck", "prune", "--older-than", "-1"]).is_err());
    }

    #[test]
    fn the_summary_lists_what_was_removed() {
        let text =
            |pruned, dry_run| describe(pruned, dry_run, pruned_analytics_json, pruned_analytics_lines).1.join("\n");
        let counts = PrunedAnalyticsCounts { ranges: 12, reports: 1, responses: 60, totals: 15, other_reports: 4 };
        let pruned = PruneOutcome { counts, bytes_before: 24_160_000, bytes_after: 3_200_000, shrinking_failed: false };
        assert_eq!(
            text(pruned, false),
            "Deleted page views of 12 date ranges: 1 list of pages, 60 single responses, 15 site totals.\n\
             Deleted 4 reports of visitors, searches, feedback and questions.\n\
             The database used 24.1 MB and now uses 3.2 MB."
        );
        assert_eq!(
            text(PruneOutcome { bytes_after: 24_160_000, ..pruned }, true),
            "Would delete page views of 12 date ranges: 1 list of pages, 60 single responses, 15 site totals.\n\
             Would delete 4 reports of visitors, searches, feedback and questions.\n\
             The database uses 24.1 MB."
        );
        let nothing =
            PruneOutcome { bytes_before: 900, bytes_after: 900, shrinking_failed: true, ..PruneOutcome::default() };
        assert!(text(nothing, false).starts_with("No page views to delete.\nThe database uses 900 B.\nThe disk"));
    }
}
