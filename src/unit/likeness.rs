//! Which known word somebody probably meant, for "did you mean".

/// The known word most like `word` (Jaro and Winkler 1990), if its likeness, 0 to 1, is above `least`.
#[must_use]
pub fn closest<'a>(
    word: &str,
    known: impl Iterator<Item = &'a str>,
    least: f64,
) -> Option<&'a str> {
    let scored = known.map(|candidate| (strsim::jaro_winkler(word, candidate), candidate));
    let (likeness, best) = scored.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (likeness > least).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_understood_and_a_stranger_is_not() {
        let known = || ["wall", "cpu", "wall/cpu"].into_iter();
        assert_eq!(closest("wal", known(), 0.75), Some("wall"));
        assert_eq!(closest("zzz", known(), 0.75), None);
        assert_eq!(closest("wal", std::iter::empty(), 0.75), None);
    }
}
