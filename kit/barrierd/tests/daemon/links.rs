//! What is attached to the kernel, as the kernel tells it.

use std::io;

/// An attached program.
pub struct Link {
    pub id: u32,
    pub tracepoint: String,
}

/// What a process keeps attached.
pub fn links_of(process: u32) -> Vec<Link> {
    let descriptors = std::fs::read_dir(format!("/proc/{process}/fdinfo")).unwrap();
    let texts = descriptors.map(|entry| std::fs::read_to_string(entry.unwrap().path()).unwrap());
    texts.filter_map(|text| link_in(&text)).collect()
}

fn link_in(text: &str) -> Option<Link> {
    let field = |name: &str| Some(text.lines().find_map(|line| line.strip_prefix(name))?.trim());
    let id = field("link_id:")?.parse().unwrap();
    Some(Link { id, tracepoint: field("tp_name:")?.to_string() })
}

/// Whether a link with this number is there: only `CAP_SYS_ADMIN` may ask.
pub fn is_attached(id: u32) -> io::Result<bool> {
    const LINK_GET_NEXT_ID: libc::c_int = 31;
    // After which one to look, the next one, flags.
    let mut attributes = [id - 1, 0, 0];
    // SAFETY: these are the fields of the command, which the kernel reads and writes.
    let result = unsafe {
        let (at, bytes) = (attributes.as_mut_ptr(), size_of_val(&attributes));
        libc::syscall(libc::SYS_bpf, LINK_GET_NEXT_ID, at, bytes)
    };
    match (result, io::Error::last_os_error()) {
        (0, _) => Ok(attributes[1] == id),
        (_, error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(false),
        (_, error) => Err(error),
    }
}
