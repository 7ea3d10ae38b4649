//! Seeded pseudo-random numbers whose meaning never changes between releases.
//!
//! xoshiro256++ (Blackman and Vigna 2021), seeded by `SplitMix64` (Steele, Lea, Flood 2014), bounded
//! by the method of Lemire (2019). Not for secrets.

/// `SplitMix64`: spreads one seed over the state of a larger generator.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Starts at `seed`.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}

/// The generator of everything random in offbench: xoshiro256++.
#[derive(Debug, Clone)]
pub struct Random {
    state: [u64; 4],
}

impl Random {
    /// A generator whose sequence depends on `seed` alone.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut mix = SplitMix64::new(seed);
        Self {
            state: std::array::from_fn(|_| mix.next_u64()),
        }
    }

    /// Next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let shifted = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= shifted;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A uniform integer in `0..bound`, without bias; 0 when `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        let mut wide = u128::from(self.next_u64()) * u128::from(bound);
        if (wide as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (wide as u64) < threshold {
                wide = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (wide >> 64) as u64
    }

    /// A uniform index of a slice of `count` elements; 0 when there are none.
    pub fn index(&mut self, count: usize) -> usize {
        self.below(count as u64) as usize
    }

    /// A uniform number in `0.0..1.0` with 53 random bits.
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Shuffles in place, each order equally likely (Fisher and Yates; Durstenfeld 1964).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitmix_equals_the_reference() {
        let mut mix = SplitMix64::new(1_234_567);
        let got: [u64; 5] = std::array::from_fn(|_| mix.next_u64());
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(got, expected);
    }

    #[test]
    fn xoshiro_equals_the_reference() {
        let mut random = Random {
            state: [1, 2, 3, 4],
        };
        let got: [u64; 6] = std::array::from_fn(|_| random.next_u64());
        let expected = [
            41_943_041,
            58_720_359,
            3_588_806_011_781_223,
            3_591_011_842_654_386,
            9_228_616_714_210_784_205,
            9_973_669_472_204_895_162,
        ];
        assert_eq!(got, expected);
    }

    #[test]
    fn bounded_integers_are_even_and_in_range() {
        let mut random = Random::new(42);
        let mut seen = [0_u32; 7];
        for _ in 0..70_000 {
            seen[random.index(7)] += 1;
        }
        // 5 sigma of a binomial count with mean 10,000 is 463
        assert!(
            seen.iter().all(|&count| count.abs_diff(10_000) < 463),
            "{seen:?}"
        );
        assert_eq!(random.below(0), 0);
        assert_eq!(random.below(1), 0);
    }

    #[test]
    fn shuffling_keeps_the_elements_and_depends_on_the_seed_alone() {
        let shuffled = |seed| {
            let mut items: Vec<u32> = (0..20).collect();
            Random::new(seed).shuffle(&mut items);
            items
        };
        let mut once = shuffled(1);
        assert_eq!(once, shuffled(1));
        assert_ne!(once, shuffled(2));
        once.sort_unstable();
        assert_eq!(once, (0..20).collect::<Vec<_>>());
    }
}
