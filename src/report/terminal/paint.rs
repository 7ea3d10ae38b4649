//! Colours. The only place that writes an escape sequence, and only when the style asks for it.

use crate::report::Tone;

/// The word between the escape sequences of its tone.
#[cfg(feature = "cli")]
pub(in crate::report) fn paint(tone: Tone, word: &str) -> String {
    use colored::Color;

    let color = match tone {
        Tone::Strong => return format!("\u{1b}[1m{word}\u{1b}[0m"),
        Tone::Good => Color::Green,
        Tone::Caution => Color::Yellow,
        Tone::Bad => Color::Red,
    };
    format!("\u{1b}[{}m{word}\u{1b}[0m", color.to_fg_str())
}

/// Without the program there is no terminal to colour.
#[cfg(not(feature = "cli"))]
pub(in crate::report) fn paint(_tone: Tone, word: &str) -> String {
    word.to_owned()
}
