//! Text of very many runs, quickly: a list of runs is put together from pieces of a few fields each,
//! and what is the same in all runs is formatted once. Numbers have the digits serde gives them.

use serde_json::to_writer;

/// Bytes that are copied at once: copies of a fixed length need no call.
const WIDE: usize = 32;

/// Text that is written again and again, padded to whole blocks.
#[derive(Debug, Clone, Default)]
pub struct Literal {
    first: [u8; WIDE],
    more: Vec<[u8; WIDE]>,
    length: usize,
}

impl Literal {
    /// That text.
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        let padded = |part: &[u8]| {
            let mut block = [0; WIDE];
            block[..part.len()].copy_from_slice(part);
            block
        };
        let mut blocks = text.chunks(WIDE).map(padded);
        Self {
            first: blocks.next().unwrap_or_default(),
            more: blocks.collect(),
            length: text.len(),
        }
    }
}

/// Text that grows at its end.
#[derive(Debug, Default)]
pub struct Text {
    bytes: Vec<u8>,
    /// How many bytes are written; what lies behind is room.
    end: usize,
}

impl Text {
    /// Empty, with room for so many bytes.
    #[must_use]
    pub fn with_capacity(bytes: usize) -> Self {
        Self {
            bytes: vec![0; bytes],
            end: 0,
        }
    }

    /// What is written.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.end]
    }

    /// Forgets what is beyond that length.
    pub fn cut(&mut self, length: usize) {
        self.end = length.min(self.end);
    }

    /// Appends text.
    pub fn put(&mut self, text: &[u8]) {
        self.make_room(text.len());
        self.bytes[self.end..self.end + text.len()].copy_from_slice(text);
        self.end += text.len();
    }

    /// Appends text that is written often.
    #[inline]
    pub fn literal(&mut self, literal: &Literal) {
        self.make_room(literal.more.len() * WIDE);
        self.place_block(self.end, &literal.first);
        let mut place = self.end;
        for block in &literal.more {
            place += WIDE;
            self.place_block(place, block);
        }
        self.end += literal.length;
    }

    #[inline]
    fn place_block(&mut self, place: usize, block: &[u8; WIDE]) {
        if let Some(room) = self.bytes[place..].first_chunk_mut::<WIDE>() {
            *room = *block;
        }
    }

    /// Makes room for so many bytes and one block more.
    #[inline]
    fn make_room(&mut self, bytes: usize) {
        let wanted = self.end + bytes + WIDE;
        if wanted > self.bytes.len() {
            self.grow(wanted);
        }
    }

    #[cold]
    fn grow(&mut self, wanted: usize) {
        self.bytes.resize(wanted.max(2 * self.bytes.len()), 0);
    }

    /// Appends what `write` puts into a block, as many bytes as it says.
    #[inline]
    fn block(&mut self, write: impl FnOnce(&mut [u8; WIDE]) -> usize) {
        self.make_room(0);
        if let Some(room) = self.bytes[self.end..].first_chunk_mut::<WIDE>() {
            self.end += write(room);
        }
    }

    /// Appends a whole number.
    #[inline]
    pub fn whole(&mut self, number: u64) {
        if number < 100_000_000 {
            let all = digits(number);
            // Of a 0 its last digit stays.
            let leading = (all | 1 << 56).trailing_zeros() / 8;
            let text = (all | ZEROS) >> (8 * leading);
            self.block(|room| {
                room[..8].copy_from_slice(&text.to_le_bytes());
                8 - leading as usize
            });
        } else {
            self.whole_above(number);
        }
    }

    fn whole_above(&mut self, number: u64) {
        self.whole(number / 100_000_000);
        let text = digits(number % 100_000_000) | ZEROS;
        self.put(&text.to_le_bytes());
    }

    /// Appends nanoseconds as seconds.
    ///
    /// Up to 15 digits a decimal fraction is the shortest text of the number nearest to it, so that
    /// these are the digits any writer of shortest numbers gives. Others are left to such a one.
    pub fn seconds(&mut self, nanoseconds: u64) {
        match nanoseconds {
            1..10_000 => self.tiny(nanoseconds),
            0..1_000_000_000_000_000 => self.decimal(nanoseconds),
            _ => self.number(nanoseconds as f64 / 1e9),
        }
    }

    /// Appends microseconds as seconds.
    pub fn seconds_of_micros(&mut self, microseconds: u64) {
        if microseconds < 1_000_000_000_000_000 {
            let nanoseconds = 1_000 * microseconds;
            match nanoseconds {
                1..10_000 => self.tiny(nanoseconds),
                _ => self.decimal(nanoseconds),
            }
        } else {
            self.number(microseconds as f64 / 1e6);
        }
    }

    /// Appends any number.
    pub fn number(&mut self, number: f64) {
        let mut text = Vec::new();
        // Writing to memory cannot fail, nor can a finite number.
        let _ = to_writer(&mut text, &number);
        self.put(&text);
    }

    /// Appends nanoseconds as a decimal fraction of seconds, with one place at least.
    #[inline]
    fn decimal(&mut self, nanoseconds: u64) {
        let digit = |number: u64| b'0' + number as u8;
        let (mut seconds, mut first, mut rest) = (0, 0, nanoseconds);
        // Most times are short, and divisions take long.
        if nanoseconds >= 100_000_000 {
            (seconds, rest) = (nanoseconds / 1_000_000_000, nanoseconds % 1_000_000_000);
            (first, rest) = (rest / 100_000_000, rest % 100_000_000);
        }
        if seconds > 9 {
            self.whole(seconds / 10);
        }
        let others = digits(rest);
        let places = 9 - (others.leading_zeros() / 8) as usize;
        self.block(|room| {
            room[..3].copy_from_slice(&[digit(seconds % 10), b'.', digit(first)]);
            room[3..11].copy_from_slice(&(others | ZEROS).to_le_bytes());
            2 + places
        });
    }

    /// Appends 1 to 9,999 nanoseconds as writers of shortest numbers do: `1.637e-6`.
    fn tiny(&mut self, nanoseconds: u64) {
        let all = digits(nanoseconds);
        let leading = all.trailing_zeros() / 8;
        let text = all >> (8 * leading);
        let more = 7 - (text.leading_zeros() / 8) as usize;
        let end = if more == 0 { 1 } else { 2 + more };
        // The last of eight digits stands for 1e-9.
        let exponent = b'0' + 2 + leading as u8;
        self.block(|room| {
            let [first, others @ ..] = (text | ZEROS).to_le_bytes();
            room[..2].copy_from_slice(&[first, b'.']);
            room[2..9].copy_from_slice(&others);
            room[end..end + 3].copy_from_slice(&[b'e', b'-', exponent]);
            end + 3
        });
    }
}

