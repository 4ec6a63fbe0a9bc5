//! Bars from left to right, each with its number: quantities that are to be compared from 0.

use super::*;
use tiebreak_report::text::shorten_middle;

const WIDTH: f64 = 720.0;
const MARGIN: f64 = 24.0;
const ROW: f64 = 30.0;
const THICK: f64 = 16.0;
/// The longest name, in letters.
const NAME: usize = 34;
const LOOK: Look = Look { width: 100, color: false, unicode: true };

const SHEET: Sheet =
    Sheet::new("tiebreak-bars", styles! { "tiebreak-bars": ".bar" "fill:#0969da" "fill:#58a6ff"; });

/// One bar.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bar {
    /// What it is.
    pub name: String,
    /// How long it is; nothing is drawn below 0.
    pub value: f64,
    /// The value as people read it.
    pub text: String,
}

/// Bars below each other, with a title above and a note below: one SVG document without anything
/// from elsewhere, readable on light and on dark ground; texts are escaped.
pub(crate) fn bars(title: &str, note: &str, bars: &[Bar]) -> String {
    let note_lines = wrap_plain(note, 100);
    let bottom = 50.0 + bars.len() as f64 * ROW;
    let mut scene = Scene::new(SHEET, WIDTH, bottom + 20.0 + note_lines.len() as f64 * 16.0);
    scene.text("ink head", MARGIN, 30.0, Anchor::Start, title);
    let names: Vec<String> =
        bars.iter().map(|bar| shorten_middle(&plain(&bar.name), NAME, LOOK)).collect();
    let widest = |texts: &mut dyn Iterator<Item = &String>| {
        texts.map(|text| width_of(text, PLAIN)).fold(0.0, f64::max)
    };
    let left = MARGIN + widest(&mut names.iter()) + 12.0;
    let right = WIDTH - MARGIN - widest(&mut bars.iter().map(|bar| &bar.text)) - 8.0;
    let most = bars.iter().map(|bar| bar.value).fold(0.0, f64::max);
    for (index, (bar, name)) in bars.iter().zip(&names).enumerate() {
        let y = 50.0 + index as f64 * ROW;
        let share = if most > 0.0 { (bar.value / most).clamp(0.0, 1.0) } else { 0.0 };
        let x = left + share * (right - left);
        scene.text("ink", left - 12.0, y + THICK - 3.0, Anchor::End, name);
        let corners = [(left, y), (x, y), (x, y + THICK), (left, y + THICK)];
        scene.area("bar", &corners);
        scene.text("ink", x + 8.0, y + THICK - 3.0, Anchor::Start, &bar.text);
    }
    scene.line("axis", (left, 44.0), (left, bottom - ROW + THICK + 6.0));
    for (index, line) in note_lines.iter().enumerate() {
        let y = bottom + 14.0 + index as f64 * 16.0;
        scene.text("dim small", MARGIN, y, Anchor::Start, line);
    }
    scene.finish(title, note)
}
