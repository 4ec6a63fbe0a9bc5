//! A worker by itself, as `tiebreak __worker` is one: what the tests and examples start.

fn main() -> std::process::ExitCode {
    tiebreak_measure::worker::main().into()
}
