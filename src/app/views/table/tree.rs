//! Folding by path: folders with the sums of the pages in them, sorted like pages within each folder.
//!
//! Built from pages in the order of their paths, so that each folder is a stretch of them. Only open folders are looked
//! into. A folder that holds nothing but a folder is joined with it, one that holds a single page is that page.

use super::comparison::{ComparisonBaseline, PageMetrics};
use super::order::{PageColumn, PageSorting};
use super::pages::PageData;
use crate::app::format::views;
use crate::model::comparison::{ComparedRanges, Comparison};
use crate::model::report::Sums;
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, ViewCount};
use std::collections::HashSet;

/// How deep folders nest; what lies deeper is listed by the rest of its path.
const MAX_DEPTH: u8 = 40;

/// A line of the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TreeLine {
    pub(super) what: TreeItem,
    /// Folders around it.
    pub(super) depth: u8,
    /// Bytes of its path that the folder around it says already.
    pub(super) said: u32,
}

impl TreeLine {
    /// What of a path the folder around doesn't say; the whole where that would be nothing.
    pub(super) fn name<'a>(&self, path: &'a str) -> &'a str {
        path.get(self.said as usize..).filter(|name| !name.is_empty()).unwrap_or(path)
    }
}

/// What stands on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TreeItem {
    /// An entry.
    Page(u32),
    /// A place among the folders.
    Folder(u32),
}

/// A folder and the sums over the pages in it that pass the filter.
#[derive(Debug, Clone)]
pub struct Folder {
    /// The first of its pages in the order of the paths; its path begins with that of the folder.
    page: u32,
    /// Bytes of the folder's path, the slash at its end included.
    length: usize,
    /// Sums; beyond 64 bits as text. What is no count adds nothing.
    pub counts: Counts,
    /// Sums of the days that are compared, if they aren't all of the range on screen.
    compared: Option<Counts>,
    then: Summed,
    ranges: Option<ComparedRanges>,
    is_listed: bool,
    /// Pages in it.
    pub pages: usize,
    /// How many of them are marked.
    pub marked: usize,
    /// Whether all numbers in it are counts that add up.
    pub adds_up: bool,
    pub open: bool,
}

/// [`Then`] of a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Summed {
    Uncompared,
    Counts(Counts),
    New,
    Gone(Counts),
    Neither,
    Unknown,
}

impl Folder {
    /// Its sums, now and before. New and gone pages count as what they gained and lost; one page of which nothing is known
    /// before makes the whole unknown.
    pub fn figures(&self) -> PageMetrics<'_> {
        let then = match &self.then {
            Summed::Uncompared => ComparisonBaseline::Uncompared,
            Summed::Counts(counts) => ComparisonBaseline::Counts(counts),
            Summed::New => ComparisonBaseline::New,
            Summed::Gone(counts) => ComparisonBaseline::Gone(counts),
            Summed::Neither => ComparisonBaseline::Neither,
            Summed::Unknown => ComparisonBaseline::Unknown,
        };
        let compared = self.compared.as_ref().unwrap_or(&self.counts);
        PageMetrics { counts: &self.counts, is_listed: self.is_listed, compared, then, ranges: self.ranges }
    }

    /// The first of its pages that pass the filter, in the order of the paths.
    pub(super) fn page(&self) -> u32 {
        self.page
    }

    /// Its path, with a slash at its end.
    pub(super) fn path<'a>(&self, pages: &'a PageData) -> &'a str {
        pages.path(self.page).get(..self.length).unwrap_or("")
    }
}

/// What the tree is built from.
#[derive(Debug)]
pub(super) struct PathTree<'a> {
    pub(super) pages: &'a PageData,
    pub(super) sorting: PageSorting,
    /// Paths of the open folders.
    pub(super) open: &'a HashSet<Box<str>>,
    /// Marked or not, by entry.
    pub(super) marked: &'a [bool],
}

