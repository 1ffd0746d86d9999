//! Logs each exception of a .NET program: type, message, stack, and where it is caught.

mod in_flight;
mod log;
mod names;

use std::env;
use std::ops::ControlFlow;
use std::sync::Arc;

use clr_profiler::SnapshotOptions;
use clr_profiler::prelude::*;
use report::{Output, Report};

use log::Log;
use names::Names;

/// The profiler.
struct ExceptionLogger {
    filter: Option<String>,
    depth: usize,
    names: Names,
    log: Arc<Log>,
    report: Report,
}

#[profiler(clsid = "282F8859-F66D-4168-A257-F3B6BF218ABF")]
impl Profiler for ExceptionLogger {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.add_events(EventMask::ENABLE_STACK_SNAPSHOT);
        let output = Output::from_environment("EXCEPTION_LOGGER_OUTPUT", "exceptions.txt");
        let log = Arc::new(Log::new(output.map_err(other)?));
        let report = Report::start(None, {
            let log = Arc::clone(&log);
            move |_| log.summary()
        });
        Ok(Self {
            filter: text("EXCEPTION_LOGGER_FILTER")?,
            depth: match text("EXCEPTION_LOGGER_DEPTH")? {
                Some(depth) => depth.parse().map_err(|_| {
                    Error::other(format!("the depth `{depth}` is not a number of frames"))
                })?,
                None => 20,
            },
            names: Names::default(),
            log,
            report: report.map_err(other)?,
        })
    }

    fn exception_thrown(&self, info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<()> {
        let class = info.class_from_object(thrown)?;
        let name = self.names.class(info, class);
        if self
            .filter
            .as_ref()
            .is_some_and(|part| !name.contains(part))
        {
            in_flight::thrown(None);
            return Ok(());
        }
        let number = self.log.next();
        in_flight::thrown(Some((number, name.clone())));
        let mut entry = format!("{name}{}", message(info, thrown).unwrap_or_default());
        for frame in self.stack(info)? {
            entry += "\n    at ";
            entry += &frame;
        }
        let thread = info.thread_info(info.current_thread_id()?)?;
        self.log
            .thrown(number, thread, &name, &entry)
            .map_err(other)
    }

    fn exception_search_filter_enter(
        &self,
        _info: &ProfilerInfo,
        _function: FunctionId,
    ) -> Result<()> {
        in_flight::filter_enter();
        Ok(())
    }

    fn exception_search_filter_leave(&self, _info: &ProfilerInfo) -> Result<()> {
        // What a filter throws and does not catch, the runtime does.
        for (number, name) in in_flight::filter_leave() {
            self.log.caught(number, &name, "a filter").map_err(other)?;
        }
        Ok(())
    }

    fn exception_search_catcher_found(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
    ) -> Result<()> {
        let Some((number, name)) = in_flight::caught() else {
            return Ok(());
        };
        let place = self.names.function(info, function);
        self.log.caught(number, &name, &place).map_err(other)
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        Ok(())
    }
}

impl ExceptionLogger {
    /// The frames of this thread, innermost first.
    fn stack(&self, info: &ProfilerInfo) -> Result<Vec<Arc<str>>> {
        let mut functions = Vec::new();
        info.do_stack_snapshot(None, SnapshotOptions::default(), |frame| {
            functions.extend(frame.function);
            match functions.len() < self.depth {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })?;
        let frames = functions.into_iter().take(self.depth);
        Ok(frames
            .map(|function| self.names.function(info, function))
            .collect())
    }
}

register!(ExceptionLogger);

/// `: the message`, on one line, if the exception has one.
fn message(info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<String> {
    match info.object(thrown)?.field("_message")? {
        Some(Value::Reference(Some(message))) => {
            let text = info.object(message)?.string()?;
            let mut line = String::from(": ");
            for character in text.chars() {
                match character.is_control() {
                    true => line.extend(character.escape_default()),
                    false => line.push(character),
                }
            }
            Ok(line)
        }
        _ => Ok(String::new()),
    }
}

fn text(variable: &str) -> Result<Option<String>> {
    let text = env::var_os(variable).map(|text| {
        text.into_string()
            .map_err(|_| Error::other(format!("{variable} is not UTF-8")))
    });
    text.transpose()
}

fn other(error: std::io::Error) -> Error {
    Error::other(error.to_string())
}
