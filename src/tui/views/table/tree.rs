//! Folds pages into folders by their paths. A folder shows the sums of its pages and is sorted among the pages beside
//! it.
//!
//! The tree is built from pages in the order of their paths, so that the pages of a folder are adjacent. Only open
//! folders are visited. A folder that only contains another folder is joined with that folder; a folder with a single
//! page is shown as that page.

use super::comparison::{ComparisonBaseline, PageMetrics};
use super::order::{PageColumn, PageSorting};
use super::pages::PageData;
use crate::model::comparison::{ComparedRanges, Comparison};
use crate::model::report::ViewSums;
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, DecimalCount};
use crate::tui::format::format_views;
use std::collections::HashSet;

/// Maximum nesting of folders; deeper pages are listed with the rest of their path.
const MAX_DEPTH: u8 = 40;

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TreeLine {
    pub(super) item: TreeItem,
    /// Number of folders that contain the line.
    pub(super) depth: u8,
    /// Length in bytes of the start of the path that the folder above already shows.
    pub(super) prefix_len: u32,
}

impl TreeLine {
    /// Returns the part of a path that the folder above doesn't show; the full path if nothing is left.
    pub(super) fn name<'a>(&self, path: &'a str) -> &'a str {
        path.get(self.prefix_len as usize..).filter(|name| !name.is_empty()).unwrap_or(path)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreeItem {
    /// A page, by its entry in [`PageData`].
    Page(u32),
    /// A folder, by its index in [`super::PageTable`]'s list of folders.
    Folder(u32),
}

/// A folder, with the sums over its pages that pass the filter.
#[derive(Debug, Clone)]
pub struct Folder {
    /// The entry of the folder's first page in the order of paths. The path of that page starts with the folder's path.
    first_page: u32,
    /// Length of the folder's path in bytes, including the trailing slash.
    path_len: usize,
    /// Sums in the range on screen. A sum that exceeds 64 bits is stored as text; invalid counts add nothing.
    pub counts: Counts,
    /// Sums in the compared days of the range on screen; `None` if nothing is compared.
    compared_counts: Option<Counts>,
    baseline: FolderBaseline,
    ranges: Option<ComparedRanges>,
    /// Whether the range on screen lists at least one page of the folder.
    has_listed_page: bool,
    /// Number of pages in the folder.
    pub page_count: usize,
    /// Number of marked pages in the folder.
    pub marked_count: usize,
    /// Whether the numbers of every page in the folder are valid counts that add up.
    pub adds_up: bool,
    pub is_open: bool,
}

/// The same as [`ComparisonBaseline`], for a folder. Owns its counts, which are the sums of the folder.
#[derive(Debug, Clone, PartialEq, Eq)]
enum FolderBaseline {
    Uncompared,
    Counts(Counts),
    New,
    Gone(Counts),
    Neither,
    Unknown,
}

impl Folder {
    /// Returns the sums of the folder in the current and in the previous range. A new page counts as 0 in the previous
    /// range, and a page that is gone as 0 in the current range. If the number of one page is unknown, the change of
    /// the sum is unknown.
    pub fn metrics(&self) -> PageMetrics<'_> {
        let then = match &self.baseline {
            FolderBaseline::Uncompared => ComparisonBaseline::Uncompared,
            FolderBaseline::Counts(counts) => ComparisonBaseline::Counts(counts),
            FolderBaseline::New => ComparisonBaseline::New,
            FolderBaseline::Gone(counts) => ComparisonBaseline::Gone(counts),
            FolderBaseline::Neither => ComparisonBaseline::Neither,
            FolderBaseline::Unknown => ComparisonBaseline::Unknown,
        };
        let compared_counts = self.compared_counts.as_ref().unwrap_or(&self.counts);
        PageMetrics {
            counts: &self.counts,
            is_listed: self.has_listed_page,
            compared_counts,
            baseline: then,
            ranges: self.ranges,
        }
    }

    /// Returns the entry of the folder's first page that passes the filter, in the order of paths.
    pub(super) fn first_page(&self) -> u32 {
        self.first_page
    }

    /// Returns the folder's path, with a trailing slash.
    pub(super) fn path<'a>(&self, pages: &'a PageData) -> &'a str {
        pages.path(self.first_page).get(..self.path_len).unwrap_or("")
    }
}

