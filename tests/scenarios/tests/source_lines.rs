//! Frames have the lines of their modules' PDBs, and the names that their methods have in the source.

use std::ops::ControlFlow;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use clr_profiler::exceptions::{ExceptionEvent, ExceptionEvents};
use clr_profiler::info::SnapshotOptions;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Logs the frames of each exception that is thrown.
///
/// On a thread of its own: in the events by which .NET 9 reports exceptions, the runtime refuses calls about native code.
pub(crate) struct SourceLines {
    frames: Arc<Frames>,
    worker: Mutex<Option<JoinHandle<()>>>,
}

/// The way to the thread that logs; `None` at the end.
struct Frames(Mutex<Option<Sender<(FunctionId, usize)>>>);

impl Frames {
    fn of_thread(&self, info: &ProfilerInfo) -> Result<()> {
        let frames = self.0.lock().map_err(|_| Error::other("panicked"))?;
        let Some(frames) = &*frames else {
            return Ok(());
        };
        info.do_stack_snapshot(None, SnapshotOptions::default(), |frame| {
            if let Some(function) = frame.function {
                // The thread receives until the sender is dropped.
                let _ = frames.send((function, frame.ip));
            }
            ControlFlow::Continue(())
        })
    }
}

#[profiler(clsid = clsid("SourceLines"))]
impl Profiler for SourceLines {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(format_args!("failed: {failure}")));
        setup.add_events(EventMask::ENABLE_STACK_SNAPSHOT);
        let (sender, receiver) = channel();
        let frames = Arc::new(Frames(Mutex::new(Some(sender))));
        setup.attach(ExceptionEvents::instead_of_callbacks({
            let frames = Arc::clone(&frames);
            move |info, event| match event {
                ExceptionEvent::Thrown(_) => frames.of_thread(info),
                _ => Ok(()),
            }
        }))?;
        let info = info.clone();
        let worker = thread::spawn(move || {
            for (function, ip) in receiver {
                if let Err(error) = frame(&info, function, ip) {
                    log::line(format_args!("failed: {error}"));
                }
            }
        });
        let worker = Mutex::new(Some(worker));
        Ok(Self { frames, worker })
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        let name = info.module_info(module)?.name;
        match info.module_pdb(module) {
            Ok(pdb) => log::line(format_args!("pdb of {name}: {:?}", pdb.path())),
            Err(error) => log::line(format_args!("no pdb of {name}: {error}")),
        }
        Ok(())
    }

    fn exception_thrown(&self, info: &ProfilerInfo, _: ObjectId<'_>) -> Result<()> {
        self.frames.of_thread(info)
    }

    fn shutdown(&self, info: &ProfilerInfo) -> Result<()> {
        let panicked = |_| Error::other("panicked");
        drop(self.frames.0.lock().map_err(|_| panicked(()))?.take());
        let worker = self.worker.lock().map_err(|_| panicked(()))?.take();
        worker
            .map_or(Ok(()), JoinHandle::join)
            .map_err(|_| panicked(()))?;
        log::line(format_args!("held: {}", info.overhead().held_bytes));
        Ok(())
    }
}

