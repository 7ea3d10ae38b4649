//! Statistics against reference values computed elsewhere (`tests/data/oracle/README.md`).

#![allow(
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    reason = "this is test code"
)]

use offbench::stats::bootstrap::{Resampler, percentile_limits};
use offbench::stats::compare::{self, Pairing};
use offbench::stats::decision::{self, Decision};
use offbench::stats::outlier::{self, Floors, Robust};
use offbench::stats::{
    Estimate, Interval, Method, Series, Settings, Summary, center_ratio, density, exact, moments,
    order, rank, ratio, trend, warmup, warning,
};
use serde_json::Value;

fn oracle() -> Value {
    serde_json::from_str(include_str!("data/oracle/stats-oracle.json")).unwrap()
}

fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is no number"))
}

fn count(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    list(value).iter().map(number).collect()
}

fn series(value: &Value) -> Series {
    Series::new(numbers(value)).unwrap()
}

/// A relative difference of at most `tolerance`, or an absolute one of 1e-15.
#[track_caller]
fn near(got: f64, expected: f64, tolerance: f64, what: &str) {
    let fits = (got - expected).abs() <= (tolerance * expected.abs()).max(1e-15);
    assert!(fits, "{what}: {got} is not {expected}");
}

#[track_caller]
fn same(got: f64, expected: &Value, what: &str) {
    near(got, number(expected), 1e-9, what);
}

/// Both absent, or both present and equal.
#[track_caller]
fn same_option(got: Option<f64>, expected: &Value, what: &str) {
    match got {
        Some(got) => same(got, expected, what),
        None => assert!(expected.is_null(), "{what}: nothing is not {expected}"),
    }
}

#[track_caller]
fn same_interval(got: Option<Interval>, expected: &Value, what: &str) {
    let has_limits = expected.get("lo").is_some_and(|low| !low.is_null());
    assert_eq!(got.is_some(), has_limits, "{what}");
    if let Some(got) = got {
        same(got.low, &expected["lo"], what);
        same(got.high, &expected["hi"], what);
    }
}

/// Both limits lie in the bands that resampling with any good generator reaches.
#[track_caller]
fn within_bands((low, high): (f64, f64), expected: &Value, what: &str) {
    for (limit, band) in [(low, &expected["lo"]), (high, &expected["hi"])] {
        let (least, most) = (number(&band["min"]), number(&band["max"]));
        let slack = 1e-12 * most.abs();
        let fits = least - slack <= limit && limit <= most + slack;
        assert!(fits, "{what}: {limit} is not in {least} ..= {most}");
    }
}

/// Runs `check` on every entry of a list of the oracle.
fn each(part: &str, check: impl Fn(&str, &Value)) {
    let oracle = oracle();
    assert!(!list(&oracle[part]).is_empty());
    for entry in list(&oracle[part]) {
        check(entry["name"].as_str().unwrap(), entry);
    }
}

#[test]
fn minimum_counts() {
    let oracle = oracle();
    for (name, expected) in oracle["minimum_n"].as_object().unwrap() {
        let q = name[1..].parse::<f64>().unwrap() / 100.0;
        for (key, level) in [("two_sided_95", 0.95), ("two_sided_99", 0.99)] {
            if let Some(expected) = expected.get(key) {
                assert_eq!(
                    order::fewest_runs(q, level),
                    Some(count(expected)),
                    "{name} {key}"
                );
            }
        }
        let one_sided = order::fewest_runs_one_sided(q, 0.95);
        assert_eq!(
            one_sided,
            Some(count(&expected["max_is_upper_bound_95"])),
            "{name}"
        );
    }
    for (level, pairs) in oracle["minimum_pairs"].as_object().unwrap() {
        assert_eq!(
            rank::fewest_pairs(level.parse().unwrap()),
            Some(count(pairs)),
            "{level}"
        );
    }
}

