//! Parameters: lists and ranges of values, their combinations, and their place in a text.
//!
//! Numbers of a range are exact decimals, never binary fractions. Nothing here knows commands;
//! whatever text holds `{name}` is substituted alike.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::hash::Hash;
use std::os::unix::ffi::{OsStrExt, OsStringExt};

use super::decimal::{Decimal, DecimalFault};
use crate::unit::{display_escaped, thousands};

/// The most values one parameter may have, and the most combinations all may give.
pub const MAX_VALUES: u64 = 100_000;

/// Why parameters are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterError {
    /// A name that cannot stand between braces.
    #[error("`{name}` is no parameter name")]
    BadName {
        /// The name.
        name: String,
    },
    /// Two parameters share a name.
    #[error("parameter `{name}` is given twice")]
    Duplicate {
        /// The name.
        name: String,
    },
    /// A bound or step that is no plain decimal number, `nan` and `inf` included.
    #[error("parameter `{name}`: `{word}` is not a decimal number")]
    NotANumber {
        /// The parameter.
        name: String,
        /// What was written.
        word: String,
    },
    /// A number with more digits than can be kept exactly.
    #[error("parameter `{name}`: `{word}` has too many digits")]
    TooManyDigits {
        /// The parameter.
        name: String,
        /// What was written.
        word: String,
    },
    /// A step of zero or less.
    #[error("parameter `{name}`: step `{word}` is not greater than 0")]
    BadStep {
        /// The parameter.
        name: String,
        /// What was written.
        word: String,
    },
    /// Bounds with decimals, and no step.
    #[error("parameter `{name}` has decimal bounds and no step")]
    StepRequired {
        /// The parameter.
        name: String,
    },
    /// The upper bound is below the lower.
    #[error("parameter `{name}`: the range from {min} to {max} is empty")]
    EmptyRange {
        /// The parameter.
        name: String,
        /// Lower bound as written.
        min: String,
        /// Upper bound as written.
        max: String,
    },
    /// More than [`MAX_VALUES`] values.
    #[error("parameter `{name}` has {count} values, more than {MAX_VALUES}")]
    TooManyValues {
        /// The parameter.
        name: String,
        /// How many it would have.
        count: u128,
    },
    /// More than [`MAX_VALUES`] combinations.
    #[error("the parameters have {count} combinations, more than {MAX_VALUES}")]
    TooManyCombinations {
        /// How many there would be; the largest number if even that overflows.
        count: u128,
    },
    /// Parameters to be paired have different numbers of values.
    #[error("parameter `{first}` has {first_count} values, `{second}` has {second_count}")]
    UnequalLengths {
        /// The first parameter.
        first: String,
        /// Its number of values.
        first_count: usize,
        /// The one that differs.
        second: String,
        /// Its number of values.
        second_count: usize,
    },
}

impl ParameterError {
    /// What to write instead, if that can be said.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        Some(match self {
            Self::BadName { .. } => "use a name without braces, such as `size`".to_owned(),
            Self::Duplicate { name } => format!("put all values in one list: -L {name} a,b,c"),
            Self::NotANumber { .. } => {
                "write digits with an optional sign and point, such as -0.5".to_owned()
            }
            Self::TooManyDigits { .. } => "numbers may have up to 28 digits".to_owned(),
            Self::BadStep { .. } => "steps go upwards, such as -D 2".to_owned(),
            Self::StepRequired { .. } => "give a step, such as -D 0.1".to_owned(),
            Self::EmptyRange { name, min, max } => format!("did you mean -P {name} {max} {min}?"),
            Self::TooManyValues { .. } => {
                format!(
                    "use a larger step, for {} values at most",
                    thousands(MAX_VALUES)
                )
            }
            Self::TooManyCombinations { .. } => {
                "use fewer values, or --zip to pair them".to_owned()
            }
            Self::UnequalLengths { .. } => {
                "--zip pairs the values one by one; give all the same number".to_owned()
            }
        })
    }
}

/// A named sequence of values; the name is valid and there is at least one value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parameter {
    /// What stands between the braces.
    pub name: String,
    /// The values in order; those of a scan are decimal numbers.
    pub values: Vec<OsString>,
}

impl Parameter {
    /// A list of values separated by commas; `\,` is a comma and `\\` a backslash, as in hyperfine.
    ///
    /// # Errors
    ///
    /// A bad name or too many values.
    pub fn list(name: &str, values: &OsStr) -> Result<Self, ParameterError> {
        check_name(name)?;
        let values = split_list(values.as_bytes());
        check_count(name, values.len() as u128)?;
        Ok(Self {
            name: name.to_owned(),
            values,
        })
    }

