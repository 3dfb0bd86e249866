use super::*;
use crate::model::Time;
use crate::model::comparison::ViewsChange;
use crate::model::period::DateRange;
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, DecimalCount, ViewsResponse};
use proptest::prelude::*;

fn counts(human: i64, ai: i64) -> Counts {
    Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai))
}

fn row(path: &str, human: i64, ai: i64) -> PageRow {
    PageRow { path: CleanText::line(path), counts: counts(human, ai) }
}

fn range() -> DateRange {
    DateRange::last_days(7, chrono::NaiveDate::default())
}

fn report(rows: Vec<PageRow>, complete: bool) -> Arc<Report> {
    let response = ViewsResponse { totals: counts(1000, 1000), rows, has_more: None };
    Arc::new(Report::from_first_response(range(), response, complete, Time::default()))
}

/// Returns six pages, ordered by their totals except for the last page.
fn site() -> Vec<PageRow> {
    vec![
        row("/quickstart", 90, 10),
        row("/api/create", 20, 60),
        row("/api", 30, 20),
        row("/guides/deploy/aws", 25, 5),
        row("/guides/deploy/gcp", 5, 15),
        row("/Changelog", 40, 30),
    ]
}

fn table() -> PageTable {
    let mut table = PageTable::default();
    table.show_report(report(site(), true), None);
    table
}

/// Returns the lines as text. The line of a folder ends with a slash and the number of its pages.
fn lines(table: &PageTable) -> Vec<String> {
    let line = |shown: VisibleRow<'_>| {
        let indent = " ".repeat(shown.depth);
        match shown.kind {
            RowKind::Page { .. } => format!("{indent}{}", shown.name),
            RowKind::Folder(folder) => format!("{indent}{} {}", shown.name, folder.page_count),
        }
    };
    table.visible(usize::MAX).map(line).collect()
}

#[test]
fn hidden_marked_pages_are_counted_separately() {
    let mut table = table();
    table.toggle_mark();
    table.toggle_mark();
    table.set_filter("guides");
    assert_eq!((table.marked_count(), table.hidden_marked_count()), (0, 2));
    table.set_filter("");
    assert_eq!((table.marked_count(), table.hidden_marked_count()), (2, 0));
}

#[test]
fn rows_without_a_valid_total_are_counted() {
    let mut table = table();
    assert_eq!(table.rows_without_total(), 0);
    let mut rows = site();
    rows[1].counts.total = Count::Missing;
    rows[2].counts.total = Count::Other(CleanText::line("12.5"));
    table.show_report(report(rows, true), None);
    assert_eq!(table.rows_without_total(), 2);
}

#[test]
fn the_top_level_of_a_tree_has_no_parent() {
    let mut table = table();
    table.toggle_tree();
    table.select_first_or_last_line(false);
    while table.selected_folder().is_none() {
        assert!(!table.can_leave_folder());
        table.move_by(1);
    }
    assert!(!table.can_leave_folder(), "closed, and without a parent");
    table.enter_folder();
    assert!(table.can_leave_folder(), "it closes");
    table.enter_folder();
    assert!(table.can_leave_folder(), "to the folder around");
}

fn selected(table: &PageTable) -> Option<&str> {
    table.selected_row().map(|row| row.path.as_str())
}

fn select(table: &mut PageTable, path: &str) {
    table.select_first_or_last_line(false);
    for _ in 0..table.len() {
        if selected(table) == Some(path) {
            return;
        }
        table.move_by(1);
    }
    panic!("{path} is not listed");
}

#[test]
fn pages_are_sorted_by_total_until_another_column_is_chosen() {
    let mut table = table();
    assert_eq!(
        lines(&table),
        ["/quickstart", "/api/create", "/Changelog", "/api", "/guides/deploy/aws", "/guides/deploy/gcp"]
    );
    table.sort(PageSorting::by(PageColumn::Value(Metric::Share)));
    assert_eq!(lines(&table)[..2], ["/api/create", "/guides/deploy/gcp"]);
    table.sort(PageSorting { is_descending: false, ..table.sorting() });
    assert_eq!(lines(&table)[0], "/quickstart");
    table.sort(PageSorting::by(PageColumn::Path));
    assert_eq!(lines(&table)[..3], ["/Changelog", "/api", "/api/create"]);
    table.sort(PageSorting { by: PageColumn::Path, is_descending: true });
    assert_eq!(lines(&table)[0], "/quickstart");
}

