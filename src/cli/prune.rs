//! `docdeck prune`: deletes cached page views or, with `--jobs`, finished jobs, and frees their disk space. Needs
//! neither key nor network, and reads no configuration file.

use super::data_folder::{open_undamaged, store_exists, store_failure};
use super::error::CliError;
use super::exit_code::Code;
use super::number_parser::number_parser;
use super::out::Out;
use super::prune_jobs;
use super::session::CommandContext;
use crate::config::{Flags, data_folder};
use crate::model::Time;
use crate::model::file_size::format_size;
use crate::store::{PrunedViews, ViewsPruneFilter};
use chrono::{TimeDelta, Utc};
use clap::Args;
use std::path::Path;

/// Page views that were loaded more than this many days ago are removed by default.
const DEFAULT_DAYS: u32 = 400;

/// Help text about the JSON output and the exit codes.
pub(super) const OUTPUT_HELP: &str = "\
With --json: {\"dryRun\", \"ranges\", \"reports\", \"answers\", \"totals\", \"bytesBefore\", \"bytesAfter\", \
\"stillLarge\"}; with --jobs {\"dryRun\", \"jobs\", \"prompts\", \"spared\", \"bytesBefore\", \"bytesAfter\", \
\"stillLarge\"}. \"spared\" counts the old jobs that were not deleted.

Exit codes: 0 done; 2 usage or database error.";

#[derive(Debug, Args)]
pub(super) struct Options {
    /// delete page views loaded more than this many days ago, or with --jobs, jobs unchanged for that long
    /// [default: 400; no default with --keep, --all or --jobs]
    #[arg(long, value_name = "DAYS", allow_negative_numbers = true,
          value_parser = number_parser(0..=u32::MAX, "a whole number of days, like 400"))]
    pub(super) older_than: Option<u32>,
    /// delete all page views except the N ranges of each project that were loaded most recently
    #[arg(long, value_name = "N", allow_negative_numbers = true,
          value_parser = number_parser(0..=u32::MAX, "a whole number of ranges, like 20"))]
    keep: Option<u32>,
    /// delete all page views
    #[arg(long, conflicts_with_all = ["older_than", "keep"])]
    all: bool,
    /// delete finished jobs instead of page views
    #[arg(long, requires = "older_than", conflicts_with_all = ["keep", "all"])]
    jobs: bool,
    /// only print what would be deleted
    #[arg(long)]
    pub(super) dry_run: bool,
    /// print JSON
    #[arg(long)]
    pub(super) json: bool,
}

impl Options {
    fn views_filter(&self, flags: &Flags, now: Time) -> ViewsPruneFilter {
        let days = match (self.older_than, self.keep, self.all) {
            (None, None, false) => Some(DEFAULT_DAYS),
            (older_than, ..) => older_than,
        };
        ViewsPruneFilter {
            before: days.map(|days| subtract_days(days, now)),
            keep: self.keep,
            all: self.all,
            project: flags.project.clone(),
            base_url: flags.base_url.as_ref().map(|url| url.trim_end_matches('/').to_owned()),
        }
    }
}

/// Returns the time `days` days before `now`.
pub(super) fn subtract_days(days: u32, now: Time) -> Time {
    now.checked_sub_signed(TimeDelta::days(i64::from(days))).unwrap_or(Time::MIN_UTC)
}

/// Runs `docdeck prune`.
pub(super) async fn run(cx: &mut CommandContext<'_>, options: &Options) -> Result<Code, CliError> {
    let CommandContext { flags, environment, out } = cx;
    let folder = data_folder(flags, environment)?;
    if options.jobs {
        return prune_jobs::run(&folder, flags, options, out).await;
    }
    let answer = if store_exists(&folder)? {
        let pruned = prune_cache(&folder, flags, options, out).await?;
        if options.json {
            pruned_views_json(&pruned, options.dry_run)
        } else {
            pruned_views_text(&pruned, options.dry_run)
        }
    } else if options.json {
        pruned_views_json(&PrunedViews::default(), options.dry_run)
    } else {
        format!("Nothing to delete: {} contains no database.", folder.display())
    };
    out.line(&answer);
    Ok(Code::Done)
}

async fn prune_cache(folder: &Path, flags: &Flags, options: &Options, out: &mut Out) -> Result<PrunedViews, CliError> {
    let now = Utc::now();
    let store = open_undamaged(folder, !options.dry_run, out).await?;
    let views_filter = options.views_filter(flags, now);
    let pruned =
        if options.dry_run { store.plan_prune(views_filter).await } else { store.prune_views(views_filter).await };
    store.close().await;
    pruned.map_err(|error| store_failure(folder, &error))
}

fn pruned_views_json(pruned: &PrunedViews, dry_run: bool) -> String {
    let PrunedViews { ranges, reports, answers, totals, bytes_before, bytes_after, still_large } = pruned;
    serde_json::json!({
        "dryRun": dry_run,
        "ranges": ranges,
        "reports": reports,
        "answers": answers,
        "totals": totals,
        "bytesBefore": bytes_before,
        "bytesAfter": bytes_after,
        "stillLarge": still_large,
    })
    .to_string()
}

