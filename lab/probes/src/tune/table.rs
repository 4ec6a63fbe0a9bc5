//! The table of what is looked at, and what the words of its files mean.

use super::*;
use std::sync::LazyLock;
use tiebreak_machine::fingerprint::chosen;

/// All rows, in the order in which they are shown.
pub(super) static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let table = toml::from_str::<BTreeMap<String, Vec<Row>>>(include_str!("rows.toml"));
    table.expect("a test reads all rows").remove("row").unwrap_or_default()
});

/// Something that is looked at; `rows.toml` says what the fields are.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    pub(super) knob: String,
    pub(super) group: String,
    pub(super) name: String,
    pub(super) why: String,
    #[serde(default = "no_help")]
    pub(super) help: String,
    #[serde(default)]
    pub(super) files: Vec<Words>,
}

fn no_help() -> String {
    "No command in here changes it.".to_owned()
}

/// A file, and what its words mean.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Words {
    pub(super) path: String,
    pub(super) words: Vec<(String, String, Standing)>,
    pub(super) numbers: Option<Standing>,
    pub(super) others: Option<Standing>,
    pub(super) right: String,
    pub(super) offers: Option<String>,
}

/// Returns what the first of these files that is there says.
pub(super) fn look_at_files(files: &[Words], sight: &Sight<'_>) -> Outcome {
    let mut absent = Vec::new();
    for words in files {
        match words.look(sight) {
            Err(lack) if lack.standing == Standing::Absent => absent.push(lack.now),
            found => return found,
        }
    }
    Err(Found::absent(absent.join(", ")))
}

impl Words {
    fn look(&self, sight: &Sight<'_>) -> Outcome {
        let (mut shown, mut writes, mut standing) = (BTreeSet::new(), Vec::new(), Standing::Fine);
        for (file, text) in each(sight.tree, &self.path)? {
            // `always [madvise] never`: the one that was chosen.
            let old = chosen(&text).unwrap_or(text);
            let (word, its) = self.read(&old).ok_or_else(|| Found::holds(&file, &old))?;
            shown.insert(word.to_owned());
            if its != Standing::Fine {
                standing = its;
                writes.push(Write::new(file, &old, &self.right));
            }
        }
        // The kernel may not take the right word.
        let offers = self.offers.iter().filter_map(|file| each(sight.tree, file).ok());
        if !offers.flatten().all(|(_, words)| words.split_whitespace().any(|w| w == self.right)) {
            writes.clear();
        }
        let now = shown.into_iter().collect::<Vec<_>>().join(" and ");
        Ok(Found::new(standing, now).writing(sight, &writes))
    }

    /// Returns how a word is shown, and how it stands.
    fn read<'a>(&'a self, word: &'a str) -> Option<(&'a str, Standing)> {
        if let Some((_, shown, standing)) = self.words.iter().find(|known| known.0 == word) {
            return Some((shown, *standing));
        }
        let of_number = self.numbers.filter(|_| word.parse::<i64>().is_ok());
        let of_other = self.others.filter(|_| !word.is_empty());
        Some((word, of_number.or(of_other)?))
    }
}