#[test]
fn a_response_is_neither_sorted_nor_filtered() {
    let mut table = table();
    table.set_filter("api");
    table.toggle_tree();
    table.show_response(range(), &site());
    assert_eq!(lines(&table).len(), 6);
    assert_eq!(lines(&table)[4], "/guides/deploy/gcp");
    assert!(!table.is_tree() && !table.is_filtered() && table.rank("/api").is_none());
    table.show_report(report(site(), true), None);
    assert_eq!(lines(&table), ["/api/create", "/api"], "a folder of one page is that page");
    assert!(table.is_tree());
}

#[test]
fn ranks_depend_on_the_metric_but_not_on_the_filter() {
    let mut table = table();
    table.set_filter("guides");
    let ranks = |table: &PageTable| ["/guides/deploy/aws", "/guides/deploy/gcp"].map(|path| table.rank(path));
    assert_eq!(ranks(&table), [Some(5), Some(6)]);
    table.set_metric(Metric::Share);
    assert_eq!(ranks(&table), [Some(5), Some(1)], "75% each, for two pages");
    assert_eq!(table.rank("/api/create"), Some(1));
    table.show_report(report(site(), false), None);
    assert_eq!(ranks(&table), [None, None], "no rank while pages may be missing");
}

#[test]
fn a_selected_page_is_selected_again_when_it_becomes_visible() {
    let mut table = table();
    select(&mut table, "/api");
    table.set_filter("api");
    assert_eq!(selected(&table), Some("/api"));
    table.set_filter("guides");
    assert_eq!(selected(&table), Some("/guides/deploy/gcp"), "hidden: the index stays");
    table.set_filter("");
    assert_eq!(selected(&table), Some("/api"), "and it is selected again");
    let mut other = site();
    other.reverse();
    table.show_report(report(other, true), Some(report(Vec::new(), true)));
    assert_eq!(selected(&table), Some("/api"));
    table.show_response(range(), &site());
    assert_eq!(selected(&table), Some("/api"));
    table.show_response(range(), &site()[..2]);
    assert_eq!(table.selected(), 1, "the nearest index");
}

#[test]
fn in_a_closed_tree_the_folder_of_the_selected_page_is_selected() {
    let mut table = table();
    select(&mut table, "/guides/deploy/gcp");
    table.toggle_tree();
    assert_eq!(table.selected_folder().map(|folder| folder.page_count), Some(2));
    assert!(table.selected_row().is_none() && table.chosen_pages().is_empty());
    table.toggle_tree();
    assert_eq!(selected(&table), Some("/guides/deploy/gcp"));
}

#[test]
fn folders_are_joined_summed_and_sorted() {
    let mut table = table();
    table.toggle_tree();
    assert_eq!(lines(&table), ["/quickstart", "/api/create", "/Changelog", "/api", "/guides/deploy/ 2"]);
    table.select_first_or_last_line(true);
    let sums = table.selected_folder().map(|folder| folder.counts.clone());
    assert_eq!(sums, Some(counts(30, 20)));
    assert!(table.toggle_folder());
    assert_eq!(lines(&table)[4..], ["/guides/deploy/ 2", " aws", " gcp"]);
    table.sort(PageSorting::by(PageColumn::Value(Metric::Ai)));
    assert_eq!(lines(&table)[2..], ["/api", "/guides/deploy/ 2", " gcp", " aws", "/quickstart"]);
    table.set_filter("gcp");
    assert_eq!(lines(&table), ["/guides/deploy/gcp"], "a folder of one page is that page");
    assert!(!table.toggle_folder());
}

