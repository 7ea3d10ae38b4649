//! Which quantities a report shows: `--metrics`, with the names of hyperfine 2 and our own.

use super::Problem;
use crate::metric::{METRICS, Metric};
use crate::report::{Choice, ChosenUnit};
use crate::unit::{Scale, TimeUnit, Unit};

/// Reads a preset, or `METRIC[:UNIT],…`; empty for the preset `default`.
///
/// # Errors
/// An unknown metric or unit, or a metric that is named twice.
pub(super) fn parse(list: &str) -> Result<Vec<Choice>, Problem> {
    match list {
        "default" => return Ok(Vec::new()),
        "time" => return Ok(preset(|metric| metric.unit == Unit::Time)),
        "all" => return Ok(preset(|_| true)),
        _ => {}
    }
    let mut choices: Vec<Choice> = Vec::new();
    for word in list.split(',') {
        let (name, unit) = match word.split_once(':') {
            Some((name, unit)) => (name.trim(), Some(unit.trim())),
            None => (word.trim(), None),
        };
        let metric = find(name)?;
        if choices.iter().any(|one| one.metric == metric) {
            return Err(Problem::new(format!("--metrics: `{name}` is named twice")));
        }
        let unit = match unit {
            None => ChosenUnit::Auto,
            Some(unit) => chosen_unit(metric, unit)?,
        };
        choices.push(Choice { metric, unit });
    }
    Ok(choices)
}

/// Those of hyperfine 2's metrics.
fn preset(wanted: fn(&Metric) -> bool) -> Vec<Choice> {
    let theirs = Metric::of_hyperfine().into_iter();
    let chosen = theirs.filter(|(_, metric)| wanted(metric));
    chosen
        .map(|(_, metric)| Choice {
            metric,
            unit: ChosenUnit::Auto,
        })
        .collect()
}

fn find(name: &str) -> Result<&'static Metric, Problem> {
    let theirs = Metric::of_hyperfine();
    let alias = theirs.iter().find(|(theirs, _)| *theirs == name);
    let found = alias
        .map(|(_, metric)| *metric)
        .or_else(|| Metric::from_id(name));
    found.ok_or_else(|| {
        let theirs = theirs.iter().map(|(theirs, _)| *theirs);
        let known = METRICS.iter().map(|metric| metric.id).chain(theirs);
        let near = crate::unit::closest(name, known, 0.8);
        let ids: Vec<&str> = METRICS.iter().map(|metric| metric.id).collect();
        let help = near.map_or_else(
            || format!("default, time, all, or some of: {}", ids.join(", ")),
            |known| format!("did you mean `{known}`?"),
        );
        Problem::new(format!("--metrics: there is no metric `{name}`")).help(Some(help))
    })
}

fn chosen_unit(metric: &Metric, word: &str) -> Result<ChosenUnit, Problem> {
    let found = match metric.unit {
        Unit::Time => word.parse::<TimeUnit>().ok().map(ChosenUnit::Time),
        unit => Scale::named(unit, word).map(ChosenUnit::Scale),
    };
    found.ok_or_else(|| {
        let help = if metric.unit == Unit::Ratio {
            "leave the unit out".to_owned()
        } else {
            format!("one of: {}", metric.unit.words().join(", "))
        };
        Problem::new(format!("--metrics: `{word}` is no unit of `{}`", metric.id)).help(Some(help))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(list: &str) -> Vec<&'static str> {
        let chosen = parse(list).unwrap_or_else(|problem| panic!("{list}: {problem:?}"));
        chosen.iter().map(|one| one.metric.id).collect()
    }

    #[test]
    fn presets_and_names_of_both_programs_are_read() {
        assert!(ids("default").is_empty());
        assert_eq!(ids("time"), ["wall", "cpu", "user", "sys"]);
        assert_eq!(ids("all").len(), 10);
        assert_eq!(ids("time_cpu,instructions"), ["cpu", "instructions"]);
        assert_eq!(
            ids("memory_peak_resident:MiB,time_wall_clock:ms"),
            ["rss", "wall"]
        );
        assert_eq!(ids("rss, off-cpu"), ["rss", "off-cpu"]);
        assert_eq!(ids("instructions:B"), ["instructions"]);
    }

    #[test]
    fn what_cannot_be_shown_is_refused_with_advice() {
        for list in [
            "",
            "unknown",
            "time_wall_clock,",
            "wall,time_wall_clock",
            "instructions:MiB",
            "rss:ms",
            "wall:",
            "wall:parsec",
        ] {
            assert!(parse(list).is_err(), "{list}");
        }
        let help = parse("time_wall_clok").unwrap_err().help.unwrap();
        assert_eq!(help, "did you mean `time_wall_clock`?");
        let help = parse("rss:ms").unwrap_err().help.unwrap();
        assert!(help.contains("MiB"), "{help}");
    }

    #[test]
    fn the_help_names_all_of_hyperfine_and_every_unit() {
        use clap::CommandFactory;
        let command = crate::cli::args::Args::command();
        let option = |id: &str| command.get_arguments().find(|one| one.get_id() == id);
        let help = option("metrics").unwrap().get_long_help().unwrap();
        for (theirs, _) in Metric::of_hyperfine() {
            assert!(help.to_string().contains(theirs), "{theirs}");
        }
        let help = option("time_unit").unwrap().get_help().unwrap();
        let units = Unit::Time.words().join(" ");
        assert!(help.to_string().ends_with(&units));
    }
}
