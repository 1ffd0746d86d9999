//! The options that the command passes.

use std::path::PathBuf;
use std::sync::Arc;

use clr_profiler::il::pattern::MethodPatterns;
use clr_profiler::{Error, Result};

use super::events::Kind;
use super::values::{Redaction, Values};
use crate::report::{Output, Settings, failures, methods};

/// Percent of the CPU time that tracing may take.
const BUDGET: u32 = 5;
/// Megabytes of a trace: two files, which viewers open without effort.
const LIMIT: u64 = 200;

/// The selection of traced methods, and the outputs.
pub(crate) struct Options {
    pub(crate) patterns: Arc<MethodPatterns>,
    /// Whether these are all methods of the program, because none were named.
    pub(crate) is_all: bool,
    pub(crate) output: PathBuf,
    /// The limit of the trace in bytes.
    pub(crate) limit: u64,
    pub(crate) summary: Option<Output>,
    /// The file of samples, and whether they have the time in which threads wait, too.
    pub(crate) samples: Option<(PathBuf, bool)>,
    /// The files of events.
    pub(crate) profiles: Vec<(Kind, PathBuf)>,
    pub(crate) values: Values,
    /// The part of the CPU time that tracing may take; `None` for all of it.
    pub(crate) budget: Option<f64>,
    pub(crate) otlp: Option<String>,
}

impl Options {
    pub(crate) fn read(settings: &Settings) -> Result<Self> {
        let named = methods(settings, "METHOD_TRACER_METHODS")?;
        let is_all = named.is_none();
        let patterns = match named {
            Some(patterns) => {
                failures::patterns_spare_framework();
                patterns
            }
            None => Arc::new(MethodPatterns::parse("**").map_err(Error::other)?),
        };
        let limit = match settings.text("METHOD_TRACER_MAX_SIZE")? {
            Some(text) => match text.parse() {
                Ok(megabytes @ 1..=1_000_000) => megabytes,
                _ => {
                    return Err(Error::other(format!(
                        "the size `{text}` is not a number of megabytes from 1 to 1000000"
                    )));
                }
            },
            None => LIMIT,
        };
        let budget = match settings.text("METHOD_TRACER_BUDGET")? {
            Some(text) => match text.parse() {
                Ok(percent @ 1..=100) => percent,
                _ => {
                    return Err(Error::other(format!(
                        "the budget `{text}` is not a percentage from 1 to 100"
                    )));
                }
            },
            None => BUDGET,
        };
        let summary = settings.get("METHOD_TRACER_SUMMARY");
        let [cpu, wall] = ["METHOD_TRACER_CPU_PROFILE", "METHOD_TRACER_WALL_PROFILE"]
            .map(|name| settings.get(name).map(PathBuf::from));
        if cpu.is_some() && wall.is_some() {
            return Err(Error::other(
                "a process has one sampler: either METHOD_TRACER_CPU_PROFILE is set, or METHOD_TRACER_WALL_PROFILE, whose samples have \
                 processor time, too",
            ));
        }
        Ok(Self {
            patterns,
            is_all,
            output: settings.path("METHOD_TRACER_OUTPUT", "trace.json"),
            limit: limit << 20,
            profiles: Kind::ALL
                .into_iter()
                .filter_map(|kind| Some((kind, settings.get(kind.setting())?.into())))
                .collect(),
            samples: cpu
                .map(|file| (file, false))
                .or(wall.map(|file| (file, true))),
            summary: summary.map(|path| Output::whole(path.into())).transpose()?,
            budget: (budget < 100).then(|| f64::from(budget) / 100.0),
            values: Values {
                arguments: settings.is_set("METHOD_TRACER_ARGUMENTS"),
                iterators: settings.is_set("METHOD_TRACER_ITERATORS"),
                results: settings.is_set("METHOD_TRACER_RESULTS"),
                redacted: Redaction::parse(
                    &settings.text("METHOD_TRACER_REDACT")?.unwrap_or_default(),
                ),
            },
            otlp: settings.text("METHOD_TRACER_OTLP")?,
        })
    }
}
