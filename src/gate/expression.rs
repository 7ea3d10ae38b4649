//! The grammar of a gate: `metric[.stat] OP value`, stating the bad condition.
//!
//! Parsing has no effect and every error carries the position of the word it is about.

use std::fmt;

use crate::metric::{METRICS, Metric, WALL_CPU};
use crate::stats::decision::Past;
use crate::stats::statistic::{STATISTICS, Statistic};
use crate::unit::{Quantity, Unit, UnitError};

/// One comparison operator.
#[derive(Debug, PartialEq)]
pub struct Operator {
    /// As written.
    pub symbol: &'static str,
    /// Which values are bad.
    pub past: Past,
    /// Whether the limit itself is bad.
    pub inclusive: bool,
    /// One line for the manual.
    pub help: &'static str,
}

/// Every operator; longer ones first, so that `>=` is not read as `>`.
pub static OPERATORS: &[Operator] = &[
    Operator {
        symbol: ">=",
        past: Past::Above,
        inclusive: true,
        help: "bad at the limit or above it",
    },
    Operator {
        symbol: "<=",
        past: Past::Below,
        inclusive: true,
        help: "bad at the limit or below it",
    },
    Operator {
        symbol: ">",
        past: Past::Above,
        inclusive: false,
        help: "bad above the limit",
    },
    Operator {
        symbol: "<",
        past: Past::Below,
        inclusive: false,
        help: "bad below the limit",
    },
];

/// A condition on a metric that makes a benchmark fail.
#[derive(Debug, Clone, PartialEq)]
pub struct Expression {
    /// As written, blanks folded.
    pub text: String,
    /// What is looked at.
    pub metric: &'static Metric,
    /// Which of its statistics; if none is named the median, and of a share of wall the mean.
    pub statistic: &'static str,
    /// Which values are bad.
    pub operator: &'static Operator,
    /// The limit, in base units; a fraction of wall if `share_of_wall`.
    pub limit: f64,
    /// `off-cpu > 80%`: the metric is taken as its share of wall time; of the sums if no statistic
    /// is named.
    pub share_of_wall: bool,
}

/// Why a gate cannot be read. Positions are bytes from the start of the text.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// No operator in the text.
    #[error("no comparison in `{text}`")]
    NoOperator {
        /// The whole text.
        text: String,
    },
    /// The metric is not in the table.
    #[error("unknown metric `{word}` at byte {position} of `{text}`")]
    UnknownMetric {
        /// The whole text.
        text: String,
        /// The word.
        word: String,
        /// Where it begins.
        position: usize,
        /// A metric with a similar name.
        suggestion: Option<String>,
    },
    /// The statistic is not in the table.
    #[error("unknown statistic `{word}` at byte {position} of `{text}`")]
    UnknownStatistic {
        /// The whole text.
        text: String,
        /// The word.
        word: String,
        /// Where it begins.
        position: usize,
        /// A statistic with a similar name.
        suggestion: Option<String>,
    },
    /// The metric has only one value a benchmark.
    #[error("`{metric}` has no statistic `{word}` at byte {position} of `{text}`")]
    NoStatistic {
        /// The whole text.
        text: String,
        /// The metric.
        metric: &'static str,
        /// The word.
        word: String,
        /// Where it begins.
        position: usize,
    },
    /// The limit is no value.
    #[error("{}", bad_value(text, *position, error))]
    BadValue {
        /// The whole text.
        text: String,
        /// Where it begins.
        position: usize,
        /// What is wrong with it.
        error: UnitError,
    },
    /// The limit is of another kind than the metric.
    #[error("`{metric}` is {wanted}, `{word}` at byte {position} of `{text}` is not")]
    WrongUnit {
        /// The whole text.
        text: String,
        /// The metric, with its statistic.
        metric: String,
        /// What it wants.
        wanted: Unit,
        /// The word.
        word: String,
        /// Where it begins.
        position: usize,
    },
}

impl GateError {
    /// What to write instead.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::NoOperator { .. } => {
                "write the bad condition, such as 'wall/cpu > 3' or 'wall.p99 > 250ms'".to_string()
            }
            Self::UnknownMetric {
                suggestion: Some(word),
                ..
            }
            | Self::UnknownStatistic {
                suggestion: Some(word),
                ..
            } => {
                format!("did you mean `{word}`?")
            }
            Self::UnknownMetric { .. } => format!("metrics: {}", ids(METRICS.iter().map(|m| m.id))),
            Self::UnknownStatistic { .. } => {
                format!("statistics: {}", ids(STATISTICS.iter().map(|s| s.id)))
            }
            Self::NoStatistic { metric, .. } => {
                format!("`{metric}` is one number of all runs: leave the statistic out")
            }
            Self::BadValue { error, .. } => return error.help(),
            Self::WrongUnit { wanted, .. } => {
                format!("write {wanted}, such as {}", wanted.example())
            }
        })
    }
}

