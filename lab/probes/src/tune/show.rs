//! What makes a machine noisy: advice for what applies, by groups, and a line for the rest.

use crate::show::*;
use crate::tune::{Needs, Setting, Standing, Tuning};
use unicode_width::UnicodeWidthStr;

/// Returns what was looked at as JSON, with a line feed at its end.
pub fn tuning_json(tuning: &Tuning) -> String {
    tiebreak_report::json::text(tuning)
}

/// Returns what makes this machine noisy, by groups, each with why it matters, the command that
/// would change it and the one that puts it back; what is fine, what is not there and what cannot
/// be told, in a line each.
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
        advise(&mut page, setting, look);
    }
    page.gap();
    let fine: Vec<String> = tuning.of(Standing::Fine).map(in_short).collect();
    if !fine.is_empty() {
        page.labelled("fine: ", &[span(Tone::Plain, fine.join(", "))]);
    }
    for (standing, word) in [(Standing::Absent, "not here:"), (Standing::Unknown, "not known:")] {
        if tuning.of(standing).next().is_some() {
            page.gap();
            page.labelled(word, &[]);
        }
        for setting in tuning.of(standing) {
            let name = span(Tone::Dim, format!("{}: ", plain(&setting.name)));
            page.paragraph("  ", &[name, span(Tone::Plain, plain(&setting.now))]);
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
        [one] => format!("One thing makes this machine noisy: {one}."),
        many => format!("{} things make this machine noisy: {}.", many.len(), many.join(", ")),
    };
    let more = match tuning.of(Standing::Could).count() {
        0 => String::new(),
        1 => " One more could be better.".to_owned(),
        many => format!(" {many} more could be better."),
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

fn advise(page: &mut Page, setting: &Setting, look: &Look) {
    let (tone, how) = match setting.standing {
        Standing::Noisy => (Tone::Doubt, "noisy"),
        _ => (Tone::Strong, "could be better"),
    };
    let mut head = vec![span(tone, format!("{}:", plain(&setting.name)))];
    head.push(span(Tone::Plain, format!(" {} ({how})", plain(&setting.now))));
    page.paragraph("  ", &head);
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
    let is_shell = change.needs != Needs::Reboot;
    for (label, text) in [
        (format!("{verb}{needs}:"), Some(&change.command)),
        ("undo:".to_owned(), change.undo.as_ref()),
    ] {
        let Some(text) = text else { continue };
        page.paragraph("    ", &[span(Tone::Dim, label)]);
        if !is_shell {
            page.paragraph("      ", &[span(Tone::Plain, plain(text))]);
            continue;
        }
        for line in broken(text, look.columns().saturating_sub(6)) {
            page.verbatim(&[span(Tone::Plain, format!("      {line}"))]);
        }
    }
}

/// Returns a command in lines that a shell takes as one when they are copied: broken at blanks
/// outside of quotes, with a backslash at the end. A word that is wider than the screen stays
/// whole.
fn broken(command: &str, room: usize) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    for letter in command.chars() {
        match (letter, quote) {
            (' ', None) => {
                words.push(std::mem::take(&mut word));
                continue;
            }
            ('\'' | '"', None) => quote = Some(letter),
            (_, Some(open)) if open == letter => quote = None,
            _ => {}
        }
        word.push(letter);
    }
    words.push(word);
    let mut lines: Vec<String> = Vec::new();
    for word in words {
        match lines.last_mut() {
            // Room for the blank, and for a backslash that may follow.
            Some(line) if line.width() + 1 + word.width() + 2 <= room => {
                line.push(' ');
                line.push_str(&word);
            }
            Some(line) => {
                line.push_str(" \\");
                lines.push(format!("  {word}"));
            }
            None => lines.push(word),
        }
    }
    lines
}

#[cfg(test)]
mod tests;
