//! What placements of the contestants of studies cost: read once, placed, and linked.
//!
//! `cargo run --release -p tiebreak-lab --example placements -- studies/*`

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;
use tiebreak_input::study_folder;
use tiebreak_lab::core::study::BuiltForm;
use tiebreak_measure::build::{Builder, Linker, Placer, default_cache};

const PLACEMENTS: u64 = 20;
static NEVER: AtomicBool = AtomicBool::new(false);

fn main() {
    let builder = Builder::new(&default_cache().expect("a cache"));
    let out = std::env::temp_dir().join(format!("placements-{}.so", std::process::id()));
    println!(
        "{:24} {:24} {:>9} {:>9} {:>9}",
        "study", "contestant", "read ms", "place ms", "link ms"
    );
    for folder in std::env::args().skip(1) {
        let study = match study_folder::read(Path::new(&folder)) {
            Ok(study) => study,
            Err(error) => {
                println!("{error}");
                continue;
            }
        };
        for entrant in &study.contestants {
            let row = format!("{:24} {:24}", study.name, entrant.name);
            let built = match builder.build(&study, entrant, &NEVER) {
                Ok((built, _)) => built,
                Err(error) => {
                    println!("{row} {}", error.to_string().lines().next().unwrap_or_default());
                    continue;
                }
            };
            if !matches!(built.form, BuiltForm::Objects { .. }) {
                continue;
            }
            let begun = Instant::now();
            let placer = match Placer::of(&built.form) {
                Ok(placer) => placer,
                Err(why) => {
                    println!("{row} {why}");
                    continue;
                }
            };
            let read = ms(begun);
            let mut placed = Vec::new();
            let mut linked = Vec::new();
            for seed in 1..=PLACEMENTS {
                let begun = Instant::now();
                let image = placer.place(seed).expect("placed once");
                std::fs::write(&out, image).expect("written");
                placed.push(ms(begun));
                std::fs::remove_file(&out).expect("removed");
                let begun = Instant::now();
                Linker::link(&built.form, seed, &out).expect("linked");
                linked.push(ms(begun));
                std::fs::remove_file(&out).expect("removed");
            }
            println!("{row} {read:9.2} {:9.3} {:9.2}", median(placed), median(linked));
        }
    }
}

fn ms(begun: Instant) -> f64 {
    begun.elapsed().as_secs_f64() * 1e3
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
