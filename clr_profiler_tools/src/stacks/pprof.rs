//! Files for `go tool pprof`: its protobuf messages, compressed with gzip.
//!
//! The messages are those of profile.proto, as far as they are written here. The first string is empty, the other tables have ids
//! from 1.

use std::collections::HashMap;
use std::io::{self, Write};
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use prost::Message;

use super::export::{Export, Frame, Frames};
use super::{Label, Labels};

#[derive(Clone, PartialEq, Message)]
struct Profile {
    #[prost(message, repeated, tag = "1")]
    sample_type: Vec<ValueType>,
    #[prost(message, repeated, tag = "2")]
    sample: Vec<Sample>,
    #[prost(message, repeated, tag = "4")]
    location: Vec<Location>,
    #[prost(message, repeated, tag = "5")]
    function: Vec<Function>,
    #[prost(string, repeated, tag = "6")]
    string_table: Vec<String>,
    #[prost(int64, tag = "9")]
    time_nanos: i64,
    #[prost(int64, tag = "10")]
    duration_nanos: i64,
    #[prost(int64, repeated, tag = "13")]
    comment: Vec<i64>,
    #[prost(int64, tag = "14")]
    default_sample_type: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct ValueType {
    #[prost(int64, tag = "1")]
    kind: i64,
    #[prost(int64, tag = "2")]
    unit: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Sample {
    /// Innermost first.
    #[prost(uint64, repeated, tag = "1")]
    location_id: Vec<u64>,
    #[prost(int64, repeated, tag = "2")]
    value: Vec<i64>,
    #[prost(message, repeated, tag = "3")]
    label: Vec<TextLabel>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct TextLabel {
    #[prost(int64, tag = "1")]
    key: i64,
    #[prost(int64, tag = "2")]
    str: i64,
}

#[derive(Clone, PartialEq, Message)]
struct Location {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(message, repeated, tag = "4")]
    line: Vec<Line>,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Line {
    #[prost(uint64, tag = "1")]
    function_id: u64,
    #[prost(int64, tag = "2")]
    line: i64,
}

#[derive(Clone, Copy, PartialEq, Message)]
struct Function {
    #[prost(uint64, tag = "1")]
    id: u64,
    #[prost(int64, tag = "2")]
    name: i64,
    // The third is the name of the symbol. Where both are the same, Go's reader takes type arguments and parameters away, as if
    // they were those of C++.
    #[prost(int64, tag = "4")]
    filename: i64,
}

/// Texts as indices, of which the first is the empty text.
pub(super) struct Strings {
    numbers: HashMap<Arc<str>, usize>,
    pub(super) all: Vec<String>,
}

impl Strings {
    pub(super) fn new() -> Self {
        Self {
            numbers: HashMap::from([(Arc::from(""), 0)]),
            all: vec![String::new()],
        }
    }

    pub(super) fn number(&mut self, text: &str) -> usize {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let number = self.all.len();
        self.all.push(text.to_owned());
        self.numbers.insert(text.into(), number);
        number
    }
}

pub(super) fn write(
    export: &Export<'_>,
    labels: Option<&Labels>,
    frame: &mut Frames<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut out = GzEncoder::new(out, Compression::default());
    let tables = write_samples(export, labels, frame, &mut out)?;
    out.write_all(&tables.encode_to_vec())?;
    out.finish()?;
    Ok(())
}

/// Writes the samples, each as a part of the profile that readers put together; returns the other part, without which they have no
/// names.
fn write_samples(
    export: &Export<'_>,
    labels: Option<&Labels>,
    frame: &mut Frames<'_>,
    out: &mut impl Write,
) -> io::Result<Profile> {
    let mut strings = Strings::new();
    let mut number = |text: &str| strings.number(text) as i64;
    let types = export.types().into_iter();
    let sample_type: Vec<ValueType> = types
        .map(|(kind, unit)| ValueType {
            kind: number(kind),
            unit: number(unit),
        })
        .collect();
    let mut locations: HashMap<u64, u64> = HashMap::new();
    let mut functions: HashMap<(i64, i64), u64> = HashMap::new();
    let mut profile = Profile {
        default_sample_type: sample_type.last().map_or(0, |last| last.kind),
        sample_type,
        time_nanos: export.unix_nanoseconds() as i64,
        duration_nanos: export.duration_nanoseconds() as i64,
        comment: vec![number(export.title)],
        ..Profile::default()
    };
    for (stack, parts) in export.parts(labels) {
        let mut location_id = Vec::with_capacity(stack.len());
        for key in stack.into_iter().rev() {
            let id = *locations.entry(key).or_insert_with(|| {
                let Frame { name, source } = frame(key);
                let name = number(&name);
                let (file, line) = match &source {
                    Some((file, line)) => (number(file), i64::from(*line)),
                    None => (0, 0),
                };
                let function_id = *functions.entry((name, file)).or_insert_with(|| {
                    let id = profile.function.len() as u64 + 1;
                    profile.function.push(Function {
                        id,
                        name,
                        filename: file,
                    });
                    id
                });
                let id = profile.location.len() as u64 + 1;
                profile.location.push(Location {
                    id,
                    line: vec![Line { function_id, line }],
                });
                id
            });
            location_id.push(id);
        }
        let mut part = Profile::default();
        for (label, weight, count) in parts {
            let texts = label.iter().flat_map(Label::texts);
            let label = texts.map(|(key, text)| TextLabel {
                key: number(key),
                str: number(&text),
            });
            part.sample.push(Sample {
                label: label.collect(),
                location_id: location_id.clone(),
                value: export.values_of(weight, count),
            });
        }
        out.write_all(&part.encode_to_vec())?;
    }
    profile.string_table = strings.all;
    Ok(profile)
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::time::{Duration, SystemTime};

    use flate2::read::GzDecoder;

    use super::super::export::tests::{frame, labelled, stacks, written};
    use super::*;
    use crate::stacks::{Form, Unit};

    fn read(bytes: &[u8]) -> Profile {
        let mut message = Vec::new();
        GzDecoder::new(bytes).read_to_end(&mut message).unwrap();
        Profile::decode(&*message).unwrap()
    }

    #[test]
    fn it_has_each_function_once() {
        let profile = read(&written(Form::Pprof, Unit::Nanoseconds, None));
        let text = |number: i64| profile.string_table[number as usize].as_str();
        assert_eq!(text(0), "");
        let types: Vec<_> = profile.sample_type.iter().collect();
        assert_eq!(text(types[0].kind), "samples");
        assert_eq!(
            (text(types[1].kind), text(types[1].unit)),
            ("cpu", "nanoseconds")
        );
        assert_eq!(profile.default_sample_type, types[1].kind);
        assert_eq!((profile.function.len(), profile.location.len()), (3, 3));
        let mut stacks: Vec<_> = profile
            .sample
            .iter()
            .map(|sample| {
                let frames = sample.location_id.iter().map(|id| {
                    let line = profile.location[*id as usize - 1].line[0];
                    let function = profile.function[line.function_id as usize - 1];
                    (text(function.name), text(function.filename), line.line)
                });
                (frames.collect::<Vec<_>>(), sample.value.clone())
            })
            .collect();
        stacks.sort();
        let main = ("Main(string[])", "", 0);
        let get = ("Shop.Map<3>.Get(int)", "/src/shop/Map.cs", 7);
        assert_eq!(
            stacks,
            [
                (vec![("A;B", "", 0), main], vec![1, 30_000_000]),
                (vec![main], vec![1, 10_000_000]),
                (vec![get, main], vec![2, 60_000_000]),
            ]
        );
        assert_eq!(profile.duration_nanos, 250_000_000);
        assert_eq!(profile.time_nanos, 1_000_000_000_000_000_000);
    }

    #[test]
    fn samples_of_a_span_are_labelled() {
        let profile = read(&labelled(Form::Pprof));
        let text = |number: i64| profile.string_table[number as usize].as_str();
        let mut samples: Vec<_> = profile
            .sample
            .iter()
            .map(|sample| {
                let labels = sample.label.iter();
                let labels = labels.map(|label| format!("{}={}", text(label.key), text(label.str)));
                (sample.value[1], labels.collect::<Vec<_>>().join(" "))
            })
            .collect();
        samples.sort();
        let ids = format!("trace_id={} span_id=0000000000000102", "ab".repeat(16));
        let none = String::new();
        let expected = [
            (10_000_000, none.clone()),
            (30_000_000, none.clone()),
            (30_000_000, ids),
            (60_000_000, none),
        ];
        assert_eq!(samples, expected);
    }

    #[test]
    fn samples_are_not_kept() {
        let stacks = stacks();
        let export = Export {
            stacks: &stacks,
            title: "Time",
            unit: Unit::Calls,
            values: ("calls", "calls"),
            began: SystemTime::UNIX_EPOCH,
            duration: Duration::ZERO,
            timeline: None,
        };
        let mut written = Vec::new();
        let tables = write_samples(&export, None, &mut frame, &mut written).unwrap();
        assert!(tables.sample.is_empty() && tables.location.len() == 3);
        let written = Profile::decode(&*written).unwrap();
        let sample = Profile {
            sample: written.sample.clone(),
            ..Profile::default()
        };
        assert!(written.sample.len() == 3 && written == sample);
    }

    #[test]
    fn counts_are_one_value() {
        let profile = read(&written(Form::Pprof, Unit::Calls, None));
        assert_eq!(profile.sample_type.len(), 1);
        assert!(profile.sample.iter().all(|sample| sample.value.len() == 1));
    }
}