fn ids<'a>(all: impl Iterator<Item = &'a str>) -> String {
    all.collect::<Vec<_>>().join(" ")
}

impl Expression {
    /// Reads a gate.
    ///
    /// # Errors
    /// What is wrong and where.
    pub fn parse(text: &str) -> Result<Self, GateError> {
        let (at, operator) =
            find_operator(text).ok_or_else(|| GateError::NoOperator { text: shown(text) })?;
        let (metric, named) = parse_left(text, &text[..at])?;
        let statistic = named.unwrap_or("median");
        let value_at = at + operator.symbol.len();
        let word = text[value_at..].trim();
        let position = value_at + text[value_at..].find(word).unwrap_or(0);
        let bad = |error| GateError::BadValue {
            text: shown(text),
            position,
            error,
        };
        let quantity: Quantity = word.parse().map_err(bad)?;
        let wanted = wanted_unit(metric, statistic);
        // Wall is always all of itself: `wall > 5%` can only be a mistake.
        let share_of_wall = metric.unit == Unit::Time
            && metric.id != crate::metric::WALL
            && wanted == Unit::Time
            && quantity.unit == Some(Unit::Percent);
        if !share_of_wall && !fits(wanted, &quantity) {
            return Err(GateError::WrongUnit {
                text: shown(text),
                metric: format!("{}.{}", metric.id, statistic),
                wanted,
                word: shown(word),
                position,
            });
        }
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // The median of shares hides stalls, and reports show the share of the sums.
        let default = if share_of_wall { "mean" } else { "median" };
        Ok(Self {
            text,
            metric,
            statistic: named.unwrap_or(default),
            operator,
            limit: quantity.value,
            share_of_wall,
        })
    }

    /// The limit moved by the smallest step, so that a bad value is always strictly past it.
    #[must_use]
    pub fn strict_limit(&self) -> f64 {
        let step = f64::EPSILON * self.limit.abs().max(f64::MIN_POSITIVE);
        match (self.operator.inclusive, self.operator.past) {
            (false, _) => self.limit,
            (true, Past::Above) => self.limit - step,
            (true, Past::Below) => self.limit + step,
        }
    }

    /// Whether the sums of all runs are looked at, as with `wall/cpu`.
    #[must_use]
    pub fn is_share_of_sums(&self) -> bool {
        self.share_of_wall && self.statistic == "mean"
    }

    /// The unit of value and limit.
    #[must_use]
    pub fn unit(&self) -> Unit {
        if self.share_of_wall {
            Unit::Percent
        } else {
            wanted_unit(self.metric, self.statistic)
        }
    }
}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// What is wrong with a value, with one position: that in the whole text.
fn bad_value(text: &str, position: usize, error: &UnitError) -> String {
    error.within(text, position).map_or_else(
        || format!("{error} at byte {position} of `{text}`"),
        |error| error.to_string(),
    )
}

fn shown(text: &str) -> String {
    crate::unit::display_escaped(text.as_ref()).into_owned()
}

/// The known word that `word` was probably meant to be.
pub(super) fn closest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    crate::unit::closest(word, known, 0.75).map(str::to_owned)
}

fn find_operator(text: &str) -> Option<(usize, &'static Operator)> {
    let at = text.find(['<', '>'])?;
    let operator = OPERATORS
        .iter()
        .find(|operator| text[at..].starts_with(operator.symbol))?;
    Some((at, operator))
}

/// The metric, and the statistic if one is named.
fn parse_left(
    text: &str,
    left: &str,
) -> Result<(&'static Metric, Option<&'static str>), GateError> {
    let word = left.trim();
    let position = left.find(word).unwrap_or(0);
    let (name, statistic) = match word.split_once('.') {
        Some((name, statistic)) => (name, Some(statistic)),
        None => (word, None),
    };
    let metric = Metric::from_id(name).ok_or_else(|| GateError::UnknownMetric {
        text: shown(text),
        word: shown(name),
        position,
        suggestion: closest(name, METRICS.iter().map(|metric| metric.id)),
    })?;
    let Some(word) = statistic else {
        return Ok((metric, None));
    };
    let position = position + name.len() + 1;
    let known: &Statistic = STATISTICS
        .iter()
        .find(|row| row.id == word)
        .ok_or_else(|| GateError::UnknownStatistic {
            text: shown(text),
            word: shown(word),
            position,
            suggestion: closest(word, STATISTICS.iter().map(|row| row.id)),
        })?;
    if metric.id == WALL_CPU {
        return Err(GateError::NoStatistic {
            text: shown(text),
            metric: metric.id,
            word: word.to_string(),
            position,
        });
    }
    Ok((metric, Some(known.id)))
}

