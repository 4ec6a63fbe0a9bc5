//! Rust source in which everything but code is blanked: comments, strings, raw strings and
//! characters, but not lifetimes. No macro is expanded.

/// Returns the source with comments, strings and characters replaced by spaces. Lines stay where
/// they are and every character stays one character.
pub fn mask(source: &str) -> String {
    let mut masked = String::with_capacity(source.len());
    let mut rest = source;
    while let Some(first) = rest.chars().next() {
        let hidden = hidden_bytes(rest, masked.ends_with(is_name_char));
        let (token, after) = rest.split_at(hidden.max(first.len_utf8()));
        if hidden > 0 {
            masked.extend(token.chars().map(|c| if c == '\n' { c } else { ' ' }));
        } else {
            masked.push_str(token);
        }
        rest = after;
    }
    masked
}

/// Returns whether the character can be part of a name.
pub fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns whether the line contains the whole name.
pub fn is_name(line: &str, name: &str) -> bool {
    line.split(|c: char| !is_name_char(c)).any(|word| word == name)
}

/// Returns the length in bytes of the comment, string or character with which the text begins; 0
/// if it begins with code.
fn hidden_bytes(text: &str, is_in_name: bool) -> usize {
    if text.starts_with("//") {
        text.find('\n').unwrap_or(text.len())
    } else if text.starts_with("/*") {
        block_comment(text)
    } else if text.starts_with('"') {
        quoted(text, '"')
    } else if text.starts_with('\'') {
        let mut inner = text.chars().skip(1);
        let is_escape = inner.next() == Some('\\');
        // Anything else is a lifetime.
        if is_escape || inner.next() == Some('\'') { quoted(text, '\'') } else { 0 }
    } else if !is_in_name {
        raw_string(text).unwrap_or(0)
    } else {
        0
    }
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while let Some(c) = text[at..].chars().next() {
        if text[at..].starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if text[at..].starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                break;
            }
        } else {
            at += c.len_utf8();
        }
    }
    at
}

fn quoted(text: &str, end: char) -> usize {
    let mut is_escaped = false;
    let closing = text.char_indices().skip(1).find(|(_, c)| {
        let closes = *c == end && !is_escaped;
        is_escaped = *c == '\\' && !is_escaped;
        closes
    });
    closing.map_or(text.len(), |(at, _)| at + 1)
}

/// Returns the length of `r"..."`, `r#"..."#`, `br"..."` and `cr"..."`, if the text begins with
/// one.
fn raw_string(text: &str) -> Option<usize> {
    let marks = text.strip_prefix(['b', 'c']).unwrap_or(text).strip_prefix('r')?;
    let content = marks.trim_start_matches('#').strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(marks.len() - content.len() - 1));
    let before = text.len() - content.len();
    Some(content.find(&end).map_or(text.len(), |at| before + at + end.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, code: &str) {
        let squeezed: String = mask(source).split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(squeezed, code, "{source}");
        assert_eq!(mask(source).lines().count(), source.lines().count());
        assert_eq!(mask(source).chars().count(), source.chars().count());
    }

    #[test]
    fn only_code_is_left() {
        check("a // {\nb", "a b");
        check("a /* { /* } */ \n { */ b", "a b");
        check(r#"a "{ \" }" b"#, "a b");
        check(r#"a "\\" b"#, "a b");
        check("a r\"\\\" b", "a b");
        check("a r#\"{ \"quoted\" }\"# b", "a b");
        check("a br##\"x\"# y\"## b", "a b");
        check("a b\"{\" c", "a b c");
        check("a '{' b '\\'' c '\\u{7d}' d", "a b c d");
        check("fn f<'a>(x: &'a str) {}", "fn f<'a>(x: &'a str) {}");
        check("'outer: loop { break 'outer }", "'outer: loop { break 'outer }");
        check("bar\"}\" r#fn other", "bar r#fn other");
    }
}
