//! Parses unified diffs. The parser reads as many lines of a hunk as the header of the hunk states, so that a line that
//! looks like the start of another file or hunk is not mistaken for one.

use super::markup::MarkupClassifier;
use super::{Diff, DiffFile, DiffLine, FileChange, FileContent, Hunk, LineKind};
use crate::model::text::CleanText;
use std::ops::Range;

pub(super) fn parse(text: String) -> Diff {
    let mut parser = Parser::default();
    let mut start = 0;
    for line in text.split('\n') {
        // Positions have 32 bits, so parsing stops at 4 GiB. No code host sends a larger diff.
        let (Ok(from), Ok(to)) = (u32::try_from(start), u32::try_from(start + line.len())) else { break };
        parser.add_line(line, from..to);
        start += line.len() + 1;
    }
    parser.finish_file();
    Diff { text, files: parser.files, lines: parser.lines }
}

#[derive(Default)]
struct Parser {
    files: Vec<DiffFile>,
    lines: Vec<DiffLine>,
    file: Option<UnfinishedFile>,
    /// How many lines of the old and of the new version are still to come in the current hunk.
    lines_left: (u32, u32),
    /// The line numbers of the next line in the old and in the new version.
    next_line_numbers: (u32, u32),
    markup: MarkupClassifier,
}

/// A file whose lines are being read.
struct UnfinishedFile {
    old_path: Option<String>,
    new_path: Option<String>,
    change: FileChange,
    is_binary: bool,
    /// Whether the diff's header explains why the file has no changed lines: a new name, a new mode, or an empty file.
    missing_lines_are_explained: bool,
    additions: u32,
    deletions: u32,
    hunks: Vec<Hunk>,
}

impl Parser {
    fn add_line(&mut self, line: &str, at: Range<u32>) {
        if self.lines_left != (0, 0) {
            if self.add_hunk_line(line, at.clone()) {
                return;
            }
            // The hunk is shorter than its header states.
            self.lines_left = (0, 0);
        } else if line.starts_with("\\ ") {
            if let Some(last) = self.lines.last_mut() {
                last.is_unterminated = true;
            }
            return;
        }
        if let Some(names) = line.strip_prefix("diff --git ") {
            self.finish_file();
            let (old_path, new_path) = parse_header_names(names);
            let (change, hunks) = (FileChange::Modified, Vec::new());
            self.file = Some(UnfinishedFile {
                old_path,
                new_path,
                change,
                is_binary: false,
                missing_lines_are_explained: false,
                additions: 0,
                deletions: 0,
                hunks,
            });
        } else if line.starts_with("@@ ") {
            self.start_hunk(line, at);
        } else if let Some(file) = self.file.as_mut().filter(|file| file.hunks.is_empty()) {
            file.add_header_line(line);
        }
    }

    fn start_hunk(&mut self, line: &str, at: Range<u32>) {
        let Some((old, new, heading)) = parse_hunk_header(line) else { return };
        let Some(file) = &mut self.file else { return };
        let heading = at.end - u32::try_from(heading.len()).unwrap_or(0)..at.end;
        let lines = self.lines.len()..self.lines.len();
        file.hunks.push(Hunk { old_start: old.0, new_start: new.0, heading, lines });
        let path = file.new_path.as_deref().or(file.old_path.as_deref()).unwrap_or_default();
        self.markup = MarkupClassifier::new(path, old.0.max(new.0));
        (self.lines_left, self.next_line_numbers) = ((old.1, new.1), (old.0, new.0));
    }

    /// Adds a line to the current hunk. Returns false if the line doesn't belong to the hunk.
    fn add_hunk_line(&mut self, line: &str, at: Range<u32>) -> bool {
        let (Some(file), (old, new)) = (&mut self.file, &mut self.lines_left) else { return false };
        let (kind, text) = match line.as_bytes().first() {
            Some(b' ') if *old > 0 && *new > 0 => (LineKind::Context, at.start + 1..at.end),
            // Some tools remove the space that marks an empty context line.
            None if *old > 0 && *new > 0 => (LineKind::Context, at),
            Some(b'+') if *new > 0 => (LineKind::Added, at.start + 1..at.end),
            Some(b'-') if *old > 0 => (LineKind::Removed, at.start + 1..at.end),
            Some(b'\\') => {
                if let Some(last) = self.lines.last_mut() {
                    last.is_unterminated = true;
                }
                return true;
            }
            _ => return false,
        };
        let (old_number, new_number) = self.next_line_numbers;
        if kind != LineKind::Added {
            (*old, self.next_line_numbers.0) = (*old - 1, old_number.saturating_add(1));
        }
        if kind != LineKind::Removed {
            (*new, self.next_line_numbers.1) = (*new - 1, new_number.saturating_add(1));
        }
        match kind {
            LineKind::Added => file.additions += 1,
            LineKind::Removed => file.deletions += 1,
            LineKind::Context => {}
        }
        let markup = self.markup.classify(line.get(1..).unwrap_or_default(), kind);
        self.lines.push(DiffLine { kind, markup, is_unterminated: false, old_number, new_number, text });
        if let Some(hunk) = file.hunks.last_mut() {
            hunk.lines.end = self.lines.len();
        }
        true
    }