#[test]
fn order_statistic_ranks() {
    let oracle = oracle();
    for entry in list(&oracle["order_statistic_ranks"]) {
        let got = order::ranks(
            count(&entry["n"]),
            number(&entry["q"]),
            number(&entry["conf"]),
        );
        let Some(got) = got else {
            assert!(entry["lo"].is_null() || entry["hi"].is_null(), "{entry}");
            continue;
        };
        assert_eq!(
            (got.low, got.high),
            (count(&entry["lo"]), count(&entry["hi"])),
            "{entry}"
        );
        same(got.coverage, &entry["coverage"], "coverage");
    }
}

#[test]
fn bootstrap_replay() {
    let replay = &oracle()["bootstrap_replay"];
    let series = series(&replay["values"]);
    let mut resampler = Resampler::new(&series);
    let (mut means, mut medians) = (Vec::new(), Vec::new());
    for (number, indices) in list(&replay["indices"]).iter().enumerate() {
        let indices: Vec<usize> = list(indices).iter().map(count).collect();
        resampler.load(&indices);
        same(resampler.mean(), &replay["means"][number], "mean");
        same(resampler.median(), &replay["medians"][number], "median");
        means.push(resampler.mean());
        medians.push(resampler.median());
    }
    let (low, high) = percentile_limits(means, 0.95);
    same(low, &replay["mean_lo"], "mean_lo");
    same(high, &replay["mean_hi"], "mean_hi");
    let (low, high) = percentile_limits(medians, 0.95);
    same(low, &replay["median_lo"], "median_lo");
    same(high, &replay["median_hi"], "median_hi");
}

#[test]
fn warmup_checks() {
    each("warmup", |name, entry| {
        let (values, expected) = (numbers(&entry["values"]), &entry["expected"]);
        let checks = warmup::checks(&values);
        assert_eq!(checks.len(), list(&expected["checks"]).len(), "{name}");
        for (got, expected) in checks.iter().zip(list(&expected["checks"])) {
            assert_eq!(got.runs, count(&expected["after_runs"]), "{name}");
            same(got.spread, &expected["spread"], name);
            same(got.tolerance, &expected["tolerance"], name);
        }
        let steady = checks.last().filter(|check| check.steady());
        let runs = steady.map(|check| check.runs as u64);
        assert_eq!(runs, expected["steady_after"].as_u64(), "{name}");
        same_option(
            steady.map(|check| check.tolerance),
            &expected["tolerance_used"],
            name,
        );
        let expected = numbers(&expected["window_medians"]);
        let medians = warmup::window_medians(&values[..5 * expected.len()]);
        for (got, expected) in medians.iter().zip(expected) {
            near(*got, expected, 1e-9, name);
        }
    });
}

/// A summary in which no bootstrap is asked for.
fn summary(series: &Series) -> Summary {
    let settings = Settings {
        resamples: 1,
        ..Settings::default()
    };
    Summary::of(series, &settings, 0.0)
}

#[test]
fn points() {
    each("datasets", |name, entry| {
        let (series, expected) = (series(&entry["values"]), &entry["expected"]);
        same(series.min(), &expected["min"], name);
        same(series.max(), &expected["max"], name);
        same(moments::mean(series.values()), &expected["mean"], name);
        same(series.median(), &expected["median"], name);
        let summary = summary(&series);
        for (id, key) in [("stddev", "sd"), ("cv", "cv")] {
            let tolerance = if name == "huge_offset" { 1e-6 } else { 1e-9 };
            match summary.get(id) {
                Some(got) => near(got.value, number(&expected[key]), tolerance, name),
                None => assert!(expected[key].is_null(), "{name} {id}"),
            }
        }
        for (key, quantile) in expected["quantile_type7"].as_object().unwrap() {
            let q = key[1..].parse::<f64>().unwrap() / 100.0;
            same(series.quantile(q), quantile, &format!("{name} {key}"));
        }
    });
}

