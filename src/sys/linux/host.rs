//! Facts about the machine from `/proc` and `/sys`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use super::cgroup::hierarchies;
use crate::sys::parse::Hierarchy;
use crate::sys::unix;

/// The first line of a file, without surrounding blanks.
fn line(path: impl AsRef<Path>) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    let first = text.lines().next()?.trim();
    (!first.is_empty()).then(|| first.to_owned())
}

/// The processor, as the kernel names it.
pub(crate) fn cpu_model() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let value = |keys: &[&str]| {
        text.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            keys.contains(&key.trim()).then(|| value.trim().to_owned())
        })
    };
    value(&["model name", "Model", "cpu model", "Hardware"]).filter(|name| !name.is_empty())
}

/// How many processes we may have, where a limit is set.
pub(crate) fn process_limit() -> Option<u64> {
    let own = unix::limit(nix::sys::resource::Resource::RLIMIT_NPROC);
    own.into_iter().chain(group_process_limit()).min()
}

/// How many processes our own cgroup and those above it may hold.
fn group_process_limit() -> Option<u64> {
    let all = hierarchies().iter();
    let counting = all.filter(|one| one.unified || one.has("pids"));
    let limits = counting.flat_map(Hierarchy::levels);
    limits
        .filter_map(|folder| line(folder.join("pids.max"))?.parse().ok())
        .min()
}

/// Everything else that bears on a measurement.
pub(crate) fn facts() -> BTreeMap<String, Value> {
    let policy = "/sys/devices/system/cpu/cpu0/cpufreq";
    let all: [(&str, Option<Value>); 9] = [
        (
            "governor",
            line(format!("{policy}/scaling_governor")).map(Value::from),
        ),
        ("turbo", turbo().map(Value::from)),
        (
            "smt",
            line("/sys/devices/system/cpu/smt/active").map(|on| Value::from(on == "1")),
        ),
        ("load_average", load_average()),
        ("thp", transparent_hugepages().map(Value::from)),
        ("swap_bytes", memory("SwapTotal:").map(Value::from)),
        ("memory_bytes", memory("MemTotal:").map(Value::from)),
        (
            "aslr",
            line("/proc/sys/kernel/randomize_va_space").map(|on| Value::from(on != "0")),
        ),
        ("virtualization", virtualization().map(Value::from)),
    ];
    let known = all
        .into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?)));
    known.collect()
}

/// Whether the processor may go above its nominal frequency.
fn turbo() -> Option<bool> {
    let off = line("/sys/devices/system/cpu/intel_pstate/no_turbo").map(|off| off == "0");
    off.or_else(|| line("/sys/devices/system/cpu/cpufreq/boost").map(|on| on == "1"))
}

fn load_average() -> Option<Value> {
    let text = line("/proc/loadavg")?;
    let parts: Option<Vec<f64>> = text
        .split(' ')
        .take(3)
        .map(|part| part.parse().ok())
        .collect();
    parts.filter(|parts| parts.len() == 3).map(Value::from)
}

/// The mode in brackets: `always [madvise] never`.
fn transparent_hugepages() -> Option<String> {
    let text = line("/sys/kernel/mm/transparent_hugepage/enabled")?;
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(mode, _)| mode.to_owned())
}

/// A line of `/proc/meminfo`, in bytes.
fn memory(key: &str) -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix(key))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// What the machine runs in, as far as it shows: a container engine, or a virtual machine.
fn virtualization() -> Option<String> {
    let engine = [("/.dockerenv", "docker"), ("/run/.containerenv", "podman")];
    if let Some((_, name)) = engine.iter().find(|(path, _)| Path::new(path).exists()) {
        return Some((*name).to_owned());
    }
    let hypervisor = fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| {
        let mut flags = text.lines().filter(|line| line.starts_with("flags"));
        flags
            .next()
            .is_some_and(|line| line.split_whitespace().any(|flag| flag == "hypervisor"))
    });
    hypervisor
        .then(|| line("/sys/class/dmi/id/product_name").unwrap_or_else(|| "virtual machine".into()))
}
