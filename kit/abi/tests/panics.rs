//! A panic of a Rust contestant ends its process at the boundary, however it was built.

mod common;

use common::{Folder, run};
use std::process::Command;

/// A contestant that panics, and a program that tries to catch it.
const SOURCE: &str = r#"
use tiebreak_abi::{Contestant, RawWorkload, Sink, Workload, contestant};
struct Panics;
impl Contestant for Panics {
    const NAME: &'static core::ffi::CStr = c"panics";
    type State<'w> = ();
    fn prepare(_: Workload<'_>) -> Option<()> { Some(()) }
    fn run(_: &mut ()) -> u64 { if std::env::args().len() > 1 { panic!("it did") } else { 7 } }
    fn dump(_: &mut (), _: &mut Sink<'_>) {}
}
contestant!(Panics);
fn main() {
    let workload = RawWorkload { struct_bytes: 0, reserved: 0, input: core::ptr::null(),
        input_bytes: 0, output: core::ptr::null_mut(), output_bytes: 0, items: 0 };
    let table = &tiebreak_contestant_table;
    let run = || unsafe { table.run.unwrap()(table.prepare.unwrap()(&raw const workload)) };
    println!("came back: {:?}", std::panic::catch_unwind(run).ok());
}
"#;

#[test]
fn no_panic_crosses_the_boundary() {
    let folder = Folder::new();
    let (library, source) = (folder.build_abi(), folder.write("panics.rs", SOURCE));
    for panic in ["panic=abort", "panic=unwind"] {
        let program = folder.path("panics");
        let abi = format!("tiebreak_abi={library}");
        run(&[
            "rustc",
            "--edition",
            "2024",
            "-C",
            panic,
            "--extern",
            &abi,
            &source,
            "-o",
            &program,
        ]);
        assert_eq!(run(&[&program]), "came back: Some(7)\n", "{panic}: without a panic");
        let output = Command::new(&program).arg("now").output().expect("it starts");
        assert!(output.status.code().is_none(), "{panic}: a signal ends it: {}", output.status);
        assert!(output.stdout.is_empty(), "{panic}: nothing comes back");
    }
}