#[test]
fn robust_scale_and_outliers() {
    each("datasets", |name, entry| {
        let (series, expected) = (series(&entry["values"]), &entry["expected"]);
        let robust = Robust::of(series.values());
        same(robust.mad, &expected["mad"], name);
        near(
            1.4826 * robust.mad,
            number(&expected["mad_sigma"]),
            1e-9,
            name,
        );
        let z = |value| robust.z(value);
        same(
            z(series.values()[0]),
            &expected["modified_z"]["first"],
            name,
        );
        same(z(series.max()), &expected["modified_z"]["max"], name);
        same(z(series.min()), &expected["modified_z"]["min"], name);
        let far = series
            .values()
            .iter()
            .enumerate()
            .filter(|(_, value)| z(**value).abs() > 3.5);
        let far: Vec<usize> = far.map(|(index, _)| index).collect();
        let expected = list(&expected["modified_z"]["outlier_indices_3_5"]);
        assert_eq!(
            far,
            expected.iter().map(count).collect::<Vec<_>>(),
            "{name}"
        );
    });
}

#[test]
fn intervals_by_formula() {
    each("datasets", |name, entry| {
        let (series, expected) = (series(&entry["values"]), &entry["expected"]);
        let summary = summary(&series);
        if summary.widened.is_none() {
            let mean = summary.get("mean").unwrap().interval;
            same_interval(mean, &expected["mean_t_ci"], &format!("{name} mean"));
        }
        for (key, q) in [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)] {
            let expected = &expected["order_statistic_ci"][key];
            let got = order::interval(series.sorted(), q, 0.95);
            same_interval(
                got.map(|found| found.interval),
                expected,
                &format!("{name} {key}"),
            );
            if let Some(got) = got {
                assert_eq!(got.ranks.low, count(&expected["rank_lo"]), "{name} {key}");
                assert_eq!(got.ranks.high, count(&expected["rank_hi"]), "{name} {key}");
                same(got.ranks.coverage, &expected["exact_coverage"], name);
            }
            if q > 0.5 {
                let headline = summary.get(key).unwrap().interval;
                assert_eq!(headline, got.map(|found| found.interval), "{name} {key}");
            }
        }
        let bound = order::lower_bound(series.sorted(), 0.99, 0.95).unwrap();
        assert_eq!(
            bound.rank,
            count(&expected["p99_one_sided_lower95"]["rank"]),
            "{name}"
        );
        same(
            bound.value,
            &expected["p99_one_sided_lower95"]["value"],
            name,
        );
        assert_eq!(summary.p99_lower.is_some(), series.runs() >= 100, "{name}");
    });
}

#[test]
fn resampled_intervals() {
    each("datasets", |name, entry| {
        let (series, expected) = (series(&entry["values"]), &entry["expected"]["bootstrap"]);
        let summary = Summary::of(&series, &Settings::default(), 0.0);
        let limits = |interval: Interval| (interval.low, interval.high);
        if expected.is_null() {
            assert_eq!(summary.mean_resampled, None, "{name}");
            return;
        }
        within_bands(
            limits(summary.mean_resampled.unwrap()),
            &expected["mean_percentile"],
            name,
        );
        assert_eq!(
            summary.median_resampled.is_some(),
            series.runs() >= 6,
            "{name}"
        );
        if let Some(median) = summary.median_resampled {
            within_bands(limits(median), &expected["median_percentile"], name);
            let exact = series.runs() >= exact::FEWEST_RUNS;
            assert_eq!(median.method == Method::ExactBeta, exact, "{name}");
            let mean = summary.mean_resampled.unwrap().method;
            assert_eq!(mean == Method::BootstrapPercentile, !exact, "{name}");
        }
    });
}

