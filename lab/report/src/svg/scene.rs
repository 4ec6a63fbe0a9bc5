//! Shapes and texts of an SVG document.

use crate::number::trimmed;
use crate::prelude::*;
use maud::html;
use tiebreak_core::result::StudyResult;

/// The size of ordinary letters, in pixels.
pub const PLAIN: f64 = 14.0;
/// The size of small letters, in pixels.
pub const SMALL: f64 = 12.0;

/// The point of a text that its place refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// Its middle is there.
    Middle,
    /// It ends there.
    End,
}

/// A document that is being drawn; what comes later lies above.
pub struct Scene {
    sheet: Sheet,
    width: f64,
    pub(super) height: f64,
    body: String,
}

/// The styles of a kind of picture. Colours stand in pairs for light and dark ground.
#[derive(Clone, Copy)]
pub struct Sheet {
    /// The class of the document: long, because an SVG that is put into a page shares its styles.
    name: &'static str,
    style: &'static str,
}

impl Sheet {
    /// The styles of a class: those that all pictures share, and these, in which `&` stands for the
    /// class.
    pub const fn new(name: &'static str, style: &'static str) -> Sheet {
        Sheet { name, style }
    }
}

/// The width of charts and of pictures of studies, in pixels.
pub(super) const WIDTH: f64 = 760.0;

/// Returns a title on one line, cut to [`WIDTH`].
pub(super) fn fit_title(text: &str) -> String {
    shorten_middle(&plain(text), ((WIDTH - 48.0) / (PLAIN * 0.56)) as usize, Look::PAPER)
}

/// What all pictures share; `&` stands for the class.
const SHARED: &str = include_str!("scene.css");

impl Scene {
    /// An empty document of this size in pixels.
    pub fn new(sheet: Sheet, width: f64, height: f64) -> Scene {
        Scene { sheet, width, height, body: String::new() }
    }

    /// A straight line.
    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
        let line =
            format!("<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>");
        self.add(&line);
    }

    /// A filled outline.
    pub fn area(&mut self, class: &str, points: &[(f64, f64)]) {
        self.path(class, &(joined(points) + "Z"));
    }

    /// A line through points.
    pub fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        self.path(class, &joined(points));
    }

    /// A line through points that goes across first and then upwards, or down: stairs.
    pub fn stairs(&mut self, class: &str, points: &[(f64, f64)]) {
        let Some(((x, y), rest)) = points.split_first() else { return };
        let mut path = format!("M{} {}", number(*x), number(*y));
        for (x, y) in rest {
            path.push_str(&format!("H{}V{}", number(*x), number(*y)));
        }
        self.path(class, &path);
    }

    /// A path as SVG writes it.
    pub(super) fn path(&mut self, class: &str, path: &str) {
        self.add(&format!("<path class=\"{class}\" d=\"{path}\"/>"));
    }

    /// A filled circle.
    pub fn circle(&mut self, class: &str, middle: (f64, f64), radius: f64) {
        let [x, y, r] = [middle.0, middle.1, radius].map(number);
        self.add(&format!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\"/>"));
    }

    /// A text on one line.
    pub fn text(&mut self, class: &str, x: f64, y: f64, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let ([x, y], text) = ([x, y].map(number), escaped(text));
        self.add(&format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>"));
    }

    /// Writes the name of a study and a note below it, and returns the name.
    pub(super) fn head(&mut self, study: &StudyResult, note: &str) -> String {
        let title = format!("{}: {}", plain(&study.study), plain(&study.title));
        self.text("ink head", 24.0, 30.0, Anchor::Start, &fit_title(&title));
        self.text("dim small", 24.0, 50.0, Anchor::Start, note);
        title
    }

    fn add(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }

    /// The document, with a title and a description for those who do not see it.
    pub fn finish(self, title: &str, description: &str) -> String {
        let [width, height] = [self.width, self.height].map(number);
        let [title, description] = [title, description].map(escaped);
        let Sheet { name, style } = self.sheet;
        let style = format!("{SHARED}{style}").replace('&', &format!(".{name}")).replace('\n', "");
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"{name}\" role=\"img\" \
             aria-labelledby=\"{name}-title {name}-desc\" width=\"{width}\" \
             height=\"{height}\" viewBox=\"0 0 {width} {height}\">\n\
             <title id=\"{name}-title\">{title}</title>\n\
             <desc id=\"{name}-desc\">{description}</desc>\n\
             <style>{style}</style>\n\
             <rect class=\"paper\" width=\"{width}\" height=\"{height}\"/>\n\
             {}</svg>\n",
            self.body
        )
    }
}

fn joined(points: &[(f64, f64)]) -> String {
    let mut text = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        text.push_str(&format!("{command}{} {}", number(*x), number(*y)));
    }
    text
}

/// A coordinate with two decimals at most, in as few characters as it takes.
pub fn number(value: f64) -> String {
    let text = format!("{:.2}", if value.is_finite() { value } else { 0.0 });
    match trimmed(&text) {
        "-0" => "0".to_owned(),
        short => short.to_owned(),
    }
}

/// About how wide a text of letters of this size is: fonts differ, so it is rather too much.
pub fn width_of(text: &str, size: f64) -> f64 {
    use unicode_width::UnicodeWidthStr;
    text.width() as f64 * size * 0.56
}

/// A text inside of an element: on one line, without the characters that XML forbids.
pub fn escaped(text: &str) -> String {
    html! { (plain(text).replace(['\u{fffe}', '\u{ffff}'], "?")) }.into_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in
            [(1.0, "1"), (0.5, "0.5"), (-0.001, "0"), (12.345, "12.35"), (f64::NAN, "0")]
        {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn texts_cannot_leave_their_element() {
        assert_eq!(escaped("a<b>&\"c\"\u{1b}\n\u{ffff}"), "a&lt;b&gt;&amp;&quot;c&quot;? ?");
    }
}
