//! Turns rounds into verdicts: a pure function of the plan and the journal.

mod beside;
pub(crate) mod effect;
mod nearest;
pub(crate) mod one_factor;
mod sooner;
mod warnings;

use self::beside::Beside;
use self::one_factor::Pairs;
use self::sooner::Sooner;
use crate::claim_test::{self, ClaimTest};
use crate::company::{self, RoundsByPair, Turns};
use crate::observation::{Observation, calls_a_value};
use crate::oddities::Oddities;
use crate::round_ratio;
use crate::self_check::SelfCheck;
use std::convert::Infallible;
use tiebreak_core::evidence::Evidence;
use tiebreak_core::journal::{Event, Journal, RecordedVerdict, Round, Tally, Wealth};
use tiebreak_core::load::PaceResult;
use tiebreak_core::plan::{Budget, Kind, Plan, PlannedClaim, Primer};
use tiebreak_core::sample::{Outcome, Reading, Sample};
use tiebreak_core::schedule::RoundCoins;
use tiebreak_core::verdict::{Fault, Verdict};
use tiebreak_core::warning::Warning;
use tiebreak_stats::blocks::Block;
use tiebreak_stats::coins::{self, Seed};

/// The time that a run may always take before it counts as hanging.
const TIMEOUT_NS_MIN: u64 = 10_000_000_000;
/// After the first round, a run may take this many times the slowest of the first round.
const TIMEOUT_FACTOR: u64 = 10;
/// If a run of the first round takes longer than this, later blocks have no primer, unless the plan
/// says otherwise.
const PRIMED_NS_MAX: u64 = 1_000_000_000;

/// One claim on its way to a verdict.
#[derive(Clone, Debug)]
pub(crate) struct OpenClaim {
    test: ClaimTest,
    /// For a claim about a quantile, the values in order of arrival.
    readings: Vec<Reading>,
    /// For a ratio of two programs, the two values of each round.
    pairs: Pairs,
    /// The run's own time when the claim was settled or became void.
    pub(crate) ended_ns: Option<u64>,
    void: bool,
    /// The number of rounds in which the metric's step was coarse for the resolution.
    coarse_rounds: u64,
    /// What other processes did during its rounds.
    pub(crate) beside: Beside,
    /// Its rounds, as another way would have them.
    sooner: Sooner,
}

/// Turns rounds into evidence, determines which contestants are still needed, and settles claims.
#[derive(Clone, Debug)]
pub struct Referee {
    /// The plan.
    pub plan: Plan,
    seed: Seed,
    /// The current block of primers; empty if each round is a block.
    block: Block,
    /// The budget, which a resumed run may have changed.
    pub(crate) budget: Budget,
    pub(crate) claims: Vec<OpenClaim>,
    /// The observations of each contestant.
    pub seen: Vec<Observation>,
    /// The comparisons of `tiebreak aa`.
    pub(crate) self_check: Option<SelfCheck>,
    /// The number of finished rounds.
    pub rounds: u64,
    had: RoundsByPair,
    /// The number of attempts that were cut off.
    pub lost: u64,
    /// How many of those were ended by a contestant's failure, which is reported instead.
    lost_to_faults: u64,
    /// The run's own time.
    pub elapsed_ns: u64,
    /// How much of that was spent waiting for quiet.
    pub(crate) waited_ns: u64,
    slowest_first_ns: Option<u64>,
    /// Whether a run of the first round took longer than [`PRIMED_NS_MAX`], however it ended.
    has_long_runs: bool,
    /// The number of rounds without a primer.
    pub(crate) unprimed: u64,
    oddities: Oddities,
    /// The number of rounds of a claim for which the kernel did not report how long contestants
    /// waited for a CPU.
    rounds_without_delay: u64,
    /// The share of all proven claims in the file of this run that may be wrong on average, if its
    /// claims were settled together with those of other runs.
    pub(crate) false_share: Option<f64>,
    warnings: Vec<Warning>,
    /// What was seen of the loads whose messages are the stream.
    pub(crate) loads: Vec<PaceResult>,
}

