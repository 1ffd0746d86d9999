//! Seeded faults: each is seen to keep a real runtime from loading the profiler, and `doctor` names it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use clr_profiler_tests::{Folder, Running, Runtime, profilee, runtimes, runtimes_where};

use crate::command::{clr, clr_on, library_folder, sample, stderr, stdout};

/// `JitLogger`, of the library in the command.
pub(crate) const CLSID: &str = "{DF63A541-5A33-4611-8829-F4E495985EE3}";

/// The library, which the first run of the command writes.
pub(crate) fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let folder = Folder::new();
        let file = folder.path("x");
        // Written before the process is found to be missing.
        let words = ["cpu", "-p", "4194305", "-o", file.to_str().unwrap()];
        clr(&words).output().unwrap();
        let mut found: Vec<PathBuf> = fs::read_dir(library_folder())
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| {
                path.extension()
                    .is_some_and(|end| end == std::env::consts::DLL_EXTENSION)
            })
            .collect();
        // The newest is that of this build.
        found.sort_by_key(|path| fs::metadata(path).unwrap().modified().unwrap());
        found.pop().unwrap()
    })
}

pub(crate) type Variables = BTreeMap<&'static str, String>;

/// A fault: its name, and how the variables and files of a good start are changed.
struct Seeded {
    name: &'static str,
    seed: fn(&mut Variables, &Folder),
    /// .NET Core 3.1 loads the profiler all the same.
    since_5: bool,
}

const fn seeded(name: &'static str, seed: fn(&mut Variables, &Folder)) -> Seeded {
    Seeded {
        name,
        seed,
        since_5: false,
    }
}

pub(crate) const PATH: &str = "CORECLR_PROFILER_PATH";

/// Sets the path to a file in the folder, which is made from the good library.
fn changed(variables: &mut Variables, folder: &Folder, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(library()).unwrap();
    change(&mut bytes);
    let path = folder.path("changed.so");
    fs::write(&path, bytes).unwrap();
    variables.insert(PATH, path.to_str().unwrap().to_owned());
}

/// Replaces a text in a library by one of the same length.
fn exchange(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    assert_eq!(from.len(), to.len());
    let places: Vec<usize> = (0..bytes.len() - from.len())
        .filter(|at| bytes[*at] == from[0] && &bytes[*at..at + from.len()] == from)
        .collect();
    assert!(!places.is_empty(), "{}", String::from_utf8_lossy(from));
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
}