#[test]
fn a_page_with_the_name_of_a_folder_is_listed_beside_that_folder() {
    let mut table = PageTable::default();
    let rows = ["/api", "/api/a", "/api/b", "/api/b/1", "/api/b/2", "/api/", "/api-v2", "x/y", "x/z", "/"];
    table.show_report(report(rows.map(|path| row(path, 1, 1)).into(), true), None);
    table.toggle_tree();
    assert_eq!(lines(&table), ["/api/ 5", "x/ 2", "/", "/api", "/api-v2"]);
    table.select_first_or_last_line(false);
    table.enter_folder();
    assert_eq!(lines(&table)[..5], ["/api/ 5", " b/ 2", " /api/", " a", " b"]);
}

#[test]
fn tree_navigation_goes_into_folders_and_out_again() {
    let mut table = table();
    table.toggle_tree();
    table.select_first_or_last_line(true);
    table.enter_folder();
    table.enter_folder();
    assert_eq!(selected(&table), Some("/guides/deploy/aws"));
    table.enter_folder();
    assert_eq!(selected(&table), Some("/guides/deploy/aws"), "a page contains nothing");
    table.leave_folder();
    assert!(table.selected_folder().is_some_and(|folder| folder.is_open));
    table.leave_folder();
    table.leave_folder();
    assert!(table.selected_folder().is_some_and(|folder| !folder.is_open));
}

fn compared_table(complete: bool) -> PageTable {
    let previous = vec![row("/quickstart", 50, 50), row("/api", 60, 40), row("/old/a", 7, 1), row("/old/b", 1, 1)];
    let mut table = PageTable::default();
    table.show_report(report(site(), true), Some(report(previous, complete)));
    table
}

#[test]
fn a_comparison_distinguishes_new_gone_and_unknown_pages() {
    let table = compared_table(true);
    let change = |table: &PageTable, path: &str| table.metrics(path).map(|figures| figures.change(Metric::Total));
    assert_eq!(change(&table, "/quickstart"), Some(ViewsChange::InBoth { current: 100.into(), previous: 100.into() }));
    assert_eq!(change(&table, "/Changelog"), Some(ViewsChange::New(70.into())));
    assert_eq!(change(&table, "/old/a"), Some(ViewsChange::Gone(8.into())));
    assert_eq!((table.compared_only_count(), table.len(), table.rows().len()), (2, 8, 6));
    let partial = compared_table(false);
    assert_eq!(change(&partial, "/Changelog"), Some(ViewsChange::Unknown), "it may be in an answer that is not loaded");
    assert_eq!(partial.compared_only_count(), 2, "the current report is complete");
    let mut table = PageTable::default();
    table.show_report(report(site(), false), Some(report(vec![row("/old", 1, 1)], true)));
    assert_eq!(table.compared_only_count(), 0, "the current report may have more pages");
}

/// Returns the table of a week that includes today, with a comparison of the complete days of that week.
fn compared_by_complete_days() -> PageTable {
    let shown = report(vec![row("/a", 90, 10), row("/back", 3, 0), row("/today", 7, 0), row("/new", 20, 0)], true);
    let current = report(vec![row("/a", 70, 10), row("/new", 5, 0)], true);
    let previous = report(vec![row("/a", 50, 10), row("/back", 9, 0), row("/gone", 4, 0)], true);
    let mut table = PageTable::default();
    table.show_compared(shown, Some(Comparison { current, previous }));
    table
}

