//! Makes what can be loaded from the sources of a study: builds and receipts.

use super::request::{Environment, Step, StudyRequest};
use super::threads;
use crate::error::LabError;
use std::path::PathBuf;
use tiebreak_core::study::{Built, Entrant, NotRun};
use tiebreak_machine::cpus;
use tiebreak_measure::build::{BuildError, Builder};
use tiebreak_measure::workers::{self, LoadError};

/// The contestants of a study that can be raced, and those that cannot.
#[derive(Debug)]
pub struct Prepared {
    /// Contestants that were built.
    pub ready: Vec<Ready>,
    /// Contestants that take no part, and why.
    pub not_run: Vec<NotRun>,
    /// The shared library of the oracle.
    pub oracle: Option<PathBuf>,
}

/// A contestant that was built.
#[derive(Clone, Debug)]
pub struct Ready {
    /// The contestant as in the study.
    pub entrant: Entrant,
    /// Its build.
    pub built: Built,
    /// Whether something must be reset before each of its calls.
    pub has_reset: bool,
}

/// Builds the requested contestants and the oracle, and inspects each library.
///
/// A contestant takes no part if its compiler is missing, or if it needs what this CPU does not
/// have.
///
/// # Errors
/// Fails if a build fails although its compiler exists, a library is not a contestant's (all of
/// these at once), or fewer than two contestants are left; also with [`LabError::Interrupted`].
pub fn prepare(
    asked: &StudyRequest,
    environment: &Environment,
    progress: &mut dyn FnMut(Step<'_>),
) -> Result<Prepared, LabError> {
    let builder = Builder::new(&environment.cache);
    let mut prepared = Prepared { ready: Vec::new(), not_run: Vec::new(), oracle: None };
    let mut problems = Vec::new();
    let entrants = asked.entrants()?;
    let cpus = u32::try_from(cpus::allowed().len()).unwrap_or(u32::MAX).max(1);
    for entrant in entrants.iter().cloned() {
        let team = threads::team(&entrant, &entrants, cpus).map_err(Problem::NotRun);
        let made = team.and_then(|team| {
            progress(Step::Building { contestant: &entrant.name });
            let mut ready = make(asked, &entrant, &builder, environment)?;
            ready.built.team = team;
            Ok(ready)
        });
        match made {
            Ok(ready) => prepared.ready.push(ready),
            Err(Problem::NotRun(why)) => {
                let not_run = NotRun { name: entrant.name, why };
                progress(Step::NotRun(&not_run));
                prepared.not_run.push(not_run);
            }
            Err(Problem::Wrong(why)) => problems.push(format!("{}: {why}", entrant.name)),
            Err(Problem::Interrupted) => return Err(LabError::Interrupted),
        }
    }
    match builder.build_oracle(&asked.study, environment.stop) {
        Ok(oracle) => prepared.oracle = oracle,
        Err(BuildError::Interrupted) => return Err(LabError::Interrupted),
        Err(error) => problems.push(format!("the oracle: {error}")),
    }
    if !problems.is_empty() {
        let study = asked.study.name.clone();
        return Err(LabError::Study { study, why: problems.join("\n") });
    }
    if prepared.ready.len() < 2 {
        let reasons = prepared.not_run.iter().map(|one| format!("\n{}: {}", one.name, one.why));
        return Err(LabError::Study {
            study: asked.study.name.clone(),
            why: format!(
                "fewer than two of its contestants can run here, so nothing can be compared{}",
                reasons.collect::<String>()
            ),
        });
    }
    Ok(prepared)
}

/// Why a contestant is not ready.
enum Problem {
    NotRun(String),
    Wrong(String),
    Interrupted,
}

impl From<BuildError> for Problem {
    fn from(error: BuildError) -> Problem {
        match error {
            BuildError::Interrupted => Problem::Interrupted,
            BuildError::Missing { .. } => Problem::NotRun(error.to_string()),
            _ => Problem::Wrong(error.to_string()),
        }
    }
}

impl From<LoadError> for Problem {
    fn from(error: LoadError) -> Problem {
        match error {
            LoadError::Needs { .. } => Problem::NotRun(error.to_string()),
            _ => Problem::Wrong(error.to_string()),
        }
    }
}

fn make(
    asked: &StudyRequest,
    entrant: &Entrant,
    builder: &Builder,
    environment: &Environment,
) -> Result<Ready, Problem> {
    let (built, library) = builder.build(&asked.study, entrant, environment.stop)?;
    // A contestant in another runtime has no library, and its runner resets it.
    let facts =
        library.map(|library| workers::probe(&library, &environment.program)).transpose()?;
    let has_reset = facts.is_some_and(|facts| facts.has_reset);
    Ok(Ready { entrant: entrant.clone(), built, has_reset })
}
