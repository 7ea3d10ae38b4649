//! Samples outside of our own memory while runs are being made: the peak memory of a child is never
//! below that of the process that starts it, so a heap that grows with the number of runs would
//! falsify what is measured.
//!
//! A row holds what differs from the row before: a mask of the fields, then each difference in as
//! few bytes as it needs. Rows are collected in a buffer of fixed size and put away in blocks.

use std::fmt;
use std::sync::Arc;

use super::Sample;
use super::field::{FIELDS, Field};

/// A place for blocks of bytes that are no part of our resident memory.
pub trait Shelf: fmt::Debug + Send + Sync {
    /// Puts a block at the end and says where; `None` when there is no room.
    fn append(&self, block: &[u8]) -> Option<u64>;

    /// Reads a block back; whether it was all there.
    fn read(&self, place: u64, block: &mut [u8]) -> bool;
}

/// The most bytes a row takes: the mask, and ten for each of at most 64 fields.
const LONGEST_ROW: usize = 10 + 64 * 10;
/// The smallest buffer.
const SMALLEST: usize = 1024;

/// What is not missing is stored plus one, so that 0 means missing.
fn raw(value: Option<u64>) -> u64 {
    value.map_or(0, |value| value.wrapping_add(1))
}

/// What counts runs: one more than in the row before if nothing is said about it. Any other field
/// is as before then.
pub(super) fn counts(field: &Field) -> bool {
    matches!(field.key, "index" | "round")
}

/// Adds one to every field that counts runs.
fn go_on(row: &mut [u64], counting: &[usize]) {
    for place in counting {
        row[*place] = row[*place].wrapping_add(1);
    }
}

/// Places of the fields that count runs.
fn counting() -> Vec<usize> {
    let places = FIELDS.iter().enumerate();
    let counting = places.filter(|(_, field)| counts(field));
    counting.map(|(place, _)| place).collect()
}

/// The samples of one benchmark on a shelf.
#[derive(Debug, Clone)]
pub(super) struct Shelved {
    shelf: Arc<dyn Shelf>,
    /// Rows not yet put away; its capacity is the size of a block.
    buffer: Vec<u8>,
    /// Where each block is, and how much of it is used.
    blocks: Vec<(u64, u32)>,
    /// The values of the last row.
    last: Vec<u64>,
    /// Places of the fields that count runs.
    counting: Vec<usize>,
}

impl Shelved {
    pub(super) fn new(shelf: Arc<dyn Shelf>, buffer: usize) -> Self {
        // Touched now, so that it is not the first runs that make our memory grow.
        let mut room = vec![0xff; buffer.max(SMALLEST)];
        room.clear();
        Self {
            shelf,
            buffer: room,
            blocks: Vec::with_capacity(32),
            last: vec![0; FIELDS.len()],
            counting: counting(),
        }
    }

    /// Adds a sample; `false` when there is no room any more, and nothing is added.
    pub(super) fn push(&mut self, sample: &Sample) -> bool {
        if self.buffer.len() + LONGEST_ROW > self.buffer.capacity() {
            let Some(place) = self.shelf.append(&self.buffer) else {
                return false;
            };
            self.blocks.push((place, self.buffer.len() as u32));
            self.buffer.clear();
        }
        let mut mask = 0_u64;
        let (mut text, mut length) = ([0; LONGEST_ROW], 0);
        go_on(&mut self.last, &self.counting);
        for (place, (field, last)) in FIELDS.iter().zip(&mut self.last).enumerate() {
            let now = raw((field.read)(sample));
            if now != *last {
                mask |= 1 << place;
                put(&mut text, &mut length, zigzag(now.wrapping_sub(*last)));
                *last = now;
            }
        }
        let (mut head, mut head_length) = ([0; 10], 0);
        put(&mut head, &mut head_length, mask);
        self.buffer.extend_from_slice(&head[..head_length]);
        self.buffer.extend_from_slice(&text[..length]);
        true
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.buffer.capacity()
            + self.blocks.capacity() * 16
            + (self.last.capacity() + self.counting.capacity()) * 8
    }
}

/// Small differences of either sign become small numbers.
fn zigzag(difference: u64) -> u64 {
    (difference << 1) ^ (difference >> 63).wrapping_neg()
}

fn unzigzag(code: u64) -> u64 {
    (code >> 1) ^ (code & 1).wrapping_neg()
}

/// Places of the bits that are set, the lowest first.
pub(super) fn ones(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let place = (mask != 0).then(|| mask.trailing_zeros() as usize)?;
        mask &= mask - 1;
        Some(place)
    })
}

/// Seven bits a byte, the lowest first.
fn put(text: &mut [u8], length: &mut usize, mut number: u64) {
    loop {
        let more = number > 127;
        text[*length] = (number & 127) as u8 | if more { 128 } else { 0 };
        *length += 1;
        number >>= 7;
        if !more {
            return;
        }
    }
}