impl Referee {
    /// Creates the referee before the first round.
    pub fn new(plan: &Plan) -> Referee {
        let mut self_check = None;
        if let Kind::SelfCheck { comparisons, rounds_each } = plan.kind {
            self_check = Some(SelfCheck::new(plan, comparisons, rounds_each));
        }
        Referee {
            seed: Seed::from_text(&plan.seed),
            block: Block::default(),
            budget: plan.budget,
            claims: plan.claims.iter().map(|planned| OpenClaim::new(plan, planned)).collect(),
            seen: plan.contestants.iter().map(|_| Observation::default()).collect(),
            self_check,
            rounds: 0,
            had: RoundsByPair::default(),
            lost: 0,
            lost_to_faults: 0,
            elapsed_ns: 0,
            waited_ns: 0,
            slowest_first_ns: None,
            has_long_runs: false,
            unprimed: 0,
            oddities: Oddities::default(),
            rounds_without_delay: 0,
            false_share: None,
            warnings: Vec::new(),
            loads: Vec::new(),
            plan: plan.clone(),
        }
    }

    /// Replays everything in a journal, in the order in which it happened.
    pub fn from_journal(journal: &Journal) -> Referee {
        let Ok(referee) = Referee::walk::<Infallible>(journal, |_, _| Ok(()), |_, _| Ok(()));
        referee
    }

    /// [`Referee::from_journal`], where `before` gets each round before it is added, with the
    /// referee's state at that time, and `after` gets the wealth of the bets afterwards.
    ///
    /// # Errors
    /// Returns the first error of either.
    pub fn walk<E>(
        journal: &Journal,
        before: impl Fn(&Referee, &Round) -> Result<(), E>,
        after: impl Fn(&Round, &[Wealth]) -> Result<(), E>,
    ) -> Result<Referee, E> {
        let mut referee = Referee::new(&journal.header.plan);
        let mut lost = journal.lost.iter().peekable();
        for round in 0..=journal.rounds.len() as u64 {
            for (contestant, fault) in failures(journal, round, None) {
                referee.void(contestant, fault);
            }
            while let Some(coins) = lost.next_if(|coins| coins.round <= round) {
                let failed = || failures(journal, coins.round, Some(coins.attempt));
                referee.lose_attempt(coins, failed().next().map(|(contestant, _)| contestant));
                failed().for_each(|(contestant, fault)| referee.void(contestant, fault));
            }
            if let Some(round) = journal.rounds.get(round as usize) {
                before(&referee, round)?;
                let wealth = referee.take_round(round);
                after(round, &wealth)?;
            }
        }
        for event in &journal.events {
            referee.take_event(event);
        }
        Ok(referee)
    }

    /// Applies an event outside of the rounds.
    pub fn take_event(&mut self, event: &Event) {
        match event {
            Event::Warned { warning } => self.warn(warning.clone()),
            Event::Resumed { budget, .. } => self.budget = *budget,
            Event::Observed { .. } => self.take_lines(event),
            Event::Block { arrivals, tallies, elapsed_ns } => {
                self.take_block(*arrivals, tallies, *elapsed_ns);
            }
            Event::Loaded { load } => self.loads.push((**load).clone()),
            // Elsewhere the walk through the rounds does it at its time.
            Event::Void { contestant, fault, .. } if self.plan.load.is_some() => {
                self.void(*contestant, fault);
            }
            Event::Relaxed { error, false_share } => self.relax(*error, *false_share),
            Event::FirstFailure { contestant, fault, .. } => {
                self.seen[*contestant].first_failure = Some(fault.clone());
            }
            Event::FirstOutputs { .. } | Event::Void { .. } | Event::Stopped { .. } => {}
        }
    }

    /// Settles the open claims whose evidence suffices at this error of one claim.
    pub fn relax(&mut self, error: f64, false_share: f64) {
        self.false_share = Some(false_share);
        for claim in self.claims.iter_mut().filter(|claim| claim.is_open()) {
            claim.ended_ns = claim.test.relax(error).map(|_| self.elapsed_ns);
        }
    }

    /// Returns whether the claim is open and would be settled at this error.
    pub fn would_settle(&self, claim: usize, error: f64) -> bool {
        let claim = &self.claims[claim];
        claim.is_open() && claim.test.settled_at(error).is_some()
    }

    /// Returns the contestants that an open claim still needs, in the order of the plan.
    pub fn needed(&self) -> Vec<usize> {
        company::sorted(self.open_claims().flat_map(|(_, planned)| about(planned)))
    }

