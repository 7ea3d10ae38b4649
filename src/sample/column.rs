//! Samples stored by column, so that a run costs a few dozen bytes and a field nobody measured
//! costs none.
//!
//! A column starts as one repeated value or a count that goes up by one, and widens to 16, 32 and
//! then 64 bits only when a value needs it. Nothing is rounded. While runs are being made samples
//! may lie on a shelf instead (`shelf`), so that our own memory stays as it is.

use std::sync::Arc;

use super::Sample;
use super::field::{FIELDS, Field};
use super::shelf::{self, Rows, Shelf, Shelved};

const MISSING_SHORT: u16 = u16::MAX;
const MISSING_NARROW: u32 = u32::MAX;
const MISSING_WIDE: u64 = u64::MAX;

/// Samples that are read at a time.
const BLOCK: usize = 64;

/// One field of all samples.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Column {
    Constant { value: Option<u64>, len: usize },
    Counting { first: u64, len: usize },
    Short(Vec<u16>),
    Narrow(Vec<u32>),
    Wide(Vec<u64>),
}

impl Column {
    const EMPTY: Self = Self::Constant {
        value: None,
        len: 0,
    };

    /// Adds a value; `room` is how many there will be, as far as that is known.
    fn push(&mut self, value: Option<u64>, room: usize) {
        match self {
            Self::Constant { value: held, len } if *len == 0 || *held == value => {
                *held = value;
                *len += 1;
            }
            Self::Counting { first, len } if value == Some(*first + *len as u64) => *len += 1,
            Self::Short(values) if fits(value, MISSING_SHORT) => {
                values.push(value.map_or(MISSING_SHORT, |v| v as u16));
            }
            Self::Narrow(values) if fits(value, MISSING_NARROW) => {
                values.push(value.map_or(MISSING_NARROW, |v| v as u32));
            }
            Self::Wide(values) => values.push(value.unwrap_or(MISSING_WIDE)),
            _ => self.widen(value, room),
        }
    }

    /// Goes on to that length as `Rows` does where nothing is said: every value as the last one, or,
    /// for what counts runs, each one more. `room` as in `push`.
    fn go_on(&mut self, until: usize, counts: bool, room: usize) {
        while self.len() < until {
            match self {
                Self::Constant { len, .. } if !counts => *len = until,
                Self::Counting { len, .. } if counts => *len = until,
                Self::Short(values) if !counts => repeat(values, until),
                Self::Narrow(values) if !counts => repeat(values, until),
                Self::Wide(values) if !counts => repeat(values, until),
                _ => {
                    let last = self.len().checked_sub(1).and_then(|place| self.get(place));
                    // As on the shelf, where what is missing is the number below 0.
                    let next = match last {
                        Some(last) if counts => last.checked_add(1),
                        None if counts => Some(0),
                        last => last,
                    };
                    self.push(next, room);
                }
            }
        }
    }

    /// Adds a value that the present form cannot hold.
    fn widen(&mut self, value: Option<u64>, room: usize) {
        let len = self.len();
        let counts = |held: u64| len == 1 && value == held.checked_add(1);
        if let Self::Constant {
            value: Some(held), ..
        } = self
        {
            if counts(*held) {
                *self = Self::Counting {
                    first: *held,
                    len: 2,
                };
                return;
            }
        }
        let all = |limit: u64| {
            let mut values = (0..len).map(|place| self.get(place));
            values.all(|held| held.is_none_or(|v| v < limit)) && value.is_none_or(|v| v < limit)
        };
        let mut wider = if all(u64::from(MISSING_SHORT)) {
            Self::Short(Vec::with_capacity(room.max(len + 1)))
        } else if all(u64::from(MISSING_NARROW)) {
            Self::Narrow(Vec::with_capacity(room.max(len + 1)))
        } else {
            Self::Wide(Vec::with_capacity(room.max(len + 1)))
        };
        for place in 0..len {
            wider.push(self.get(place), room);
        }
        wider.push(value, room);
        *self = wider;
    }

