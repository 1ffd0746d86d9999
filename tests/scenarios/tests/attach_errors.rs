//! Attaching to processes to which it is impossible: each time a sentence says why.

#![cfg(target_os = "linux")]

use std::ffi::OsStr;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use clr_profiler_launcher::{Attach, Error, ProfilerLibrary};
use clr_profiler_tests::{Running, Scenario, clsid, profilee, runtimes};

const WATCHES: &str = "Watches";

fn library() -> ProfilerLibrary {
    Scenario::new("Waits").profiler_library(WATCHES)
}

fn attach(process: u32) -> Result<(), Error> {
    Attach::new(process).profiler(library()).send()
}

/// A temporary folder, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("clr-attach-{name}-{}", process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A process that is not a .NET program, with a folder for its sockets.
struct Sleeper {
    child: Child,
    folder: Folder,
}

impl Sleeper {
    fn new(name: &str) -> Self {
        let mut sleep = Command::new("sleep");
        sleep.arg("1000");
        Self::running(name, &mut sleep)
    }

    /// A process that listens as a runtime would, and runs this function on each connection.
    fn with_runtime(name: &str) -> Self {
        assert!(RUNTIMES.iter().any(|(known, _)| *known == name));
        let mut test = Command::new(env::current_exe().unwrap());
        test.args(["--exact", "--ignored", &in_this_program("as_a_runtime")])
            .env("SCENARIO_RUNTIME", name)
            .stdout(Stdio::null());
        let sleeper = Self::running(name, &mut test);
        while !is_listened_to(&sleeper.socket()) {
            thread::yield_now();
        }
        sleeper
    }

    fn running(name: &str, command: &mut Command) -> Self {
        let folder = Folder::new(name);
        let child = command.env("TMPDIR", &folder.0).spawn().unwrap();
        // Before that it has not called exec yet: its environment is that of this process.
        let environment = format!("/proc/{}/environ", child.id());
        let expected = format!("TMPDIR={}", folder.0.display());
        while !fs::read_to_string(&environment)
            .unwrap_or_default()
            .split('\0')
            .any(|variable| variable == expected)
        {
            thread::yield_now();
        }
        Self { child, folder }
    }

