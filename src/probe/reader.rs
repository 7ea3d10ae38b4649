//! Looks at one blocked thread: which call, on what, in which state, where in the kernel. Each part
//! carries the time its reading ended, so that `explain` can drop what came too late.

use std::collections::HashMap;
use std::io::{self, ErrorKind};

use super::sock_diag::{self, UnixSocket};
use super::{descriptor, schedstat, task};
use crate::explain::Arch;
use crate::explain::naming::{Wanted, wanted};
use crate::explain::record::{Call, CallState, Look, Read, Target};
use crate::sys::{self, TaskFiles, Text};

/// Threads whose files stay open between looks; four descriptors each.
const KEPT: usize = 48;
/// Descriptors of a poll set or an epoll set that are looked up.
const SET_LIMIT: usize = 8;

/// What a thread does, without the details of its wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stance {
    /// It runs or is ready to.
    Runs,
    /// It is blocked, in that system call where that may be read.
    Blocked(Option<Call>),
    /// It has ended and is only not reaped.
    Ended,
}

/// Reads threads of one command.
#[derive(Debug)]
pub(crate) struct Reader {
    arch: Arch,
    directory: String,
    files: HashMap<u32, TaskFiles>,
    sockets: HashMap<u64, Target>,
    /// Looks at which the system call could not be read for want of permission.
    refused: u64,
}

impl Reader {
    /// A reader for a command that runs in that directory.
    pub(crate) fn new(arch: Arch, directory: String) -> Self {
        Self {
            arch,
            directory,
            files: HashMap::new(),
            sockets: HashMap::new(),
            refused: 0,
        }
    }

    /// Whether system calls were hidden from us.
    pub(crate) fn was_refused(&self) -> bool {
        self.refused > 0
    }

    /// Closes what is kept of a thread.
    pub(crate) fn forget(&mut self, tid: u32) {
        self.files.remove(&tid);
    }

    /// Looks at a thread; `None` if it is gone.
    pub(crate) fn look(&mut self, pid: u32, tid: u32) -> Option<Look> {
        let mut look = Look {
            begun: sys::now(),
            ..Look::default()
        };
        match self.read(pid, tid, Text::Syscall, task::syscall) {
            Ok(call) => look.call = call,
            Err(error) if error.kind() == ErrorKind::PermissionDenied => self.refused += 1,
            Err(_) => {
                self.forget(tid);
                return None;
            }
        }
        if let Some(Read {
            value: CallState::In(call),
            ..
        }) = &look.call
        {
            let target = self.target(pid, *call);
            look.target = target.map(|value| Read {
                at: sys::now(),
                value,
            });
        }
        if look.runs() {
            return Some(look);
        }
        look.state = self
            .read(pid, tid, Text::Stat, |text| Some(task::stat(text)?.0))
            .ok()?;
        let wchan = self.read(pid, tid, Text::Wchan, |text| Some(text.to_string()));
        look.wchan = wchan.unwrap_or(None);
        Some(look)
    }

    /// What a thread does; `None` if it is gone.
    pub(crate) fn stance(&mut self, pid: u32, tid: u32) -> Option<Stance> {
        match self.read(pid, tid, Text::Syscall, task::syscall) {
            Ok(Some(Read { value, .. })) => match value {
                CallState::Running => return Some(Stance::Runs),
                CallState::In(call) => return Some(Stance::Blocked(Some(call))),
                CallState::Outside => {}
            },
            Err(error) if error.kind() == ErrorKind::PermissionDenied => self.refused += 1,
            _ => {}
        }
        let state = self.read(pid, tid, Text::Stat, |text| Some(task::stat(text)?.0));
        match state.ok()??.value {
            'Z' | 'X' => Some(Stance::Ended),
            'R' => Some(Stance::Runs),
            _ => Some(Stance::Blocked(None)),
        }
    }