#[test]
fn a_range_that_includes_today_shows_its_own_numbers_and_the_change_of_its_complete_days() {
    let mut table = compared_by_complete_days();
    let figures = |table: &PageTable, path: &str| {
        let figures = table.metrics(path).expect("a page");
        (figures.counts_shown().total.clone(), figures.change(Metric::Total))
    };
    let change = ViewsChange::InBoth { current: 80.into(), previous: 60.into() };
    assert_eq!(figures(&table, "/a"), (Count::Known(100), change), "today's 20 are not part of the change");
    assert_eq!(figures(&table, "/new"), (Count::Known(20), ViewsChange::New(5.into())));
    assert_eq!(figures(&table, "/back"), (Count::Known(3), ViewsChange::Gone(9.into())), "today it is back");
    assert_eq!(figures(&table, "/today"), (Count::Known(7), ViewsChange::Unknown), "in neither of the compared ranges");
    assert_eq!(figures(&table, "/gone"), (Count::Known(4), ViewsChange::Gone(4.into())));
    assert_eq!((table.rows().len(), table.compared_only_count(), table.measures().gone_count), (4, 1, 2));
    let filtered = |table: &mut PageTable, filter: &str| {
        table.set_filter(filter);
        lines(table)
    };
    assert_eq!(filtered(&mut table, "new"), ["/new"]);
    assert_eq!(filtered(&mut table, "gone"), ["/back", "/gone"]);
    assert_eq!(filtered(&mut table, "Δ>=33%"), ["/a"]);
    assert_eq!(filtered(&mut table, "total>50"), ["/a"], "of the range on screen");
    table.set_filter("");
    table.sort(PageSorting::by(PageColumn::Change(Metric::Total)));
    assert_eq!(lines(&table), ["/a", "/new", "/gone", "/back", "/today"]);
}

#[test]
fn the_change_of_a_folder_counts_only_complete_days() {
    let shown = report(vec![row("/x/a", 9, 0), row("/x/b", 5, 0), row("/y/a", 1, 0), row("/y/b", 1, 0)], true);
    let current = report(vec![row("/x/a", 6, 0), row("/x/b", 1, 0)], true);
    let previous = report(vec![row("/x/a", 4, 0)], true);
    let mut table = PageTable::default();
    table.show_compared(shown, Some(Comparison { current, previous }));
    table.toggle_tree();
    let mut folders = table.visible(9).map(|shown| (shown.name, shown.metrics.change(Metric::Total)));
    assert_eq!(folders.next(), Some(("/x/", ViewsChange::InBoth { current: 7.into(), previous: 4.into() })));
    assert_eq!(folders.next(), Some(("/y/", ViewsChange::Unknown)), "first viewed today");
}

#[test]
fn a_sort_selects_the_first_line_and_a_new_metric_sorts_again() {
    let mut table = table();
    select(&mut table, "/Changelog");
    table.sort(PageSorting { is_descending: false, ..table.sorting() });
    assert_eq!(table.selected(), 0);
    table.move_by(2);
    table.set_metric(Metric::Ai);
    assert_eq!(table.sorting(), PageSorting { by: PageColumn::Value(Metric::Ai), is_descending: false });
    assert_eq!(table.selected(), 0);
    table.sort(PageSorting::by(PageColumn::Path));
    table.move_by(2);
    table.set_metric(Metric::Human);
    assert_eq!(
        (table.sorting(), table.selected()),
        (PageSorting::by(PageColumn::Path), 2),
        "the order by path doesn't depend on the metric"
    );
    let mut table = compared_table(true);
    table.sort(PageSorting::by(PageColumn::Change(Metric::Total)));
    table.set_metric(Metric::Human);
    assert_eq!(table.sorting().by, PageColumn::Change(Metric::Human));
}

#[test]
fn a_page_that_is_gone_has_no_numbers_in_the_current_range() {
    let mut table = compared_table(true);
    select(&mut table, "/old/a");
    assert_eq!(table.selected_row().map(|row| row.counts.clone()), Some(Counts::default()));
    assert_eq!(table.rank("/old/a"), None);
    assert_eq!(table.scale(), BarScale::Linear(100.into()));
    table.show_report(Arc::clone(table.report().expect("a report")), None);
    assert_eq!((table.len(), table.selected() < 6), (6, true));
}

#[test]
fn changes_are_sorted_by_views_with_unknown_changes_last() {
    let mut table = compared_table(true);
    table.sort(PageSorting::by(PageColumn::Change(Metric::Total)));
    assert_eq!(
        lines(&table),
        [
            "/api/create",
            "/Changelog",
            "/guides/deploy/aws",
            "/guides/deploy/gcp",
            "/quickstart",
            "/old/b",
            "/old/a",
            "/api"
        ]
    );
    table.show_report(Arc::clone(table.report().expect("a report")), None);
    assert_eq!(table.sorting(), PageSorting::default(), "no change without a comparison");
}

