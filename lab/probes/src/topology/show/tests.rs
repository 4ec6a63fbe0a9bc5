use super::*;
use crate::{Cache, CacheKind, Cpu, Node, Pair, Sharing};
use tiebreak_core::language::Tool;
use tiebreak_report::look::Look;
use unicode_width::UnicodeWidthStr;

const LOOK: Look = Look { width: 80, color: false, unicode: true };

fn pair(cpus: [usize; 2], advertised: Option<bool>, shares: Option<bool>) -> Pair {
    Pair {
        cpus,
        is_advertised: advertised,
        shares,
        slowdown: if shares == Some(true) { 1.93 } else { 1.01 },
        shared_rounds: if shares == Some(true) { 1.0 } else { 0.4 },
        rounds: 40,
        alone_ns: 7000.0,
        together_ns: 7070.0,
        batches: 6400,
        invalid_batches: 12,
    }
}

/// So many sockets with so many cores each, of so many threads each, two caches a socket.
pub(crate) fn made_up(sockets: usize, cores: usize, threads: usize) -> Topology {
    let all = sockets * cores;
    let cpu = |cpu: usize| {
        let core = cpu % all;
        Cpu {
            cpu,
            is_online: true,
            is_allowed: true,
            core: Some(core),
            package: Some(core / cores),
            die: Some(core / cores),
            node: Some(core / cores),
            smt_siblings: (0..threads).map(|t| core + t * all).filter(|n| *n != cpu).collect(),
            ..Cpu::default()
        }
    };
    let cpus: Vec<Cpu> = (0..all * threads).map(cpu).collect();
    let of = |range: std::ops::Range<usize>| -> Vec<usize> {
        (0..all * threads).filter(|cpu| range.contains(&(cpu % all))).collect()
    };
    let cache = |level: u8, kind: CacheKind, size_bytes: u64, cpus: Vec<usize>| Cache {
        level,
        kind,
        size_bytes: Some(size_bytes),
        line_bytes: Some(64),
        ways: Some(12),
        cpus,
    };
    let mut caches = Vec::new();
    for (level, kind, bytes) in [(1, CacheKind::Data, 48 << 10), (2, CacheKind::Unified, 1 << 20)] {
        caches.extend((0..all).map(|core| cache(level, kind, bytes, of(core..core + 1))));
    }
    let half = if cores > 2 { cores.div_ceil(2) } else { cores };
    for start in (0..all).step_by(half) {
        caches.push(cache(3, CacheKind::Unified, 32 << 20, of(start..start + half)));
    }
    let node = |node: usize| Node {
        node,
        cpus: of(node * cores..(node + 1) * cores),
        memory_bytes: Some(8_322_744_320),
        distances: (0..sockets).map(|to| if to == node { 10 } else { 21 }).collect(),
    };
    let sharing = Sharing {
        pairs: vec![pair([0, 1], Some(false), Some(false))],
        pairs_possible: 1,
        threshold: 1.3,
    };
    Topology {
        cpus,
        caches,
        nodes: (0..sockets).map(node).collect(),
        whole_memory_bytes: None,
        sharing: Probed::of(sharing, Vec::new()),
        limits: Limits { is_cpu_quota_known: true, ..Limits::default() },
        compilers: vec![
            Tool {
                name: "gcc".to_owned(),
                version: Some("gcc (Debian 12.2.0-14) 12.2.0".to_owned()),
                error: None,
            },
            Tool {
                name: "python3".to_owned(),
                version: None,
                error: Some("it did not answer in time".to_owned()),
            },
        ],
    }
}

/// Fast cores with two threads and slow ones in a cluster; some barred, one off, no node.
fn hybrid() -> Topology {
    let mut found = made_up(1, 4, 1);
    found.nodes.clear();
    found.caches.retain(|cache| cache.level == 1);
    for (index, cpu) in found.cpus.iter_mut().enumerate() {
        let slow = index > 1;
        cpu.kind = Some(if slow { CoreKind::Efficiency } else { CoreKind::Performance });
        cpu.core = Some(if slow { index - 1 } else { 0 });
        cpu.cluster = slow.then_some(0);
        cpu.smt_siblings = if slow { Vec::new() } else { vec![1 - index] };
        (cpu.node, cpu.die, cpu.package) = (None, None, None);
        cpu.is_allowed = index != 1;
    }
    found.cpus.push(Cpu { cpu: 4, ..Cpu::default() });
    found.sharing = Probed::inconclusive("no two CPUs ran at the same time for long enough");
    found
}

