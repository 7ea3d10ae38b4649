//! Programs whose waits are known by construction. Compiled with plain `rustc` by the tests that
//! run them; `waits CASE ARGS…`.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| words[at].parse::<u64>().unwrap();
    match words[0].as_str() {
        "fsync" => fsync(&words[1], number(2)),
        "sleep" => nap(number(1)),
        "burn" => burn(number(1)),
        "futex-nap" => futex_nap(number(1)),
        "pipe-nap" => pipe_nap(number(1)),
        "daemon" => daemon(number(1)),
        "start-many" => start_many(number(1), number(2)),
        "parallel-then-sleep" => parallel_then_sleep(number(1), number(2)),
        "tcp-server" => tcp_server(number(1)),
        "tcp" => tcp(&words[1], number(2)),
        "unix-server" => unix_server(&words[1], number(2)),
        "unix" => unix(&words[1]),
        "own-pair" => own_pair(number(1)),
        "child-pair" => child_pair(number(1)),
        "lock-held" => lock_held(&words[1], number(2)),
        "lock" => lock(&words[1]),
        "stop" => stop(number(1)),
        "undumpable-sleep" => undumpable_sleep(number(1)),
        "lock-burn" => lock_burn(number(1)),
        "lock-try" => lock_try(&words[1], number(2)),
        "talk" => talk(number(1), number(2)),
        "leave" => leave(&words[1]),
        "linger" => linger(&words[1]),
        "fast-once" => fast_once(&words[1], number(2)),
        "exec-sleep" => exec_from_thread(number(1)),
        other => panic!("no case {other}"),
    }
}

fn nap(ms: u64) {
    thread::sleep(Duration::from_millis(ms));
}

fn burn(ms: u64) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(ms) {
        std::hint::black_box(0);
    }
}

fn fsync(path: &str, times: u64) {
    let mut file = File::create(path).unwrap();
    for _ in 0..times {
        file.write_all(b"0123456789").unwrap();
        file.sync_all().unwrap();
    }
}

