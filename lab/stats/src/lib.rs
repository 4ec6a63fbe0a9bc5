//! Anytime-valid evidence: betting engines, limits, verdicts, seeded coins
