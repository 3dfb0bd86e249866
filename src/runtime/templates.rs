//! Texts that are read from files: templates, the shipped ones and the user's own, and files of prompts.

use crate::app::Template;
use crate::model::batch;
use crate::model::failure::{Failure, FailureKind};
use crate::model::text::CleanText;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Largest template, and most of the user's own that are read.
const TEMPLATE_MAX: u64 = 256 << 10;
const TEMPLATES: usize = 500;
/// Largest file of prompts, in bytes.
const PROMPTS_MAX: u64 = 32 << 20;

/// The shipped templates, by their names.
const SHIPPED: [(&str, &str); 7] = [
    ("improve-page-for-ai", include_str!("../../assets/templates/improve-page-for-ai.md")),
    ("improve-pages", include_str!("../../assets/templates/improve-pages.md")),
    ("fix-page", include_str!("../../assets/templates/fix-page.md")),
    ("translate", include_str!("../../assets/templates/translate.md")),
    ("changelog", include_str!("../../assets/templates/changelog.md")),
    ("quickstart", include_str!("../../assets/templates/quickstart.md")),
    ("check-links", include_str!("../../assets/templates/check-links.md")),
];

/// The user's templates in the order of their names, then the shipped ones whose names the user has not taken. What
/// can't be read is left out.
pub(super) fn templates(folder: Option<&Path>) -> Vec<Template> {
    let own = folder.map(own_templates).unwrap_or_default();
    let shipped: Vec<_> = SHIPPED.iter().filter(|(name, _)| !own.contains_key(*name)).collect();
    let template = |name: &str, text: &str| Template { name: CleanText::line(name), text: text.trim_end().to_owned() };
    let mut all: Vec<Template> = own.iter().map(|(name, text)| template(name, text)).collect();
    all.extend(shipped.into_iter().map(|(name, text)| template(name, text)));
    all
}

fn own_templates(folder: &Path) -> BTreeMap<String, String> {
    let Ok(entries) = fs::read_dir(folder) else { return BTreeMap::new() };
    let read = |path: PathBuf| {
        let is_small = fs::metadata(&path).is_ok_and(|about| about.is_file() && about.len() <= TEMPLATE_MAX);
        let is_markdown = path.extension().is_some_and(|end| end == "md");
        let name = path.file_stem()?.to_str()?.to_owned();
        let text = (is_markdown && is_small).then(|| fs::read_to_string(&path).ok()).flatten()?;
        (!text.trim().is_empty()).then_some((name, text))
    };
    entries.flatten().take(TEMPLATES).filter_map(|entry| read(entry.path())).collect()
}

/// The prompts of a file; `~/` at its beginning is the home folder.
pub(super) fn prompts(file: &str) -> Result<Vec<String>, Failure> {
    let local = |why: &str| Failure::new(FailureKind::Local, &format!("{file}: {why}"));
    let path = match (file.strip_prefix("~/"), std::env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(file),
    };
    let about = fs::metadata(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => local("there is no such file."),
        _ => local(&format!("it can't be read ({error}).")),
    })?;
    if !about.is_file() {
        return Err(local("it is no file."));
    }
    if about.len() > PROMPTS_MAX {
        return Err(local(&format!("it is larger than {} MiB.", PROMPTS_MAX >> 20)));
    }
    let text = fs::read_to_string(&path).map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => local("it is not UTF-8 text."),
        _ => local(&format!("it can't be read ({error}).")),
    })?;
    batch::parse(Some(file), &text).map_err(|error| local(&error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::templates::{TemplateValues, blank, fill};

    #[test]
    fn every_shipped_template_has_a_title_and_only_the_known_blanks_are_filled() {
        let values = TemplateValues { path: Some("/p".to_owned()), ..TemplateValues::default() };
        for template in templates(None) {
            let title = template.text.lines().next().expect("a first line");
            assert!(!title.trim().is_empty() && title.len() < 80 && !title.starts_with('#'), "{title}");
            assert!(!fill(&template.text, &values).contains("{{path}}"));
        }
        assert_eq!(templates(None).len(), SHIPPED.len());
        assert!(SHIPPED.iter().any(|(_, text)| blank(text).is_some()));
    }

    #[test]
    fn a_template_of_the_users_own_wins_over_a_shipped_one_of_the_same_name() {
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("translate.md"), "Mine {{path}}\n").expect("written");
        fs::write(folder.path().join("b.md"), "Another").expect("written");
        fs::write(folder.path().join("notes.txt"), "not one").expect("written");
        fs::write(folder.path().join("empty.md"), "\n").expect("written");
        let all = templates(Some(folder.path()));
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
        assert_eq!(templates(Some(&folder.path().join("none"))).len(), SHIPPED.len());
    }

    #[test]
    fn a_file_of_prompts_is_read_or_the_reason_names_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("p.txt");
        fs::write(&path, "one\n\ntwo\nlines\n").expect("written");
        assert_eq!(prompts(&path.display().to_string()), Ok(vec!["one".to_owned(), "two\nlines".to_owned()]));
        fs::write(&path, b"\xff\xfe").expect("written");
        for bad in [path, folder.path().to_path_buf(), folder.path().join("none")] {
            let failure = prompts(&bad.display().to_string()).expect_err("not prompts");
            assert!(failure.sentence.as_str().starts_with(&bad.display().to_string()), "{failure:?}");
        }
    }
}
