//! Shows the objects on the heap of a .NET program, and why they are alive.

mod chrome;
mod ending;
mod options;
mod progress;
mod table;

use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::report::{Moment, Report, Session, Settings, Tool, When, failures};
use clr_profiler::heap::HeapRecorder;
use clr_profiler::prelude::*;

use ending::Ending;
use options::{Form, Options};
use progress::Progress;

/// How long the program's end, or a signal that ends it, is delayed at most.
const PATIENCE: Duration = Duration::from_secs(60);

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct HeapSnapshot {
    report: Arc<Report>,
    session: Session,
    ending: Ending,
}

#[profiler(clsid = "4B0B7D1B-6F0E-4E0C-9E5B-6E9C6A9A1D42")]
impl Profiler for HeapSnapshot {
    crate::start_as_tool!();

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _status: Hresult,
    ) -> Result<()> {
        self.ending.module_loaded(info, module);
        Ok(())
    }

    // The function that ends the program is precompiled, or it is compiled.
    fn jit_cached_function_search_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
    ) -> Result<bool> {
        self.called(info, function);
        Ok(true)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        self.called(info, function);
        Ok(())
    }
}

impl HeapSnapshot {
    fn called(&self, info: &ProfilerInfo, function: FunctionId) {
        if self.ending.is(info, function) {
            self.report.finish();
            self.session.end();
        }
    }
}

fn is_early(error: &Error) -> bool {
    error.is(Hresult::CORPROF_E_RUNTIME_UNINITIALIZED)
        || error.is(Hresult::CORPROF_E_NOT_YET_AVAILABLE)
}

/// Records the heap, and writes it.
fn snapshot(
    info: &ProfilerInfo,
    heap: &HeapRecorder,
    options: &Options,
    progress: &Progress,
) -> Result<()> {
    let begun = Instant::now();
    let graph = heap.record(info)?;
    let took = begun.elapsed();
    progress.analyse();
    let written = options.output.replace(|file| match options.form {
        Form::Chrome => chrome::write(&graph, progress, file),
        Form::Table => table::write(graph, options, took, &info.overhead(), file),
    });
    written.map_err(|error| Error::other(error.to_string()))
}

impl Tool for HeapSnapshot {
    fn build(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self> {
        failures::watch("heap_snapshot", setup);
        let options = Options::read(settings)?;
        let mut recorder = HeapRecorder::new();
        if !options.needs_places() {
            recorder = recorder.without_places();
        }
        let heap = setup.attach(match options.strings {
            Some(length) => recorder.with_texts(length),
            None => recorder,
        })?;
        let when = When {
            interval: options.every.or(options.after),
            is_asked: options.on_signal,
            patience: PATIENCE,
        };
        let write = {
            let (info, settings) = (info.clone(), settings.clone());
            let mut is_taken = false;
            move |moment| {
                let is_due = match moment {
                    Moment::Asked => true,
                    Moment::Meanwhile | Moment::End | Moment::Signal => {
                        options.every.is_some() || !is_taken
                    }
                    // A thread of the program is in code in which it cannot be suspended.
                    Moment::Abort => false,
                };
                if !is_due {
                    return Ok(());
                }
                let progress = Progress::default();
                let work = || snapshot(&info, &heap, &options, &progress);
                match progress.tell(&settings, &heap, work) {
                    // The runtime is still starting.
                    Err(error) if is_early(&error) => Ok(()),
                    outcome => {
                        // After a signal the program may continue.
                        is_taken |= moment != Moment::Signal;
                        outcome.map_err(io::Error::other)
                    }
                }
            }
        };
        let report = Arc::new(Report::start(when, write)?);
        let session = Session::start(settings, info, setup, {
            let report = Arc::clone(&report);
            move || report.finish()
        })?;
        Ok(Self {
            report,
            session,
            ending: Ending::default(),
        })
    }
}