    fn len(&self) -> usize {
        match self {
            Self::Constant { len, .. } | Self::Counting { len, .. } => *len,
            Self::Short(values) => values.len(),
            Self::Narrow(values) => values.len(),
            Self::Wide(values) => values.len(),
        }
    }

    fn get(&self, index: usize) -> Option<u64> {
        match self {
            Self::Constant { value, .. } => *value,
            Self::Counting { first, .. } => Some(first + index as u64),
            Self::Short(values) => Some(values[index])
                .filter(|v| *v != MISSING_SHORT)
                .map(u64::from),
            Self::Narrow(values) => Some(values[index])
                .filter(|v| *v != MISSING_NARROW)
                .map(u64::from),
            Self::Wide(values) => Some(values[index]).filter(|v| *v != MISSING_WIDE),
        }
    }

    /// Puts the values from that place on into the targets.
    fn spread<'a>(&self, from: usize, targets: impl Iterator<Item = &'a mut Option<u64>>) {
        match self {
            Self::Constant { value, .. } => targets.for_each(|target| *target = *value),
            Self::Counting { first, .. } => {
                let numbers = *first + from as u64..;
                targets
                    .zip(numbers)
                    .for_each(|(target, number)| *target = Some(number));
            }
            Self::Short(values) => targets.zip(&values[from..]).for_each(|(target, value)| {
                *target = (*value != MISSING_SHORT).then_some(u64::from(*value));
            }),
            Self::Narrow(values) => targets.zip(&values[from..]).for_each(|(target, value)| {
                *target = (*value != MISSING_NARROW).then_some(u64::from(*value));
            }),
            Self::Wide(values) => targets.zip(&values[from..]).for_each(|(target, value)| {
                *target = (*value != MISSING_WIDE).then_some(*value);
            }),
        }
    }

    fn heap_bytes(&self) -> usize {
        match self {
            Self::Constant { .. } | Self::Counting { .. } => 0,
            Self::Short(values) => values.capacity() * 2,
            Self::Narrow(values) => values.capacity() * 4,
            Self::Wide(values) => values.capacity() * 8,
        }
    }
}

/// Repeats the last value up to that length.
fn repeat<T: Copy>(values: &mut Vec<T>, until: usize) {
    if let Some(last) = values.last().copied() {
        values.resize(until, last);
    }
}

fn fits(value: Option<u64>, missing: impl Into<u64>) -> bool {
    value.is_none_or(|v| v < missing.into())
}

/// All samples of one benchmark, in the order they were made.
#[derive(Debug, Clone)]
pub struct Samples {
    columns: Vec<Column>,
    len: usize,
    shelved: Option<Box<Shelved>>,
}

impl Default for Samples {
    fn default() -> Self {
        Self {
            columns: vec![Column::EMPTY; FIELDS.len()],
            len: 0,
            shelved: None,
        }
    }
}

impl PartialEq for Samples {
    fn eq(&self, other: &Self) -> bool {
        self.len == other.len && self.iter().eq(other.iter())
    }
}

impl Eq for Samples {}

impl Samples {
    /// No samples.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// No samples; those to come lie on a shelf until [`Samples::take_down`], behind a buffer of
    /// that many bytes.
    #[must_use]
    pub fn on_shelf(shelf: Arc<dyn Shelf>, buffer: usize) -> Self {
        Self {
            shelved: Some(Box::new(Shelved::new(shelf, buffer))),
            ..Self::default()
        }
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
        if let Some(shelved) = &mut self.shelved {
            if shelved.push(sample) {
                self.len += 1;
                return;
            }
            // No room there: from now on in memory.
            self.take_down();
        }
        for (column, field) in self.columns.iter_mut().zip(FIELDS) {
            column.push((field.read)(sample), 0);
        }
        self.len += 1;
    }

