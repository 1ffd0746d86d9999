//! Stacks as files.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crate::stacks::{Form, Stacks, Timeline, Unit};

use super::labels::Part;
use super::{Labels, files, firefox, flame_graph, otlp, pprof};

/// A frame of a file: a method, and a place in its source if that is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The name of the method, or of other code.
    pub name: Arc<str>,
    /// The source file and its line.
    pub source: Option<(Arc<str>, u32)>,
}

impl From<Arc<str>> for Frame {
    fn from(name: Arc<str>) -> Self {
        Self { name, source: None }
    }
}

/// The name with the last part of the file's path: `Shop.Cart.Add(string) Cart.cs:41`.
impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        match &self.source {
            Some((file, line)) => {
                let file = file.rsplit(['/', '\\']).next().unwrap_or_default();
                write!(f, " {file}:{line}")
            }
            None => Ok(()),
        }
    }
}

impl Frame {
    /// As it is displayed.
    pub(super) fn text(&self) -> Cow<'_, str> {
        match self.source {
            Some(_) => self.to_string().into(),
            None => Cow::from(&*self.name),
        }
    }
}

/// Stacks that become a file, with the facts that the file has about them.
///
/// ```
/// use std::sync::Arc;
/// use std::time::{Duration, SystemTime};
///
/// use clr_profiler_tools::stacks::{Export, Form, Frame, Stacks, Unit};
///
/// let mut stacks = Stacks::with_limit(1000);
/// stacks.add([1, 2], 30_000_000);
/// let export = Export {
///     stacks: &stacks,
///     title: "Processor time",
///     unit: Unit::Nanoseconds,
///     values: ("samples", "cpu"),
///     began: SystemTime::now(),
///     duration: Duration::from_secs(1),
///     timeline: None,
/// };
/// let name = |number| Frame::from(Arc::from(if number == 1 { "Main" } else { "Work" }));
/// let mut file = Vec::new();
/// export.write(Form::Folded, name, &mut file)?;
/// assert_eq!(file, b"Main;Work 30000000\n");
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Export<'a> {
    /// The stacks.
    pub stacks: &'a Stacks,
    /// The meaning of the weights.
    pub title: &'a str,
    /// Their unit.
    pub unit: Unit,
    /// The name of the counts, `samples`, and that of the weights, `cpu`, for formats that have both.
    pub values: (&'a str, &'a str),
    /// When recording began.
    pub began: SystemTime,
    /// How long it has taken so far.
    pub duration: Duration,
    /// The single samples, for [`Form::Firefox`]. Without them its file has the stacks one after the other.
    pub timeline: Option<&'a Timeline>,
}