    /// The numbers from `min` to `max`, both included where the step meets them.
    ///
    /// Values show as many decimals as `min` or `step` has. Without a step, whole bounds count by
    /// one; as in hyperfine, decimal bounds need a step, and steps are positive.
    ///
    /// # Errors
    ///
    /// A bad name, something that is no decimal number, an empty range, a bad step, or too many
    /// values.
    pub fn scan(
        name: &str,
        min: &str,
        max: &str,
        step: Option<&str>,
    ) -> Result<Self, ParameterError> {
        check_name(name)?;
        let (low, high) = (read(name, min)?, read(name, max)?);
        let stride = read_step(name, step, low.decimals.max(high.decimals))?;
        let common = low.decimals.max(high.decimals).max(stride.decimals);
        let scaled = |number: Decimal, word: &str| {
            number
                .scaled_to(common)
                .ok_or_else(|| too_many_digits(name, word))
        };
        let (from, to) = (scaled(low, min)?, scaled(high, max)?);
        let by = scaled(stride, step.unwrap_or_default())?;
        if to < from {
            let (min, max) = (min.to_owned(), max.to_owned());
            return Err(ParameterError::EmptyRange {
                name: name.to_owned(),
                min,
                max,
            });
        }
        let span = to
            .checked_sub(from)
            .ok_or_else(|| too_many_digits(name, max))?;
        let last = span / by;
        check_count(name, last.unsigned_abs() + 1)?;
        let shown = low.decimals.max(stride.decimals);
        // `from + k * by` never passes `to`, so nothing can overflow, and it is a multiple of the
        // divisor, so nothing is cut off.
        let divisor = 10_i128.pow(common - shown);
        let value = |k: i128| Decimal {
            digits: (from + k * by) / divisor,
            decimals: shown,
        };
        let values = (0..=last).map(|k| value(k).to_string().into()).collect();
        Ok(Self {
            name: name.to_owned(),
            values,
        })
    }
}

fn read(name: &str, word: &str) -> Result<Decimal, ParameterError> {
    word.parse().map_err(|fault| match fault {
        DecimalFault::TooManyDigits => too_many_digits(name, word),
        DecimalFault::NotANumber => {
            let word = display_escaped(OsStr::new(word)).into_owned();
            ParameterError::NotANumber {
                name: name.to_owned(),
                word,
            }
        }
    })
}

/// The step, 1 if none is given and the bounds are whole.
fn read_step(name: &str, step: Option<&str>, decimals: u32) -> Result<Decimal, ParameterError> {
    match step {
        None if decimals > 0 => Err(ParameterError::StepRequired {
            name: name.to_owned(),
        }),
        None => Ok(Decimal {
            digits: 1,
            decimals: 0,
        }),
        Some(word) => match read(name, word)? {
            stride if stride.digits > 0 => Ok(stride),
            _ => Err(ParameterError::BadStep {
                name: name.to_owned(),
                word: word.to_owned(),
            }),
        },
    }
}

fn check_name(name: &str) -> Result<(), ParameterError> {
    let bad = |c: char| matches!(c, '{' | '}') || c.is_control() || c.is_whitespace();
    if name.is_empty() || name.contains(bad) {
        let name = display_escaped(OsStr::new(name)).into_owned();
        return Err(ParameterError::BadName { name });
    }
    Ok(())
}

fn check_count(name: &str, count: u128) -> Result<(), ParameterError> {
    if count > u128::from(MAX_VALUES) {
        return Err(ParameterError::TooManyValues {
            name: name.to_owned(),
            count,
        });
    }
    Ok(())
}

fn too_many_digits(name: &str, word: &str) -> ParameterError {
    ParameterError::TooManyDigits {
        name: name.to_owned(),
        word: word.to_owned(),
    }
}

fn split_list(text: &[u8]) -> Vec<OsString> {
    let mut values = Vec::new();
    let mut value = Vec::new();
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => value.push(
                bytes
                    .next_if(|next| matches!(next, b',' | b'\\'))
                    .unwrap_or(byte),
            ),
            b',' => values.push(OsString::from_vec(std::mem::take(&mut value))),
            other => value.push(other),
        }
    }
    values.push(OsString::from_vec(value));
    values
}

