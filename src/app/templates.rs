//! Templates: texts to start a prompt from, with blanks like `{{path}}` that are filled in where their value is known.
//! Where the texts come from is the runtime's business.

use std::ops::Range;

/// Longest name of a blank, in bytes.
const NAME_MAX: usize = 40;

/// What the blanks stand for; none where it isn't known at this moment.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TemplateValues {
    /// A page's path, or those of several as in a sentence.
    pub path: Option<String>,
    /// The pages with their views, a line each.
    pub pages: Option<String>,
    /// Views by people, with thousands apart; of several pages together.
    pub human: Option<String>,
    /// Views by AI.
    pub ai: Option<String>,
    /// All views.
    pub total: Option<String>,
    /// Share of AI in them, like `32%`.
    pub share: Option<String>,
    /// Change against the range that is compared with.
    pub change: Option<String>,
    /// First day of the range, UTC.
    pub from: Option<String>,
    /// Last day of the range, UTC.
    pub to: Option<String>,
    /// A job, by its title and id.
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
            "change" => &self.change,
            "from" => &self.from,
            "to" => &self.to,
            "job" => &self.job,
            _ => &None,
        };
        value.as_deref()
    }
}

/// The text with all blanks filled in whose value is known; the others stay. What a value holds is not filled again.
pub fn fill(text: &str, values: &TemplateValues) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, blank, after)) = parts(rest) {
        out.push_str(before);
        out.push_str(values.get(name(blank)).unwrap_or(blank));
        rest = after;
    }
    out.push_str(rest);
    out
}

/// Where the first blank stands, in bytes: `{{` and `}}` around a name in lower case.
pub fn blank(text: &str) -> Option<Range<usize>> {
    let (before, blank, _) = parts(text)?;
    Some(before.len()..before.len() + blank.len())
}

/// The text before the first blank, the blank with its braces, the text after it.
fn parts(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let open = from + text.get(from..)?.find("{{")?;
        let inside = text.get(open + 2..)?;
        let of_name = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-');
        let length = inside.bytes().take(NAME_MAX + 1).take_while(of_name).count();
        if (1..=NAME_MAX).contains(&length) && inside.get(length..)?.starts_with("}}") {
            let end = open + length + 4;
            return Some((text.get(..open)?, text.get(open..end)?, text.get(end..)?));
        }
        from = open + 1;
    }
}

fn name(blank: &str) -> &str {
    blank.trim_start_matches('{').trim_end_matches('}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn values() -> TemplateValues {
        TemplateValues { path: Some("/a".to_owned()), human: Some("9,120".to_owned()), ..TemplateValues::default() }
    }

    #[test]
    fn known_blanks_are_filled_and_the_others_stay() {
        let text = "Fix {{path}} ({{human}} people, {{ai}} AI): {{problem}} on {{path}}";
        assert_eq!(fill(text, &values()), "Fix /a (9,120 people, {{ai}} AI): {{problem}} on /a");
    }

    #[test]
    fn what_only_looks_like_a_blank_is_left_alone() {
        for text in ["{{}}", "{{ path }}", "{{Path}}", "{path}", "{{path}", "{{{", "a {{ {{b c}} }}", "日{{語}}"] {
            assert_eq!(fill(text, &values()), text);
            assert_eq!(blank(text), None, "{text}");
        }
        assert_eq!(fill("{{{path}}}", &values()), "{/a}");
    }

    #[test]
    fn a_value_with_a_blank_in_it_is_not_filled_again() {
        let values =
            TemplateValues { path: Some("{{job}}".to_owned()), job: Some("x".to_owned()), ..TemplateValues::default() };
        assert_eq!(fill("{{path}} {{job}}", &values), "{{job}} x");
    }

    proptest! {
        #[test]
        fn filling_with_nothing_known_changes_nothing(text in "[{}a-z日 ]{0,60}") {
            prop_assert_eq!(fill(&text, &TemplateValues::default()), text);
        }
    }
}