/// The data that the tree is built from.
#[derive(Debug)]
pub(super) struct PathTree<'a> {
    pub(super) pages: &'a PageData,
    pub(super) sorting: PageSorting,
    /// Paths of the open folders.
    pub(super) open_folders: &'a HashSet<Box<str>>,
    /// For each page, by its entry in [`PageData`], whether it is marked.
    pub(super) marked: &'a [bool],
}

impl PathTree<'_> {
    /// Builds the lines of the tree and the folders on these lines. `entries` are the pages to show, in the order of
    /// their paths.
    pub(super) fn lines(&self, entries: &[u32]) -> (Vec<TreeLine>, Vec<Folder>) {
        let (mut lines, mut folders) = (Vec::new(), Vec::new());
        self.build_level(entries, 0, 0, &mut lines, &mut folders);
        (lines, folders)
    }

    fn build_level(
        &self,
        entries: &[u32],
        prefix_len: usize,
        depth: u8,
        lines: &mut Vec<TreeLine>,
        folders: &mut Vec<Folder>,
    ) {
        let mut nodes: Vec<(u128, TreeItem, &[u32])> = Vec::new();
        let mut rest = entries;
        while let Some(first) = rest.first() {
            let (group, after) = rest.split_at_checked(self.group_len(rest, prefix_len, depth)).unwrap_or((rest, &[]));
            let place = self.pages.path_position(*first);
            let key = |figures: &PageMetrics<'_>| self.sorting.sort_key(self.sorting.by.sort_number(figures), place);
            if group.len() == 1 {
                nodes.extend(self.pages.metrics(*first).map(|figures| (key(&figures), TreeItem::Page(*first), group)));
            } else {
                let folder = self.build_folder(group);
                let at = super::pages::to_u32(folders.len());
                nodes.push((key(&folder.metrics()), TreeItem::Folder(at), group));
                folders.push(folder);
            }
            rest = after;
        }
        if self.sorting != PageSorting::by(PageColumn::Path) {
            nodes.sort_unstable_by_key(|(key, ..)| *key);
        }
        let parent_len = super::pages::to_u32(prefix_len);
        for (_, what, group) in nodes {
            lines.push(TreeLine { item: what, depth, prefix_len: parent_len });
            let open = match what {
                TreeItem::Folder(at) => {
                    folders.get(at as usize).filter(|folder| folder.is_open).map(|folder| folder.path_len)
                }
                TreeItem::Page(_) => None,
            };
            if let Some(length) = open {
                self.build_level(group, length, depth + 1, lines, folders);
            }
        }
    }

    /// Returns how many pages at the start of `entries` are in the same folder; 1 if the first page is in no folder.
    /// The first `prefix_len` bytes of their paths are the path of the parent folder, so the name of the folder starts
    /// after these bytes.
    fn group_len(&self, entries: &[u32], prefix_len: usize, depth: u8) -> usize {
        let Some(first) = entries.first().filter(|_| depth < MAX_DEPTH) else { return 1 };
        let path = self.pages.path(*first).as_bytes();
        // A slash at the start of a path doesn't end the name of a folder.
        let from = prefix_len.max(1);
        let Some(slash) = path.iter().skip(from).position(|byte| *byte == b'/') else { return 1 };
        let prefix = path.get(..=from + slash).unwrap_or(path);
        entries.iter().take_while(|entry| self.pages.path(**entry).as_bytes().starts_with(prefix)).count()
    }

    /// Builds the deepest folder that contains all pages in `group`.
    fn build_folder(&self, group: &[u32]) -> Folder {
        let path = |entry: Option<&u32>| entry.map_or("", |entry| self.pages.path(*entry)).as_bytes();
        // The pages are sorted by path, so a prefix of the first and the last path is a prefix of all paths.
        let (first, last) = (path(group.first()), path(group.last()));
        let common = first.iter().zip(last).take_while(|(a, b)| a == b).count();
        let slash = first.iter().take(common).rposition(|byte| *byte == b'/');
        let length = slash.map_or(common, |slash| slash + 1);
        let page = group.first().copied().unwrap_or(0);
        let open = self.pages.path(page).get(..length).is_some_and(|path| self.open_folders.contains(path));
        let mut sums = FolderSums::default();
        group.iter().filter_map(|entry| self.pages.metrics(*entry)).for_each(|figures| sums.add(&figures));
        let is_marked = |entry: &&u32| self.marked.get(**entry as usize).copied().unwrap_or(false);
        Folder {
            first_page: page,
            path_len: length,
            counts: sums_as_counts(sums.shown),
            compared_counts: sums.is_compared.then(|| sums_as_counts(sums.current)),
            baseline: sums.baseline(group.len()),
            ranges: self.pages.comparison().map(Comparison::ranges),
            has_listed_page: sums.has_listed_page,
            page_count: group.len(),
            marked_count: group.iter().filter(is_marked).count(),
            adds_up: !sums.has_mismatch,
            is_open: open,
        }
    }
}

