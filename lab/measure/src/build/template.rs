//! Commands of the table of languages, with their placeholders in braces.

use std::path::Path;
use tiebreak_core::study::Recipe;

/// The values of the placeholders in braces: no word, one, or several.
#[derive(Clone, Debug, Default)]
pub(super) struct Places(Vec<(&'static str, Vec<String>)>);

impl Places {
    /// Returns the values that hold for every command of a recipe.
    pub(super) fn of(recipe: &Recipe, folder: &str, program: &Path) -> Places {
        let first = recipe.sources.first().map(String::as_str).unwrap_or_default();
        let stem = Path::new(first).file_stem().unwrap_or_default().to_string_lossy();
        Places::default()
            .with_path("program", program)
            .with("folder", [folder])
            .with("flags", &recipe.flags)
            .with("sources", &recipe.sources)
            .with("source", [first])
            .with("stem", [stem])
    }

    /// Adds a placeholder that stands for these words, and drops its earlier value.
    pub(super) fn with<W: Into<String>>(
        mut self,
        name: &'static str,
        words: impl IntoIterator<Item = W>,
    ) -> Places {
        self.0.retain(|(other, _)| *other != name);
        self.0.push((name, words.into_iter().map(Into::into).collect()));
        self
    }

    pub(super) fn with_path(self, name: &'static str, path: &Path) -> Places {
        self.with(name, [path.to_string_lossy()])
    }

    /// Fills in words. A word that is only a placeholder becomes all the words of its value.
    pub(super) fn words(&self, words: &[String]) -> Vec<String> {
        let filled = |word: &String| {
            let alone = self.0.iter().find(|(name, _)| is_alone(word, name));
            alone.map_or_else(|| vec![self.text(word)], |(_, words)| words.clone())
        };
        words.iter().flat_map(filled).collect()
    }

    /// Fills in a text. A placeholder in it stands for the first word of its value.
    pub(super) fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, words)| {
            text.replace(&format!("{{{name}}}"), words.first().map_or("", String::as_str))
        })
    }
}

fn is_alone(word: &str, name: &str) -> bool {
    word.strip_prefix('{').and_then(|word| word.strip_suffix('}')) == Some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_alone_are_words_and_others_texts() {
        let places = Places::default()
            .with("flags", ["-a", "-b"])
            .with("none", [""; 0])
            .with("out", ["/x y"]);
        let words = ["cc", "{flags}", "{none}", "-o={out}/{flags}", "{other}", "{{out}}"];
        let filled = places.words(&words.map(str::to_owned));
        assert_eq!(filled, ["cc", "-a", "-b", "-o=/x y/-a", "{other}", "{/x y}"]);
        let later = places.with("out", ["z"]);
        assert_eq!(later.text("{ {out} }"), "{ z }");
    }
}
