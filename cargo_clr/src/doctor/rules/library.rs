//! Faults of the profiler's library.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::super::agents::agent;
use super::super::facts::{Facts, Named};
use super::super::{Fault, elf};

/// The library, if it is a file that this user can read.
fn readable(facts: &Facts) -> Option<(Named, PathBuf)> {
    let named = facts.named()?;
    let path = seen(facts, &named.path);
    path.is_file().then_some((named, path))
}

/// The file as the process sees it, which may be in a container.
fn seen(facts: &Facts, path: &Path) -> PathBuf {
    let below = path.strip_prefix("/").unwrap_or(path);
    if let Some(root) = &facts.root {
        return within(root, below);
    }
    match &facts.process {
        Some(process) => {
            let theirs = PathBuf::from(format!("/proc/{}/root", process.id)).join(below);
            if theirs.exists() {
                theirs
            } else {
                path.to_owned()
            }
        }
        None => path.to_owned(),
    }
}

/// The file below the root of a container, where absolute links begin at that root.
fn within(root: &Path, below: &Path) -> PathBuf {
    let mut path = root.to_owned();
    for part in below.components() {
        path.push(part);
        // A chain of links that never ends is a file that cannot be opened.
        for _ in 0..8 {
            let Ok(target) = fs::read_link(&path) else {
                break;
            };
            path = match target.strip_prefix("/") {
                Ok(target) => root.join(target),
                Err(_) => path.with_file_name("").join(target),
            };
        }
    }
    path
}

pub(super) fn missing(facts: &Facts) -> Option<Fault> {
    let named = facts.named()?;
    let path = seen(facts, &named.path);
    match fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            return Some(Fault::new(
                "folder-not-readable",
                format!(
                    "A folder of `{}` may not be entered by this user.",
                    named.path.display()
                ),
                format!(
                    "Give the user of the program the right to read it: chmod a+rx on the folders of `{}`.",
                    named.path.display()
                ),
            ));
        }
        Err(_) => {}
        Ok(_) => return None,
    }
    if Path::new(&named.value).is_relative() {
        return Some(Fault::new(
            "relative-path",
            format!(
                "{}={} is relative, and there is no such file in the folder of the program, `{}`.",
                named.variable,
                named.value,
                facts.folder.display()
            ),
            format!("Set {} to an absolute path.", named.variable),
        ));
    }
    Some(Fault::new(
        "missing-library",
        format!(
            "There is no file `{}`, which {} names.",
            named.path.display(),
            named.variable
        ),
        "Build or copy the library there, or correct the path; in a container it is the path inside.",
    ))
}

pub(super) fn folder(facts: &Facts) -> Option<Fault> {
    let named = facts.named()?;
    if !seen(facts, &named.path).is_dir() {
        return None;
    }
    Some(Fault::new(
        "path-is-folder",
        format!("`{}` is a folder.", named.path.display()),
        format!("Set {} to the library in it.", named.variable),
    ))
}

pub(super) fn unreadable(facts: &Facts) -> Option<Fault> {
    let (named, path) = readable(facts)?;
    let is_denied = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
    let is_private = other_cannot_read(facts, &path);
    if !is_private && !File::open(&path).is_err_and(is_denied) {
        return None;
    }
    Some(Fault::new(
        "library-not-readable",
        format!(
            "The user of the program may not read `{}`.",
            named.path.display()
        ),
        format!("chmod a+r `{}`.", named.path.display()),
    ))
}

/// Whether the process belongs to another user, who may not read the file.
#[cfg(unix)]
fn other_cannot_read(facts: &Facts, path: &Path) -> bool {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let Some(user) = facts.other_user().filter(|user| *user != 0) else {
        return false;
    };
    fs::metadata(path)
        .is_ok_and(|about| about.uid() != user && about.permissions().mode() & 0o004 == 0)
}

#[cfg(not(unix))]
fn other_cannot_read(_facts: &Facts, _path: &Path) -> bool {
    false
}

