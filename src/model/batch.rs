//! Reads many prompts from one file: text separated by blank lines, CSV with a `prompt` column, or JSON Lines. Prompts
//! are returned in the order of the file. An error about one line contains the line number.

use super::text::CleanText;
use serde_json::Value;

/// The CSV column and the JSON field that contain the prompt.
const PROMPT_FIELD: &str = "prompt";

/// Why a file can't be read as a list of prompts. Line numbers start at 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    #[error("No prompts found. Separate prompts with blank lines, or use CSV or JSON Lines.")]
    Empty,
    #[error("The prompt in line {line} is blank. Write a prompt, or remove the line.")]
    Blank { line: u64 },
    #[error("The first line has no `prompt` column. Name the column with the prompts `prompt`.")]
    NoColumn,
    /// A CSV row has more or fewer columns than the header.
    #[error(
        "Line {line} has {found} columns, but the first line has {expected}. Put texts that contain a comma or a line \
         break in double quotes."
    )]
    Columns { line: u64, found: u64, expected: u64 },
    #[error("Line {line} is neither a JSON object with a text `prompt` nor a JSON string. Write one of them per line.")]
    Json { line: u64 },
    #[error(
        "The text in line {line} begins with a double quote that is not closed. Close it, and write each double quote \
         within the text twice."
    )]
    Quote { line: u64 },
    /// Any other error of the CSV parser.
    #[error("The CSV can't be read. Check its quotes.")]
    Csv,
}

/// Reads all prompts of a file, in order. The extension of the file name `name` decides the format. Without a known
/// extension, the content decides.
///
/// # Errors
/// Fails if the file has no prompts or contains a mistake, even if it also has valid prompts.
pub fn parse_prompts(name: Option<&str>, text: &str) -> Result<Vec<String>, BatchError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(BatchError::Empty);
    }
    let prompts = match detect_format(name, text) {
        BatchFormat::Text => read_text_blocks(text),
        BatchFormat::Csv => read_prompt_column(text)?,
        BatchFormat::JsonLines => read_json_lines(text)?,
    };
    if let Some((line, _)) = prompts.iter().find(|(_, prompt)| is_blank_prompt(prompt)) {
        return Err(BatchError::Blank { line: *line });
    }
    if prompts.is_empty() {
        return Err(BatchError::Empty);
    }
    Ok(prompts.into_iter().map(|(_, prompt)| prompt).collect())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BatchFormat {
    Text,
    Csv,
    JsonLines,
}

fn detect_format(name: Option<&str>, text: &str) -> BatchFormat {
    let ending = name.and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending.to_ascii_lowercase());
    match ending.as_deref() {
        Some("csv" | "tsv") => return BatchFormat::Csv,
        Some("jsonl" | "ndjson" | "json") => return BatchFormat::JsonLines,
        Some("txt" | "md" | "markdown") => return BatchFormat::Text,
        _ => {}
    }
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    if prompt_from_json(first).is_some() {
        BatchFormat::JsonLines
    } else if find_delimiter(text).is_some() {
        BatchFormat::Csv
    } else {
        BatchFormat::Text
    }
}

/// Whether the prompt has no visible character.
fn is_blank_prompt(prompt: &str) -> bool {
    CleanText::block(prompt).as_str().trim().is_empty()
}

/// Each prompt of a file, with the number of the line on which it starts.
type NumberedPrompts = Vec<(u64, String)>;

fn numbered_lines(text: &str) -> impl Iterator<Item = (u64, &str)> {
    // A CR without an LF also ends a line.
    (1..).zip(text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r')))
}

fn read_text_blocks(text: &str) -> NumberedPrompts {
    let mut prompts: NumberedPrompts = Vec::new();
    let mut open = false;
    for (number, line) in numbered_lines(text) {
        if line.trim().is_empty() {
            open = false;
            continue;
        }
        match prompts.last_mut().filter(|_| open) {
            Some((_, prompt)) => {
                prompt.push('\n');
                prompt.push_str(line);
            }
            None => prompts.push((number, line.to_owned())),
        }
        open = true;
    }
    prompts
}

fn read_json_lines(text: &str) -> Result<NumberedPrompts, BatchError> {
    let lines = numbered_lines(text).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(line, json)| Ok((line, prompt_from_json(json).ok_or(BatchError::Json { line })?))).collect()
}

