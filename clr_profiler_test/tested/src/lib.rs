//! Profilers on which `clr_profiler_test` is tested.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Mutex;

use clr_profiler::prelude::*;

/// Writes the runtime's version, and a line for each compiled method, to the file that `TESTED_LOG` names.
#[derive(Debug)]
pub struct Logs {
    file: Mutex<File>,
}

#[profiler(clsid = "F3B1A9C2-0D54-4C7B-9E61-5A0C2D8B7E10")]
impl Profiler for Logs {
    fn initialize(info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        let path = std::env::var_os("TESTED_LOG").unwrap_or_default();
        let mut file = File::create(path).map_err(Error::other)?;
        let runtime = info.runtime_information()?;
        let _ = writeln!(file, "runtime {}", runtime.major);
        Ok(Self {
            file: Mutex::new(file),
        })
    }

    fn initialize_for_attach(
        info: &ProfilerInfo,
        setup: &mut Setup,
        client_data: &[u8],
    ) -> Result<Self> {
        let this = Self::initialize(info, setup)?;
        if let Ok(mut file) = this.file.lock() {
            let data = String::from_utf8_lossy(client_data);
            let _ = writeln!(file, "attached with {data}");
        }
        Ok(this)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let name = info.method(function)?.full_name()?;
        if let Ok(mut file) = self.file.lock() {
            let _ = writeln!(file, "{name}");
        }
        Ok(())
    }
}

/// Changes the output of the program, on stdout and on stderr as `TESTED_NOISE` says.
#[derive(Debug)]
pub struct Noisy;

#[profiler(clsid = "1D2C7E4A-93F5-4B60-8A17-C6E0B4F8D921")]
impl Profiler for Noisy {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        let noise = b"[noisy] it runs\n";
        match std::env::var("TESTED_NOISE").as_deref() {
            Ok("stdout") => drop(io::stdout().write_all(noise)),
            _ => drop(io::stderr().write_all(noise)),
        }
        let _ = io::stdout().flush();
        Ok(Self)
    }
}

/// Refuses to start.
#[derive(Debug)]
pub struct Refuses;

#[profiler(clsid = "7A60E5D3-2B9F-4E18-B0C4-91D7F3A56C28")]
impl Profiler for Refuses {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Err(Error::other("by design"))
    }
}

register!(Logs, Noisy, Refuses);