#[test]
fn the_change_of_a_folder_is_the_sum_of_the_changes_of_its_pages() {
    let mut table = compared_table(true);
    table.toggle_tree();
    let folder = |table: &PageTable, name: &str| {
        let mut lines = table.visible(99);
        lines.find_map(|shown| (shown.name == name).then(|| shown.metrics.change(Metric::Total)))
    };
    assert_eq!(folder(&table, "/old/"), Some(ViewsChange::Gone(10.into())));
    assert_eq!(folder(&table, "/guides/deploy/"), Some(ViewsChange::New(50.into())));
    let mut partial = compared_table(false);
    partial.toggle_tree();
    assert_eq!(folder(&partial, "/guides/deploy/"), Some(ViewsChange::Unknown));
}

#[test]
fn actions_do_not_apply_to_hidden_marked_pages() {
    let mut table = table();
    let chosen = |table: &PageTable| table.chosen_pages().iter().map(|row| row.path.to_string()).collect::<Vec<_>>();
    assert_eq!(chosen(&table), ["/quickstart"], "no page is marked: the selected one");
    table.toggle_mark();
    table.move_by(1);
    table.mark_range();
    assert_eq!((table.marked_count(), chosen(&table).len()), (3, 3));
    table.set_filter("api");
    assert_eq!(chosen(&table), ["/api/create"]);
    table.set_filter("guides");
    assert_eq!((table.marked_count(), chosen(&table)), (0, vec!["/guides/deploy/gcp".to_owned()]));
    table.set_filter("");
    table.show_report(report(site(), true), None);
    assert_eq!(table.marked_count(), 3, "they are restored by path");
    table.show_response(range(), &site()[..1]);
    assert_eq!(table.marked_count(), 1, "unlisted pages don't count");
    table.toggle_mark();
    table.show_report(report(site(), true), None);
    assert_eq!(table.marked_count(), 2, "it is unmarked, the others are still marked");
    table.clear_marks();
    assert_eq!(table.marked_count(), 0);
}

#[test]
fn marking_a_folder_marks_all_its_pages() {
    let mut table = table();
    table.toggle_tree();
    table.select_first_or_last_line(true);
    table.toggle_mark();
    assert_eq!(table.marked_count(), 2);
    assert!(table.visible(99).last().is_some_and(|shown| shown.is_marked));
    table.toggle_mark();
    assert_eq!(table.marked_count(), 0);
}

#[test]
fn the_scale_depends_on_all_rows_and_on_the_metric() {
    let mut table = table();
    assert_eq!(table.scale(), BarScale::Linear(100.into()));
    table.set_metric(Metric::Ai);
    assert_eq!(table.scale(), BarScale::Linear(60.into()));
    table.toggle_log_scale();
    assert_eq!(table.scale(), BarScale::Log(60.into()));
    table.set_filter("quick");
    assert_eq!(table.scale(), BarScale::Log(60.into()), "a filter doesn't change the lengths of the bars");
    table.set_metric(Metric::Share);
    assert_eq!((table.scale(), table.has_log_scale()), (BarScale::Share, false));
}

#[test]
fn column_widths_are_the_widths_of_the_longest_numbers() {
    let mut table = PageTable::default();
    let odd = Counts::new(Count::Other(CleanText::line("12.5")), Count::Known(-1234), Count::Missing);
    let rows = vec![row("/a", 1_234_567, 0), PageRow { path: CleanText::line("/b"), counts: odd }];
    table.show_report(report(rows, true), None);
    let measures = table.measures();
    assert_eq!([Metric::Human, Metric::Ai, Metric::Total].map(|metric| measures.width_of(metric)), [9, 6, 9]);
}

