//! Logs each exception of a .NET program: type, message, stack, and catch block.

mod in_flight;
mod log;
mod stacks;

use std::sync::Arc;

use crate::profilers::form;
use crate::profilers::names::{Names, Place, own_stack};
use crate::report::{Output, Pace, Report, Session, Settings, Tool, When, failures};
use crate::stacks::{Form, Frame};
use clr_profiler::exceptions::{ExceptionEvent, ExceptionEvents};
use clr_profiler::info::ObjectValue;
use clr_profiler::prelude::*;

use in_flight::Exception;
use log::Log;
use stacks::ThrownStacks;

/// How many frames of a stack are recorded for viewers of stacks.
const DEPTH: usize = 256;

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct ExceptionLogger {
    logging: Arc<Logging>,
    report: Arc<Report>,
    session: Session,
}

/// Logs exceptions, from callbacks or events.
struct Logging {
    filter: Option<String>,
    depth: usize,
    lines: bool,
    names: Names,
    log: Arc<Log>,
    /// Instead of the log, if viewers of stacks are to read the results.
    stacks: Option<Arc<ThrownStacks>>,
}

#[profiler(clsid = "282F8859-F66D-4168-A257-F3B6BF218ABF")]
impl Profiler for ExceptionLogger {
    crate::start_as_tool!();