pub(super) fn wrong_kind(facts: &Facts) -> Option<Fault> {
    let (named, path) = readable(facts)?;
    let mut start = Vec::new();
    File::open(path)
        .ok()?
        .take(4096)
        .read_to_end(&mut start)
        .ok()?;
    let path = named.path.display();
    let remedy = format!(
        "Set {} to the native library for this system.",
        named.variable
    );
    match start.get(..4) {
        Some([0x7f, b'E', b'L', b'F']) if cfg!(target_os = "linux") => None,
        Some([b'M', b'Z', ..]) if is_managed(&named.path) => Some(Fault::new(
            "managed-library",
            format!("`{path}` is a managed assembly, and a profiler is a native library."),
            remedy,
        )),
        Some([b'M', b'Z', ..]) if !cfg!(windows) => Some(Fault::new(
            "windows-library",
            format!("`{path}` is a library for Windows."),
            remedy,
        )),
        Some([0xcf, 0xfa, 0xed, 0xfe] | [0xca, 0xfe, 0xba, 0xbe]) if !cfg!(target_os = "macos") => {
            Some(Fault::new(
                "macos-library",
                format!("`{path}` is a library for macOS."),
                remedy,
            ))
        }
        _ if cfg!(target_os = "linux") => Some(Fault::new(
            "not-a-library",
            format!("`{path}` is not a native library, or it is damaged."),
            remedy,
        )),
        _ => None,
    }
}

/// The launcher tells managed assemblies from native libraries.
fn is_managed(path: &Path) -> bool {
    let library = clr_profiler_launcher::ProfilerLibrary::new(path, 0_u128);
    library.is_ok_and(|library| match library.check() {
        Err(error) => error.to_string().contains("managed assembly"),
        Ok(()) => false,
    })
}

pub(super) fn executable(facts: &Facts) -> Option<Fault> {
    let (named, path) = readable(facts)?;
    if !elf::read(&path)?.is_executable {
        return None;
    }
    Some(Fault::new(
        "executable",
        format!(
            "`{}` is an executable, which cannot be loaded as a library.",
            named.path.display()
        ),
        format!("Set {} to the library of the profiler.", named.variable),
    ))
}

pub(super) fn wrong_processor(facts: &Facts) -> Option<Fault> {
    let (named, path) = readable(facts)?;
    let library = elf::read(&path)?;
    let (here, bits) = (std::env::consts::ARCH, usize::BITS);
    if library.processor() == here && u32::from(library.bits) == bits {
        return None;
    }
    Some(Fault::new(
        "wrong-processor",
        format!(
            "`{}` is for {} ({} bits), and the program runs on {here} ({bits} bits).",
            named.path.display(),
            library.processor(),
            library.bits
        ),
        format!(
            "Set {} to the library that was built for {here}.",
            named.variable
        ),
    ))
}

pub(super) fn wrong_c_library(facts: &Facts) -> Option<Fault> {
    let (named, path) = readable(facts)?;
    let library = elf::read(&path)?;
    let is_musl = is_musl(facts)?;
    let (theirs, ours) = match (is_musl, library.needs_musl(), library.needs_glibc()) {
        (true, false, true) => ("glibc", "musl, as in Alpine"),
        (false, true, _) => ("musl", "glibc"),
        _ => return None,
    };
    Some(Fault::new(
        "wrong-c-library",
        format!(
            "`{}` was linked with {theirs}, and the program runs with {ours}.",
            named.path.display()
        ),
        format!(
            "Set {} to a library that was built for that C library.",
            named.variable
        ),
    ))
}

