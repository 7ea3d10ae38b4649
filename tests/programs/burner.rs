//! Burns CPU time in places that are hard to count. Compiled by the tests with plain `rustc`.
//!
//! spin MS | daemon MS LINGER | autoreap MS | unwatched MS

use std::process::{Child, Command};
use std::time::Duration;

#[repr(C)]
struct Time {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    fn clock_gettime(clock: i32, time: *mut Time) -> i32;
    fn signal(number: i32, handler: usize) -> usize;
}

/// CPU time of this process in milliseconds.
fn cpu() -> i64 {
    let mut time = Time { seconds: 0, nanoseconds: 0 };
    unsafe { clock_gettime(2, &raw mut time) };
    time.seconds * 1_000 + time.nanoseconds / 1_000_000
}

fn spin(milliseconds: i64) {
    while cpu() < milliseconds {}
}

fn again(arguments: &[&str]) -> Child {
    let own = std::env::current_exe().unwrap();
    Command::new(own).args(arguments).spawn().unwrap()
}

fn nap(milliseconds: i64) {
    std::thread::sleep(Duration::from_millis(milliseconds.unsigned_abs()));
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    let number = |place: usize| words.get(place).map_or(0, |word| word.parse().unwrap());
    let (work, more) = (number(2), number(3));
    match words[1].as_str() {
        "spin" => spin(work),
        // A grandchild nobody waits for; it tells by a file that its work is done.
        "daemon" => {
            let mark = std::env::temp_dir().join(format!("burner-{}", std::process::id()));
            let _ = again(&["parent", &words[2], &words[3], mark.to_str().unwrap()]).wait();
            while !mark.exists() {
                nap(1);
            }
            let _ = std::fs::remove_file(mark);
        }
        "parent" => drop(again(&["orphan", &words[2], &words[3], &words[4]])),
        "orphan" => {
            spin(work);
            std::fs::write(&words[4], "").unwrap();
            nap(more);
        }
        // The kernel reaps the child and forgets its account.
        "autoreap" => {
            unsafe { signal(17, 1) };
            let child = again(&["spin", &words[2]]);
            while std::path::Path::new(&format!("/proc/{}", child.id())).exists() {
                nap(1);
            }
        }
        other => panic!("no such mode: {other}"),
    }
}