    /// Returns the contestants of the next round, in the order of the plan; none if no claim is
    /// open. They depend only on the past, so the coins that are drawn for them have no influence
    /// on them.
    pub fn company(&self) -> Vec<usize> {
        self.turns().next().map_or_else(Vec::new, |(company, _)| company)
    }

    /// Returns the contestants of coming rounds, as known now.
    pub(crate) fn turns(&self) -> Turns {
        if self.plan.races_nearest_first() {
            let next = self.nearest().map_or((Vec::new(), 0), |next| (next.company, next.had));
            Turns::of_one(next.0, next.1)
        } else if self.plan.races_pairs() {
            let only_claims = self.claims_first();
            let open = self.open_claims().map(|(_, planned)| planned);
            let next = open.filter(|planned| !(only_claims && self.waits(planned)));
            self.had.turns(next.map(|planned| company::sorted(about(planned))))
        } else {
            // Within a block of primers all that began it and are not void, until it is complete.
            let needed = self.needed();
            let rest = self.block.rest().filter(|_| !needed.is_empty());
            Turns::of_one(rest.map_or(needed, <[usize]>::to_vec), self.rounds)
        }
    }

    /// Draws an attempt at the next round, without the unit of a round of functions.
    pub fn draw(&self, attempt: u32) -> RoundCoins {
        let company = self.company();
        if self.plan.engine_version == 1 {
            let coins = coins::draw(self.seed, self.rounds, attempt, &company);
            let primer = coins::lone_primer(self.seed, self.rounds, attempt, &company);
            return RoundCoins { primer: Some(primer), ..coins };
        }
        let coins = self.block.draw(self.seed, (self.rounds, attempt), &company, self.primes());
        let is_load = self.plan.servers.is_some();
        RoundCoins { load_seed: is_load.then(|| coins::draw_load(self.seed, &coins)), ..coins }
    }

    /// Returns whether a block that begins now has primers. It depends only on the past. A single
    /// program is not compared with another, so it needs none; its coins had one before version 3.
    fn primes(&self) -> bool {
        if self.plan.functions.is_some() || self.plan.engine_version < 3 {
            return true;
        }
        match self.plan.program.primer {
            _ if self.plan.contestants.len() == 1 => false,
            Primer::Always => true,
            Primer::Short => !self.has_long_runs,
            Primer::Never => false,
        }
    }

    /// Returns whether only claims get the time: one that does not wait is open, and cells of a
    /// study's table still wait for it. The plan contains the wait of each, so no later version of
    /// the rule changes what a journal replays to.
    pub(crate) fn claims_first(&self) -> bool {
        if self.plan.races_nearest_first() {
            return self.nearest().is_some_and(|next| next.is_first);
        }
        self.plan.claims.iter().any(|planned| self.waits(planned))
            && self.open_claims().any(|(_, planned)| !self.waits(planned))
    }

    fn waits(&self, planned: &PlannedClaim) -> bool {
        self.elapsed_ns < planned.waits_ns
    }

    fn open_claims(&self) -> impl Iterator<Item = (usize, &PlannedClaim)> {
        let done = self.self_check.as_ref().is_some_and(SelfCheck::is_finished);
        let claims = self.plan.claims.iter().enumerate();
        claims.filter(move |(index, _)| !done && self.claims[*index].is_open())
    }

