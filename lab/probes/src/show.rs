//! What several probes need to be shown.

pub(crate) mod bars;
pub(crate) mod head;
pub(crate) mod list;

use tiebreak_report::svg::scene::{Anchor, Scene, Sheet};
use tiebreak_report::text::wrap_plain;

/// Writes cycles a second with three or four digits: `4.31 GHz`, `812 MHz`.
pub(crate) fn hertz(value: f64) -> String {
    match value {
        v if !v.is_finite() => "-".to_owned(),
        v if v >= 1e9 => format!("{:.2} GHz", v / 1e9),
        v if v >= 1e6 => format!("{:.0} MHz", v / 1e6),
        v => format!("{v:.0} Hz"),
    }
}

/// Writes nanoseconds with three digits or so: `0.99 ns`, `14.2 ns`, `146 ns`.
pub(crate) fn ns(value: f64) -> String {
    let decimals = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} ns")
}

/// Draws a title and a sentence, in a picture's place where there is nothing to draw.
pub(crate) fn notice(title: &str, why: &str) -> String {
    let lines = wrap_plain(why, 96);
    let sheet = Sheet::new("tiebreak-notice", "");
    let mut scene = Scene::new(sheet, 760.0, 56.0 + lines.len() as f64 * 18.0);
    scene.text("ink head", 24.0, 30.0, Anchor::Start, title);
    for (index, line) in lines.iter().enumerate() {
        scene.text("dim small", 24.0, 54.0 + index as f64 * 18.0, Anchor::Start, line);
    }
    scene.finish(title, why)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_of_the_size() {
        let texts = [4.312e9, 8.12e8, 50.0, f64::NAN].map(hertz);
        assert_eq!(texts, ["4.31 GHz", "812 MHz", "50 Hz", "-"]);
    }

    #[test]
    fn times_are_short() {
        for (time, text) in [(0.987, "0.99 ns"), (9.996, "10.0 ns"), (146.4, "146 ns")] {
            assert_eq!(ns(time), text);
        }
    }
}