    /// A look at a call that is over, if it names its wait without what only the wait itself shows:
    /// a descriptor outlives the call, what lies in memory may not.
    pub(crate) fn bare(&mut self, pid: u32, call: Call) -> Option<Look> {
        let lasting = matches!(
            wanted(self.arch, &call),
            Wanted::Nothing | Wanted::Descriptor(_) | Wanted::Lock(_)
        );
        let target = lasting.then(|| self.target(pid, call))?;
        let at = sys::now();
        Some(Look {
            begun: at,
            call: Some(Read {
                at,
                value: CallState::In(call),
            }),
            target: target.map(|value| Read { at, value }),
            ..Look::default()
        })
    }

    /// On-CPU time, run-queue time and number of stretches of a thread.
    pub(crate) fn account(&mut self, pid: u32, tid: u32) -> Option<(u64, u64, u64)> {
        Some(
            self.read(pid, tid, Text::Schedstat, schedstat::numbers)
                .ok()??
                .value,
        )
    }

    fn read<T>(
        &mut self,
        pid: u32,
        tid: u32,
        text: Text,
        parse: impl Fn(&str) -> Option<T>,
    ) -> io::Result<Option<Read<T>>> {
        let keep = self.files.len() < KEPT;
        let mut buffer = [0; 512];
        let parsed = if let Some(files) = self.files.get_mut(&tid) {
            parse(files.read(text, &mut buffer)?)
        } else {
            let mut files = TaskFiles::new(pid, tid, keep);
            let parsed = parse(files.read(text, &mut buffer)?);
            if keep {
                self.files.insert(tid, files);
            }
            parsed
        };
        Ok(parsed.map(|value| Read {
            at: sys::now(),
            value,
        }))
    }

    /// What a call of that process works on.
    pub(crate) fn target(&mut self, pid: u32, call: Call) -> Option<Target> {
        match wanted(self.arch, &call) {
            Wanted::Nothing => None,
            Wanted::Descriptor(fd) => self.descriptor(pid, fd),
            Wanted::Lock(fd) => self.locked(pid, fd),
            Wanted::Epoll(fd) => {
                let fdinfo = sys::text(pid, &format!("fdinfo/{fd}")).ok()?;
                self.first(pid, &descriptor::epoll_targets(&fdinfo))
            }
            Wanted::Poll { count: 0, .. } => Some(Target::Time),
            Wanted::Poll { address, count } => {
                let mut bytes = [0; 8 * SET_LIMIT];
                let length = 8 * (count.min(SET_LIMIT as u64)) as usize;
                let got = sys::memory(pid, address, &mut bytes[..length]).ok()?;
                self.first(pid, &descriptor::poll_descriptors(&bytes[..got]))
            }
            Wanted::Select { limit, sets } => self.selected(pid, limit, sets),
            Wanted::Path(address) => Some(Target::File(self.path(pid, address)?)),
        }
    }

    fn selected(&mut self, pid: u32, limit: u64, sets: [u64; 3]) -> Option<Target> {
        let mut all = Vec::new();
        for address in sets.into_iter().filter(|&address| address != 0) {
            let mut bytes = [0; 128];
            let length = (limit.min(1024).div_ceil(64) * 8) as usize;
            let got = sys::memory(pid, address, &mut bytes[..length]).unwrap_or(0);
            all.extend(descriptor::select_descriptors(&bytes[..got], limit));
        }
        if all.is_empty() {
            Some(Target::Time)
        } else {
            self.first(pid, &all)
        }
    }

    /// Of several descriptors the first that says what is waited for: a connection rather than
    /// something to be woken by.
    fn first(&mut self, pid: u32, descriptors: &[i32]) -> Option<Target> {
        let mut fallback = None;
        for &fd in descriptors.iter().take(SET_LIMIT) {
            let target = self.descriptor(pid, fd);
            match &target {
                Some(Target::Network(peer)) if peer.starts_with("listening") => {}
                Some(
                    Target::Network(_)
                    | Target::Service(_)
                    | Target::Pipe
                    | Target::Pair
                    | Target::Terminal(_),
                ) => {
                    return target;
                }
                _ => {}
            }
            fallback = fallback.or(target);
        }
        match fallback {
            Some(Target::Network(listening)) => Some(Target::Wakeup(listening)),
            other => other,
        }
    }

