//! All errors of a file, and how they are printed.

use annotate_snippets::{AnnotationKind, Group, Level, Origin, Renderer, Snippet};
use std::fmt;
use std::ops::Range;

/// The number of errors that are printed; the others are counted.
const SHOWN_ERRORS: usize = 100;
/// The bytes of a line that are repeated around a mark.
const SHOWN_BYTES: usize = 1200;

/// All errors of a file, sorted by place; at least one.
///
/// `Display` writes one line an error, `claims.toml:3:5: message`; [`FileErrors::render`] writes
/// the lines of the file with the wrong words underlined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileErrors {
    name: String,
    text: String,
    errors: Vec<FileError>,
}

/// An error in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column in characters, counted from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What was expected there, or more about it.
    pub label: Option<String>,
    /// What would help.
    pub help: Option<String>,
    /// The bytes that are wrong, on character boundaries; empty where something is missing.
    pub span: Range<usize>,
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)?;
        if let Some(label) = &self.label {
            write!(f, ": {label}")?;
        }
        match &self.help {
            Some(help) => write!(f, "; {help}"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for FileErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for error in self.errors.iter().take(SHOWN_ERRORS) {
            writeln!(f, "{}:{error}", self.name)?;
        }
        f.write_str(&self.count())
    }
}

impl std::error::Error for FileErrors {}

impl FileErrors {
    pub(crate) fn new(name: &str, text: &str, errors: Vec<FileError>) -> Self {
        let name = name.replace(char::is_control, "?");
        FileErrors { name, text: text.to_owned(), errors }
    }

    /// Returns the errors, sorted by place.
    pub fn iter(&self) -> std::slice::Iter<'_, FileError> {
        self.errors.iter()
    }

    /// Returns a line such as `2 errors in claims.toml`.
    fn count(&self) -> String {
        let hidden = match self.errors.len().saturating_sub(SHOWN_ERRORS) {
            0 => String::new(),
            _ => format!(", of which the first {SHOWN_ERRORS} are shown"),
        };
        match self.errors.len() {
            1 => format!("1 error in {}", self.name),
            many => format!("{many} errors in {}{hidden}", self.name),
        }
    }

    /// Renders each error with its line of the file, the wrong words underlined, and what would
    /// help; then their number. Without `color`, it uses no escape codes, and all that it adds to
    /// the file's lines is plain ASCII; control characters in them are shown as pictures of
    /// themselves.
    pub fn render(&self, color: bool) -> String {
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        let mut rendered = String::new();
        for error in self.errors.iter().take(SHOWN_ERRORS) {
            rendered += &renderer.render(&[self.group(error)]);
            rendered += "\n\n";
        }
        rendered + &self.count()
    }

    fn group<'a>(&'a self, error: &'a FileError) -> Group<'a> {
        let (source, span, is_start) = excerpt(&self.text, &error.span);
        let mark = AnnotationKind::Primary.span(span).label(error.label.as_deref());
        let snippet = Snippet::source(source).line_start(error.line).annotation(mark);
        let title = Level::ERROR.primary_title(&error.message);
        let group = if is_start {
            Group::with_title(title).element(snippet.path(&self.name))
        } else {
            let origin = Origin::path(&self.name).line(error.line).char_column(error.column);
            Group::with_title(title).element(origin).element(snippet)
        };
        match &error.help {
            Some(help) => group.element(Level::HELP.message(help)),
            None => group,
        }
    }
}

/// Returns the line in which the bytes start, or the part around them if it is very long; their
/// position in it, to the end of the line at most; and whether it starts at the start of the line.
fn excerpt<'a>(text: &'a str, span: &Range<usize>) -> (&'a str, Range<usize>, bool) {
    let line = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[span.start..].find('\n').map_or(text.len(), |length| span.start + length);
    let end = line + text[line..end].trim_end_matches('\r').len();
    let start = line.max(text.floor_char_boundary(span.start.saturating_sub(SHOWN_BYTES)));
    let end = end.min(text.ceil_char_boundary(span.start + SHOWN_BYTES)).max(span.start);
    let span = span.start - start..span.end.clamp(span.start, end) - start;
    (&text[start..end], span, start == line)
}
