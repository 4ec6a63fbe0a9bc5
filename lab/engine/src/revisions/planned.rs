//! The plans of races of two revisions.

use super::{NAMES, Revision, Revisions};
use crate::error::LabError;
use crate::planning::{self, Request, usage};
use std::path::{Path, PathBuf};
use tiebreak_core::claim::{Claim, Relation, Statement};
use tiebreak_core::plan::Plan;
use tiebreak_input as input;
use tiebreak_measure::{StartError, resolve, words};

/// Makes the plan of a race of two revisions of the same command. The contestants are called `base`
/// and `head`, and without a claim head may need at most `1 + slowdown_max` times what base needs.
/// The request says whether that is a gate. [`Revisions::place`] fills in their folders.
///
/// # Errors
/// As [`planning::plan`]; also fails unless there is one command, or for names or parameters, which
/// revisions do not have.
pub fn plan(mut request: Request, slowdown_max: f64) -> Result<Plan, LabError> {
    let [command] = &request.commands[..] else {
        return usage(format!(
            "two revisions run the same command, and here are {}: give one after --base",
            request.commands.len()
        ));
    };
    if !request.names.is_empty() {
        return usage("two revisions are called base and head: leave --name out".to_owned());
    }
    if !request.parameters.is_empty() {
        return usage("--parameter is not for --base: race each value by itself".to_owned());
    }
    if !(0.0..1.0).contains(&slowdown_max) {
        return usage(format!(
            "a slowdown of {slowdown_max} is not a bound: it must be at least 0 and below 1, \
             such as --max-slowdown 2%"
        ));
    }
    request.commands = vec![command.clone(), command.clone()];
    request.names = NAMES.map(str::to_owned).to_vec();
    if request.claims.is_empty() {
        let statement = Statement::Ratio(Relation::NoMoreThan { fraction: slowdown_max });
        let [base, head] = NAMES.map(str::to_owned);
        let text = String::new();
        let (metric, workload) = (request.metric, None);
        let claim = Claim { text, left: head, right: Some(base), statement, metric, workload };
        request.claims.push(input::display(&claim));
    }
    planning::plan(&request)
}

/// Returns why a run's contestants cannot run again in their folders, if they cannot: the worktrees
/// of two revisions are removed after the race.
pub fn gone(plan: &Plan) -> Option<String> {
    let mut folders = plan.contestants.iter().filter_map(|each| each.directory.as_ref());
    let gone = folders.find(|folder| !Path::new(folder).is_dir())?;
    Some(format!(
        "its folder {gone} is gone, as the worktrees of revisions are when a race ends: start a \
         new run, with --keep if it is to be resumed"
    ))
}

impl Revisions {
    /// Sets the folders of the contestants of a plan of [`plan`] to these worktrees: the first
    /// one's is that of base, the second one's that of head.
    ///
    /// # Errors
    /// Fails if the program is not in a worktree, or if the plan's folder lies outside.
    pub fn place(&self, plan: &mut Plan) -> Result<(), LabError> {
        let within = plan.program.directory.take().unwrap_or_default();
        if Path::new(&within).is_absolute() {
            return usage(format!(
                "--directory {within} is one folder for both revisions: name it as it is called \
                 within the tree"
            ));
        }
        let revisions = self.revisions.iter();
        for (contestant, revision) in plan.contestants.iter_mut().zip(revisions) {
            let folder = self.folder(revision.name).join(&within);
            let folder: PathBuf = folder.components().collect();
            check_program(revision, &contestant.command, &folder, &plan.program.shell)?;
            let Some(folder) = folder.to_str() else {
                return usage(format!(
                    "the path {} is not UTF-8: set TMPDIR to another folder",
                    folder.display()
                ));
            };
            contestant.directory = Some(folder.to_owned());
            contestant.parameters.push(("commit".to_owned(), revision.commit.clone()));
        }
        Ok(())
    }
}

/// Distinguishes a program that a build should have made but did not from a wrong word.
fn check_program(
    revision: &Revision,
    command: &str,
    folder: &Path,
    shell: &Option<String>,
) -> Result<(), LabError> {
    let words = words::split(command).unwrap_or_default();
    let Some(word) = words.first().filter(|_| shell.is_none()) else {
        return Ok(());
    };
    match resolve(word, Some(folder)) {
        Err(StartError::NotFound { .. }) if word.contains('/') => Err(LabError::Revision {
            revision: revision.asked.clone(),
            why: format!(
                "{} has no program '{word}' after its build: --build makes it, in the folder \
                 of the worktree in which the command runs",
                revision.name
            ),
        }),
        _ => Ok(()),
    }
}
