//! The time line of a CPU in letters.

use super::*;
use crate::Piece;

/// Columns of the name of a CPU.
const NAME: usize = 8;
/// What is lost of a piece, from this share on, and how it is drawn.
const LEVELS: [(f64, &str, &str); 8] = [
    (0.5, "\u{2588}", "#"),
    (0.25, "\u{2587}", "%"),
    (0.1, "\u{2586}", "*"),
    (0.05, "\u{2585}", "+"),
    (0.02, "\u{2584}", "="),
    (0.01, "\u{2583}", "-"),
    (0.003, "\u{2582}", ":"),
    (0.0, "\u{2581}", "."),
];
/// A cause is told from this share on.
const TOLD_LEAST: f64 = 0.003;

/// Two lines: how much was lost, and to what; more if they are too wide for the screen.
pub(super) fn lines(cpu: &CpuNoise, look: &Look) -> Vec<Spans> {
    let room = look.columns() - NAME;
    let mut lines = Vec::new();
    for (index, pieces) in cpu.strip.chunks(room).enumerate() {
        let name = if index == 0 { format!("CPU {}", cpu.cpu) } else { String::new() };
        lines.extend(pair(&name, pieces, look));
    }
    lines
}

/// The last pieces that fit, in two lines.
pub(super) fn latest(cpu: &CpuNoise, columns: usize, look: &Look) -> [Spans; 2] {
    let first = cpu.strip.len().saturating_sub(columns.saturating_sub(NAME));
    pair(&format!("CPU {}", cpu.cpu), &cpu.strip[first..], look)
}

fn pair(name: &str, pieces: &[Piece], look: &Look) -> [Spans; 2] {
    let levels: String = pieces.iter().map(|piece| level(piece, look)).collect();
    let causes: String = pieces.iter().map(letter).collect();
    [
        vec![span(Tone::Strong, format!("{name:NAME$}")), span(Tone::Plain, levels)],
        vec![span(Tone::Plain, " ".repeat(NAME)), span(Tone::Dim, causes)],
    ]
}

fn level(piece: &Piece, look: &Look) -> &'static str {
    let Some(share) = piece.lost_share else { return " " };
    let level = LEVELS.iter().find(|(least, ..)| share >= *least);
    level.map_or(" ", |(_, unicode, ascii)| look.pick(*unicode, *ascii))
}

fn letter(piece: &Piece) -> char {
    match (piece.lost_share, piece.cause) {
        (Some(share), Some(cause)) if share >= TOLD_LEAST => cause.letter(),
        _ => ' ',
    }
}

/// What the letters mean.
pub(super) fn key(found: &Noise, look: &Look) -> String {
    let piece_ns = found.cpus.iter().flat_map(|cpu| &cpu.strip).map(|piece| piece.length_ns).max();
    let length = time(piece_ns.unwrap_or(0));
    let letters: Vec<String> =
        Cause::ALL.iter().map(|cause| format!("{} {}", cause.letter(), cause.words())).collect();
    let drawn = |at: usize| look.pick(LEVELS[at].1, LEVELS[at].2);
    format!(
        "a column is {length}; lost of it: {} from 1%, {} from 10%, {} from 50%; {}",
        drawn(5),
        drawn(2),
        drawn(0),
        letters.join(", ")
    )
}