    /// The socket on which its runtime would listen.
    fn socket(&self) -> PathBuf {
        self.folder.0.join(socket_of(self.child.id()))
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether connections to a socket are accepted: its file is there before that.
fn is_listened_to(socket: &Path) -> bool {
    const ACCEPTS: &str = "00010000";
    let all = fs::read_to_string("/proc/net/unix").unwrap();
    let socket = socket.to_str().unwrap();
    let mut of_socket = all.lines().filter(|line| line.ends_with(socket));
    of_socket.any(|line| line.split_whitespace().nth(3) == Some(ACCEPTS))
}

/// The name of a test of this file among those of its program.
fn in_this_program(test: &str) -> String {
    let (_, module) = module_path!().split_once("::").unwrap_or_default();
    format!("{module}::{test}")
}

/// The name of the socket on which the runtime of a process would listen. Nothing in it is secret.
fn socket_of(process: u32) -> String {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
    let start = stat.split(' ').nth(21).unwrap();
    format!("dotnet-diagnostic-{process}-{start}-socket")
}

/// The code that [`Sleeper::with_runtime`] runs in a process of its own.
#[test]
#[ignore = "run by Sleeper::with_runtime"]
fn as_a_runtime() {
    let name = env::var("SCENARIO_RUNTIME").unwrap();
    let (_, runtime) = RUNTIMES.iter().find(|(known, _)| *known == name).unwrap();
    let listener = UnixListener::bind(env::temp_dir().join(socket_of(process::id()))).unwrap();
    runtime(listener.accept().unwrap().0);
}

/// The function for each connection.
type Answers = fn(UnixStream);

/// Listeners that are not a runtime, or do not answer.
const RUNTIMES: [(&str, Answers); 7] = [
    ("hangs-up", drop),
    ("talks", |mut stream| {
        let _ = stream.write_all(b"SSH-2.0-OpenSSH_9.2 and more than a header of it");
        read_to_end(stream);
    }),
    ("stops-early", |mut stream| {
        let _ = stream.write_all(b"DOTNET_IPC_V1\0\x18");
        let _ = stream.shutdown(Shutdown::Write);
        read_to_end(stream);
    }),
    // Says that it has 64 KiB, sends far more, and nothing that is an answer.
    ("floods", |mut stream| {
        let _ = stream.write_all(b"DOTNET_IPC_V1\0\xFF\xFF\x01\x01\0\0");
        while stream.write_all(&[0; 4096]).is_ok() {}
    }),
    ("refuses", |mut stream| {
        let _ = stream.write_all(b"DOTNET_IPC_V1\0\x18\0\xFF\xFF\0\0\x85\x13\x13\x80");
        read_to_end(stream);
    }),
    ("silent", read_to_end),
    // Sends a little again and again.
    ("slow", |mut stream| {
        for byte in b"DOTNET_IPC_V1\0".iter().cycle() {
            thread::sleep(Duration::from_millis(300));
            if stream.write_all(&[*byte]).is_err() {
                break;
            }
        }
    }),
];

fn read_to_end(mut stream: UnixStream) {
    let _ = stream.read_to_end(&mut Vec::new());
}

#[test]
fn a_process_that_has_ended() {
    let mut child = Command::new("true").spawn().unwrap();
    child.wait().unwrap();
    let error = attach(child.id()).unwrap_err();
    assert!(matches!(error, Error::NoSuchProcess { .. }), "{error:?}");
    let text = format!("There is no process {}. ", child.id());
    assert!(error.to_string().starts_with(&text), "{error}");
}

#[test]
fn a_process_that_is_no_dotnet_program() {
    let sleeper = Sleeper::new("none");
    let error = attach(sleeper.child.id()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, Error::NoDiagnostics { .. }), "{error:?}");
    assert!(text.contains(" (sleep) is not a .NET program"), "{text}");
    assert!(text.contains("DOTNET_EnableDiagnostics"), "{text}");
    let folder = sleeper.folder.0.to_string_lossy().into_owned();
    assert!(
        text.contains(&format!("\n  {folder}/dotnet-diagnostic-")),
        "{text}"
    );
}

#[test]
fn a_profiler_that_is_not_in_the_library() {
    let unknown = "C0DE0000-0000-4000-8000-00000000003F";
    // This is found before any process is inspected.
    let error = Attach::new(u32::MAX)
        .profiler(Scenario::new("Waits").profiler_library(unknown))
        .send()
        .unwrap_err();
    assert!(
        matches!(error, Error::ClsidNotInLibrary { .. }),
        "{error:?}"
    );
    let error = Attach::new(u32::MAX).send().unwrap_err();
    assert!(matches!(error, Error::NoProfiler), "{error:?}");
}

#[test]
fn something_else_listens() {
    for (name, problem) in [
        ("hangs-up", "failed: "),
        (
            "talks",
            r#"an answer came, but it begins with "SSH-2.0-OpenSS""#,
        ),
        ("stops-early", "an answer came, but it ends too early"),
        ("floods", "it is the command 0x01, 0x01"),
        (
            "refuses",
            "CORDIAGIPC_E_UNKNOWN_COMMAND (0x80131385): it does not know the request",
        ),
    ] {
        let sleeper = Sleeper::with_runtime(name);
        let text = attach(sleeper.child.id()).unwrap_err().to_string();
        // Closing the connection at once fails a write or a read.
        let ended = name == "hangs-up" && text.contains("ends too early");
        assert!(ended || text.contains(problem), "{name}: {text}");
    }
}

/// Listens as a runtime in a process would, and returns the bytes that were received before the other
/// side closed the connection.
fn listen(socket: &Path) -> thread::JoinHandle<Vec<u8>> {
    let listener = UnixListener::bind(socket).unwrap();
    thread::spawn(move || {
        let mut received = Vec::new();
        let _ = listener.accept().unwrap().0.read_to_end(&mut received);
        received
    })
}

#[test]
fn another_process_listens_in_place_of_the_runtime() {
    for is_link in [false, true] {
        let sleeper = Sleeper::new("planted");
        let process = sleeper.child.id();
        let listener = if is_link {
            let elsewhere = sleeper.folder.0.join("elsewhere");
            std::os::unix::fs::symlink(&elsewhere, sleeper.socket()).unwrap();
            listen(&elsewhere)
        } else {
            listen(&sleeper.socket())
        };
        let error = attach(process).unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::ForeignListener { .. }), "{error:?}");
        let expected = format!(
            "The socket `{}` is not listened to by the process {process} (sleep), but by the \
             process {}. Nothing was sent to it.",
            sleeper.socket().display(),
            process::id()
        );
        assert!(text.starts_with(&expected), "{text}");
        assert_eq!(listener.join().unwrap(), [0_u8; 0], "nothing is sent to it");
    }
}

