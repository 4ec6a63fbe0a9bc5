//! The inputs of units, and the checksums that belong to them.

use crate::oracle::{Answer, Input, Oracle, oracle_failure};
use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;
use tiebreak_abi::Random;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::study::{FunctionPlan, Verification, Workload};

/// Knows the input of a workload by its seed, and keeps the last one.
#[derive(Debug)]
pub(super) struct Inputs {
    oracle: Option<Oracle>,
    folder: PathBuf,
    workload: Workload,
    last: Option<(u64, Input)>,
    /// The checksums of the last input, by contract.
    checksums: HashMap<String, u64>,
    /// An input of another seed, and its checksums, which can replace a unit's own.
    other: Option<(u64, Input)>,
    other_checksums: HashMap<String, u64>,
    /// The last part that was verified.
    verified: Option<(Verification, u64, Input)>,
}

impl Inputs {
    pub(super) fn new(plan: &FunctionPlan, oracle: Option<Oracle>) -> Inputs {
        let folder = PathBuf::from(&plan.folder);
        Inputs {
            oracle: oracle.map(|oracle| oracle.in_folder(&folder)),
            folder,
            workload: plan.workload.clone(),
            last: None,
            checksums: HashMap::new(),
            other: None,
            other_checksums: HashMap::new(),
            verified: None,
        }
    }

    /// Returns the file that is the input of every unit, if there is one.
    pub(super) fn file(&self) -> Option<PathBuf> {
        self.workload.file.as_ref().map(|file| self.folder.join(file))
    }

    /// Returns the input of a unit with this seed: its own if the workload is drawn, else the one
    /// input of all.
    pub(super) fn of_unit(&mut self, input_seed: u64) -> Result<&Input, UnitFailure> {
        let seed = self.seed(input_seed);
        if self.last.as_ref().is_none_or(|(last, _)| *last != seed) {
            self.last = None;
            self.checksums.clear();
            let input = match (&mut self.oracle, &self.workload.file) {
                (Some(oracle), _) => oracle.input(&self.workload, seed),
                (None, Some(file)) => Input::of_file(&self.folder.join(file)),
                (None, None) => return Err(no_oracle(&self.workload.name)),
            };
            self.last = Some((seed, input.map_err(oracle_failure)?));
        }
        match &self.last {
            Some((_, input)) => Ok(input),
            None => Err(no_oracle(&self.workload.name)),
        }
    }

    /// Returns the seed of the last input that was used.
    pub(super) fn last_seed(&self) -> Option<u64> {
        self.last.as_ref().map(|(seed, _)| *seed)
    }

    /// Returns the checksum that contestants of this contract must give for that input; `None` if
    /// it is unknown.
    pub(super) fn checksum(
        &mut self,
        input_seed: u64,
        contract: &str,
    ) -> Result<Option<u64>, UnitFailure> {
        self.of_unit(input_seed)?;
        let known = (&mut self.checksums, &self.last);
        checksum_of(&mut self.oracle, &self.workload, known, contract)
    }

    /// Returns an input that can replace a unit's own: one of another seed with the same length and
    /// output length; `None` if there is none. It is made once, for all units.
    pub(super) fn other(&mut self, input_seed: u64) -> Result<Option<&File>, UnitFailure> {
        let Some(oracle) = self.oracle.as_mut().filter(|_| self.workload.file.is_none()) else {
            return Ok(None);
        };
        if self.other.is_none() {
            let seed = Random::new(input_seed).next_u64();
            let input = oracle.input(&self.workload, seed).map_err(oracle_failure)?;
            self.other = Some((seed, input));
        }
        let own = self.of_unit(input_seed)?.sizes();
        let other = self.other.as_ref().map(|(_, input)| input);
        Ok(other.filter(|other| other.sizes() == own && own.bytes > 0).map(|other| &other.file))
    }

    /// Returns the checksum that contestants of this contract must give for the other input.
    pub(super) fn other_checksum(&mut self, contract: &str) -> Result<Option<u64>, UnitFailure> {
        let known = (&mut self.other_checksums, &self.other);
        checksum_of(&mut self.oracle, &self.workload, known, contract)
    }

    /// Returns that input and the whole answer; no answer if it is unknown.
    pub(super) fn answered(
        &mut self,
        input_seed: u64,
        contract: &str,
    ) -> Result<(&Input, Option<Answer>), UnitFailure> {
        let seed = self.seed(input_seed);
        self.of_unit(input_seed)?;
        let Some((_, input)) = &self.last else {
            return Err(no_oracle(&self.workload.name));
        };
        let answer = match &mut self.oracle {
            Some(oracle) => {
                Some(oracle.answer(&self.workload, seed, input, contract).map_err(oracle_failure)?)
            }
            None => None,
        };
        Ok((input, answer))
    }

    /// Returns one part of an input of `study verify`, and its whole answer.
    pub(super) fn verified(
        &mut self,
        verification: &Verification,
        part: u64,
        contract: &str,
    ) -> Result<(&Input, Answer), UnitFailure> {
        let Some(oracle) = &mut self.oracle else {
            return Err(no_oracle(&verification.name));
        };
        let last = self.verified.as_ref().map(|(last, part, _)| (last, *part));
        if last != Some((verification, part)) {
            self.verified = None;
            let input = oracle.verification(verification, part).map_err(oracle_failure)?;
            self.verified = Some((verification.clone(), part, input));
        }
        let Some((_, _, input)) = &self.verified else {
            return Err(no_oracle(&verification.name));
        };
        let answer =
            oracle.verified(verification, part, input, contract).map_err(oracle_failure)?;
        Ok((input, answer))
    }

    fn seed(&self, input_seed: u64) -> u64 {
        if self.workload.is_drawn { input_seed } else { self.workload.seed }
    }
}

/// Returns the checksum for an input, given with its seed and with its known checksums by contract;
/// `None` if there is no oracle or no input.
fn checksum_of(
    oracle: &mut Option<Oracle>,
    workload: &Workload,
    (known, input): (&mut HashMap<String, u64>, &Option<(u64, Input)>),
    contract: &str,
) -> Result<Option<u64>, UnitFailure> {
    if let Some(checksum) = known.get(contract) {
        return Ok(Some(*checksum));
    }
    let (Some(oracle), Some((seed, input))) = (oracle, input) else {
        return Ok(None);
    };
    let checksum = oracle.checksum(workload, *seed, input, contract).map_err(oracle_failure)?;
    known.insert(contract.to_owned(), checksum);
    Ok(Some(checksum))
}

fn no_oracle(workload: &str) -> UnitFailure {
    UnitFailure::Broken(format!("the study has no oracle that could make the input of {workload}"))
}
