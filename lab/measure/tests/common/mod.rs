//! What the tests of every kind of contestant share: a plan that asks for nothing in particular.

use tiebreak_core::plan::{
    Adjust, Budget, Centre, Contestant, ENGINE_VERSION, Hooks, Kind, Plan, ProgramPlan, Scope,
};

/// Returns a contestant without hooks. That of a function has no command.
pub fn contestant(name: impl Into<String>, command: &str) -> Contestant {
    Contestant {
        name: name.into(),
        command: command.to_owned(),
        workload: String::new(),
        parameters: Vec::new(),
        hooks: Hooks::default(),
        directory: None,
    }
}

/// Returns a plan without claims, of programs unless more is said.
pub fn plan(contestants: impl IntoIterator<Item = Contestant>) -> Plan {
    Plan {
        engine_version: ENGINE_VERSION,
        kind: Kind::Compare,
        contestants: contestants.into_iter().collect(),
        claims: Vec::new(),
        error: 0.01,
        resolution: 0.01,
        budget: Budget { rounds: Some(10), seconds: None },
        scope: Scope::Binary,
        centre: Centre::Factor,
        seed: "test".to_owned(),
        clock_step_ns: 1.0,
        program: ProgramPlan::default(),
        block_runs: 1,
        adjust: Adjust::NONE,
        functions: None,
        load: None,
        servers: None,
        suite: None,
    }
}
