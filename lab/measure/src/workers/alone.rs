//! Repeats the work of contestants alone, to determine whether they caused a failure themselves.
//!
//! Contestants of a unit share a process. One that is killed there, or whose answer is wrong there
//! and right in the checking pass, need not be at fault.

use super::Workers;
use super::blame::Suspect;
use std::cell::Cell;
use tiebreak_core::plan::Scope;
use tiebreak_core::sampler::{UnitFailure, UnitRan, UnitRequest};
use tiebreak_core::schedule::{RoundCoins, UnitCoins};
use tiebreak_core::verdict::Fault;

impl Workers {
    /// Runs a unit, or continues in the existing process. A contestant that ran in it when it was
    /// killed, or whose answer was wrong only in it, is run alone, to determine whether it is at
    /// fault.
    pub(super) fn unit(&mut self, request: &UnitRequest<'_>) -> Result<UnitRan, UnitFailure> {
        let suspect = Cell::new(None);
        let ran = self.timed_unit(request, &suspect);
        match (&ran, suspect.get()) {
            (_, Some(suspect)) => self.killed_again(request, suspect, ran),
            // No item is named if the checking pass finds nothing.
            (Err(UnitFailure::Fault(who, Fault::WrongAnswer { item: None, .. })), None)
                if request.members.len() > 1 =>
            {
                self.wrong_again(request, *who, ran)
            }
            _ => ran,
        }
    }

    /// Returns the result of a unit whose process was killed: the contestant's fault, if it is also
    /// killed in its checking pass.
    fn killed_again(
        &mut self,
        request: &UnitRequest<'_>,
        Suspect { contestant, signal }: Suspect,
        ran: Result<UnitRan, UnitFailure>,
    ) -> Result<UnitRan, UnitFailure> {
        match self.check(contestant, self.input_seed(request)) {
            Err(UnitFailure::Fault(who, Fault::Signal { signal: again, stderr }))
                if again == signal =>
            {
                Err(UnitFailure::Fault(who, Fault::Signal { signal, stderr }))
            }
            Err(UnitFailure::Interrupted) => Err(UnitFailure::Interrupted),
            _ => ran,
        }
    }

    /// Returns the result of a unit in which a contestant's answer was wrong: its fault, if the
    /// answer is also wrong in a separate process, on the same input and with as many calls. If
    /// not, one contestant writes to memory of another, and it is unknown which.
    fn wrong_again(
        &mut self,
        request: &UnitRequest<'_>,
        contestant: usize,
        ran: Result<UnitRan, UnitFailure>,
    ) -> Result<UnitRan, UnitFailure> {
        let RoundCoins { order, padding_bytes, unit, .. } = request.coins;
        let place = |all: &[usize]| all.iter().position(|other| *other == contestant);
        let padding = |index: usize| padding_bytes.get(index).copied().unwrap_or(0);
        let placements = unit.as_ref().map_or(&[][..], |unit| &unit.placements);
        let placement = place(order).and_then(|place| placements.get(place));
        let coins = RoundCoins {
            primer: contestant,
            order: vec![contestant],
            padding_bytes: vec![padding(0), padding(1 + place(request.members).unwrap_or(0))],
            unit: Some(UnitCoins {
                input_seed: self.input_seed(request),
                orders_seed: unit.as_ref().map_or(request.coins.round, |unit| unit.orders_seed),
                stack_bytes: unit.as_ref().map_or(0, |unit| unit.stack_bytes),
                placements: vec![placement.copied().unwrap_or(0)],
            }),
            ..*request.coins
        };
        let orders = vec![coins.order.clone(); request.orders.len()];
        let (coins, members) = (&coins, &coins.order);
        let alone = UnitRequest { coins, members, orders: &orders, ..*request };
        let again = self.timed_unit(&alone, &Cell::new(None));
        self.session = None;
        match again {
            Ok(_) => Err(self.somebody_writes(contestant, request.members)),
            Err(UnitFailure::Fault(_, Fault::WrongAnswer { .. })) => ran,
            Err(other) => Err(other),
        }
    }

    fn somebody_writes(&self, contestant: usize, members: &[usize]) -> UnitFailure {
        let name = |one: usize| self.names.get(one).map_or("?", String::as_str);
        let others = members.iter().filter(|other| **other != contestant);
        let others = others.map(|other| name(*other)).collect::<Vec<_>>().join(", ");
        UnitFailure::Broken(format!(
            "{accused} answered wrongly beside {others} on {workload} and rightly alone, on the \
             same input with as many calls: one of them writes to memory of another, and nobody \
             is void for it. The finished units are kept: race each of them against others, or run \
             them under a memory checker, to find out which it is",
            accused = name(contestant),
            workload = self.functions.workload.name,
        ))
    }

    /// Returns the seed of a request's input; at scope `layout`, where later rounds have none, that
    /// of the last input that was used.
    fn input_seed(&self, request: &UnitRequest<'_>) -> u64 {
        let of_unit = request.coins.unit.as_ref().map(|unit| unit.input_seed);
        let last = self.inputs.last_seed().filter(|_| self.scope == Scope::Layout);
        of_unit.or(last).unwrap_or(self.functions.workload.seed)
    }
}
