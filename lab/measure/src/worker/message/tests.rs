use super::*;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

fn question() -> Question {
    Question {
        workload: "random".into(),
        distribution: "uniform".into(),
        contract: "published".into(),
        size: 20_000,
        seed: u64::MAX,
        part: 3,
        parts: 256,
    }
}

#[test]
fn requests_come_back() {
    let sizes = Sizes { bytes: 1 << 40, items: 7, output_bytes: 0 };
    let member =
        |object: &str, padding, threads| Member { object: object.into(), padding, threads };
    let load = Load {
        contestants: vec![member("/a b/x.so", 4095, 1), member("y", 0, 64)],
        cpu: Some(3),
        helpers: vec![1, 0],
        stack_bytes: 16,
        input: sizes,
        capacity: 12,
        meters_energy: true,
    };
    let rounds = Rounds {
        primer: Some(1),
        batches: 8,
        calls_a_batch: vec![1000, 1],
        times_each_call: true,
        counts: false,
        noise: 9,
    };
    let check = |side| Request::Check(Check { object: "/c".into(), input: sizes, side, noise: 8 });
    for request in [
        Request::Probe("/p".into()),
        Request::Load(load.clone()),
        Request::Load(Load { cpu: None, contestants: Vec::new(), helpers: Vec::new(), ..load }),
        Request::Rounds(rounds.clone()),
        Request::Rounds(Rounds { primer: None, counts: true, ..rounds }),
        check(Side::Front),
        check(Side::End),
        check(Side::Flush),
        Request::Together(Together {
            member: member("/z", 1, 2),
            cpu: Some(7),
            helpers: vec![6],
            input: sizes,
        }),
        Request::Oracle(OsStr::from_bytes(b"/not \xff UTF-8").into()),
        Request::Input { question: question(), is_made: true },
        Request::Answer { question: question(), input_bytes: 5 },
    ] {
        let bytes = bytes(&request);
        assert_eq!(read::<Request>(&bytes).as_ref(), Some(&request));
        assert_eq!(read::<Request>(&bytes[..bytes.len() - 1]), None, "{request:?} cut short");
    }
    assert_eq!(read::<Request>(&[99]), None);
    assert_eq!(read::<Request>(&[]), None);
}

#[test]
fn replies_come_back() {
    let table = Table {
        name: "swar".into(),
        needs: "avx2,bmi2".into(),
        has_reset: true,
        allocates: false,
        input_slack_bytes: 8,
        output_slack_bytes: 1,
        alignment_bytes: 64,
    };
    let mut replies = vec![
        Reply::Table(table),
        Reply::Ready(vec![true, false]),
        Reply::Done,
        Reply::Checked { checksums: [1, 2], unstarved: 3 },
        Reply::Together { checksum: 1, other: None, is_torn: true },
        Reply::Together { checksum: 1, other: Some(2), is_torn: false },
        Reply::Skipped,
        Reply::Sized(Sizes { bytes: 1, items: 2, output_bytes: 3 }),
        Reply::Checksum(9),
        Reply::Failed("no memory".into()),
    ];
    let refusals = [
        Refusal::NotLoaded("wrong ELF class".into()),
        Refusal::BadTable("it has no table".into()),
        Refusal::NotPrepared,
    ];
    replies.extend(refusals.map(|refusal| Reply::Refused(4, refusal)));
    for reply in replies {
        assert_eq!(read(&bytes(&reply)), Some(reply));
    }
    assert_eq!(read::<Reply>(&[99]), None);
}
