//! What makes a machine noisy: advice for what applies, a line for the rest.

mod words;

use crate::look::{Look, Tone, span};
use crate::page::Page;
use crate::text::plain;
use tiebreak_core::machine::{Needs, Setting, Standing, Tuning};

/// What was looked at as JSON, with a line feed at its end.
pub fn tuning_json(tuning: &Tuning) -> String {
    serde_json::to_string_pretty(tuning).unwrap_or_default() + "\n"
}

/// What makes this machine noisy, each with why it matters, the command that would change it and
/// the one that puts it back; what is fine, and what is not there, in a line each.
pub fn tuning(tuning: &Tuning, look: &Look) -> String {
    let mut page = Page::new(*look);
    let of = |standing: Standing| tuning.settings.iter().filter(move |s| s.standing == standing);
    let noisy = of(Standing::Noisy).count();
    let head = match noisy {
        0 => "Nothing that was looked at makes this machine noisy.".to_owned(),
        1 => "One thing makes this machine noisy.".to_owned(),
        many => format!("{many} things make this machine noisy."),
    };
    let head = match of(Standing::Could).count() {
        0 => head,
        1 => format!("{head} One more could be better."),
        many => format!("{head} {many} more could be better."),
    };
    let head = format!("{head} Nothing was changed.");
    page.paragraph("", &[span(Tone::Strong, head)]);
    for setting in of(Standing::Noisy).chain(of(Standing::Could)) {
        page.gap();
        advise(&mut page, setting);
    }
    page.gap();
    for (standing, word) in [(Standing::Fine, "fine"), (Standing::Absent, "not here")] {
        let names: Vec<String> = of(standing).map(in_short).collect();
        if !names.is_empty() {
            page.labelled(&format!("{word}: "), &[span(Tone::Plain, names.join(", "))]);
        }
    }
    page.finish()
}

/// `governor (performance)`.
fn in_short(setting: &Setting) -> String {
    let name = words::name(setting.knob);
    match setting.now.as_str() {
        "" => name.to_owned(),
        now => format!("{name} ({})", plain(now)),
    }
}

fn advise(page: &mut Page, setting: &Setting) {
    let tone = if setting.standing == Standing::Noisy { Tone::Doubt } else { Tone::Strong };
    let could = if setting.standing == Standing::Could { " (could be better)" } else { "" };
    let mut head = vec![span(tone, format!("{}:", words::name(setting.knob)))];
    head.push(span(Tone::Plain, format!(" {}{could}", plain(&setting.now))));
    page.paragraph("", &head);
    page.paragraph("  ", &[span(Tone::Plain, words::why(setting.knob))]);
    let Some(change) = &setting.change else {
        page.paragraph("  ", &[span(Tone::Plain, words::without_command(setting.knob))]);
        return;
    };
    let needs = match change.needs {
        Needs::Nothing => "",
        Needs::Root => " (needs root)",
        Needs::Reboot => " (needs root and a restart)",
        Needs::Host => " (on the host: it is read-only in here)",
    };
    let verb = words::verb(setting.knob);
    page.paragraph("  ", &[span(Tone::Dim, format!("{verb}{needs}:"))]);
    page.verbatim(&[span(Tone::Plain, format!("    {}", change.command))]);
    if let Some(undo) = &change.undo {
        page.paragraph("  ", &[span(Tone::Dim, "undo:")]);
        page.verbatim(&[span(Tone::Plain, format!("    {undo}"))]);
    }
}

#[cfg(test)]
mod tests;
