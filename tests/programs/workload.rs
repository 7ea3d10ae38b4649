//! A program whose waits are known by construction: its first argument says how it spends its time.

use std::fs::File;
use std::io::Write;
use std::process::{Command, exit};
use std::time::Duration;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize| -> u64 { words[place].parse().unwrap() };
    match words[0].as_str() {
        "spin" => spin(number(1)),
        "sleep" => std::thread::sleep(Duration::from_millis(number(1))),
        "mix" => {
            spin(number(1));
            std::thread::sleep(Duration::from_millis(number(2)));
        }
        "fsync" => fsync(&words[1], number(2)),
        "parallel" => parallel(number(1), number(2)),
        "daemon" => daemon(number(1), number(2)),
        "autoreap" => autoreap(number(1)),
        "exit" => exit(i32::try_from(number(1)).unwrap()),
        "slow-first" => slow_first(number(1), number(2)),
        other => panic!("unknown workload {other}"),
    }
}

/// Burns so much CPU time of this thread, however busy the machine is.
fn spin(millis: u64) {
    let end = cpu_time() + Duration::from_millis(millis);
    let mut x = 1_u64;
    while cpu_time() < end {
        for _ in 0..1000 {
            x = std::hint::black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
        }
    }
}

fn cpu_time() -> Duration {
    const THREAD_CPUTIME: i32 = if cfg!(target_os = "linux") { 3 } else { 16 };
    let mut time = [0_i64; 2];
    // SAFETY: a `timespec` of 64-bit systems is two numbers of 64 bits.
    unsafe { clock_gettime(THREAD_CPUTIME, time.as_mut_ptr()) };
    Duration::new(time[0] as u64, time[1] as u32)
}

fn fsync(path: &str, count: u64) {
    let mut file = File::create(path).unwrap();
    for _ in 0..count {
        file.write_all(&[b'x'; 100]).unwrap();
        file.sync_all().unwrap();
    }
}

fn parallel(threads: u64, millis: u64) {
    let all: Vec<_> = (0..threads).map(|_| std::thread::spawn(move || spin(millis))).collect();
    for one in all {
        one.join().unwrap();
    }
}

/// A grandchild that has lost its parent burns CPU for so long, and we leave after so long.
fn daemon(burn: u64, leave: u64) {
    let me = std::env::current_exe().unwrap();
    let line = format!("'{}' spin {burn} & exit 0", me.display());
    Command::new("sh").arg("-c").arg(line).status().unwrap();
    std::thread::sleep(Duration::from_millis(leave));
}

/// Children whose CPU the kernel throws away, because SIGCHLD is ignored.
fn autoreap(millis: u64) {
    let me = std::env::current_exe().unwrap();
    ignore_child_signal();
    let mut child = Command::new(me).args(["spin", &millis.to_string()]).spawn().unwrap();
    let _ = child.wait();
    std::thread::sleep(Duration::from_millis(2));
}

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut i64) -> i32;
    fn signal(number: i32, handler: usize) -> usize;
}

fn ignore_child_signal() {
    const SIGCHLD: i32 = if cfg!(target_os = "linux") { 17 } else { 20 };
    const SIG_IGN: usize = 1;
    // SAFETY: ignoring a signal needs no handler and no memory.
    unsafe { signal(SIGCHLD, SIG_IGN) };
}

/// The first run of an invocation is slow: the iteration number is in the environment.
fn slow_first(first: u64, others: u64) {
    let iteration = std::env::var("OFFBENCH_ITERATION").unwrap_or_default();
    spin(if iteration == "0" { first } else { others });
}
