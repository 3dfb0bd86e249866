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

/// Classifies the lines of one hunk. The old and the new version of the file have separate states.
#[derive(Debug, Default)]
pub(super) struct MarkupClassifier {
    is_markdown: bool,
    old: VersionState,
    new: VersionState,
}

#[derive(Debug, Default, Clone)]
struct VersionState {
    is_at_start: bool,
    is_in_front_matter: bool,
    is_in_code: bool,
    /// Whether the attributes of an open tag continue on the next line.
    is_in_tag: bool,
}

impl MarkupClassifier {
    /// Creates the classifier for a hunk of the file `path` that starts at the line `first_line`. Front matter is
    /// recognized only in a hunk that starts at line 1, the first line of a file.
    pub(super) fn new(path: &str, first_line: u32) -> Self {
        let lower = path.to_ascii_lowercase();
        let version = VersionState { is_at_start: first_line <= 1, ..VersionState::default() };
        let is_markdown = [".md", ".mdx", ".markdown"].iter().any(|ending| lower.ends_with(ending));
        Self { is_markdown, old: version.clone(), new: version }
    }

    pub(super) fn classify(&mut self, text: &str, kind: LineKind) -> Markup {
        if !self.is_markdown {
            return Markup::Text;
        }
        match kind {
            LineKind::Removed => self.old.classify(text),
            LineKind::Added => self.new.classify(text),
            LineKind::Context => {
                self.old.classify(text);
                self.new.classify(text)
            }
        }
    }
}

impl VersionState {
    fn classify(&mut self, text: &str) -> Markup {
        let is_at_start = std::mem::take(&mut self.is_at_start);
        let text = text.trim();
        if self.is_in_front_matter || (is_at_start && text == "---") {
            self.is_in_front_matter = is_at_start || text != "---";
            return Markup::FrontMatter;
        }
        if text.starts_with("```") || text.starts_with("~~~") {
            self.is_in_code = !self.is_in_code;
            return Markup::Code;
        }
        if self.is_in_code {
            return Markup::Code;
        }
        if self.is_in_tag || is_tag_start(text) {
            self.is_in_tag = !text.contains('>');
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
