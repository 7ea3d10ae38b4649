//! Samples stored by column, so that a run costs a few dozen bytes and a field nobody measured
//! costs none.
//!
//! A column starts as one repeated value and widens to 32 and then 64 bits only when a value needs
//! it. Nothing is rounded.

use super::Sample;
use super::field::FIELDS;

const MISSING_NARROW: u32 = u32::MAX;
const MISSING_WIDE: u64 = u64::MAX;

/// One field of all samples.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Column {
    Constant { value: Option<u64>, len: usize },
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl Column {
    const EMPTY: Self = Self::Constant {
        value: None,
        len: 0,
    };

    fn push(&mut self, value: Option<u64>) {
        match self {
            Self::Constant { value: held, len } if *len == 0 || *held == value => {
                *held = value;
                *len += 1;
            }
            Self::Narrow(values) if fits(value) => values.push(narrow(value)),
            Self::Wide(values) => values.push(value.unwrap_or(MISSING_WIDE)),
            _ => {
                self.widen(value);
                self.push(value);
            }
        }
    }

    /// Makes room for a value that the present form cannot hold.
    fn widen(&mut self, value: Option<u64>) {
        *self = match self {
            Self::Constant { value: held, len } if fits(value) && fits(*held) => {
                Self::Narrow(vec![narrow(*held); *len])
            }
            Self::Constant { value: held, len } => {
                Self::Wide(vec![held.unwrap_or(MISSING_WIDE); *len])
            }
            Self::Narrow(values) => Self::Wide(values.iter().map(|v| wide(*v)).collect()),
            Self::Wide(values) => Self::Wide(std::mem::take(values)),
        };
    }

    fn get(&self, index: usize) -> Option<u64> {
        match self {
            Self::Constant { value, .. } => *value,
            Self::Narrow(values) => Some(values[index])
                .filter(|v| *v != MISSING_NARROW)
                .map(u64::from),
            Self::Wide(values) => Some(values[index]).filter(|v| *v != MISSING_WIDE),
        }
    }

    fn heap_bytes(&self) -> usize {
        match self {
            Self::Constant { .. } => 0,
            Self::Narrow(values) => values.capacity() * 4,
            Self::Wide(values) => values.capacity() * 8,
        }
    }
}

fn fits(value: Option<u64>) -> bool {
    value.is_none_or(|v| v < u64::from(MISSING_NARROW))
}

fn narrow(value: Option<u64>) -> u32 {
    value
        .and_then(|v| u32::try_from(v).ok())
        .unwrap_or(MISSING_NARROW)
}

fn wide(value: u32) -> u64 {
    if value == MISSING_NARROW {
        MISSING_WIDE
    } else {
        u64::from(value)
    }
}

/// All samples of one benchmark, in the order they were made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Samples {
    columns: Vec<Column>,
    len: usize,
}

impl Default for Samples {
    fn default() -> Self {
        Self {
            columns: vec![Column::EMPTY; FIELDS.len()],
            len: 0,
        }
    }
}

impl Samples {
    /// No samples.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds one at the end.
    pub fn push(&mut self, sample: &Sample) {
        for (column, field) in self.columns.iter_mut().zip(FIELDS) {
            column.push((field.read)(sample));
        }
        self.len += 1;
    }

    /// The sample at that place; a default one past the end.
    #[must_use]
    pub fn get(&self, index: usize) -> Sample {
        let mut sample = Sample::default();
        if index < self.len {
            for (column, field) in self.columns.iter().zip(FIELDS) {
                (field.write)(&mut sample, column.get(index));
            }
        }
        sample
    }

    /// All of them, in order. Fields that never change are read once.
    pub fn iter(&self) -> impl Iterator<Item = Sample> + '_ {
        let template = self.get(0);
        let varying: Vec<_> = self
            .columns
            .iter()
            .zip(FIELDS)
            .filter(|(column, _)| !matches!(column, Column::Constant { .. }))
            .collect();
        (0..self.len).map(move |index| {
            let mut sample = template;
            for (column, field) in &varying {
                (field.write)(&mut sample, column.get(index));
            }
            sample
        })
    }

    /// Memory held on the heap, in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.columns.iter().map(Column::heap_bytes).sum()
    }
}

impl FromIterator<Sample> for Samples {
    fn from_iter<I: IntoIterator<Item = Sample>>(samples: I) -> Self {
        let mut all = Self::new();
        for sample in samples {
            all.push(&sample);
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::field::tests::distinct;
    use std::time::Duration;

    #[test]
    fn column_keeps_every_value_while_it_widens() {
        let values = [
            None,
            None,
            Some(3),
            Some(0),
            Some(u64::from(u32::MAX)),
            Some(1 << 40),
            None,
        ];
        let mut column = Column::EMPTY;
        for value in values {
            column.push(value);
        }
        let kept: Vec<_> = (0..values.len()).map(|i| column.get(i)).collect();
        assert_eq!(kept, values);
    }

    #[test]
    fn samples_come_back_as_they_went_in() {
        let mut other = distinct();
        other.wall = Duration::from_secs(40);
        other.readings.queued = None;
        let all: Samples = [distinct(), other, Sample::default()].into_iter().collect();
        assert_eq!(all.get(0), distinct());
        assert_eq!(all.get(1), other);
        assert_eq!(all.get(2), Sample::default());
        assert_eq!(all.iter().count(), 3);
    }

    #[test]
    fn a_plain_run_is_small() {
        let mut all = Samples::new();
        for index in 0..1_000_u64 {
            let mut sample = Sample {
                index,
                round: index,
                ..Sample::default()
            };
            sample.start = Duration::from_millis(index * 20);
            sample.wall = Duration::from_micros(900 + index % 7);
            sample.usage.user = Duration::from_micros(300 + index % 5);
            sample.usage.system = Duration::from_micros(100 + index % 3);
            sample.readings.queued = Some(Duration::from_nanos(index));
            all.push(&sample);
        }
        all.columns.iter_mut().for_each(|column| match column {
            Column::Narrow(values) => values.shrink_to_fit(),
            Column::Wide(values) => values.shrink_to_fit(),
            Column::Constant { .. } => {}
        });
        assert!(
            all.heap_bytes() / all.len() <= 64,
            "{}",
            all.heap_bytes() / all.len()
        );
    }
}
