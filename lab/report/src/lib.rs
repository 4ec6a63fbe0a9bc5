//! Evidence and verdicts to terminal, JSON and CSV
