//! The files that viewers open.

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::json;

use super::export::{Export, Frames};
use crate::stacks::{Stacks, Unit};

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

/// A stack a line: names with `;` between them, a blank, and the weight; ordered by name.
pub(super) fn folded(
    stacks: &Stacks,
    frame: &mut Frames<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    for line in lines(stacks, frame) {
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// The JSON that <https://www.speedscope.app> opens, its file format 0.0.1: each stack is a sample.
pub(super) fn speedscope(
    export: &Export<'_>,
    frame: &mut Frames<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut numbers: HashMap<u64, usize> = HashMap::new();
    let mut frames = Vec::new();
    let (mut samples, mut weights) = (Vec::new(), Vec::new());
    for (stack, weight, _) in export.stacks.iter() {
        let stack = stack.into_iter().map(|key| {
            *numbers.entry(key).or_insert_with(|| {
                let frame = frame(key);
                frames.push(match &frame.source {
                    Some((file, line)) => {
                        json!({ "name": &*frame.text(), "file": &**file, "line": line })
                    }
                    None => json!({ "name": &*frame.name }),
                });
                frames.len() - 1
            })
        });
        samples.push(stack.collect::<Vec<_>>());
        weights.push(weight);
    }
    let file = json!({
        "$schema": "https://www.speedscope.app/file-format-schema.json",
        "name": export.title,
        "exporter": "clr_profiler",
        "activeProfileIndex": 0,
        "shared": { "frames": frames },
        "profiles": [{
            "type": "sampled",
            "name": export.title,
            "unit": export.unit.of_speedscope(),
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
pub(super) fn lines(stacks: &Stacks, frame: &mut Frames<'_>) -> Vec<String> {
    let mut lines: Vec<String> = stacks
        .iter()
        .filter(|(stack, weight, _)| !stack.is_empty() && *weight > 0)
        .map(|(stack, weight, _)| {
            // `;` ends a frame and a line break ends a stack, whatever a method is called.
            let frames = stack
                .into_iter()
                .map(|key| frame(key).text().replace([';', '\n', '\r'], ":"));
            let frames: Vec<String> = frames.collect();
            format!("{} {weight}", frames.join(";"))
        })
        .collect();
    lines.sort_unstable();
    lines
}

#[cfg(test)]
mod tests {
    use super::super::export::tests::written;
    use super::*;
    use crate::stacks::Form;

    #[test]
    fn folded_stacks_are_lines() {
        let text = String::from_utf8(written(Form::Folded, Unit::Nanoseconds, None)).unwrap();
        assert_eq!(
            text,
            "Main(string[]) 10000000\nMain(string[]);A:B 30000000\n\
             Main(string[]);Shop.Map<3>.Get(int) Map.cs:7 60000000\n"
        );
    }

    #[test]
    fn speedscope_gets_each_frame_once() {
        let text = written(Form::Speedscope, Unit::Nanoseconds, None);
        let file: serde_json::Value = serde_json::from_slice(&text).unwrap();
        let frames = file["shared"]["frames"].as_array().unwrap();
        assert_eq!(frames.len(), 3);
        assert!(
            frames
                .iter()
                .any(|frame| frame["file"] == "/src/shop/Map.cs" && frame["line"] == 7)
        );
        let profile = &file["profiles"][0];
        assert_eq!(profile["endValue"], 100_000_000);
        let samples = profile["samples"].as_array().unwrap();
        assert_eq!(samples.len(), profile["weights"].as_array().unwrap().len());
        let main = &file["shared"]["frames"][samples[0][0].as_u64().unwrap() as usize];
        assert_eq!(main["name"], "Main(string[])");
    }
}
