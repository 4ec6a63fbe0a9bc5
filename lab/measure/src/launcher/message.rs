//! Messages between the caller and the launcher.

use crate::system::Usage;
use serde::{Deserialize, Serialize};
use std::ffi::OsString;

/// A request of the caller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Request {
    /// Run this now. Descriptors: its standard input, output and error. Reply: [`Reply`].
    Run(Run),
    /// Start this, and let it run. Descriptors: the same. Reply: [`Started`].
    Serve(Serve),
    /// Read what the server that runs has used. Reply: [`Accounts`].
    Account,
    /// Stop the server that runs, with all that it started. Reply: [`Stopped`].
    Stop,
    /// End the run. It is harmless when nothing runs.
    Cancel,
}

/// A run of one program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Run {
    /// Index among the prepared images.
    pub(crate) contestant: u64,
    pub(crate) padding_bytes: u32,
    pub(crate) timeout_ns: u64,
    /// 0 if standard output is not checked.
    pub(crate) output_limit_bytes: u64,
}

/// A server to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Serve {
    /// Index among the prepared images.
    pub(crate) contestant: u64,
    pub(crate) padding_bytes: u32,
    /// Its words, which differ from run to run.
    pub(crate) words: Vec<String>,
    /// The folder that is removed if the caller is gone.
    pub(crate) folder: OsString,
}

/// Whether a server was started; otherwise the system's number of the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Started(pub(crate) Option<i32>);

/// What a server, with all that it started, has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Accounts {
    /// The status as `wait` returns it, if the process that was started has ended.
    pub(crate) ended: Option<i32>,
    /// Whether any of its processes still runs.
    pub(crate) runs: bool,
    /// The CPU time, exactly.
    pub(crate) cpu_ns: u64,
    /// Times and events; its times are those that the kernel shows, in ticks.
    pub(crate) usage: Usage,
    /// The sum of the largest resident sets of the processes that run.
    pub(crate) peak_kib: u64,
}

/// The end of a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stopped {
    /// The processes that had to be killed.
    pub(crate) killed: u32,
}

/// Whether the launcher is ready. Numbers are the system's numbers of errors.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) enum Hello {
    Ready,
    /// The folder of this contestant cannot be entered.
    NoDirectory(u64, i32),
    NotSetUp(i32),
}

/// How a run ended. Numbers are the system's numbers of errors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) enum End {
    /// It ended by itself.
    #[default]
    Ended,
    /// The system refused to start it.
    NotStarted(i32),
    /// It was ended at the time-out.
    TimedOut,
    /// It was ended because it wrote too much.
    Flooded,
    /// It was ended because the caller asked for it, or has ended.
    Cancelled,
    /// It could not be monitored, and was ended.
    Broken(i32),
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Reply {
    pub(crate) end: End,
    /// The status as `wait` returns it.
    pub(crate) status: i32,
    /// The time just before the start, by the monotonic clock.
    pub(crate) start_ns: u64,
    /// The time just after it was reaped.
    pub(crate) end_ns: u64,
    pub(crate) usage: Usage,
    pub(crate) peak_kib: u64,
    /// The launcher's own peak memory so far.
    pub(crate) floor_kib: u64,
    /// The times of its main thread, as the scheduler counts them: on a CPU, and ready to run and
    /// waiting for one. `None` if the kernel does not count them.
    pub(crate) scheduled_ns: Option<(u64, u64)>,
    /// The number of processes that it left behind and that were ended.
    pub(crate) left_behind: u32,
    /// The name of one of them.
    pub(crate) left_name: String,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::channel::{Inbox, pair};
    use crate::wire::message::{receive, send};
    use std::fs::File;
    use std::io::{Read, Seek, Write};
    use std::os::fd::AsFd;

    fn run() -> Request {
        let output_limit_bytes = 0;
        Request::Run(Run { contestant: 3, padding_bytes: 9, timeout_ns: 7, output_limit_bytes })
    }

    #[test]
    fn messages_and_descriptors_arrive() {
        let (ours, theirs) = pair().unwrap();
        let mut inbox = Inbox::new();
        let mut file = tempfile::tempfile().unwrap();
        write!(file, "here").unwrap();
        send(ours.as_fd(), &run(), &[file.as_fd(); 3]).unwrap();
        let (got, descriptors) = receive::<Request>(&mut inbox, theirs.as_fd()).unwrap().unwrap();
        assert_eq!(got, run());
        let [_, _, third] = descriptors.try_into().unwrap();
        let mut third = File::from(third);
        third.rewind().unwrap();
        let mut text = String::new();
        third.read_to_string(&mut text).unwrap();
        assert_eq!(text, "here");
        let reply = Reply { end_ns: 5, left_name: "seven".into(), ..Reply::default() };
        send(theirs.as_fd(), &reply, &[]).unwrap();
        let (got, _) = receive::<Reply>(&mut inbox, ours.as_fd()).unwrap().unwrap();
        assert_eq!(got, reply);
    }

    #[test]
    fn other_messages_and_the_end_are_told_apart() {
        let (ours, theirs) = pair().unwrap();
        let mut inbox = Inbox::new();
        for request in [Request::Cancel, run()] {
            send(ours.as_fd(), &request, &[]).unwrap();
            let (got, descriptors) = receive(&mut inbox, theirs.as_fd()).unwrap().unwrap();
            assert_eq!((got, descriptors.len()), (request, 0));
        }
        send(theirs.as_fd(), &Request::Cancel, &[]).unwrap();
        assert!(receive::<Reply>(&mut inbox, ours.as_fd()).is_err(), "too short");
        drop(ours);
        assert!(receive::<Request>(&mut inbox, theirs.as_fd()).unwrap().is_none());
        assert!(send(theirs.as_fd(), &Request::Cancel, &[]).is_err());
    }
}