const FAULTS: &[Seeded] = &[
    seeded("not-enabled", |variables, _| {
        variables.remove("CORECLR_ENABLE_PROFILING");
    }),
    seeded("enabled-is-off", |variables, _| {
        variables.insert("CORECLR_ENABLE_PROFILING", "true".to_owned());
    }),
    seeded("no-clsid", |variables, _| {
        variables.remove("CORECLR_PROFILER");
    }),
    seeded("clsid-without-braces", |variables, _| {
        variables.insert(
            "CORECLR_PROFILER",
            CLSID.trim_matches(['{', '}']).to_owned(),
        );
    }),
    seeded("clsid-is-no-guid", |variables, _| {
        variables.insert("CORECLR_PROFILER", "JitLogger".to_owned());
    }),
    seeded("no-path", |variables, _| {
        variables.remove(PATH);
    }),
    seeded("path-for-other-processor", |variables, _| {
        let path = variables.remove(PATH).unwrap();
        variables.insert("CORECLR_PROFILER_PATH_32", path);
    }),
    seeded("quoted-path", |variables, _| {
        let path = format!("\"{}\"", variables[PATH]);
        variables.insert(PATH, path);
    }),
    seeded("path-with-blanks", |variables, _| {
        let path = format!("{} ", variables[PATH]);
        variables.insert(PATH, path);
    }),
    seeded("list-of-paths", |variables, _| {
        let path = format!("{0}:{0}", variables[PATH]);
        variables.insert(PATH, path);
    }),
    seeded("relative-path", |variables, _| {
        variables.insert(PATH, "no/such/library.so".to_owned());
    }),
    seeded("missing-library", |variables, folder| {
        variables.insert(PATH, folder.path("no.so").to_str().unwrap().to_owned());
    }),
    seeded("path-is-folder", |variables, folder| {
        variables.insert(PATH, folder.path("").to_str().unwrap().to_owned());
    }),
    seeded("framework-names", |variables, _| {
        let all = std::mem::take(variables);
        for (name, framework) in [
            ("CORECLR_ENABLE_PROFILING", "COR_ENABLE_PROFILING"),
            ("CORECLR_PROFILER", "COR_PROFILER"),
            (PATH, "COR_PROFILER_PATH"),
        ] {
            variables.insert(framework, all[name].clone());
        }
    }),
    seeded("wrong-prefix", |variables, _| {
        let all = std::mem::take(variables);
        for (name, wrong) in [
            ("CORECLR_ENABLE_PROFILING", "DOTNET_ENABLE_PROFILING"),
            ("CORECLR_PROFILER", "DOTNET_PROFILER"),
            (PATH, "DOTNET_PROFILER_PATH"),
        ] {
            variables.insert(wrong, all[name].clone());
        }
    }),
    Seeded {
        name: "switched-off",
        seed: |variables, _| {
            variables.insert("DOTNET_EnableDiagnostics", "0".to_owned());
        },
        since_5: true,
    },
    seeded("managed-library", |variables, _| {
        variables.insert(PATH, sample().to_str().unwrap().to_owned());
    }),
    seeded("windows-library", |variables, folder| {
        changed(variables, folder, |bytes| {
            *bytes = b"MZ\x90\0 and so on".to_vec()
        });
    }),
    seeded("macos-library", |variables, folder| {
        changed(variables, folder, |bytes| {
            bytes[..4].copy_from_slice(&[0xcf, 0xfa, 0xed, 0xfe])
        });
    }),
    seeded("not-a-library", |variables, folder| {
        changed(variables, folder, |bytes| *bytes = b"a text".to_vec());
    }),
    seeded("executable", |variables, _| {
        let own = std::env::current_exe().unwrap();
        variables.insert(PATH, own.to_str().unwrap().to_owned());
    }),
    seeded("wrong-processor", |variables, folder| {
        // EM_AARCH64
        changed(variables, folder, |bytes| bytes[18] = 183);
    }),
    seeded("newer-c-library", |variables, folder| {
        changed(variables, folder, |bytes| {
            exchange(bytes, b"GLIBC_2.28\0", b"GLIBC_2.98\0");
        });
    }),
    seeded("wrong-c-library", |variables, folder| {
        changed(variables, folder, |bytes| {
            exchange(bytes, b"libc.so.6\0", b"libc.so\0\0\0")
        });
    }),
    seeded("missing-dependency", |variables, folder| {
        changed(variables, folder, |bytes| {
            exchange(bytes, b"libgcc_s.so.1\0", b"libxyz_s.so.1\0");
        });
    }),
    seeded("undefined-symbol", |variables, folder| {
        changed(variables, folder, |bytes| {
            exchange(bytes, b"memcpy\0", b"memcpz\0")
        });
    }),
    seeded("no-class-factory", |variables, folder| {
        changed(variables, folder, |bytes| {
            exchange(bytes, b"DllGetClassObject\0", b"DllGotClassObject\0");
        });
    }),
    seeded("unknown-clsid", |variables, _| {
        variables.insert(
            "CORECLR_PROFILER",
            "{01234567-89AB-CDEF-0123-456789ABCDEF}".to_owned(),
        );
    }),
    seeded("other-agent", |variables, _| {
        variables.insert(
            "CORECLR_PROFILER",
            "{846F5F1C-F9AE-4B07-969E-05C26BC060D8}".to_owned(),
        );
    }),
    seeded("initialize-failed", |variables, _| {
        variables.insert("JIT_LOGGER_METHODS", "(((".to_owned());
    }),
];

/// The variables of a start that works, with the file in which the profiler says that it has started.
pub(crate) fn good(status: &Path) -> Variables {
    BTreeMap::from([
        ("CORECLR_ENABLE_PROFILING", "1".to_owned()),
        ("CORECLR_PROFILER", CLSID.to_owned()),
        (PATH, library().to_str().unwrap().to_owned()),
        ("CLR_TOOL_STATUS", status.to_str().unwrap().to_owned()),
        ("JIT_LOGGER_OUTPUT", "/dev/null".to_owned()),
    ])
}

