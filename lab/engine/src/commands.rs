//! The commands of a plan as a sampler: programs that are waited for, or servers that are loaded.

use crate::error::Result;
use crate::load::driver::Generator;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use tiebreak_core::plan::Plan;
use tiebreak_core::sampler::{Contestants, Quiet, Sampler};
use tiebreak_core::warning::Warning;
use tiebreak_measure::{Programs, Servers};

/// The source of samples of a plan's commands.
pub enum Commands {
    /// A run is waited for.
    Programs(Box<Programs>),
    /// A run is loaded.
    Servers(Box<Servers>),
}

impl Commands {
    /// Checks everything that can be checked before a command runs.
    ///
    /// # Errors
    /// Fails if a program, a file or a CPU of the plan cannot be used, or its load is impossible.
    pub fn new(plan: &Plan, stop: &'static AtomicBool) -> Result<Commands> {
        Ok(match plan.servers.as_deref() {
            None => Commands::Programs(Box::new(Programs::new(plan, stop)?)),
            Some(servers) => {
                let generator = Generator::new(servers, &plan.program.cpus, stop)?;
                let servers = Servers::new(plan, servers, Box::new(generator), stop)?;
                Commands::Servers(Box::new(servers))
            }
        })
    }

    /// Returns the files that the contestants are made of.
    pub fn files(&self) -> Vec<PathBuf> {
        match self {
            Commands::Programs(programs) => programs.files(),
            Commands::Servers(servers) => servers.files(),
        }
    }

    /// Returns the meters that a claim asks for and this machine lacks, as texts for people.
    pub fn missing_meters(&self) -> &[String] {
        match self {
            Commands::Programs(programs) => programs.missing_meters(),
            Commands::Servers(servers) => servers.missing_meters(),
        }
    }

    fn sampler(&mut self) -> &mut dyn Sampler {
        match self {
            Commands::Programs(programs) => programs.as_mut(),
            Commands::Servers(servers) => servers.as_mut(),
        }
    }
}

impl Sampler for Commands {
    fn contestants(&mut self) -> Contestants<'_> {
        self.sampler().contestants()
    }

    fn wait_for_quiet(&mut self, at_most_ns: u64) -> Quiet {
        self.sampler().wait_for_quiet(at_most_ns)
    }

    fn take_warnings(&mut self) -> Vec<Warning> {
        self.sampler().take_warnings()
    }

    fn now_ns(&self) -> u64 {
        match self {
            Commands::Programs(programs) => programs.now_ns(),
            Commands::Servers(servers) => servers.now_ns(),
        }
    }
}
