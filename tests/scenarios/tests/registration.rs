//! Profilers that the registry of Windows names, by `regsvr32`.

use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

#[cfg_attr(not(windows), allow(dead_code, reason = "its tests are for Windows alone"))]
pub(crate) struct Registered;

#[profiler(clsid = clsid("Registered"))]
impl Profiler for Registered {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        log::line("started by its class id");
        Ok(Self)
    }
}

#[cfg(all(test, windows))]
mod tests {
    use std::path::Path;
    use std::process::{Command, Stdio};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use clr_profiler_tests::{Folder, Scenario, clsid, name_of, runtimes};
    use windows_registry::{CLASSES_ROOT, CURRENT_USER, Key, LOCAL_MACHINE};

    use super::Registered;

    /// The library has one registry, and all tests change it.
    fn alone() -> MutexGuard<'static, ()> {
        static ALONE: Mutex<()> = Mutex::new(());
        let guard = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        for root in [CURRENT_USER, LOCAL_MACHINE] {
            for name in ["Registered", "ReplacesBody", "ToldFirst"] {
                let _ = root.remove_tree(class(name));
            }
        }
        guard
    }

    fn class(profiler: &str) -> String {
        format!(r"Software\Classes\CLSID\{}", clsid(profiler))
    }

    fn server(profiler: &str) -> String {
        format!(r"{}\InprocServer32", class(profiler))
    }

    fn library() -> String {
        let path = Scenario::new("Basics").library_path();
        let path = std::path::absolute(path).unwrap();
        path.to_str().unwrap().to_owned()
    }

    /// `regsvr32` without windows. Under Wine it starts the desktop, which would keep pipes open.
    fn command(words: &[&str]) -> Command {
        let mut command = Command::new("regsvr32");
        command.arg("/s").args(words).arg(library());
        command.stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    }

    /// Runs it; the exit code.
    fn regsvr32(words: &[&str]) -> i32 {
        command(words).status().unwrap().code().unwrap()
    }

    /// The answer of `reg query`, and nothing if there is no such key.
    fn query(root: &str, key: &str) -> String {
        let mut command = Command::new("reg");
        let output = command.args(["query", &format!(r"{root}\{key}"), "/s"]);
        let output = output.output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn is_there(root: &Key, key: &str) -> bool {
        root.open(key).is_ok()
    }

    fn is_path(value: &str, path: &str) -> bool {
        value.eq_ignore_ascii_case(path) && Path::new(value).is_file()
    }

    fn assert_registered(root: &Key, root_name: &str) {
        for name in ["Registered", "ReplacesBody", "ToldFirst"] {
            let server = root.open(server(name)).unwrap();
            let path = server.get_string("").unwrap();
            assert!(is_path(&path, &library()), "{path}");
            assert_eq!(server.get_string("ThreadingModel").unwrap(), "Both");
            let class_name = root.open(class(name)).unwrap().get_string("").unwrap();
            assert!(class_name.ends_with(&format!("::{name}")), "{class_name}");

            let told = query(root_name, &class(name));
            assert!(told.contains(&path), "{told}");
            assert!(told.contains("ThreadingModel    REG_SZ    Both"), "{told}");
            assert!(
                told.contains(&format!("REG_SZ    {class_name}")),
                "{told}"
            );
        }
    }

    fn assert_unregistered(root: &Key, root_name: &str) {
        for name in ["Registered", "ReplacesBody", "ToldFirst"] {
            assert!(!is_there(root, &class(name)), "{name}");
            assert!(!query(root_name, &class(name)).contains("REG_SZ"), "{name}");
        }
    }

    #[test]
    fn for_the_machine_and_for_the_user() {
        let _alone = alone();
        for (words, end, root, name) in [
            (&[][..], &["/u"][..], LOCAL_MACHINE, "HKLM"),
            (
                &["/n", "/i:user"],
                &["/u", "/n", "/i:user"],
                CURRENT_USER,
                "HKCU",
            ),
            (
                &["/n", "/i:machine"],
                &["/u", "/n", "/i:machine"],
                LOCAL_MACHINE,
                "HKLM",
            ),
        ] {
            assert_eq!(regsvr32(words), 0, "{words:?}");
            assert_registered(root, name);
            // Once more changes nothing.
            assert_eq!(regsvr32(words), 0, "{words:?}");
            assert_registered(root, name);
            let (other, other_name) = match name {
                "HKLM" => (CURRENT_USER, "HKCU"),
                _ => (LOCAL_MACHINE, "HKLM"),
            };
            assert_unregistered(other, other_name);
            assert_eq!(regsvr32(end), 0, "{end:?}");
            assert_unregistered(root, name);
            // Nothing to do is no failure.
            assert_eq!(regsvr32(end), 0, "{end:?}");
        }
        assert_ne!(regsvr32(&["/n", "/i:nobody"]), 0);
        assert_unregistered(CURRENT_USER, "HKCU");
        assert_unregistered(LOCAL_MACHINE, "HKLM");
    }

    /// Registers another library for a class id.
    fn register_other(profiler: &str) {
        let key = CURRENT_USER.create(server(profiler)).unwrap();
        key.set_string("", r"C:\other\profiler.dll").unwrap();
        key.set_string("ThreadingModel", "Free").unwrap();
    }

    fn assert_other(profiler: &str) {
        let key = CURRENT_USER.open(server(profiler)).unwrap();
        assert_eq!(key.get_string("").unwrap(), r"C:\other\profiler.dll");
        assert_eq!(key.get_string("ThreadingModel").unwrap(), "Free");
    }

    #[test]
    fn those_of_other_libraries_stay() {
        let _alone = alone();
        assert_eq!(regsvr32(&["/n", "/i:user"]), 0);
        register_other("ReplacesBody");
        // A key that somebody has added to the class.
        let added = format!(r"{}\ProgID", class("ToldFirst"));
        CURRENT_USER.create(&added).unwrap();
        let report = std::env::temp_dir().join("registration-of-others.txt");
        let _ = std::fs::remove_file(&report);
        let mut command = command(&["/u", "/n", "/i:user"]);
        command.env("CLR_PROFILER_DIAGNOSTICS", &report);
        assert!(command.status().unwrap().success());
        assert_other("ReplacesBody");
        assert!(!is_there(CURRENT_USER, &class("Registered")));
        assert!(!is_there(CURRENT_USER, &server("ToldFirst")));
        assert!(is_there(CURRENT_USER, &added));
        let told = std::fs::read_to_string(&report).unwrap();
        let line = r"is registered for another library, and stays so: C:\other\profiler.dll";
        assert!(told.contains(line), "{told}");
        assert_eq!(told.lines().count(), 1, "{told}");
        std::fs::remove_file(report).unwrap();
    }

    /// A key below one that ends with the session cannot be made to stay: the registry refuses it.
    #[test]
    fn a_failure_leaves_the_earlier_state() {
        let _alone = alone();
        register_other("ReplacesBody");
        let mut options = CURRENT_USER.options();
        let options = options.read().write().create().volatile();
        options.open(class("ToldFirst")).unwrap();
        let before = query("HKCU", r"Software\Classes\CLSID");
        assert_ne!(regsvr32(&["/n", "/i:user"]), 0);
        assert_other("ReplacesBody");
        assert!(!is_there(CURRENT_USER, &class("Registered")));
        assert!(!is_there(CURRENT_USER, &server("ToldFirst")));
        assert_eq!(query("HKCU", r"Software\Classes\CLSID"), before);
    }

    /// Whether each chosen runtime runs the program with the profiler, whose class id alone is named.
    fn is_profiled() -> Vec<bool> {
        let mut found = Vec::new();
        for runtime in runtimes() {
            let folder = Folder::new();
            let log = folder.path("log");
            let mut command = Scenario::new("Basics").command_on(runtime);
            let output = command
                .env("CORECLR_ENABLE_PROFILING", "1")
                .env(
                    "CORECLR_PROFILER",
                    clsid(name_of::<Registered>()).to_string(),
                )
                .env("SCENARIO_LOG", &log)
                .output()
                .unwrap();
            assert_eq!(output.status.code(), Some(7), "{output:?}");
            let log = std::fs::read_to_string(&log).unwrap_or_default();
            found.push(log.contains("started by its class id"));
        }
        found
    }

    #[test]
    fn a_runtime_finds_it_without_a_path() {
        let _alone = alone();
        let all = |expected: bool| vec![expected; runtimes().len()];
        assert_eq!(is_profiled(), all(false));
        assert_eq!(regsvr32(&["/n", "/i:user"]), 0);
        // The classes of the machine and of the user are one tree on Windows; under Wine it has those of the machine alone.
        let server = format!(r"CLSID\{}\InprocServer32", clsid("Registered"));
        assert_eq!(is_profiled(), all(is_there(CLASSES_ROOT, &server)));
        assert_eq!(regsvr32(&["/u", "/n", "/i:user"]), 0);
        assert_eq!(is_profiled(), all(false));
        assert_eq!(regsvr32(&[]), 0);
        assert_eq!(is_profiled(), all(true));
        assert_eq!(regsvr32(&["/u"]), 0);
        assert_eq!(is_profiled(), all(false));
    }
}
