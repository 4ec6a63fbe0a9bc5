//! Rust source with everything blanked that is not code, so that words and braces mean what they
//! say. It knows comments, strings, raw strings, characters and lifetimes; no macro is expanded.

/// The source with comments, strings and characters replaced by spaces. Lines stay where they are
/// and every character stays one character.
pub fn mask(source: &str) -> String {
    let mut masker =
        Masker { chars: source.chars().collect(), at: 0, out: String::with_capacity(source.len()) };
    while masker.at < masker.chars.len() {
        masker.step();
    }
    masker.out
}

/// Whether the character can be part of a name.
pub fn is_name_char(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

struct Masker {
    chars: Vec<char>,
    at: usize,
    out: String,
}

impl Masker {
    fn peek(&self, ahead: usize) -> char {
        self.chars.get(self.at + ahead).copied().unwrap_or('\0')
    }

    fn starts_with(&self, text: &str) -> bool {
        text.chars().enumerate().all(|(i, c)| self.peek(i) == c)
    }

    fn keep(&mut self) {
        self.out.push(self.peek(0));
        self.at += 1;
    }

    fn blank(&mut self, count: usize) {
        for _ in 0..count {
            if let Some(&c) = self.chars.get(self.at) {
                self.out.push(if c == '\n' { '\n' } else { ' ' });
                self.at += 1;
            }
        }
    }

    fn step(&mut self) {
        let c = self.peek(0);
        let in_name = self.at > 0 && is_name_char(self.chars[self.at - 1]);
        if self.starts_with("//") {
            while self.at < self.chars.len() && self.peek(0) != '\n' {
                self.blank(1);
            }
        } else if self.starts_with("/*") {
            self.block_comment();
        } else if c == '"' {
            self.quoted('"');
        } else if c == '\'' {
            self.quote_or_lifetime();
        } else if !in_name && matches!(c, 'r' | 'b' | 'c') && self.raw_string() {
        } else {
            self.keep();
        }
    }

    fn block_comment(&mut self) {
        let mut depth = 0;
        while self.at < self.chars.len() {
            if self.starts_with("/*") {
                depth += 1;
                self.blank(2);
            } else if self.starts_with("*/") {
                depth -= 1;
                self.blank(2);
                if depth == 0 {
                    return;
                }
            } else {
                self.blank(1);
            }
        }
    }

    fn quoted(&mut self, end: char) {
        self.blank(1);
        while self.at < self.chars.len() {
            match self.peek(0) {
                '\\' => self.blank(2),
                c => {
                    self.blank(1);
                    if c == end {
                        return;
                    }
                }
            }
        }
    }

    fn quote_or_lifetime(&mut self) {
        if self.peek(1) == '\\' || self.peek(2) == '\'' {
            self.quoted('\'');
        } else {
            self.keep();
        }
    }

    /// Blanks `r"..."`, `r#"..."#`, `br"..."` and `cr"..."`; says whether there was one.
    fn raw_string(&mut self) -> bool {
        let mut ahead = if self.peek(0) == 'r' { 1 } else { 2 };
        if ahead == 2 && self.peek(1) != 'r' {
            return false;
        }
        let first_hash = ahead;
        while self.peek(ahead) == '#' {
            ahead += 1;
        }
        if self.peek(ahead) != '"' {
            return false;
        }
        let end = format!("\"{}", "#".repeat(ahead - first_hash));
        self.blank(ahead + 1);
        while self.at < self.chars.len() && !self.starts_with(&end) {
            self.blank(1);
        }
        self.blank(end.len());
        true
    }
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
