//! The names of signals. Systems number some of them differently, so a recording of one is read on
//! the other by the kernel that it names.

/// What systems number alike and in which order, without `SIG`; empty where they differ.
const COMMON: [&str; 31] = [
    "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "", "FPE", "KILL", "", "SEGV", "", "PIPE", "ALRM",
    "TERM", "", "", "", "", "", "TTIN", "TTOU", "", "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "",
    "", "",
];
/// The rest on Linux (`include/uapi/asm-generic/signal.h`), by number.
const LINUX: &[(u8, &str)] = &[
    (7, "BUS"),
    (10, "USR1"),
    (12, "USR2"),
    (16, "STKFLT"),
    (17, "CHLD"),
    (18, "CONT"),
    (19, "STOP"),
    (20, "TSTP"),
    (23, "URG"),
    (29, "IO"),
    (30, "PWR"),
    (31, "SYS"),
];
/// The rest on macOS (`sys/signal.h`), by number.
const DARWIN: &[(u8, &str)] = &[
    (7, "EMT"),
    (10, "BUS"),
    (12, "SYS"),
    (16, "URG"),
    (17, "STOP"),
    (18, "TSTP"),
    (19, "CONT"),
    (20, "CHLD"),
    (23, "IO"),
    (29, "INFO"),
    (30, "USR1"),
    (31, "USR2"),
];

/// The name of a signal by its number, as the kernel of that name counts; without one as ours.
#[must_use]
pub fn name(signal: u8, kernel: Option<&str>) -> String {
    let darwin = kernel.map_or(std::env::consts::OS == "macos", |name| {
        name.starts_with("Darwin")
    });
    let own = if darwin { DARWIN } else { LINUX };
    let place = usize::from(signal).checked_sub(1);
    let common = place.and_then(|place| COMMON.get(place).copied());
    let own = own.iter().find(|(number, _)| *number == signal);
    match common
        .filter(|name| !name.is_empty())
        .or(own.map(|(_, name)| *name))
    {
        Some(name) => format!("SIG{name}"),
        None => format!("signal {signal}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_own_names_are_those_of_the_system() {
        for number in 1..=31 {
            let known = nix::sys::signal::Signal::try_from(i32::from(number)).unwrap();
            assert_eq!(name(number, None), known.as_str());
        }
        assert_eq!(name(0, None), "signal 0");
        assert_eq!(name(35, None), "signal 35");
    }

    #[test]
    fn a_recording_is_read_by_its_own_numbers() {
        let (linux, darwin) = (Some("Linux 6.1.0"), Some("Darwin 23.1.0"));
        assert_eq!(
            (name(7, linux), name(10, darwin)),
            ("SIGBUS".into(), "SIGBUS".into())
        );
        assert_eq!(
            (name(10, linux), name(30, darwin)),
            ("SIGUSR1".into(), "SIGUSR1".into())
        );
        assert_eq!(
            (name(11, linux), name(11, darwin)),
            ("SIGSEGV".into(), "SIGSEGV".into())
        );
    }
}
