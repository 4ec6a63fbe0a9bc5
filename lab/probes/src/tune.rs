//! What makes this machine noisy, and the commands that would change it. Changes nothing.
//!
//! [`table`] has a row a thing; one engine looks at each and makes a [`Setting`] of it. What files
//! say and what a second of watching found go in, advice comes out as data. Commands are never
//! run: those that write files all come from one place, [`change`], with those that put every file
//! back as it was.

mod change;
mod cores;
mod kernel;
mod load;
mod setting;
mod show;
mod sight;
mod table;
mod watched;
mod words;

pub use setting::{Change, Needs, Setting, Standing, Tuning};
pub use show::{tuning, tuning_json};

use change::{Write, writing};
use sight::{FOLDER, Found, Lack, Outcome, Place, Sight, isolated};
use std::collections::BTreeSet;
use std::path::Path;
use table::{Check, Row, rows};
use tiebreak_machine::cpus::{self, format_list, parse_list};
use tiebreak_machine::fingerprint;
use tiebreak_machine::meters::ThreadCounters;
use tiebreak_machine::tree::Tree;
use watched::Second;
use words::{Others, Words};

/// Looks at everything. Cost: a second, in which wake-ups are timed and interrupts are counted, and
/// some 70 ms.
pub fn read() -> Tuning {
    let tree = Tree::at(Path::new("/"));
    let cpus_allowed = cpus::allowed();
    let place = Place {
        cpus_allowed: cpus_allowed.len(),
        is_virtual: fingerprint::read().is_guest(),
        // SAFETY: geteuid only reads a number.
        is_root: unsafe { libc::geteuid() } == 0,
        has_counters: ThreadCounters::open().is_ok(),
    };
    let second = Second::watch(&tree, &cpus_allowed);
    below(&Sight { tree: &tree, place, second })
}

fn below(sight: &Sight<'_>) -> Tuning {
    let settings = rows().map(|(group, row)| look(group, row, sight)).collect();
    Tuning { schema: Tuning::SCHEMA.to_owned(), settings }
}

/// One row's setting.
fn look(group: &str, row: &Row, sight: &Sight<'_>) -> Setting {
    let told = match row.check {
        Check::Files(files) => words::look(files, sight),
        Check::Look(look) => look(sight),
    };
    let found = told.unwrap_or_else(Found::from);
    let is_bad = matches!(found.standing, Standing::Noisy | Standing::Could);
    Setting {
        knob: row.knob.to_owned(),
        group: group.to_owned(),
        name: row.name.to_owned(),
        why: row.why.to_owned(),
        standing: found.standing,
        now: found.now,
        help: if is_bad && found.change.is_none() { row.help } else { "" }.to_owned(),
        change: found.change,
    }
}

#[cfg(test)]
mod tests;