/// An action of the user, or new data.
#[derive(Debug, Clone)]
enum Step {
    Sort(usize, bool),
    Filter(&'static str),
    ToggleTree,
    ToggleFolder,
    EnterFolder(bool),
    NextMetric,
    ToggleLogScale,
    Move(isize),
    MoveToEnd(bool),
    Mark(bool),
    ClearMarks,
    Report(Vec<PageRow>, bool, Option<(Vec<PageRow>, bool)>),
    Response(Vec<PageRow>),
    ClearRows,
}

fn some_rows() -> impl Strategy<Value = Vec<PageRow>> {
    let path = prop::collection::vec(prop::sample::select(vec!["a", "b", "B", "é", "", "ab"]), 0..5)
        .prop_map(|segments| format!("/{}", segments.join("/")));
    let count = prop_oneof![
        8 => (0_i64..50).prop_map(Count::Known),
        1 => any::<i64>().prop_map(Count::Known),
        3 => (-9_i32..4_000).prop_map(|n| Count::from_f64(f64::from(n) / 10.0).expect("finite")),
        1 => Just(Count::Missing),
        1 => Just(Count::Other(CleanText::line("99999999999999999999"))),
    ];
    let page = (path, count.clone(), count.clone(), count).prop_map(|(path, human, ai, total)| PageRow {
        path: CleanText::line(&path),
        counts: Counts::new(human, ai, total),
    });
    prop::collection::vec(page, 0..14)
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let filters = vec!["", "a", "!b", "ai>50%", "human>10 a", "Δ<-20%", "new", "gone", "total>", "zzz", "Δ>0 !a"];
    let step = prop_oneof![
        (0_usize..9, any::<bool>()).prop_map(|(column, is_descending)| Step::Sort(column, is_descending)),
        prop::sample::select(filters).prop_map(Step::Filter),
        Just(Step::ToggleTree),
        Just(Step::ToggleFolder),
        any::<bool>().prop_map(Step::EnterFolder),
        Just(Step::NextMetric),
        Just(Step::ToggleLogScale),
        (-9_isize..9).prop_map(Step::Move),
        any::<bool>().prop_map(Step::MoveToEnd),
        any::<bool>().prop_map(Step::Mark),
        Just(Step::ClearMarks),
        (some_rows(), any::<bool>(), prop::option::of((some_rows(), any::<bool>())))
            .prop_map(|(rows, complete, previous)| Step::Report(rows, complete, previous)),
        some_rows().prop_map(Step::Response),
        Just(Step::ClearRows),
    ];
    prop::collection::vec(step, 1..60)
}

fn apply(table: &mut PageTable, step: Step) {
    match step {
        Step::Sort(column, is_descending) => {
            let by = (0..column).fold(PageColumn::Path, |by, _| by.next(true, false));
            table.sort(PageSorting { by, is_descending });
        }
        Step::Filter(typed) => table.set_filter(typed),
        Step::ToggleTree => table.toggle_tree(),
        Step::ToggleFolder => {
            let is_folder = table.selected_folder().is_some();
            assert_eq!(table.toggle_folder(), is_folder);
        }
        Step::EnterFolder(true) => table.enter_folder(),
        Step::EnterFolder(false) => table.leave_folder(),
        Step::NextMetric => table.set_metric(table.metric().next(true)),
        Step::ToggleLogScale => table.toggle_log_scale(),
        Step::Move(by) => table.move_by(by),
        Step::MoveToEnd(last) => table.select_first_or_last_line(last),
        Step::Mark(false) => table.toggle_mark(),
        Step::Mark(true) => table.mark_range(),
        Step::ClearMarks => table.clear_marks(),
        Step::Report(rows, complete, previous) => {
            table.show_report(report(rows, complete), previous.map(|(rows, complete)| report(rows, complete)));
        }
        Step::Response(rows) => table.show_response(range(), &rows),
        Step::ClearRows => table.clear(),
    }
}

fn paths<'a>(rows: impl Iterator<Item = &'a PageRow>) -> Vec<&'a str> {
    rows.map(|row| row.path.as_str()).collect()
}

/// Whether two sums are equal, apart from rounding. Above 2⁴⁰, the sum of a folder is stored as a double, which can't
/// hold every fraction; above 2⁵³, it can't hold every whole number.
fn are_equal(one: ViewSums, other: ViewSums) -> bool {
    let same = |a: DecimalCount, b: DecimalCount| {
        let rounding = DecimalCount::ONE.as_f64().max(a.as_f64() / 2_f64.powi(48));
        a == b || (a > DecimalCount::from(1 << 40) && (a - b).abs().as_f64() < rounding)
    };
    same(one.human, other.human) && same(one.ai, other.ai) && same(one.total, other.total)
}

