//! Text from outside made safe to pass on.

/// A text on one line without control characters: runs of white space become one blank, other
/// control characters `?`.
pub(crate) fn plain(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let visible = |c: char| if c.is_control() { '?' } else { c };
    words.join(" ").chars().map(visible).collect()
}
