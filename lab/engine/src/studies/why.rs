//! Where two contestants of a study spend their time.

use super::functions::Functions;
use super::setup::{Ready, Setup};
use super::trial::{input_seed, measured_plan};
use super::{Environment, Step, StudyRequest, fault};
use crate::error::{LabError, Result, usage};
use tiebreak_core::result::{Why, WhySide};
use tiebreak_core::study::{Entrant, Study, ThreadCount};
use tiebreak_measure::disassembly;

/// Builds two contestants, judges their answers on a workload, and looks where each of them spends
/// its time: the first workload, unless the request names one. Takes some four seconds.
///
/// # Errors
/// Fails if the request does not name two libraries, if one of them cannot be built or answers
/// wrongly, or if `objdump` cannot show its instructions.
pub fn why(
    asked: &StudyRequest,
    environment: &Environment,
    progress: &mut dyn FnMut(Step<'_>),
) -> Result<Why> {
    let asked = &of_two(asked)?;
    let setup = Setup::new(asked, environment, progress)?;
    let (Some(workload), 2) = (setup.workloads.first(), setup.ready.len()) else {
        return usage(format!("{} has to be asked about two contestants", asked.study.name));
    };
    progress(Step::Checking(&workload.name));
    let seed = format!("{} {} why", asked.seed, workload.name);
    let plan = measured_plan(&setup, workload, &seed)?;
    let mut functions = setup.sampler(plan.clone(), &[])?;
    let input = input_seed(workload, &seed);
    // In the order of the question.
    let is_first = |ready: &Ready| asked.contestants.first() == Some(&ready.entrant.name);
    let order = if setup.ready.get(1).is_some_and(is_first) { [1, 0] } else { [0, 1] };
    let [one, other] = order.map(|index| side(&setup, &mut functions, index, input));
    Ok(Why {
        study: asked.study.name.clone(),
        workload: workload.name.clone(),
        item: asked.study.item.clone(),
        items: plan.items,
        sides: [one?, other?],
    })
}

/// Returns the request with a study of two contestants, as libraries.
fn of_two(asked: &StudyRequest) -> Result<StudyRequest> {
    let mut entrants = asked.entrants()?;
    for Entrant { name, recipe, threads, .. } in &mut entrants {
        if recipe.language.is_runner() {
            return usage(format!(
                "{name} has no library whose instructions could be looked at: it is a process of \
                 its own runtime"
            ));
        }
        let is_alone = threads.as_ref().is_none_or(|one| one.count == ThreadCount::Number(1));
        if !is_alone {
            return usage(format!(
                "{name} runs on several threads, and only one is looked at: name it on one thread"
            ));
        }
        recipe.is_process = false;
    }
    let study = Study { contestants: entrants, ..asked.study.clone() };
    Ok(StudyRequest { study, ..asked.clone() })
}

/// Judges a contestant, and looks where it spends its time.
fn side(
    setup: &Setup<'_>,
    functions: &mut Functions,
    index: usize,
    input_seed: u64,
) -> Result<WhySide> {
    let name = setup.name(index).to_owned();
    let cannot = |why: &str| LabError::Data(format!("{name} cannot be looked at: {why}"));
    let wrong = |(_, fault)| cannot(&format!("it {fault}"));
    fault(functions.check(index, input_seed))?.map_err(wrong)?;
    let profiled = fault(functions.profile(index, input_seed))?.map_err(wrong)?;
    let hot = disassembly::hot(&profiled.places).map_err(|why| cannot(&why))?;
    let a_call = |count: u64| count as f64 / profiled.calls.max(1) as f64;
    Ok(WhySide {
        call_ns: a_call(profiled.timed_ns),
        cycles: profiled.cycles.map(a_call),
        instructions: profiled.instructions.map(a_call),
        model: if hot.is_loop {
            disassembly::model(&hot)
        } else {
            Err("the time is spent in no loop of one function".to_owned())
        },
        hot,
        name,
    })
}
