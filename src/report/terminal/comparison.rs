//! All commands in one table, and what may be said about their differences.

use super::diagnosis::word;
use super::layout::{Column, columns_of, cut, table, table_width, wrap};
use crate::analysis::{Analysis, Comparison, Subject, Versus};
use crate::diagnose::Tier;
use crate::metric::{CPU, WALL};
use crate::report::Style;
use crate::unit::{TimeFormat, bare_signed_percent, ratio, signed_percent};

/// More commands than this get one line each instead of a block each.
pub(super) const BLOCKS: usize = 10;
/// A name is not cut below this.
const SHORTEST_NAME: usize = 12;

/// The table over all commands and the sentences below it.
pub(super) fn lines(style: &Style, analysis: &Analysis<'_>) -> Vec<String> {
    let mut lines = overview(style, analysis);
    if analysis.subjects.len() <= BLOCKS {
        for versus in &analysis.comparisons {
            lines.push(String::new());
            lines.extend(sentences(style, versus));
        }
    }
    lines
}

/// What may be said about one command and the reference.
pub(super) fn sentences(style: &Style, versus: &Versus) -> Vec<String> {
    let mut lines = wrap("", &style.text(&versus.sentence), style.line());
    for remark in &versus.remarks {
        lines.extend(wrap("  = ", &style.text(remark), style.line()));
    }
    lines
}

fn overview(style: &Style, analysis: &Analysis<'_>) -> Vec<String> {
    let places = style.sort.places(analysis);
    if style.narrow() {
        return vertical(style, analysis, &places);
    }
    let many = analysis.subjects.len() > BLOCKS;
    for shown in Shown::ALL {
        let rest = build(style, analysis, &places, shown, many);
        let taken = table_width(&rest);
        let room = style
            .line()
            .max(style.room().min(120))
            .saturating_sub(taken);
        if room >= SHORTEST_NAME + 4 || shown == Shown::Wall {
            let mut all = vec![names(style, analysis, &places, room.max(SHORTEST_NAME) - 4)];
            all.extend(rest);
            return table(&all);
        }
    }
    Vec::new()
}

/// How much of the table there is room for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shown {
    All,
    NoRatio,
    ShortCpu,
    Wall,
}

impl Shown {
    const ALL: [Self; 4] = [Self::All, Self::NoRatio, Self::ShortCpu, Self::Wall];
}

fn column(gap: usize, head: &str, left: bool, cells: Vec<String>) -> Column {
    Column {
        gap,
        head: head.to_owned(),
        cells,
        left,
    }
}

fn names(style: &Style, analysis: &Analysis<'_>, places: &[usize], room: usize) -> Column {
    let digits = analysis.subjects.len().to_string().len();
    let cells = places.iter().map(|place| {
        let name = style.text(analysis.subjects[*place].name());
        let number = format!("{:>digits$}", place + 1);
        format!(
            "{number} {}",
            cut(style, &name, room.saturating_sub(digits))
        )
    });
    column(2, "", true, cells.collect())
}

fn build(
    style: &Style,
    analysis: &Analysis<'_>,
    places: &[usize],
    shown: Shown,
    many: bool,
) -> Vec<Column> {
    let cells = |cell: &dyn Fn(&Subject<'_>) -> String| -> Vec<String> {
        places
            .iter()
            .map(|place| cell(&analysis.subjects[*place]))
            .collect()
    };
    let versus = |id: &str, short: bool| -> Vec<String> {
        places
            .iter()
            .map(|place| change(analysis, *place, id, short))
            .collect()
    };
    let head = head(analysis);
    let mut table = vec![
        column(
            2,
            "wall",
            false,
            cells(&|subject| median(style, subject, WALL)),
        ),
        column(2, &head, true, versus(WALL, false)),
    ];
    if shown != Shown::Wall {
        let short = shown == Shown::ShortCpu;
        table.push(column(
            2,
            "CPU",
            false,
            cells(&|subject| median(style, subject, CPU)),
        ));
        let head = if short {
            head.split(" (").next().unwrap_or_default()
        } else {
            &head
        };
        table.push(column(2, head, true, versus(CPU, short)));
    }
    if shown == Shown::All {
        table.push(column(2, "wall/CPU", true, cells(&wall_over_cpu)));
    }
    if many {
        table.push(column(
            2,
            "",
            true,
            cells(&|subject| remark(style, subject)),
        ));
    }
    table
}

/// `vs 1 (95%)`.
fn head(analysis: &Analysis<'_>) -> String {
    let level = analysis
        .comparisons
        .first()
        .map_or(0.95, |versus| versus.level);
    format!(
        "vs {} ({})",
        analysis.reference + 1,
        crate::unit::level(level)
    )
}

fn median(style: &Style, subject: &Subject<'_>, id: &str) -> String {
    if subject.counts.counted() == 0 {
        return if id == WALL {
            super::measures::timed_out(style, subject).unwrap_or_else(|| "failed".into())
        } else {
            String::new()
        };
    }
    let Some(summary) = subject.summary(id) else {
        return "-".into();
    };
    let value = summary
        .get("median")
        .map_or(f64::NAN, |median| median.value);
    TimeFormat::around(style.unit_for(value), value, None, style.unicode).with_unit(value)
}

/// `-35% (-38 to -33)`, empty for the reference.
fn change(analysis: &Analysis<'_>, place: usize, id: &str, short: bool) -> String {
    let Some(versus) = analysis.comparisons.iter().find(|one| one.command == place) else {
        return String::new();
    };
    match versus.metric(id) {
        Some(found) => relative(found, short),
        None if id == WALL => "no ratio".into(),
        None => String::new(),
    }
}

fn relative(comparison: &Comparison, short: bool) -> String {
    let Some(found) = comparison.ratio else {
        return "no ratio".into();
    };
    let value = signed_percent(found.value - 1.0);
    let bare = |limit: f64| bare_signed_percent(limit - 1.0);
    match found.interval.filter(|_| !short) {
        Some(limits) => format!("{value} ({} to {})", bare(limits.low), bare(limits.high)),
        None => value,
    }
}

fn wall_over_cpu(subject: &Subject<'_>) -> String {
    match subject.ratio {
        Some(found) => ratio(found.value),
        None => "-".into(),
    }
}

/// A failure, a tier or a warning as the last word of a row.
fn remark(style: &Style, subject: &Subject<'_>) -> String {
    let counts = subject.counts;
    if counts.failed > 0 {
        return format!("failed {} of {}", counts.failed, counts.measured);
    }
    let tier = subject
        .diagnosis
        .as_ref()
        .map_or(Tier::None, |found| found.tier);
    if tier >= Tier::Warning {
        return word(style, tier);
    }
    let warning = subject.warnings.first();
    warning.map_or_else(String::new, |warning| warning.id.to_owned())
}

fn vertical(style: &Style, analysis: &Analysis<'_>, places: &[usize]) -> Vec<String> {
    let mut lines = Vec::new();
    for place in places {
        let subject = &analysis.subjects[*place];
        let number = format!("{} ", place + 1);
        let room = style.room().saturating_sub(columns_of(&number));
        let name = cut(style, &style.text(subject.name()), room);
        lines.push(format!("{number}{name}"));
        for (label, id) in [("wall", WALL), ("CPU ", CPU)] {
            let change = change(analysis, *place, id, false);
            let text = format!("{} {change}", median(style, subject, id));
            lines.extend(wrap(&format!("  {label} "), text.trim_end(), style.room()));
        }
    }
    lines
}