/// Whether the program runs with musl; `None` if it is not known.
fn is_musl(facts: &Facts) -> Option<bool> {
    let mappings = facts
        .process
        .as_ref()
        .and_then(|process| process.mappings.as_ref());
    match mappings {
        Some(mappings) => {
            let has = |part: &str| {
                mappings
                    .iter()
                    .any(|path| path.to_string_lossy().contains(part))
            };
            match (has("ld-musl-"), has("libc.so.6")) {
                (true, _) => Some(true),
                (false, true) => Some(false),
                _ => None,
            }
        }
        None => match &facts.root {
            Some(root) => {
                let has = |folder: &str, start: &str| {
                    let entries = fs::read_dir(within(root, Path::new(folder)));
                    entries
                        .into_iter()
                        .flatten()
                        .flatten()
                        .any(|entry| entry.file_name().to_string_lossy().starts_with(start))
                };
                match (has("lib", "ld-musl-"), has("lib64", "ld-linux-")) {
                    (true, false) => Some(true),
                    (false, true) => Some(false),
                    _ => None,
                }
            }
            None => Some(cfg!(target_env = "musl")),
        },
    }
}

pub(super) fn newer_c_library(facts: &Facts) -> Option<Fault> {
    let (named, path) = readable(facts)?;
    let (major, minor) = elf::read(&path)?.glibc?;
    let here = match &facts.root {
        Some(root) => glibc_in(root)?,
        None => glibc()?,
    };
    if (major, minor) <= here {
        return None;
    }
    Some(Fault::new(
        "newer-c-library",
        format!(
            "`{}` needs glibc {major}.{minor}, and this system has {}.{}.",
            named.path.display(),
            here.0,
            here.1
        ),
        "Build the library on a system as old as the oldest on which it runs, or link it for an older glibc.",
    ))
}

/// The version of this system's glibc.
fn glibc() -> Option<(u32, u32)> {
    let output = Command::new("getconf")
        .arg("GNU_LIBC_VERSION")
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    Some((major.parse().ok()?, minor.split('.').next()?.parse().ok()?))
}

