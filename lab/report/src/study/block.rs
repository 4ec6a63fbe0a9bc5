//! A workload of a study as its table shows it: rows in their order, numbers in one unit.

use super::figure;
use crate::number::{Kind, Scale, ratio};
use crate::prelude::*;
use crate::text::grouped;
use tiebreak_core::claim::{Relation, Statement};
use tiebreak_core::result::{MetricSummary, PublishedFigure, WorkloadResult};
use tiebreak_core::study::FigureStatistic;

/// The marks behind the names of contestants whose contract is not exact, one for each contract.
const MARKS: [&str; 5] = ["*", "+", "#", "^", "~"];

/// A run of a study, ready to be shown. Times are shown for one item, or for one call where the
/// whole workload is one item.
pub(crate) struct Block<'a> {
    /// The run.
    pub run: &'a RunResult,
    /// The workload's part of the result.
    pub of: &'a WorkloadResult,
    /// Those that run, the fastest first: by their ratios to the reference, which alone are proven;
    /// where there are none, by their medians.
    pub rows: Vec<&'a StudyRow>,
    /// The void ones, then those that were not run.
    pub left_out: Vec<&'a StudyRow>,
    scale: Option<Scale>,
}

/// Why contestants are not in the table.
pub(crate) struct Reason {
    /// Their names, with their marks.
    names: Vec<String>,
    /// Whether they are void; or else they were not run.
    is_void: bool,
    why: String,
}

impl Reason {
    /// Returns names and reason as a sentence.
    pub(crate) fn spans(&self) -> Spans {
        let verb = if self.names.len() == 1 { " is " } else { " are " };
        let names = span(Tone::Strong, self.names.join(", "));
        let what =
            if self.is_void { span(Tone::Bad, "void") } else { span(Tone::Doubt, "not run") };
        vec![names, words(verb), what, words(format!(": {}.", self.why))]
    }

    /// Returns the sentence without tones.
    pub(crate) fn sentence(&self) -> String {
        letters(&self.spans())
    }
}

