//! Counts the calls of named methods, switched on and off while the program runs.

mod command;
mod counts;
mod table;

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use clr_profiler::rejit::{Rejit, RejitOptions};
use clr_profiler_tools::report::{
    Moment, Output, Report, Requests, Settings, Tool, When, failures, lock,
};

use table::Table;

/// How often the control file is read.
const LOOK: Duration = Duration::from_millis(50);

/// How often the results are written while the program runs.
const WRITE: Duration = Duration::from_secs(1);

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct HotPatch {
    table: Arc<Mutex<Table>>,
    report: Report,
}

#[profiler(clsid = "7A4E2B9C-61D0-4F0B-9C83-2E5B7C1D9A46")]
impl Profiler for HotPatch {
    clr_profiler_tools::start_as_tool!();

    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        lock(&self.table).counted.forget(module);
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        Ok(())
    }
}

impl Tool for HotPatch {
    fn build(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self> {
        failures::watch("hot_patch", setup);
        let output = Output::whole(settings.path("HOT_PATCH_OUTPUT", "hot_patch.txt"))?;
        let control = settings.path("HOT_PATCH_CONTROL", "hot_patch.control");
        let mut control = Requests::new(&control)?;
        let table = Arc::new(Mutex::new(Table::new()));
        let rejit = setup.attach(Rejit::new(RejitOptions::default(), {
            let (table, count) = (Arc::clone(&table), counts::call(info));
            move |info, module, method, control| {
                control.rewrite(info, module, method, |body, cx| {
                    let place = (module, method);
                    let number = lock(&table).counted.number(place, cx.full_name())?;
                    let mut code = Fragment::new();
                    code.ldc_i4(number as i32).append(&cx.call_native(&count)?);
                    body.prologue(&code)?;
                    Ok(())
                })?;
                Ok(())
            }
        }))?;
        // Commands from before the program begins are effective from its first calls on.
        lock(&table).follow(&rejit, control.lines());
        let report = Report::start(When::every(LOOK), {
            let (table, info) = (Arc::clone(&table), info.clone());
            let mut written: Option<Instant> = None;
            move |moment| {
                let mut table = lock(&table);
                let is_new = table.follow(&rejit, control.lines());
                let is_due = is_new || written.is_none_or(|at| at.elapsed() >= WRITE);
                if moment == Moment::Meanwhile && !(is_due && output.is_replaceable()) {
                    return Ok(());
                }
                written = Some(Instant::now());
                let text = table.text(&rejit, &info.overhead());
                drop(table);
                output.replace(|file| file.write_all(text.as_bytes()))
            }
        })?;
        Ok(Self { table, report })
    }
}

register!(HotPatch);