impl Export<'_> {
    /// The names of the values of a stack with their units. Weights that are counts are the only one, otherwise they are the
    /// last one.
    pub(super) fn types(&self) -> Vec<(&str, &'static str)> {
        let (count, weight) = self.values;
        match self.unit {
            Unit::Samples | Unit::Calls => vec![(count, "count")],
            Unit::Bytes => vec![(count, "count"), (weight, "bytes")],
            Unit::Nanoseconds => vec![(count, "count"), (weight, "nanoseconds")],
        }
    }

    /// The values of a stack, one for each of its [`types`](Self::types).
    pub(super) fn values_of(&self, weight: u64, count: u64) -> Vec<i64> {
        let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
        match self.unit {
            Unit::Samples | Unit::Calls => vec![number(weight)],
            Unit::Bytes | Unit::Nanoseconds => vec![number(count), number(weight)],
        }
    }

    /// The stacks, outermost frame first, each with the parts of its weight and count by span.
    pub(super) fn parts(
        &self,
        labels: Option<&Labels>,
    ) -> impl Iterator<Item = (Vec<u64>, Vec<Part>)> {
        self.stacks.ends().map(move |(node, stack, weight, count)| {
            let parts = match labels {
                Some(labels) => labels.parts(node, weight, count),
                None => vec![(None, weight, count)],
            };
            (stack, parts)
        })
    }

    /// When recording began, since 1970.
    pub(super) fn unix_nanoseconds(&self) -> u64 {
        let time = self.began.duration_since(SystemTime::UNIX_EPOCH);
        time.map_or(0, nanoseconds)
    }

    pub(super) fn duration_nanoseconds(&self) -> u64 {
        nanoseconds(self.duration)
    }

    /// Writes the stacks in a format. [`Form::Table`] is written as [`Form::Folded`]: a table is the profiler's own.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write(
        &self,
        form: Form,
        frame: impl FnMut(u64) -> Frame,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        self.write_labelled(form, None, frame, out)
    }

    /// Writes the stacks in a format, with the spans of samples where the format has them: [`Form::Pprof`] as the labels
    /// `trace_id` and `span_id`, [`Form::Otlp`] as links.
    ///
    /// # Errors
    ///
    /// Those of `out`.
    pub fn write_labelled(
        &self,
        form: Form,
        labels: Option<&Labels>,
        mut frame: impl FnMut(u64) -> Frame,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let frame: &mut Frames<'_> = &mut frame;
        match form {
            Form::FlameGraph => flame_graph::write(self.stacks, self.title, self.unit, frame, out),
            Form::Pprof => pprof::write(self, labels, frame, out),
            Form::Firefox => firefox::write(self, frame, out),
            Form::Speedscope => files::speedscope(self, frame, out),
            Form::Otlp => otlp::write(self, labels, frame, out),
            Form::Folded | Form::Table => files::folded(self.stacks, frame, out),
        }
    }
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// The frame of a number.
pub(super) type Frames<'a> = dyn FnMut(u64) -> Frame + 'a;

#[cfg(test)]
pub(super) mod tests {
    use super::super::Label;
    use super::*;

    /// Three stacks of frames with special characters and a place in the source.
    pub(crate) fn stacks() -> Stacks {
        let mut stacks = Stacks::with_limit(100);
        stacks.add([1, 2], 30_000_000);
        stacks.add([1], 10_000_000);
        stacks.add([1, 3], 20_000_000);
        stacks.add([1, 3], 40_000_000);
        stacks
    }

    pub(crate) fn frame(number: u64) -> Frame {
        match number {
            1 => Frame::from(Arc::from("Main(string[])")),
            2 => Frame::from(Arc::from("A;B")),
            _ => Frame {
                name: format!("Shop.Map<{number}>.Get(int)").into(),
                source: Some(("/src/shop/Map.cs".into(), 7)),
            },
        }
    }

    pub(crate) fn written(form: Form, unit: Unit, timeline: Option<&Timeline>) -> Vec<u8> {
        let mut out = Vec::new();
        let export = Export {
            stacks: &stacks(),
            title: "Time",
            unit,
            values: ("samples", "cpu"),
            began: SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000),
            duration: Duration::from_millis(250),
            timeline,
        };
        export.write(form, frame, &mut out).unwrap();
        out
    }

    /// The stacks, of which a third of the heaviest is in a span.
    pub(crate) fn labelled(form: Form) -> Vec<u8> {
        let (mut stacks, mut labels) = (stacks(), Labels::with_limit(10));
        let node = stacks.add([1, 3], 30_000_000);
        let label = Label {
            trace: [0xAB; 16],
            span: [0, 0, 0, 0, 0, 0, 1, 2],
        };
        labels.add(node, label, 30_000_000);
        let mut out = Vec::new();
        let export = Export {
            stacks: &stacks,
            title: "Time",
            unit: Unit::Nanoseconds,
            values: ("samples", "cpu"),
            began: SystemTime::UNIX_EPOCH,
            duration: Duration::from_millis(250),
            timeline: None,
        };
        let written = export.write_labelled(form, Some(&labels), frame, &mut out);
        written.unwrap();
        out
    }

    #[test]
    fn places_are_a_part_of_the_text() {
        assert_eq!(frame(1).text(), "Main(string[])");
        assert_eq!(frame(3).text(), "Shop.Map<3>.Get(int) Map.cs:7");
    }
}