impl PathTree<'_> {
    /// The lines for these pages, which are in the order of their paths, and the folders on them.
    pub(super) fn lines(&self, entries: &[u32]) -> (Vec<TreeLine>, Vec<Folder>) {
        let (mut lines, mut folders) = (Vec::new(), Vec::new());
        self.level(entries, 0, 0, &mut lines, &mut folders);
        (lines, folders)
    }

    fn level(&self, entries: &[u32], said: usize, depth: u8, lines: &mut Vec<TreeLine>, folders: &mut Vec<Folder>) {
        let mut nodes: Vec<(u128, TreeItem, &[u32])> = Vec::new();
        let mut rest = entries;
        while let Some(first) = rest.first() {
            let (stretch, after) = rest.split_at_checked(self.stretch(rest, said, depth)).unwrap_or((rest, &[]));
            let place = self.pages.place(*first);
            let key = |figures: &PageMetrics<'_>| self.sorting.sort_key(self.sorting.by.key(figures), place);
            if stretch.len() == 1 {
                nodes
                    .extend(self.pages.figures(*first).map(|figures| (key(&figures), TreeItem::Page(*first), stretch)));
            } else {
                let folder = self.folder(stretch);
                let at = super::pages::short(folders.len());
                nodes.push((key(&folder.figures()), TreeItem::Folder(at), stretch));
                folders.push(folder);
            }
            rest = after;
        }
        if self.sorting != PageSorting::by(PageColumn::Path) {
            nodes.sort_unstable_by_key(|(key, ..)| *key);
        }
        let said_here = super::pages::short(said);
        for (_, what, stretch) in nodes {
            lines.push(TreeLine { what, depth, said: said_here });
            let open = match what {
                TreeItem::Folder(at) => {
                    folders.get(at as usize).filter(|folder| folder.open).map(|folder| folder.length)
                }
                TreeItem::Page(_) => None,
            };
            if let Some(length) = open {
                self.level(stretch, length, depth + 1, lines, folders);
            }
        }
    }

    /// How many of these pages, from the first on, lie in the same folder below `said` bytes; 1 for a page by itself.
    fn stretch(&self, entries: &[u32], said: usize, depth: u8) -> usize {
        let Some(first) = entries.first().filter(|_| depth < MAX_DEPTH) else { return 1 };
        let path = self.pages.path(*first).as_bytes();
        // A slash in front begins a path; it ends no folder.
        let from = said.max(1);
        let Some(slash) = path.iter().skip(from).position(|byte| *byte == b'/') else { return 1 };
        let prefix = path.get(..=from + slash).unwrap_or(path);
        entries.iter().take_while(|entry| self.pages.path(**entry).as_bytes().starts_with(prefix)).count()
    }

    /// The folder of these pages, as deep as all of them go.
    fn folder(&self, stretch: &[u32]) -> Folder {
        let path = |entry: Option<&u32>| entry.map_or("", |entry| self.pages.path(*entry)).as_bytes();
        // In their order, what the first and the last have in common, all have.
        let (first, last) = (path(stretch.first()), path(stretch.last()));
        let common = first.iter().zip(last).take_while(|(a, b)| a == b).count();
        let slash = first.iter().take(common).rposition(|byte| *byte == b'/');
        let length = slash.map_or(common, |slash| slash + 1);
        let page = stretch.first().copied().unwrap_or(0);
        let open = self.pages.path(page).get(..length).is_some_and(|path| self.open.contains(path));
        let mut sum = Summing::default();
        stretch.iter().filter_map(|entry| self.pages.figures(*entry)).for_each(|figures| sum.add(&figures));
        let is_marked = |entry: &&u32| self.marked.get(**entry as usize).copied().unwrap_or(false);
        Folder {
            page,
            length,
            counts: counts(sum.shown),
            compared: sum.compared.then(|| counts(sum.now)),
            then: sum.then(stretch.len()),
            ranges: self.pages.comparison().map(Comparison::ranges),
            is_listed: sum.is_listed,
            pages: stretch.len(),
            marked: stretch.iter().filter(is_marked).count(),
            adds_up: !sum.odd,
            open,
        }
    }
}

/// Sums over the pages of a folder, as they are added up.
#[derive(Debug, Default)]
struct Summing {
    /// In the range on screen, in the days of it that are compared, and in the range before.
    shown: Sums,
    now: Sums,
    before: Sums,
    is_listed: bool,
    odd: bool,
    compared: bool,
    unknown: bool,
    new: usize,
    gone: usize,
    neither: usize,
}

impl Summing {
    fn add(&mut self, figures: &PageMetrics<'_>) {
        if figures.is_listed {
            self.is_listed = true;
            self.shown = self.shown.with(figures.counts);
            self.odd |= !figures.counts.add_up();
        }
        if figures.then == ComparisonBaseline::Uncompared {
            return;
        }
        self.compared = true;
        if let ComparisonBaseline::Counts(_) | ComparisonBaseline::New | ComparisonBaseline::Unknown = figures.then {
            self.now = self.now.with(figures.compared);
            self.unknown |= !figures.compared.add_up();
        }
        if let ComparisonBaseline::Counts(before) | ComparisonBaseline::Gone(before) = figures.then {
            self.before = self.before.with(before);
            self.unknown |= !before.add_up();
        }
        self.unknown |= figures.then == ComparisonBaseline::Unknown;
        self.new += usize::from(figures.then == ComparisonBaseline::New);
        self.gone += usize::from(matches!(figures.then, ComparisonBaseline::Gone(_)));
        self.neither += usize::from(figures.then == ComparisonBaseline::Neither);
    }

    fn then(&self, pages: usize) -> Summed {
        let pages = pages - self.neither;
        if !self.compared {
            Summed::Uncompared
        } else if pages == 0 {
            Summed::Neither
        } else if self.new == pages {
            Summed::New
        } else if self.gone == pages {
            Summed::Gone(counts(self.before))
        } else if self.unknown {
            Summed::Unknown
        } else {
            Summed::Counts(counts(self.before))
        }
    }
}

/// Sums as counts; as text, with thousands separators, if 64 bits don't hold them.
fn counts(sums: Sums) -> Counts {
    let count = |sum: ViewCount| match Count::from(sum) {
        Count::Odd(_) => Count::Odd(CleanText::line(&views(sum))),
        count => count,
    };
    Counts { human: count(sums.human), ai: count(sums.ai), total: count(sums.total) }
}