/// Returns the prompt in a line that is a JSON string or a JSON object whose field `prompt` is a string. Returns `None`
/// for any other line.
fn prompt_from_json(line: &str) -> Option<String> {
    match serde_json::from_str(line.trim()).ok()? {
        Value::String(prompt) => Some(prompt),
        Value::Object(mut fields) => match fields.remove(PROMPT_FIELD)? {
            Value::String(prompt) => Some(prompt),
            _ => None,
        },
        _ => None,
    }
}

fn csv_reader(text: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes())
}

/// Returns the index of the prompt column, or `None` if the header has no such column.
fn prompt_column_index(reader: &mut csv::Reader<&[u8]>) -> Option<usize> {
    reader.headers().ok()?.iter().position(|name| name.trim().eq_ignore_ascii_case(PROMPT_FIELD))
}

/// Returns the delimiter that yields a `prompt` column in the header: a comma, or the semicolon or tab that some
/// spreadsheets write instead. Returns `None` if there is no such column.
fn find_delimiter(text: &str) -> Option<u8> {
    [b',', b';', b'\t'].into_iter().find(|delimiter| prompt_column_index(&mut csv_reader(text, *delimiter)).is_some())
}

fn read_prompt_column(text: &str) -> Result<NumberedPrompts, BatchError> {
    let delimiter = find_delimiter(text).ok_or(BatchError::NoColumn)?;
    if let Some(line) = find_unclosed_quote(text, delimiter) {
        return Err(BatchError::Quote { line });
    }
    let mut reader = csv_reader(text, delimiter);
    let index = prompt_column_index(&mut reader).ok_or(BatchError::NoColumn)?;
    let mut prompts = Vec::new();
    for record in reader.records() {
        let record = record.map_err(csv_error)?;
        let line = record.position().map_or(1, csv::Position::line);
        prompts.push((line, record.get(index).unwrap_or_default().replace("\r\n", "\n")));
    }
    Ok(prompts)
}

/// Returns the line of the first quote that begins a field but doesn't end it. The CSV parser accepts such a field and
/// adds later lines to it, up to the next quote or the end of the file.
fn find_unclosed_quote(text: &str, delimiter: u8) -> Option<u64> {
    let delimiter = char::from(delimiter);
    let mut line = 1;
    // The line on which the current quoted field begins.
    let mut opened: Option<u64> = None;
    let mut is_field_start = true;
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        match opened {
            None if char == '"' && is_field_start => opened = Some(line),
            Some(_) if char == '"' && chars.next_if_eq(&'"').is_none() => {
                if chars.peek().is_some_and(|next| ![delimiter, '\r', '\n'].contains(next)) {
                    return opened;
                }
                opened = None;
            }
            _ => {}
        }
        is_field_start = opened.is_none() && (char == delimiter || matches!(char, '\r' | '\n'));
        line += u64::from(char == '\n');
    }
    opened
}

