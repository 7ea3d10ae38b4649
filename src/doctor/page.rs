//! The examination as text: plain lines, no colour, narrow enough for any terminal.

use std::io::{self, Write};

use serde_json::Value;

use super::{Examination, Source};
use crate::sample::Host;
use crate::sample::host::FLOOR_MATTERS;
use crate::unit::{display_escaped, human_bytes};

/// Load a CPU above which the machine is busy.
const BUSY: f64 = 0.2;

/// Writes the page.
///
/// # Errors
///
/// Those of the writer.
pub fn write(out: &mut dyn Write, found: &Examination) -> io::Result<()> {
    writeln!(
        out,
        "Evidence (what is read, when, and what one reading costs)"
    )?;
    for source in &found.sources {
        evidence(out, source)?;
    }
    writeln!(out, "\nMachine")?;
    for (key, value) in machine(found) {
        writeln!(out, "  {key:<13} {value}")?;
    }
    writeln!(out, "\nStarting a program")?;
    match found.spawn_floor {
        Some(floor) => writeln!(
            out,
            "  an empty program takes {}: a large part of a command below {}, and told with it",
            micros(floor),
            micros(floor * FLOOR_MATTERS)
        )?,
        None => writeln!(out, "  no empty program could be run")?,
    }
    let folder = found.folder.display().to_string();
    let folder = display_escaped(folder.as_ref()).into_owned();
    writeln!(out, "\nDurability in {folder} (one append of 100 bytes)")?;
    match &found.durability {
        Ok(tax) => {
            writeln!(out, "  {:<13} {:>10}", "write", micros(tax.write))?;
            for (name, time) in [("fdatasync", tax.fdatasync), ("fsync", tax.fsync)] {
                let times = time / tax.write.max(1e-9);
                writeln!(out, "  {name:<13} {:>10}  {times:.0}x", micros(time))?;
            }
        }
        Err(error) => writeln!(out, "  not measured: {error}")?,
    }
    out.flush()
}

fn evidence(out: &mut dyn Write, source: &Source) -> io::Result<()> {
    let probe = source.probe;
    let cost = source
        .cost
        .map(|cost| micros(cost.as_secs_f64()))
        .unwrap_or_default();
    let state = if source.missing.is_none() {
        "ready"
    } else {
        "missing"
    };
    writeln!(
        out,
        "  {state:<7}  {:<20}  {:<11}  {cost:>8}  {}",
        probe.title,
        probe.when.word(),
        probe.adds
    )?;
    let Some(missing) = &source.missing else {
        return Ok(());
    };
    writeln!(out, "           = {missing}")?;
    if let Some(remedy) = &missing.remedy {
        writeln!(out, "           help: {remedy}")?;
    }
    Ok(())
}

fn micros(seconds: f64) -> String {
    let micros = seconds * 1e6;
    if micros >= 10_000.0 {
        format!("{:.1} ms", micros / 1e3)
    } else {
        format!("{micros:.1} us")
    }
}

/// Facts of the machine, each with what it means for measuring where it means something.
fn machine(found: &Examination) -> Vec<(&'static str, String)> {
    let host = &found.host;
    let unknown = || "unknown".to_string();
    let fact = |key: &str| host.facts.get(key);
    let resolution = host
        .clock_resolution_ns
        .map_or_else(unknown, |ns| ns.to_string());
    vec![
        ("kernel", host.kernel.clone().unwrap_or_else(unknown)),
        ("cpu", host.cpu_model.clone().unwrap_or_else(unknown)),
        (
            "cpus",
            host.cpus.map_or_else(unknown, |cpus| cpus.to_string()),
        ),
        (
            "clock",
            format!(
                "{}, resolution {resolution} ns, one reading {} ns",
                host.clock, found.clock_reading_ns
            ),
        ),
        ("governor", governor(fact("governor"))),
        (
            "turbo",
            switch(fact("turbo"), "frequency depends on load and heat"),
        ),
        ("smt", switch(fact("smt"), "two threads share one core")),
        ("load", load(host)),
        ("cpu quota", quota(fact("quota_cpus"))),
        ("memory limit", bytes(fact("memory_limit_bytes"), "none")),
        ("steal", steal(fact("steal_share"))),
        ("hugepages", hugepages(host)),
        ("thp", fact("thp").map_or_else(unknown, text)),
        (
            "swap",
            bytes(fact("swap_bytes").filter(|v| v.as_u64() != Some(0)), "none"),
        ),
        (
            "virtual",
            fact("virtualization").map_or_else(|| "no".into(), text),
        ),
    ]
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => display_escaped(text.as_ref()).into_owned(),
        other => other.to_string(),
    }
}

