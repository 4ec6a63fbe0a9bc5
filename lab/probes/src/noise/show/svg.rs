//! Time lines below each other: when each of several CPUs was lost, and to what.

use super::*;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 736.0;
const TOP: f64 = 76.0;
/// Of one CPU: what was lost of each piece of time above, its longest gaps below.
const SHARES: f64 = 34.0;
const GAPS: f64 = 8.0;
const ROW: f64 = 60.0;
/// The least width of a gap: a narrower one could not be seen.
const THIN: f64 = 1.0;

const SHEET: Sheet = Sheet::new("tiebreak-timeline", include_str!("svg.css"));

/// Returns what was lost of each CPU, piece by piece, with the longest gaps below. Colours are
/// causes.
pub(crate) fn timeline(found: &Noise, title: &str, note: &str) -> String {
    let bottom = TOP + found.cpus.len() as f64 * ROW;
    let mut scene = Scene::new(SHEET, WIDTH, bottom + 46.0);
    scene.text("ink head", 24.0, 28.0, Anchor::Start, title);
    let mut x = LEFT;
    for cause in Cause::ALL {
        scene.area(cause.name(), &corners(x, 45.0, 11.0, 11.0));
        scene.text("ink small", x + 16.0, 55.0, Anchor::Start, cause.words());
        x += 34.0 + width_of(cause.words(), SMALL);
    }
    let pieces = found.cpus.iter().flat_map(|cpu| &cpu.strip);
    let span_ns = pieces.map(|piece| piece.begin_ns + piece.length_ns).max().unwrap_or(1).max(1);
    let a_ns = (RIGHT - LEFT) / span_ns as f64;
    for (cpu, y) in found.cpus.iter().zip((0..).map(|row| TOP + f64::from(row) * ROW + SHARES)) {
        let name = format!("CPU {}", cpu.cpu);
        scene.text("ink small", LEFT - 8.0, y - 4.0, Anchor::End, &name);
        scene.area("ground", &corners(LEFT, y - SHARES, RIGHT - LEFT, SHARES));
        for piece in &cpu.strip {
            let (Some(share), Some(cause)) = (piece.lost_share, piece.cause) else { continue };
            let (x, width) = (LEFT + piece.begin_ns as f64 * a_ns, piece.length_ns as f64 * a_ns);
            let height = share.clamp(0.0, 1.0) * SHARES;
            scene.area(cause.name(), &corners(x, y - height, width, height));
        }
        scene.line("grid", (LEFT, y), (RIGHT, y));
        for gap in found.longest.iter().filter(|gap| gap.cpu == cpu.cpu) {
            let (x, width) = (LEFT + gap.begin_ns as f64 * a_ns, gap.length_ns as f64 * a_ns);
            scene.area(gap.cause.name(), &corners(x, y + 2.0, width.max(THIN), GAPS));
        }
    }
    scene.line("axis", (LEFT, bottom - 4.0), (RIGHT, bottom - 4.0));
    for tick in 0..=4 {
        let share = f64::from(tick) / 4.0;
        let x = LEFT + share * (RIGHT - LEFT);
        scene.line("axis", (x, bottom - 4.0), (x, bottom + 1.0));
        let time = seconds(share * span_ns as f64 / 1e9);
        scene.text("dim small", x, bottom + 16.0, Anchor::Middle, &time);
    }
    scene.finish(title, note)
}
