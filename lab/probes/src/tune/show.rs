//! What makes a machine noisy: advice for what applies, by groups, and a line for the rest.

use crate::show::*;
use crate::tune::{Needs, Setting, Standing, Tuning};

/// Returns what was looked at as JSON, with a line feed at its end.
pub fn tuning_json(tuning: &Tuning) -> String {
    tiebreak_report::json::text(tuning)
}

/// Returns what makes this machine noisy, by groups, each with why it matters, the command that
/// would change it and the one that puts it back; what is fine, what is not there and what cannot
/// be known, in a paragraph each.
pub fn tuning(tuning: &Tuning, look: &Look) -> String {
    let mut page = Page::new(*look);
    page.paragraph("", &[span(Tone::Strong, head(tuning))]);
    let mut group = "";
    for setting in tuning.settings.iter().filter(|setting| setting.standing.is_bad()) {
        page.gap();
        if setting.group != group {
            group = &setting.group;
            page.paragraph("", &[span(Tone::Strong, plain(group))]);
        }
        advise(&mut page, setting);
    }
    for (standing, label) in [
        (Standing::Fine, "fine: "),
        (Standing::Absent, "not here: "),
        (Standing::Unknown, "not known: "),
    ] {
        page.gap();
        let all = joined(tuning.of(standing).map(in_short));
        if !all.is_empty() {
            page.labelled(label, &[span(Tone::Plain, all)]);
        }
    }
    page.finish()
}

impl Tuning {
    fn of(&self, standing: Standing) -> impl Iterator<Item = &Setting> {
        self.settings.iter().filter(move |setting| setting.standing == standing)
    }
}

fn head(tuning: &Tuning) -> String {
    let noisy = tuning.of(Standing::Noisy);
    let names: Vec<String> = noisy.map(|setting| plain(&setting.name)).collect();
    let head = match names.as_slice() {
        [] => "Nothing that was looked at makes this machine noisy.".to_owned(),
        names => format!("What makes this machine noisy: {}.", names.join(", ")),
    };
    let more = match tuning.of(Standing::Could).count() {
        0 => String::new(),
        more => format!(" {more} more could be better."),
    };
    format!("{head}{more} Nothing was changed.")
}

/// `governor (performance)`.
fn in_short(setting: &Setting) -> String {
    match plain(&setting.now) {
        now if now.is_empty() => plain(&setting.name),
        now => format!("{} ({now})", plain(&setting.name)),
    }
}

fn advise(page: &mut Page, setting: &Setting) {
    let (tone, how) = match setting.standing {
        Standing::Noisy => (Tone::Doubt, "noisy"),
        _ => (Tone::Strong, "could be better"),
    };
    let name = span(tone, format!("{}:", plain(&setting.name)));
    let now = span(Tone::Plain, format!(" {}", plain(&setting.now)));
    page.paragraph("  ", &[name, now, span(tone, format!(" ({how})"))]);
    page.paragraph("    ", &[span(Tone::Plain, plain(&setting.why))]);
    let Some(change) = &setting.change else {
        page.paragraph("    ", &[span(Tone::Plain, plain(&setting.help))]);
        return;
    };
    let needs = match change.needs {
        Needs::Nothing => "",
        Needs::Root => " (needs root)",
        Needs::Reboot => " (needs root and a restart)",
        Needs::Host => " (on the host: it is read-only in here)",
    };
    let verb = if change.undo.is_some() { "change" } else { "look" };
    let undo = change.undo.iter().map(|undo| ("undo:".to_owned(), undo));
    for (label, text) in [(format!("{verb}{needs}:"), &change.command)].into_iter().chain(undo) {
        page.paragraph("    ", &[span(Tone::Dim, label)]);
        // A command is one line, which survives being copied.
        page.verbatim(&[span(Tone::Plain, format!("      {}", plain(text)))]);
    }
}

#[cfg(test)]
mod tests;
