//! Folding by path: folders with the sums of their pages, sorted like pages within each folder.
//!
//! The tree is built from pages in the order of their paths, so that the pages of a folder are adjacent. Only open
//! folders are visited. A folder that only contains another folder is joined with it; one with a single page is shown
//! as that page.

use super::comparison::{ComparisonBaseline, PageMetrics};
use super::order::{PageColumn, PageSorting};
use super::pages::PageData;
use crate::app::format::format_views;
use crate::model::comparison::{ComparedRanges, Comparison};
use crate::model::report::Sums;
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, ViewCount};
use std::collections::HashSet;

/// Maximum nesting of folders; deeper pages are listed with the rest of their path.
const MAX_DEPTH: u8 = 40;

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TreeLine {
    pub(super) item: TreeItem,
    /// Number of folders around it.
    pub(super) depth: u8,
    /// Bytes of its path that the folder above shows already.
    pub(super) prefix_len: u32,
}

impl TreeLine {
    /// The part of a path that the folder above doesn't show; the full path if nothing is left.
    pub(super) fn name<'a>(&self, path: &'a str) -> &'a str {
        path.get(self.prefix_len as usize..).filter(|name| !name.is_empty()).unwrap_or(path)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreeItem {
    /// By entry.
    Page(u32),
    /// By index among the folders.
    Folder(u32),
}

/// A folder and the sums over the pages in it that pass the filter.
#[derive(Debug, Clone)]
pub struct Folder {
    /// The first of its pages in the order of the paths; its path starts with that of the folder.
    page: u32,
    /// Bytes of the folder's path, including the trailing slash.
    length: usize,
    /// Sums; as text if they exceed 64 bits. Invalid counts add nothing.
    pub counts: Counts,
    /// Sums of the compared days, if they aren't the complete range on screen.
    compared: Option<Counts>,
    baseline: FolderBaseline,
    ranges: Option<ComparedRanges>,
    is_listed: bool,
    /// Pages in it.
    pub pages: usize,
    /// How many of them are marked.
    pub marked: usize,
    /// Whether all numbers in it are valid counts that add up.
    pub adds_up: bool,
    pub open: bool,
}

/// [`ComparisonBaseline`] of a folder.
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
    /// Its sums, now and before. New and gone pages count with what they gained and lost; a page with an unknown number
    /// makes the sum unknown.
    pub fn metrics(&self) -> PageMetrics<'_> {
        let then = match &self.baseline {
            FolderBaseline::Uncompared => ComparisonBaseline::Uncompared,
            FolderBaseline::Counts(counts) => ComparisonBaseline::Counts(counts),
            FolderBaseline::New => ComparisonBaseline::New,
            FolderBaseline::Gone(counts) => ComparisonBaseline::Gone(counts),
            FolderBaseline::Neither => ComparisonBaseline::Neither,
            FolderBaseline::Unknown => ComparisonBaseline::Unknown,
        };
        let compared = self.compared.as_ref().unwrap_or(&self.counts);
        PageMetrics { counts: &self.counts, is_listed: self.is_listed, compared, baseline: then, ranges: self.ranges }
    }

    /// The first of its pages that pass the filter, in the order of the paths.
    pub(super) fn first_page(&self) -> u32 {
        self.page
    }

    /// Its path, with a trailing slash.
    pub(super) fn path<'a>(&self, pages: &'a PageData) -> &'a str {
        pages.path(self.page).get(..self.length).unwrap_or("")
    }
}

/// The input of the tree.
#[derive(Debug)]
pub(super) struct PathTree<'a> {
    pub(super) pages: &'a PageData,
    pub(super) sorting: PageSorting,
    /// Paths of the open folders.
    pub(super) open: &'a HashSet<Box<str>>,
    /// Whether each entry is marked.
    pub(super) marked: &'a [bool],
}