fn governor(value: Option<&Value>) -> String {
    match value.and_then(Value::as_str) {
        None => "unknown (no frequency scaling is shown here)".into(),
        Some("performance") => "performance".into(),
        Some(other) => format!(
            "{}: the frequency follows the load; `cpupower frequency-set -g performance`",
            display_escaped(other.as_ref())
        ),
    }
}

fn switch(value: Option<&Value>, meaning: &str) -> String {
    match value.and_then(Value::as_bool) {
        None => "unknown".into(),
        Some(true) => format!("on: {meaning}"),
        Some(false) => "off".into(),
    }
}

fn load(host: &Host) -> String {
    let one = host
        .facts
        .get("load_average")
        .and_then(|all| all.get(0)?.as_f64());
    let Some(load) = one else {
        return "unknown".into();
    };
    let busy = load > BUSY * host.cpus.unwrap_or(1) as f64;
    let remark = if busy { ": other programs run" } else { "" };
    format!("{load:.2} in the last minute{remark}")
}

fn quota(value: Option<&Value>) -> String {
    value.and_then(Value::as_f64).map_or_else(
        || "none seen".into(),
        |cpus| format!("{cpus:.2} CPUs: runs that use more are stopped for part of each period"),
    )
}

fn bytes(value: Option<&Value>, absent: &str) -> String {
    let bytes = value.and_then(Value::as_f64);
    bytes.map_or_else(|| absent.to_string(), human_bytes)
}

fn steal(value: Option<&Value>) -> String {
    value.and_then(Value::as_f64).map_or_else(
        || "unknown".into(),
        |share| {
            format!(
                "{:.2}% of CPU time since the machine was started",
                share * 100.0
            )
        },
    )
}

fn hugepages(host: &Host) -> String {
    let number = |key: &str| host.facts.get(key).and_then(Value::as_u64);
    match (number("hugepages_total"), number("hugepages_free")) {
        (Some(0), _) => "none reserved".into(),
        (Some(total), Some(0)) => format!("0 of {total} free: MAP_HUGETLB falls back or fails"),
        (Some(total), Some(free)) => format!("{free} of {total} free"),
        _ => "unknown".into(),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::doctor::Durability;
    use crate::evidence::Missing;
    use crate::probe::PROBES;

    #[test]
    fn the_page_tells_state_reason_remedy_and_cost() {
        let missing = Missing::because("delay accounting is off").remedy("sysctl x=1");
        let found = Examination {
            sources: vec![
                Source {
                    probe: &PROBES[1],
                    missing: None,
                    cost: Some(Duration::from_nanos(7_300)),
                },
                Source {
                    probe: &PROBES[2],
                    missing: Some(missing),
                    cost: None,
                },
            ],
            host: Host {
                cpus: Some(2),
                facts: [("load_average".to_string(), Value::from(vec![3.0, 1.0, 1.0]))].into(),
                ..Host::default()
            },
            clock_reading_ns: 20,
            spawn_floor: Some(180e-6),
            folder: "/tmp".into(),
            durability: Ok(Durability {
                write: 1e-6,
                fdatasync: 30e-6,
                fsync: 45e-6,
            }),
        };
        let mut text = Vec::new();
        write(&mut text, &found).unwrap();
        let text = String::from_utf8(text).unwrap();
        for part in [
            "7.3 us",
            "= delay accounting is off",
            "help: sysctl x=1",
            "3.00 in the last minute: other programs run",
            "an empty program takes 180.0 us",
            "a command below 3600.0 us",
            "45x",
        ] {
            assert!(text.contains(part), "{part} is missing in\n{text}");
        }
    }
}