/// The version of the glibc in a container, which says it in words.
fn glibc_in(root: &Path) -> Option<(u32, u32)> {
    let bytes = fs::read(library_in(root, "libc.so.6")?).ok()?;
    let words = b"release version ";
    let at = bytes.windows(words.len()).position(|part| part == words)?;
    let text = bytes.get(at + words.len()..)?;
    let text = String::from_utf8_lossy(&text[..text.len().min(16)]);
    let mut numbers = text.split(|text: char| !text.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// A library in the usual folders of a container.
fn library_in(root: &Path, name: &str) -> Option<PathBuf> {
    let triple = format!("{}-linux-gnu", std::env::consts::ARCH);
    let folders = ["lib", "lib64", "usr/lib", "usr/lib64", "usr/local/lib"];
    let plain = folders.iter().map(PathBuf::from);
    let multi = ["lib", "usr/lib"].map(|folder| Path::new(folder).join(&triple));
    plain
        .chain(multi)
        .map(|folder| within(root, &folder.join(name)))
        .find(|path| path.is_file())
}

/// The first library that the loader would not find.
fn not_found(facts: &Facts, path: &Path) -> Option<String> {
    let needed = elf::read(path)?.needed;
    if let Some(root) = &facts.root {
        let own = facts.variable("LD_LIBRARY_PATH").unwrap_or_default();
        return needed.into_iter().find(|name| {
            let mut folders = own.split(':').filter(|folder| !folder.is_empty());
            let is_own = folders.any(|folder| seen(facts, &Path::new(folder).join(name)).is_file());
            !is_own && library_in(root, name).is_none()
        });
    }
    let told = loaded(facts, path).err()?.1;
    needed
        .into_iter()
        .find(|name| told.contains(&format!("{name}: cannot open shared object file")))
}

pub(super) fn missing_dependency(facts: &Facts) -> Option<Fault> {
    let (named, path) = readable(facts)?;
    let name = not_found(facts, &path)?;
    Some(Fault::new(
        "missing-dependency",
        format!(
            "`{}` needs the library {name}, which the loader does not find.",
            named.path.display()
        ),
        format!(
            "Install the package with {name}, or add its folder to LD_LIBRARY_PATH of the program."
        ),
    ))
}

pub(super) fn no_class_factory(facts: &Facts) -> Option<Fault> {
    let (named, path) = readable(facts)?;
    if elf::read(&path)?.exports_class_factory {
        return None;
    }
    Some(Fault::new(
        "no-class-factory",
        format!(
            "`{}` is a library, but no profiler: it does not export DllGetClassObject.",
            named.path.display()
        ),
        "Name the library of a profiler; in Rust `register!(MyProfiler);` exports it, from a crate whose crate-type is \
         `cdylib`.",
    ))
}

pub(super) fn noexec(facts: &Facts) -> Option<Fault> {
    let (named, path) = readable(facts)?;
    let told = loaded(facts, &path).err()?.1;
    if !told.contains("failed to map segment") {
        return None;
    }
    Some(Fault::new(
        "noexec",
        format!(
            "`{}` is on a file system that is mounted with `noexec`.",
            named.path.display()
        ),
        "Copy the library to another file system, or mount this one without `noexec`.",
    ))
}

/// Whatever else the loader or the library says.
pub(super) fn not_loadable(facts: &Facts) -> Option<Fault> {
    let (named, path) = readable(facts)?;
    let (has_crashed, told) = loaded(facts, &path).err()?;
    let clsid = facts.variable("CORECLR_PROFILER")?;
    if has_crashed {
        return Some(Fault::new(
            "crashes",
            format!(
                "`{}` crashes while it is loaded: {told}.",
                named.path.display()
            ),
            "Ask the maker of the library, or build it again.",
        ));
    }
    if told.contains("CLASS_E_CLASSNOTAVAILABLE") {
        let whose = match agent(clsid) {
            Some(maker) => format!("{clsid} is the class id of {maker}"),
            None => format!("the class id {clsid} is not one of its profilers"),
        };
        return Some(Fault::new(
            if agent(clsid).is_some() {
                "other-agent"
            } else {
                "unknown-clsid"
            },
            format!(
                "`{}` has no profiler with that class id: {whose}.",
                named.path.display()
            ),
            "Set CORECLR_PROFILER and CORECLR_PROFILER_PATH to the class id and the library of the same profiler; only one \
             can be loaded at the start.",
        ));
    }
    let symbol = told
        .split_once("undefined symbol: ")
        .map(|(_, after)| after);
    if let Some(symbol) = symbol {
        let symbol = symbol.split_whitespace().next().unwrap_or(symbol);
        return Some(Fault::new(
            "undefined-symbol",
            format!(
                "`{}` needs the symbol {symbol}, which no library has.",
                named.path.display()
            ),
            "Link the library with the one that defines it, or build it again with the same versions of its parts.",
        ));
    }
    Some(Fault::new(
        "not-loadable",
        told,
        "Correct the library as the message says.",
    ))
}

/// Loads the library in a process of its own. The error says whether that crashed, and its message.
fn loaded(facts: &Facts, path: &Path) -> Result<(), (bool, String)> {
    // One that is no class id is a fault of its own.
    let clsid = facts.variable("CORECLR_PROFILER");
    let Some(clsid) = clsid.filter(|clsid| clsid.parse::<clr_profiler_launcher::Clsid>().is_ok())
    else {
        return Ok(());
    };
    let Ok(own) = std::env::current_exe() else {
        return Ok(());
    };
    // Its loader and its libraries are others.
    if facts.root.is_some() {
        return Ok(());
    }
    let mut command = Command::new(own);
    command
        .arg("__load")
        .arg(path)
        .arg(clsid)
        .stdin(Stdio::null());
    // The loader of the program reads it.
    if let Some(folders) = facts.variable("LD_LIBRARY_PATH") {
        command.env("LD_LIBRARY_PATH", folders);
    }
    let Ok(output) = command.output() else {
        return Ok(());
    };
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let told = told.trim().trim_start_matches("error: ").to_owned();
    match output.status.code() {
        Some(_) => Err((false, told)),
        None => Err((true, output.status.to_string())),
    }
}
