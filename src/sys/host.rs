//! Facts about the machine. What cannot be read is absent.

use crate::sample::Host;

use super::{clock, platform};

/// The machine as it is now.
pub(crate) fn host() -> Host {
    let name = nix::sys::utsname::uname().ok();
    let text = |part: &std::ffi::OsStr| part.to_string_lossy().into_owned();
    Host {
        kernel: name
            .as_ref()
            .map(|n| format!("{} {}", text(n.sysname()), text(n.release()))),
        cpu_model: platform::cpu_model(),
        cpus: platform::allowed_cpus(),
        clock: clock::NAME.into(),
        clock_resolution_ns: clock::resolution(),
        hostname: name.as_ref().map(|n| text(n.nodename())),
        facts: platform::facts(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_of_every_machine() {
        let host = host();
        assert!(host.kernel.is_some_and(|kernel| kernel.contains(' ')));
        assert!(host.cpus.is_some_and(|cpus| cpus > 0));
        assert_eq!(host.clock, clock::NAME);
        assert!(host.facts.values().all(|value| !value.is_null()));
    }
}
