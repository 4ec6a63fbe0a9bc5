//! Compiles the frame that all contestants share.

fn main() {
    println!("cargo::rerun-if-changed=frame.c");
    cc::Build::new()
        .file("frame.c")
        .include("../../../kit/abi/include")
        .flag("-std=gnu11")
        .opt_level(2)
        .compile("frame");
}
