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

/// Bars below each other, each a name and a value, with a title above and a note below: one SVG
/// document without anything from elsewhere, readable on light and on dark ground; texts are
/// escaped. Nothing is drawn below 0.
pub fn bars(title: &str, note: &str, write: fn(f64) -> String, bars: &[(String, f64)]) -> String {
    let note_lines = wrap_plain(note, 100);
    let bottom = 50.0 + bars.len() as f64 * ROW;
    let mut scene = Scene::new(SHEET, WIDTH, bottom + 20.0 + note_lines.len() as f64 * 16.0);
    scene.text("ink head", MARGIN, 30.0, Anchor::Start, title);
    let names: Vec<String> =
        bars.iter().map(|(name, _)| shorten_middle(&plain(name), NAME, LOOK)).collect();
    let texts: Vec<String> = bars.iter().map(|(_, value)| write(*value)).collect();
    let left = MARGIN + widest(&names) + 12.0;
    let right = WIDTH - MARGIN - widest(&texts) - 8.0;
    let most = bars.iter().map(|bar| bar.1).fold(0.0, f64::max);
    for (index, ((name, text), (_, value))) in names.iter().zip(&texts).zip(bars).enumerate() {
        let y = 50.0 + index as f64 * ROW;
        let share = if most > 0.0 { (value / most).clamp(0.0, 1.0) } else { 0.0 };
        let x = left + share * (right - left);
        scene.text("ink", left - 12.0, y + THICK - 3.0, Anchor::End, name);
        scene.area("bar", &[(left, y), (x, y), (x, y + THICK), (left, y + THICK)]);
        scene.text("ink", x + 8.0, y + THICK - 3.0, Anchor::Start, text);
    }
    scene.line("axis", (left, 44.0), (left, bottom - ROW + THICK + 6.0));
    for (index, line) in note_lines.iter().enumerate() {
        let y = bottom + 14.0 + index as f64 * 16.0;
        scene.text("dim small", MARGIN, y, Anchor::Start, line);
    }
    scene.finish(title, note)
}

fn widest(texts: &[String]) -> f64 {
    texts.iter().map(|text| width_of(text, PLAIN)).fold(0.0, f64::max)
}
