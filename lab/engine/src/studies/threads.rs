//! Determines on how many threads a contestant runs on this machine.

use tiebreak_core::study::{Entrant, Team, ThreadCount};

/// Returns the team of a contestant if this many CPUs may be used: one for each thread, so that
/// none waits for another. `among` are all requested contestants. If `all` is a number that the
/// same contestant also has, only one of the two runs.
///
/// # Errors
/// Returns why it takes no part.
pub(super) fn team(
    entrant: &Entrant,
    among: &[Entrant],
    cpus: u32,
) -> Result<Option<Team>, String> {
    let Some(threads) = &entrant.threads else { return Ok(None) };
    let with = |count: ThreadCount| {
        let is_it = |other: &&Entrant| {
            let other = other.threads.as_ref();
            other.is_some_and(|other| other.family == threads.family && other.count == count)
        };
        among.iter().find(is_it).map(|other| other.name.as_str())
    };
    let same = |name: &str| {
        let suffix = name.strip_prefix(&threads.family).unwrap_or(name);
        let cpus = if cpus == 1 { "1 CPU".to_owned() } else { format!("{cpus} CPUs") };
        format!("the same as {suffix}, as {cpus} may be used here")
    };
    let number = match threads.count {
        ThreadCount::All => match with(ThreadCount::Number(1)) {
            Some(name) if cpus == 1 => return Err(same(name)),
            _ => cpus,
        },
        ThreadCount::Number(number) if number > cpus => {
            return Err(format!("needs {number} CPUs, and {cpus} may be used here"));
        }
        ThreadCount::Number(number) => match with(ThreadCount::All) {
            Some(name) if number == cpus && cpus > 1 => return Err(same(name)),
            _ => number,
        },
    };
    Ok(Some(Team { family: threads.family.clone(), threads: number }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_core::language::Language;
    use tiebreak_core::study::{Recipe, Threads};

    fn entrant(name: &str, count: ThreadCount) -> Entrant {
        Entrant {
            name: name.to_owned(),
            recipe: Recipe {
                language: Language::named("c").unwrap(),
                sources: Vec::new(),
                compiler: String::new(),
                flags: Vec::new(),
                libraries: Vec::new(),
                version: Vec::new(),
                package: String::new(),
                environment: Vec::new(),
            },
            contract: String::new(),
            about: String::new(),
            threads: Some(Threads { family: "a".to_owned(), count }),
        }
    }

    #[test]
    fn one_thread_has_one_cpu() {
        let number = ThreadCount::Number;
        let counts = [number(1), number(2), number(4), ThreadCount::All];
        let names = ["a-x1", "a-x2", "a-x4", "a-xall"];
        let among: Vec<_> = names.iter().zip(counts).map(|(name, on)| entrant(name, on)).collect();
        let check = |among: &[Entrant], cpus: u32, expected: &[Result<u32, &str>]| {
            for (entrant, expected) in among.iter().zip(expected) {
                let team = team(entrant, among, cpus).map(|team| team.unwrap().threads);
                let expected = expected.map_err(str::to_owned);
                assert_eq!(team, expected, "{} of {cpus}", entrant.name);
            }
        };
        let few = [
            Ok(1),
            Err("needs 2 CPUs, and 1 may be used here"),
            Err("needs 4 CPUs, and 1 may be used here"),
            Err("the same as -x1, as 1 CPU may be used here"),
        ];
        check(&among, 1, &few);
        let two = [
            Ok(1),
            Err("the same as -xall, as 2 CPUs may be used here"),
            Err("needs 4 CPUs, and 2 may be used here"),
            Ok(2),
        ];
        check(&among, 2, &two);
        check(&among, 3, &[Ok(1), Ok(2), Err("needs 4 CPUs, and 3 may be used here"), Ok(3)]);
        check(&among, 64, &[Ok(1), Ok(2), Ok(4), Ok(64)]);
        check(&among[..2], 2, &[Ok(1), Ok(2)]);
        check(&among[3..], 1, &[Ok(1)]);
        let alone = Entrant { threads: None, ..among[0].clone() };
        assert_eq!(team(&alone, &among, 1), Ok(None));
    }
}
