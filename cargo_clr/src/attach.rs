//! `attach`: a profiler of the user in a running program.

use std::io::{self, Write};
use std::process::ExitCode;

use clr_profiler_launcher::Attach;
use serde_json::json;

use crate::cli::AttachTo;
use crate::outcome::Result;
use crate::{package, print};

pub(crate) fn attach(options: &AttachTo) -> Result<ExitCode> {
    let library = package::library(&options.profiler)?;
    let path = library.path().display().to_string();
    Attach::new(options.process)
        .profiler(library)
        .client_data(&options.data)
        .timeout(options.timeout)
        .send()?;
    if options.json.json {
        let outcome = json!({ "verb": "attach", "process": options.process, "library": path });
        return print(format!("{outcome}\n"));
    }
    // If stderr is closed, the exit code says it.
    let _ = writeln!(
        io::stderr(),
        "attach: `{path}` is loaded in the process {}",
        options.process
    );
    Ok(ExitCode::SUCCESS)
}
