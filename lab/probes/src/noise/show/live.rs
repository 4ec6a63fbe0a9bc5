//! The last minute of noise, drawn while it goes on.

use super::*;
use tiebreak_report::look::paint;

/// CPUs that a frame shows: more would not fit on a screen.
const CPUS_MOST: usize = 10;

/// The lines of a frame: a strip for each CPU, with its frequency, and what was lost.
pub fn frame(found: &Noise, look: &Look) -> Vec<String> {
    let columns = look.columns();
    let mut spans = Vec::new();
    let mut cpus: Vec<&CpuNoise> = found.cpus.iter().collect();
    if cpus.len() > CPUS_MOST {
        cpus.sort_by(|a, b| b.lost_share.total_cmp(&a.lost_share));
    }
    for cpu in cpus.into_iter().take(CPUS_MOST) {
        let [mut levels, causes] = strip::latest(cpu, columns.saturating_sub(22), look);
        levels.push(span(Tone::Dim, format!(" {}", now(cpu))));
        spans.extend([levels, causes]);
    }
    if found.cpus.len() > CPUS_MOST {
        let text = format!("{} further CPUs lost less", found.cpus.len() - CPUS_MOST);
        spans.push(vec![span(Tone::Dim, text)]);
    }
    let last = format!("last minute: {}", lost(found, ALL));
    let mut lines: Vec<String> = spans.iter().map(|line| paint(line, *look)).collect();
    lines.extend(wrap_plain(&last, columns));
    lines.push("Ctrl-C ends it".to_owned());
    lines
}

/// One line for where nothing can be redrawn: what was lost of the last second, CPU by CPU.
pub fn line(found: &Noise) -> String {
    let cpus = found.cpus.iter().take(CPUS_MOST);
    let cpus: Vec<String> = cpus.map(|cpu| format!("CPU {} {}", cpu.cpu, now(cpu))).collect();
    let frequency = found.frequency.as_ref().map(|one| format!("; {}", of_frequency(one)));
    cpus.join(", ") + &frequency.unwrap_or_default()
}

/// What was lost last: `12% t`, and the frequency.
fn now(cpu: &CpuNoise) -> String {
    let last = cpu.strip.iter().rev().find(|piece| piece.lost_share.is_some());
    let lost = last.and_then(|piece| piece.lost_share).map_or("-".to_owned(), small);
    let cause = last.and_then(|piece| piece.cause).map_or(' ', |cause| cause.letter());
    let hertz = cpu.frequency.as_ref().map_or(String::new(), |one| hertz(one.median_hertz));
    format!("{lost} {cause} {hertz}").trim_end().to_owned()
}
