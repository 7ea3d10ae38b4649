//! Text of `/proc/PID/task/TID/{syscall,stat}` understood. Pure.

use crate::explain::record::{Call, CallState};

/// `syscall`: `running`, `-1 SP PC`, or a number, six arguments, SP and PC (proc(5); Linux 2.6.28).
#[must_use]
pub fn syscall(text: &str) -> Option<CallState> {
    let mut words = text.split_ascii_whitespace();
    let number = match words.next()? {
        "running" => return Some(CallState::Running),
        "-1" => return Some(CallState::Outside),
        number => number.parse().ok()?,
    };
    let mut args = [0; 6];
    for arg in &mut args {
        let word = words.next()?;
        *arg = u64::from_str_radix(word.strip_prefix("0x").unwrap_or(word), 16).ok()?;
    }
    Some(CallState::In(Call { number, args }))
}

/// State letter and parent of `stat`. The command name in parentheses can hold anything.
#[must_use]
pub fn stat(text: &str) -> Option<(char, u32)> {
    let rest = &text[text.rfind(')')? + 1..];
    let mut words = rest.split_ascii_whitespace();
    Some((words.next()?.chars().next()?, words.next()?.parse().ok()?))
}

/// Command name of `stat`, the text between the outer parentheses.
#[must_use]
pub fn command(stat: &str) -> Option<&str> {
    stat.get(stat.find('(')? + 1..stat.rfind(')')?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syscall_texts() {
        assert_eq!(syscall("running"), Some(CallState::Running));
        assert_eq!(syscall("-1 0x7ffd4a 0x55f3"), Some(CallState::Outside));
        let text = "230 0x0 0x1 0x7fff2a 0x0 0x0 0xff 0x7fff29f8 0x7f5a";
        let call = Call {
            number: 230,
            args: [0, 1, 0x7f_ff2a, 0, 0, 0xff],
        };
        assert_eq!(syscall(text), Some(CallState::In(call)));
        assert_eq!(syscall("230 0x0"), None);
        assert_eq!(syscall(""), None);
    }

    #[test]
    fn stat_with_parentheses_in_the_name() {
        let text = "17 (a) b (c)) D 3 17 17 0";
        assert_eq!(stat(text), Some(('D', 3)));
        assert_eq!(command(text), Some("a) b (c)"));
        assert_eq!(stat("17"), None);
    }
}
