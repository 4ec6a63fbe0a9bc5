use core::sync::atomic::Ordering::Relaxed;

use super::*;
use crate::interrupts::layout::{FLAG_TICKLESS, FLAG_UNSURVEYED, State};
use crate::interrupts::{CheckIns, CpuSet};

const MARGIN_NS: u64 = 50;
const BEGAN_NS: u64 = 1_000_000;

/// Pages of a machine that does not exist.
struct Made {
    slots: Vec<Slot>,
    header: Header,
    words: Vec<CpuWords>,
}

impl Made {
    /// All CPUs busy, stamped long ago.
    fn new(cpus: usize) -> Made {
        let made = Made {
            slots: (0..cpus).map(|_| Slot::default()).collect(),
            header: Header::default(),
            words: (0..cpus).map(|_| CpuWords::default()).collect(),
        };
        made.header.margin_ns.store(MARGIN_NS, Relaxed);
        for cpu in 0..cpus {
            made.words[cpu].offline_state.store(ONLINE, Relaxed);
            made.run(cpu, 1000, false);
        }
        made
    }

    /// What a run of a program does.
    fn run(&self, cpu: usize, stamp_ns: u64, is_idle: bool) {
        self.slots[cpu].count.fetch_add(1, Relaxed);
        self.slots[cpu].state.store(State::new(stamp_ns, is_idle).0, Relaxed);
    }

    fn view(&self) -> View<'_> {
        View { slots: &self.slots, header: &self.header, words: &self.words }
    }

    fn by_clock(&self) -> Ticket {
        Ticket { mark: Mark::Time(BEGAN_NS), began_ns: BEGAN_NS, set: None, check_ins: None }
    }

    fn by_counts(&self) -> Ticket {
        Ticket { mark: Mark::Counts(self.view().counts()), ..self.by_clock() }
    }

    fn pending(&self, ticket: &Ticket) -> Vec<usize> {
        let mut pending = Vec::new();
        while let Some(cpu) =
            self.view().pending_from(pending.last().map_or(0, |last| last + 1), ticket)
        {
            pending.push(cpu);
        }
        pending
    }
}

#[test]
fn a_stamp_must_be_later_by_more_than_clocks_differ() {
    let cases = [
        (0, false),
        (BEGAN_NS - 1, false),
        (BEGAN_NS, false),
        (BEGAN_NS + MARGIN_NS - 1, false),
        (BEGAN_NS + MARGIN_NS, false),
        (BEGAN_NS + MARGIN_NS + 1, true),
        (u64::MAX >> 1, true),
    ];
    for (stamp_ns, is_done) in cases {
        let made = Made::new(1);
        let ticket = made.by_clock();
        made.run(0, stamp_ns, false);
        assert_eq!(made.pending(&ticket).is_empty(), is_done, "stamp {stamp_ns}");
    }
}

#[test]
fn without_a_margin_the_same_time_is_not_later() {
    let made = Made::new(1);
    made.header.margin_ns.store(0, Relaxed);
    made.run(0, BEGAN_NS, false);
    assert_eq!(made.pending(&made.by_clock()), [0]);
    made.run(0, BEGAN_NS + 1, false);
    assert_eq!(made.pending(&made.by_clock()), []);
}

#[test]
fn every_cpu_must_have_passed_whatever_their_number() {
    let most = if cfg!(miri) { 66 } else { 300 };
    for cpus in [1, 2, 3, 64, 65, most] {
        let made = Made::new(cpus);
        let tickets = [made.by_clock(), made.by_counts()];
        for late in [0, cpus / 2, cpus - 1] {
            let made = Made::new(cpus);
            for cpu in (0..cpus).filter(|cpu| *cpu != late) {
                made.run(cpu, BEGAN_NS * 2, false);
            }
            for ticket in &tickets {
                assert_eq!(made.pending(ticket), [late], "{cpus} CPUs, {ticket:?}");
            }
        }
    }
}

