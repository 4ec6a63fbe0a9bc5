//! Where values lie in a picture: an axis with its ticks, and outlines over it.

use super::scene::{Anchor, SMALL, Scene, WIDTH, number, width_of};
use crate::chart::Span;

/// A rectangle above an axis, in pixels.
pub(super) struct Plot {
    /// The values from left to right.
    pub across: Span,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Plot {
    /// The place of a value, or of the end that it lies beyond.
    pub fn x(&self, value: f64) -> f64 {
        self.left + self.across.place(value).clamp(0.0, 1.0) * (self.right - self.left)
    }

    /// Draws the axis, a line upwards at each tick, and the ticks' numbers as far as they do not
    /// touch each other.
    pub fn axis(&self, scene: &mut Scene, ticks: &[f64], write: impl Fn(f64) -> String) {
        scene.line("axis", (self.left, self.bottom), (self.right, self.bottom));
        let mut free = 0.0;
        for tick in ticks {
            let (x, text) = (self.x(*tick), write(*tick));
            scene.line("grid", (x, self.top), (x, self.bottom));
            let half = width_of(&text, SMALL) / 2.0;
            if x - half >= free {
                let x = x.min(WIDTH - 4.0 - half);
                scene.text("dim small", x, self.bottom + 18.0, Anchor::Middle, &text);
                free = x + half + 8.0;
            }
        }
    }
}

/// Returns the outline of a distribution as a path in whole pixels: `shares` side by side between
/// two ends, over a base line; the largest is `most` high.
pub(crate) fn hills(shares: &[f64], [left, right]: [f64; 2], base: f64, most: f64) -> String {
    let largest = shares.iter().copied().fold(0.0, f64::max);
    let step = (right - left) / shares.len().max(1) as f64;
    let mut path = String::new();
    let mut last = 0.0;
    for (index, share) in shares.iter().chain([&0.0]).enumerate() {
        let height = if largest > 0.0 { (share / largest * most).ceil() } else { 0.0 };
        if height != last {
            let (x, y) = (number((left + index as f64 * step).round()), number(base - height));
            path += &match last {
                0.0 => format!("M{x} {}V{y}", number(base)),
                _ => format!("H{x}V{y}"),
            };
            last = height;
        }
    }
    path
}