    fn exception_thrown(&self, info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<()> {
        let class = info.class_from_object(thrown)?;
        let name = self.logging.names.class(info, class);
        let message = || message(info, thrown).unwrap_or_default();
        self.logging.thrown(info, Some(class.raw()), &name, message)
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
        self.logging.filter_leave();
        Ok(())
    }

    // Not when the search has found a catch block: an exception that a `finally` on the way throws
    // replaces this one, which the block then never gets.
    fn exception_catcher_enter(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        thrown: ObjectId<'_>,
    ) -> Result<()> {
        let class = info.class_from_object(thrown)?;
        let exception = in_flight::caught(class.raw());
        self.logging.caught(info, exception, function);
        Ok(())
    }

    fn module_unload_started(&self, _info: &ProfilerInfo, _module: ModuleId) -> Result<()> {
        self.logging.names.forget();
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        self.session.end();
        Ok(())
    }
}

impl Logging {
    fn event(&self, info: &ProfilerInfo, event: ExceptionEvent) -> Result<()> {
        match event {
            ExceptionEvent::Thrown(thrown) => {
                self.thrown(info, None, &thrown.type_name.into(), || thrown.message)
            }
            ExceptionEvent::FilterBegins(_) => {
                in_flight::filter_enter();
                Ok(())
            }
            ExceptionEvent::FilterEnds => {
                self.filter_leave();
                Ok(())
            }
            ExceptionEvent::CatchBegins(function) => {
                self.caught(info, in_flight::catch_begins(), function);
                Ok(())
            }
            ExceptionEvent::CatchEnds => {
                in_flight::catch_ends();
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn thrown(
        &self,
        info: &ProfilerInfo,
        class: Option<usize>,
        name: &Arc<str>,
        message: impl FnOnce() -> String,
    ) -> Result<()> {
        let filter = self.filter.as_ref();
        if filter.is_some_and(|part| !name.contains(part)) {
            in_flight::thrown(None, class);
            return Ok(());
        }
        if let Some(stacks) = &self.stacks {
            in_flight::thrown(None, class);
            let places = own_stack(info, self.depth)?;
            let frames: Vec<Frame> = (places.into_iter())
                .map(|place| self.names.frame(info, place, self.lines))
                .collect();
            stacks.add(name, &frames);
            return Ok(());
        }
        let number = self.log.next();
        in_flight::thrown(Some((number, Arc::clone(name))), class);
        let mut entry = format!("{name}{}", on_one_line(&message()));
        for place in own_stack(info, self.depth)? {
            entry += "\n    at ";
            entry += &self.frame(info, place);
        }
        let thread = info.thread_info(info.current_thread_id()?)?;
        self.log.thrown(number, thread, name, &entry);
        Ok(())
    }

    /// The runtime catches exceptions that a filter throws and does not catch.
    fn filter_leave(&self) {
        for (number, name) in in_flight::filter_leave() {
            self.log.caught(number, &name, "a filter");
        }
    }

    fn caught(&self, info: &ProfilerInfo, exception: Exception, function: FunctionId) {
        if let Some((number, name)) = exception {
            let place = if self.lines {
                self.names.source(info, function)
            } else {
                self.names.function(info, function)
            };
            self.log.caught(number, &name, &place);
        }
    }

    fn frame(&self, info: &ProfilerInfo, (function, ip): Place) -> String {
        if !self.lines {
            return self.names.function(info, function).to_string();
        }
        let name = self.names.source(info, function);
        match info.source_location_from_ip(ip) {
            Ok(Some(location)) => format!("{name} in {location}"),
            Ok(None) => name.to_string(),
            // The runtime refuses the call in the events by which .NET 9 reports exceptions.
            Err(error) if error.is(Hresult::CORPROF_E_UNSUPPORTED_CALL_SEQUENCE) => {
                name.to_string()
            }
            Err(error) => format!("{name} in ? ({error})"),
        }
    }
}

/// The message of an exception, if it has one.
fn message(info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<String> {
    match info.object(thrown)?.field("_message")? {
        Some(ObjectValue::Reference(Some(message))) => info.object(message)?.string(),
        _ => Ok(String::new()),
    }
}

/// `: the message`, on one line, if there is one.
fn on_one_line(message: &str) -> String {
    let mut line = String::new();
    if !message.is_empty() {
        line += ": ";
    }
    for character in message.chars() {
        match character.is_control() {
            true => line.extend(character.escape_default()),
            false => line.push(character),
        }
    }
    line
}

impl Tool for ExceptionLogger {
    fn build(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self> {
        failures::watch("exception_logger", setup);
        setup.add_events(EventMask::ENABLE_STACK_SNAPSHOT);
        let path = settings.path("EXCEPTION_LOGGER_OUTPUT", "exceptions.txt");
        let form = form(settings, "EXCEPTION_LOGGER_FORMAT", &path)?;
        let (log, stacks) = match form {
            Form::Table => (Log::new(Output::lines(path)?), None),
            form => {
                let stacks = ThrownStacks::new(Output::whole(path)?, form);
                (Log::new(Output::stderr()), Some(Arc::new(stacks)))
            }
        };
        let log = Arc::new(log);
        let when = match stacks {
            Some(_) => When::every(Pace::LOOK),
            None => When::default(),
        };
        let report = Arc::new(Report::start(when, {
            let (log, info, stacks) = (Arc::clone(&log), info.clone(), stacks.clone());
            let mut pace = Pace::start();
            move |moment| {
                let Some(stacks) = &stacks else {
                    log.summary(&info.overhead());
                    return Ok(());
                };
                stacks.write(&mut pace, moment)
            }
        })?);
        let session = Session::start(settings, info, setup, {
            let report = Arc::clone(&report);
            move || report.finish()
        })?;
        let logging = Arc::new(Logging {
            filter: settings.text("EXCEPTION_LOGGER_FILTER")?,
            depth: match settings.text("EXCEPTION_LOGGER_DEPTH")? {
                Some(depth) => depth.parse().map_err(|_| {
                    Error::other(format!("the depth `{depth}` is not a number of frames"))
                })?,
                None if stacks.is_some() => DEPTH,
                None => 20,
            },
            lines: settings.is_set("EXCEPTION_LOGGER_LINES"),
            names: Names::default(),
            log,
            stacks,
        });
        // For runtimes on which the callbacks of exceptions are dangerous.
        setup.attach(ExceptionEvents::instead_of_callbacks({
            let logging = Arc::clone(&logging);
            move |info, event| logging.event(info, event)
        }))?;
        Ok(Self {
            logging,
            report,
            session,
        })
    }
}