#[test]
fn a_count_that_has_moved_is_a_fence_whatever_the_clock_says() {
    let made = Made::new(2);
    let ticket = made.by_counts();
    assert_eq!(made.pending(&ticket), [0, 1]);
    made.run(1, 0, false);
    assert_eq!(made.pending(&ticket), [0]);
    made.header.margin_ns.store(NO_COMMON_CLOCK, Relaxed);
    made.run(0, 0, false);
    assert_eq!(made.pending(&ticket), []);
}

#[test]
fn an_idle_cpu_is_done_and_later_again_by_its_next_run() {
    let made = Made::new(2);
    made.run(0, 500, true);
    made.run(1, 500, true);
    for ticket in [made.by_clock(), made.by_counts()] {
        assert_eq!(made.pending(&ticket), []);
    }
    let (by_clock, by_counts) = (made.by_clock(), made.by_counts());
    made.run(0, BEGAN_NS + MARGIN_NS, false);
    assert_eq!(made.pending(&by_clock), [0], "it woke within the margin: the first yes counts");
    assert_eq!(made.pending(&by_counts), []);
    made.run(0, BEGAN_NS + 400, false);
    assert_eq!(made.pending(&by_clock), []);
}

#[test]
fn an_offline_cpu_is_done_only_while_its_slot_is_what_it_was() {
    let made = Made::new(3);
    let offline = State::new(700, false);
    made.run(0, 700, false);
    made.words[0].offline_state.store(offline.0, Relaxed);
    // CPU 2 never was online.
    made.slots[2].state.store(0, Relaxed);
    made.words[2].offline_state.store(0, Relaxed);
    assert_eq!(made.pending(&made.by_clock()), [1]);
    assert_eq!(made.view().ages(900), [Age::Offline, Age::Busy(0), Age::Offline]);
    made.run(0, 800, false);
    made.run(2, 800, false);
    assert_eq!(made.pending(&made.by_clock()), [0, 1, 2], "they came up before the ticket");
}

#[test]
fn the_clock_of_a_cpu_that_nobody_compared_is_not_believed() {
    let made = Made::new(2);
    made.words[1].flags.store(FLAG_UNSURVEYED, Relaxed);
    let (by_clock, by_counts) = (made.by_clock(), made.by_counts());
    for cpu in [0, 1] {
        made.run(cpu, BEGAN_NS * 2, false);
    }
    assert_eq!(made.pending(&by_clock), [1]);
    assert_eq!(made.pending(&by_counts), []);
    made.run(1, BEGAN_NS * 2, true);
    assert_eq!(made.pending(&by_clock), [], "to be idle needs no clock");
}

#[test]
fn only_the_cpus_of_the_set_count() {
    let made = Made::new(4);
    made.run(2, BEGAN_NS * 2, false);
    let on = |list: &str| Ticket { set: Some(list.parse::<CpuSet>().unwrap()), ..made.by_clock() };
    for (list, pending) in
        [("2", vec![]), ("1-2", vec![1]), ("0-3", vec![0, 1, 3]), ("", vec![]), ("9", vec![])]
    {
        assert_eq!(made.pending(&on(list)), pending, "{list:?}");
    }
}

#[test]
fn a_check_in_stands_for_its_cpu_only() {
    let made = Made::new(2);
    let check_ins = CheckIns::new(2);
    let begin =
        || Ticket { check_ins: Some((check_ins.clone(), check_ins.look())), ..made.by_clock() };
    let before = begin();
    let attendance = check_ins.attend_on(1).unwrap();
    let ticket = begin();
    assert_eq!(made.pending(&ticket), [0, 1], "no check-in yet");
    attendance.check_in();
    assert_eq!(made.pending(&ticket), [0]);
    assert_eq!(made.pending(&before), [0, 1], "no client attended when that one began");
    assert_eq!(made.pending(&begin()), [0, 1], "that check-in was before");
}

