//! What a person sees: a terminal of that size, and what is left of it afterwards.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::pty::{Winsize, openpty};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::os::fd::AsFd;

use crate::support::{Folder, Invocation};

/// offbench in a terminal of its own.
struct Terminal {
    child: Child,
    master: File,
    seen: Vec<u8>,
}

impl Terminal {
    fn open(mut invocation: Invocation, columns: u16) -> Self {
        let size = Winsize {
            ws_row: 24,
            ws_col: columns,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        let pty = openpty(Some(&size), None).unwrap();
        let end = |slave: &OwnedFd| Stdio::from(slave.try_clone().unwrap());
        let command = &mut invocation.command;
        command
            .stdin(end(&pty.slave))
            .stdout(end(&pty.slave))
            .stderr(end(&pty.slave));
        // SAFETY: both calls may be made between fork and exec.
        #[allow(unsafe_code, reason = "a terminal needs a session of its own")]
        unsafe {
            command.pre_exec(|| {
                nix::unistd::setsid()?;
                // A shell that started the tests in the background may have it ignored.
                nix::libc::signal(nix::libc::SIGQUIT, nix::libc::SIG_DFL);
                nix::libc::ioctl(0, nix::libc::TIOCSCTTY as _, 0);
                Ok(())
            });
        }
        let child = command.spawn().unwrap();
        drop(invocation);
        Self {
            child,
            master: File::from(pty.master),
            seen: Vec::new(),
        }
    }

    /// Reads for so long, or until the end.
    fn watch(&mut self, most: Duration) {
        let until = Instant::now() + most;
        let mut room = [0; 4096];
        while Instant::now() < until {
            let mut asked = [PollFd::new(self.master.as_fd(), PollFlags::POLLIN)];
            if poll(&mut asked, PollTimeout::from(20_u8)).unwrap() == 0 {
                continue;
            }
            match self.master.read(&mut room) {
                Ok(0) | Err(_) => return,
                Ok(length) => self.seen.extend_from_slice(&room[..length]),
            }
        }
    }

    /// Reads until it has said that, or until the end.
    fn await_text(&mut self, wanted: &str) {
        for _ in 0..300 {
            self.watch(Duration::from_millis(100));
            if self.text().contains(wanted) {
                return;
            }
        }
    }

    fn finish(mut self) -> (Option<i32>, String) {
        self.watch(Duration::from_secs(120));
        let status = self.child.wait().unwrap();
        (status.code(), String::from_utf8(self.seen).unwrap())
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.seen).into_owned()
    }

    fn signal(&self, signal: Signal) {
        kill(
            Pid::from_raw(i32::try_from(self.child.id()).unwrap()),
            signal,
        )
        .unwrap();
    }
}

/// What remains on the screen: lines, with what was erased or written over gone.
fn screen(text: &str) -> Vec<String> {
    let mut lines: Vec<Vec<char>> = vec![Vec::new()];
    let (mut row, mut column) = (0, 0);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\r' => column = 0,
            '\n' => {
                row += 1;
                if row == lines.len() {
                    lines.push(Vec::new());
                }
            }
            '\x1b' => {
                rest.next();
                let mut number = String::new();
                while let Some(digit) = rest.next_if(|c| !c.is_ascii_alphabetic()) {
                    number.push(digit);
                }
                match rest.next() {
                    Some('A') => row -= number.parse().unwrap_or(1).min(row),
                    Some('B') => row += number.parse().unwrap_or(1),
                    Some('K') => match number.as_str() {
                        "2" => lines[row].clear(),
                        _ => lines[row].truncate(column),
                    },
                    _ => {}
                }
                while row >= lines.len() {
                    lines.push(Vec::new());
                }
            }
            c => {
                let line = &mut lines[row];
                while line.len() <= column {
                    line.push(' ');
                }
                line[column] = c;
                column += 1;
            }
        }
    }
    lines
        .into_iter()
        .map(|line| line.into_iter().collect::<String>().trim_end().to_owned())
        .collect()
}