    /// Adds a finished round: its samples become evidence of every open claim whose contestants all
    /// ran. Returns the wealth of the bets about these claims.
    pub fn take_round(&mut self, round: &Round) -> Vec<Wealth> {
        let took_ns = round.elapsed_ns.saturating_sub(self.elapsed_ns);
        self.elapsed_ns = round.elapsed_ns;
        self.waited_ns = self.waited_ns.saturating_add(round.waited_ns);
        let order = &round.coins.order;
        if self.plan.functions.is_none() {
            let several = self.plan.contestants.len() > 1;
            let primed = round.coins.primer.filter(|_| several);
            order.iter().chain(&primed).for_each(|one| self.seen[*one].ran += 1);
            self.unprimed += u64::from(several && primed.is_none());
        }
        // In a unit of functions all are primed at its start.
        if self.plan.engine_version > 1 && self.plan.functions.is_none() {
            self.block.take(self.seed, &round.coins);
        }
        if self.rounds == 0 {
            self.slowest_first_ns = slowest(&round.samples);
            self.has_long_runs = round.samples.iter().any(|one| one.wall_ns > PRIMED_NS_MAX);
        }
        self.rounds += 1;
        self.had.take(order, took_ns.saturating_sub(round.waited_ns));
        for (position, (contestant, sample)) in order.iter().zip(&round.samples).enumerate() {
            let batches = round.batches.get(position).map_or(&[][..], Vec::as_slice);
            let shown = self.is_shown(*contestant, order);
            let calls = |metric| calls_a_value(metric, &self.plan, *contestant, order);
            self.seen[*contestant].take(sample, batches, shown, calls);
        }
        self.oddities.take_round(&round.samples);
        // Only claims about success can still judge contestants that failed.
        for (contestant, sample) in order.iter().zip(&round.samples) {
            if sample.outcome == Outcome::Failed {
                self.void(*contestant, &Fault::FailedRun);
            }
        }
        let open: Vec<usize> = self.open_claims().map(|(index, _)| index).collect();
        let mut wealth = Vec::with_capacity(open.len());
        for index in open {
            if let Some((evidence_for, evidence_against)) = self.take_for(index, round) {
                wealth.push(Wealth { claim: index, evidence_for, evidence_against });
            }
        }
        wealth
    }

    /// Returns whether the values of a round with these contestants are reported for this one. If
    /// pairs are raced, rows of a table show rounds of the one company that all can have: the
    /// reference's. A contestant that is never compared with the reference shows all of its values.
    fn is_shown(&self, contestant: usize, order: &[usize]) -> bool {
        let functions = self.plan.functions.as_ref().filter(|_| self.plan.races_pairs());
        let Some(reference) = functions.map(|functions| functions.reference) else { return true };
        let mut claims = self.plan.claims.iter();
        contestant == reference
            || order.contains(&reference)
            || !claims.any(|of| about(of).all(|one| one == contestant || one == reference))
    }

    /// Adds the round to the evidence of one claim, if its contestants ran. Returns the wealth of
    /// its bets.
    fn take_for(&mut self, index: usize, round: &Round) -> Option<(f64, f64)> {
        let planned = &self.plan.claims[index];
        let left = round_ratio::part_of(&self.plan, round, planned.left)?;
        let Some(right) = planned.right else {
            let claim = &mut self.claims[index];
            if planned.claim.statement.is_about_quantile() {
                claim.readings.push(left.reading(planned.claim.metric));
            }
            if claim.is_open() {
                claim.beside.take(planned, left, None);
            }
            if claim.test.observe_one(planned, left.sample).is_some() {
                claim.ended_ns = Some(round.elapsed_ns);
            }
            return Some(claim.test.evidence());
        };
        let right = round_ratio::part_of(&self.plan, round, right)?;
        let (d, coarse) = round_ratio::log_ratio(planned.claim.metric, left, right);
        let conditions = claim_test::conditions(&round.coins, &self.block, left, right);
        if let Some(self_check) = &mut self.self_check {
            return Some(self_check.observe(d, &conditions));
        }
        let claim = &mut self.claims[index];
        let pair = (left.reading(planned.claim.metric), right.reading(planned.claim.metric));
        if self.plan.functions.is_none() {
            claim.pairs.observe(self.rounds == 1, pair, &conditions);
        }
        claim.coarse_rounds += u64::from(coarse);
        if claim.is_open() {
            claim.beside.take(planned, left, Some(right));
            claim.sooner.take(planned, (left, right), &conditions);
        }
        self.rounds_without_delay += u64::from(conditions.delay.is_none());
        if claim.test.observe_pair(planned, pair, d, &conditions).is_some() {
            claim.ended_ns = Some(round.elapsed_ns);
        }
        Some(claim.test.evidence())
    }

    /// Adds lines of a stream to the evidence of its claim.
    fn take_lines(&mut self, event: &Event) {
        let Event::Observed {
            lines,
            successes,
            failure_runs,
            values,
            transitions,
            by_age,
            elapsed_ns,
        } = event
        else {
            return;
        };
        self.elapsed_ns = *elapsed_ns;
        self.rounds += lines;
        for (claim, planned) in self.claims.iter_mut().zip(&self.plan.claims) {
            let failures = lines - successes;
            self.seen[planned.left].take_lines(*lines, failures, planned.claim.metric, values);
            if !claim.is_open() {
                continue;
            }
            if planned.claim.statement.is_about_quantile() {
                claim.readings.extend(values.iter().copied().map(Reading::exact));
            }
            let settled = match &mut claim.test {
                ClaimTest::Share(test) => {
                    test.observe_lines(*lines, *successes, *failure_runs, transitions, by_age)
                }
                ClaimTest::Mean(test) => {
                    values.iter().fold(None, |_, value| test.observe(Reading::exact(*value)))
                }
                ClaimTest::Ratio(_) | ClaimTest::MeanRatio(_) => None,
            };
            if settled.is_some() {
                claim.ended_ns = Some(*elapsed_ns);
            }
        }
    }