fn frame(info: &ProfilerInfo, function: FunctionId, ip: usize) -> Result<()> {
    let Ok(method) = info.method(function) else {
        return Ok(());
    };
    let location = info.source_location_from_ip(ip);
    let assembly = method.assembly_name()?;
    // It starts the program on some runtimes, and has a PDB.
    if assembly == "StartupHook" {
        return Ok(());
    }
    if !assembly.starts_with("Sources") {
        // Frameworks come without PDBs: no line, and no error.
        if !matches!(location, Ok(None)) {
            log::line(format_args!("different: {location:?}"));
        }
        return Ok(());
    }
    let token = method.token().raw();
    match location {
        Ok(Some(it)) => {
            let name = method.source_name()?;
            let (file, line, column) = (&it.file, it.start_line, it.start_column);
            log::line(format_args!("{token:08x} {file}:{line}:{column} {name}"));
        }
        Ok(None) => log::line(format_args!("{token:08x} :0:0 {}", method.source_name()?)),
        Err(error) => log::line(format_args!("error: {error}")),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use clr_profiler_tests::{Folder, Scenario, profilee};

    use super::SourceLines;

    fn lines_are_those_of_the_runtime(program: &str) {
        let scenario = Scenario::new(program).profiled_by::<SourceLines>();
        scenario.compare(|plain, profiled| {
            let log = &profiled.log;
            assert_eq!(profiled.output(), plain.output(), "{log}");
            assert!(
                !log.contains("failed: ") && !log.contains("error: "),
                "{log}"
            );
            assert!(!log.contains("different: "), "{log}");
            let (mut frames, mut others) = (0, Vec::new());
            let mut shown = plain.stdout.clone();
            if cfg!(windows) {
                // The program writes in the code page of the console, in which the character is one byte.
                shown = shown.replace('\u{FFFD}', "é");
            }
            for frame in shown.lines() {
                // TOKEN OFFSET FILE:LINE:COLUMN METHOD
                let mut words = frame.splitn(3, ' ');
                let (token, _, rest) = (words.next(), words.next(), words.next());
                let (Some(token), Some((place, _))) =
                    (token, rest.and_then(|it| it.rsplit_once(' ')))
                else {
                    continue;
                };
                frames += 1;
                let logged = |start: String| log.lines().any(|line| line.starts_with(&start));
                assert!(logged(format!("{token} ")), "{frame}: {log}");
                if !logged(format!("{token} {place} ")) {
                    others.push(frame);
                }
            }
            assert!(frames >= 20, "{frames}: {}", plain.stdout);
            // For optimised code, the runtime's stack traces often have the line after the call. So the calls whose
            // lines are certain are compared with the source.
            if program.ends_with("Debug") {
                assert!(others.is_empty(), "{others:?}: {log}");
            }
            for line in [
                "Sources.cs:56:17 Sources.Program.Report(System.Action)",
                "Sources.cs:108:13 Sources.Program.Constants(int)",
                "/_/other/Second file é.cs:8:17 Sources.Program.Others(int)",
                "/_/other/Spread.cs:3:9 Sources.Spread..ctor(int)",
            ] {
                assert!(
                    log.lines().any(|logged| logged.ends_with(line)),
                    "{line}: {log}"
                );
            }
            for name in [
                "Sources.Program.Later(int)",
                "Sources.Program.Items(int)",
                "Sources.Program.Numbered()",
            ] {
                assert!(
                    log.lines().any(|line| line.ends_with(&format!(" {name}"))),
                    "{name}: {log}"
                );
            }
            assert!(!log.contains(".MoveNext()"), "{log}");
            // The runtime's own library names no portable PDB, or one that is not there.
            let core = log.lines().find(|line| {
                line.starts_with("no pdb of ") && line.contains("System.Private.CoreLib.dll: ")
            });
            assert!(core.is_some(), "{log}");
        });
    }

    #[test]
    fn of_a_debug_build_with_a_pdb_next_to_it() {
        lines_are_those_of_the_runtime("pdb/SourcesDebug");
    }

    #[test]
    fn of_a_release_build_with_an_embedded_pdb() {
        lines_are_those_of_the_runtime("pdb/SourcesRelease");
    }

    /// A copy of the debug build in a folder of its own, with its PDB changed.
    fn copied(folder: &Folder, change: impl FnOnce(&mut Vec<u8>)) -> PathBuf {
        let from = profilee("pdb/SourcesDebug");
        for extension in ["dll", "runtimeconfig.json"] {
            let from = from.with_extension(extension);
            fs::copy(
                &from,
                folder.path(&from.file_name().unwrap().to_string_lossy()),
            )
            .unwrap();
        }
        let mut pdb = fs::read(from.with_extension("pdb")).unwrap();
        change(&mut pdb);
        fs::write(folder.path("SourcesDebug.pdb"), pdb).unwrap();
        folder.path("SourcesDebug.dll")
    }
    fn errors_with(change: impl FnOnce(&mut Vec<u8>), expected: &str) {
        let folder = Folder::new();
        let program = copied(&folder, change);
        let scenario = Scenario::at(program).profiled_by::<SourceLines>();
        scenario.compare(|plain, profiled| {
            let log = &profiled.log;
            assert_eq!(profiled.output(), plain.output(), "{log}");
            let errors: Vec<_> = log
                .lines()
                .filter(|line| line.starts_with("error: "))
                .collect();
            assert!(errors.len() >= 10, "{log}");
            for error in errors {
                assert!(error.contains("SourcesDebug.dll: "), "{error}");
                assert!(error.contains(expected), "{error}");
            }
            assert!(!log.contains("failed: "), "{log}");
        });
    }

    #[test]
    fn the_pdb_of_another_build_is_an_error() {
        let pdb = fs::read(profilee("pdb/SourcesDebug").with_extension("pdb")).unwrap();
        let id = clr_metadata::pdb::Pdb::parse(&pdb).unwrap().id().0;
        let at = pdb.windows(20).position(|window| window == id).unwrap();
        let expected = "SourcesDebug.pdb is the PDB of another build: its id is ";
        errors_with(|pdb| pdb[at] ^= 1, expected);
    }

    #[test]
    fn a_truncated_pdb_is_an_error() {
        let expected = "SourcesDebug.pdb: the data ends within a value (at offset 0x";
        errors_with(|pdb| pdb.truncate(pdb.len() / 2), expected);
    }

    /// Without the file there are no lines, and no errors.
    #[test]
    fn a_missing_pdb_gives_no_lines() {
        let folder = Folder::new();
        let program = copied(&folder, |_| ());
        fs::remove_file(program.with_extension("pdb")).unwrap();
        let scenario = Scenario::at(program.clone()).profiled_by::<SourceLines>();
        scenario.compare(|plain, profiled| {
            let log = &profiled.log;
            assert_eq!(profiled.output(), plain.output(), "{log}");
            assert!(
                !log.contains("error: ") && !log.contains("failed: "),
                "{log}"
            );
            let searched = program.with_extension("pdb");
            let searched = format!(" is not there: searched {}", searched.display());
            assert!(log.contains(&searched), "{log}");
            let frames = log
                .lines()
                .filter(|line| line.contains(" :0:0 Sources.Program"));
            assert!(frames.count() >= 10, "{log}");
            // The names in the source are in the PDB.
            assert!(log.contains(".MoveNext()"), "{log}");
        });
    }
}