impl<'a> Block<'a> {
    /// The block of a run; `None` if it is no study's.
    pub(crate) fn of(run: &'a RunResult) -> Option<Block<'a>> {
        let of = run.study.as_deref()?;
        let rows = of.rows.iter();
        let (mut left_out, mut rows): (Vec<_>, Vec<_>) =
            rows.partition(|row| row.fault.is_some() || row.not_run.is_some());
        rows.sort_by(|a, b| {
            // By the ratio to the reference, the largest first, then by the time.
            let [a, b] = [a, b].map(|row| {
                let keys = [speed(of, row).map(|ratio| -ratio), median(row, Metric::WallTime)];
                keys.map(|key| key.unwrap_or(f64::INFINITY))
            });
            a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1]))
        });
        left_out.sort_by_key(|row| row.fault.is_none());
        let mut block = Block { run, of, rows, left_out, scale: None };
        block.scale = block.shared_scale(Metric::WallTime);
        Some(block)
    }

    /// How many items a time is shown for.
    fn divisor(&self) -> f64 {
        self.of.items.max(1) as f64
    }

    /// What a time is shown for: `number`, or `call`.
    pub(crate) fn item(&self) -> String {
        if self.of.items > 1 { plain(&self.of.item) } else { "call".to_owned() }
    }

    /// A unit in which all medians of a metric can be read, of one item.
    pub(crate) fn shared_scale(&self, metric: Metric) -> Option<Scale> {
        let medians = self.rows.iter().filter_map(|row| median(row, metric));
        let medians: Vec<f64> = medians.map(|value| value / self.divisor()).collect();
        Scale::shared(metric.unit(), &medians)
    }

    /// The title of the column of times: `ns/number`.
    pub(crate) fn title(&self) -> String {
        let unit = self.scale.map_or("time", Scale::name);
        format!("{unit}/{}", self.item())
    }

    /// A time for one item, without its unit if the title has it.
    pub(crate) fn time(&self, ns_a_call: f64) -> String {
        match self.scale {
            Some(scale) => scale.digits(ns_a_call / self.divisor()),
            None => self.time_with_unit(ns_a_call),
        }
    }

    /// Writes a time for one item with its unit.
    pub(crate) fn time_with_unit(&self, ns_a_call: f64) -> String {
        let value = ns_a_call / self.divisor();
        self.scale.unwrap_or_else(|| Scale::of(Unit::Nanoseconds, value)).write(value)
    }

    /// Median, p10 and p90 of wall time, in one unit, which stands behind the median if the title
    /// does not have it; `-` for what is not known.
    pub(crate) fn times(&self, row: &StudyRow) -> [String; 3] {
        let [p10, median, p90] = quantiles(row);
        let size = median.or(p10).unwrap_or(0.0) / self.divisor();
        let scale = self.scale.unwrap_or_else(|| Scale::of(Unit::Nanoseconds, size));
        let [p10, p90] = [p10, p90].map(|value| value.map(|ns| scale.digits(ns / self.divisor())));
        [median.map(|ns| self.time(ns)), p10, p90].map(or_none)
    }

    /// Whether the others are compared with this one.
    pub(crate) fn is_reference(&self, row: &StudyRow) -> bool {
        row.name == self.of.reference
    }

    /// The ratio to the reference, and its limits: `1.93x`, `1.90x .. 1.97x`.
    pub(crate) fn ratio(&self, row: &StudyRow) -> [String; 2] {
        match row.ratio {
            _ if self.is_reference(row) => ["1x".to_owned(), "reference".to_owned()],
            Some(ratio) => ratio_texts(ratio),
            None => [None, None].map(or_none),
        }
    }

    /// The places that the intervals leave open: `1`, or `2-4`; empty where that is not known.
    pub(crate) fn rank(&self, row: &StudyRow) -> String {
        match row.rank {
            Some([first, last]) if first == last => first.to_string(),
            Some([first, last]) => format!("{first}-{last}"),
            None => String::new(),
        }
    }

    /// Whether the places of the rows are known.
    pub(crate) fn is_ranked(&self) -> bool {
        self.rows.iter().any(|row| row.rank.is_some())
    }

    /// Whether the row has a ratio that is not as exact as the study asks.
    pub(crate) fn is_open(&self, row: &StudyRow) -> bool {
        row.ratio.is_some() && !row.is_settled && !self.is_reference(row)
    }

    /// The name of a contestant, with the mark of its contract.
    pub(crate) fn marked(&self, row: &StudyRow) -> String {
        let name = plain(&row.name);
        if row.is_exact { name } else { format!("{name}{}", self.mark(&row.contract)) }
    }

    /// Why contestants are not in the table. Those that are not run for the same reason stand
    /// together.
    pub(crate) fn reasons(&self) -> Vec<Reason> {
        let void = self.left_out.iter().filter_map(|row| Some((row, row.fault.as_ref()?)));
        let void = void.map(|(row, fault)| (short(&fault.to_string()), vec![self.marked(row)]));
        let idle = self.left_out.iter().filter(|row| row.fault.is_none());
        let idle =
            idle.map(|row| (short(row.not_run.as_deref().unwrap_or_default()), self.marked(row)));
        let void = void.map(|(why, names)| Reason { names, is_void: true, why });
        let idle = grouped(idle).into_iter();
        void.chain(idle.map(|(why, names)| Reason { names, is_void: false, why })).collect()
    }

    /// The contracts that are not exact, in the order in which they first occur.
    pub(crate) fn contracts(&self) -> Vec<&'a str> {
        let marked = self.of.rows.iter().filter(|row| !row.is_exact);
        each_once(marked.map(|row| row.contract.as_str()))
    }

    /// The sign of a contract that is not exact.
    pub(crate) fn mark(&self, contract: &str) -> &'static str {
        let index = self.contracts().iter().position(|other| *other == contract).unwrap_or(0);
        MARKS[index % MARKS.len()]
    }

    /// The first published figure with its unit, and the table that it is from if there are
    /// several: `210 M/s`. The others stand in the notes.
    pub(crate) fn published(&self, row: &StudyRow) -> Option<String> {
        let PublishedFigure { table: index, value, .. } = *row.published.first()?;
        let table = self.of.published.get(index)?;
        let which = match self.of.published.len() {
            0 | 1 => String::new(),
            _ => format!(" [{}]", index + 1),
        };
        Some(format!("{value} {}{which}", figure::unit(table.unit)))
    }

    /// The ratio to the reference by the first published table that has both.
    pub(crate) fn published_ratio(&self, row: &StudyRow) -> Option<String> {
        if self.is_reference(row) {
            return row.published.first().map(|_| "1x".to_owned());
        }
        row.published.iter().find_map(published_ratio)
    }

    /// The figures of a published table that stand in no column, each with its ratio to the
    /// reference: `switch 7.8 (1.92x)`.
    pub(crate) fn further_figures(&self, table: usize) -> Vec<String> {
        let running =
            self.rows.iter().flat_map(|row| row.published.iter().skip(1).map(move |f| (row, f)));
        let others =
            self.left_out.iter().flat_map(|row| row.published.iter().map(move |f| (row, f)));
        let figures = running.chain(others).filter(|(_, figure)| figure.table == table);
        let texts = figures.map(|(row, figure)| {
            let ratio = published_ratio(figure).map(|ratio| format!(" ({ratio})"));
            format!("{} {}{}", self.marked(row), figure.value, ratio.unwrap_or_default())
        });
        texts.collect()
    }

    /// The median here in the unit of the published figure, without the unit.
    pub(crate) fn in_published_unit(&self, row: &StudyRow) -> Option<String> {
        let table = self.of.published.get(row.published.first()?.table)?;
        let ns = match table.statistic {
            Some(FigureStatistic::Minimum) => *row.ecdf.as_ref()?.values.first()?,
            _ => median(row, Metric::WallTime)?,
        };
        figure::from_ns(table.unit, ns, self.of).map(figure::digits)
    }

    /// The published figure as nanoseconds for one call, if it is one of time.
    pub(crate) fn published_ns(&self, row: &StudyRow) -> Option<f64> {
        let PublishedFigure { table, value, .. } = *row.published.first()?;
        figure::to_ns(self.of.published.get(table)?.unit, value, self.of)
    }

    /// How exact a ratio of the table was to be.
    pub(crate) fn precision(&self) -> Option<f64> {
        self.run.verdicts.iter().find_map(|claim| match claim.statement {
            Statement::Ratio(Relation::Measure { precision }) => Some(precision),
            _ => None,
        })
    }
}

