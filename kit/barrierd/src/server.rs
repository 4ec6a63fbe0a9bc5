//! The socket: who connects gets a greeting with two descriptors, and may then ask to be woken.

use std::collections::HashMap;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use tiebreak_sync::interrupts::layout::{Hello, WAKE_ME, WAKE_ME_VIRTUAL, peer};

use crate::checked;

/// How many clients there may be; how many of root, who leaves room for others; and how many of
/// each other user.
const MOST_CLIENTS: usize = 512;
const MOST_CLIENTS_OF_ROOT: usize = 448;
const MOST_CLIENTS_A_USER: usize = 64;

/// Why the socket cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum NoSocket {
    /// A daemon listens there.
    #[error("another barrierd listens at {0}: one is enough, or give this one its own --socket")]
    Taken(PathBuf),
    /// Something else is there, which is left alone.
    #[error("{0} is there already and is not a socket: give another path by --socket")]
    NotASocket(PathBuf),
    /// Its folder is not there and cannot be made.
    #[error("cannot make the folder {folder}: {source}; give a path that can be made by --socket")]
    Folder {
        /// The socket's folder.
        folder: PathBuf,
        /// What it said.
        source: io::Error,
    },
    /// The system refused.
    #[error("cannot listen at {path}: {source}; give a path that can be made by --socket")]
    Refused {
        /// The socket's path.
        path: PathBuf,
        /// What it said.
        source: io::Error,
    },
}

/// What clients have asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// One waits for stamps.
    pub wake: bool,
    /// One waits for virtual time.
    pub wake_virtual: bool,
}

/// The socket and its clients. When this is dropped, the socket is removed, if that is allowed.
#[derive(Debug)]
pub struct Server {
    path: PathBuf,
    pub(crate) listener: UnixListener,
    pub(crate) clients: HashMap<RawFd, Client>,
}

#[derive(Debug)]
pub(crate) struct Client {
    socket: UnixStream,
    user: u32,
}