/// Four threads on one mutex whose holder naps: the nap is the wait, not the lock.
fn futex_nap(ms: u64) {
    let lock = Arc::new(Mutex::new(()));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let lock = Arc::clone(&lock);
            thread::spawn(move || {
                for _ in 0..5 {
                    let held = lock.lock().unwrap();
                    nap(ms);
                    drop(held);
                    thread::yield_now();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// A parent that reads a pipe whose writer sleeps: the child's sleep is the wait.
fn pipe_nap(ms: u64) {
    let own = std::env::current_exe().unwrap();
    let mut child = Command::new(own)
        .args(["sleep", &ms.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut end = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut end).unwrap();
    child.wait().unwrap();
}

/// Waits for what a daemon writes: a grandchild whose parent has ended, and that computes.
fn daemon(ms: u64) {
    let (mut from, mut to) = std::io::pipe().unwrap();
    if unsafe { fork() } == 0 {
        if unsafe { fork() } == 0 {
            unsafe { setsid() };
            burn(ms);
            to.write_all(b"x").unwrap();
        }
        std::process::exit(0);
    }
    unsafe { wait(std::ptr::null_mut()) };
    from.read_exact(&mut [0]).unwrap();
}

/// Starts one program after the other; each computes.
fn start_many(times: u64, ms: u64) {
    let own = std::env::current_exe().unwrap();
    for _ in 0..times {
        Command::new(&own).args(["burn", &ms.to_string()]).status().unwrap();
    }
}

fn parallel_then_sleep(burn_ms: u64, sleep_ms: u64) {
    let threads: Vec<_> = (0..4).map(|_| thread::spawn(move || burn(burn_ms))).collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    nap(sleep_ms);
}

/// Answers each byte after that many milliseconds, one client after the other; prints its port.
fn tcp_server(ms: u64) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    println!("{}", listener.local_addr().unwrap().port());
    for peer in listener.incoming() {
        let mut peer = peer.unwrap();
        let mut byte = [0];
        while peer.read_exact(&mut byte).is_ok() {
            nap(ms);
            if peer.write_all(&byte).is_err() {
                break;
            }
        }
    }
}

fn tcp(port: &str, times: u64) {
    let mut peer = TcpStream::connect(format!("127.0.0.1:{port}")).unwrap();
    peer.set_nodelay(true).unwrap();
    let mut byte = [7];
    for _ in 0..times {
        peer.write_all(&byte).unwrap();
        peer.read_exact(&mut byte).unwrap();
    }
}

fn unix_server(path: &str, ms: u64) {
    let listener = UnixListener::bind(path).unwrap();
    println!("ready");
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    for peer in listener.incoming() {
        nap(ms);
        let _ = peer.unwrap().write_all(b"x");
    }
}

fn unix(path: &str) {
    let mut peer = UnixStream::connect(path).unwrap();
    peer.read_exact(&mut [0]).unwrap();
}

/// Waits until a timeout at one end of a connection whose other end it has itself.
fn own_pair(ms: u64) {
    let (mut one, _other) = UnixStream::pair().unwrap();
    one.set_read_timeout(Some(Duration::from_millis(ms))).unwrap();
    one.read_exact(&mut [0]).unwrap_err();
}

/// Waits for a child at one end of a connection; the child waits at the other until a timeout.
fn child_pair(ms: u64) {
    let (mut one, mut other) = UnixStream::pair().unwrap();
    if unsafe { fork() } == 0 {
        drop(one);
        other.set_read_timeout(Some(Duration::from_millis(ms))).unwrap();
        other.read_exact(&mut [0]).unwrap_err();
        std::process::exit(0);
    }
    drop(other);
    one.read_exact(&mut [0]).unwrap_err();
    unsafe { wait(std::ptr::null_mut()) };
}

unsafe extern "C" {
    fn flock(descriptor: i32, operation: i32) -> i32;
    fn fork() -> i32;
    fn kill(process: i32, signal: i32) -> i32;
    fn prctl(option: i32, value: u64) -> i32;
    fn setsid() -> i32;
    fn wait(status: *mut i32) -> i32;
}

/// Holds the lock for that long once it has said so.
fn lock_held(path: &str, ms: u64) {
    lock(path);
    println!("held");
    nap(ms);
}

fn lock(path: &str) {
    use std::os::fd::AsRawFd;
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(path).unwrap();
    assert_eq!(unsafe { flock(file.as_raw_fd(), 2) }, 0);
    std::mem::forget(file);
}

/// Stops itself; a child continues it.
fn stop(ms: u64) {
    let own = std::process::id() as i32;
    let mut child = Command::new("sh")
        .args(["-c", &format!("sleep {}; kill -CONT {own}", ms as f64 / 1000.0)])
        .spawn()
        .unwrap();
    unsafe { kill(own, 19) };
    child.wait().unwrap();
}

fn undumpable_sleep(ms: u64) {
    unsafe { prctl(4, 0) };
    nap(ms);
}

/// Calls exec from a thread that is not the first.
fn exec_from_thread(ms: u64) {
    use std::os::unix::process::CommandExt;
    let own = std::env::current_exe().unwrap();
    let thread = thread::spawn(move || {
        Err::<(), _>(Command::new(own).args(["sleep", &ms.to_string()]).exec())
    });
    thread.join().unwrap().unwrap();
}

/// Four threads that compute under one mutex, and let the others have it.
fn lock_burn(us: u64) {
    let turn = Arc::new((Mutex::new(0_usize), std::sync::Condvar::new()));
    let threads: Vec<_> = (0..4)
        .map(|own| {
            let turn = Arc::clone(&turn);
            thread::spawn(move || {
                for _ in 0..20 {
                    let (lock, changed) = &*turn;
                    let mut next = changed.wait_while(lock.lock().unwrap(), |n| *n != own).unwrap();
                    let start = Instant::now();
                    while start.elapsed() < Duration::from_micros(us) {
                        std::hint::black_box(0);
                    }
                    *next = (own + 1) % 4;
                    changed.notify_all();
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

/// Waits for a lock until a timer ends that.
fn lock_try(path: &str, ms: u64) {
    use std::os::fd::AsRawFd;
    unsafe extern "C" {
        fn setitimer(which: i32, new: *const [i64; 4], old: *mut [i64; 4]) -> i32;
        fn sigaction(signal: i32, new: *const [u64; 19], old: *mut [u64; 19]) -> i32;
    }
    extern "C" fn nothing(_signal: i32) {}
    let mut action = [0; 19];
    action[0] = nothing as *const () as u64;
    let timer = [0, 0, 0, (ms * 1000) as i64];
    let file = OpenOptions::new().read(true).open(path).unwrap();
    unsafe {
        sigaction(14, &raw const action, std::ptr::null_mut());
        setitimer(0, &raw const timer, std::ptr::null_mut());
        flock(file.as_raw_fd(), 2);
    }
}

/// Says much, then naps.
fn talk(bytes: u64, ms: u64) {
    std::io::stdout().write_all(&vec![b'x'; bytes as usize]).unwrap();
    nap(ms);
}

/// Leaves a process that lives on while that file is there.
fn leave(path: &str) {
    let own = std::env::current_exe().unwrap();
    Command::new(own)
        .args(["linger", path])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    nap(10);
}

fn linger(path: &str) {
    while std::path::Path::new(path).exists() {
        nap(50);
    }
}

/// Naps only if the file is gone, and removes it.
fn fast_once(path: &str, ms: u64) {
    if std::fs::remove_file(path).is_err() {
        nap(ms);
    }
}
