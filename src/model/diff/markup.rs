//! Classifies the lines of Markdown pages in a diff: front matter, components and code.

use super::LineKind;

/// What a line is in a Markdown page. All lines of other files are [`Markup::Text`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Markup {
    /// Prose, or a line of a file that is not Markdown.
    #[default]
    Text,
    FrontMatter,
    Heading,
    /// A component, or an import or export of one.
    Jsx,
    /// A line of a code block, or a fence.
    Code,
}

/// Recognizes the lines of one hunk, each version of the file for itself.
#[derive(Debug, Default)]
pub(super) struct MarkupReader {
    is_markdown: bool,
    old: Version,
    new: Version,
}

#[derive(Debug, Default, Clone)]
struct Version {
    is_at_start: bool,
    is_front_matter: bool,
    is_code: bool,
    /// Whether a tag is open whose attributes continue on further lines.
    is_tag: bool,
}

impl MarkupReader {
    /// Starts a hunk of this file. `first_line` is its first line number, from 1.
    pub(super) fn new(path: &str, first_line: u32) -> Self {
        let lower = path.to_ascii_lowercase();
        let version = Version { is_at_start: first_line <= 1, ..Version::default() };
        let is_markdown = [".md", ".mdx", ".markdown"].iter().any(|ending| lower.ends_with(ending));
        Self { is_markdown, old: version.clone(), new: version }
    }

    pub(super) fn line(&mut self, text: &str, kind: LineKind) -> Markup {
        if !self.is_markdown {
            return Markup::Text;
        }
        match kind {
            LineKind::Removed => self.old.line(text),
            LineKind::Added => self.new.line(text),
            LineKind::Context => {
                self.old.line(text);
                self.new.line(text)
            }
        }
    }
}

impl Version {
    fn line(&mut self, text: &str) -> Markup {
        let is_at_start = std::mem::take(&mut self.is_at_start);
        let text = text.trim();
        if self.is_front_matter || (is_at_start && text == "---") {
            self.is_front_matter = is_at_start || text != "---";
            return Markup::FrontMatter;
        }
        if text.starts_with("```") || text.starts_with("~~~") {
            self.is_code = !self.is_code;
            return Markup::Code;
        }
        if self.is_code {
            return Markup::Code;
        }
        if self.is_tag || is_tag_start(text) {
            self.is_tag = !text.contains('>');
            return Markup::Jsx;
        }
        let is_module = |word: &str| text.strip_prefix(word).is_some_and(|rest| rest.contains([';', '{', '\'', '"']));
        match text.trim_start_matches('#') {
            rest if rest.len() < text.len() && text.len() - rest.len() <= 6 && rest.starts_with(' ') => Markup::Heading,
            _ if is_module("import ") || is_module("export ") => Markup::Jsx,
            _ => Markup::Text,
        }
    }
}

/// Whether the line begins with the tag of a component (`<Card`, `</Card>`) or a fragment.
fn is_tag_start(text: &str) -> bool {
    let name = text.strip_prefix('<').map(|rest| rest.strip_prefix('/').unwrap_or(rest));
    name.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_uppercase() || c == '>'))
}
