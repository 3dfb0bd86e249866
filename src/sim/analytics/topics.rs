//! Derives the topic of a page from its path: `/guides/preview-deployments/python` is a guide about preview deployments
//! with examples in Python.

use crate::model::text::sentence_case;
use crate::sim::rng::mix;

/// The languages of examples, as they occur in paths and in sentences.
const PROGRAMMING_LANGUAGES: [(&str, &str); 8] = [
    ("python", "Python"),
    ("typescript", "TypeScript"),
    ("go", "Go"),
    ("ruby", "Ruby"),
    ("java", "Java"),
    ("rust", "Rust"),
    ("php", "PHP"),
    ("csharp", "C#"),
];
/// Words as they are spelled in paths, and as they are spelled in sentences.
const SPELLINGS: [(&str, &str); 13] = [
    ("sso", "SSO"),
    ("scim", "SCIM"),
    ("seo", "SEO"),
    ("mcp", "MCP"),
    ("cli", "CLI"),
    ("api", "API"),
    ("faq", "FAQ"),
    ("openapi", "OpenAPI"),
    ("github", "GitHub"),
    ("gitlab", "GitLab"),
    ("hubspot", "HubSpot"),
    ("posthog", "PostHog"),
    ("pagerduty", "PagerDuty"),
];
/// The first segments of the paths of translations and of old versions.
const VERSION_AND_LANGUAGE_SEGMENTS: [&str; 13] =
    ["v2", "v1", "de", "es", "fr", "ja", "ko", "pt-BR", "zh", "it", "nl", "pl", "tr"];
/// A path segment that is longer than this is a sentence, not the name of something.
const MAX_TOPIC_NAME_BYTES: usize = 40;

/// The section of the simulated site to which a page belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SiteSection {
    Api,
    Sdk,
    Integration,
    Guide,
    /// Any other page, such as the introduction or the prices.
    Other,
}

/// What a page is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SiteTopic {
    pub(super) section: SiteSection,
    /// The name in a sentence: `preview deployments`, `SSO`.
    pub(super) name: String,
    /// The name as it occurs in the path, with spaces instead of hyphens.
    words: String,
    /// The language of the examples, as it occurs in paths and in sentences.
    pub(super) example_language: Option<(&'static str, &'static str)>,
}

impl SiteTopic {
    /// Reads the topic from the path of a page.
    pub(super) fn from_path(path: &str) -> Self {
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let segments = match segments.split_first() {
            Some((first, rest)) if VERSION_AND_LANGUAGE_SEGMENTS.contains(first) && !rest.is_empty() => rest,
            _ => segments.as_slice(),
        };
        let section = match segments.first() {
            Some(&"api") => SiteSection::Api,
            Some(&"sdks") => SiteSection::Sdk,
            Some(&"integrations") => SiteSection::Integration,
            Some(&("guides" | "concepts")) => SiteSection::Guide,
            _ => SiteSection::Other,
        };
        let language_of = |segment: &&str| PROGRAMMING_LANGUAGES.into_iter().find(|(word, _)| word == segment);
        let language = segments.iter().find_map(language_of);
        let is_name = |segment: &&&str| {
            segment.len() <= MAX_TOPIC_NAME_BYTES
                && language_of(segment).is_none()
                && !is_common_integration_page(segment, section)
        };
        // Except in the section `Other`, the first segment is only the name of the section.
        let named = match section {
            SiteSection::Other => segments.get(..1),
            _ => segments.get(1..).filter(|rest| !rest.is_empty()),
        };
        let named = named.unwrap_or(segments);
        let last = named.iter().rev().find(is_name).or(named.last()).copied().unwrap_or("home page");
        let words = last.replace('-', " ");
        let spelled: Vec<&str> = words.split(' ').map(spelling).collect();
        let mut name = spelled.join(" ");
        match section {
            SiteSection::Integration => name = sentence_case(&name),
            SiteSection::Api => name = last.to_owned(),
            _ => {}
        }
        Self { section, name, words, example_language: language }
    }

    /// Returns what readers type to find the page, most frequent first. All words of the first text occur in the path.
    pub(super) fn search_texts(&self, seed: u64) -> Vec<String> {
        let words = self.words.to_lowercase();
        let first = match self.example_language {
            Some((language, _)) if self.section == SiteSection::Guide => format!("{words} {language}"),
            Some((language, _)) if self.words != language => format!("{language} {words}"),
            _ => words.clone(),
        };
        let second = match (self.section, mix(seed) % 4) {
            (SiteSection::Api, 0 | 1) => format!("{words} example"),
            (SiteSection::Api, _) => format!("{words} error 400"),
            (SiteSection::Integration, 0 | 1) => format!("connect {words}"),
            (SiteSection::Guide, 0) => format!("how to set up {words}"),
            (SiteSection::Guide, 1) => format!("{words} not working"),
            (_, _) => return vec![first],
        };
        vec![first, second]
    }

    /// Fills in the placeholders of a text: `{topic}`, `{Topic}` at the start of a sentence, and `{language}`.
    pub(super) fn fill_placeholders(&self, text: &str) -> String {
        let language = self.example_language.map_or("Python", |(_, name)| name);
        let filled = text.replace("{topic}", &self.name).replace("{Topic}", &sentence_case(&self.name));
        filled.replace("{language}", language)
    }
}

/// Whether the segment is the name of a page that every integration has.
fn is_common_integration_page(segment: &str, section: SiteSection) -> bool {
    section == SiteSection::Integration && matches!(segment, "setup" | "permissions" | "troubleshooting")
}

fn spelling(word: &str) -> &str {
    SPELLINGS
        .iter()
        .chain(&PROGRAMMING_LANGUAGES)
        .find(|(known, _)| *known == word)
        .map_or(word, |(_, spelled)| spelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_topic_is_read_from_the_path() {
        for (path, name, language) in [
            ("/guides/preview-deployments", "preview deployments", None),
            ("/guides/preview-deployments/python", "preview deployments", Some("Python")),
            ("/de/guides/sso", "SSO", None),
            ("/sdks/typescript", "TypeScript", Some("TypeScript")),
            ("/sdks/csharp/api-key", "API key", Some("C#")),
            ("/integrations/hubspot/setup", "HubSpot", None),
            ("/integrations/slack", "Slack", None),
            ("/ja/クイックスタート", "クイックスタート", None),
            ("/api/create-job", "create-job", None),
            ("/changelog/2025-10", "changelog", None),
            ("/llms.txt", "llms.txt", None),
            ("/", "home page", None),
        ] {
            let topic = SiteTopic::from_path(path);
            assert_eq!((topic.name.as_str(), topic.example_language.map(|(_, name)| name)), (name, language), "{path}");
        }
        let long = "/guides/monorepo/how-to-keep-several-documentation-sites-in-one-repository-without-losing-previews";
        assert_eq!(SiteTopic::from_path(long).name, "monorepo");
    }

    #[test]
    fn the_words_of_the_first_search_occur_in_the_path() {
        for path in ["/guides/audit-log/go", "/sdks/rust", "/sdks/rust/api-key", "/integrations/jira/setup", "/faq"] {
            let search = SiteTopic::from_path(path).search_texts(7).remove(0);
            assert!(search.split(' ').all(|word| path.contains(word)), "{path}: {search}");
        }
    }

    #[test]
    fn placeholders_are_filled_in() {
        let topic = SiteTopic::from_path("/guides/custom-domains");
        assert_eq!(
            topic.fill_placeholders("{Topic} in {language}: {topic}"),
            "Custom domains in Python: custom domains"
        );
    }
}
