//! OpenMetrics text: a gauge family for each metric, with the labels `command` and `stat`.

use std::io::{self, Write};

use super::Document;
use crate::analysis::Subject;
use crate::diagnose::Tier;
use crate::gate::Decision;
use crate::metric::{METRICS, Metric, WALL_CPU};
use crate::stats::{Estimate, Interval};
use crate::unit::Unit;

/// Writes the file.
pub(super) fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let subjects = &document.analysis.subjects;
    let names = labels(subjects);
    for metric in METRICS {
        let known = subjects.iter().any(|subject| has(subject, metric));
        if known {
            family(out, &name(metric), unit(metric), metric.help)?;
            for (subject, label) in subjects.iter().zip(&names) {
                values(out, metric, subject, label)?;
            }
        }
    }
    counts(out, subjects, &names)?;
    gates(out, document, &names)?;
    out.write_all(b"# EOF\n")
}

/// The command label of each command; a name that comes again gets its number, because two series
/// must not have the same labels.
fn labels(subjects: &[Subject<'_>]) -> Vec<String> {
    let mut labels: Vec<String> = Vec::new();
    for (place, subject) in subjects.iter().enumerate() {
        let mut label = escaped(subject.name());
        if labels.contains(&label) {
            label = format!("{label} #{}", place + 1);
        }
        labels.push(label);
    }
    labels
}

fn has(subject: &Subject<'_>, metric: &Metric) -> bool {
    if metric.id == WALL_CPU {
        subject.ratio.is_some()
    } else {
        subject.summary(metric.id).is_some()
    }
}

fn unit(metric: &Metric) -> &'static str {
    match metric.unit {
        Unit::Time => "seconds",
        Unit::Bytes => "bytes",
        Unit::Ratio | Unit::Percent => "ratio",
        Unit::Count => "",
    }
}

fn name(metric: &Metric) -> String {
    match unit(metric) {
        "" => format!("offbench_{}", metric.key),
        unit => format!("offbench_{}_{unit}", metric.key),
    }
}

fn family(out: &mut dyn Write, name: &str, unit: &str, help: &str) -> io::Result<()> {
    writeln!(out, "# TYPE {name} gauge")?;
    if !unit.is_empty() {
        writeln!(out, "# UNIT {name} {unit}")?;
    }
    writeln!(out, "# HELP {name} {}", escaped(help))
}

fn values(
    out: &mut dyn Write,
    metric: &Metric,
    subject: &Subject<'_>,
    label: &str,
) -> io::Result<()> {
    let name = name(metric);
    let mut one = |stat: &str, value: f64| {
        if value.is_finite() {
            writeln!(out, "{name}{{command=\"{label}\",stat=\"{stat}\"}} {value}")
        } else {
            Ok(())
        }
    };
    let mut estimate = |stat: &str, found: Estimate| {
        one(stat, found.value)?;
        let Some(Interval { low, high, .. }) = found.interval else {
            return Ok(());
        };
        one(&format!("{stat}_low"), low)?;
        one(&format!("{stat}_high"), high)
    };
    if metric.id == WALL_CPU {
        return subject
            .ratio
            .map_or(Ok(()), |found| estimate("ratio_of_sums", found));
    }
    let Some(summary) = subject.summary(metric.id) else {
        return Ok(());
    };
    for (statistic, found) in summary.iter() {
        // cv has no unit and does not belong into this family.
        if let Some(found) = found.filter(|_| statistic.id != "cv") {
            estimate(statistic.id, found)?;
        }
    }
    Ok(())
}

/// A number of a command that is no metric.
type Count = fn(&Subject<'_>) -> usize;

fn counts(out: &mut dyn Write, subjects: &[Subject<'_>], names: &[String]) -> io::Result<()> {
    let rows: [(&str, &str, Count); 3] = [
        ("offbench_runs", "Measured runs.", |subject| {
            subject.counts.measured
        }),
        (
            "offbench_failed_runs",
            "Measured runs that failed.",
            |subject| subject.counts.failed,
        ),
        (
            "offbench_tier",
            "Off-CPU tier: 0 none, 1 note, 2 warning, 3 severe.",
            tier,
        ),
    ];
    for (name, help, read) in rows {
        family(out, name, "", help)?;
        for (subject, label) in subjects.iter().zip(names) {
            writeln!(out, "{name}{{command=\"{label}\"}} {}", read(subject))?;
        }
    }
    Ok(())
}

fn tier(subject: &Subject<'_>) -> usize {
    let tier = subject
        .diagnosis
        .as_ref()
        .map_or(Tier::None, |found| found.tier);
    Tier::ALL.iter().position(|one| *one == tier).unwrap_or(0)
}

fn gates(out: &mut dyn Write, document: &Document<'_>, names: &[String]) -> io::Result<()> {
    if document.verdicts.is_empty() {
        return Ok(());
    }
    let name = "offbench_gate";
    family(
        out,
        name,
        "",
        "Verdict of a gate: 1 ok, 0 not decided, -1 failed.",
    )?;
    for verdict in document.verdicts {
        let value = match verdict.decision {
            Decision::Ok => 1,
            Decision::Unsure => 0,
            Decision::Fail => -1,
        };
        let label = names.get(verdict.command).map_or("", String::as_str);
        let expression = escaped(&verdict.expression);
        writeln!(
            out,
            "{name}{{command=\"{label}\",expression=\"{expression}\"}} {value}"
        )?;
    }
    Ok(())
}

/// Text of a label or a help line.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        assert_eq!(escaped("a\\b \"c\"\nd"), "a\\\\b \\\"c\\\"\\nd");
    }
}