#[test]
fn nobody_answers() {
    for name in ["silent", "slow"] {
        let sleeper = Sleeper::with_runtime(name);
        let start = Instant::now();
        let error = Attach::new(sleeper.child.id())
            .profiler(library())
            .timeout(Duration::from_millis(200))
            .send()
            .unwrap_err();
        assert!(matches!(error, Error::NoAnswer { .. }), "{name}: {error:?}");
        assert!(error.to_string().contains("within 1.2 s"), "{error}");
        assert!(start.elapsed() >= Duration::from_millis(1200));
        assert!(start.elapsed() < Duration::from_secs(30));
    }
}

#[test]
fn the_socket_of_a_dead_process_with_the_same_id_is_not_taken() {
    let sleeper = Sleeper::new("stale");
    let process = sleeper.child.id();
    let name = format!("dotnet-diagnostic-{process}-1-socket");
    let _listener = UnixListener::bind(sleeper.folder.0.join(name)).unwrap();
    let error = attach(process).unwrap_err();
    assert!(matches!(error, Error::NoDiagnostics { .. }), "{error:?}");
}

#[test]
fn a_program_with_a_temporary_folder_of_its_own_is_found() {
    let folder = Folder::new("own");
    let scenario = Scenario::new("Waits").env("TMPDIR", &folder.0.to_string_lossy());
    for runtime in runtimes() {
        let mut program = scenario.start(runtime);
        assert_eq!(program.line(), "ready");
        attach(program.id()).unwrap_or_else(|error| panic!("{}: {error}", runtime.name));
        assert_eq!(program.ask("end"), "ending");
        assert_eq!(program.finish().status.code(), Some(5));
    }
}

#[test]
fn a_program_whose_diagnostics_are_switched_off() {
    for runtime in runtimes() {
        // .NET Core 3.1 reads the first only.
        let names = ["COMPlus_EnableDiagnostics", "DOTNET_EnableDiagnostics"];
        for name in &names[..if runtime.major == 3 { 1 } else { 2 }] {
            let mut program = Scenario::new("Waits").env(name, "0").start(runtime);
            assert_eq!(program.line(), "ready");
            let error = attach(program.id()).unwrap_err();
            let text = error.to_string();
            assert!(matches!(error, Error::NoDiagnostics { .. }), "{error:?}");
            assert!(
                text.contains(&format!("was started with {name}=0, ")),
                "{text}"
            );
            assert_eq!(program.ask("end"), "ending");
            assert_eq!(program.finish().status.code(), Some(5));
        }
    }
}

#[test]
fn a_program_that_takes_no_profilers_at_its_start_takes_attached_ones() {
    for runtime in runtimes() {
        let name = "DOTNET_EnableDiagnostics_Profiler";
        let mut program = Scenario::new("Waits").env(name, "0").start(runtime);
        assert_eq!(program.line(), "ready");
        attach(program.id()).unwrap_or_else(|error| panic!("{}: {error}", runtime.name));
        assert_eq!(program.ask("end"), "ending");
        assert_eq!(program.finish().status.code(), Some(5));
    }
}

/// The code that [`another_user`] runs as that user.
#[test]
#[ignore = "run by another_user"]
fn as_another_user() {
    let id = env::var("SCENARIO_PROCESS").unwrap().parse().unwrap();
    let library =
        ProfilerLibrary::new(env::var("SCENARIO_LIBRARY").unwrap(), clsid(WATCHES)).unwrap();
    match Attach::new(id).profiler(library).send() {
        Ok(()) => println!("attached"),
        Err(error) => println!("{error:?}\n{error}"),
    }
}

fn is_root() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let is_root = status.lines().any(|line| line.starts_with("Uid:\t0\t"));
    if !is_root {
        eprintln!("NOT TESTED: attaching as another user takes root");
    }
    is_root
}

