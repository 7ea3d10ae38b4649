//! The same command against itself: the smallest difference that can be detected here and now.

use super::{Analysis, Verdict};
use crate::metric::{CPU, WALL};
use crate::stats::precision::detectable;
use crate::unit::decimal_percent;

/// How often a difference is to be found, to be called detectable.
const POWER: f64 = 0.9;

/// Says what an A/A run found instead of a verdict on two commands.
pub fn describe(analysis: &mut Analysis<'_>) {
    let level = analysis.question.settings.level;
    let Some(versus) = analysis.comparisons.first_mut() else {
        return;
    };
    let found = |id: &str| {
        versus
            .metric(id)
            .and_then(|one| detectable(&one.ratio?, POWER))
    };
    let (wall, cpu) = (found(WALL), found(CPU));
    let pairs = versus.metric(WALL).map_or(0, |wall| wall.pairs);
    let verdict = versus.metric(WALL).map(|wall| wall.verdict);
    let Some(wall) = wall else {
        versus.sentence = "noise: too few runs to tell".into();
        return;
    };
    let by_cpu = cpu.map_or(String::new(), |cpu| {
        format!(", {} of CPU time", decimal_percent(cpu))
    });
    let wrong = matches!(verdict, Some(Verdict::Slower | Verdict::Faster));
    if wrong {
        let told = std::mem::take(&mut versus.sentence);
        versus.remarks.insert(
            0,
            format!("of two equal commands it said: {told}. One time in {:.0} chance does that; if it comes back, the machine does",
                1.0 / (1.0 - level)),
        );
    }
    versus.sentence = format!(
        "noise: the smallest difference detectable here now is {} of wall time{by_cpu} ({pairs} pairs, {:.0} times in 10)",
        decimal_percent(wall),
        POWER * 10.0
    );
}