/// CPUs and nothing else.
fn bare() -> Topology {
    let mut found = made_up(1, 2, 1);
    for cpu in &mut found.cpus {
        *cpu = Cpu { cpu: cpu.cpu, is_online: true, is_allowed: true, ..Cpu::default() };
    }
    found.caches.clear();
    found.nodes.clear();
    found.compilers.clear();
    found.limits = Limits::default();
    found
}

#[test]
fn pages_read_well() {
    let ascii = Look { width: 60, unicode: false, ..LOOK };
    insta::assert_snapshot!("two_cpus", page(&made_up(1, 2, 1), &LOOK));
    insta::assert_snapshot!("two_sockets_in_ascii_at_60", page(&made_up(2, 16, 2), &ascii));
    insta::assert_snapshot!("hybrid", page(&hybrid(), &LOOK));
    insta::assert_snapshot!("bare", page(&bare(), &LOOK));
}

#[test]
fn no_line_is_wider_than_the_screen() {
    for found in [made_up(1, 2, 1), made_up(2, 96, 2), made_up(8, 8, 1), hybrid(), bare()] {
        for width in [40, 60, 80, 100, 200] {
            let look = Look { width, ..LOOK };
            for line in page(&found, &look).lines() {
                assert!(line.width() <= look.columns(), "{width}: {line}");
            }
        }
        assert!(rows(&found).iter().all(|row| row.name.len() + row.text.width() < 100));
    }
}

#[test]
fn every_cpu_is_in_one_group() {
    let mut across = made_up(2, 4, 2);
    // A cache that lies across two sockets.
    across.caches[16].cpus = vec![1, 5];
    for found in [made_up(2, 16, 2), made_up(1, 1, 1), hybrid(), bare(), across] {
        let groups = groups::groups(&found).into_iter();
        let mut cpus: Vec<usize> = groups.flat_map(|group| group.cores.concat()).collect();
        cpus.sort_unstable();
        let online: Vec<usize> = found.online().map(|cpu| cpu.cpu).collect();
        assert_eq!(cpus, online);
    }
}

#[test]
fn the_advertised_and_the_measured_stand_together() {
    let check = |pairs: &[Pair], expected: &str| {
        let mut found = made_up(1, 2, 1);
        let sharing = Sharing { pairs: pairs.to_vec(), pairs_possible: 1, threshold: 1.3 };
        found.sharing = Probed::of(sharing, Vec::new());
        assert_eq!(super::sharing(&found), expected);
    };
    let advertised = Some(false);
    let measured = "one each advertised; 0 of 1 pair share one as measured (1.01x at most)";
    check(&[pair([0, 1], advertised, advertised)], measured);
    let measured = "one each advertised; 1 of 1 pair share one as measured (1.93x at most)";
    check(
        &[pair([0, 1], advertised, Some(true))],
        &format!("{measured}; 1 pair not as advertised: CPUs 0 and 1"),
    );
    check(
        &[pair([0, 1], advertised, Some(true)), pair([2, 3], Some(true), advertised)],
        "one each advertised; 1 of 2 pairs share one as measured (1.93x at most); 2 pairs not \
         as advertised: CPUs 0 and 1",
    );
    let measured = "one each advertised; 0 of 1 pair share one as measured (1.01x at most), 1 open";
    check(&[pair([0, 1], advertised, None)], measured);
    check(&[], "one each advertised, not measured");
    let mut one = made_up(1, 1, 1);
    one.sharing = Probed::inconclusive("one CPU");
    assert_eq!(super::sharing(&one), "one each advertised, not measured: one CPU");
    let nothing = "nothing advertised; 0 of 1 pair share one as measured (1.01x at most)";
    assert_eq!(super::sharing(&bare()), nothing);
}

#[test]
fn pictures_are_documents_without_anything_from_elsewhere() {
    for found in [made_up(2, 16, 2), made_up(8, 24, 1), hybrid(), bare()] {
        let picture = svg(&found);
        assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"));
        assert!(!picture.contains("href") && !picture.contains("NaN"), "{picture}");
        let boxes = found.online().map(|cpu| cpu.core).collect::<std::collections::BTreeSet<_>>();
        let drawn = ["core", "slow"]
            .map(|class| picture.matches(&format!("<path class=\"{class}\"")).count());
        let single = found.online().filter(|cpu| cpu.core.is_none()).count();
        let cores = boxes.iter().flatten().count();
        assert_eq!(drawn.iter().sum::<usize>(), cores + single);
    }
}
