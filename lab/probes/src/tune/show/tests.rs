use super::*;
use crate::tune::Change;
use unicode_width::UnicodeWidthStr;

const LOOK: Look = Look { width: 80, color: false, unicode: true };

/// One of a group with a name and a reason of its own.
fn setting(words: [&str; 4], standing: Standing, now: &str, change: Option<Change>) -> Setting {
    let [group, name, why, help] = words.map(str::to_owned);
    let knob = name.replace(' ', "-");
    Setting { knob, group, name, why, standing, now: now.to_owned(), change, help }
}

fn made_up() -> Tuning {
    let change = |command: &str, undo: Option<&str>, needs| {
        Some(Change { command: command.to_owned(), undo: undo.map(str::to_owned), needs })
    };
    let governor = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
    let plain = |name: &'static str| ["memory", name, "", ""];
    let states =
        ["2", "3"].map(|n| format!("/sys/devices/system/cpu/cpu*/cpuidle/state{n}/disable"));
    let switch = |value| format!("echo {value} | sudo tee {}", states.join(" "));
    let list = "62,63,126,127";
    let parameters = format!("isolcpus={list} nohz_full={list} rcu_nocbs={list}");
    let settings = vec![
        setting(
            ["other work", "runnable tasks", "As many other tasks want to run as CPUs.", ""],
            Standing::Noisy,
            "7 on 2 CPUs",
            change("ps -eo pid,pcpu,comm --sort=-pcpu | head", None, Needs::Nothing),
        ),
        setting(
            ["other work", "stolen time", "The hypervisor gave CPU time to others.", "Help."],
            Standing::Noisy,
            "3.1% since the start",
            None,
        ),
        setting(
            ["scheduling", "isolated CPUs", "No CPU is kept free of other work.", ""],
            Standing::Could,
            "none",
            change(
                &format!("add to the kernel's command line: {parameters}"),
                Some("remove it from the kernel's command line"),
                Needs::Reboot,
            ),
        ),
        setting(
            ["scheduling", "threads of a core", "Two CPUs that are threads of one core.", ""],
            Standing::Could,
            "2 threads a core",
            change("echo off > control", Some("echo on > control"), Needs::Host),
        ),
        setting(
            ["waking up", "idle states", "An idle CPU sleeps so deeply.", ""],
            Standing::Could,
            "POLL 0 us, C1 2 us, C6 133 us (menu governor)",
            change(&switch("1"), Some(&switch("0")), Needs::Root),
        ),
        setting(
            ["frequency", "frequency governor", "The kernel lowers the frequency.", ""],
            Standing::Noisy,
            "powersave",
            change(
                &format!("echo performance | sudo tee {governor}"),
                Some(&format!("echo powersave | sudo tee {governor}")),
                Needs::Root,
            ),
        ),
        setting(plain("turbo"), Standing::Absent, "no /sys/devices/system/cpu/cpufreq/boost", None),
        setting(plain("swap"), Standing::Fine, "none", None),
        setting(plain("huge pages"), Standing::Unknown, "enabled holds 'banana'", None),
        setting(plain("timer migration"), Standing::Fine, "", None),
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
fn no_line_is_wider_than_the_screen() {
    for width in [60, 80, 100] {
        let page = tuning(&made_up(), &Look { width, ..LOOK });
        // A command is one line, however wide.
        for line in page.lines().filter(|line| !line.starts_with("      ")) {
            assert!(line.width() <= width, "{line}");
        }
        let commands = made_up().settings.into_iter().filter_map(|setting| setting.change);
        for command in commands.flat_map(|change| [Some(change.command), change.undo]).flatten() {
            assert!(page.lines().any(|line| line.trim() == command), "{command}");
        }
    }
}

#[test]
fn json_holds_everything() {
    let made_up = made_up();
    let text = tuning_json(&made_up);
    assert_eq!(serde_json::from_str::<Tuning>(&text).unwrap(), made_up);
}