fn csv_error(error: csv::Error) -> BatchError {
    match error.kind() {
        csv::ErrorKind::UnequalLengths { pos, expected_len, len } => BatchError::Columns {
            line: pos.as_ref().map_or(1, csv::Position::line),
            found: *len,
            expected: *expected_len,
        },
        _ => BatchError::Csv,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(name: &str, text: &str) -> Result<Vec<String>, BatchError> {
        parse_prompts(Some(name), text)
    }

    fn prompts(texts: &[&str]) -> Result<Vec<String>, BatchError> {
        Ok(texts.iter().map(|text| (*text).to_owned()).collect())
    }

    #[test]
    fn blank_lines_separate_prompts_and_line_breaks_within_a_prompt_stay() {
        let text = "\u{feff}\n\nFix the links\r\n  in /api\r\n \t\r\nTranslate\n\n\n";
        assert_eq!(read("a.txt", text), prompts(&["Fix the links\n  in /api", "Translate"]));
        assert_eq!(parse_prompts(None, "one line"), prompts(&["one line"]));
    }

    #[test]
    fn csv_prompts_may_contain_quoted_commas_quotes_and_line_breaks() {
        let text = "\u{feff}id,Prompt \r\n1,Fix it\r\n2,\"Say \"\"hi\"\", then\r\nstop\"\r\n\r\n3,Last";
        assert_eq!(read("jobs.CSV", text), prompts(&["Fix it", "Say \"hi\", then\nstop", "Last"]));
        assert_eq!(read("a.csv", "prompt;who\nFix, it;me\n"), prompts(&["Fix, it"]));
    }

    #[test]
    fn json_lines_are_objects_with_a_prompt_or_plain_strings() {
        let text = "{\"prompt\":\"Fix\\nit\",\"page\":\"/api\"}\r\n\r\n\"Translate\"\n";
        assert_eq!(read("a.jsonl", text), prompts(&["Fix\nit", "Translate"]));
    }

    #[test]
    fn the_content_decides_the_format_of_a_file_without_a_known_extension() {
        assert_eq!(parse_prompts(None, "{\"prompt\":\"a\"}\n{\"prompt\":\"b\"}"), prompts(&["a", "b"]));
        assert_eq!(parse_prompts(Some("list"), "page,prompt\n/x,a\n/y,b\n"), prompts(&["a", "b"]));
        assert_eq!(parse_prompts(Some("list"), "Fix, then prompt\nme\n\nb"), prompts(&["Fix, then prompt\nme", "b"]));
        assert_eq!(parse_prompts(Some("v1.2 prompts"), "{not json}"), prompts(&["{not json}"]));
    }

    #[test]
    fn a_blank_prompt_is_an_error_that_names_its_line() {
        assert_eq!(read("a.csv", "n,prompt\n1,a\n2,\"b\nc\"\n3, \n"), Err(BatchError::Blank { line: 5 }));
        assert_eq!(read("a.jsonl", "\"a\"\n\n{\"prompt\":\"\\n\"}"), Err(BatchError::Blank { line: 3 }));
        assert_eq!(read("a.txt", "a\n\n\u{200b}\n"), Err(BatchError::Blank { line: 3 }));
    }

    #[test]
    fn a_malformed_file_is_an_error_that_names_its_line() {
        assert_eq!(read("a.csv", "id,text\n1,a\n"), Err(BatchError::NoColumn));
        let columns = BatchError::Columns { line: 3, found: 3, expected: 2 };
        assert_eq!(read("a.csv", "id,prompt\n1,a\n2,b, and c\n"), Err(columns));
        for (line, unclosed) in [
            (2, "title,prompt\nx,\"two\ny,three\nz,four\n"),
            (3, "title,prompt\n\"x\",\"a \"\"b\"\"\"\r\n,\"two\r\n"),
            (2, "title,prompt\nx,\"two\ny,\"three\nz,four\n"),
            (2, "title;prompt\n;\"two \"or\" three\"\n"),
            (4, "n,prompt\n1,\"a\nb\"\n2,\""),
        ] {
            assert_eq!(read("a.csv", unclosed), Err(BatchError::Quote { line }), "{unclosed}");
        }
        assert_eq!(read("a.csv", "n,prompt\n1,5\" disk\n\"\",\"\"\"\"\n"), prompts(&["5\" disk", "\""]));
        assert_eq!(read("a.jsonl", "\"a\"\n{\"text\":\"b\"}"), Err(BatchError::Json { line: 2 }));
        assert_eq!(read("a.json", "[\"a\"]"), Err(BatchError::Json { line: 1 }));
        assert_eq!(read("a.jsonl", "{\"prompt\": 5}"), Err(BatchError::Json { line: 1 }));
        for empty in ["", " \r\n\n", "\u{feff}"] {
            assert_eq!(parse_prompts(None, empty), Err(BatchError::Empty), "{empty:?}");
        }
        assert_eq!(read("a.csv", "prompt\n"), Err(BatchError::Empty));
    }

    proptest! {
        #[test]
        fn any_text_yields_visible_prompts_or_an_error(
            name in prop::sample::select(vec![None, Some("a.csv"), Some("a.jsonl"), Some("a.txt"), Some("a")]),
            text in "(prompt|id|[,;\t\"\\{\\}:\r\n \u{feff}\u{200b}a-c\\PC]){0,60}",
        ) {
            if let Ok(prompts) = parse_prompts(name, &text) {
                prop_assert!(!prompts.is_empty());
                prop_assert!(prompts.iter().all(|prompt| !is_blank_prompt(prompt)));
            }
        }

        #[test]
        fn prompts_joined_with_blank_lines_are_read_back_unchanged(
            texts in prop::collection::vec("[a-z][a-z ,\"]{0,9}(\n[a-z][a-z ,\"]{0,9}){0,2}", 1..6),
        ) {
            prop_assert_eq!(parse_prompts(Some("a.txt"), &texts.join("\n\n")), Ok(texts));
        }
    }
}