    /// Adds a block of the messages of a load to the evidence of each claim.
    fn take_block(&mut self, arrivals: u64, tallies: &[Tally], elapsed_ns: u64) {
        self.elapsed_ns = elapsed_ns;
        self.rounds += arrivals;
        for (claim, tally) in self.claims.iter_mut().zip(tallies) {
            if claim.is_open() && claim.test.observe_block(arrivals, tally).is_some() {
                claim.ended_ns = Some(elapsed_ns);
            }
        }
        for seen in &mut self.seen {
            seen.samples += arrivals;
        }
    }

    /// Counts an attempt at a round that was cut off, for every open claim that it would have fed.
    /// `ended_by` is the contestant whose failure cut it off, if any.
    pub fn lose_attempt(&mut self, coins: &RoundCoins, ended_by: Option<usize>) {
        self.lost += 1;
        self.lost_to_faults += u64::from(ended_by.is_some());
        if let Some(self_check) = &mut self.self_check {
            self_check.lose_attempt();
        }
        for (claim, planned) in self.claims.iter_mut().zip(&self.plan.claims) {
            if !about(planned).all(|contestant| coins.order.contains(&contestant)) {
                continue;
            }
            claim.pairs.lose_attempt();
            if claim.is_open() {
                claim.test.lose_attempt();
                if planned.claim.statement.is_about_quantile() {
                    claim.readings.push(Reading::UNKNOWN);
                }
            }
        }
    }

    /// Marks a contestant as void. Every open claim about it becomes void too, unless it counts
    /// such failures. Settled claims keep their verdict.
    pub fn void(&mut self, contestant: usize, fault: &Fault) {
        let mut voided = false;
        for (claim, planned) in self.claims.iter_mut().zip(&self.plan.claims) {
            let is_about = planned.left == contestant || planned.right == Some(contestant);
            let counts = planned.claim.statement.is_about_success() && fault.is_failed_run();
            if claim.is_open() && is_about && !counts {
                claim.void = true;
                claim.ended_ns = Some(self.elapsed_ns);
                voided = true;
            }
        }
        if voided || *fault != Fault::FailedRun {
            self.seen[contestant].fault.get_or_insert_with(|| fault.clone());
        }
        if !self.needed().contains(&contestant) {
            self.block.leave(contestant);
        }
    }

    /// Returns whether a failure of this contestant is an observation of an open claim.
    pub fn counts_failures(&self, contestant: usize) -> bool {
        let mut open = self.open_claims();
        open.any(|(_, planned)| {
            planned.left == contestant && planned.claim.statement.is_about_success()
        })
    }

    /// Adds a warning, once.
    pub fn warn(&mut self, warning: Warning) {
        if !self.warnings.contains(&warning) {
            self.warnings.push(warning);
        }
    }

    /// Returns whether the budget is used up.
    pub fn is_out_of_budget(&self) -> bool {
        let Budget { rounds, seconds } = self.budget;
        rounds.is_some_and(|most| self.rounds_used() >= most)
            || seconds.is_some_and(|most| self.elapsed_ns as f64 >= most * 1e9)
    }

    /// Returns the used rounds of the budget. If pairs are raced, a budget in rounds applies to
    /// each pair: this is the number of rounds of the next pair, or the most of any pair if no
    /// claim is open.
    pub fn rounds_used(&self) -> u64 {
        if !self.plan.races_pairs() {
            return self.rounds;
        }
        let open = self.open_claims().map(|(_, planned)| company::sorted(about(planned)));
        let fewest = if self.plan.races_nearest_first() {
            open.map(|pair| self.had.of(&pair)).min()
        } else {
            self.turns().next().map(|(_, had)| had)
        };
        fewest.unwrap_or_else(|| self.had.most())
    }

