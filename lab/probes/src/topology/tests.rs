use super::*;

/// Two sockets of two cores with two threads each, every cache but the last its core's own.
fn two_sockets() -> Topology {
    let cpu = |cpu: usize| {
        let core = cpu % 4;
        Cpu {
            cpu,
            is_online: true,
            is_allowed: cpu < 6,
            core: Some(core),
            package: Some(core / 2),
            node: Some(core / 2),
            smt_siblings: vec![(cpu + 4) % 8],
            max_hz: Some(3_000_000_000 + cpu as u64),
            ..Cpu::default()
        }
    };
    let cache = |level: u8, kind: CacheKind, size: u64, cpus: &[usize]| Cache {
        level,
        kind,
        size_bytes: Some(size),
        line_bytes: Some(64),
        ways: None,
        cpus: cpus.to_vec(),
    };
    let node = |node: usize| Node {
        node,
        cpus: vec![2 * node, 2 * node + 1, 2 * node + 4, 2 * node + 5],
        memory_bytes: Some(1 << 30),
        distances: vec![10, 21],
    };
    Topology {
        cpus: (0..8).map(cpu).collect(),
        caches: vec![
            cache(1, CacheKind::Data, 48 << 10, &[0, 4]),
            cache(1, CacheKind::Instruction, 64 << 10, &[0, 4]),
            cache(3, CacheKind::Unified, 32 << 20, &[0, 1, 4, 5]),
            cache(3, CacheKind::Unified, 32 << 20, &[2, 3, 6, 7]),
        ],
        nodes: vec![node(0), node(1)],
        whole_memory_bytes: None,
        sharing: Probed::inconclusive("not measured"),
        limits: Limits::default(),
        compilers: Vec::new(),
    }
}

#[test]
fn counts_and_figures_are_of_what_is_on() {
    let mut topology = two_sockets();
    let figures = |topology: &Topology| {
        let figures = topology.figures().into_iter();
        figures.map(|figure| (figure.key, figure.value)).collect::<Vec<_>>()
    };
    let of = |key: &str, topology: &Topology| {
        figures(topology).into_iter().find(|(k, _)| k == key).map(|(_, value)| value)
    };
    assert_eq!(of("topology-cpus", &topology), Some(6.0));
    assert_eq!(of("topology-cores", &topology), Some(4.0));
    assert_eq!(of("topology-sockets", &topology), Some(2.0));
    assert_eq!(of("topology-memory", &topology), Some((1_u64 << 31) as f64));
    assert_eq!(of("topology-l1d-each", &topology), Some(f64::from(48 << 10)));
    assert_eq!(of("topology-l3-all", &topology), Some(f64::from(64 << 20)));
    assert_eq!(of("topology-l2-each", &topology), None);
    assert_eq!(of("topology-max-frequency", &topology), Some(3_000_000_007.0));
    assert_eq!(topology.is_smt_advertised(), Some(true));
    // A CPU that is off counts for nothing; one that says nothing of its core spoils the count.
    topology.cpus[2].is_online = false;
    topology.cpus[6].is_online = false;
    assert_eq!(topology.cores(), Some(3));
    topology.cpus[0].core = None;
    assert_eq!((topology.cores(), topology.is_smt_advertised()), (None, None));
    assert_eq!(of("topology-cores", &topology), None);
    topology.nodes[1].memory_bytes = None;
    assert_eq!(topology.memory_bytes(), None);
    topology.whole_memory_bytes = Some(5 << 30);
    assert_eq!(topology.memory_bytes(), Some(5 << 30));
}

#[test]
fn disagreements_are_between_what_is_told_and_what_is_measured() {
    let pair = |is_advertised: Option<bool>, shares: Option<bool>| Pair {
        cpus: [0, 1],
        is_advertised,
        shares,
        slowdown: 1.0,
        shared_rounds: 0.0,
        rounds: 9,
        alone_ns: 1.0,
        together_ns: 1.0,
        batches: 9,
        invalid_batches: 0,
    };
    let values = [None, Some(true), Some(false)];
    let pairs = values.iter().flat_map(|told| values.map(|shares| pair(*told, shares))).collect();
    let sharing = Sharing { pairs, pairs_possible: 9, threshold: 1.3 };
    assert_eq!(sharing.pairs.iter().filter(|pair| pair.is_wrong()).count(), 2);
}

#[test]
fn json_keeps_everything() {
    let topology = two_sockets();
    let text = serde_json::to_string(&topology).unwrap();
    assert_eq!(serde_json::from_str::<Topology>(&text).unwrap(), topology);
    assert!(text.contains("\"is_online\":true") && !text.contains("null"), "{text}");
}
