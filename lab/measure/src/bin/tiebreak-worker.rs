//! A worker as a program of its own, as `tiebreak __worker` is one. Tests and examples start it.

fn main() -> std::process::ExitCode {
    tiebreak_measure::worker::main().into()
}