#[test]
fn a_withdrawn_clock_and_a_silent_cpu_are_told() {
    let made = Made::new(2);
    let (by_clock, by_counts) = (made.by_clock(), made.by_counts());
    let why = |ticket: &Ticket, age_ns: u64| made.view().why_pending(1, ticket, age_ns);
    assert_eq!(why(&by_clock, STALE_NS - 1), None);
    let silent = Stale::Silent { cpu: 1, waited_ns: STALE_NS };
    assert_eq!(why(&by_clock, STALE_NS), Some(silent));
    made.words[1].flags.store(FLAG_TICKLESS, Relaxed);
    let tickless = Stale::Tickless { cpu: 1, waited_ns: STALE_NS };
    assert_eq!(why(&by_counts, STALE_NS), Some(tickless));
    made.header.margin_ns.store(NO_COMMON_CLOCK, Relaxed);
    made.run(0, u64::MAX >> 1, false);
    assert_eq!(made.pending(&by_clock), [0, 1], "no stamp is later on clocks that do not agree");
    assert_eq!(why(&by_clock, 0), Some(Stale::Clock));
    assert_eq!(why(&by_counts, 0), None);
}

#[test]
fn ages_name_what_is_known() {
    let made = Made::new(3);
    made.run(0, 4000, false);
    made.run(1, 4000, true);
    made.slots[2].state.store(0, Relaxed);
    assert_eq!(made.view().ages(5000), [Age::Busy(1000), Age::Idle, Age::Unknown]);
    assert_eq!(made.view().ages(0)[0], Age::Busy(0), "a stamp of the future is not old");
}

const ASKED_NS: u64 = 1_000_000_000;

/// Two CPUs; the round, then the virtual times.
fn look(progress: &Progress, now_ns: u64, round: u64, times: [u64; 2]) -> Option<Stale> {
    let (header, words) = (Header::default(), [CpuWords::default(), CpuWords::default()]);
    header.virtual_time.store(round, Relaxed);
    header.oldest_virtual_time.store(times[0].min(times[1]), Relaxed);
    words[0].virtual_time.store(times[0], Relaxed);
    words[1].virtual_time.store(times[1], Relaxed);
    words[0].flags.store(FLAG_TICKLESS, Relaxed);
    let slots = [Slot::default(), Slot::default()];
    let view = View { slots: &slots, header: &header, words: &words };
    progress.why_pending(view, ObservedView::in_view(view), now_ns)
}

#[test]
fn a_daemon_that_makes_no_round_does_not_answer() {
    let progress = Progress::default();
    let unanswered = |waited_ns| Some(Stale::Unanswered { waited_ns });
    assert_eq!(look(&progress, ASKED_NS, 7, [6, 6]), None, "however long no client had asked");
    assert_eq!(look(&progress, ASKED_NS + STALE_NS - 1, 7, [6, 6]), None);
    assert_eq!(look(&progress, ASKED_NS + STALE_NS, 7, [6, 6]), unanswered(STALE_NS));
    let later = ASKED_NS + 3 * STALE_NS;
    assert_eq!(look(&progress, later, 7, [6, 6]), unanswered(3 * STALE_NS));
    assert_eq!(look(&progress, later, 8, [7, 7]), None, "it goes on");
    assert_eq!(look(&progress, later + STALE_NS, 8, [7, 7]), unanswered(STALE_NS));
}

#[test]
fn a_cpu_that_holds_all_up_is_named() {
    let progress = Progress::default();
    let last = ASKED_NS + STALE_NS;
    for (now_ns, round) in (ASKED_NS..last).step_by(10_000_000).zip(7..) {
        assert_eq!(look(&progress, now_ns, round, [round - 1, 5]), None);
    }
    let silent = Stale::Silent { cpu: 1, waited_ns: STALE_NS };
    assert_eq!(look(&progress, last, 17, [16, 5]), Some(silent));
    let tickless = Stale::Tickless { cpu: 0, waited_ns: STALE_NS + 1 };
    assert_eq!(look(&progress, last + 1, 18, [5, 17]), Some(tickless));
    assert_eq!(look(&progress, last + 2, 19, [6, 17]), None, "one step on");
}
