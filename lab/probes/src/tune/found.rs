//! What a look finds.

use super::*;

/// How something stands, and what would change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) standing: Standing,
    /// How it is now, or why that is not known.
    pub(super) now: String,
    pub(super) change: Option<Change>,
}

/// Why nothing was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Lack {
    /// The machine does not have it.
    Absent(String),
    /// It cannot be read, or says what is not known here.
    Unknown(String),
}

/// What a look says.
pub(super) type Outcome = Result<Found, Lack>;

impl Found {
    pub(super) fn new(standing: Standing, now: impl Into<String>) -> Found {
        Found { standing, now: now.into(), change: None }
    }

    pub(super) fn fine(now: impl Into<String>) -> Found {
        Found::new(Standing::Fine, now)
    }

    /// With what would change it.
    pub(super) fn changed(self, change: Change) -> Found {
        Found { change: Some(change), ..self }
    }

    /// With these writes.
    pub(super) fn writing(self, sight: &Sight<'_>, writes: &[Write]) -> Found {
        self.changed(writing(sight.tree, writes))
    }

    /// With a command that is no write to a file.
    pub(super) fn by(self, command: &str, undo: Option<&str>, needs: Needs) -> Found {
        let undo = undo.map(str::to_owned);
        self.changed(Change { command: command.to_owned(), undo, needs })
    }
}

impl Lack {
    /// A file says something that nobody here understands.
    pub(super) fn holds(file: &str, text: &str) -> Lack {
        let line: String = text.lines().next().unwrap_or_default().chars().take(40).collect();
        Lack::Unknown(format!("{file} holds '{line}', which is not known here"))
    }
}

impl From<Lack> for Found {
    fn from(lack: Lack) -> Found {
        match lack {
            Lack::Absent(why) => Found::new(Standing::Absent, why),
            Lack::Unknown(why) => Found::new(Standing::Unknown, why),
        }
    }
}
