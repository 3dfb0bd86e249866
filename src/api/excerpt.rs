//! Shortens an error response or an unreadable response to a few clean words: the service's own message, the title of a
//! proxy's page, or the beginning of the body.

use super::decode;
use crate::model::endpoint::ApiKey;
use crate::model::redaction::Redactor;
use crate::model::text::CleanText;

/// The maximum number of characters of a message of the service.
const MAX_MESSAGE_CHARS: usize = 300;
/// The maximum number of characters of an excerpt of a body without a message.
const MAX_EXCERPT_CHARS: usize = 120;
/// How many bytes at the start of a body are searched for the excerpt; the rest is ignored.
const MAX_EXCERPT_SOURCE_BYTES: usize = 64 * 1024;

/// The text of an error response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ErrorText {
    /// The text, empty if the response was empty.
    pub(super) text: CleanText,
    /// Whether the response was an HTML page, which hardly ever comes from the service itself.
    pub(super) is_html_page: bool,
}

/// Returns the text of an error response, with the key redacted.
pub(super) fn error_text(body: &[u8], key: &ApiKey) -> ErrorText {
    if let Some(message) = decode::error_message(body) {
        return ErrorText { text: clean_excerpt(&message, MAX_MESSAGE_CHARS, key), is_html_page: false };
    }
    ErrorText { text: excerpt(body, key), is_html_page: is_html_page(body) }
}

/// Returns the first words of a body. For an HTML page, these are the first words of its title or text.
pub(super) fn excerpt(body: &[u8], key: &ApiKey) -> CleanText {
    let head = body.get(..MAX_EXCERPT_SOURCE_BYTES).unwrap_or(body);
    let text = String::from_utf8_lossy(head);
    if is_html_page(body) {
        clean_excerpt(&html_page_text(&text), MAX_EXCERPT_CHARS, key)
    } else {
        clean_excerpt(&text, MAX_EXCERPT_CHARS, key)
    }
}

/// Whether a body begins with `<`, as HTML and XML do. JSON never does.
pub(super) fn is_html_page(body: &[u8]) -> bool {
    body.trim_ascii_start().strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii_start().first() == Some(&b'<')
}

/// Cleans and cuts a text to one line of at most `max` characters. The key is redacted before the text is cut, so that
/// no part of the key remains.
fn clean_excerpt(text: &str, max: usize, key: &ApiKey) -> CleanText {
    let line = CleanText::line(text);
    let spaced = line.as_str().split_whitespace().collect::<Vec<_>>().join(" ");
    CleanText::title(&Redactor::new(key).redacted(&spaced), max)
}

/// Returns the title of an HTML page, or the text of its body if it has no title.
fn html_page_text(page: &str) -> String {
    let title = element_content(page, "title").map(strip_tags).filter(|title| !title.trim().is_empty());
    title.unwrap_or_else(|| strip_tags(element_content(page, "body").unwrap_or(page)))
}

/// Returns the content of the first element with this name, up to its closing tag or the end of the page. Returns
/// `None` if there is no such element.
fn element_content<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    // Lower-casing ASCII letters keeps every byte position.
    let lower = page.to_ascii_lowercase();
    let open = lower.find(&format!("<{name}"))?;
    let start = open + lower.get(open..)?.find('>')? + 1;
    let end = lower.get(start..)?.find(&format!("</{name}")).map_or(page.len(), |length| start + length);
    page.get(start..end)
}

/// Returns the text without tags, comments, scripts and styles, with common entities decoded.
fn strip_tags(page: &str) -> String {
    let mut text = String::new();
    let mut rest = page;
    while let Some((before, tag)) = rest.split_once('<') {
        text.push_str(before);
        text.push(' ');
        rest = text_after_tag(tag);
    }
    text.push_str(rest);
    let entities = [("&nbsp;", " "), ("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    entities.iter().fold(text, |text, (entity, plain)| text.replace(entity, plain))
}

/// Returns the text that follows a tag whose `<` has been read. For a comment, a script or a style, this is the text
/// after its end.
fn text_after_tag(tag: &str) -> &str {
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
    fn other_error_formats_are_read() {
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
        assert_eq!(long.chars().count(), MAX_EXCERPT_CHARS);
        assert!(long.ends_with('…'));
        assert_eq!(text_of("a\u{1b}[2Jb\u{202e}c"), "abc");
    }

    #[test]
    fn a_repeated_key_is_redacted_even_at_the_cut() {
        assert_eq!(text_of(r#"{"error":"unknown key mint_secret"}"#), "unknown key ***");
        assert_eq!(text_of("bad mint_\u{200b}secret"), "bad ***");
        let at_the_cut = format!("{}mint_secret", "x".repeat(MAX_EXCERPT_CHARS - 6));
        assert!(!text_of(&at_the_cut).contains("mint"));
    }
}