fn wanted_unit(metric: &Metric, statistic: &str) -> Unit {
    if statistic == "cv" {
        Unit::Percent
    } else {
        metric.unit
    }
}

/// Counts and ratios may go without a unit; a fraction may be written bare.
fn fits(wanted: Unit, quantity: &Quantity) -> bool {
    match quantity.unit {
        Some(unit) => unit == wanted,
        None => matches!(wanted, Unit::Count | Unit::Ratio | Unit::Percent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Expression {
        Expression::parse(text).unwrap()
    }

    #[test]
    fn gates_are_read() {
        let gate = parse("wall/cpu > 3");
        assert_eq!((gate.metric.id, gate.limit), ("wall/cpu", 3.0));
        let gate = parse("  wall.p99>=250ms ");
        assert_eq!(
            (gate.metric.id, gate.statistic, gate.limit),
            ("wall", "p99", 0.25)
        );
        assert_eq!(gate.operator.symbol, ">=");
        let gate = parse("off-cpu > 80%");
        assert!(gate.share_of_wall && gate.is_share_of_sums());
        assert_eq!(parse("off-cpu.median > 80%").statistic, "median");
        assert!((gate.limit - 0.8).abs() < 1e-12);
        assert!((parse("rss < 2 KiB").limit - 2048.0).abs() < 1e-9);
        assert!((parse("wall.cv > 5%").limit - 0.05).abs() < 1e-12);
        assert!((parse("major-faults > 10").limit - 10.0).abs() < 1e-12);
        assert_eq!(parse("wall/cpu > 3x").limit.to_bits(), 3.0_f64.to_bits());
    }

    #[test]
    fn errors_about_the_limit_name_one_place() {
        for (text, message) in [
            (
                "wall > 1 xs",
                "`wall > 1 xs` has the unknown unit `xs` at byte 9",
            ),
            ("wall > x", "`wall > x` has no number at byte 7"),
            (
                "wall > nan",
                "`nan` is not a finite number at byte 7 of `wall > nan`",
            ),
            ("wall >", "empty value at byte 6 of `wall >`"),
        ] {
            assert_eq!(Expression::parse(text).unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn errors_name_the_word_and_the_place() {
        let error = Expression::parse("wal > 3s").unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown metric `wal` at byte 0 of `wal > 3s`"
        );
        assert_eq!(error.help().as_deref(), Some("did you mean `wall`?"));
        let error = Expression::parse(" wall.meen > 3s").unwrap_err();
        assert_eq!(
            error.to_string(),
            "unknown statistic `meen` at byte 6 of ` wall.meen > 3s`"
        );
        assert_eq!(error.help().as_deref(), Some("did you mean `mean`?"));
        for text in ["", "wall", "wall = 3", "wall 3ms"] {
            assert!(
                matches!(Expression::parse(text), Err(GateError::NoOperator { .. })),
                "{text}"
            );
        }
        for text in [
            "wall > 3",
            "wall > 3 MiB",
            "rss > 3s",
            "wall/cpu > 5%",
            "wall > 1x",
            "wall > 5%",
            "wall.p95 > 5%",
        ] {
            assert!(
                matches!(Expression::parse(text), Err(GateError::WrongUnit { .. })),
                "{text}"
            );
        }
        for text in [
            "wall > ",
            "wall > x",
            "wall > nan",
            "wall > inf",
            "wall > 1 == 2",
            "wall>>3s",
        ] {
            assert!(
                matches!(Expression::parse(text), Err(GateError::BadValue { .. })),
                "{text}"
            );
        }
        assert!(matches!(
            Expression::parse("wall/cpu.mean > 3"),
            Err(GateError::NoStatistic { .. })
        ));
    }

    #[test]
    fn what_is_printed_reads_back() {
        for text in [
            "wall/cpu > 3",
            "wall.p99 >= 250ms",
            "off-cpu > 80%",
            "rss <= 2KiB",
        ] {
            let gate = parse(text);
            assert_eq!(parse(&gate.to_string()), gate);
        }
    }

    #[test]
    fn operators_are_unique_and_longer_ones_come_first() {
        for (place, operator) in OPERATORS.iter().enumerate() {
            let shadowed = OPERATORS[..place]
                .iter()
                .any(|other| operator.symbol.starts_with(other.symbol));
            assert!(!shadowed, "{}", operator.symbol);
            assert!(!operator.help.is_empty());
        }
    }
}
