//! Renders errors for people: the sentence with the wrong word underlined.

use crate::error::{ClaimError, Problem};
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

impl ClaimError {
    /// Renders several lines: what is wrong, the sentence with the wrong word underlined, and what
    /// is expected there. Without `color`, it uses no escape codes, and all that it adds to the
    /// sentence is plain ASCII; control characters in it are shown as pictures of themselves. A
    /// sentence that is too long is not repeated.
    ///
    /// ```
    /// let error = tiebreak_input::parse("A is fsater than B", &["A", "B"]).unwrap_err();
    /// let expected = "\
    /// error: 'fsater' cannot stand here
    ///  |
    ///  | A is fsater than B
    ///  |      ^^^^^^ expected 'faster', 'at least', 'no more than', 'at most' or 'within'
    ///  |
    ///  = help: did you mean 'faster'?";
    /// assert_eq!(error.render(false), expected);
    /// ```
    pub fn render(&self, color: bool) -> String {
        // One line, whatever the sentence contains; spans stay valid, because these are single
        // bytes.
        let text = self.text.replace(['\n', '\r', '\t'], " ");
        let title = self.problem.to_string();
        let mut report = Group::with_title(Level::ERROR.primary_title(title));
        if matches!(self.problem, Problem::TooLong { .. }) {
            report = report.element(Level::NOTE.message(self.expectation().unwrap_or_default()));
        } else {
            let mark = AnnotationKind::Primary.span(self.span.clone()).label(self.expectation());
            report = report.element(Snippet::source(text).line_numbering(false).annotation(mark));
        }
        if let Some(suggestion) = &self.suggestion {
            report = report.element(Level::HELP.message(format!("did you mean '{suggestion}'?")));
        }
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[report])
    }
}
