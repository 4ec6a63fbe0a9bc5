//! The inputs of units, and the checksums that belong to them.

use super::maker::{Maker, Wanted};
use crate::oracle::{Answer, Input, Oracle};
use std::fs::File;
use std::path::PathBuf;
use tiebreak_abi::Random;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::study::{FunctionPlan, Verification, Workload};

/// The most inputs that are known ahead, the next unit's included.
const AHEAD_MAX: u64 = 8;
/// The length of all of them, if they are more than two.
const AHEAD_BYTES: u64 = 64 << 20;
/// The length of an input of which none is made ahead.
const ONE_BYTES_MAX: u64 = 256 << 20;

/// Knows the input of a workload by its seed, and keeps the last one.
#[derive(Debug)]
pub(super) struct Inputs {
    oracle: Option<Oracle>,
    folder: PathBuf,
    workload: Workload,
    /// The CPUs on which nothing is timed.
    spare_cpus: Vec<usize>,
    /// Makes the inputs of coming units; started when some are first expected.
    maker: Option<Maker>,
    /// The last input of a unit, with its seed.
    last: Option<(u64, Input)>,
    /// An input of another seed, which can replace a unit's own.
    other: Option<Input>,
    /// The last part that was verified.
    verified: Option<(Verification, u64, Input)>,
}

impl Inputs {
    pub(super) fn new(
        plan: &FunctionPlan,
        oracle: Option<Oracle>,
        spare_cpus: Vec<usize>,
    ) -> Inputs {
        Inputs {
            oracle,
            folder: PathBuf::from(&plan.folder),
            workload: plan.workload.clone(),
            spare_cpus,
            maker: None,
            last: None,
            other: None,
            verified: None,
        }
    }

    /// Returns the file that is the input of every unit, if there is one.
    pub(super) fn file(&self) -> Option<PathBuf> {
        self.workload.file.as_ref().map(|file| self.folder.join(file))
    }

    /// Makes these inputs ahead, the most urgent first, as long as there is room for them: the last
    /// input shows how long one is.
    pub(super) fn expect(&mut self, mut wanted: Vec<Wanted>) {
        let Some(oracle) = self.oracle.as_ref().filter(|_| self.workload.is_drawn) else { return };
        let bytes = self.last.as_ref().map_or(0, |(_, input)| input.bytes + input.output_bytes);
        wanted.truncate(room_for(bytes));
        wanted.retain(|one| self.last_seed() != Some(one.seed));
        let (workload, cpus) = (&self.workload, &self.spare_cpus);
        let maker = self.maker.get_or_insert_with(|| Maker::start(oracle, workload, cpus));
        maker.expect(wanted);
    }

    /// Returns the input of a unit with this seed: its own if the workload is drawn, else the one
    /// input of all. With it comes the oracle, if there is one.
    pub(super) fn of_unit(
        &mut self,
        input_seed: u64,
    ) -> Result<(&mut Input, Option<&mut Oracle>), UnitFailure> {
        let seed = if self.workload.is_drawn { input_seed } else { self.workload.seed };
        let file = self.file();
        let input = match self.last.take() {
            Some((last, input)) if last == seed => input,
            _ => match (&mut self.oracle, file) {
                (Some(oracle), _) => match self.maker.as_ref().and_then(|maker| maker.take(seed)) {
                    Some(made) => made,
                    None => oracle.input(&self.workload, seed)?,
                },
                (None, Some(path)) => Input::of_file(&path)?,
                (None, None) => return Err(no_oracle(&self.workload.name)),
            },
        };
        Ok((&mut self.last.insert((seed, input)).1, self.oracle.as_mut()))
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
        let (input, oracle) = self.of_unit(input_seed)?;
        Ok(oracle.map(|oracle| oracle.checksum(input, contract)).transpose()?)
    }

    /// Returns an input that can replace a unit's own: one of another seed with the same length and
    /// output length; `None` if there is none. It is made once, for all units.
    pub(super) fn other(&mut self, input_seed: u64) -> Result<Option<&File>, UnitFailure> {
        let Some(oracle) = self.oracle.as_mut().filter(|_| self.workload.file.is_none()) else {
            return Ok(None);
        };
        if self.other.is_none() {
            let seed = Random::new(input_seed).next_u64();
            self.other = Some(oracle.input(&self.workload, seed)?);
        }
        let own = self.of_unit(input_seed)?.0.sizes();
        let other = self.other.as_ref();
        Ok(other.filter(|other| other.sizes() == own && own.bytes > 0).map(|other| &other.file))
    }

    /// Returns the checksum that contestants of this contract must give for the other input.
    pub(super) fn other_checksum(&mut self, contract: &str) -> Result<Option<u64>, UnitFailure> {
        let known = self.oracle.as_mut().zip(self.other.as_mut());
        let checksum = known.map(|(oracle, input)| oracle.checksum(input, contract));
        Ok(checksum.transpose()?)
    }

    /// Returns that input and the whole answer; no answer if it is unknown.
    pub(super) fn answered(
        &mut self,
        input_seed: u64,
        contract: &str,
    ) -> Result<(&Input, Option<&Answer>), UnitFailure> {
        let (input, oracle) = self.of_unit(input_seed)?;
        if let Some(oracle) = oracle {
            oracle.known_answer(input, contract)?;
        }
        Ok((input, input.known_answer(contract)))
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
        let made = match self.verified.take() {
            Some(last) if (&last.0, last.1) == (verification, part) => last,
            _ => (verification.clone(), part, oracle.verification(verification, part)?),
        };
        let (_, _, input) = self.verified.insert(made);
        let answer = oracle.answer(input, contract)?;
        Ok((input, answer))
    }
}

/// Returns the number of inputs of this many bytes, with their outputs, that are made ahead.
fn room_for(bytes: u64) -> usize {
    match bytes {
        0 => 2,
        _ if bytes > ONE_BYTES_MAX => 0,
        _ => (AHEAD_BYTES / bytes).clamp(2, AHEAD_MAX) as usize,
    }
}

fn no_oracle(workload: &str) -> UnitFailure {
    UnitFailure::Broken(format!("the study has no oracle that could make the input of {workload}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_inputs_do_not_fill_the_memory() {
        let check = |bytes: u64, expected: usize| {
            assert_eq!(room_for(bytes), expected, "{bytes}");
            assert!(expected <= 2 || bytes * expected as u64 <= AHEAD_BYTES, "{bytes}");
        };
        check(0, 2);
        check(1000, 8);
        check(8 << 20, 8);
        check(20 << 20, 3);
        check(100 << 20, 2);
        check(256 << 20, 2);
        check((256 << 20) + 1, 0);
    }
}