    /// Returns the remaining nanoseconds of the budget; `None` if only rounds are limited.
    pub fn left_ns(&self) -> Option<u64> {
        let most = self.budget.seconds? * 1e9;
        Some((most - self.elapsed_ns as f64).max(0.0) as u64)
    }

    /// Returns the time after which a run of the next round is ended: the plan's time-out, or ten
    /// times the slowest run of the first round and at least 10 s; in the first round the budget,
    /// and at least 10 s. If all of the first round's runs were ended, it stays the same. For
    /// functions the pilot knows how long a unit of one round takes, and no unit gets less than ten
    /// times that: the first unit need not have the slowest contestant.
    pub fn timeout_ns(&self) -> u64 {
        if let Some(timeout_ns) = self.plan.program.timeout_ns {
            return timeout_ns;
        }
        let pilot = self.plan.functions.as_ref().map(|functions| functions.pilot);
        let piloted = pilot
            .filter(|pilot| pilot.units > 0)
            .map(|pilot| TIMEOUT_FACTOR as f64 * (pilot.round_cost_ns + pilot.unit_cost_ns));
        let budget_ns = self.budget.seconds.map_or(60e9, |seconds| seconds * 1e9);
        let timeout = match self.slowest_first_ns {
            Some(slowest) => {
                slowest.saturating_mul(TIMEOUT_FACTOR).max(piloted.unwrap_or(0.0) as u64)
            }
            None => piloted.unwrap_or(budget_ns) as u64,
        };
        timeout.max(TIMEOUT_NS_MIN)
    }

    /// Returns the current verdict of a claim: `undecided` while it is open.
    pub fn verdict(&self, claim: usize) -> Verdict {
        let claim = &self.claims[claim];
        match claim.test.settled() {
            Some(settled) => settled.verdict,
            None if claim.void => Verdict::Void,
            None => Verdict::Undecided,
        }
    }

    /// Returns the contestant that a settled question names.
    pub fn winner(&self, claim: usize) -> Option<usize> {
        let left_wins = self.claims[claim].test.settled()?.left_wins?;
        let planned = &self.plan.claims[claim];
        if left_wins { Some(planned.left) } else { planned.right }
    }

    /// Returns the claim as the journal records it when it ends.
    pub fn record(&self, claim: usize) -> RecordedVerdict {
        let limits = self.claims[claim].test.limits();
        RecordedVerdict {
            claim,
            verdict: self.verdict(claim),
            rounds: self.claims[claim].test.rounds(),
            low: limits.low,
            high: limits.high,
        }
    }

    /// Returns the test of a claim.
    pub fn test(&self, claim: usize) -> &ClaimTest {
        &self.claims[claim].test
    }

    /// Returns everything about a claim's quantity. Costs as much as two limits.
    pub fn evidence(&self, claim: usize) -> Evidence {
        self.claims[claim].test.summary()
    }
}

impl OpenClaim {
    fn new(plan: &Plan, planned: &PlannedClaim) -> OpenClaim {
        OpenClaim {
            test: ClaimTest::new(plan, planned),
            readings: Vec::new(),
            pairs: Pairs::default(),
            ended_ns: None,
            void: false,
            coarse_rounds: 0,
            beside: Beside::default(),
            sooner: Sooner::default(),
        }
    }

    fn is_open(&self) -> bool {
        self.test.settled().is_none() && !self.void
    }
}

/// Returns the contestants of a claim.
fn about(planned: &PlannedClaim) -> impl Iterator<Item = usize> {
    std::iter::once(planned.left).chain(planned.right)
}

/// Returns the contestants that became void in this attempt at a round, or before there was one.
fn failures(
    journal: &Journal,
    in_round: u64,
    in_attempt: Option<u32>,
) -> impl Iterator<Item = (usize, &Fault)> {
    journal.events.iter().filter_map(move |event| match event {
        Event::Void { contestant, round, attempt, fault }
            if (*round, *attempt) == (in_round, in_attempt) =>
        {
            Some((*contestant, fault))
        }
        _ => None,
    })
}

/// Returns the time of the slowest run that ended by itself.
fn slowest(samples: &[Sample]) -> Option<u64> {
    let finished = samples.iter().filter(|sample| sample.outcome == Outcome::Finished);
    finished.map(|sample| sample.wall_ns).max()
}