/// One parameter with the value it has in one benchmark.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Binding {
    /// The parameter.
    pub name: String,
    /// Its value.
    pub value: OsString,
}

/// How several parameters combine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pairing {
    /// Every value with every other.
    Product,
    /// First with first, second with second (`--zip`).
    Zip,
}

/// All combinations of the parameters' values; without parameters, one empty combination.
///
/// In a product the first parameter varies fastest, as in hyperfine 1.20 (`src/command.rs`,
/// `test_build_commands_cross_product`); there the commands vary faster still.
///
/// # Errors
///
/// Duplicate names, too many combinations, or unequal lengths to be paired.
pub fn combine(
    parameters: &[Parameter],
    pairing: Pairing,
) -> Result<Vec<Vec<Binding>>, ParameterError> {
    check_distinct(parameters)?;
    let count = match pairing {
        Pairing::Product => product_count(parameters)?,
        Pairing::Zip => zip_count(parameters)?,
    };
    let combination = |index: usize| {
        let mut left = index;
        let bind = |parameter: &Parameter| {
            let length = parameter.values.len().max(1);
            let at = if pairing == Pairing::Zip {
                index
            } else {
                left % length
            };
            left /= length;
            let value = parameter.values.get(at).cloned().unwrap_or_default();
            Binding {
                name: parameter.name.clone(),
                value,
            }
        };
        parameters.iter().map(bind).collect()
    };
    Ok((0..count).map(combination).collect())
}

fn check_distinct(parameters: &[Parameter]) -> Result<(), ParameterError> {
    let mut names = HashSet::new();
    match parameters
        .iter()
        .find(|parameter| !names.insert(parameter.name.as_str()))
    {
        Some(parameter) => Err(ParameterError::Duplicate {
            name: parameter.name.clone(),
        }),
        None => Ok(()),
    }
}

fn product_count(parameters: &[Parameter]) -> Result<usize, ParameterError> {
    let multiply =
        |count: u128, parameter: &Parameter| count.saturating_mul(parameter.values.len() as u128);
    let count = parameters.iter().fold(1, multiply);
    if count > u128::from(MAX_VALUES) {
        return Err(ParameterError::TooManyCombinations { count });
    }
    Ok(count as usize)
}

fn zip_count(parameters: &[Parameter]) -> Result<usize, ParameterError> {
    let Some(first) = parameters.first() else {
        return Ok(1);
    };
    let first_count = first.values.len();
    match parameters
        .iter()
        .find(|parameter| parameter.values.len() != first_count)
    {
        None => Ok(first_count),
        Some(other) => Err(ParameterError::UnequalLengths {
            first: first.name.clone(),
            first_count,
            second: other.name.clone(),
            second_count: other.values.len(),
        }),
    }
}

/// The text with each `{name}` replaced once; a value that looks like `{name}` stays as it is.
#[must_use]
pub fn substitute(text: &OsStr, bindings: &[Binding]) -> OsString {
    let mut rest = text.as_bytes();
    let mut result = Vec::with_capacity(rest.len());
    while let Some((byte, tail)) = rest.split_first() {
        let found = bindings
            .iter()
            .find_map(|binding| Some((binding, strip_placeholder(rest, binding.name.as_bytes())?)));
        if let Some((binding, after)) = found {
            result.extend_from_slice(binding.value.as_bytes());
            rest = after;
        } else {
            result.push(*byte);
            rest = tail;
        }
    }
    OsString::from_vec(result)
}

/// What follows `{name}`, if the text starts with it.
fn strip_placeholder<'a>(text: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    text.strip_prefix(b"{")?
        .strip_prefix(name)?
        .strip_prefix(b"}")
}

/// Whether the text holds `{name}`.
#[must_use]
pub fn mentions(text: &OsStr, name: &str) -> bool {
    let bytes = text.as_bytes();
    (0..bytes.len())
        .filter_map(|start| bytes.get(start..))
        .any(|rest| strip_placeholder(rest, name.as_bytes()).is_some())
}

/// The names of parameters that none of the texts mentions.
#[must_use]
pub fn unused<'a>(parameters: &'a [Parameter], texts: &[&OsStr]) -> Vec<&'a str> {
    let named = |parameter: &&Parameter| !texts.iter().any(|text| mentions(text, &parameter.name));
    parameters
        .iter()
        .filter(named)
        .map(|parameter| parameter.name.as_str())
        .collect()
}

