//! Seeded faults: each is seen to keep a real runtime from loading the profiler, and `doctor` names it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
#[cfg(target_os = "linux")]
use std::process::Command;
use std::sync::OnceLock;

use clr_profiler_tests::{Folder, Runtime, runtimes};

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
        // On Windows the folder has no drive otherwise.
        std::path::absolute(found.pop().unwrap()).unwrap()
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

/// A file name of a library.
pub(crate) const LIBRARY: &str = if cfg!(windows) {
    "changed.dll"
} else {
    "changed.so"
};

/// Sets the path to a file in the folder, which is made from the good library.
fn changed(variables: &mut Variables, folder: &Folder, change: impl FnOnce(&mut Vec<u8>)) {
    let mut bytes = fs::read(library()).unwrap();
    change(&mut bytes);
    let path = folder.path(LIBRARY);
    fs::write(&path, bytes).unwrap();
    variables.insert(PATH, path.to_str().unwrap().to_owned());
}

/// Changes two bytes of the header that name the processor.
fn for_other_processor(bytes: &mut [u8]) {
    /// `EM_AARCH64`, and `IMAGE_FILE_MACHINE_ARM64`.
    const ARM64: (u16, u16) = (183, 0xAA64);
    let (at, number) = match cfg!(windows) {
        // After the signature, whose place is in the first header.
        true => (
            usize::from(bytes[0x3c]) + usize::from(bytes[0x3d]) * 256 + 4,
            ARM64.1,
        ),
        false => (18, ARM64.0),
    };
    bytes[at..at + 2].copy_from_slice(&number.to_le_bytes());
}

/// Replaces a text in a library by one of the same length.
pub(crate) fn exchange(bytes: &mut [u8], from: &[u8], to: &[u8]) {
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
        // Windows itself removes blanks at the end of names.
        let path = match cfg!(windows) {
            true => format!(" {}", variables[PATH]),
            false => format!("{} ", variables[PATH]),
        };
        variables.insert(PATH, path);
    }),
    seeded("list-of-paths", |variables, _| {
        let library = PathBuf::from(&variables[PATH]);
        let list = std::env::join_paths([&library, &library]).unwrap();
        variables.insert(PATH, list.into_string().unwrap());
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
    #[cfg(windows)]
    seeded("linux-library", |variables, folder| {
        changed(variables, folder, |bytes| {
            bytes[..4].copy_from_slice(b"\x7fELF")
        });
    }),
    #[cfg(not(windows))]
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
        changed(variables, folder, |bytes| for_other_processor(bytes));
    }),
    // On Windows there is one C library for the system, and others are DLLs like any other.
    #[cfg(not(windows))]
    seeded("newer-c-library", |variables, folder| {
        changed(variables, folder, |bytes| {
            exchange(bytes, b"GLIBC_2.28\0", b"GLIBC_2.98\0");
        });
    }),
    #[cfg(not(windows))]
    seeded("wrong-c-library", |variables, folder| {
        changed(variables, folder, |bytes| {
            exchange(bytes, b"libc.so.6\0", b"libc.so\0\0\0")
        });
    }),
    seeded("missing-dependency", |variables, folder| {
        changed(variables, folder, |bytes| match cfg!(windows) {
            true => exchange(bytes, b"WS2_32.dll\0", b"WS2_99.dll\0"),
            false => exchange(bytes, b"libgcc_s.so.1\0", b"libxyz_s.so.1\0"),
        });
    }),
    // Wine loads such a library, with a function that ends the program when it is called.
    #[cfg(not(windows))]
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
    let methods = status.with_extension("methods.txt");
    BTreeMap::from([
        ("CORECLR_ENABLE_PROFILING", "1".to_owned()),
        ("CORECLR_PROFILER", CLSID.to_owned()),
        (PATH, library().to_str().unwrap().to_owned()),
        ("CLR_TOOL_STATUS", status.to_str().unwrap().to_owned()),
        ("JIT_LOGGER_OUTPUT", methods.to_str().unwrap().to_owned()),
    ])
}