#[test]
fn another_user() {
    if !is_root() {
        return;
    }
    // Copies that another user may read and run, wherever this program is.
    let folder = Folder::new("user");
    let copy = |from: &Path, name: &str| {
        let to = folder.0.join(name);
        fs::copy(from, &to).unwrap();
        fs::set_permissions(&to, fs::Permissions::from_mode(0o755)).unwrap();
        to
    };
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o755)).unwrap();
    let test = copy(&env::current_exe().unwrap(), "test");
    let profiler = copy(library().path(), "libprofiler.so");
    for runtime in runtimes() {
        let mut program = Scenario::new("Waits").start(runtime);
        assert_eq!(program.line(), "ready");
        let output = Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(&test)
            .args(["--exact", "--ignored", "--nocapture", &in_this_program("as_another_user")])
            .env("SCENARIO_PROCESS", program.id().to_string())
            .env("SCENARIO_LIBRARY", &profiler)
            .current_dir("/")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{output:?}");
        assert!(text.contains("OtherUser"), "{text}");
        assert!(text.contains("it belongs to another user"), "{text}");
        assert!(text.contains("-socket`: permission denied"), "{text}");
        assert_eq!(program.ask("end"), "ending");
        assert_eq!(program.finish().status.code(), Some(5));
    }
}

/// A copy of a folder that another user may read, wherever the folder is: by links, if possible.
fn copy_of(folder: &Path, to: &Path) {
    let copy = |how: &str| {
        let status = Command::new("cp").arg(how).args([folder, to]).status();
        status.unwrap().success()
    };
    assert!(copy("-rlT") || copy("-rT"));
}

#[test]
fn root_attaches_to_the_program_of_another_user() {
    const NOBODY: u32 = 65_534;
    if !is_root() {
        return;
    }
    for runtime in runtimes() {
        let folder = Folder::new("nobody");
        fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o755)).unwrap();
        let at = |name: &str| folder.0.join(name);
        let program = profilee("Waits");
        let launch = runtime.launch(&program, &[]);
        let plain = launch.command().unwrap();
        let host = Path::new(plain.get_program());
        copy_of(host.parent().unwrap(), &at("runtime"));
        fs::create_dir(at("programs")).unwrap();
        for name in ["Waits.dll", "Waits.runtimeconfig.json"] {
            fs::copy(program.with_file_name(name), at("programs").join(name)).unwrap();
        }
        fs::copy(library().path(), at("libprofiler.so")).unwrap();
        fs::create_dir(at("own")).unwrap();
        std::os::unix::fs::chown(at("own"), Some(NOBODY), None).unwrap();
        // The same command with the copies.
        let copied = |text: &OsStr| {
            let path = Path::new(text);
            if path.ends_with("StartupHook.dll") {
                fs::copy(path, at("hook.dll")).unwrap();
                return at("hook.dll").into_os_string();
            }
            match path.strip_prefix(program.parent().unwrap()) {
                Ok(name) => at("programs").join(name).into_os_string(),
                Err(_) => text.to_owned(),
            }
        };
        let mut command = Command::new("setpriv");
        command
            .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
            .arg(at("runtime").join(host.file_name().unwrap()))
            .args(plain.get_args().map(copied))
            .env("HOME", at("own"))
            .env("TMPDIR", at("own"))
            .env("SCENARIO_LOG", at("own").join("log"))
            .current_dir(at("own"));
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, copied(value)),
                None => command.env_remove(name),
            };
        }
        let mut program = Running::start(command);
        assert_eq!(program.line(), "ready");
        // The socket belongs to that user only.
        let about = fs::metadata(at("own").join(socket_of(program.id()))).unwrap();
        assert_eq!((about.uid(), about.mode() & 0o077), (NOBODY, 0));

        let profiler = ProfilerLibrary::new(at("libprofiler.so"), clsid(WATCHES)).unwrap();
        let attached = Attach::new(program.id()).profiler(profiler).send();
        attached.unwrap_or_else(|error| panic!("{}: {error}", runtime.name));
        assert_eq!(program.ask("end"), "ending");
        assert_eq!(program.finish().status.code(), Some(5));
        // The profiler has the rights of the program, not those of the attaching user.
        let about = fs::metadata(at("own").join("log")).unwrap();
        assert_eq!((about.uid(), about.len() > 0), (NOBODY, true));
    }
}
