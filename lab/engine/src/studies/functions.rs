//! Contestants that are functions, in libraries or in other runtimes.

use super::Environment;
use crate::error::Result;
use std::path::PathBuf;
use tiebreak_core::plan::Plan;
use tiebreak_core::sampler::{
    Contestants, FunctionSampler, Quiet, Sampler, UnitFailure, UnitRan, UnitRequest,
};
use tiebreak_core::schedule::RoundCoins;
use tiebreak_core::study::{BuiltForm, Untimed, Verification};
use tiebreak_core::warning::Warning;
use tiebreak_measure::MissingMeter;
use tiebreak_measure::runners::Runners;
use tiebreak_measure::workers::{Profiled, Workers};

/// The sampler for the functions of a plan.
pub enum Functions {
    /// Shared libraries, in worker processes.
    Workers(Box<Workers>),
    /// Processes that speak the runner protocol.
    Runners(Box<Runners>),
}

/// Calls the same function of either kind.
macro_rules! of_each {
    ($functions:expr, $inner:ident => $call:expr) => {
        match $functions {
            Functions::Workers($inner) => $call,
            Functions::Runners($inner) => $call,
        }
    };
}

impl Functions {
    /// Prepares everything that can be prepared before the first unit.
    ///
    /// # Errors
    /// Fails if a file of the plan is missing or cannot be used, or if a process cannot be started.
    pub fn new(plan: &Plan, environment: &Environment) -> Result<Functions> {
        let Environment { cache, program, stop } = environment;
        let mut built = plan.functions.iter().flat_map(|functions| &functions.built);
        if built.any(|one| matches!(one.form, BuiltForm::Runner { .. })) {
            let runners = Runners::new(plan, program, cache, stop)?;
            return Ok(Functions::Runners(Box::new(runners)));
        }
        let workers = Workers::new(plan, program.clone(), &cache.join("placements"), stop)?;
        Ok(Functions::Workers(Box::new(workers)))
    }

    /// Returns the files that the contestants are made of.
    pub fn files(&self) -> Vec<PathBuf> {
        of_each!(self, inner => inner.files())
    }

    /// Returns the meters that are not read, each with the reason.
    pub fn missing_meters(&self) -> &[MissingMeter] {
        of_each!(self, inner => inner.missing_meters())
    }

    /// Judges a contestant's answer on the input that this seed draws.
    ///
    /// # Errors
    /// Returns the contestant's fault, an interruption, or an error that no contestant caused.
    pub fn check(&mut self, contestant: usize, input_seed: u64) -> Result<(), UnitFailure> {
        of_each!(self, inner => inner.check(contestant, input_seed))
    }

    /// Returns why the latest [`Functions::check`] of a contestant could not determine whether it
    /// allocates; `None` if it could, or if there is nothing to determine.
    pub fn unstarved(&self, contestant: usize) -> Option<&str> {
        match self {
            Functions::Workers(workers) => workers.unstarved(contestant),
            Functions::Runners(_) => None,
        }
    }

    /// Looks where a contestant spends its time on the input that this seed draws; nowhere if it
    /// lives in another runtime.
    ///
    /// # Errors
    /// As [`Functions::check`].
    pub fn profile(&mut self, contestant: usize, seed: u64) -> Result<Profiled, UnitFailure> {
        match self {
            Functions::Workers(workers) => workers.profile(contestant, seed),
            Functions::Runners(_) => Ok(Profiled::default()),
        }
    }

    /// Judges a contestant's answer on a part of an input of `study verify`, and returns the number
    /// of items.
    ///
    /// # Errors
    /// As [`Functions::check`].
    pub fn verify(
        &mut self,
        contestant: usize,
        verification: &Verification,
        part: u64,
    ) -> Result<u64, UnitFailure> {
        of_each!(self, inner => inner.verify(contestant, verification, part))
    }
}

impl Sampler for Functions {
    fn contestants(&mut self) -> Contestants<'_> {
        Contestants::Functions(self)
    }

    fn wait_for_quiet(&mut self, at_most_ns: u64) -> Quiet {
        of_each!(self, inner => inner.wait_for_quiet(at_most_ns))
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        of_each!(self, inner => inner.take_warnings())
    }

    fn now_ns(&self) -> u64 {
        of_each!(self, inner => inner.now_ns())
    }
}

impl FunctionSampler for Functions {
    fn run_unit(&mut self, request: &UnitRequest<'_>) -> Result<UnitRan, UnitFailure> {
        of_each!(self, inner => inner.run_unit(request))
    }

    fn expect(&mut self, units: &[RoundCoins]) {
        of_each!(self, inner => FunctionSampler::expect(inner.as_mut(), units));
    }

    fn untimed(&self, contestant: usize) -> Option<Untimed> {
        of_each!(self, inner => inner.untimed(contestant))
    }
}
