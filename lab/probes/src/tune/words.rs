//! Files whose words are known.

use super::*;
use tiebreak_machine::fingerprint::chosen;

/// A file, and what its words mean.
#[derive(Clone, Copy, Debug)]
pub(super) struct Words {
    /// Its path; a `*` stands for any CPU.
    pub(super) file: &'static str,
    /// The words that are known: each with how it is shown, and how it stands.
    pub(super) known: &'static [(&'static str, &'static str, Standing)],
    /// What other words are.
    pub(super) others: Others,
    /// What to write where it does not stand well.
    pub(super) right: &'static str,
    /// A file that lists all words that may be written, where there is one; `*` as above.
    pub(super) offers: Option<&'static str>,
}

/// What words that a row does not name are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Others {
    /// Nothing that is understood here.
    Unknown,
    /// If it is a whole number, it stands so.
    Number(Standing),
    /// Each stands so.
    Word(Standing),
}

/// What the first of these files that is there says.
pub(super) fn look(files: &[Words], sight: &Sight<'_>) -> Outcome {
    let mut absent = Vec::new();
    for words in files {
        match words.look(sight) {
            Err(Lack::Absent(why)) => absent.push(why),
            told => return told,
        }
    }
    Err(Lack::Absent(absent.join(", ")))
}

impl Words {
    fn look(&self, sight: &Sight<'_>) -> Outcome {
        let (mut shown, mut writes) = (BTreeSet::new(), Vec::new());
        let mut standing = Standing::Fine;
        for (file, text) in sight.each(self.file)? {
            // `always [madvise] never`: the one that was chosen.
            let old = chosen(&text).unwrap_or(text);
            let (word, its) = self.read(&old).ok_or_else(|| Lack::holds(&file, &old))?;
            shown.insert(word.to_owned());
            if its != Standing::Fine {
                standing = its;
                writes.push(Write { file, old, new: self.right.to_owned() });
            }
        }
        let now = shown.into_iter().collect::<Vec<_>>().join(" and ");
        let found = Found::new(standing, now);
        let is_change = !writes.is_empty() && self.is_offered(sight);
        Ok(if is_change { found.writing(sight, &writes) } else { found })
    }

    /// How a word is shown, and how it stands.
    fn read<'a>(&'a self, word: &'a str) -> Option<(&'a str, Standing)> {
        if let Some((_, shown, standing)) = self.known.iter().find(|known| known.0 == word) {
            return Some((shown, *standing));
        }
        match self.others {
            Others::Word(standing) if !word.is_empty() => Some((word, standing)),
            Others::Number(standing) => word.parse::<i64>().ok().map(|_| (word, standing)),
            _ => None,
        }
    }

    /// Whether the kernel takes the right word.
    fn is_offered(&self, sight: &Sight<'_>) -> bool {
        let Some(Ok(offers)) = self.offers.map(|file| sight.each(file)) else { return true };
        offers.iter().all(|(_, words)| words.split_whitespace().any(|word| word == self.right))
    }
}
