//! Shapes and texts of an SVG document.

use crate::text::plain;

/// Sizes of letters in pixels.
pub(super) const PLAIN: f64 = 14.0;
/// The same of small letters.
pub(super) const SMALL: f64 = 12.0;

/// Where a text's place is in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// A document that is being drawn; what comes later lies above.
pub(super) struct Scene {
    sheet: Sheet,
    width: f64,
    height: f64,
    body: String,
}

/// The styles of a kind of picture. Colours stand beside each other for light and dark ground.
#[derive(Clone, Copy)]
pub(super) struct Sheet {
    /// The class of the document: long, because an SVG that is put into a page shares its styles.
    name: &'static str,
    style: &'static str,
}

/// The styles of [`super::slo`].
pub(super) const SLO: Sheet = Sheet { name: "tiebreak-slo", style: SLO_STYLE };

/// The styles of [`super::study()`].
pub(super) const STUDY: Sheet = Sheet { name: "tiebreak-study", style: STUDY_STYLE };

/// The styles of [`super::charts`].
pub(super) const CHART: Sheet = Sheet { name: "tiebreak-chart", style: CHART_STYLE };

const CHART_STYLE: &str = "\
.tiebreak-chart{background:#fff}\
.tiebreak-chart text{font:14px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}\
.tiebreak-chart .small{font-size:12px}\
.tiebreak-chart .head{font-weight:600}\
.tiebreak-chart path{fill:none;stroke-width:2}\
.tiebreak-chart .paper{fill:#fff}\
.tiebreak-chart .ink{fill:#1f2328}\
.tiebreak-chart .dim{fill:#59636e}\
.tiebreak-chart .axis{stroke:#59636e;stroke-width:1}\
.tiebreak-chart .grid{stroke:#d1d9e0;stroke-width:1}\
.tiebreak-chart .mark{stroke:#59636e;stroke-width:1;stroke-dasharray:3 4}\
.tiebreak-chart .stroke0{stroke:#0969da}\
.tiebreak-chart .fill0{fill:#0969da}\
.tiebreak-chart .stroke1{stroke:#bc4c00}\
.tiebreak-chart .fill1{fill:#bc4c00}\
.tiebreak-chart .stroke2{stroke:#1a7f37}\
.tiebreak-chart .fill2{fill:#1a7f37}\
.tiebreak-chart .stroke3{stroke:#8250df}\
.tiebreak-chart .fill3{fill:#8250df}\
.tiebreak-chart .stroke4{stroke:#bf3989}\
.tiebreak-chart .fill4{fill:#bf3989}\
.tiebreak-chart .stroke5{stroke:#6e7781}\
.tiebreak-chart .fill5{fill:#6e7781}\
@media (prefers-color-scheme:dark){\
.tiebreak-chart{background:#0d1117}\
.tiebreak-chart .paper{fill:#0d1117}\
.tiebreak-chart .ink{fill:#f0f6fc}\
.tiebreak-chart .dim{fill:#9198a1}\
.tiebreak-chart .axis{stroke:#9198a1}\
.tiebreak-chart .grid{stroke:#3d444d}\
.tiebreak-chart .mark{stroke:#9198a1}\
.tiebreak-chart .stroke0{stroke:#58a6ff}\
.tiebreak-chart .fill0{fill:#58a6ff}\
.tiebreak-chart .stroke1{stroke:#f0883e}\
.tiebreak-chart .fill1{fill:#f0883e}\
.tiebreak-chart .stroke2{stroke:#56d364}\
.tiebreak-chart .fill2{fill:#56d364}\
.tiebreak-chart .stroke3{stroke:#bc8cff}\
.tiebreak-chart .fill3{fill:#bc8cff}\
.tiebreak-chart .stroke4{stroke:#ff7bbd}\
.tiebreak-chart .fill4{fill:#ff7bbd}\
.tiebreak-chart .stroke5{stroke:#9198a1}\
.tiebreak-chart .fill5{fill:#9198a1}\
}";

const STUDY_STYLE: &str = "\
.tiebreak-study{background:#fff}\
.tiebreak-study text{font:14px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}\
.tiebreak-study .small{font-size:12px}\
.tiebreak-study .head{font-weight:600}\
.tiebreak-study .paper{fill:#fff}\
.tiebreak-study .ink{fill:#1f2328}\
.tiebreak-study .dim{fill:#59636e}\
.tiebreak-study .axis{stroke:#59636e;stroke-width:1}\
.tiebreak-study .grid{stroke:#d1d9e0;stroke-width:1}\
.tiebreak-study .mass{fill:#0969da;fill-opacity:.35}\
.tiebreak-study .range{stroke:#1f2328;stroke-width:2}\
.tiebreak-study .dot{fill:#1f2328;stroke:#fff;stroke-width:1.5}\
.tiebreak-study .told{stroke:#bc4c00;stroke-width:2}\
.tiebreak-study .told-text{fill:#bc4c00}\
@media (prefers-color-scheme:dark){\
.tiebreak-study{background:#0d1117}\
.tiebreak-study .paper{fill:#0d1117}\
.tiebreak-study .ink{fill:#f0f6fc}\
.tiebreak-study .dim{fill:#9198a1}\
.tiebreak-study .axis{stroke:#9198a1}\
.tiebreak-study .grid{stroke:#3d444d}\
.tiebreak-study .mass{fill:#58a6ff;fill-opacity:.45}\
.tiebreak-study .range{stroke:#f0f6fc}\
.tiebreak-study .dot{fill:#f0f6fc;stroke:#0d1117}\
.tiebreak-study .told{stroke:#f0883e}\
.tiebreak-study .told-text{fill:#f0883e}\
}";

