//! Shortens an unusable answer to a few clean words: the service's own message, the title of a proxy's page, or the
//! beginning of the body.

use super::decode;
use crate::model::endpoint::ApiKey;
use crate::model::redaction::Redactor;
use crate::model::text::CleanText;

/// The longest message of the service that is shown, in characters.
const MAX_MESSAGE: usize = 300;
/// The longest excerpt of anything else, in characters.
const MAX_EXCERPT: usize = 120;
/// How much of a page is searched for its first words, in bytes.
const MAX_SEARCHED: usize = 64 * 1024;

/// The text of an error answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ErrorText {
    /// Empty if the answer was empty.
    pub(super) text: CleanText,
    /// Whether it was an HTML page, which hardly ever comes from the service itself.
    pub(super) is_page: bool,
}

/// The text of an error answer, with the key redacted.
pub(super) fn error_text(body: &[u8], key: &ApiKey) -> ErrorText {
    if let Some(message) = decode::error_message(body) {
        return ErrorText { text: clean_excerpt(&message, MAX_MESSAGE, key), is_page: false };
    }
    ErrorText { text: excerpt(body, key), is_page: is_page(body) }
}

/// The first words of any body.
pub(super) fn excerpt(body: &[u8], key: &ApiKey) -> CleanText {
    let head = body.get(..MAX_SEARCHED).unwrap_or(body);
    let text = String::from_utf8_lossy(head);
    if is_page(body) {
        clean_excerpt(&page_text(&text), MAX_EXCERPT, key)
    } else {
        clean_excerpt(&text, MAX_EXCERPT, key)
    }
}

/// Whether a body is HTML or XML.
pub(super) fn is_page(body: &[u8]) -> bool {
    body.trim_ascii_start().strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start().first() == Some(&b'<')
}

/// One line of at most `max` characters. The key is redacted before the cut, so that no part of it remains.
fn clean_excerpt(text: &str, max: usize, key: &ApiKey) -> CleanText {
    let line = CleanText::line(text);
    let spaced = line.as_str().split_whitespace().collect::<Vec<_>>().join(" ");
    CleanText::title(&Redactor::new(key).redacted(&spaced), max)
}

/// The title of a page, otherwise its first text.
fn page_text(page: &str) -> String {
    let title = element(page, "title").map(untagged).filter(|title| !title.trim().is_empty());
    title.unwrap_or_else(|| untagged(element(page, "body").unwrap_or(page)))
}

/// The content of the first element of that name, up to its closing tag or the end.
fn element<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    // ASCII lower-casing does not move any byte.
    let lower = page.to_ascii_lowercase();
    let open = lower.find(&format!("<{name}"))?;
    let start = open + lower.get(open..)?.find('>')? + 1;
    let end = lower.get(start..)?.find(&format!("</{name}")).map_or(page.len(), |length| start + length);
    page.get(start..end)
}

/// The text without tags, comments, scripts and styles, with common entities decoded.
fn untagged(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        rest = after_tag(tag);
    }
    text.push_str(rest);
    let entities = [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    entities.iter().fold(text, |text, (entity, plain)| text.replace(entity, plain))
}

/// The rest after a tag whose `<` has been read; for a comment, a script or a style, the rest after its end.
fn after_tag(tag: &str) -> &str {
    let head: String = tag.chars().take(6).collect::<String>().to_ascii_lowercase();
    let end = if head.starts_with("!--") {
        "-->"
    } else if head.starts_with("script") {
        "</script>"
    } else if head.starts_with("style") {
        "</style>"
    } else {
        ">"
    };
    tag.split_once(end).map_or("", |(_, after)| after)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(body: &str) -> String {
        let key = ApiKey::new("mint_secret").expect("a key");
        error_text(body.as_bytes(), &key).text.to_string()
    }

    #[test]
    fn the_services_message_and_its_details_are_read() {
        assert_eq!(text_of(r#"{"error":"Invalid range"}"#), "Invalid range");
        let details = r#"{"error":"Invalid range","details":[{"message":"dateFrom is late"},{"code":3},"limit"]}"#;
        assert_eq!(text_of(details), "Invalid range: dateFrom is late; limit");
        assert_eq!(text_of(r#"{"details":[{"message":"dateFrom is late"}]}"#), "dateFrom is late");
    }

    #[test]
    fn other_error_formats_are_read_too() {
        assert_eq!(text_of(r#"{"error":{"code":7,"message":"nope"}}"#), "nope");
        assert_eq!(text_of(r#"{"message":"nope"}"#), "nope");
        assert_eq!(text_of(r#""just a string""#), "just a string");
        assert_eq!(text_of("upstream\r\n connect   error"), "upstream connect error");
        assert_eq!(text_of(r#"{"code":7}"#), r#"{"code":7}"#);
        assert_eq!(text_of(""), "");
    }

    #[test]
    fn a_page_shows_its_title_or_its_first_words() {
        let page = "<!DOCTYPE html><html><head><title>502 Bad\n Gateway</title></head><body><h1>Oh</h1></body></html>";
        assert_eq!(text_of(page), "502 Bad Gateway");
        let bare = "<html><head><style>h1 { a: b }</style><script>if (1 < 2) {}</script></head>\
                    <body><!-- <p>x --><h1>Sorry &amp; bye</h1></body></html>";
        assert_eq!(text_of(bare), "Sorry & bye");
        assert_eq!(text_of("<"), "");
    }

    #[test]
    fn a_long_text_is_cut_and_a_hostile_one_is_cleaned() {
        let long = text_of(&"word ".repeat(10_000));
        assert_eq!(long.chars().count(), MAX_EXCERPT);
        assert!(long.ends_with('…'));
        assert_eq!(text_of("a\u{1b}[2Jb\u{202e}c"), "abc");
    }

    #[test]
    fn a_repeated_key_is_redacted_even_at_the_cut() {
        assert_eq!(text_of(r#"{"error":"unknown key mint_secret"}"#), "unknown key ***");
        assert_eq!(text_of("bad mint_\u{200b}secret"), "bad ***");
        let at_the_cut = format!("{}mint_secret", "x".repeat(MAX_EXCERPT - 6));
        assert!(!text_of(&at_the_cut).contains("mint"));
    }
}