impl PathTree<'_> {
    /// Builds the lines for these pages, which are in the order of their paths, and the folders on these lines.
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
            let key = |figures: &PageMetrics<'_>| self.sorting.sort_key(self.sorting.by.key(figures), place);
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
                    folders.get(at as usize).filter(|folder| folder.open).map(|folder| folder.length)
                }
                TreeItem::Page(_) => None,
            };
            if let Some(length) = open {
                self.build_level(group, length, depth + 1, lines, folders);
            }
        }
    }

    /// How many of these pages, from the first on, are in the same folder below `prefix_len` bytes; 1 for a page
    /// without a folder.
    fn group_len(&self, entries: &[u32], prefix_len: usize, depth: u8) -> usize {
        let Some(first) = entries.first().filter(|_| depth < MAX_DEPTH) else { return 1 };
        let path = self.pages.path(*first).as_bytes();
        // A slash at the start doesn't end a folder.
        let from = prefix_len.max(1);
        let Some(slash) = path.iter().skip(from).position(|byte| *byte == b'/') else { return 1 };
        let prefix = path.get(..=from + slash).unwrap_or(path);
        entries.iter().take_while(|entry| self.pages.path(**entry).as_bytes().starts_with(prefix)).count()
    }

    /// The deepest folder that contains all these pages.
    fn build_folder(&self, group: &[u32]) -> Folder {
        let path = |entry: Option<&u32>| entry.map_or("", |entry| self.pages.path(*entry)).as_bytes();
        // The pages are sorted: what the first and the last have in common, all have.
        let (first, last) = (path(group.first()), path(group.last()));
        let common = first.iter().zip(last).take_while(|(a, b)| a == b).count();
        let slash = first.iter().take(common).rposition(|byte| *byte == b'/');
        let length = slash.map_or(common, |slash| slash + 1);
        let page = group.first().copied().unwrap_or(0);
        let open = self.pages.path(page).get(..length).is_some_and(|path| self.open.contains(path));
        let mut sums = FolderSums::default();
        group.iter().filter_map(|entry| self.pages.metrics(*entry)).for_each(|figures| sums.add(&figures));
        let is_marked = |entry: &&u32| self.marked.get(**entry as usize).copied().unwrap_or(false);
        Folder {
            page,
            length,
            counts: sums_as_counts(sums.shown),
            compared: sums.compared.then(|| sums_as_counts(sums.now)),
            baseline: sums.baseline(group.len()),
            ranges: self.pages.comparison().map(Comparison::ranges),
            is_listed: sums.is_listed,
            pages: group.len(),
            marked: group.iter().filter(is_marked).count(),
            adds_up: !sums.has_mismatch,
            open,
        }
    }
}

/// Collects the sums over the pages of a folder.
#[derive(Debug, Default)]
struct FolderSums {
    /// In the range on screen, in its compared days, and in the previous range.
    shown: Sums,
    now: Sums,
    before: Sums,
    is_listed: bool,
    has_mismatch: bool,
    compared: bool,
    unknown: bool,
    new: usize,
    gone: usize,
    neither: usize,
}

impl FolderSums {
    fn add(&mut self, figures: &PageMetrics<'_>) {
        if figures.is_listed {
            self.is_listed = true;
            self.shown = self.shown.with(figures.counts);
            self.has_mismatch |= !figures.counts.add_up();
        }
        if figures.baseline == ComparisonBaseline::Uncompared {
            return;
        }
        self.compared = true;
        if let ComparisonBaseline::Counts(_) | ComparisonBaseline::New | ComparisonBaseline::Unknown = figures.baseline
        {
            self.now = self.now.with(figures.compared);
            self.unknown |= !figures.compared.add_up();
        }
        if let ComparisonBaseline::Counts(before) | ComparisonBaseline::Gone(before) = figures.baseline {
            self.before = self.before.with(before);
            self.unknown |= !before.add_up();
        }
        self.unknown |= figures.baseline == ComparisonBaseline::Unknown;
        self.new += usize::from(figures.baseline == ComparisonBaseline::New);
        self.gone += usize::from(matches!(figures.baseline, ComparisonBaseline::Gone(_)));
        self.neither += usize::from(figures.baseline == ComparisonBaseline::Neither);
    }

    fn baseline(&self, pages: usize) -> FolderBaseline {
        let pages = pages - self.neither;
        if !self.compared {
            FolderBaseline::Uncompared
        } else if pages == 0 {
            FolderBaseline::Neither
        } else if self.new == pages {
            FolderBaseline::New
        } else if self.gone == pages {
            FolderBaseline::Gone(sums_as_counts(self.before))
        } else if self.unknown {
            FolderBaseline::Unknown
        } else {
            FolderBaseline::Counts(sums_as_counts(self.before))
        }
    }
}

/// Sums as counts; as text with thousands separators if they exceed 64 bits.
fn sums_as_counts(sums: Sums) -> Counts {
    let count = |sum: ViewCount| match Count::from(sum) {
        Count::Odd(_) => Count::Odd(CleanText::line(&format_views(sum))),
        count => count,
    };
    Counts { human: count(sums.human), ai: count(sums.ai), total: count(sums.total) }
}
