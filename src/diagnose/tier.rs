//! How loud an off-CPU finding is: from ratio, floors and class to a tier. Pure thresholds.
//!
//! A tier must never be a false alarm: it needs the lower bound of the ratio's interval, a floor
//! on the time itself, and, for short commands, a ratio that cannot come from starting a process.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::evidence::Class;

/// How loud the off-CPU finding is.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// Nothing to say.
    #[default]
    None,
    /// Worth knowing.
    Note,
    /// The result may not mean what it seems to.
    Warning,
    /// The result measures waiting.
    Severe,
}

impl Tier {
    /// Every tier, quiet to loud.
    pub const ALL: [Self; 4] = [Self::None, Self::Note, Self::Warning, Self::Severe];

    /// The stable identifier.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Severe => "severe",
        }
    }
}

/// One row of [`RULES`]: what a tier needs.
#[derive(Debug)]
struct Rule {
    tier: Tier,
    ratio: f64,
    floor: Duration,
    runs: usize,
}

/// Loudest first.
static RULES: &[Rule] = &[
    Rule {
        tier: Tier::Severe,
        ratio: 5.0,
        floor: Duration::from_millis(5),
        runs: 1,
    },
    Rule {
        tier: Tier::Warning,
        ratio: 3.0,
        floor: Duration::from_millis(2),
        runs: 3,
    },
    Rule {
        tier: Tier::Note,
        ratio: 2.0,
        floor: Duration::from_millis(1),
        runs: 1,
    },
];

/// Off-CPU time of starting and collecting a process that itself does nothing, on a quiet machine.
/// A note needs five times as much.
const SPAWN_OFF_CPU: Duration = Duration::from_micros(100);

/// Below this median wall time a tier needs [`SHORT_RATIO`] or evidence.
const SHORT: Duration = Duration::from_millis(10);
const SHORT_RATIO: f64 = 10.0;
/// Off-CPU time that evidence can back in a short command.
const SHORT_BACKED: Duration = Duration::from_millis(2);

/// What the tier is judged by.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Grounds {
    /// Lower bound of wall/CPU's interval; the point below five runs. Infinite for no CPU at all.
    pub ratio: f64,
    /// Median of wall minus tree CPU, in seconds.
    pub off_cpu: f64,
    /// Median of wall, in seconds.
    pub wall: f64,
    /// Measured runs.
    pub runs: usize,
    /// Whether evidence (queue, quota, I/O, a named wait) stands behind the off-CPU time.
    pub backed: bool,
}

/// The tier by ratio and floors.
#[must_use]
pub fn by_ratio(grounds: &Grounds) -> Tier {
    if grounds.off_cpu <= 5.0 * SPAWN_OFF_CPU.as_secs_f64() {
        return Tier::None;
    }
    let backed = grounds.backed && grounds.off_cpu >= SHORT_BACKED.as_secs_f64();
    if grounds.wall < SHORT.as_secs_f64() && grounds.ratio < SHORT_RATIO && !backed {
        return Tier::None;
    }
    RULES
        .iter()
        .find(|rule| {
            grounds.ratio >= rule.ratio
                && grounds.off_cpu >= rule.floor.as_secs_f64()
                && grounds.runs >= rule.runs
        })
        .map_or(Tier::None, |rule| rule.tier)
}

/// The tier once the class of the main cause is known.
#[must_use]
pub fn toned(tier: Tier, class: Class, expect_wait: bool) -> Tier {
    match class {
        Class::Accounting => Tier::None,
        Class::Environment => tier,
        _ if expect_wait => Tier::None,
        Class::Intended => tier.min(Tier::Note),
        Class::Program | Class::Unknown => tier,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grounds(ratio: f64, off_ms: f64, wall_ms: f64) -> Grounds {
        Grounds {
            ratio,
            off_cpu: off_ms / 1e3,
            wall: wall_ms / 1e3,
            runs: 10,
            backed: false,
        }
    }

    #[test]
    fn thresholds() {
        let cases = [
            (1.9, 50.0, 100.0, Tier::None),
            (2.0, 50.0, 100.0, Tier::Note),
            (3.0, 50.0, 100.0, Tier::Warning),
            (5.0, 17.2, 21.5, Tier::Severe),
            // Large ratio, but not enough time for that tier.
            (6.0, 1.9, 12.0, Tier::Note),
            (12.0, 0.9, 1.0, Tier::None),
            // Short commands need ten times.
            (5.0, 4.0, 5.0, Tier::None),
            (11.0, 5.1, 5.6, Tier::Severe),
        ];
        for (ratio, off, wall, expected) in cases {
            assert_eq!(
                by_ratio(&grounds(ratio, off, wall)),
                expected,
                "{ratio} {off} {wall}"
            );
        }
    }

    #[test]
    fn a_single_run_can_be_severe_but_not_a_warning() {
        let one = Grounds {
            runs: 1,
            ..grounds(4.0, 50.0, 100.0)
        };
        assert_eq!(by_ratio(&one), Tier::Note);
        let one = Grounds {
            runs: 1,
            ..grounds(6.0, 50.0, 100.0)
        };
        assert_eq!(by_ratio(&one), Tier::Severe);
    }

    #[test]
    fn evidence_lets_a_short_command_have_a_tier() {
        let short = Grounds {
            backed: true,
            ..grounds(3.2, 3.5, 5.0)
        };
        assert_eq!(by_ratio(&short), Tier::Warning);
    }

    #[test]
    fn tone_follows_the_class() {
        assert_eq!(toned(Tier::Severe, Class::Intended, false), Tier::Note);
        assert_eq!(toned(Tier::Severe, Class::Program, false), Tier::Severe);
        assert_eq!(toned(Tier::Severe, Class::Program, true), Tier::None);
        assert_eq!(toned(Tier::Severe, Class::Environment, true), Tier::Severe);
        assert_eq!(toned(Tier::Warning, Class::Accounting, false), Tier::None);
    }
}
