//! Time lines below each other: when each of several CPUs was lost, and to what.

use super::*;

const WIDTH: f64 = 760.0;
const LEFT: f64 = 72.0;
const RIGHT: f64 = 736.0;
const TOP: f64 = 76.0;
/// Of one CPU: what was lost of each piece of time above, its longest gaps below.
const SHARES: f64 = 34.0;
const GAPS: f64 = 10.0;
const BETWEEN: f64 = 16.0;
/// The least width of a gap: a narrower one could not be seen.
const THIN: f64 = 1.0;

const SHEET: Sheet = Sheet::new("tiebreak-timeline", include_str!("svg.css"));

/// Returns what was lost of each CPU, piece by piece, with the longest gaps below. Colours are
/// causes.
pub(crate) fn timeline(found: &Noise, title: &str, note: &str) -> String {
    let row = SHARES + GAPS + BETWEEN;
    let bottom = TOP + found.cpus.len() as f64 * row;
    let mut scene = Scene::new(SHEET, WIDTH, bottom + 46.0);
    scene.text("ink head", 24.0, 28.0, Anchor::Start, title);
    legend(&mut scene);
    let pieces = found.cpus.iter().flat_map(|cpu| &cpu.strip);
    let span_ns = pieces.map(|piece| piece.begin_ns + piece.length_ns).max().unwrap_or(1).max(1);
    for (index, cpu) in found.cpus.iter().enumerate() {
        let y = TOP + index as f64 * row;
        let name = format!("CPU {}", cpu.cpu);
        scene.text("ink small", LEFT - 8.0, y + SHARES - 4.0, Anchor::End, &name);
        scene.area("ground", &corners(LEFT, y, RIGHT - LEFT, SHARES));
        for piece in &cpu.strip {
            let (Some(share), Some(cause)) = (piece.lost_share, piece.cause) else { continue };
            let height = share.clamp(0.0, 1.0) * SHARES;
            let (from, width) = across(piece.begin_ns, piece.length_ns, span_ns);
            scene.area(cause.name(), &corners(from, y + SHARES - height, width, height));
        }
        scene.line("grid", (LEFT, y + SHARES), (RIGHT, y + SHARES));
        for gap in found.longest.iter().filter(|gap| gap.cpu == cpu.cpu) {
            let (from, width) = across(gap.begin_ns, gap.length_ns, span_ns);
            let place = corners(from, y + SHARES + 2.0, width.max(THIN), GAPS - 2.0);
            scene.area(gap.cause.name(), &place);
        }
    }
    axis(&mut scene, bottom - 4.0, span_ns as f64 / 1e9);
    scene.finish(title, note)
}

/// Returns where a stretch of time begins, from left to right, and how wide it is.
fn across(begin_ns: u64, length_ns: u64, span_ns: u64) -> (f64, f64) {
    let [from, to] = [begin_ns, begin_ns + length_ns]
        .map(|ns| LEFT + (ns as f64 / span_ns as f64).clamp(0.0, 1.0) * (RIGHT - LEFT));
    (from, to - from)
}

fn legend(scene: &mut Scene) {
    let mut at = LEFT;
    for cause in Cause::ALL {
        scene.area(cause.name(), &corners(at, 45.0, 11.0, 11.0));
        scene.text("ink small", at + 16.0, 55.0, Anchor::Start, cause.words());
        at += 34.0 + width_of(cause.words(), SMALL);
    }
}

/// Five ticks of time.
fn axis(scene: &mut Scene, y: f64, span_seconds: f64) {
    scene.line("axis", (LEFT, y), (RIGHT, y));
    for tick in 0..=4 {
        let share = f64::from(tick) / 4.0;
        let x = LEFT + share * (RIGHT - LEFT);
        scene.line("axis", (x, y), (x, y + 5.0));
        let anchor = if tick == 4 { Anchor::End } else { Anchor::Middle };
        scene.text("dim small", x, y + 20.0, anchor, &seconds(share * span_seconds));
    }
}
