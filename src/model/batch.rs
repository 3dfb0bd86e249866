//! Reading many prompts out of one file: text parted by blank lines, CSV with a column `prompt`, or JSON Lines.
//!
//! Pure: the file's name and its text come in, prompts go out, as they stand there. What is wrong is said with its line.

use super::text::CleanText;
use serde_json::Value;

/// The column and the field that hold the prompt.
const PROMPT: &str = "prompt";

/// Why a file gives no batch. Lines count from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// Nothing in it to send.
    #[error("There is no prompt in it: write prompts with a blank line between them, CSV, or JSON Lines.")]
    Empty,
    /// A prompt without a visible character.
    #[error("The prompt in line {line} is blank: write what the agent should do, or take the line out.")]
    Blank { line: u64 },
    /// CSV without the column.
    #[error("The first line names no column `prompt`: name the column with the prompts so.")]
    NoColumn,
    /// CSV with a row of another length than its heading.
    #[error(
        "Line {line} has {found} columns where the first line has {expected}: put texts with a comma or a line break \
         in double quotes."
    )]
    Columns { line: u64, found: u64, expected: u64 },
    /// Neither a JSON object with a `prompt` nor a JSON string.
    #[error(
        "Line {line} is neither a JSON object with a text `prompt` nor a JSON string: write one of the two a line."
    )]
    Json { line: u64 },
    /// CSV that can't be read for another reason.
    #[error("The CSV can't be read: look at its quotes.")]
    Csv,
}

