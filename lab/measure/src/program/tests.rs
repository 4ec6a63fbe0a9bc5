use super::*;
use std::os::unix::fs::PermissionsExt;

fn file(folder: &Path, name: &str, text: &[u8], mode: u32) -> PathBuf {
    let path = folder.join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
    path
}

#[test]
fn programs_are_found_as_execvp_finds_them() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    for name in ["one", "two", "two/dir"] {
        std::fs::create_dir(at(name)).unwrap();
    }
    file(&at("one"), "tool", b"#!/bin/sh\n", 0o644);
    let tool = file(&at("two"), "tool", b"#! /bin/sh -e\n", 0o755);
    file(&at("one"), "data", b"x", 0o644);
    let folders = [at("one"), at("missing"), at("two")];
    let found = |word: &str| resolve_along(word, None, &folders);
    assert_eq!(found("tool").unwrap(), tool, "the one that is executable");
    assert!(matches!(found("data"), Err(StartError::NotExecutable { .. })));
    assert!(matches!(found("dir"), Err(StartError::IsDirectory { .. })));
    assert!(matches!(found("none"), Err(StartError::NotFound { .. })));
    assert!(matches!(found(""), Err(StartError::NotFound { .. })));
    assert!(matches!(found("./tool"), Err(StartError::NotFound { .. })), "not along PATH");
    assert_eq!(resolve_along("./tool", Some(&at("two")), &[]).unwrap(), at("two").join("./tool"));
    assert_eq!(found(tool.to_str().unwrap()).unwrap(), tool);
}

#[test]
fn formats_that_the_kernel_would_refuse_are_refused_before() {
    let folder = tempfile::tempdir().unwrap();
    let check = |name: &str, bytes: &[u8], said: Option<&str>| {
        let path = file(folder.path(), name, bytes, 0o755);
        let result = resolve_along(path.to_str().unwrap(), None, &[]);
        match (result, said) {
            (Ok(found), None) => assert_eq!(found, path),
            (Err(error), Some(said)) => assert!(error.to_string().contains(said), "{error}"),
            (result, said) => panic!("{name}: {result:?}, expected {said:?}"),
        }
    };
    check("good", b"#!/bin/sh\nexit 0\n", None);
    check("bad", b"#!/no/such/shell -x\n", Some("'/no/such/shell'"));
    check("bare", b"#!\n", Some("interpreter ''"));
    check("folder", b"#!/tmp\n", Some("'/tmp'"));
    check("text", b"echo hello\n", Some("text without a '#!' line"));
    check("empty", b"", Some("empty"));
    check("binary", &[1, 0, 2, 0], Some("unknown"));
    let this = std::env::current_exe().unwrap();
    check("copy", &std::fs::read(this).unwrap(), None);
}

#[test]
fn the_interpreter_of_an_elf_file_is_read() {
    let mut elf = vec![0; 0x100];
    elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
    elf[0x20] = 0x40;
    elf[0x36] = 56;
    elf[0x38] = 2;
    elf[0x40] = 6;
    elf[0x78] = 3;
    elf[0x80] = 0xc0;
    elf[0x98] = 8;
    elf[0xc0..0xc8].copy_from_slice(b"/lib/ld\0");
    assert_eq!(format::elf_interpreter(&elf).as_deref(), Some(&b"/lib/ld"[..]));
    for length in 0..elf.len() {
        // A truncated file is at worst unknown.
        let cut = format::elf_interpreter(&elf[..length]);
        assert!(cut.is_none() || length >= 0xc8);
    }
    elf[4] = 1;
    assert_eq!(format::elf_interpreter(&elf), None);
}