/// The names in `{identifier}` of a text that are no parameter, each once.
///
/// Empty without parameters, since braces then mean something else, such as `awk '{print}'`.
/// `{}`, `{a,b}`, `{1..3}`, `{print $1}`, and `${x}` are no placeholders.
#[must_use]
pub fn unknown(parameters: &[Parameter], text: &OsStr) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    if parameters.is_empty() {
        return names;
    }
    let bytes = text.as_bytes();
    for start in (0..bytes.len()).filter(|at| bytes.get(*at) == Some(&b'{')) {
        let after_dollar = start > 0 && bytes.get(start - 1) == Some(&b'$');
        let Some(name) = identifier(bytes.get(start + 1..).unwrap_or_default()) else {
            continue;
        };
        let known = parameters.iter().any(|parameter| parameter.name == name);
        if !after_dollar && !known && !names.iter().any(|seen| seen == name) {
            names.push(name.to_owned());
        }
    }
    names
}

/// The identifier before the first `}`, if all before it is one.
fn identifier(text: &[u8]) -> Option<&str> {
    let end = text.iter().position(|byte| *byte == b'}')?;
    let name = text.get(..end)?;
    let start = name
        .first()
        .is_some_and(|b| b.is_ascii_alphabetic() || *b == b'_');
    let rest = name
        .iter()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-'));
    if start && rest {
        std::str::from_utf8(name).ok()
    } else {
        None
    }
}

