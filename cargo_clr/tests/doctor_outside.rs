//! Faults that need another user, a library of its own, a container, or a program that is not .NET.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clr_profiler_tests::{Folder, Running, profilee, runtimes};

use crate::command::{clr, clr_on, sample, stdout};
use crate::doctor::{CLSID, PATH, assert_fault, exchange, good, library};

/// `nobody`.
const OTHER: u32 = 65534;

/// A folder with a copy of the command that everyone may enter; `None` unless this is root.
fn of_others(folder: &Folder) -> Option<PathBuf> {
    let own = fs::metadata("/proc/self").unwrap();
    if std::os::unix::fs::MetadataExt::uid(&own) != 0 {
        eprintln!("NOT TESTED: only root can be another user");
        return None;
    }
    for path in folder.path("").ancestors().take(2) {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).ok()?;
    }
    let command = folder.path("cargo-clr");
    fs::copy(env!("CARGO_BIN_EXE_cargo-clr"), &command).unwrap();
    Some(command)
}

/// `doctor` as another user, in JSON.
fn examined_by_other(command: &Path, words: &[&str], variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(command);
    command.args(["doctor", "--json"]).args(words);
    command.env_clear().env("PATH", "/usr/bin:/bin");
    command.envs(variables.iter().copied()).current_dir("/");
    stdout(&command.uid(OTHER).gid(OTHER).output().unwrap())
}

#[test]
fn rights_of_another_user() {
    let folder = Folder::new();
    let Some(command) = of_others(&folder) else {
        return;
    };
    let examine = |path: &Path| {
        let variables = [
            ("CORECLR_ENABLE_PROFILING", "1"),
            ("CORECLR_PROFILER", CLSID),
            (PATH, path.to_str().unwrap()),
        ];
        examined_by_other(&command, &[], &variables)
    };
    let inner = folder.path("inner");
    fs::create_dir(&inner).unwrap();
    let copy = inner.join("library.so");
    fs::copy(library(), &copy).unwrap();
    for path in [&inner, &copy] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    assert!(
        examine(&copy).contains("can be loaded"),
        "{}",
        examine(&copy)
    );
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o700)).unwrap();
    assert_fault(&examine(&copy), "library-not-readable");
    fs::set_permissions(&inner, fs::Permissions::from_mode(0o700)).unwrap();
    assert_fault(&examine(&copy), "folder-not-readable");
}

#[test]
fn processes_of_another_user() {
    let folder = Folder::new();
    let Some(command) = of_others(&folder) else {
        return;
    };
    let runtime = runtimes()[0];
    let launch = runtime.launch(&profilee("Hot"), &[]);
    let mut program = Running::start(launch.command().unwrap());
    assert_eq!(program.line(), "ready");
    let process = program.id().to_string();
    let told = examined_by_other(&command, &["-p", &process], &[]);
    assert_fault(&told, "other-user");
}

/// A library of these lines, which the compiler of the tests makes.
fn compiled(folder: &Folder, source: &str) -> PathBuf {
    compiled_as("cdylib", &folder.path("liblibrary.so"), source)
}

/// An executable of these lines.
fn executable(folder: &Folder, source: &str) -> PathBuf {
    compiled_as("bin", &folder.path("program"), source)
}

fn compiled_as(kind: &str, library: &Path, source: &str) -> PathBuf {
    let file = library.with_extension("rs");
    fs::write(&file, source).unwrap();
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc)
        .args(["--edition", "2024", "--crate-type", kind])
        .args(["-C", "panic=abort", "-o"])
        .args([library, &file])
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    library.to_owned()
}

#[test]
fn a_library_that_crashes() {
    let folder = Folder::new();
    let library = compiled(
        &folder,
        r#"
            #[used]
            #[unsafe(link_section = ".init_array")]
            static START: extern "C" fn() = start;
            extern "C" fn start() { std::process::abort() }
            #[unsafe(no_mangle)]
            extern "C" fn DllGetClassObject() {}
        "#,
    );
    for runtime in runtimes() {
        let mut variables = good(&folder.path("status"));
        variables.insert(PATH, library.to_str().unwrap().to_owned());
        let launch = runtime.launch(&sample(), &[]);
        let mut command = launch.command().unwrap();
        let output = command.envs(&variables).output().unwrap();
        assert!(!output.status.success(), "{output:?}");
        let mut command = clr_on(runtime, &["doctor", "--json"], &sample(), &[]);
        let told = stdout(&command.envs(&variables).output().unwrap());
        assert_fault(&told, "crashes");
    }
}