#[test]
fn trend_and_autocorrelation() {
    each("datasets", |name, entry| {
        let (series, expected) = (series(&entry["values"]), &entry["expected"]);
        let Some(drift) = expected.get("drift") else {
            return;
        };
        let halves = trend::halves(&series).unwrap();
        assert_eq!(halves.runs, count(&drift["half_len"]), "{name}");
        same(halves.earlier, &drift["first_half_median"], name);
        same(halves.later, &drift["last_half_median"], name);
        let shift = number(&drift["rel_shift"]);
        assert!(
            (halves.shift - shift).abs() <= 1e-9 * shift.abs().max(1e-6),
            "{name}"
        );
        let (got, test) = (trend::mann_kendall(&series), &drift["mann_kendall"]);
        assert_eq!(Some(got.s), test["S"].as_i64(), "{name}");
        same(got.variance, &test["var"], name);
        same(got.z, &test["z"], name);
        near(got.p, number(&test["p"]), 1e-6, name);
        let expected = &expected["autocorrelation"];
        let got = trend::autocorrelation(&series);
        // Two runs have a number that says nothing.
        if series.runs() > 2 {
            same_option(got.map(|found| found.lag_one), &expected["lag1"], name);
        }
        same_option(
            got.map(|found| found.corrected),
            &expected["lag1_bias_corrected"],
            name,
        );
        same_option(
            got.map(|found| found.effective_runs),
            &expected["n_eff"],
            name,
        );
        same_option(got.map(|found| found.widening), &expected["widen"], name);
    });
}

#[test]
fn first_runs() {
    each("datasets", |name, entry| {
        let (series, expected) = (series(&entry["values"]), &entry["expected"]);
        let Some(expected) = expected.get("first_run") else {
            assert_eq!(outlier::first_run(&series), None, "{name}");
            return;
        };
        let got = outlier::first_run(&series).unwrap();
        same(got.median_of_rest, &expected["median_of_rest"], name);
        same(got.mad_of_rest, &expected["mad_of_rest"], name);
        near(got.excess, number(&expected["excess"]), 1e-9, name);
        assert_eq!(
            Some(got.slowest),
            expected["is_slowest"].as_bool(),
            "{name}"
        );
        same_option(got.z, &expected["robust_z"], name);
    });
}

#[test]
fn two_modes() {
    each("datasets", |name, entry| {
        let (series, expected) = (series(&entry["values"]), &entry["expected"]["two_modes"]);
        if expected.is_null() {
            assert_eq!(density::bandwidth(&series), None, "{name}");
            return;
        }
        same(
            density::bandwidth(&series).unwrap(),
            &expected["bandwidth"],
            name,
        );
        let got = density::valley(&series);
        same_option(got.map(|found| found.depth), &expected["valley"], name);
        let flagged = got.is_some_and(|found| found.two_speeds);
        assert_eq!(Some(flagged), expected["flagged"].as_bool(), "{name}");
        // how far the grid reaches beyond far outliers is a choice; there is one peak either way
        let Some(got) = got.filter(|_| !["one_outlier", "cold_first"].contains(&name)) else {
            return;
        };
        same(got.split, &expected["split"], name);
        same(got.low_peak, &expected["low_peak"], name);
        same(got.high_peak, &expected["high_peak"], name);
        same(got.low_share, &expected["low_share"], name);
        let separation = number(&expected["separation"]);
        assert!(
            (got.separation - separation).abs() < 1e-9 * separation.max(1e-6),
            "{name}"
        );
    });
}

#[test]
fn warnings() {
    each("datasets", |name, entry| {
        let floors = Floors {
            resolution: 0.0,
            first_run: 0.001,
        };
        let found = warning::findings(&series(&entry["values"]), floors);
        let mut got: Vec<&str> = found.iter().map(warning::Finding::id).collect();
        got.retain(|id| *id != "coarse-steps");
        let expected = list(&entry["expected"]["flags"]).iter();
        let mut expected: Vec<&str> = expected
            .map(|flag| flag_id(flag.as_str().unwrap()))
            .collect();
        got.sort_unstable();
        expected.sort_unstable();
        assert_eq!(got, expected, "{name}");
        let steps = found.iter().any(|finding| finding.id() == "coarse-steps");
        assert_eq!(steps, ["ties_ms", "mad_zero"].contains(&name), "{name}");
    });
}

/// Our id of a flag.
fn flag_id(flag: &str) -> &str {
    match flag {
        "two_modes" => "two-speeds",
        "slow_first_run" => "slow-first-run",
        other => other,
    }
}