    /// Gets everything from the shelf into memory, where reading is quick.
    pub fn take_down(&mut self) {
        let Some(shelved) = self.shelved.take() else {
            return;
        };
        let mut rows = Rows::new(&shelved);
        let counts: Vec<bool> = FIELDS.iter().map(shelf::counts).collect();
        let mut read = 0;
        while let Some((row, changed)) = rows.next_change() {
            // Of the first row every value is news; of others most columns need not be looked at.
            let news = if read == 0 { u64::MAX } else { changed };
            for place in shelf::ones(news).take_while(|place| *place < row.len()) {
                let column = &mut self.columns[place];
                column.go_on(read, counts[place], self.len);
                column.push(row[place].checked_sub(1), self.len);
            }
            read += 1;
        }
        for (column, counts) in self.columns.iter_mut().zip(counts) {
            column.go_on(read, counts, read);
        }
        self.len = read;
    }

    /// The sample at that place; a default one past the end.
    #[must_use]
    pub fn get(&self, index: usize) -> Sample {
        self.iter().nth(index).unwrap_or_default()
    }

    /// All of them, in order.
    #[must_use]
    pub fn iter(&self) -> Iter<'_> {
        self.select(|_| true)
    }

    /// All of them, in order, each with the fields of these keys only.
    #[must_use]
    pub fn fields<'a>(&'a self, keys: &[&str]) -> Iter<'a> {
        self.select(|field| keys.contains(&field.key))
    }

    fn select(&self, wanted: impl Fn(&Field) -> bool) -> Iter<'_> {
        let mut template = Sample::default();
        let chosen = || FIELDS.iter().enumerate().filter(|(_, field)| wanted(field));
        if let Some(shelved) = &self.shelved {
            for (_, field) in chosen() {
                (field.write)(&mut template, None);
            }
            let source = Source::Shelf(Box::new(Rows::new(shelved)), chosen().collect());
            return Iter {
                template,
                places: 0..self.len,
                source,
            };
        }
        let mut varying = Vec::new();
        for (place, field) in chosen() {
            match &self.columns[place] {
                // Read once.
                Column::Constant { value, .. } => (field.write)(&mut template, *value),
                column => varying.push((column, field)),
            }
        }
        Iter {
            template,
            places: 0..self.len,
            source: Source::Columns(varying),
        }
    }

    /// Shows all of them, in order, each with the fields of these keys only, or with all: much
    /// quicker than iterating, which hands out copies.
    pub fn visit(&self, keys: Option<&[&str]>, mut show: impl FnMut(&Sample)) {
        let wanted = |field: &Field| keys.is_none_or(|keys| keys.contains(&field.key));
        let all = FIELDS.iter().enumerate();
        let chosen = all.filter(|(_, field)| wanted(field));
        let (mut places, mut fields) = (Vec::new(), Vec::new());
        let mut sample = Sample::default();
        for (place, field) in chosen {
            if let Some([value]) = self.constants(&[place]).as_deref() {
                // Read once.
                (field.write)(&mut sample, *value);
            } else {
                places.push(place);
                fields.push(field);
            }
        }
        self.raw(&places, |values| {
            for (field, value) in fields.iter().zip(values) {
                (field.write)(&mut sample, *value);
            }
            show(&sample);
            true
        });
    }

    /// The raw values of the fields at these places of the table, if each is known to be the same in
    /// all samples.
    pub(super) fn constants(&self, places: &[usize]) -> Option<Vec<Option<u64>>> {
        let constant = |place: &usize| match self.columns.get(*place) {
            Some(Column::Constant { value, .. }) if self.shelved.is_none() => Ok(*value),
            _ => Err(()),
        };
        places.iter().map(constant).collect::<Result<_, _>>().ok()
    }

    /// Shows the raw values of the fields at these places of the table, sample by sample, as long as
    /// `show` wants to see more.
    pub(super) fn raw(&self, places: &[usize], mut show: impl FnMut(&[Option<u64>]) -> bool) {
        if let Some(shelved) = &self.shelved {
            let mut rows = Rows::new(shelved);
            let mut values = vec![None; places.len()];
            while let Some(row) = rows.next_row() {
                for (value, place) in values.iter_mut().zip(places) {
                    *value = row[*place].checked_sub(1);
                }
                if !show(&values) {
                    return;
                }
            }
            return;
        }
        let wanted = places.iter().filter_map(|place| self.columns.get(*place));
        let columns: Vec<&Column> = wanted.collect();
        let width = columns.len();
        // Columns are read a block at a time, so that the form of each is looked at once a block.
        let mut block = vec![None; BLOCK * width];
        for from in (0..self.len).step_by(BLOCK) {
            for (place, column) in columns.iter().enumerate() {
                column.spread(from, block[place..].iter_mut().step_by(width));
            }
            for row in 0..BLOCK.min(self.len - from) {
                if !show(&block[row * width..][..width]) {
                    return;
                }
            }
        }
    }

    /// Memory held on the heap, in bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let shelved = self.shelved.as_ref().map_or(0, |one| one.heap_bytes());
        let columns = self.columns.iter().map(Column::heap_bytes);
        columns.sum::<usize>() + shelved
    }
}