/// A zero in each byte.
const ZEROS: u64 = 0x3030_3030_3030_3030;

/// The eight digits of a number below 100,000,000, a byte each, the first one lowest. All at once:
/// halves, then pairs, then digits are divided side by side in one word.
fn digits(number: u64) -> u64 {
    let halves = (number / 10_000) | (number % 10_000) << 32;
    let hundreds = ((halves * 10_486) >> 20) & 0x0000_007f_0000_007f;
    let pairs = hundreds | (halves - 100 * hundreds) << 16;
    let tens = ((pairs * 103) >> 10) & 0x000f_000f_000f_000f;
    tens | (pairs - 10 * tens) << 8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl Fn(&mut Text)) -> String {
        let mut text = Text::default();
        write(&mut text);
        String::from_utf8(text.bytes().to_vec()).unwrap()
    }

    fn numbers() -> impl Iterator<Item = u64> {
        let edges = (0..20).flat_map(|power| {
            let edge = 10_u64.pow(power);
            [edge - 1, edge, edge + 1, edge / 7, edge.saturating_mul(5)]
        });
        let scrambled =
            (0..2_000_u64).map(|place| place.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (place % 60));
        (0..20_000).chain(edges).chain(scrambled).chain([u64::MAX])
    }

    #[test]
    fn numbers_are_what_the_serializer_writes() {
        for number in numbers() {
            let json = |number: f64| serde_json::to_string(&number).unwrap();
            assert_eq!(written(|text| text.whole(number)), number.to_string());
            let (nanos, micros) = (number as f64 / 1e9, number as f64 / 1e6);
            assert_eq!(written(|text| text.seconds(number)), json(nanos));
            assert_eq!(written(|text| text.seconds_of_micros(number)), json(micros));
        }
    }

    #[test]
    fn text_of_any_length_is_kept() {
        let long = "0123456789".repeat(33);
        for length in 0..long.len() {
            let part = &long.as_bytes()[..length];
            let twice = written(|text| {
                text.literal(&Literal::new(part));
                text.put(part);
            });
            assert_eq!(twice.as_bytes(), [part, part].concat());
        }
    }
}