/// How many times as fast as the reference a row is, if that is known of any row.
pub(crate) fn speed(of: &WorkloadResult, row: &StudyRow) -> Option<f64> {
    if of.rows.iter().any(|row| row.ratio.is_some()) && row.name == of.reference {
        Some(1.0)
    } else {
        row.ratio.and_then(|ratio| finite(ratio.estimate))
    }
}

/// How many times as much as the first contestant the second one needs, by the first published
/// table that has both.
pub(crate) fn published_between(of: &WorkloadResult, left: &str, right: &str) -> Option<f64> {
    let ratio_in = |table: usize, name: &str| {
        let row = of.rows.iter().find(|row| row.name == name)?;
        let figure = row.published.iter().find(|figure| figure.table == table)?;
        if name == of.reference { Some(1.0) } else { finite(figure.ratio) }
    };
    (0..of.published.len()).find_map(|table| Some(ratio_in(table, left)? / ratio_in(table, right)?))
}

/// The ratio to the reference by the table of a published figure.
fn published_ratio(figure: &PublishedFigure) -> Option<String> {
    finite(figure.ratio).map(|value| ratio(value, 2, Rounding::Nearest))
}

/// A metric of a row.
pub(crate) fn summary(row: &StudyRow, metric: Metric) -> Option<MetricSummary> {
    row.per_call.iter().find(|(key, _)| *key == metric).map(|(_, summary)| *summary)
}

/// The wall time for one call: p10, median and p90, where they are numbers.
pub(crate) fn quantiles(row: &StudyRow) -> [Option<f64>; 3] {
    let summary = summary(row, Metric::WallTime);
    summary.map_or([None; 3], |s| [s.p10, s.median, s.p90]).map(finite)
}

/// The median of a metric for one call, if it is a number.
pub(crate) fn median(row: &StudyRow, metric: Metric) -> Option<f64> {
    finite(summary(row, metric)?.median)
}

/// A ratio and its limits: `1.93x`, `1.90x .. 1.97x`; `-` for what is not known.
pub(crate) fn ratio_texts(ratio: EffectResult) -> [String; 2] {
    let usable = |value| finite(value).filter(|value| *value > 0.0);
    let values = [ratio.estimate, ratio.low, ratio.high].map(usable);
    let [estimate, low, high] = Kind::Ratio.numbers(values, &[]);
    [or_none(estimate), between(low, high)]
}