#[test]
fn progress_is_drawn_and_gone_at_the_end() {
    let folder = Folder::new();
    let terminal = Terminal::open(folder.offbench(["-w0", "-r4", "sleep 0.25"]), 80);
    let (code, text) = terminal.finish();
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("run 1") && text.contains("of ~4"), "{text:?}");
    let left = screen(&text).join("\n");
    assert!(!left.contains("run 2") && !left.contains('━'), "{left}");
    assert!(left.trim_start().starts_with("sleep 0.25 "), "{left}");
    assert!(!text.contains("\x1b[?25l"), "the cursor is never hidden");
}

#[test]
fn nothing_is_estimated_during_the_first_run() {
    let folder = Folder::new();
    let mut terminal = Terminal::open(folder.offbench(["-w0", "-r2", "sleep 20"]), 80);
    terminal.await_text("1 s");
    let text = terminal.text();
    assert!(
        text.contains("sleep 20") && text.contains("run 1"),
        "{text:?}"
    );
    assert!(text.contains("1 s") && !text.contains("left"), "{text:?}");
    terminal.signal(Signal::SIGINT);
    assert_eq!(terminal.finish().0, Some(130));
}

#[test]
fn an_interrupt_leaves_a_clean_terminal_and_the_report() {
    let folder = Folder::new();
    for (signal, code) in [
        (Signal::SIGINT, Some(130)),
        (Signal::SIGTERM, Some(143)),
        (Signal::SIGHUP, Some(129)),
        (Signal::SIGQUIT, Some(131)),
    ] {
        let args = [
            "-w0",
            "-r90",
            "--export-json=o.json",
            "-c",
            "touch cleaned",
            "sleep 0.1",
        ];
        let mut terminal = Terminal::open(folder.offbench(args), 80);
        terminal.await_text("run 3");
        terminal.signal(signal);
        let (found, text) = terminal.finish();
        assert_eq!(found, code, "{signal}: {text}");
        let left = screen(&text).join("\n");
        assert!(
            left.contains("interrupted") && !left.contains("of ~90"),
            "{signal}: {left}"
        );
        assert_eq!(
            text.matches("\x1b[?25l").count(),
            text.matches("\x1b[?25h").count()
        );
        let document: serde_json::Value = serde_json::from_str(&folder.read("o.json")).unwrap();
        assert_eq!(document["results"][0]["offbench"]["partial"], true);
        assert!(folder.exists("cleaned"), "{signal}");
        std::fs::remove_file(folder.join("cleaned")).unwrap();
    }
}

#[test]
fn a_typed_interrupt_reaches_us_and_the_command() {
    use std::io::Write;
    let folder = Folder::new();
    let mut terminal = Terminal::open(folder.offbench(["-w0", "-r9", "sleep 60"]), 80);
    terminal.await_text("run 1");
    let begun = Instant::now();
    terminal.master.write_all(b"\x03").unwrap();
    let (code, text) = terminal.finish();
    assert_eq!(code, Some(130), "{text}");
    assert!(begun.elapsed() < Duration::from_secs(15));
    // The echoed key has room on the line on which the cursor waits, so that this is found again.
    let (before, _) = text.split_once("^C").unwrap();
    let drawn = before.split(['\r', '\n', '\x1b']);
    let widest = drawn.map(|line| line.chars().count()).max();
    let control = "[1A".len();
    assert!(widest.is_some_and(|most| most <= 77 + control), "{text}");
}

#[test]
fn every_width_is_respected() {
    let folder = Folder::new();
    for columns in [80, 60, 40] {
        let args = [
            "-r7",
            "-w0",
            "sh -c 'sleep 0.02'",
            "sh -c 'sleep 0.04; true a b c d e f'",
        ];
        let terminal = Terminal::open(folder.offbench(args), columns);
        let (code, text) = terminal.finish();
        assert_eq!(code, Some(0), "{text}");
        for line in screen(&text) {
            assert!(
                line.chars().count() <= usize::from(columns),
                "{columns}: {line}"
            );
        }
    }
}

