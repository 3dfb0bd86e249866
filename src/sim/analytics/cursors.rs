//! Opaque cursors. A cursor contains a position and a checksum, so that the service can reject any other text, and a
//! cursor of another list.

use crate::sim::rng::mix;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Returns the cursor for a position in the list with this number.
pub(super) fn encode(list: u64, position: [u64; 2]) -> String {
    let [first, second] = position;
    let bytes = [first, second, checksum(list, position)].map(u64::to_be_bytes).concat();
    STANDARD.encode(bytes)
}

/// Returns the position, or `None` if the text is not a cursor of this list.
pub(super) fn decode(list: u64, text: &str) -> Option<[u64; 2]> {
    let bytes = STANDARD.decode(text).ok()?;
    let mut numbers = bytes.chunks(8).map(|chunk| Some(u64::from_be_bytes(chunk.try_into().ok()?)));
    let position = [numbers.next()??, numbers.next()??];
    let is_valid = numbers.next()?? == checksum(list, position) && numbers.next().is_none();
    is_valid.then_some(position)
}

fn checksum(list: u64, [first, second]: [u64; 2]) -> u64 {
    mix(mix(mix(list) ^ first) ^ second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_cursors_of_a_list_are_accepted() {
        let cursor = encode(7, [3, u64::MAX]);
        assert_eq!(decode(7, &cursor), Some([3, u64::MAX]));
        assert_eq!(decode(8, &cursor), None);
        for wrong in
            ["", "x", "AAAA", cursor.trim_start_matches("A"), &format!("{cursor}AAAA"), &cursor.replace('A', "B")]
        {
            assert_eq!(decode(7, wrong), None, "{wrong}");
        }
    }
}
