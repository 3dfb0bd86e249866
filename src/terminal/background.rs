//! The background colour of the terminal, by OSC 11.

/// The sequence that requests the background colour.
pub(super) const QUERY: &[u8] = b"\x1b]11;?\x1b\\";

/// Parses the reply between `ESC ]` and its terminator: `11;rgb:RRRR/GGGG/BBBB`, with one to four digits per colour, or
/// `11;rgba:…`, whose alpha value is ignored. Returns `None` for any other reply.
pub(super) fn parse_reply(reply: &str) -> Option<[u8; 3]> {
    let (kind, colors) = reply.strip_prefix("11;")?.split_once(':')?;
    let mut parts = colors.split('/').map(|digits| {
        let value = u32::from_str_radix(digits, 16).ok().filter(|_| (1..=4).contains(&digits.len()))?;
        let max_value = 16_u32.pow(u32::try_from(digits.len()).ok()?) - 1;
        u8::try_from(value * 255 / max_value).ok()
    });
    let rgb = [parts.next()??, parts.next()??, parts.next()??];
    let rest = parts.count();
    matches!((kind, rest), ("rgb", 0) | ("rgba", 1)).then_some(rgb)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_colors_are_not_a_reply() {
        for bad in [
            "11;rgb:",
            "11;rgb:12/34",
            "11;rgb:12345/0/0",
            "11;rgb:0/0/0/0",
            "11;rgba:0/0/0",
            "11;rgbx:0/0/0",
            "12;rgb:0/0/0",
        ] {
            assert_eq!(parse_reply(bad), None, "{bad}");
        }
    }
}
