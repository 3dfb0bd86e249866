//! The changes of a pull request: a unified diff, split into files, hunks and lines.
//!
//! The text of a diff is kept as received, and lines refer to ranges of this text, so that a diff of several megabytes
//! is parsed quickly and stored only once. The text comes from the code host and may contain control characters, which
//! must be removed before the text is shown.

mod markup;
mod parse;
mod words;

pub use markup::Markup;
pub use words::changed_words;
use words::equal_pairs;

use super::Time;
use super::failure::Failure;
use super::pull_request_details::{SiteFacts, page_of_file};
use super::text::CleanText;
use std::collections::HashSet;
use std::ops::Range;

/// A parsed diff.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Diff {
    text: String,
    pub files: Vec<DiffFile>,
    lines: Vec<DiffLine>,
}

/// The changes of a pull request as they were read from its code host.
#[derive(Debug)]
pub struct LoadedDiff {
    /// The head commit of the pull request when its changes were read.
    pub head: CleanText,
    pub diff: Diff,
    /// Whether the diff was too large, so that its last files are missing.
    pub is_truncated: bool,
    pub as_of: Time,
    /// Why the current changes could not be read, so that `diff` may be outdated; `None` if they were read.
    pub problem: Option<Failure>,
    /// The preview of the site with these changes, and the views of the changed pages.
    pub site: SiteFacts,
}

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileChange {
    Added,
    Deleted,
    Modified,
    Renamed,
    Copied,
}

impl FileChange {
    pub fn word(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Deleted => "deleted",
            Self::Modified => "modified",
            Self::Renamed => "renamed",
            Self::Copied => "copied",
        }
    }
}

/// Which lines of a file a diff contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileContent {
    /// All changed lines; none if only the name or the mode has changed.
    Complete,
    Binary,
    /// The code host left the lines out, for example because there are too many.
    Missing,
}

/// A changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffFile {
    /// The path in the new version, or in the old one if the file is deleted.
    pub path: CleanText,
    /// The path in the old version, if it is different.
    pub old_path: Option<CleanText>,
    pub change: FileChange,
    pub content: FileContent,
    /// How many lines were added and how many were removed.
    pub additions: u32,
    pub deletions: u32,
    pub hunks: Vec<Hunk>,
}

/// Consecutive lines of a file, some of them changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hunk {
    /// The line numbers of the first line in both versions.
    pub old_start: u32,
    pub new_start: u32,
    /// The range of the text after the second `@@`, such as the heading above the lines.
    heading: Range<u32>,
    /// The indexes of the hunk's lines in [`Diff::lines`].
    pub lines: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    Context,
    Added,
    Removed,
}

/// A line of a hunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiffLine {
    pub kind: LineKind,
    pub markup: Markup,
    /// Whether the file ends with this line, without a line break.
    pub is_unterminated: bool,
    /// The line's numbers in the old and in the new version. If a version doesn't have the line, the number is that of
    /// the next line in this version.
    pub old_number: u32,
    pub new_number: u32,
    text: Range<u32>,
}

impl DiffLine {
    /// Returns the line number in the new version, or in the old one for a removed line.
    pub fn number(&self) -> u32 {
        if self.kind == LineKind::Removed { self.old_number } else { self.new_number }
    }
}

impl Diff {
    /// Returns the changed pages.
    pub fn pages(&self) -> Vec<CleanText> {
        self.files
            .iter()
            .filter_map(|file| page_of_file(file.path.as_str()))
            .map(|page| CleanText::line(&page))
            .collect()
    }

    /// Parses a unified diff as Git writes it. Text that is not part of a diff is skipped.
    pub fn parse(text: String) -> Self {
        parse::parse(text)
    }

    /// Returns the unified diff.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn lines(&self) -> &[DiffLine] {
        &self.lines
    }

    /// Returns the text of a line without the sign at its start. It may contain control characters.
    pub fn line_text(&self, line: &DiffLine) -> &str {
        self.slice(&line.text)
    }

    /// Returns the text after the line numbers of a hunk. It may contain control characters.
    pub fn heading(&self, hunk: &Hunk) -> &str {
        self.slice(&hunk.heading)
    }

    /// Returns how many lines were added and how many were removed, in all files together.
    pub fn added_and_removed_lines(&self) -> (u64, u64) {
        let sum = |(a, d): (u64, u64), file: &DiffFile| (a + u64::from(file.additions), d + u64::from(file.deletions));
        self.files.iter().fold((0, 0), sum)
    }

    /// Returns the index of the line that a changed line probably replaces, or is replaced by: the n-th line of a run
    /// of removed lines is paired with the n-th of the added lines that follow. `line` is an index into
    /// [`Self::lines`].
    pub fn counterpart(&self, line: usize) -> Option<usize> {
        let kind_at = |at: usize| self.lines.get(at).map(|line| line.kind);
        let kind = kind_at(line).filter(|kind| *kind != LineKind::Context)?;
        let hunk = self.hunk_of(line)?;
        let run_of = |at: usize| {
            let kind = kind_at(at);
            let start = (hunk.lines.start..at).rev().take_while(|n| kind_at(*n) == kind).last().unwrap_or(at);
            let end = (at..hunk.lines.end).take_while(|n| kind_at(*n) == kind).last().unwrap_or(at) + 1;
            start..end
        };
        let run = run_of(line);
        let neighbour = match kind {
            LineKind::Removed => Some(run.end).filter(|at| *at < hunk.lines.end),
            _ => run.start.checked_sub(1).filter(|at| *at >= hunk.lines.start),
        };
        let other = neighbour.filter(|at| kind_at(*at).is_some_and(|kind| kind != LineKind::Context)).map(run_of)?;
        Some(other.start + (line - run.start)).filter(|at| other.contains(at))
    }

    /// Returns the indexes of the changed lines of a hunk that differ only in whitespace from a line of the other
    /// version.
    pub fn lines_differing_in_whitespace(&self, hunk: &Hunk) -> HashSet<usize> {
        let of_kind = |line: &usize, kind| self.lines.get(*line).is_some_and(|line| line.kind == kind);
        let text = |line: &usize| {
            let text = self.lines.get(*line).map_or("", |line| self.line_text(line));
            text.split_whitespace().collect::<String>()
        };
        let (mut found, mut at) = (HashSet::new(), hunk.lines.start);
        while at < hunk.lines.end {
            let removed: Vec<usize> =
                (at..hunk.lines.end).take_while(|line| of_kind(line, LineKind::Removed)).collect();
            let after = at + removed.len();
            let added: Vec<usize> = (after..hunk.lines.end).take_while(|line| of_kind(line, LineKind::Added)).collect();
            let texts = |lines: &[usize]| lines.iter().map(text).collect::<Vec<_>>();
            for (old, new) in equal_pairs(&texts(&removed), &texts(&added)) {
                found.extend(removed.get(old));
                found.extend(added.get(new));
            }
            at = (after + added.len()).max(at + 1);
        }
        found
    }

    /// Returns the hunk of a line.
    fn hunk_of(&self, line: usize) -> Option<&Hunk> {
        let file = self.files.iter().rev().find(|file| file.hunks.first().is_some_and(|h| h.lines.start <= line))?;
        let after = file.hunks.partition_point(|hunk| hunk.lines.start <= line);
        file.hunks.get(after.checked_sub(1)?)
    }

    fn slice(&self, range: &Range<u32>) -> &str {
        let at = |n: u32| usize::try_from(n).unwrap_or(usize::MAX);
        self.text.get(at(range.start)..at(range.end)).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