/// The prompts of a file, in its order. Its format is told by the ending of its `name`, else by what stands in it.
///
/// # Errors
/// The first thing that is wrong; then none of it is used.
pub fn parse(name: Option<&str>, text: &str) -> Result<Vec<String>, BatchError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.trim().is_empty() {
        return Err(BatchError::Empty);
    }
    let prompts = match format(name, text) {
        BatchFormat::Text => blocks(text),
        BatchFormat::Csv => column(text)?,
        BatchFormat::JsonLines => json_lines(text)?,
    };
    if let Some((line, _)) = prompts.iter().find(|(_, prompt)| is_blank(prompt)) {
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

fn format(name: Option<&str>, text: &str) -> BatchFormat {
    let ending = name.and_then(|name| name.rsplit_once('.')).map(|(_, ending)| ending.to_ascii_lowercase());
    match ending.as_deref() {
        Some("csv" | "tsv") => return BatchFormat::Csv,
        Some("jsonl" | "ndjson" | "json") => return BatchFormat::JsonLines,
        Some("txt" | "md" | "markdown") => return BatchFormat::Text,
        _ => {}
    }
    let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or("");
    if from_json(first).is_some() {
        BatchFormat::JsonLines
    } else if delimiter(text).is_some() {
        BatchFormat::Csv
    } else {
        BatchFormat::Text
    }
}

/// Whether nothing of it can be seen, whatever invisible characters it has.
fn is_blank(prompt: &str) -> bool {
    CleanText::block(prompt).as_str().trim().is_empty()
}

type Prompts = Vec<(u64, String)>;

fn numbered(text: &str) -> impl Iterator<Item = (u64, &str)> {
    // A lone CR is a line break as well.
    (1..).zip(text.split('\n').flat_map(|line| line.strip_suffix('\r').unwrap_or(line).split('\r')))
}

fn blocks(text: &str) -> Prompts {
    let mut prompts: Prompts = Vec::new();
    let mut open = false;
    for (number, line) in numbered(text) {
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

fn json_lines(text: &str) -> Result<Prompts, BatchError> {
    let lines = numbered(text).filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(line, json)| Ok((line, from_json(json).ok_or(BatchError::Json { line })?))).collect()
}

/// The prompt of a line: a JSON string, or an object's `prompt`.
fn from_json(line: &str) -> Option<String> {
    match serde_json::from_str(line.trim()).ok()? {
        Value::String(prompt) => Some(prompt),
        Value::Object(mut fields) => match fields.remove(PROMPT)? {
            Value::String(prompt) => Some(prompt),
            _ => None,
        },
        _ => None,
    }
}

fn reader(text: &str, delimiter: u8) -> csv::Reader<&[u8]> {
    csv::ReaderBuilder::new().delimiter(delimiter).from_reader(text.as_bytes())
}

/// Where the column of the prompts is.
fn place(reader: &mut csv::Reader<&[u8]>) -> Option<usize> {
    reader.headers().ok()?.iter().position(|name| name.trim().eq_ignore_ascii_case(PROMPT))
}

/// Comma, or what some spreadsheets write in its place; the one that makes a column `prompt` of the heading.
fn delimiter(text: &str) -> Option<u8> {
    [b',', b';', b'\t'].into_iter().find(|delimiter| place(&mut reader(text, *delimiter)).is_some())
}

fn column(text: &str) -> Result<Prompts, BatchError> {
    let mut reader = reader(text, delimiter(text).ok_or(BatchError::NoColumn)?);
    let place = place(&mut reader).ok_or(BatchError::NoColumn)?;
    let mut prompts = Vec::new();
    for record in reader.records() {
        let record = record.map_err(unreadable)?;
        let line = record.position().map_or(1, csv::Position::line);
        prompts.push((line, record.get(place).unwrap_or_default().replace("\r\n", "\n")));
    }
    Ok(prompts)
}

fn unreadable(error: csv::Error) -> BatchError {
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
        parse(Some(name), text)
    }

    fn prompts(texts: &[&str]) -> Result<Vec<String>, BatchError> {
        Ok(texts.iter().map(|text| (*text).to_owned()).collect())
    }

    #[test]
    fn text_is_parted_by_blank_lines_and_keeps_its_lines() {
        let text = "\u{feff}\n\nFix the links\r\n  in /api\r\n \t\r\nTranslate\n\n\n";
        assert_eq!(read("a.txt", text), prompts(&["Fix the links\n  in /api", "Translate"]));
        assert_eq!(parse(None, "one line"), prompts(&["one line"]));
    }

    #[test]
    fn a_csv_gives_its_column_with_quoted_commas_quotes_and_line_breaks() {
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
    fn without_an_ending_the_content_tells_the_format() {
        assert_eq!(parse(None, "{\"prompt\":\"a\"}\n{\"prompt\":\"b\"}"), prompts(&["a", "b"]));
        assert_eq!(parse(Some("list"), "page,prompt\n/x,a\n/y,b\n"), prompts(&["a", "b"]));
        assert_eq!(parse(Some("list"), "Fix, then prompt\nme\n\nb"), prompts(&["Fix, then prompt\nme", "b"]));
        assert_eq!(parse(Some("v1.2 prompts"), "{not json}"), prompts(&["{not json}"]));
    }

    #[test]
    fn a_blank_prompt_is_an_error_that_names_its_line() {
        assert_eq!(read("a.csv", "n,prompt\n1,a\n2,\"b\nc\"\n3, \n"), Err(BatchError::Blank { line: 5 }));
        assert_eq!(read("a.jsonl", "\"a\"\n\n{\"prompt\":\"\\n\"}"), Err(BatchError::Blank { line: 3 }));
        assert_eq!(read("a.txt", "a\n\n\u{200b}\n"), Err(BatchError::Blank { line: 3 }));
    }

    #[test]
    fn what_cannot_be_read_is_an_error_that_names_its_line() {
        assert_eq!(read("a.csv", "id,text\n1,a\n"), Err(BatchError::NoColumn));
        let columns = BatchError::Columns { line: 3, found: 3, expected: 2 };
        assert_eq!(read("a.csv", "id,prompt\n1,a\n2,b, and c\n"), Err(columns));
        assert_eq!(read("a.jsonl", "\"a\"\n{\"text\":\"b\"}"), Err(BatchError::Json { line: 2 }));
        assert_eq!(read("a.json", "[\"a\"]"), Err(BatchError::Json { line: 1 }));
        assert_eq!(read("a.jsonl", "{\"prompt\": 5}"), Err(BatchError::Json { line: 1 }));
        for empty in ["", " \r\n\n", "\u{feff}"] {
            assert_eq!(parse(None, empty), Err(BatchError::Empty), "{empty:?}");
        }
        assert_eq!(read("a.csv", "prompt\n"), Err(BatchError::Empty));
    }

    proptest! {
        #[test]
        fn any_text_gives_prompts_with_something_to_read_or_an_error(
            name in prop::sample::select(vec![None, Some("a.csv"), Some("a.jsonl"), Some("a.txt"), Some("a")]),
            text in "(prompt|id|[,;\t\"\\{\\}:\r\n \u{feff}\u{200b}a-c\\PC]){0,60}",
        ) {
            if let Ok(prompts) = parse(name, &text) {
                prop_assert!(!prompts.is_empty());
                prop_assert!(prompts.iter().all(|prompt| !is_blank(prompt)));
            }
        }

        #[test]
        fn blocks_without_blank_lines_come_back_as_they_were(
            texts in prop::collection::vec("[a-z][a-z ,\"]{0,9}(\n[a-z][a-z ,\"]{0,9}){0,2}", 1..6),
        ) {
            prop_assert_eq!(parse(Some("a.txt"), &texts.join("\n\n")), Ok(texts));
        }
    }
}
