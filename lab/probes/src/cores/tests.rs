use super::*;

#[test]
fn figures_have_stable_keys() {
    let kernels = Kernel::ALL.map(|kernel| KernelLatency {
        kernel,
        nearest_ns: 20.0,
        farthest_ns: 90.0,
        pairs: Vec::new(),
    });
    let cores = Cores { kernels: kernels.to_vec(), ..Cores::default() };
    let figures = cores.figures();
    let keys: Vec<_> = figures.iter().map(|figure| figure.key.as_str()).collect();
    let expected = [
        "cores-two-lines-nearest",
        "cores-two-lines-farthest",
        "cores-one-line-nearest",
        "cores-one-line-farthest",
        "cores-compare-exchange-nearest",
        "cores-compare-exchange-farthest",
    ];
    assert_eq!(keys, expected);
    assert_eq!(figures[1].words, "core to core, two lines, farthest pair");
    assert_eq!(cores.headline().map(|found| found.kernel), Some(Kernel::TwoLines));
    assert!(Cores::default().figures().is_empty());
}

#[test]
fn a_pair_is_spread_over_all_its_modes() {
    fn mode(latency_ns: f64) -> LatencyMode {
        LatencyMode { latency_ns, low_ns: latency_ns - 2.0, high_ns: latency_ns + 2.0, share: 0.5 }
    }
    fn pair(latency_ns: f64, modes: &[f64]) -> PairLatency {
        PairLatency {
            cpus: [0, 1],
            latency_ns,
            timed_by_ns: [None; 2],
            modes: modes.iter().copied().map(mode).collect(),
            rounds_ns: Vec::new(),
            strays: 0,
            batches: 9,
            invalid: 0,
            preemptions: 0,
        }
    }
    let found = KernelLatency {
        kernel: Kernel::TwoLines,
        nearest_ns: 20.0,
        farthest_ns: 90.0,
        pairs: vec![pair(20.0, &[20.0, 60.0]), pair(90.0, &[])],
    };
    let figures = Cores { kernels: vec![found], ..Cores::default() }.figures();
    let spreads: Vec<_> = figures.iter().map(|figure| figure.spread).collect();
    assert_eq!(spreads, [Some(Spread { low: 18.0, high: 62.0 }), None]);
}

#[test]
fn names_in_json_are_the_names_in_keys() {
    for kernel in Kernel::ALL {
        let text = serde_json::to_string(&kernel).unwrap();
        assert_eq!(text.trim_matches('"'), kernel.words().replace(' ', "-"));
    }
}