pub(crate) fn assert_fault(told: &str, fault: &str) {
    let words = format!("\"fault\":\"{fault}\"");
    assert!(told.contains(&words), "{fault}: {told}");
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

/// No sentence is about the system of others.
#[test]
#[cfg(windows)]
fn nothing_of_linux_is_said() {
    let runtime = runtimes()[0];
    for fault in FAULTS {
        let folder = Folder::new();
        let mut variables = good(&folder.path("status"));
        (fault.seed)(&mut variables, &folder);
        let (told, _) = doctor(runtime, &variables, false);
        for word in [
            "/proc", "LD_", "glibc", "chmod", "musl", "noexec", "as root", "TMPDIR",
        ] {
            assert!(!told.contains(word), "{}: {word}: {told}", fault.name);
        }
    }
}

/// On a file system that is mounted with `noexec` neither the runtime nor the command can load a library.
#[test]
#[cfg(target_os = "linux")]
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

/// Windows finds the library of a class in the registry, if no variable names it.
#[test]
#[cfg(windows)]
fn the_registry_names_a_library() {
    let clsid = "{5A3B9F10-0C1E-4B7D-9D52-7B1E5D0C6A11}";
    let key = format!(r"Software\Classes\CLSID\{clsid}");
    let folder = Folder::new();
    let mut variables = good(&folder.path("status"));
    variables.remove(PATH);
    variables.insert("CORECLR_PROFILER", clsid.to_owned());
    let examine = |variables: &Variables| {
        let output = clr(&["doctor", "--json"]).envs(variables).output().unwrap();
        stdout(&output)
    };
    let told = examine(&variables);
    assert_fault(&told, "no-path");
    assert!(told.contains("neither HKCU nor HKLM has"), "{told}");
    for (root, name) in [
        (windows_registry::LOCAL_MACHINE, "HKLM"),
        (windows_registry::CURRENT_USER, "HKCU"),
    ] {
        let server = format!(r"{key}\InprocServer32");
        let set = |value: &str| {
            let created = root.create(&server).unwrap();
            created.set_string("", value).unwrap();
        };
        set(folder.path("no.dll").to_str().unwrap());
        let told = examine(&variables);
        assert_fault(&told, "missing-library");
        assert!(told.contains(name), "{told}");
        // The library has no class with this id.
        set(library().to_str().unwrap());
        assert_fault(&examine(&variables), "unknown-clsid");
        root.remove_tree(&key).unwrap();
    }
    assert_fault(&examine(&variables), "no-path");
}

/// Images are for Linux, whose loader is not here.
#[test]
#[cfg(windows)]
fn files_of_containers_are_refused() {
    let output = clr(&["doctor", "--container-root", "."]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = stderr(&output);
    assert!(told.contains("on Linux alone"), "{told}");
}

/// The DLL that is missing may be one that another DLL needs.
#[test]
#[cfg(windows)]
fn the_file_that_needs_a_missing_library_is_named() {
    let folder = Folder::new();
    let mut variables = good(&folder.path("status"));
    changed(&mut variables, &folder, |bytes| {
        exchange(bytes, b"WS2_32.dll\0", b"WS2_99.dll\0");
    });
    let mut between = fs::read(library()).unwrap();
    exchange(&mut between, b"WS2_32.dll\0", b"WS2_98.dll\0");
    fs::write(folder.path("WS2_99.dll"), between).unwrap();
    let output = clr(&["doctor"]).envs(&variables).output().unwrap();
    let told = stdout(&output);
    assert!(
        told.contains(r"WS2_99.dll` needs the library WS2_98.dll"),
        "{told}"
    );
    assert!(
        told.contains(&format!("without that `{}`", variables[PATH])),
        "{told}"
    );
}

/// The variable for 64 bits takes precedence, and names of variables are the same in small letters on Windows.
#[test]
fn variables_for_a_processor() {
    let folder = Folder::new();
    let mut variables = good(&folder.path("status"));
    let path = variables[PATH].clone();
    variables.insert(PATH, folder.path("no.so").to_str().unwrap().to_owned());
    if cfg!(windows) {
        variables.insert("coreclr_profiler_path_64", path);
    } else {
        variables.insert("CORECLR_PROFILER_PATH_64", path);
    }
    let output = clr(&["doctor"]).envs(&variables).output().unwrap();
    let told = stdout(&output);
    assert!(told.contains("can be loaded"), "{told}");
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
    let other = folder.path("other.so");
    variables.insert(PATH, other.to_str().unwrap().to_owned());
    let output = clr(&["doctor"]).envs(&variables).output().unwrap();
    assert!(
        stdout(&output).contains(&format!("no file `{}`", other.display())),
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