/// Collects the sums over the pages of a folder.
#[derive(Debug, Default)]
struct FolderSums {
    /// Sums over the range on screen.
    shown: ViewSums,
    /// Sums over the compared days of the range on screen. These are all its days except today, which is not over.
    current: ViewSums,
    /// Sums over the compared days of the previous range.
    previous: ViewSums,
    has_listed_page: bool,
    has_mismatch: bool,
    is_compared: bool,
    has_unknown_views: bool,
    new_count: usize,
    gone_count: usize,
    pages_in_neither_range: usize,
}

impl FolderSums {
    fn add(&mut self, figures: &PageMetrics<'_>) {
        if figures.is_listed {
            self.has_listed_page = true;
            self.shown = self.shown.plus(figures.counts);
            self.has_mismatch |= !figures.counts.adds_up();
        }
        if figures.baseline == ComparisonBaseline::Uncompared {
            return;
        }
        self.is_compared = true;
        if let ComparisonBaseline::Counts(_) | ComparisonBaseline::New | ComparisonBaseline::Unknown = figures.baseline
        {
            self.current = self.current.plus(figures.compared_counts);
            self.has_unknown_views |= !figures.compared_counts.adds_up();
        }
        if let ComparisonBaseline::Counts(previous) | ComparisonBaseline::Gone(previous) = figures.baseline {
            self.previous = self.previous.plus(previous);
            self.has_unknown_views |= !previous.adds_up();
        }
        self.has_unknown_views |= figures.baseline == ComparisonBaseline::Unknown;
        self.new_count += usize::from(figures.baseline == ComparisonBaseline::New);
        self.gone_count += usize::from(matches!(figures.baseline, ComparisonBaseline::Gone(_)));
        self.pages_in_neither_range += usize::from(figures.baseline == ComparisonBaseline::Neither);
    }

    fn baseline(&self, pages: usize) -> FolderBaseline {
        let pages = pages - self.pages_in_neither_range;
        if !self.is_compared {
            FolderBaseline::Uncompared
        } else if pages == 0 {
            FolderBaseline::Neither
        } else if self.new_count == pages {
            FolderBaseline::New
        } else if self.gone_count == pages {
            FolderBaseline::Gone(sums_as_counts(self.previous))
        } else if self.has_unknown_views {
            FolderBaseline::Unknown
        } else {
            FolderBaseline::Counts(sums_as_counts(self.previous))
        }
    }
}

/// Returns the sums as counts. A sum that exceeds 64 bits becomes text with thousands separators.
fn sums_as_counts(sums: ViewSums) -> Counts {
    let count = |sum: DecimalCount| match Count::from(sum) {
        Count::Other(_) => Count::Other(CleanText::line(&format_views(sum))),
        count => count,
    };
    Counts::new(count(sums.human), count(sums.ai), count(sums.total))
}