impl Server {
    /// Listens at a path. Its last folder is made if it is missing; a socket where nothing listens
    /// any more is replaced, and nothing else is.
    ///
    /// # Errors
    ///
    /// Somebody listens there already, something other than a socket is there, or the system
    /// refuses.
    pub fn listen(path: &Path) -> Result<Server, NoSocket> {
        let refused = |source| NoSocket::Refused { path: path.to_path_buf(), source };
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        if let Some(folder) = folder {
            make_folder(folder)?;
        }
        let listener = match UnixListener::bind(path) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {
                remove_left_behind(path)?;
                UnixListener::bind(path)
            }
            bound => bound,
        };
        let listener = listener.map_err(refused)?;
        // Who may connect: everybody. What they get can only be read.
        std::fs::set_permissions(path, PermissionsExt::from_mode(0o666)).map_err(refused)?;
        listener.set_nonblocking(true).map_err(refused)?;
        Ok(Server { path: path.to_path_buf(), listener, clients: HashMap::new() })
    }

    /// Takes a new client and greets it. Gives its descriptor; nothing if there was none, or if it
    /// was turned away.
    pub fn accept(
        &mut self,
        hello: Hello,
        descriptors: [BorrowedFd<'_>; Hello::DESCRIPTORS],
    ) -> Option<RawFd> {
        let (socket, _) = self.listener.accept().ok()?;
        let user = peer(&socket)?.uid;
        let of_user = self.clients.values().filter(|client| client.user == user).count();
        if !has_room(user, of_user, self.clients.len()) {
            return None;
        }
        socket.set_nonblocking(true).ok()?;
        greet(&socket, hello, descriptors).ok()?;
        let descriptor = socket.as_raw_fd();
        self.clients.insert(descriptor, Client { socket, user });
        Some(descriptor)
    }

    /// Reads what a client says. Who has closed its end, or says what is no request, is dropped:
    /// nothing comes back.
    pub fn read(&mut self, descriptor: RawFd) -> Option<Requests> {
        let client = self.clients.get_mut(&descriptor)?;
        let mut bytes = [0; 256];
        let asked = match client.socket.read(&mut bytes) {
            Ok(0) => None,
            Ok(length) => understand(&bytes[..length]),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Some(Requests::default()),
            Err(_) => None,
        };
        if asked.is_none() {
            // Closing it takes it out of the set that is waited on.
            self.clients.remove(&descriptor);
        }
        asked
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Without the right to, it stays, and the next daemon replaces it.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Makes the socket's folder, unless it is there.
fn make_folder(folder: &Path) -> Result<(), NoSocket> {
    match std::fs::DirBuilder::new().mode(0o755).create(folder) {
        Err(source) if !folder.is_dir() => {
            Err(NoSocket::Folder { folder: folder.to_path_buf(), source })
        }
        _ => Ok(()),
    }
}

/// Removes a socket where nothing listens any more. Anything else that has its name stays.
fn remove_left_behind(path: &Path) -> Result<(), NoSocket> {
    let refused = |source| NoSocket::Refused { path: path.to_path_buf(), source };
    // Of the name itself: a symbolic link is no socket, wherever it leads.
    if !std::fs::symlink_metadata(path).map_err(refused)?.file_type().is_socket() {
        return Err(NoSocket::NotASocket(path.to_path_buf()));
    }
    match UnixStream::connect(path) {
        Ok(_) => Err(NoSocket::Taken(path.to_path_buf())),
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            std::fs::remove_file(path).map_err(refused)
        }
        // Somebody may listen there: in another way, or for others only.
        Err(error) => Err(refused(error)),
    }
}

/// Whether one more client may come.
fn has_room(user: u32, of_user: usize, of_all: usize) -> bool {
    let share = if user == 0 { MOST_CLIENTS_OF_ROOT } else { MOST_CLIENTS_A_USER };
    of_user < share && of_all < MOST_CLIENTS
}

/// What some bytes ask for; nothing if one of them is no request.
fn understand(bytes: &[u8]) -> Option<Requests> {
    let mut asked = Requests::default();
    for byte in bytes {
        match *byte {
            WAKE_ME => asked.wake = true,
            WAKE_ME_VIRTUAL => asked.wake_virtual = true,
            _ => return None,
        }
    }
    Some(asked)
}

/// Room for one control message with the descriptors, aligned as it must be.
#[repr(align(8))]
struct Control([u8; 64]);

/// Sends the greeting and the descriptors.
fn greet(
    socket: &UnixStream,
    hello: Hello,
    descriptors: [BorrowedFd<'_>; Hello::DESCRIPTORS],
) -> io::Result<()> {
    let (mut bytes, mut control) = (hello.to_bytes(), Control([0; 64]));
    let descriptors = descriptors.map(|descriptor| descriptor.as_raw_fd());
    let payload = size_of_val(&descriptors) as u32;
    let mut part = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    // SAFETY: a zeroed `msghdr` is a valid one. The room is larger than one header with two
    // descriptors, so the first header lies within it and so does what is written behind it. All
    // that the message points to outlives the call.
    let sent = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &mut part;
        message.msg_iovlen = 1;
        message.msg_control = control.0.as_mut_ptr().cast();
        message.msg_controllen = libc::CMSG_SPACE(payload) as _;
        let header = libc::CMSG_FIRSTHDR(&message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(payload) as _;
        let data = libc::CMSG_DATA(header).cast::<[RawFd; Hello::DESCRIPTORS]>();
        data.write_unaligned(descriptors);
        libc::sendmsg(socket.as_raw_fd(), &message, libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT)
    };
    checked(sent).map(drop)
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::AsFd;

    use super::*;

    const HELLO: Hello = Hello { version: 1, cpus: 1 };

    fn server() -> (tempfile::TempDir, Server) {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::listen(&folder.path().join("made/socket")).unwrap();
        (folder, server)
    }

    fn accept(server: &mut Server) -> Option<RawFd> {
        let file = std::fs::File::open("/dev/null").unwrap();
        server.accept(HELLO, [file.as_fd(), file.as_fd()])
    }

    #[test]
    fn requests_are_read_and_nonsense_ends_the_connection() {
        let (_folder, mut server) = server();
        let wake = Requests { wake: true, wake_virtual: false };
        let cases: [(&[u8], Option<Requests>); 4] = [
            (b"w", Some(wake)),
            (b"ww", Some(wake)),
            (b"vw", Some(Requests { wake_virtual: true, ..wake })),
            (b"wx", None),
        ];
        for (bytes, expected) in cases {
            let mut client = UnixStream::connect(&server.path).unwrap();
            let descriptor = accept(&mut server).unwrap();
            assert_eq!(server.read(descriptor), Some(Requests::default()), "it said nothing yet");
            client.write_all(bytes).unwrap();
            assert_eq!(server.read(descriptor), expected, "{bytes:?}");
            drop(client);
            assert_eq!(server.read(descriptor), None);
            assert_eq!(server.clients.len(), 0);
        }
    }

    #[test]
    fn a_client_gets_the_greeting() {
        let (_folder, mut server) = server();
        let mut client = UnixStream::connect(&server.path).unwrap();
        assert!(accept(&mut server).is_some() && accept(&mut server).is_none());
        let mut bytes = [0; Hello::BYTES];
        client.read_exact(&mut bytes).unwrap();
        assert_eq!(Hello::from_bytes(&bytes), Some(HELLO));
    }

    #[test]
    fn a_socket_where_nobody_listens_is_replaced_and_another_daemon_is_not() {
        let (folder, server) = server();
        let path = folder.path().join("made/socket");
        assert!(matches!(Server::listen(&path), Err(NoSocket::Taken(_))));
        drop(server);
        assert!(!path.exists(), "removed at the end");
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists(), "left behind by a daemon that was killed");
        assert!(Server::listen(&path).is_ok());
    }

    #[test]
    fn what_is_no_stale_socket_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("file"), "precious").unwrap();
        std::fs::create_dir(at("folder")).unwrap();
        std::os::unix::fs::symlink(at("file"), at("link")).unwrap();
        std::os::unix::fs::symlink(at("nothing"), at("dangling")).unwrap();
        for name in ["file", "folder", "link", "dangling"] {
            let error = Server::listen(&at(name)).unwrap_err();
            assert!(matches!(error, NoSocket::NotASocket(_)), "{name}: {error}");
            assert!(error.to_string().contains("not a socket"), "{error}");
            assert!(at(name).symlink_metadata().is_ok(), "{name} is gone");
        }
        assert_eq!(std::fs::read(at("file")).unwrap(), b"precious");
        let _other = std::os::unix::net::UnixDatagram::bind(at("datagrams")).unwrap();
        let error = Server::listen(&at("datagrams")).unwrap_err();
        assert!(matches!(error, NoSocket::Refused { .. }), "{error}");
        assert!(at("datagrams").exists());
    }

    #[test]
    fn why_the_folder_cannot_be_made_is_told() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("file"), "").unwrap();
        let forbidden = PathBuf::from("/sys/barrierd-test");
        let cases = [folder.path().join("no/such"), folder.path().join("file"), forbidden];
        for case in cases {
            let Err(expected) = std::fs::create_dir(&case) else {
                std::fs::remove_dir(&case).unwrap();
                println!("not tested here: {} can be made", case.display());
                continue;
            };
            match Server::listen(&case.join("socket")) {
                Err(NoSocket::Folder { source, .. }) => {
                    assert_eq!(source.raw_os_error(), expected.raw_os_error(), "{case:?}");
                }
                other => panic!("{case:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn no_user_fills_all_places() {
        let cases = [
            (1000, 63, 100, true),
            (1000, 64, 100, false),
            (1000, 0, 512, false),
            (1000, 0, MOST_CLIENTS_OF_ROOT, true),
            (0, MOST_CLIENTS_OF_ROOT - 1, 500, true),
            (0, MOST_CLIENTS_OF_ROOT, 500, false),
            (0, 0, 512, false),
        ];
        for (user, of_user, of_all, expected) in cases {
            assert_eq!(has_room(user, of_user, of_all), expected, "{user} {of_user} {of_all}");
        }
    }
}