/// Its Initialize returns E_FAIL, and says nothing.
#[test]
fn a_library_whose_initialize_fails() {
    let folder = Folder::new();
    let library = compiled(
        &folder,
        r#"
            use std::ffi::c_void;

            type Object = *const c_void;

            extern "C" fn query(this: Object, _: Object, out: *mut Object) -> i32 {
                unsafe { *out = this };
                0
            }
            extern "C" fn count() -> u32 { 2 }
            extern "C" fn create(_: Object, _: Object, _: Object, out: *mut Object) -> i32 {
                unsafe { *out = object(initialize as *const () as usize) };
                0
            }
            extern "C" fn initialize() -> i32 { 0x8000_4005_u32 as i32 }

            // The fourth method of a factory is CreateInstance, and that of a profiler is Initialize.
            fn object(fourth: usize) -> Object {
                let mut table = [count as *const () as usize; 128];
                table[0] = query as *const () as usize;
                table[3] = fourth;
                let table: &'static [usize; 128] = Box::leak(Box::new(table));
                let object: &'static &'static [usize; 128] = Box::leak(Box::new(table));
                (&raw const *object).cast()
            }

            #[unsafe(no_mangle)]
            extern "C" fn DllGetClassObject(_: Object, _: Object, out: *mut Object) -> i32 {
                unsafe { *out = object(create as *const () as usize) };
                0
            }
        "#,
    );
    for runtime in runtimes() {
        let mut variables = good(&folder.path("status"));
        variables.insert(PATH, library.to_str().unwrap().to_owned());
        let mut command = clr_on(runtime, &["doctor", "--json"], &sample(), &[]);
        let told = stdout(&command.envs(&variables).output().unwrap());
        assert_fault(&told, "initialize-refused");
    }
}

#[test]
fn hot_reload_is_said() {
    let folder = Folder::new();
    let variables = good(&folder.path("status"));
    let mut command = clr(&["doctor", "--json"]);
    command
        .envs(&variables)
        .env("DOTNET_MODIFIABLE_ASSEMBLIES", "debug");
    assert_fault(&stdout(&command.output().unwrap()), "hot-reload");
}

/// A folder that is mounted for the process alone, as a service manager does it, is no obstacle to an attach.
#[test]
fn a_private_temporary_folder() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let mount = folder.path("mount");
        fs::create_dir(&mount).unwrap();
        let launch = runtime.launch(&profilee("Hot"), &[]);
        let plain = launch.command().unwrap();
        let within = |program: &Command| {
            let mut command = Command::new("unshare");
            let script = "mount -t tmpfs none \"$0\" && exec \"$@\"";
            command.args(["-m", "sh", "-c", script]).arg(&mount);
            command.arg(program.get_program()).args(program.get_args());
            for (name, value) in program.get_envs() {
                match value {
                    Some(value) => command.env(name, value),
                    None => command.env_remove(name),
                };
            }
            command.env("TMPDIR", &mount);
            command
        };
        let is_possible = within(&Command::new("true")).output();
        if !is_possible.is_ok_and(|output| output.status.success()) {
            eprintln!("NOT TESTED: no file system can be mounted here");
            return;
        }
        let mut program = Running::start(within(&plain));
        assert_eq!(program.line(), "ready");
        let words = ["doctor", "--json", "-p", &program.id().to_string()];
        let told = stdout(&clr(&words).output().unwrap());
        let socket = format!("/proc/{}/root", program.id());
        assert!(told.contains("one can be attached at"), "{told}");
        assert!(told.contains(&socket), "{told}");
        let process = program.id().to_string();
        let library = library().to_str().unwrap();
        let named = [
            "--profiler",
            library,
            "--clsid",
            CLSID,
            "--data",
            "JIT_LOGGER_OUTPUT=/dev/null",
        ];
        let attached = clr(&[&["attach", &process], &named[..]].concat())
            .output()
            .unwrap();
        assert!(attached.status.success(), "{attached:?}");
        let told = stdout(&clr(&words).output().unwrap());
        assert!(told.contains("has loaded"), "{told}");
    }
}

