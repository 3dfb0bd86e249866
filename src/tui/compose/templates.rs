//! Fills in prompt templates. Blanks such as `{{path}}` are replaced if their value is known. The runtime loads the
//! templates.

use super::blanks::split_at_template_blank;
use super::editor::Editor;
use crate::model::Time;
use crate::model::job::Job;
use crate::model::prompt::DraftTarget;
use crate::tui::{App, Screen};

/// The values of blanks. A value is `None` if it is unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemplateValues {
    /// The path of a page, or the paths of several pages as part of a sentence.
    pub path: Option<String>,
    /// The pages with their views, one per line.
    pub pages: Option<String>,
    /// The number of views by people, with thousands separators. For several pages, the sum.
    pub human: Option<String>,
    pub ai: Option<String>,
    pub total: Option<String>,
    /// The share of AI views, such as `32%`.
    pub share: Option<String>,
    /// The change of the views since the compared range.
    pub views_change: Option<String>,
    /// The first day of the range, in UTC.
    pub from: Option<String>,
    /// The last day of the range, in UTC.
    pub to: Option<String>,
    /// The title and id of a job.
    pub job: Option<String>,
}

impl TemplateValues {
    fn get(&self, name: &str) -> Option<&str> {
        let value = match name {
            "path" => &self.path,
            "pages" => &self.pages,
            "human" => &self.human,
            "ai" => &self.ai,
            "total" => &self.total,
            "share" => &self.share,
            "change" => &self.views_change,
            "from" => &self.from,
            "to" => &self.to,
            "job" => &self.job,
            _ => &None,
        };
        value.as_deref()
    }
}

/// Returns the text, in which each blank whose value is known is filled in. Other blanks stay as they are, and blanks
/// within values are not filled in.
pub fn fill_template(text: &str, values: &TemplateValues) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, blank, after)) = split_at_template_blank(rest) {
        out.push_str(before);
        out.push_str(values.get(name_in_template_blank(blank)).unwrap_or(blank));
        rest = after;
    }
    out.push_str(rest);
    out
}

fn name_in_template_blank(blank: &str) -> &str {
    blank.trim_start_matches('{').trim_end_matches('}')
}

impl App {
    /// Returns the values for template blanks. Most values describe the pages of a new job. The value of `job`
    /// describes the job of a follow-up or, on the jobs screen, the selected job.
    pub(super) fn template_values(&self, now: Time) -> TemplateValues {
        let editor = self.find::<Editor>();
        let pages = editor.map(|editor| editor.pages.as_slice()).unwrap_or_default();
        let mut values =
            if pages.is_empty() { TemplateValues::default() } else { self.page_template_values(pages, now) };
        let named = |row: &Job| match &row.id {
            Some(id) => format!("\"{}\" ({})", row.local.title, id.to_clean_text()),
            None => format!("\"{}\"", row.local.title),
        };
        let job = match editor.map(|editor| editor.draft_target) {
            Some(DraftTarget::FollowUp(job)) => self.jobs.get(job),
            _ if self.screen == Screen::Jobs => self.jobs.selected(),
            _ => None,
        };
        values.job = job.map(named);
        values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values() -> TemplateValues {
        TemplateValues { path: Some("/a".to_owned()), human: Some("9,120".to_owned()), ..TemplateValues::default() }
    }

    #[test]
    fn blanks_with_a_known_value_are_filled_in_and_other_blanks_stay() {
        let text = "Fix {{path}} ({{human}} views by people, {{ai}} by AI): {{problem}} on {{path}}";
        assert_eq!(fill_template(text, &values()), "Fix /a (9,120 views by people, {{ai}} by AI): {{problem}} on /a");
    }

    #[test]
    fn text_that_only_resembles_a_blank_is_not_changed() {
        for text in ["{{}}", "{{ path }}", "{{Path}}", "{path}", "{{path}", "{{{", "a {{ {{b c}} }}", "日{{語}}"] {
            assert_eq!(fill_template(text, &values()), text);
            assert_eq!(super::super::blanks::find_template_blank(text), None, "{text}");
        }
        assert_eq!(fill_template("{{{path}}}", &values()), "{/a}");
    }

    #[test]
    fn a_blank_in_a_value_is_not_filled_in() {
        let values =
            TemplateValues { path: Some("{{job}}".to_owned()), job: Some("x".to_owned()), ..TemplateValues::default() };
        assert_eq!(fill_template("{{path}} {{job}}", &values), "{{job}} x");
    }

    proptest! {
        #[test]
        fn without_values_the_text_is_unchanged(text in "[{}a-z日 ]{0,60}") {
            prop_assert_eq!(fill_template(&text, &TemplateValues::default()), text);
        }
    }
}