    fn finish_file(&mut self) {
        self.lines_left = (0, 0);
        let Some(file) = self.file.take() else { return };
        let path = file.new_path.as_ref().or(file.old_path.as_ref()).map_or("unnamed file", String::as_str);
        let content = match (file.is_binary, file.hunks.is_empty() && !file.missing_lines_are_explained) {
            (true, _) => FileContent::Binary,
            (false, true) => FileContent::Missing,
            (false, false) => FileContent::Complete,
        };
        self.files.push(DiffFile {
            path: CleanText::line(path),
            old_path: file.old_path.as_deref().filter(|old| *old != path).map(CleanText::line),
            change: file.change,
            content,
            additions: file.additions,
            deletions: file.deletions,
            hunks: file.hunks,
        });
    }
}

impl UnfinishedFile {
    fn add_header_line(&mut self, line: &str) {
        let change = [
            ("new file mode ", FileChange::Added),
            ("deleted file mode ", FileChange::Deleted),
            ("rename from ", FileChange::Renamed),
            ("copy from ", FileChange::Copied),
        ];
        if let Some((_, change)) = change.into_iter().find(|(start, _)| line.starts_with(start)) {
            self.change = change;
        }
        let name_after = |start: &str| line.strip_prefix(start).map(unquote);
        if let Some(old) = name_after("rename from ").or_else(|| name_after("copy from ")) {
            self.old_path = Some(old);
            self.missing_lines_are_explained = true;
        } else if let Some(new) = name_after("rename to ").or_else(|| name_after("copy to ")) {
            self.new_path = Some(new);
        } else if let Some(old) = name_after("--- ") {
            self.old_path = old.strip_prefix("a/").map(str::to_owned);
        } else if let Some(new) = name_after("+++ ") {
            self.new_path = new.strip_prefix("b/").map(str::to_owned);
        } else if line.starts_with("old mode ") {
            self.missing_lines_are_explained = true;
        } else if line.starts_with("index ") {
            // The abbreviated hash of an empty file, which has no lines when it is added or deleted.
            self.missing_lines_are_explained |= line.contains("..e69de29") || line.contains(" e69de29");
        } else if line.starts_with("Binary files ") || line == "GIT binary patch" {
            self.is_binary = true;
        }
    }
}

/// The line number at which a hunk starts in one version, and how many lines the hunk has in this version.
type StartAndLineCount = (u32, u32);

/// Parses `@@ -10,3 +12,4 @@ heading`: the ranges of both versions, and the heading.
fn parse_hunk_header(line: &str) -> Option<(StartAndLineCount, StartAndLineCount, &str)> {
    let (ranges, heading) = line.strip_prefix("@@ -")?.split_once(" @@")?;
    let (old, new) = ranges.split_once(" +")?;
    let range = |text: &str| match text.split_once(',') {
        Some((start, count)) => Some((start.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    };
    Some((range(old)?, range(new)?, heading.strip_prefix(' ').unwrap_or(heading)))
}

/// Returns the names in `a/old b/new`. Names with spaces are ambiguous: the text is split in the middle if both halves
/// have the same name, otherwise before the first ` b/`.
fn parse_header_names(names: &str) -> (Option<String>, Option<String>) {
    let name = |quoted: &str, side: &str| unquote(quoted).strip_prefix(side).map(str::to_owned);
    if names.starts_with('"') {
        let split = names.get(1..).and_then(|rest| rest.find("\" ")).map(|end| names.split_at(end + 2));
        return split.map_or((None, None), |(old, new)| (name(old, "a/"), name(new.trim_start(), "b/")));
    }
    let middle = names.len() / 2;
    let same = names.get(..middle).zip(names.get(middle + 1..)).filter(|(old, new)| old.get(2..) == new.get(2..));
    match same.or_else(|| names.split_once(" b/").and_then(|(old, _)| Some((old, names.get(old.len() + 1..)?)))) {
        Some((old, new)) => (name(old, "a/"), name(new, "b/")),
        None => (None, None),
    }
}

/// Returns a file name without Git's quotes and escapes, as in `"a/caf\303\251.mdx"`. A tab after the name is removed.
fn unquote(text: &str) -> String {
    let text = text.trim_end_matches(['\t', '\r']);
    let Some(quoted) = text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return text.to_owned() };
    let mut bytes = Vec::with_capacity(quoted.len());
    let mut rest = quoted.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next() {
            Some(digit @ b'0'..=b'3') => {
                let mut octal = digit - b'0';
                for digit in rest.by_ref().take(2).filter(u8::is_ascii_digit) {
                    octal = octal.wrapping_mul(8).wrapping_add(digit - b'0');
                }
                octal
            }
            Some(b'n') => b'\n',
            Some(b't') => b'\t',
            Some(other) => other,
            None => b'\\',
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
