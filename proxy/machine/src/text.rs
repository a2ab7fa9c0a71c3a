//! Texts of which no more is kept than may be.

/// The beginning of a text, of whole characters.
pub fn cut(text: &str, bytes_max: usize) -> &str {
    let mut end = text.len().min(bytes_max);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::cut;

    #[test]
    fn no_character_is_cut_through() {
        for (bytes_max, expected) in
            [(0, ""), (1, "a"), (2, "a"), (3, "aé"), (4, "aéb"), (9, "aéb")]
        {
            assert_eq!(cut("aéb", bytes_max), expected, "{bytes_max}");
        }
    }
}
