//! A program under a fault, alone or under an example.

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use std::{fs, io};

use clr_profiler_tests::{Example, Finished, Folder, Running, Runtime, Scenario, profilee, seed};

use super::disk::Disk as Mounted;
use super::faults::{Disk, Fault, Kind};

/// The results that have to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kept {
    /// All.
    All,
    /// Those of the last period: the program ended so that nothing could run.
    UpToPeriod,
    /// Those that were written before, and a line that names the loss.
    Said,
}

/// The size of a disk: results of a short program.
const KILOBYTES: u32 = 512;

/// A run.
pub(super) struct Attempt<'a> {
    fault: &'a Fault,
    runtime: &'a Runtime,
    command: Command,
    /// The folder of the results, on the disk if the fault has one.
    place: PathBuf,
    /// The results.
    file: PathBuf,
    /// A text that the results have once the work is in them.
    awaited: Option<&'static str>,
    /// Unmounted after the results have been read.
    disk: Option<Mounted>,
}

/// Tells a thread that it is over, also after a panic.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

impl<'a> Attempt<'a> {
    /// The program alone.
    pub(super) fn plain(fault: &'a Fault, runtime: &'a Runtime, folder: &Folder) -> Self {
        let command = Example("jit_logger").plain(runtime, &program(fault), fault.words);
        Self::of(fault, runtime, command, folder)
    }

    /// The program under an example.
    pub(super) fn watched(
        fault: &'a Fault,
        example: Example,
        clsid: &str,
        runtime: &'a Runtime,
        folder: &Folder,
    ) -> Self {
        let file = match fault.kind {
            Kind::Unwritable => PathBuf::from("/proc/results"),
            _ => place(folder).join("results"),
        };
        // The library alone: the example's executable would report results that cannot be written before the start.
        let variable = format!("{}_OUTPUT", example.0.to_uppercase());
        let mut command = Scenario::at(program(fault))
            .args(fault.words)
            .library(example.0)
            .profiler(clsid)
            .env(&variable, file.to_str().unwrap())
            .env(
                "HOT_PATCH_CONTROL",
                folder.path("control").to_str().unwrap(),
            )
            .env("CLR_PROFILER_DIAGNOSTICS", "stderr")
            .command_on(runtime);
        if let Some((name, value)) = fault.setting(example, runtime) {
            command.env(name, value);
        }
        let awaited = match example.0 {
            "heap_snapshot" => None,
            _ => marker(example, fault),
        };
        Self {
            awaited,
            ..Self::of(fault, runtime, command, folder)
        }
    }

    fn of(fault: &'a Fault, runtime: &'a Runtime, mut command: Command, folder: &Folder) -> Self {
        let place = place(folder);
        fs::create_dir(&place).unwrap();
        // Files of a command that is started in the folder do not litter the tests.
        command.current_dir(folder.path(""));
        let file = match fault.kind {
            Kind::SlowPipe => folder.path("read"),
            _ => place.join("results"),
        };
        Self {
            fault,
            runtime,
            command,
            place,
            file,
            awaited: None,
            disk: None,
        }
    }

    /// The end of a program that was not run.
    pub(super) fn nothing(runtime: &Runtime) -> Finished {
        Finished::of(Example("jit_logger").plain(runtime, &profilee("Watched"), &["mixed"]))
    }

    fn take(&mut self) -> Command {
        std::mem::replace(&mut self.command, Command::new("true"))
    }

    /// The program's end, and the results; `None` if the machine does not permit the fault.
    pub(super) fn run(mut self) -> Option<(Finished, Option<String>)> {
        let finished = match self.fault.kind {
            Kind::Program => self.ends_itself(),
            Kind::Forks | Kind::Unwritable => Finished::of(self.take()),
            Kind::Descriptors => {
                let least = least_descriptors(self.runtime, self.fault);
                limit(&mut self.command, libc::RLIMIT_NOFILE, least + 2);
                Finished::of(self.take())
            }
            Kind::FileSize(size) => {
                limit_file_size(&mut self.command, size);
                Finished::of(self.take())
            }
            Kind::Disk(disk) => self.on_disk(disk)?,
            Kind::SlowPipe => self.slow_pipe(),
            Kind::FolderGoes => {
                let mut running = start(self.take());
                until_waiting(&mut running);
                // The example may write while it is removed.
                while let Err(error) = fs::remove_dir_all(&self.place) {
                    assert_eq!(error.kind(), io::ErrorKind::DirectoryNotEmpty);
                }
                // Longer than the period.
                thread::sleep(Duration::from_millis(1200));
                running.finish()
            }
            Kind::Signal(signal) => {
                // `nohup` and some shells start the tests so that they and their children ignore it.
                // SAFETY: `signal` may be called between fork and exec.
                unsafe {
                    self.command.pre_exec(|| {
                        libc::signal(libc::SIGHUP, libc::SIG_DFL);
                        Ok(())
                    });
                }
                let mut running = start(self.take());
                until_waiting(&mut running);
                if signal == "-KILL" {
                    await_text(&self.file, self.awaited);
                }
                send(&running, signal);
                running.wait()
            }
            Kind::Nohup => {
                // SAFETY: `signal` may be called between fork and exec.
                unsafe {
                    self.command.pre_exec(|| {
                        libc::signal(libc::SIGHUP, libc::SIG_IGN);
                        Ok(())
                    });
                }
                let mut running = start(self.take());
                until_waiting(&mut running);
                send(&running, "-HUP");
                running.finish()
            }
            Kind::Setting(name, value) => {
                let prefix = if self.runtime.major < 5 {
                    "COMPlus"
                } else {
                    "DOTNET"
                };
                self.command.env(format!("{prefix}_{name}"), value);
                Finished::of(self.take())
            }
            Kind::OldMachine => Finished::of(within_time(&self.command)?),
            Kind::JumpingClock => {
                let library = Scenario::new("Watched").library("jumping_clock");
                self.command.env("LD_PRELOAD", library.library_path());
                let mut running = start(self.take());
                until_waiting(&mut running);
                await_text(&self.file, self.awaited);
                running.finish()
            }
        };
        // Bytes: a text that is not UTF-8 is not complete either.
        let results = fs::read(&self.file).ok();
        let results = results.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        Some((finished, results))
    }

