//! A picture's place where there is nothing to draw.

use tiebreak_report::svg::scene::{Anchor, Scene, Sheet};
use tiebreak_report::text::wrap_plain;

const SHEET: Sheet = Sheet::new("tiebreak-notice", "");
const WIDTH: f64 = 760.0;

/// A title and a sentence.
pub(crate) fn notice(title: &str, why: &str) -> String {
    let lines = wrap_plain(why, 96);
    let mut scene = Scene::new(SHEET, WIDTH, 56.0 + lines.len() as f64 * 18.0);
    scene.text("ink head", 24.0, 30.0, Anchor::Start, title);
    for (index, line) in lines.iter().enumerate() {
        scene.text("dim small", 24.0, 54.0 + index as f64 * 18.0, Anchor::Start, line);
    }
    scene.finish(title, why)
}
