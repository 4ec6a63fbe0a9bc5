//! Markdown: the only module that writes its signs.

use crate::prelude::*;

/// The place where a text is shown, which decides what must be escaped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A file: markup and HTML.
    File,
    /// A comment or a summary on GitHub or GitLab: a mention, an issue's number, an icon or a link
    /// too, against which only character references help.
    Comment,
}

/// Writes a text so that it stays one: on one line, and nothing in it is taken for more.
pub fn escaped(text: &str, place: Place) -> String {
    let mut out = String::new();
    let text = plain(text);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        // A colon before a letter could begin an icon's name, or be in the middle of a link.
        let is_live_colon = c == ':' && rest.peek().is_some_and(|next| !next.is_whitespace());
        match (place, c) {
            (Place::File, '<') => out += "&lt;",
            (Place::File, '>') => out += "&gt;",
            (Place::File, '&') => out += "&amp;",
            (Place::File, c) if "\\`*_|[]~".contains(c) => out.extend(['\\', c]),
            (Place::Comment, c) if is_live_colon || "&<>|`*_~[]\\@#$".contains(c) => {
                out += &format!("&#{};", u32::from(c));
            }
            (_, c) => out.push(c),
        }
    }
    out
}

/// Writes a table whose columns are all flush left. Titles and cells are Markdown already.
pub fn table<R: AsRef<[String]>>(
    head: &[impl AsRef<str>],
    rows: impl IntoIterator<Item = R>,
) -> String {
    aligned(head, &vec![Align::Left; head.len()], rows)
}

/// Writes a table with an alignment a column: the decimal point is flush right here.
pub fn aligned<R: AsRef<[String]>>(
    head: &[impl AsRef<str>],
    aligns: &[Align],
    rows: impl IntoIterator<Item = R>,
) -> String {
    let rules = aligns.iter().map(|align| if *align == Align::Left { "---|" } else { "--:|" });
    let mut out = row(head) + "|" + &rules.collect::<String>() + "\n";
    rows.into_iter().for_each(|cells| out += &row(cells.as_ref()));
    out
}

/// Writes a line of a table; a cell without a letter has no blank behind it.
fn row(cells: &[impl AsRef<str>]) -> String {
    let cells = cells.iter().map(|cell| match cell.as_ref() {
        blank if blank.trim().is_empty() => format!(" {blank}|"),
        text => format!(" {text} |"),
    });
    format!("|{}\n", cells.collect::<String>())
}

/// Writes the title of a part, so many steps below the page's.
pub fn heading(level: usize, text: &str) -> String {
    format!("{} {text}\n\n", "#".repeat(level + 1))
}

/// Makes letters stand out.
pub fn strong(text: &str) -> String {
    format!("**{text}**")
}

/// Makes a text lead to another page.
pub fn link(text: &str, target: &str) -> String {
    format!("[{text}]({target})")
}

/// Marks a short piece of code in a line; it cannot have backticks, which become quotes.
pub fn code(text: &str) -> String {
    format!("`{}`", text.replace('`', "'"))
}

/// Writes a list, an item a line.
pub fn list(items: impl IntoIterator<Item = impl AsRef<str>>) -> String {
    items.into_iter().map(|item| format!("- {}\n", item.as_ref())).collect()
}

/// Fences a block of code in a language, by more backticks than any row in it has.
pub fn fenced(language: &str, code: &str) -> String {
    let runs = code.split(|c| c != '`').map(str::len);
    let longest = runs.max().unwrap_or(0);
    let fence = "`".repeat((longest + 1).max(3));
    format!("{fence}{language}\n{code}\n{fence}\n")
}

/// Folds content behind its title.
pub fn folded(title: &str, content: &str) -> String {
    format!("<details>\n<summary>{title}</summary>\n\n{content}\n</details>\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_could_be_markup_is_escaped() {
        let comment = |text| escaped(text, Place::Comment);
        assert_eq!(comment("A is 1.5x: sure - 'so'"), "A is 1.5x: sure - 'so'");
        assert_eq!(comment(":x: #1 a|b\nc"), "&#58;x: &#35;1 a&#124;b c");
        let file = |text| escaped(text, Place::File);
        assert_eq!(file("A is 1.5x: sure - #1 @a"), "A is 1.5x: sure - #1 @a");
        assert_eq!(file("<a> & a|b_c\n`d`"), "&lt;a&gt; &amp; a\\|b\\_c \\`d\\`");
    }

    #[test]
    fn a_fence_is_longer_than_what_it_holds() {
        assert_eq!(fenced("sh", "a"), "```sh\na\n```\n");
        assert_eq!(fenced("sh", "a ```` b"), "`````sh\na ```` b\n`````\n");
    }

    #[test]
    fn a_table_has_a_rule_a_column() {
        let rows = [["1", ""], [" ", "2.5"]].map(|row| row.map(str::to_owned));
        assert_eq!(table(&["", "b"], &rows), "| | b |\n|---|---|\n| 1 | |\n|  | 2.5 |\n");
        let text = aligned(&["a", "b"], &[Align::Right, Align::Decimal], Vec::<[String; 2]>::new());
        assert_eq!(text, "| a | b |\n|--:|--:|\n");
    }
}