    fn descriptor(&mut self, pid: u32, fd: i32) -> Option<Target> {
        let link = sys::link(pid, fd).ok()?;
        match descriptor::link(&link.to_string_lossy(), &self.directory) {
            descriptor::Link::Target(target) => Some(target),
            descriptor::Link::Socket(inode) => self.socket(pid, inode),
        }
    }

    fn socket(&mut self, pid: u32, inode: u64) -> Option<Target> {
        if let Some(known) = self.sockets.get(&inode) {
            return Some(known.clone());
        }
        let found = find_socket(pid, inode)?;
        self.sockets.insert(inode, found.clone());
        Some(found)
    }

    fn locked(&mut self, pid: u32, fd: i32) -> Option<Target> {
        let target = self.descriptor(pid, fd)?;
        let Target::File(file) = target else {
            return Some(target);
        };
        let holder = sys::inode(pid, fd).ok().and_then(|inode| {
            let holder = descriptor::lock_holder(&sys::locks().ok()?, inode)
                .filter(|&holder| holder != pid)?;
            let stat = sys::text(holder, "stat").unwrap_or_default();
            let comm = task::command(&stat).map(descriptor::escaped);
            Some(comm.map_or(format!("PID {holder}"), |comm| {
                format!("PID {holder} ({comm})")
            }))
        });
        Some(Target::Locked { file, holder })
    }

    /// The string at that address, relative to the command's directory if it is below.
    fn path(&self, pid: u32, address: u64) -> Option<String> {
        const PAGE: u64 = 4096;
        let mut bytes = [0; 512];
        let within = (PAGE - address % PAGE).min(bytes.len() as u64) as usize;
        let mut got = sys::memory(pid, address, &mut bytes[..within]).ok()?;
        if got == within && !bytes[..got].contains(&0) {
            got += sys::memory(pid, address + got as u64, &mut bytes[got..]).unwrap_or(0);
        }
        let end = bytes[..got].iter().position(|&byte| byte == 0)?;
        let path = String::from_utf8_lossy(&bytes[..end]);
        let plain = path.strip_prefix("./").unwrap_or(&path);
        Some(match plain {
            "" => return None,
            _ if plain.starts_with('/') => descriptor::shown(plain, &self.directory),
            _ => descriptor::escaped(&format!("./{plain}")),
        })
    }
}

fn find_socket(pid: u32, inode: u64) -> Option<Target> {
    for table in ["net/tcp", "net/tcp6", "net/udp", "net/udp6"] {
        let text = sys::text(pid, table).unwrap_or_default();
        if let Some(peer) = descriptor::inet_peer(&text, inode) {
            return Some(Target::Network(peer));
        }
    }
    let text = sys::text(pid, "net/unix").ok()?;
    let own = descriptor::unix_path(&text, inode)?;
    // A client's socket has no name; that of its peer is the one the service is known by.
    Some(own.map_or_else(|| peer(pid, inode as u32), |own| Target::Service(Some(own))))
}

/// What is at the other end of a unix socket without a name.
fn peer(pid: u32, inode: u32) -> Target {
    let Some(peer) = unix_socket(inode).and_then(|socket| socket.peer) else {
        return Target::Service(None);
    };
    if holds(pid, peer) {
        return Target::Wakeup("socket pair".to_string());
    }
    match unix_socket(peer) {
        Some(UnixSocket { name: None, .. }) => Target::Pair,
        peer => Target::Service(peer.and_then(|peer| peer.name)),
    }
}

/// Whether a process has both ends of a connection: it is to be woken by itself.
fn holds(pid: u32, inode: u32) -> bool {
    let wanted = format!("socket:[{inode}]");
    let ends = sys::descriptors(pid).into_iter();
    ends.filter_map(|end| sys::link(pid, end).ok())
        .any(|link| link.as_os_str() == wanted.as_str())
}

/// What the kernel says about a unix socket of our own network namespace.
fn unix_socket(inode: u32) -> Option<UnixSocket> {
    let mut answer = [0; 512];
    let length = sys::unix_socket(inode, &mut answer).ok()?;
    sock_diag::unix_socket(&answer[..length])
}