/// Programs that the rules tell from others by their files: neither has a runtime that loads profilers.
#[test]
fn other_runtimes() {
    let folder = Folder::new();
    let examine = |process: u32| {
        let words = ["doctor", "--json", "-p", &process.to_string()];
        stdout(&clr(&words).output().unwrap())
    };
    // A socket for diagnostic tools, and no JIT compiler.
    let temporary = folder.path("temporary");
    fs::create_dir(&temporary).unwrap();
    let program = executable(
        &folder,
        r#"
            fn main() {
                let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
                let start = stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap();
                let name = format!("dotnet-diagnostic-{}-{start}-socket", std::process::id());
                let path = std::env::temp_dir().join(name);
                let socket = std::os::unix::net::UnixListener::bind(path).unwrap();
                println!("ready");
                while socket.accept().is_ok() {}
            }
        "#,
    );
    let mut command = Command::new(program);
    command.env("TMPDIR", &temporary);
    let mut program = Running::start(command);
    assert_eq!(program.line(), "ready");
    let told = examine(program.id());
    assert_fault(&told, "native-aot");
    drop(program);

    if !Path::new("/usr/bin/mono").exists() {
        eprintln!("NOT TESTED: there is no Mono here");
        return;
    }
    // It compiles its standard input, which does not come.
    let mut child = Command::new("/usr/bin/mcs")
        .args(["-out:/dev/null", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut told = String::new();
    for _ in 0..200 {
        told = examine(child.id());
        if told.contains("\"mono\"") {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let _ = child.kill();
    let _ = child.wait();
    assert_fault(&told, "mono");
}

#[test]
fn the_files_of_a_container() {
    let folder = Folder::new();
    let root = folder.path("root");
    for path in ["opt", "usr/lib64", "usr/lib/x86_64-linux-gnu"] {
        fs::create_dir_all(root.join(path)).unwrap();
    }
    // An absolute link of the image is one in the image.
    symlink("/usr/lib64", root.join("lib64")).unwrap();
    fs::copy(library(), root.join("opt/library.so")).unwrap();
    fs::write(root.join("usr/lib64/ld-linux-x86-64.so.2"), "").unwrap();
    let examine = |path: &str| {
        let mut command = clr(&["doctor", "--json", "--container-root"]);
        command.arg(&root).envs(good(&folder.path("status")));
        command.env(PATH, path);
        stdout(&command.output().unwrap())
    };
    assert_fault(&examine("/opt/other.so"), "missing-library");
    assert_fault(&examine("/opt/library.so"), "missing-dependency");
    for name in [
        "libgcc_s.so.1",
        "libc.so.6",
        "libm.so.6",
        "libpthread.so.0",
        "libdl.so.2",
        "librt.so.1",
    ] {
        let text = "GNU C Library (Debian) stable release version 2.36.\n";
        fs::write(root.join("usr/lib64").join(name), text).unwrap();
    }
    let told = examine("/opt/library.so");
    assert!(told.contains("fits"), "{told}");

    // One of these needs another one.
    let of_others = root.join("usr/lib64/libgcc_s.so.1");
    let text = fs::read(&of_others).unwrap();
    let mut other = fs::read(library()).unwrap();
    exchange(&mut other, b"libgcc_s.so.1\0", b"libxyz_s.so.1\0");
    fs::write(&of_others, other).unwrap();
    let told = examine("/opt/library.so");
    assert_fault(&told, "missing-dependency");
    for part in [
        "libgcc_s.so.1` needs the library libxyz_s.so.1",
        "without that `/opt/library.so` cannot be loaded",
    ] {
        assert!(told.contains(part), "{told}");
    }
    fs::write(&of_others, text).unwrap();
    let old = "GNU C Library stable release version 2.17, by others\n";
    fs::write(root.join("usr/lib64/libc.so.6"), old).unwrap();
    assert_fault(&examine("/opt/library.so"), "newer-c-library");
    fs::rename(
        root.join("usr/lib64/ld-linux-x86-64.so.2"),
        root.join("usr/lib/ld-musl-x86_64.so.1"),
    )
    .unwrap();
    symlink("usr/lib", root.join("lib")).unwrap();
    assert_fault(&examine("/opt/library.so"), "wrong-c-library");
}
