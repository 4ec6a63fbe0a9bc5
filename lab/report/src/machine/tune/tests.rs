use super::*;
use tiebreak_core::machine::{Change, Knob};
use unicode_width::UnicodeWidthStr;

const LOOK: Look = Look { width: 80, color: false, unicode: true };

const KNOBS: [Knob; 16] = [
    Knob::Governor,
    Knob::Turbo,
    Knob::FrequencyLimit,
    Knob::Smt,
    Knob::HugePages,
    Knob::AddressRandomization,
    Knob::Swap,
    Knob::NmiWatchdog,
    Knob::TimerMigration,
    Knob::IsolatedCpus,
    Knob::Irqbalance,
    Knob::PerfEvents,
    Knob::CpuQuota,
    Knob::CpuPressure,
    Knob::RunnableTasks,
    Knob::Steal,
];

fn setting(knob: Knob, standing: Standing, now: &str, change: Option<Change>) -> Setting {
    Setting { knob, standing, now: now.to_owned(), change }
}

fn made_up() -> Tuning {
    let change = |command: &str, undo: Option<&str>, needs| {
        Some(Change { command: command.to_owned(), undo: undo.map(str::to_owned), needs })
    };
    let governor = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
    let settings = vec![
        setting(
            Knob::Governor,
            Standing::Noisy,
            "powersave",
            change(
                &format!("echo performance | sudo tee {governor}"),
                Some(&format!("echo powersave | sudo tee {governor}")),
                Needs::Root,
            ),
        ),
        setting(Knob::Turbo, Standing::Absent, "", None),
        setting(
            Knob::Smt,
            Standing::Could,
            "2 threads a core",
            change("echo off > control", Some("echo on > control"), Needs::Host),
        ),
        setting(Knob::Swap, Standing::Fine, "none", None),
        setting(Knob::HugePages, Standing::Fine, "madvise", None),
        setting(
            Knob::RunnableTasks,
            Standing::Noisy,
            "7 on 2 CPUs",
            change("ps -eo pid,pcpu,comm --sort=-pcpu | head", None, Needs::Nothing),
        ),
        setting(Knob::Steal, Standing::Noisy, "3.1% since the start", None),
    ];
    Tuning { schema: Tuning::SCHEMA.to_owned(), settings }
}

#[test]
fn advice_reads_well() {
    insta::assert_snapshot!("advice", tuning(&made_up(), &LOOK));
    let mut quiet = made_up();
    quiet.settings.retain(|setting| setting.standing == Standing::Fine);
    insta::assert_snapshot!("nothing_to_do", tuning(&quiet, &LOOK));
}

#[test]
fn every_setting_has_words_that_fit() {
    for width in [40, 60, 100] {
        let look = Look { width, ..LOOK };
        for knob in KNOBS {
            let settings = vec![setting(knob, Standing::Noisy, "now", None)];
            let page = tuning(&Tuning { schema: String::new(), settings }, &look);
            assert!(page.contains(words::name(knob)), "{page}");
            assert!(page.lines().all(|line| line.width() <= look.columns()), "{page}");
        }
    }
}

#[test]
fn json_holds_everything() {
    let made_up = made_up();
    let text = tuning_json(&made_up);
    assert_eq!(serde_json::from_str::<Tuning>(&text).unwrap(), made_up);
}
