//! One process: the program under the profiler, on a runtime, with a plan.

use std::collections::BTreeSet;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use clr_profiler_launcher::{Attach, ProfilerLibrary, find_library_next_to};
use clr_profiler_tests::{Runtime, profilee};
use probe::moments::{WITH_PARTS, walks_heap};
use probe::plan::{self, Ids};

/// The time after which a process counts as hanging. It takes less than a second on an idle machine.
fn limit() -> Duration {
    let seconds = env::var("PROBE_LIMIT")
        .ok()
        .and_then(|limit| limit.parse().ok());
    Duration::from_secs(seconds.unwrap_or(60))
}

/// The job of a process.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) runtime: &'a Runtime,
    pub(crate) moment: &'a str,
    pub(crate) ids: Ids,
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Exit(Option<i32>, String),
    Signal(i32),
    Hang,
}

/// The results of a process.
pub(crate) struct Left {
    pub(crate) end: End,
    pub(crate) journal: String,
}

/// A folder for the files of this driver.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!(
            "clr_profiler-probe-{}-{number}",
            std::process::id()
        ));
        fs::create_dir_all(&folder).expect("a temporary folder");
        Self(folder)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn library() -> ProfilerLibrary {
    let driver = env::current_exe().expect("the driver has a path");
    let path = find_library_next_to(driver, "probe").expect("the profiler was built");
    ProfilerLibrary::new(path, plan::CLSID).expect("a library")
}

/// The program without a profiler.
pub(crate) fn plain(runtime: &Runtime) -> End {
    let command = runtime
        .launch(&program(), &[])
        .command()
        .expect("a runtime");
    wait(start(command), |_| ())
}

/// The program under the profiler, which makes these calls.
pub(crate) fn run(job: Job<'_>, calls: &BTreeSet<String>) -> Left {
    let scratch = Scratch::new();
    let (list, journal, gate) = (
        scratch.file("calls"),
        scratch.file("journal"),
        scratch.file("gate"),
    );
    let lines: Vec<&str> = calls.iter().map(String::as_str).collect();
    fs::write(&list, lines.join("\n")).expect("a temporary file");
    let mut launch = job.runtime.launch(&program(), &[]);
    launch
        .env(plan::MOMENT, job.moment)
        .env(plan::IDS, job.ids.name())
        .env(plan::CALLS, &list)
        .env(plan::JOURNAL, &journal)
        .env(plan::GATE, &gate)
        .env("CLR_PROFILER_DIAGNOSTICS", scratch.file("diagnostics"));
    if walks_heap(job.moment) {
        launch.env(plan::LISTS, "0");
    }
    let attaches = job.moment == "initialize_for_attach";
    let mut command = launch.command().expect("a runtime");
    if !attaches {
        // `launch.profiler` would check the library again for each process, which takes longer than the process.
        let clsid = match job.moment.starts_with(WITH_PARTS) {
            true => plan::CLSID_WITH_PARTS,
            false => plan::CLSID,
        };
        command
            .env("CORECLR_ENABLE_PROFILING", "1")
            .env("CORECLR_PROFILER", format!("{{{clsid}}}"))
            .env("CORECLR_PROFILER_PATH", library().path());
    }
    let child = start(command);
    let process = child.id();
    let end = wait(child, |text| {
        // The program waits at its gate.
        if attaches && text().matches("unloaded").count() >= 3 && !gate.exists() {
            let _ = Attach::new(process).profiler(library()).send();
            let _ = fs::write(&gate, "");
        }
    });
    let journal = fs::read_to_string(journal).unwrap_or_default();
    let diagnostics = fs::read_to_string(scratch.file("diagnostics")).unwrap_or_default();
    assert!(
        journal.starts_with(plan::LOADED),
        "the profiler was not loaded: {diagnostics}"
    );
    // Calls of `Setup` ask for events that an attached profiler cannot have: the library refuses the attach.
    let has_asked = attaches && calls.iter().any(|call| call.starts_with("Setup::"));
    let is_refused = has_asked && diagnostics.contains("SetEventMask2 was not called");
    assert!(
        is_refused || !diagnostics.contains("does not run"),
        "{}: {diagnostics}",
        job.moment
    );
    Left { end, journal }
}

fn program() -> PathBuf {
    profilee("Probe")
}

fn start(mut command: Command) -> Child {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start {command:?}: {error}"))
}

/// Waits for the end; `look` gets the output so far from time to time.
fn wait(mut child: Child, mut look: impl FnMut(&dyn Fn() -> String)) -> End {
    let output = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let reader = child.stdout.take().map(|mut pipe| {
        let output = output.clone();
        thread::spawn(move || {
            let mut buffer = [0; 4096];
            while let Ok(count @ 1..) = pipe.read(&mut buffer) {
                output
                    .lock()
                    .expect("nobody panics")
                    .extend_from_slice(&buffer[..count]);
            }
        })
    });
    let text = || String::from_utf8_lossy(&output.lock().expect("nobody panics")).into_owned();
    let deadline = Instant::now() + limit();
    let status: Option<ExitStatus> = loop {
        if let Ok(Some(status)) = child.try_wait() {
            break Some(status);
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            let _ = child.wait();
            break None;
        }
        look(&text);
        thread::sleep(Duration::from_millis(4));
    };
    if let Some(reader) = reader {
        let _ = reader.join();
    }
    match status {
        None => End::Hang,
        Some(status) => match status.signal() {
            Some(signal) => End::Signal(signal),
            None => End::Exit(status.code(), text()),
        },
    }
}
