//! Which quantities a report shows of a command, when somebody chose them.

use crate::metric::Metric;
use crate::unit::{Scale, TimeUnit, Unit};

/// The most quantities that can be chosen; more than the table has.
const MOST: usize = 32;

/// The unit of a chosen quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ChosenUnit {
    /// Whichever reads best.
    Auto,
    /// That unit of time.
    Time(TimeUnit),
    /// That unit of sizes or counts.
    Scale(&'static Scale),
}

impl Eq for ChosenUnit {}

/// One chosen quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// Which.
    pub metric: &'static Metric,
    /// In which unit.
    pub unit: ChosenUnit,
}

impl Choice {
    /// A value of it with its unit.
    #[must_use]
    pub fn text(&self, value: f64) -> String {
        let scale = match self.unit {
            ChosenUnit::Scale(scale) => Some(scale),
            _ => Scale::fitting(self.metric.unit, value),
        };
        match (scale, self.metric.unit) {
            (Some(scale), _) => scale.with_unit(value),
            (None, Unit::Ratio) => crate::unit::ratio(value),
            (None, _) => crate::unit::fixed(value, 2),
        }
    }
}

/// The chosen quantities in order; empty means the usual ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Selection {
    choices: [Option<Choice>; MOST],
}

impl Selection {
    /// A selection in that order; what exceeds the room for it is left out.
    #[must_use]
    pub fn new(chosen: &[Choice]) -> Self {
        let mut choices = [None; MOST];
        for (place, choice) in choices.iter_mut().zip(chosen) {
            *place = Some(*choice);
        }
        Self { choices }
    }

    /// Whether nothing was chosen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.choices[0].is_none()
    }

    /// The choices in order.
    pub fn iter(&self) -> impl Iterator<Item = Choice> + '_ {
        self.choices.iter().copied().flatten()
    }

    /// The choices that are no times, in order.
    pub fn others(&self) -> impl Iterator<Item = Choice> + '_ {
        self.iter().filter(|one| one.metric.unit != Unit::Time)
    }

    /// Whether a hardware counter was chosen.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.iter().any(|one| one.metric.counter)
    }

    /// Whether a metric of that identifier was chosen.
    #[must_use]
    pub fn holds(&self, id: &str) -> bool {
        self.iter().any(|one| one.metric.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_keep_their_order_and_units() {
        let choice = |id, unit| Choice {
            metric: Metric::from_id(id).unwrap(),
            unit,
        };
        let mebi = Scale::named(Unit::Bytes, "MiB").unwrap();
        let chosen = [
            choice("rss", ChosenUnit::Scale(mebi)),
            choice("wall", ChosenUnit::Time(TimeUnit::Second)),
        ];
        let selection = Selection::new(&chosen);
        assert_eq!(selection.iter().count(), 2);
        assert_eq!(selection.others().count(), 1);
        assert_eq!(chosen[0].text(1_048_576.0), "1.00 MiB");
        assert!(selection.holds("wall") && !selection.holds("user"));
        assert!(Selection::default().is_empty());
    }
}
