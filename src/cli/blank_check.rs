//! Rejects blank values of options.

/// Returns the value unchanged if it is not blank. A blank value is probably a mistake: a shell expands an unset variable
/// to nothing.
pub(super) fn parse_non_blank(text: &str) -> Result<String, String> {
    match text.trim() {
        "" => Err("it is blank; omit the option, or give it a value".into()),
        _ => Ok(text.to_owned()),
    }
}