    fn ends_itself(&mut self) -> Finished {
        let waits = self.fault.words.contains(&"overflow");
        let mut running = start(self.take());
        if waits {
            until_waiting(&mut running);
            await_text(&self.file, self.awaited);
        }
        running.finish()
    }

    fn on_disk(&mut self, disk: Disk) -> Option<Finished> {
        let command = self.take();
        let mounted = match Mounted::mount(&self.place, KILOBYTES) {
            Ok(mounted) => &*self.disk.insert(mounted),
            Err(error) => {
                println!("no disk can be mounted: {error}");
                return None;
            }
        };
        if disk == Disk::Full {
            let mut running = start(command);
            let full = mounted.fill();
            until_waiting(&mut running);
            let finished = running.finish();
            drop(full);
            return Some(finished);
        }
        let is_over = AtomicBool::new(false);
        let mut running = start(command);
        thread::scope(|scope| {
            let over = Over(&is_over);
            scope.spawn(|| {
                let mut random = seed() as u64 | 1;
                let mut pause = |most: u64| {
                    random = random
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    thread::sleep(Duration::from_millis((random >> 33) % most));
                };
                match disk {
                    Disk::ReadOnly => {
                        pause(1000);
                        // A file that is open for a moment delays it.
                        while !is_over.load(Ordering::Relaxed) && mounted.make_read_only().is_err()
                        {
                            thread::sleep(Duration::from_millis(1));
                        }
                    }
                    _ => {
                        while !is_over.load(Ordering::Relaxed) {
                            let full = mounted.fill();
                            pause(60);
                            drop(full);
                            pause(60);
                        }
                    }
                }
            });
            until_waiting(&mut running);
            // Longer than the period.
            thread::sleep(Duration::from_millis(1200));
            drop(over);
        });
        Some(running.finish())
    }

    /// Reads a few pages at a time.
    fn slow_pipe(&mut self) -> Finished {
        let pipe = self.place.join("results");
        let made = Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        // Open for writing as well, so that opening it waits for nobody.
        let mut reader = fs::File::options()
            .read(true)
            .write(true)
            .open(&pipe)
            .unwrap();
        let mut copy = fs::File::create(&self.file).unwrap();
        let (is_over, finished) = (AtomicBool::new(false), start(self.take()));
        let nonblocking = libc::O_NONBLOCK;
        // SAFETY: the descriptor is open, and the call has no pointer.
        unsafe {
            libc::fcntl(
                std::os::fd::AsRawFd::as_raw_fd(&reader),
                libc::F_SETFL,
                nonblocking,
            )
        };
        thread::scope(|scope| {
            let over = Over(&is_over);
            scope.spawn(|| {
                let mut page = [0; 4096];
                loop {
                    match std::io::Read::read(&mut reader, &mut page) {
                        Ok(count) => std::io::Write::write_all(&mut copy, &page[..count]).unwrap(),
                        Err(_) if is_over.load(Ordering::Relaxed) => break,
                        Err(_) => {}
                    }
                    if !is_over.load(Ordering::Relaxed) {
                        thread::sleep(Duration::from_millis(2));
                    }
                }
            });
            let mut running = finished;
            until_waiting(&mut running);
            let finished = running.finish();
            drop(over);
            finished
        })
    }
}

fn place(folder: &Folder) -> PathBuf {
    folder.path("place")
}

fn program(fault: &Fault) -> PathBuf {
    profilee(match fault.kind {
        Kind::Forks => "Forks",
        _ => "Watched",
    })
}

/// Starts it with the default reaction to Ctrl-C: a shell that starts the tests in the background lets them
/// ignore SIGINT, and their children.
fn start(mut command: Command) -> Running {
    // SAFETY: `signal` may be called between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGINT, libc::SIG_DFL);
            Ok(())
        });
    }
    Running::start(command)
}

