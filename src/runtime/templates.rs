//! Reads text files: templates (built-in and the user's own) and files of prompts.

use crate::model::batch;
use crate::model::failure::Failure;
use crate::model::text::CleanText;
use crate::tui::Template;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Maximum size of a template, in bytes.
const MAX_TEMPLATE_BYTES: u64 = 256 << 10;
/// Maximum number of entries of the user's template folder that are read.
const MAX_TEMPLATE_ENTRIES: usize = 500;
/// Maximum size of a file of prompts, in bytes.
const MAX_PROMPT_FILE_BYTES: u64 = 32 << 20;

/// The names and texts of the built-in templates.
const BUILT_IN_TEMPLATES: [(&str, &str); 7] = [
    ("improve-page-for-ai", include_str!("../../assets/templates/improve-page-for-ai.md")),
    ("improve-pages", include_str!("../../assets/templates/improve-pages.md")),
    ("fix-page", include_str!("../../assets/templates/fix-page.md")),
    ("translate", include_str!("../../assets/templates/translate.md")),
    ("changelog", include_str!("../../assets/templates/changelog.md")),
    ("quickstart", include_str!("../../assets/templates/quickstart.md")),
    ("check-links", include_str!("../../assets/templates/check-links.md")),
];

/// Returns the user's templates, sorted by name, then the built-in templates. A user template replaces the built-in
/// template of the same name. Skips files that are not Markdown, and files that are blank, too large or unreadable.
pub(super) fn read_templates(folder: Option<&Path>) -> Vec<Template> {
    let user = folder.map(user_templates).unwrap_or_default();
    let built_in: Vec<_> = BUILT_IN_TEMPLATES.iter().filter(|(name, _)| !user.contains_key(*name)).collect();
    let template = |name: &str, text: &str| Template { name: CleanText::line(name), text: text.trim_end().to_owned() };
    let mut all: Vec<Template> = user.iter().map(|(name, text)| template(name, text)).collect();
    all.extend(built_in.into_iter().map(|(name, text)| template(name, text)));
    all
}

fn user_templates(folder: &Path) -> BTreeMap<String, String> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    let read = |path: PathBuf| {
        let is_small = fs::metadata(&path).is_ok_and(|about| about.is_file() && about.len() <= MAX_TEMPLATE_BYTES);
        let is_markdown = path.extension().is_some_and(|end| end == "md");
        let name = path.file_stem()?.to_str()?.to_owned();
        let text = (is_markdown && is_small).then(|| fs::read_to_string(&path).ok()).flatten()?;
        (!text.trim().is_empty()).then_some((name, text))
    };
    entries.flatten().take(MAX_TEMPLATE_ENTRIES).filter_map(|entry| read(entry.path())).collect()
}

/// Reads the prompts in a file. `~/` at the start of its path is the home folder.
pub(super) fn read_prompt_file(file: &str) -> Result<Vec<String>, Failure> {
    let local = |why: &str| Failure::local(&format!("{file}: {why}"));
    let path = match (file.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(file),
    };
    let about = fs::metadata(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => local("file not found."),
        _ => local(&format!("can't be read ({error}).")),
    })?;
    if !about.is_file() {
        return Err(local("not a file."));
    }
    if about.len() > MAX_PROMPT_FILE_BYTES {
        return Err(local(&format!("larger than {} MiB.", MAX_PROMPT_FILE_BYTES >> 20)));
    }
    let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => local("not UTF-8 text."),
        _ => local(&format!("can't be read ({error}).")),
    })?;
    batch::parse_prompts(Some(file), &text).map_err(|error| local(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::compose::blanks::find_template_blank;
    use crate::tui::compose::templates::{TemplateValues, fill_template};

    #[test]
    fn every_built_in_template_has_a_title_and_its_path_can_be_filled_in() {
        let values = TemplateValues { path: Some("/p".to_owned()), ..TemplateValues::default() };
        for template in read_templates(None) {
            let title = template.text.lines().next().expect("a first line");
            assert!(!title.trim().is_empty() && title.len() < 80 && !title.starts_with('#'), "{title}");
            assert!(!fill_template(&template.text, &values).contains("{{path}}"));
        }
        assert_eq!(read_templates(None).len(), BUILT_IN_TEMPLATES.len());
        assert!(BUILT_IN_TEMPLATES.iter().any(|(_, text)| find_template_blank(text).is_some()));
    }

    #[test]
    fn a_user_template_replaces_a_built_in_one_with_the_same_name() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("translate.md"), "Mine {{path}}\n").expect("written");
        fs::write(folder.path().join("b.md"), "Another").expect("written");
        fs::write(folder.path().join("notes.txt"), "not one").expect("written");
        fs::write(folder.path().join("empty.md"), "\n").expect("written");
        let all = read_templates(Some(folder.path()));
        let names: Vec<&str> = all.iter().map(|template| template.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "b",
                "translate",
                "improve-page-for-ai",
                "improve-pages",
                "fix-page",
                "changelog",
                "quickstart",
                "check-links"
            ]
        );
        assert_eq!(all[1].text, "Mine {{path}}");
        assert_eq!(read_templates(Some(&folder.path().join("none"))).len(), BUILT_IN_TEMPLATES.len());
    }

    #[test]
    fn a_file_of_prompts_is_read_or_the_error_names_the_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("p.txt");
        fs::write(&path, "one\n\ntwo\nlines\n").expect("written");
        assert_eq!(read_prompt_file(&path.display().to_string()), Ok(vec!["one".to_owned(), "two\nlines".to_owned()]));
        fs::write(&path, b"\xff\xfe").expect("written");
        for bad in [path, folder.path().to_path_buf(), folder.path().join("none")] {
            let failure = read_prompt_file(&bad.display().to_string()).expect_err("not prompts");
            assert!(failure.message.as_str().starts_with(&bad.display().to_string()), "{failure:?}");
        }
    }
}