/// The items in order without those whose key came before, and how many were dropped.
pub fn distinct<T, K: Eq + Hash>(items: Vec<T>, key: impl Fn(&T) -> K) -> (Vec<T>, usize) {
    let before = items.len();
    let mut seen = HashSet::with_capacity(before);
    let kept: Vec<T> = items
        .into_iter()
        .filter(|item| seen.insert(key(item)))
        .collect();
    let dropped = before - kept.len();
    (kept, dropped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::Numbers;

    fn texts(parameter: &Parameter) -> Vec<&str> {
        parameter
            .values
            .iter()
            .map(|value| value.to_str().unwrap())
            .collect()
    }

    fn scan(min: &str, max: &str, step: Option<&str>) -> Result<Vec<String>, ParameterError> {
        let parameter = Parameter::scan("x", min, max, step)?;
        Ok(texts(&parameter).into_iter().map(str::to_owned).collect())
    }

    fn list(name: &str, values: &str) -> Parameter {
        Parameter::list(name, OsStr::new(values)).unwrap()
    }

    #[test]
    fn scans_count_exactly() {
        let table: &[(&str, &str, Option<&str>, &[&str])] = &[
            ("1", "3", None, &["1", "2", "3"]),
            ("-3", "-1", None, &["-3", "-2", "-1"]),
            ("0", "10", Some("3"), &["0", "3", "6", "9"]),
            ("5", "5", None, &["5"]),
            ("1", "2", Some("100"), &["1"]),
            ("0.1", "0.3", Some("0.1"), &["0.1", "0.2", "0.3"]),
            ("0", "1", Some("0.5"), &["0.0", "0.5", "1.0"]),
            ("1", "3.5", Some("1"), &["1", "2", "3"]),
            (
                "-0.5",
                "0.5",
                Some("0.25"),
                &["-0.50", "-0.25", "0.00", "0.25", "0.50"],
            ),
            ("+1", "02", None, &["1", "2"]),
            (".5", "1.", Some(".5"), &["0.5", "1.0"]),
            (
                "2147483646",
                "2147483647",
                None,
                &["2147483646", "2147483647"],
            ),
            (
                "2147483647",
                "2147483649",
                None,
                &["2147483647", "2147483648", "2147483649"],
            ),
            (
                "9223372036854775806",
                "9223372036854775807",
                None,
                &["9223372036854775806", "9223372036854775807"],
            ),
            (
                "-9223372036854775808",
                "9223372036854775807",
                Some("9223372036854775807"),
                &["-9223372036854775808", "-1", "9223372036854775806"],
            ),
        ];
        for (min, max, step, values) in table {
            assert_eq!(
                scan(min, max, *step).unwrap(),
                *values,
                "{min} {max} {step:?}"
            );
        }
        assert_eq!(scan("1", "100000", None).unwrap().len(), 100_000);
        assert_eq!(scan("0", "1", Some("0.00001")).map(|v| v.len()).ok(), None);
    }

    #[test]
    fn senseless_scans_are_refused_at_once() {
        let table: &[(&str, &str, Option<&str>, &str)] = &[
            (
                "0",
                "99999999",
                None,
                "has 100000000 values, more than 100000",
            ),
            ("0", "1", Some("0.0000000001"), "has 10000000001 values"),
            ("0", "100000", None, "has 100001 values"),
            ("5", "1", None, "the range from 5 to 1 is empty"),
            ("-1", "-3", None, "is empty"),
            ("nan", "1", None, "`nan` is not a decimal number"),
            ("1", "inf", None, "`inf` is not a decimal number"),
            ("1", "2", Some("nan"), "`nan` is not a decimal number"),
            ("1e3", "2", None, "`1e3` is not a decimal number"),
            ("", "2", None, "`` is not"),
            (".", "2", None, "`.` is not"),
            ("--1", "2", None, "`--1` is not"),
            ("1", "2", Some("0"), "step `0` is not greater than 0"),
            ("1", "2", Some("-1"), "step `-1` is not greater than 0"),
            ("1", "2", Some("0.0"), "step `0.0` is not greater"),
            ("0.1", "0.3", None, "has decimal bounds and no step"),
            (
                "1",
                "99999999999999999999999999999",
                None,
                "has too many digits",
            ),
            (
                "9999999999999999999999999999",
                "9999999999999999999999999999",
                Some("0.0000000000000000000000000001"),
                "too many digits",
            ),
            (
                "0.00000000000000000000000000001",
                "1",
                Some("1"),
                "too many digits",
            ),
        ];
        for (min, max, step, message) in table {
            let error = scan(min, max, *step).unwrap_err();
            assert!(
                error.to_string().contains(message),
                "{min} {max} {step:?}: {error}"
            );
            assert!(error.help().is_some());
        }
    }

    #[test]
    fn lists_are_split_at_commas() {
        let table: &[(&str, &[&str])] = &[
            ("", &[""]),
            ("a", &["a"]),
            ("a,b,c", &["a", "b", "c"]),
            (r"a\,b,c", &["a,b", "c"]),
            (r"\\,\n", &[r"\", r"\n"]),
            (r"\\\,", &[r"\,"]),
            (r"a\", &[r"a\"]),
            (",a,", &["", "a", ""]),
        ];
        for (text, values) in table {
            assert_eq!(texts(&list("x", text)), *values, "{text}");
        }
        let bytes = OsString::from_vec(b"\xff,b".to_vec());
        let parameter = Parameter::list("x", &bytes).unwrap();
        assert_eq!(parameter.values[0], OsString::from_vec(vec![0xff]));
        let many = OsString::from("a,".repeat(100_000));
        assert!(Parameter::list("x", &many).is_err());
    }

    #[test]
    fn names_must_fit_between_braces() {
        for name in ["", "a}", "{", "a b", "a\n"] {
            assert!(Parameter::list(name, OsStr::new("1")).is_err(), "{name:?}");
            assert!(Parameter::scan(name, "1", "2", None).is_err(), "{name:?}");
        }
        for name in ["a", "num-threads", "é", "1"] {
            assert!(Parameter::list(name, OsStr::new("1")).is_ok(), "{name:?}");
        }
    }

    fn rows(parameters: &[Parameter], pairing: Pairing) -> Vec<String> {
        let show = |bindings: Vec<Binding>| {
            let values: Vec<_> = bindings.iter().map(|b| b.value.to_str().unwrap()).collect();
            values.join("")
        };
        combine(parameters, pairing)
            .unwrap()
            .into_iter()
            .map(show)
            .collect()
    }

    #[test]
    fn the_first_parameter_varies_fastest() {
        let parameters = [list("p", "a,b"), list("q", "y,z"), list("r", "1")];
        assert_eq!(
            rows(&parameters, Pairing::Product),
            ["ay1", "by1", "az1", "bz1"]
        );
        assert_eq!(rows(&parameters[..2], Pairing::Zip), ["ay", "bz"]);
        assert_eq!(rows(&[], Pairing::Product), [""]);
        assert_eq!(rows(&[], Pairing::Zip), [""]);
        let scans = [
            Parameter::scan("a", "1", "2", None).unwrap(),
            Parameter::scan("b", "1", "2", None).unwrap(),
        ];
        assert_eq!(rows(&scans, Pairing::Product), ["11", "21", "12", "22"]);
    }

    #[test]
    fn combinations_are_checked() {
        let twice = [list("x", "1,2"), list("x", "3")];
        let expected = Err(ParameterError::Duplicate {
            name: "x".to_owned(),
        });
        assert_eq!(combine(&twice, Pairing::Product), expected);
        let unequal = [list("x", "1,2"), list("y", "3")];
        let error = combine(&unequal, Pairing::Zip).unwrap_err();
        assert_eq!(error.to_string(), "parameter `x` has 2 values, `y` has 1");
        let large = Parameter::scan("x", "1", "1000", None).unwrap();
        let named = |name: &str| Parameter {
            name: name.to_owned(),
            ..large.clone()
        };
        let error = combine(&[named("a"), named("b")], Pairing::Product).unwrap_err();
        assert_eq!(
            error,
            ParameterError::TooManyCombinations { count: 1_000_000 }
        );
        let many: Vec<_> = (0..60).map(|index| named(&index.to_string())).collect();
        let error = combine(&many, Pairing::Product).unwrap_err();
        assert_eq!(
            error,
            ParameterError::TooManyCombinations { count: u128::MAX }
        );
        let square = [
            Parameter::scan("a", "1", "10", None).unwrap(),
            list("b", "x,y"),
        ];
        assert_eq!(combine(&square, Pairing::Product).unwrap().len(), 20);
    }

    fn bind(pairs: &[(&str, &str)]) -> Vec<Binding> {
        let binding = |(name, value): &(&str, &str)| Binding {
            name: (*name).to_owned(),
            value: OsString::from(value),
        };
        pairs.iter().map(binding).collect()
    }

    #[test]
    fn values_are_not_substituted_again() {
        let bindings = bind(&[
            ("foo", "{bar} baz"),
            ("bar", "quux"),
            ("a", "{"),
            ("b", "foo}"),
        ]);
        let table = [
            ("echo {foo} {bar}", "echo {bar} baz quux"),
            ("{a}bar}", "{bar}"),
            ("{a}{b}", "{foo}"),
            ("{{bar}}", "{quux}"),
            ("{bar", "{bar"),
            ("{} {foo,bar} {x}", "{} {foo,bar} {x}"),
            ("${bar}", "$quux"),
            ("", ""),
        ];
        for (text, expected) in table {
            assert_eq!(substitute(OsStr::new(text), &bindings), expected, "{text}");
        }
        let text = OsString::from_vec(b"\xff{bar}\xfe".to_vec());
        let expected = OsString::from_vec(b"\xffquux\xfe".to_vec());
        assert_eq!(substitute(&text, &bindings), expected);
    }

    #[test]
    fn unused_and_unknown_names_are_found() {
        let parameters = [list("a", "1,2"), list("b-c", "3")];
        let texts = [OsStr::new("true"), OsStr::new("make {a}")];
        assert_eq!(unused(&parameters, &texts), ["b-c"]);
        assert_eq!(unused(&parameters, &texts[..1]), ["a", "b-c"]);
        let table: &[(&str, &[&str])] = &[
            ("echo {b}", &["b"]),
            ("echo {a} {b-c} {d} {d} {_e1}", &["d", "_e1"]),
            ("echo {a,b} {} {1..3} ${x} {1} { x } {x", &[]),
            ("awk '{print $1}' {;} {x.y}", &[]),
            ("{{q}}", &["q"]),
        ];
        for (text, names) in table {
            assert_eq!(unknown(&parameters, OsStr::new(text)), *names, "{text}");
        }
        assert!(unknown(&[], OsStr::new("awk '{print}'")).is_empty());
    }

    #[test]
    fn identical_items_are_dropped() {
        let (kept, dropped) = distinct(vec!["a", "b", "a", "a", "c"], |item| *item);
        assert_eq!((kept, dropped), (vec!["a", "b", "c"], 2));
    }

    #[test]
    fn random_scans_end_within_their_bounds() {
        let mut numbers = Numbers(21);
        for _ in 0..3000 {
            let mut number = || {
                let digits = i128::from(numbers.next() % 2001) - 1000;
                Decimal {
                    digits,
                    decimals: (numbers.next() % 4) as u32,
                }
                .to_string()
            };
            let (min, max, step) = (number(), number(), number());
            if let Ok(values) = scan(&min, &max, Some(&step)) {
                let value = |text: &str| text.parse::<f64>().unwrap();
                let last = values.last().unwrap();
                assert!((value(&values[0]) - value(&min)).abs() < 1e-9);
                assert!(value(last) <= value(&max) + 1e-9, "{min} {max} {step}");
                assert!(
                    value(last) + value(&step) > value(&max) - 1e-9,
                    "{min} {max} {step}"
                );
            }
        }
    }
}