fn check_consistency(table: &PageTable) -> Result<(), TestCaseError> {
    prop_assert!(table.is_empty() && table.selected() == 0 || table.selected() < table.len());
    prop_assert!(table.is_empty() || table.selected_row().is_some() != table.selected_folder().is_some());
    let shown = paths(table.shown_pages());
    prop_assert_eq!(shown.len(), table.passing_count());
    let previous = table.comparison().map(|comparison| comparison.previous.rows.as_slice()).unwrap_or_default();
    let mut known = paths(table.rows().iter().chain(previous));
    known.sort_unstable();
    prop_assert!(shown.iter().all(|path| known.binary_search(path).is_ok()));
    let chosen = paths(table.chosen_pages().into_iter());
    prop_assert!(chosen.iter().all(|path| shown.contains(path)), "no hidden page is chosen");
    prop_assert!(table.marked_count() == 0 || chosen.len() == table.marked_count());
    // The lines at the top level contain every page that passes the filter, and have the same sum as these pages. The
    // same is checked for the lines in each open folder and the pages of that folder.
    let lines: Vec<VisibleRow<'_>> = table.visible(usize::MAX).collect();
    prop_assert_eq!(lines.len(), table.len() - table.top());
    if table.top() == 0 {
        let sums = |depth: usize, lines: &[VisibleRow<'_>]| {
            let on_level = lines.iter().filter(|shown| shown.depth == depth);
            on_level.fold((0, ViewSums::default(), false), |(pages, sums, odd), shown| {
                let more = match shown.kind {
                    RowKind::Page { .. } => 1,
                    RowKind::Folder(folder) => folder.page_count,
                };
                let beyond = [&shown.metrics.counts.human, &shown.metrics.counts.ai, &shown.metrics.counts.total];
                let odd = odd || beyond.iter().any(|count| matches!(count, Count::Other(_)));
                (pages + more, sums.plus(shown.metrics.counts), odd)
            })
        };
        let (pages, top, _) = sums(0, &lines);
        prop_assert_eq!(pages, table.passing_count());
        let all = table.shown_pages().fold(ViewSums::default(), |sums, row| sums.plus(&row.counts));
        let is_beyond = |sum: DecimalCount| sum > DecimalCount::from(i64::MAX.unsigned_abs());
        if !is_beyond(all.human) && !is_beyond(all.ai) && !is_beyond(all.total) {
            prop_assert!(are_equal(top, all), "{:?} {:?}", top, all);
        }
        for (at, shown) in lines.iter().enumerate() {
            let RowKind::Folder(folder) = shown.kind else { continue };
            let inside: Vec<VisibleRow<'_>> =
                lines.iter().skip(at + 1).take_while(|other| other.depth > shown.depth).copied().collect();
            prop_assert_eq!(inside.is_empty(), !folder.is_open);
            if folder.is_open {
                let (pages, own, odd) = sums(shown.depth + 1, &inside);
                prop_assert_eq!(pages, folder.page_count);
                // A sum that exceeds the range of a count is stored as text, which can't be added up.
                if !odd && ![own.human, own.ai, own.total].into_iter().any(is_beyond) {
                    let summed = ViewSums::default().plus(&folder.counts);
                    prop_assert!(are_equal(own, summed), "{:?} {:?}", own, summed);
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn the_list_stays_consistent_after_any_steps(steps in steps()) {
        let mut table = PageTable::default();
        for step in steps {
            let (stays, sorts) = (matches!(step, Step::ToggleLogScale), matches!(step, Step::Sort(..)));
            let page = table.selected_row().map(|row| row.path.clone());
            apply(&mut table, step);
            check_consistency(&table)?;
            if stays {
                prop_assert_eq!(table.selected_row().map(|row| row.path.clone()), page, "the selection moved");
            }
            prop_assert!(!sorts || !table.lists_report() || table.selected() == 0, "a sort selects the first line");
        }
    }
}