impl<'a> IntoIterator for &'a Samples {
    type Item = Sample;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

/// Samples one after the other.
#[derive(Debug)]
pub struct Iter<'a> {
    template: Sample,
    places: std::ops::Range<usize>,
    source: Source<'a>,
}

#[derive(Debug)]
enum Source<'a> {
    Columns(Vec<(&'a Column, &'static Field)>),
    Shelf(Box<Rows<'a>>, Vec<(usize, &'static Field)>),
}

impl Iterator for Iter<'_> {
    type Item = Sample;

    fn next(&mut self) -> Option<Sample> {
        let place = self.places.next()?;
        let mut sample = self.template;
        match &mut self.source {
            Source::Columns(varying) => {
                for (column, field) in varying {
                    (field.write)(&mut sample, column.get(place));
                }
            }
            Source::Shelf(rows, wanted) => {
                let row = rows.next_row()?;
                for (place, field) in wanted {
                    (field.write)(&mut sample, row[*place].checked_sub(1));
                }
            }
        }
        Some(sample)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.places.len()))
    }

    fn nth(&mut self, skipped: usize) -> Option<Sample> {
        if matches!(self.source, Source::Columns(_)) {
            self.places.start = (self.places.start + skipped).min(self.places.end);
            return self.next();
        }
        for _ in 0..skipped {
            self.next()?;
        }
        self.next()
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
            Some(70_000),
            Some(0),
            Some(u64::from(u32::MAX)),
            Some(1 << 40),
            None,
        ];
        let mut column = Column::EMPTY;
        for value in values {
            column.push(value, 0);
        }
        let kept: Vec<_> = (0..values.len()).map(|i| column.get(i)).collect();
        assert_eq!(kept, values);
    }

    #[test]
    fn a_column_that_counts_needs_no_memory_until_it_jumps() {
        let mut column = Column::EMPTY;
        for value in 5..9 {
            column.push(Some(value), 0);
        }
        assert_eq!(column.heap_bytes(), 0);
        column.push(Some(2), 0);
        let kept: Vec<_> = (0..5).map(|place| column.get(place).unwrap()).collect();
        assert_eq!(kept, [5, 6, 7, 8, 2]);
    }

    #[test]
    fn chosen_fields_come_alone() {
        let all: Samples = [distinct(), Sample::default()].into_iter().collect();
        let found: Vec<Sample> = all.fields(&["wall_s"]).collect();
        assert_eq!(found[0].wall, distinct().wall);
        assert_eq!(found[0].usage, crate::sample::Usage::default());
        let (mut alone, mut whole) = (Vec::new(), Vec::new());
        all.visit(Some(&["wall_s"]), |sample| alone.push(*sample));
        all.visit(None, |sample| whole.push(*sample));
        assert_eq!(alone, found);
        assert_eq!(whole, all.iter().collect::<Vec<_>>());
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
            Column::Short(values) => values.shrink_to_fit(),
            Column::Narrow(values) => values.shrink_to_fit(),
            Column::Wide(values) => values.shrink_to_fit(),
            Column::Constant { .. } | Column::Counting { .. } => {}
        });
        assert!(
            all.heap_bytes() / all.len() <= 64,
            "{}",
            all.heap_bytes() / all.len()
        );
    }
}
