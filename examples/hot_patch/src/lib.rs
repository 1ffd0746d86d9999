//! Counts the calls of named methods, switched on and off while the program runs.

mod control;
mod counts;
mod table;

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use clr_profiler::rejit::{Rejit, RejitOptions};
use report::{Moment, Output, Report, When, failures, lock};

use control::{Command, Control};
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
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        let control =
            env::var_os("HOT_PATCH_CONTROL").unwrap_or_else(|| "hot_patch.control".into());
        let output = env::var_os("HOT_PATCH_OUTPUT").unwrap_or_else(|| "hot_patch.txt".into());
        Self::start(info, setup, control, output)
    }

    // The environment is the program's, not that of the attaching process: two lines instead.
    fn initialize_for_attach(
        info: &ProfilerInfo,
        setup: &mut Setup,
        client_data: &[u8],
    ) -> Result<Self> {
        let text = str::from_utf8(client_data).map_err(Error::other)?;
        let Some((control, output)) = text.split_once('\n') else {
            return Err(Error::other(
                "the client data are two lines: the control file and the file of the results",
            ));
        };
        Self::start(info, setup, control.into(), output.into())
    }

    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        lock(&self.table).counted.forget(module);
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        Ok(())
    }
}

impl HotPatch {
    fn start(
        info: &ProfilerInfo,
        setup: &mut Setup,
        control: OsString,
        output: OsString,
    ) -> Result<Self> {
        failures::watch("hot_patch", setup);
        let output = Output::whole(PathBuf::from(output))?;
        let mut control = Control::new(&PathBuf::from(control))?;
        let table = Arc::new(Mutex::new(Table::new()));
        let rejit = setup.attach(Rejit::new(RejitOptions::default(), {
            let (table, count) = (Arc::clone(&table), counts::call(info));
            move |info, module, method, control| {
                control.rewrite(info, module, method, |body, cx| {
                    let number = lock(&table)
                        .counted
                        .number((module, method), cx.full_name())?;
                    let mut code = Fragment::new();
                    code.ldc_i4(number as i32).append(&cx.call_native(&count)?);
                    body.prologue(&code)?;
                    Ok(())
                })?;
                Ok(())
            }
        }))?;
        lock(&table).follow(&rejit, control.lines());
        // Commands from before the program begins are effective from its first calls on.
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
        });
        Ok(Self {
            table,
            report: report?,
        })
    }
}

impl Command {
    fn obey(self, rejit: &Rejit) {
        match self {
            Self::On(name) => rejit.request_pattern(&name),
            Self::Off(name) => rejit.revert_pattern(&name),
            Self::AllOff => rejit.revert_all(),
        }
    }
}

register!(HotPatch);
