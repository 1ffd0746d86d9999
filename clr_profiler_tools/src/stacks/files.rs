//! The files that viewers open.

use std::collections::HashMap;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use crate::stacks::Stacks;

/// The unit of weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// How often something was observed.
    Samples,
    /// How often something was called.
    Calls,
    /// Sizes.
    Bytes,
    /// Times.
    Nanoseconds,
}

impl Unit {
    /// The name in speedscope's schema.
    fn of_speedscope(self) -> &'static str {
        match self {
            Self::Samples | Self::Calls => "none",
            Self::Bytes => "bytes",
            Self::Nanoseconds => "nanoseconds",
        }
    }
}

/// The format of a file, by the ending of its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `.svg`.
    FlameGraph,
    /// `.json`.
    Speedscope,
    /// `.folded`.
    Folded,
    /// Anything else: a table, in the profiler's own format.
    Table,
}

impl Form {
    /// The format of the file with this name.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        match path.extension().and_then(|end| end.to_str()) {
            Some("svg") => Self::FlameGraph,
            Some("json") => Self::Speedscope,
            Some("folded") => Self::Folded,
            _ => Self::Table,
        }
    }
}

/// A stack a line: names with `;` between them, a blank, and the weight; ordered by name.
///
/// # Errors
///
/// Those of `out`.
pub fn folded(
    stacks: &Stacks,
    name: impl FnMut(u64) -> Arc<str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for line in lines(stacks, name) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// The JSON that <https://www.speedscope.app> opens, its file format 0.0.1: each stack is a sample.
///
/// # Errors
///
/// Those of `out`.
pub fn speedscope(
    stacks: &Stacks,
    title: &str,
    unit: Unit,
    mut name: impl FnMut(u64) -> Arc<str>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut numbers: HashMap<u64, usize> = HashMap::new();
    let mut frames = Vec::new();
    let (mut samples, mut weights) = (Vec::new(), Vec::new());
    for (stack, weight, _) in stacks.iter() {
        let stack = stack.into_iter().map(|frame| {
            *numbers.entry(frame).or_insert_with(|| {
                frames.push(json!({ "name": &*name(frame) }));
                frames.len() - 1
            })
        });
        samples.push(stack.collect::<Vec<_>>());
        weights.push(weight);
    }
    let file = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": title,
        "exporter": "clr_profiler",
        "activeProfileIndex": 0,
        "shared": { "frames": frames },
        "profiles": [{
            "type": "sampled",
            "name": title,
            "unit": unit.of_speedscope(),
            "startValue": 0,
            "endValue": weights.iter().sum::<u64>(),
            "samples": samples,
            "weights": weights,
        }],
    });
    serde_json::to_writer(&mut *out, &file)?;
    writeln!(out)
}

/// The lines of the folded format, ordered by name.
pub(super) fn lines(stacks: &Stacks, mut name: impl FnMut(u64) -> Arc<str>) -> Vec<String> {
    let mut lines: Vec<String> = stacks
        .iter()
        .filter(|(stack, weight, _)| !stack.is_empty() && *weight > 0)
        .map(|(stack, weight, _)| {
            // `;` ends a frame and a line break ends a stack, whatever a method is called.
            let frames = stack
                .into_iter()
                .map(|frame| name(frame).replace([';', '\n', '\r'], ":"));
            let frames: Vec<String> = frames.collect();
            format!("{} {weight}", frames.join(";"))
        })
        .collect();
    lines.sort_unstable();
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(frame: u64) -> Arc<str> {
        match frame {
            1 => "Main(string[])".into(),
            2 => "A;B".into(),
            _ => format!("<{frame}>").into(),
        }
    }

    fn stacks() -> Stacks {
        let mut stacks = Stacks::with_limit(100);
        stacks.add([1, 2], 30);
        stacks.add([1], 10);
        stacks.add([1, 3], 60);
        stacks
    }

    fn written(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> String {
        let mut out = Vec::new();
        write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn folded_stacks_are_lines() {
        let text = written(|out| folded(&stacks(), name, out));
        assert_eq!(
            text,
            "Main(string[]) 10\nMain(string[]);<3> 60\nMain(string[]);A:B 30\n"
        );
    }

    #[test]
    fn speedscope_gets_each_frame_once() {
        let text = written(|out| speedscope(&stacks(), "Time", Unit::Nanoseconds, name, out));
        let file: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(file["shared"]["frames"].as_array().unwrap().len(), 3);
        let profile = &file["profiles"][0];
        assert_eq!(profile["endValue"], 100);
        let samples = profile["samples"].as_array().unwrap();
        assert_eq!(samples.len(), profile["weights"].as_array().unwrap().len());
        let main = &file["shared"]["frames"][samples[0][0].as_u64().unwrap() as usize];
        assert_eq!(main["name"], "Main(string[])");
    }
}