/// Reads rows back, one after the other.
#[derive(Debug)]
pub(super) struct Rows<'a> {
    shelved: &'a Shelved,
    block: Vec<u8>,
    next_block: usize,
    at: usize,
    row: Vec<u64>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(shelved: &'a Shelved) -> Self {
        Self {
            shelved,
            block: Vec::new(),
            next_block: 0,
            at: 0,
            row: vec![0; FIELDS.len()],
        }
    }

    /// The raw values of the next row, each plus one, 0 where missing.
    pub(super) fn next_row(&mut self) -> Option<&[u64]> {
        self.next_change().map(|(row, _)| row)
    }

    /// The next row, and a mask of the fields that are not what the row before lets expect.
    pub(super) fn next_change(&mut self) -> Option<(&[u64], u64)> {
        if self.at >= self.block.len() && !self.load() {
            return None;
        }
        go_on(&mut self.row, &self.shelved.counting);
        let changed = self.number();
        for place in ones(changed) {
            let difference = unzigzag(self.number());
            if let Some(value) = self.row.get_mut(place) {
                *value = value.wrapping_add(difference);
            }
        }
        Some((&self.row, changed))
    }

    /// Gets the next block: those put away, then what is still in the buffer.
    fn load(&mut self) -> bool {
        self.at = 0;
        let blocks = &self.shelved.blocks;
        let place = self.next_block;
        self.next_block += 1;
        if let Some((at, length)) = blocks.get(place) {
            self.block.resize(*length as usize, 0);
            return self.shelved.shelf.read(*at, &mut self.block);
        }
        self.block.clear();
        if place == blocks.len() {
            self.block.extend_from_slice(&self.shelved.buffer);
        }
        !self.block.is_empty()
    }

    fn number(&mut self) -> u64 {
        // Most are a single byte.
        if let Some(byte) = self.block.get(self.at).filter(|byte| **byte < 128) {
            self.at += 1;
            return u64::from(*byte);
        }
        let (mut number, mut shift) = (0, 0);
        while let Some(byte) = self.block.get(self.at) {
            self.at += 1;
            number |= u64::from(byte & 127) << shift;
            shift += 7;
            if byte & 128 == 0 || shift > 63 {
                break;
            }
        }
        number
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::sample::Samples;
    use crate::sample::field::tests::distinct;
    use std::sync::Mutex;
    use std::time::Duration;

    /// A shelf of so many bytes.
    #[derive(Debug)]
    pub(crate) struct Board(Mutex<Vec<u8>>, usize);

    impl Board {
        pub(crate) fn new(room: usize) -> Arc<Self> {
            Arc::new(Self(Mutex::new(Vec::new()), room))
        }
    }

    impl Shelf for Board {
        fn append(&self, block: &[u8]) -> Option<u64> {
            let mut all = self.0.lock().unwrap();
            let place = all.len();
            all.extend_from_slice(block);
            (all.len() <= self.1).then_some(place as u64)
        }

        fn read(&self, place: u64, block: &mut [u8]) -> bool {
            let all = self.0.lock().unwrap();
            block.copy_from_slice(&all[place as usize..][..block.len()]);
            true
        }
    }

    fn some(count: u64) -> Vec<Sample> {
        let make = |index: u64| {
            let mut sample = if index % 7 == 0 {
                distinct()
            } else {
                Sample::default()
            };
            sample.index = index;
            sample.round = index / 2;
            sample.start = Duration::from_nanos(index * 91_000);
            sample.wall = Duration::from_nanos(61_000 + index * index % 977);
            sample.readings.queued = (index % 3 != 0).then(|| Duration::from_nanos(index));
            sample.readings.cycles = (index == 40).then_some(u64::MAX - 1);
            sample
        };
        (0..count).map(make).collect()
    }

    #[test]
    fn samples_come_back_from_the_shelf_as_they_went_there() {
        let (all, board) = (some(3_000), Board::new(usize::MAX));
        let mut shelved = Samples::on_shelf(board, 2_000);
        for sample in &all {
            shelved.push(sample);
        }
        assert!(shelved.heap_bytes() < 10_000);
        assert_eq!(shelved.iter().collect::<Vec<_>>(), all);
        assert_eq!(shelved.get(1_234), all[1_234]);
        let mut down = shelved.clone();
        down.take_down();
        assert_eq!(down.iter().collect::<Vec<_>>(), all);
        assert_eq!(
            (down.get(77), down.get(5_000)),
            (all[77], Sample::default())
        );
        assert_eq!(shelved, down);
    }

    #[test]
    fn a_full_shelf_loses_nothing() {
        let (all, board) = (some(3_000), Board::new(10_000));
        let mut shelved = Samples::on_shelf(board, 2_000);
        for sample in &all {
            shelved.push(sample);
        }
        assert_eq!(shelved.len(), all.len());
        assert_eq!(shelved.iter().collect::<Vec<_>>(), all);
    }

    #[test]
    fn there_is_a_bit_for_each_field() {
        assert!(FIELDS.len() <= 64);
    }
}