const SLO_STYLE: &str = "\
.tiebreak-slo{background:#fff}\
.tiebreak-slo text{font:14px system-ui,-apple-system,'Segoe UI',Roboto,sans-serif}\
.tiebreak-slo .small{font-size:12px}\
.tiebreak-slo .sign{font-size:32px}\
.tiebreak-slo .paper{fill:#fff}\
.tiebreak-slo .ink{fill:#1f2328}\
.tiebreak-slo .dim{fill:#59636e}\
.tiebreak-slo .axis{stroke:#59636e;stroke-width:1}\
.tiebreak-slo .mass{fill:#f00;fill-opacity:.25}\
.tiebreak-slo .edge{fill:none;stroke:#f00;stroke-opacity:.5;stroke-width:1}\
.tiebreak-slo .good{stroke:#d1242f;stroke-width:2}\
.tiebreak-slo .bad{stroke:#0969da;stroke-width:2}\
.tiebreak-slo .good-text{fill:#d1242f}\
.tiebreak-slo .bad-text{fill:#0969da}\
.tiebreak-slo .bar{stroke:#6e7781;stroke-width:3}\
.tiebreak-slo .open{stroke-dasharray:3 5}\
.tiebreak-slo .dot{fill:#1f2328;stroke:#fff;stroke-width:1.5}\
@media (prefers-color-scheme:dark){\
.tiebreak-slo{background:#0d1117}\
.tiebreak-slo .paper{fill:#0d1117}\
.tiebreak-slo .ink{fill:#f0f6fc}\
.tiebreak-slo .dim{fill:#9198a1}\
.tiebreak-slo .axis{stroke:#9198a1}\
.tiebreak-slo .mass{fill:#ff6b6b;fill-opacity:.25}\
.tiebreak-slo .edge{stroke:#ff6b6b}\
.tiebreak-slo .good{stroke:#ff7b72}\
.tiebreak-slo .bad{stroke:#58a6ff}\
.tiebreak-slo .good-text{fill:#ff7b72}\
.tiebreak-slo .bad-text{fill:#58a6ff}\
.tiebreak-slo .bar{stroke:#b1bac4}\
.tiebreak-slo .dot{fill:#f0f6fc;stroke:#0d1117}\
}";

impl Scene {
    /// An empty document of this size in pixels.
    pub(super) fn new(sheet: Sheet, width: f64, height: f64) -> Scene {
        Scene { sheet, width, height, body: String::new() }
    }

    /// A straight line.
    pub(super) fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(number);
        let line =
            format!("<line class=\"{class}\" x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>");
        self.add(&line);
    }

    /// A filled outline.
    pub(super) fn area(&mut self, class: &str, points: &[(f64, f64)]) {
        let path = path(points);
        self.add(&format!("<path class=\"{class}\" d=\"{path}Z\"/>"));
    }

    /// A line through points.
    pub(super) fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        let path = path(points);
        self.add(&format!("<path class=\"{class}\" d=\"{path}\"/>"));
    }

    /// A filled circle.
    pub(super) fn circle(&mut self, class: &str, middle: (f64, f64), radius: f64) {
        let [x, y, r] = [middle.0, middle.1, radius].map(number);
        self.add(&format!("<circle class=\"{class}\" cx=\"{x}\" cy=\"{y}\" r=\"{r}\"/>"));
    }

    /// A text on one line.
    pub(super) fn text(&mut self, class: &str, x: f64, y: f64, anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::Middle => " text-anchor=\"middle\"",
            Anchor::End => " text-anchor=\"end\"",
        };
        let ([x, y], text) = ([x, y].map(number), escaped(text));
        self.add(&format!("<text class=\"{class}\" x=\"{x}\" y=\"{y}\"{anchor}>{text}</text>"));
    }

    fn add(&mut self, element: &str) {
        self.body.push_str(element);
        self.body.push('\n');
    }

    /// The document, with a title and a description for those who do not see it.
    pub(super) fn finish(self, title: &str, description: &str) -> String {
        let [width, height] = [self.width, self.height].map(number);
        let [title, description] = [title, description].map(escaped);
        let Sheet { name, style } = self.sheet;
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

fn path(points: &[(f64, f64)]) -> String {
    let mut text = String::new();
    for (index, (x, y)) in points.iter().enumerate() {
        let command = if index == 0 { 'M' } else { 'L' };
        text.push_str(&format!("{command}{} {}", number(*x), number(*y)));
    }
    text
}

/// A coordinate with two decimals at most, in as few characters as it takes.
pub(crate) fn number(value: f64) -> String {
    let text = format!("{:.2}", if value.is_finite() { value } else { 0.0 });
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        short => short.to_owned(),
    }
}

/// About how wide a text of letters of this size is: fonts differ, so it is rather too much.
pub(super) fn width_of(text: &str, size: f64) -> f64 {
    use unicode_width::UnicodeWidthStr;
    text.width() as f64 * size * 0.56
}

/// A text inside of an element: on one line, without the characters that XML forbids.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in plain(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => out.push('?'),
            c => out.push(c),
        }
    }
    out
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