fn until_waiting(running: &mut Running) {
    while running.line() != "waiting" {}
}

fn send(running: &Running, signal: &str) {
    let id = running.id().to_string();
    let sent = Command::new("kill").args([signal, &id]).status().unwrap();
    assert!(sent.success());
}

/// Waits until the file has the text: the period.
fn await_text(file: &Path, text: Option<&str>) {
    let Some(text) = text else {
        return;
    };
    let begun = Instant::now();
    while !fs::read_to_string(file).is_ok_and(|found| found.contains(text)) {
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "no {text} in {:?}",
            fs::read_to_string(file)
        );
        thread::sleep(Duration::from_millis(10));
    }
}

fn limit_file_size(command: &mut Command, size: u64) {
    // Otherwise newer runtimes make a file of gigabytes in memory, and cannot start.
    command.env("DOTNET_EnableWriteXorExecute", "0");
    limit(command, libc::RLIMIT_FSIZE, size);
}

fn limit(command: &mut Command, resource: libc::__rlimit_resource_t, limit: u64) {
    let limit = libc::rlimit {
        rlim_cur: limit,
        rlim_max: limit,
    };
    // SAFETY: `setrlimit` may be called between fork and exec; the limits are initialised.
    unsafe {
        command.pre_exec(move || {
            libc::setrlimit(resource, &raw const limit);
            Ok(())
        });
    }
}

/// The least number of descriptors with which the program behaves as without a limit, three times.
fn least_descriptors(runtime: &Runtime, fault: &Fault) -> u64 {
    use std::collections::HashMap;
    use std::sync::{LazyLock, Mutex, PoisonError};
    static KNOWN: LazyLock<Mutex<HashMap<u32, u64>>> = LazyLock::new(Mutex::default);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    *known.entry(runtime.major).or_insert_with(|| {
        let run = |descriptors: Option<u64>| {
            let mut command =
                Example("jit_logger").plain(runtime, &profilee("Watched"), fault.words);
            if let Some(descriptors) = descriptors {
                limit(&mut command, libc::RLIMIT_NOFILE, descriptors);
            }
            let finished = Finished::of(command);
            (finished.status, finished.stdout)
        };
        let unlimited = run(None);
        let suffices = |descriptors| (0..3).all(|_| run(Some(descriptors)) == unlimited);
        let (mut too_few, mut enough) = (3, 512);
        while enough - too_few > 1 {
            let middle = u64::midpoint(too_few, enough);
            match suffices(middle) {
                true => enough = middle,
                false => too_few = middle,
            }
        }
        println!("{} needs {enough} descriptors", runtime.name);
        enough
    })
}

/// The command in a time namespace; `None` if that is not permitted.
fn within_time(command: &Command) -> Option<Command> {
    let years = (30_u64 * 365 * 86_400).to_string();
    let mut within = Command::new("unshare");
    within.args([
        "--time",
        "--monotonic",
        &years,
        "--boottime",
        &years,
        "--fork",
    ]);
    let mut trial = Command::new("unshare");
    trial.args(within.get_args()).arg("true");
    if !trial.status().is_ok_and(|status| status.success()) {
        println!("there is no time namespace");
        return None;
    }
    within.arg(command.get_program()).args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => within.env(name, value),
            None => within.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        within.current_dir(folder);
    }
    Some(within)
}

/// A text that results have which contain the program's work; `None` if none is known.
pub(super) fn marker(example: Example, fault: &Fault) -> Option<&'static str> {
    let is_mixed = fault.words.first() == Some(&"mixed");
    let is_crowd = fault.words.first() == Some(&"crowd");
    Some(match example.0 {
        "alloc_profiler" if is_mixed => "Watched.Small",
        "alloc_profiler" => "  type",
        "call_counter" if is_mixed => "Watched.Counted.Even(int)",
        "call_counter" if is_crowd => "Watched.Crowd.Work(int)",
        "call_counter" => "  method\n",
        "cpu_sampler" => " samples; ",
        "exception_logger" if is_mixed => ": through frames\n",
        "exception_logger" if is_crowd => "in a crowd",
        "exception_logger" => return None,
        "gc_monitor" if is_mixed => "induced",
        "gc_monitor" => return None,
        "heap_snapshot" => "  type\n",
        "hot_patch" => " longest us  state ",
        "jit_logger" if is_mixed => "[jit] Watched.Counted.Even(int)\n",
        "jit_logger" => "[jit] ",
        "method_logger" if is_mixed => "< Watched.Counted.Run(int)\n",
        "method_logger" => "> ",
        "method_tracer" if is_mixed => "Watched.Counted.Run",
        "method_tracer" => "{",
        "return_inspector" if is_mixed => "Watched.Counted.Deep(int) = ",
        "return_inspector" => return None,
        _ => return None,
    })
}

/// Whether the existing part of the results is complete.
pub(super) fn is_complete(example: Example, text: &str) -> bool {
    match example.0 {
        _ if text.is_empty() => true,
        "method_tracer" => serde_json::from_str::<serde_json::Value>(text).is_ok(),
        _ => text.ends_with('\n'),
    }
}