#[test]
fn errors_are_wrapped_between_words() {
    let folder = Folder::new();
    let args = ["--metrics", "no-such-metric-at-all", "true"];
    let (code, text) = Terminal::open(folder.offbench(args), 60).finish();
    assert_eq!(code, Some(2));
    assert!(
        text.starts_with("error: ") && text.contains("  help: "),
        "{text}"
    );
    assert!(screen(&text).iter().all(|line| line.len() <= 60), "{text}");
}

#[test]
fn a_dumb_terminal_gets_no_control_sequence() {
    let folder = Folder::new();
    for term in ["dumb", ""] {
        let invocation = folder
            .offbench(["-r3", "-w0", "sleep 0.1"])
            .env("TERM", term);
        let (_, text) = Terminal::open(invocation, 80).finish();
        assert!(!text.contains('\x1b'), "{text:?}");
        assert!(text.contains("wall median="), "{text}");
    }
}

#[test]
fn colours_can_be_unwanted() {
    let folder = Folder::new();
    let colours = |text: &str| text.contains("\x1b[1m") || text.contains("\x1b[3");
    for (name, value, wanted) in [
        ("NO_COLOR", "1", false),
        ("NO_COLOR", "", true),
        ("TERM", "xterm-256color", true),
    ] {
        let invocation = folder.offbench(["-r2", "true"]).env(name, value);
        let (_, text) = Terminal::open(invocation, 80).finish();
        assert_eq!(colours(&text), wanted, "{name}={value}: {text:?}");
    }
    let invocation = folder
        .offbench(["-r2", "--color=always", "true"])
        .env("NO_COLOR", "1");
    assert!(colours(&Terminal::open(invocation, 80).finish().1));
    let never = folder.offbench(["-r2", "--color=never", "true"]);
    assert!(!colours(&Terminal::open(never, 80).finish().1));
}

#[test]
fn what_commands_print_is_not_drawn_over() {
    let folder = Folder::new();
    let args = ["-r3", "-w0", "--show-output", "echo line of the command"];
    let (_, text) = Terminal::open(folder.offbench(args), 80).finish();
    assert_eq!(
        text.matches("line of the command\r\n").count(),
        3,
        "{text:?}"
    );
    assert!(!text.contains("of ~3"), "{text:?}");
}

#[test]
fn modes_that_a_command_changed_are_restored() {
    // The second changes them without asking for the terminal.
    for command in [
        "stty raw -echo </dev/tty",
        "trap '' TTOU; stty raw -echo </dev/tty; sleep 0.02",
    ] {
        let folder = Folder::new();
        let args = ["--shell=sh", "-w0", "-r2", command];
        let mut terminal = Terminal::open(folder.offbench(args), 80);
        let modes = |terminal: &Terminal| nix::sys::termios::tcgetattr(&terminal.master).unwrap();
        let before = modes(&terminal);
        let code = loop {
            terminal.watch(Duration::from_millis(50));
            if let Some(status) = terminal.child.try_wait().unwrap() {
                break status.code();
            }
        };
        assert_eq!(code, Some(0), "{}", terminal.text());
        let after = modes(&terminal);
        assert_eq!(before.local_flags, after.local_flags, "{command}");
        assert_eq!(before.input_flags, after.input_flags, "{command}");
        assert_eq!(before.output_flags, after.output_flags, "{command}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_below_our_own_is_only_bounded() {
    let folder = Folder::new();
    let said = |style: &str, command: &str| {
        let options = ["-N", "-r3", "--metrics", "memory_peak_resident", "--style"];
        let told = folder
            .offbench([&options[..], &[style, command]].concat())
            .run();
        told.stdout()
    };
    assert!(
        said("nocolor", "true").contains("peak RSS  < "),
        "{}",
        said("nocolor", "true")
    );
    assert!(
        said("auto", "true").contains("rss median=<"),
        "{}",
        said("auto", "true")
    );
    let large = said("nocolor", "dd if=/dev/zero of=/dev/null bs=64M count=1");
    assert!(
        large.contains("peak RSS  ") && !large.contains("RSS  <"),
        "{large}"
    );
}
