//! `scripts/text.sh` makes the same text everywhere, whichever awk there is.

#![forbid(unsafe_code)]

use std::fs;
use std::path::Path;
use std::process::Command;

/// The checksum of the first 200 000 bytes: Fowler, Noll and Vo's FNV-1a, 64 bits.
const CHECKSUM: u64 = 0x6ee0_35ce_7c74_3885;

#[test]
fn the_text_is_the_same_everywhere() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("text/generated");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/text.sh");
    let make = || {
        let status = Command::new(&script).arg(&file).arg("200000").status();
        assert!(status.unwrap().success());
        fs::read(&file).unwrap()
    };
    let text = make();
    assert_eq!(text.len(), 200_000);
    let step = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    let checksum = text.iter().fold(0xcbf2_9ce4_8422_2325, step);
    assert_eq!(checksum, CHECKSUM, "{checksum:#x}");

    fs::write(&file, "another text").unwrap();
    assert_eq!(make(), text, "a file of another size is made again");
    fs::remove_dir_all(file.parent().unwrap()).unwrap();
}