/// Whether the program is profiled with these variables.
fn is_profiled(runtime: &Runtime, variables: &Variables, status: &Path) -> bool {
    let launch = runtime.launch(&sample(), &[]);
    let mut command = launch.command().unwrap();
    // The profiler does not make it.
    fs::write(status, "").unwrap();
    let output = command.envs(variables).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    let told = fs::read_to_string(status).unwrap_or_default();
    let _ = fs::remove_file(status);
    told.contains("started")
}

fn doctor(runtime: &Runtime, variables: &Variables, json: bool) -> (String, Option<i32>) {
    let words: &[&str] = if json {
        &["doctor", "--json"]
    } else {
        &["doctor"]
    };
    let mut command = clr_on(runtime, words, &sample(), &[]);
    let output = command.envs(variables).output().unwrap();
    assert_eq!(stderr(&output), "", "{}", stdout(&output));
    (stdout(&output), output.status.code())
}

#[test]
fn each_fault_is_real_and_named() {
    let mut wrong = Vec::new();
    for runtime in runtimes() {
        for fault in FAULTS {
            let folder = Folder::new();
            let status = folder.path("status");
            let mut variables = good(&status);
            (fault.seed)(&mut variables, &folder);
            let is_ignored = fault.since_5 && runtime.major < 5;
            let is_profiled = is_profiled(runtime, &variables, &status);
            let (told, code) = doctor(runtime, &variables, true);
            let is_named = told.contains(&format!("\"fault\":\"{}\"", fault.name));
            let is_alone = told.matches("\"fault\":").count() == 1;
            if is_profiled != is_ignored || !is_named || !is_alone || code != Some(3) {
                let (name, version) = (fault.name, runtime.version());
                wrong.push(format!(
                    "{name} on {version}: profiled {is_profiled}, {code:?}, {told}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_start_that_works_is_proven_by_loading() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let status = folder.path("status");
        let variables = good(&status);
        assert!(is_profiled(runtime, &variables, &status));
        let (told, code) = doctor(runtime, &variables, false);
        assert!(
            told.starts_with("All is well: the runtime of the program has loaded"),
            "{told}"
        );
        assert_eq!(code, Some(0));
    }
}

/// One sentence for the cause, and one for the remedy.
#[test]
fn a_fault_is_two_sentences() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let mut variables = good(&folder.path("status"));
        variables.remove("CORECLR_ENABLE_PROFILING");
        let (told, _) = doctor(runtime, &variables, false);
        assert_eq!(
            told,
            "A profiler is named, but CORECLR_ENABLE_PROFILING is not set.\n  -> Set CORECLR_ENABLE_PROFILING=1.\n"
        );
    }
}

/// On a file system that is mounted with `noexec` neither the runtime nor the command can load a library.
#[test]
fn without_execution() {
    let folder = Folder::new();
    let mount = folder.path("mount");
    fs::create_dir(&mount).unwrap();
    for runtime in runtimes() {
        let within = |command: &Command| {
            let mut unshare = Command::new("unshare");
            let script = "mount -t tmpfs -o noexec none \"$0\" && cp \"$1\" \"$0/library.so\" && shift && exec \"$@\"";
            unshare
                .args(["-m", "sh", "-c", script])
                .arg(&mount)
                .arg(library());
            unshare.arg(command.get_program()).args(command.get_args());
            for (name, value) in command.get_envs() {
                match value {
                    Some(value) => unshare.env(name, value),
                    None => unshare.env_remove(name),
                };
            }
            unshare.output()
        };
        if !within(&Command::new("true")).is_ok_and(|output| output.status.success()) {
            eprintln!("NOT TESTED: no file system can be mounted here");
            return;
        }
        let mut variables = good(&folder.path("status"));
        let path = mount.join("library.so");
        variables.insert(PATH, path.to_str().unwrap().to_owned());
        let mut command = clr_on(runtime, &["doctor", "--json"], &sample(), &[]);
        command.envs(&variables);
        let output = within(&command).unwrap();
        assert!(
            stdout(&output).contains("\"fault\":\"noexec\""),
            "{}",
            stdout(&output)
        );

        // The command takes the next folder.
        let file = folder.path("gc.txt");
        let words = ["gc", "-o", file.to_str().unwrap()];
        let mut command = clr_on(runtime, &words, &sample(), &[]);
        command
            .env_remove("CARGO_CLR_LIBRARY_FOLDER")
            .env("XDG_CACHE_HOME", &mount);
        let output = within(&command).unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        assert!(file.is_file(), "{}", stderr(&output));
    }
}

fn examine(process: u32) -> String {
    let words = ["doctor", "--json", "-p", &process.to_string()];
    stdout(&clr(&words).output().unwrap())
}

#[test]
fn running_processes() {
    // The other runtimes are applications whose library is inside of them.
    for runtime in runtimes_where(|runtime| runtime.application().is_none()) {
        let folder = Folder::new();
        let status = folder.path("status");
        let start = |variables: &[(&str, &str)]| {
            let launch = runtime.launch(&profilee("Hot"), &[]);
            let mut command = launch.command().unwrap();
            command.envs(variables.iter().copied());
            let mut program = Running::start(command);
            assert_eq!(program.line(), "ready");
            program
        };
        let has = |told: &str, fault: &str| {
            assert!(
                told.contains(&format!("\"fault\":\"{fault}\"")),
                "{fault}: {told}"
            );
        };
        let plain = start(&[]);
        assert!(
            examine(plain.id()).contains("one can be attached"),
            "{}",
            examine(plain.id())
        );

        let good = good(&status);
        let pairs: Vec<(&str, &str)> = good
            .iter()
            .map(|(name, value)| (*name, value.as_str()))
            .collect();
        let profiled = start(&pairs);
        let told = examine(profiled.id());
        assert!(told.contains("has loaded"), "{told}");
        let listed = stdout(&clr(&["ps"]).output().unwrap());
        let row = listed
            .lines()
            .find(|line| line.contains(&format!("{} ", profiled.id())));
        assert!(
            row.is_some_and(|row| row.contains("libclr_tools-")),
            "{listed}"
        );

        let late = folder.path("late.so");
        let late = late.to_str().unwrap();
        let program = start(&[pairs.as_slice(), &[(PATH, late)]].concat());
        has(&examine(program.id()), "missing-library");
        fs::copy(library(), late).unwrap();
        has(&examine(program.id()), "not-loaded");

        let program = start(&[("DOTNET_EnableDiagnostics_IPC", "0")]);
        if runtime.major >= 8 {
            has(&examine(program.id()), "attach-switched-off");
        }
        // .NET Core 3.1 does not start without one.
        if runtime.major >= 5 {
            let program = start(&[("TMPDIR", "/no/such/folder")]);
            has(&examine(program.id()), "no-temporary-folder");
        }

        let temporary = folder.path("temporary");
        fs::create_dir(&temporary).unwrap();
        let program = start(&[("TMPDIR", temporary.to_str().unwrap())]);
        for entry in fs::read_dir(&temporary).unwrap() {
            let _ = fs::remove_file(entry.unwrap().path());
        }
        has(&examine(program.id()), "no-socket");
    }
}

#[test]
fn processes_and_programs_without_a_runtime() {
    let mut child = Command::new("sleep").arg("60").spawn().unwrap();
    let told = examine(child.id());
    let _ = child.kill();
    let _ = child.wait();
    assert!(told.contains("\"fault\":\"no-runtime\""), "{told}");

    for (program, part) in [
        ("/bin/sleep", "without a .NET runtime"),
        ("/no/such/program", "no program"),
        ("Cargo.toml", "not a .NET program"),
    ] {
        let output = clr(&["doctor", "--", program]).output().unwrap();
        assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
        assert!(stdout(&output).contains(part), "{}", stdout(&output));
    }
}

#[test]
fn without_a_program_the_environment_is_examined() {
    let folder = Folder::new();
    let mut variables = good(&folder.path("status"));
    let output = clr(&["doctor"]).envs(&variables).output().unwrap();
    assert!(
        stdout(&output).contains("can be loaded"),
        "{}",
        stdout(&output)
    );
    variables.insert(PATH, "/no/such.so".to_owned());
    let output = clr(&["doctor"]).envs(&variables).output().unwrap();
    assert!(
        stdout(&output).contains("no file `/no/such.so`"),
        "{}",
        stdout(&output)
    );
    let output = clr(&["doctor"]).output().unwrap();
    assert!(
        stdout(&output).contains("No profiler is asked for"),
        "{}",
        stdout(&output)
    );
}