fn pruned_views_text(pruned: &PrunedViews, dry_run: bool) -> String {
    let PrunedViews { ranges, reports, answers, totals, bytes_before, bytes_after, still_large } = *pruned;
    let parts = [
        (reports, "report of all pages", "reports of all pages"),
        (answers, "answer", "answers"),
        (totals, "total", "totals"),
    ];
    let parts = parts.iter().filter(|(n, ..)| *n > 0);
    let what: Vec<String> = parts.map(|(n, one, many)| format!("{n} {}", if *n == 1 { one } else { many })).collect();
    let ranges = if ranges == 1 { "1 range".to_owned() } else { format!("{ranges} ranges") };
    let mut lines = Vec::new();
    match (what.is_empty(), dry_run) {
        (true, _) => lines.push("No page views to delete.".to_owned()),
        (false, true) => {
            lines.push(format!("Would delete page views of {ranges}: {}.", what.join(", ")));
        }
        (false, false) => {
            lines.push(format!("Deleted page views of {ranges}: {}.", what.join(", ")));
        }
    }
    lines.extend(size_lines(bytes_before, bytes_after, still_large));
    lines.join("\n")
}

/// Returns lines about the size of the database before and after pruning. `still_large` means that the disk space could
/// not be freed.
pub(super) fn size_lines(before: u64, after: u64, still_large: bool) -> Vec<String> {
    let sizes = if before == after {
        format!("The database uses {}.", format_size(after))
    } else {
        format!("The database used {} and now uses {}.", format_size(before), format_size(after))
    };
    let still = still_large.then(|| {
        "The disk space could not be freed, because another docdeck uses the database or the disk is full. docdeck \
         reuses it, and the next prune tries again."
            .to_owned()
    });
    std::iter::once(sizes).chain(still).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::arguments::{Arguments, Command};
    use clap::Parser;

    fn views_filter(arguments: &[&str]) -> ViewsPruneFilter {
        let read = Arguments::parse_from([&["docdeck", "prune"], arguments].concat());
        let Some(Command::Prune(options)) = read.command else { panic!("{:?}", read.command) };
        options.views_filter(&Flags::from(read.options), now())
    }

    fn now() -> Time {
        "2026-11-20T12:00:00Z".parse().expect("a time")
    }

    fn before(text: &str) -> Option<Time> {
        Some(text.parse().expect("a time"))
    }

    #[test]
    fn page_views_older_than_400_days_are_removed_by_default() {
        assert_eq!(
            views_filter(&[]),
            ViewsPruneFilter { before: before("2025-10-16T12:00:00Z"), ..ViewsPruneFilter::default() }
        );
        assert_eq!(views_filter(&["--dry-run", "--json"]), views_filter(&[]));
        assert_eq!(views_filter(&["--keep", "3"]), ViewsPruneFilter { keep: Some(3), ..ViewsPruneFilter::default() });
        assert_eq!(views_filter(&["--all"]), ViewsPruneFilter { all: true, ..ViewsPruneFilter::default() });
        let both =
            ViewsPruneFilter { before: before("2026-11-20T12:00:00Z"), keep: Some(3), ..ViewsPruneFilter::default() };
        assert_eq!(views_filter(&["--older-than", "0", "--keep", "3"]), both);
        assert_eq!(views_filter(&["--older-than", "4294967295"]).before, Some(Time::MIN_UTC));
    }

    #[test]
    fn a_project_and_a_service_can_be_selected() {
        let named = views_filter(&["--all", "--project", "docs", "--base-url", "https://x.example/"]);
        assert_eq!(named.project.as_deref(), Some("docs"));
        assert_eq!(named.base_url.as_deref(), Some("https://x.example"));
    }

    #[test]
    fn the_all_option_conflicts_with_other_options_and_a_negative_age_is_refused() {
        assert!(Arguments::try_parse_from(["docdeck", "prune", "--all", "--keep", "3"]).is_err());
        assert!(Arguments::try_parse_from(["docdeck", "prune", "--older-than", "-1"]).is_err());
    }

    #[test]
    fn the_summary_lists_what_was_removed() {
        let pruned = PrunedViews {
            ranges: 12,
            reports: 1,
            answers: 60,
            totals: 15,
            bytes_before: 24_160_000,
            bytes_after: 3_200_000,
            still_large: false,
        };
        assert_eq!(
            pruned_views_text(&pruned, false),
            "Deleted page views of 12 ranges: 1 report of all pages, 60 answers, 15 totals.\n\
             The database used 24.1 MB and now uses 3.2 MB."
        );
        assert_eq!(
            pruned_views_text(&PrunedViews { bytes_after: 24_160_000, ..pruned }, true),
            "Would delete page views of 12 ranges: 1 report of all pages, 60 answers, 15 totals.\n\
             The database uses 24.1 MB."
        );
        let nothing = PrunedViews { bytes_before: 900, bytes_after: 900, still_large: true, ..PrunedViews::default() };
        assert!(
            pruned_views_text(&nothing, false)
                .starts_with("No page views to delete.\nThe database uses 900 B.\nThe disk")
        );
    }
}
