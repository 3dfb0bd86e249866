//! Web links, displayed and opened with the host that a browser would connect to.
//!
//! A host can be spelled so that it looks like another host: with letters of another script, with escapes, as a number,
//! or with another host name before an `@`. Links are therefore displayed and opened in the form that a browser
//! resolves them to: ASCII, with other letters in the host as punycode.

use super::text::CleanText;
use url::Url;

/// An `https` or `http` URL with a host and without a user name, in printable ASCII.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebLink(Url);

impl WebLink {
    /// Parses a link. Returns `None` for any other text, in particular for other schemes, control characters, and user
    /// names, which can make one host look like another.
    pub fn parse(text: &str) -> Option<Self> {
        let host = ["https://", "http://"].iter().find_map(|scheme| {
            let (head, rest) = text.split_at_checked(scheme.len())?;
            head.eq_ignore_ascii_case(scheme).then_some(rest)
        })?;
        let begins_well = host.starts_with(|c: char| c.is_alphanumeric() || c == '[');
        if !begins_well || text.chars().any(|c| c.is_control() || c.is_whitespace() && c != ' ') {
            return None;
        }
        let url = Url::parse(text).ok()?;
        let is_plain =
            matches!(url.scheme(), "https" | "http") && url.username().is_empty() && url.password().is_none();
        (is_plain && url.has_host() && url.as_str().bytes().all(|byte| byte.is_ascii_graphic())).then_some(Self(url))
    }

    /// Returns the full URL, for a browser.
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    /// Returns the full URL, for display.
    pub fn to_clean_text(&self) -> CleanText {
        CleanText::line(self.as_str())
    }

    /// Returns the URL for display, without `https://`.
    pub fn without_https(&self) -> &str {
        self.as_str().strip_prefix("https://").unwrap_or(self.as_str())
    }
}

/// Returns the full URL for display, or the text as received if it is not a web link.
pub fn display_url(link: &CleanText) -> CleanText {
    WebLink::parse(link.as_str()).map_or_else(|| link.clone(), |web| web.to_clean_text())
}

/// Returns the URL without `https://` for display, or the text as received if it is not a web link.
pub fn short_display_url(link: &CleanText) -> String {
    WebLink::parse(link.as_str()).map_or_else(|| link.to_string(), |web| web.without_https().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(text: &str) -> Option<String> {
        WebLink::parse(text).map(|link| link.as_str().to_owned())
    }

    #[test]
    fn a_plain_link_stays_as_it_is() {
        let link = "https://github.com/acme/docs/pull/1423?a=1&b=2#top";
        assert_eq!(read(link).as_deref(), Some(link));
        assert_eq!(WebLink::parse(link).expect("a link").without_https(), "github.com/acme/docs/pull/1423?a=1&b=2#top");
    }

    #[test]
    fn the_host_is_shown_as_a_browser_resolves_it() {
        let cases = [
            // The first letter is Cyrillic.
            ("https://\u{440}aypal.com/x", "https://xn--aypal-uye.com/x"),
            ("https://b\u{fc}cher.example/", "https://xn--bcher-kva.example/"),
            ("https://GitHub.COM/acme", "https://github.com/acme"),
            ("https://0x7f.1/x", "https://127.0.0.1/x"),
            ("https://evil.example\\@github.com/", "https://evil.example/@github.com/"),
            // Browsers treat a full-width stop in a host name like a dot.
            ("https://github.com\u{ff0e}evil.example/", "https://github.com.evil.example/"),
            // `CleanText` replaces a line break with a space, and a browser encodes the space.
            ("https://b\u{fc}cher.example/a b", "https://xn--bcher-kva.example/a%20b"),
            ("https://example.com/日本", "https://example.com/%E6%97%A5%E6%9C%AC"),
        ];
        for (raw, real) in cases {
            assert_eq!(read(raw).as_deref(), Some(real), "{raw}");
        }
    }

    #[test]
    fn other_schemes_and_hidden_hosts_are_rejected() {
        let bad = [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "data:text/html,x",
            "ssh://host",
            "--help",
            "",
            "https://",
            "https:///path",
            "https:github.com",
            "httpsx://a",
            "https://a b",
            "https://a/\nb",
            "https://a/\x1b[2J",
            "https://github.com@evil.example/",
            "https://user:pw@evil.example/",
            "https://a/\u{9c}b",
            "//github.com",
            "https://a\u{2028}b/",
            "https://%67ithub.com/",
        ];
        for text in bad {
            assert_eq!(read(text), None, "{text:?}");
        }
    }

    #[test]
    fn text_that_is_not_a_link_is_shown_unchanged() {
        let text = CleanText::line("https://github.com@evil.example/");
        assert_eq!(display_url(&text), text);
        assert_eq!(short_display_url(&text), "https://github.com@evil.example/");
    }

    proptest! {
        #[test]
        fn every_link_is_printable_ascii_with_a_web_scheme(
            text in "(https?|HTTPS|ftp|)(://|:/|:)\\PC{0,40}|\\PC*"
        ) {
            if let Some(link) = WebLink::parse(&text) {
                prop_assert!(link.as_str().bytes().all(|byte| byte.is_ascii_graphic()));
                prop_assert!(link.as_str().starts_with("https://") || link.as_str().starts_with("http://"));
                // Parsing the link again changes nothing, so the link that is displayed is also the link that is
                // opened.
                prop_assert_eq!(read(link.as_str()), Some(link.as_str().to_owned()));
            }
        }
    }
}