#[test]
fn pairs_by_rank() {
    each("pairs", |name, entry| {
        let (a, b, expected) = (series(&entry["a"]), series(&entry["b"]), &entry["expected"]);
        let [means, medians] = center_ratio::ratios(&a, &b, Pairing::Separate, &quick());
        same(means.value, &expected["ratio_of_means"], name);
        same(medians.value, &expected["ratio_of_medians"], name);
        let separate = compare::separate(&a, &b, 0.95).unwrap();
        same_ratio(&separate, &expected["unpaired_hl"], name);
        let critical = rank::rank_sum(a.runs(), b.runs(), 0.95).unwrap();
        assert_eq!(
            critical.position,
            count(&expected["unpaired_hl"]["crit"]),
            "{name}"
        );
        let mut judged = separate;
        if entry["paired"].as_bool() == Some(true) {
            let paired = compare::paired(&a, &b, 0.95).unwrap();
            same_ratio(&paired, &expected["paired_hl"], name);
            let critical = rank::signed_rank(a.runs(), 0.95).map(|found| found.position);
            let expected = expected["paired_hl"]["crit"].as_i64().unwrap();
            assert_eq!(critical, usize::try_from(expected).ok(), "{name}");
            judged = paired;
        }
        for (threshold, verdict) in expected["verdict"].as_object().unwrap() {
            let limit = 1.0 + threshold.parse::<f64>().unwrap();
            let interval = judged.interval.as_ref();
            let got = match decision::by_interval(interval, limit, decision::Past::Above) {
                Decision::Fail => "regression",
                Decision::Ok => "pass",
                Decision::Unsure => "inconclusive",
            };
            assert_eq!(Some(got), verdict.as_str(), "{name} {threshold}");
        }
    });
}

fn quick() -> Settings {
    Settings {
        resamples: 1,
        ..Settings::default()
    }
}

#[track_caller]
fn same_ratio(got: &Estimate, expected: &Value, name: &str) {
    same(got.value, &expected["estimate"], name);
    same_interval(got.interval, expected, name);
}

#[test]
fn pairs_by_resampling() {
    each("pairs", |name, entry| {
        let (a, b, expected) = (series(&entry["a"]), series(&entry["b"]), &entry["expected"]);
        for (pairing, key) in [
            (Pairing::Separate, "independent_bootstrap"),
            (Pairing::Paired, "paired_bootstrap"),
        ] {
            let Some(expected) = expected.get(key) else {
                continue;
            };
            let [means, medians] =
                center_ratio::resampled_ratios(&a, &b, pairing, &Settings::default());
            let what = format!("{name} {key}");
            within_bands((means.low, means.high), &expected["ratio_of_means"], &what);
            within_bands(
                (medians.low, medians.high),
                &expected["ratio_of_medians"],
                &what,
            );
        }
    });
}

#[test]
fn wall_over_cpu() {
    each("wall_cpu", |name, entry| {
        let (wall, cpu, expected) = (
            series(&entry["wall"]),
            series(&entry["cpu"]),
            &entry["expected"],
        );
        let got = ratio::wall_over_cpu(&wall, &cpu, 0.95, 0.001);
        same(got.off_cpu_share, &expected["off_cpu_share"], name);
        same(moments::mean(cpu.values()), &expected["mean_cpu"], name);
        same_option(
            got.ratio.map(|ratio| ratio.value),
            &expected["ratio_of_means"],
            name,
        );
        if let Some(ratio) = got.ratio {
            same_interval(ratio.interval, &expected["log_delta_t"], name);
        }
        let share = &expected["share_of_wall_variance_from_off_cpu"];
        same_option(got.variance_share, share, name);
        same_option(
            got.slowest_tenth,
            &expected["share_of_off_cpu_in_top_tenth"],
            name,
        );
        let mut flags = Vec::new();
        flags.extend(got.spread_is_waiting.then_some("spread_is_waiting"));
        flags.extend(got.stalls.map(|_| "intermittent_stalls"));
        let expected = list(&expected["flags"]).iter();
        assert_eq!(
            flags,
            expected
                .map(|flag| flag.as_str().unwrap())
                .collect::<Vec<_>>(),
            "{name}"
        );
    });
}
