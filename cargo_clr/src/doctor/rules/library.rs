//! Faults of the profiler's library.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::super::Fault;
use super::super::agents::agent;
use super::super::binary::{self, Format, Machine, Missing};
use super::super::facts::{Facts, Named};
use super::super::system::{self, seen};

/// The library, if it is a file that this user can read.
pub(super) fn readable(facts: &Facts) -> Option<(Named, PathBuf)> {
    let named = facts.named()?;
    let path = seen(facts, &named.path);
    path.is_file().then_some((named, path))
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
                system::permit_folders(&named.path),
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
    let is_private = system::other_cannot_read(facts, &path);
    if !is_private && !File::open(&path).is_err_and(is_denied) {
        return None;
    }
    Some(Fault::new(
        "library-not-readable",
        format!(
            "The user of the program may not read `{}`.",
            named.path.display()
        ),
        system::permit(&named.path),
    ))
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
    let other = |name, system| {
        Some(Fault::new(
            name,
            format!("`{path}` is a library for {system}."),
            remedy.clone(),
        ))
    };
    let format = match start.get(..4) {
        Some([0x7f, b'E', b'L', b'F']) => Some(Format::Elf),
        Some([b'M', b'Z', ..]) => Some(Format::Pe),
        Some([0xcf, 0xfa, 0xed, 0xfe] | [0xca, 0xfe, 0xba, 0xbe]) => {
            return match cfg!(target_os = "macos") {
                true => None,
                false => other("macos-library", "macOS"),
            };
        }
        _ => None,
    };
    let binary = binary::read(&seen(facts, &named.path));
    match format {
        Some(Format::Pe) if binary.as_ref().is_some_and(|file| file.is_managed) => {
            Some(Fault::new(
                "managed-library",
                format!("`{path}` is a managed assembly, and a profiler is a native library."),
                remedy,
            ))
        }
        Some(Format::Pe) if !cfg!(windows) => other("windows-library", "Windows"),
        Some(Format::Elf) if cfg!(windows) => other("linux-library", "Linux"),
        // A file with a damaged header is not read.
        Some(_) if binary.is_some() || cfg!(target_os = "macos") => None,
        None if cfg!(target_os = "macos") => None,
        _ => Some(Fault::new(
            "not-a-library",
            format!("`{path}` is not a native library, or it is damaged."),
            remedy,
        )),
    }
}

pub(super) fn executable(facts: &Facts) -> Option<Fault> {
    let (named, path) = readable(facts)?;
    if !binary::read(&path)?.is_executable {
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
    let (theirs, here) = (binary::read(&path)?.machine, &facts.machine);
    if theirs == *here {
        return None;
    }
    Some(Fault::new(
        "wrong-processor",
        format!(
            "`{}` is for {} ({} bits), and the program runs on {} ({} bits).",
            named.path.display(),
            theirs.processor,
            theirs.bits,
            here.processor,
            here.bits
        ),
        format!(
            "Set {} to the library that was built for {}.",
            named.variable, here.processor
        ),
    ))
}

pub(super) fn missing_dependency(facts: &Facts) -> Option<Fault> {
    let (named, path) = readable(facts)?;
    // A loader that finds everything has places that are not known here.
    let told = match can_load(facts) {
        Some(_) => Some(loaded(facts, &path).err()?.1),
        None => None,
    };
    let Missing { name, needed_by } = system::missing(facts, &path, told.as_deref())?;
    let needed_by = match needed_by == path {
        true => named.path.clone(),
        false => outside(facts, &needed_by),
    };
    let consequence = match needed_by == named.path {
        true => String::new(),
        false => format!(
            ", and without that `{}` cannot be loaded",
            named.path.display()
        ),
    };
    Some(Fault::new(
        "missing-dependency",
        format!(
            "`{}` needs the library {name}, which the loader does not find{consequence}.",
            needed_by.display()
        ),
        system::provide(&name),
    ))
}

/// The path in a container of a file below its root.
fn outside(facts: &Facts, path: &Path) -> PathBuf {
    let root = facts.root.as_deref();
    let below = root.and_then(|root| path.strip_prefix(root).ok());
    below.map_or_else(|| path.to_owned(), |below| Path::new("/").join(below))
}

pub(super) fn no_class_factory(facts: &Facts) -> Option<Fault> {
    let (named, path) = readable(facts)?;
    if binary::read(&path)?.has_class_factory() {
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
    // Windows does not say which one.
    if told.contains("os error 127") {
        return Some(Fault::new(
            "undefined-symbol",
            format!(
                "`{}` needs a function that no DLL of the name exports from which it is imported.",
                named.path.display()
            ),
            "Give it the versions of the DLLs with which it was built; `dumpbin /imports` lists the functions.",
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

/// The class id, if a process of this command can load the library as the program does.
fn can_load(facts: &Facts) -> Option<&str> {
    // The loader and the libraries of a container are others, and so are those of another processor.
    if facts.root.is_some() || facts.machine != Machine::own() {
        return None;
    }
    // One that is no class id is a fault of its own.
    let clsid = facts.variable("CORECLR_PROFILER")?;
    clsid
        .parse::<clr_profiler_launcher::Clsid>()
        .is_ok()
        .then_some(clsid)
}

/// Loads the library in a process of its own. The error says whether that crashed, and its message.
pub(super) fn loaded(facts: &Facts, path: &Path) -> Result<(), (bool, String)> {
    let Some(clsid) = can_load(facts) else {
        return Ok(());
    };
    let Ok(own) = std::env::current_exe() else {
        return Ok(());
    };
    let mut command = Command::new(own);
    command
        .arg("__load")
        .arg(path)
        .arg(clsid)
        .stdin(Stdio::null());
    // The loader of the program reads it.
    if let Some(folders) = facts.variable(system::FOLDERS) {
        command.env(system::FOLDERS, folders);
    }
    let Ok(output) = command.output() else {
        return Ok(());
    };
    if output.status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let told = told.trim().trim_start_matches("error: ").to_owned();
    match system::crash(output.status) {
        Some(crash) => Err((true, crash)),
        None => Err((false, told)),
    }
}
