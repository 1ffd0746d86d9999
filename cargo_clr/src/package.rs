//! The profiler of the user: a library, or the package in the current folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clr_profiler_launcher::{Clsid, ProfilerLibrary};
use serde_json::Value;

use crate::cli::Profiler;
use crate::outcome::{Failure, Result};

/// The library that the options name, or that cargo builds.
pub(crate) fn library(options: &Profiler) -> Result<ProfilerLibrary> {
    let built = match &options.profiler {
        Some(path) if !path.is_file() => {
            return Err(Failure::usage(format!(
                "There is no library `{}`.",
                path.display()
            )));
        }
        Some(path) => Built {
            library: path.clone(),
            sources: None,
        },
        None => build()?,
    };
    let clsid: Clsid = match (&options.clsid, &built.sources) {
        (Some(clsid), _) => clsid.parse()?,
        (None, Some(sources)) => only(clsids(sources), sources)?.parse()?,
        (None, None) => return Err(Failure::usage("`--profiler` needs `--clsid`.")),
    };
    let library = ProfilerLibrary::new(&built.library, clsid)?;
    library.check()?;
    Ok(library)
}

struct Built {
    library: PathBuf,
    /// The folder with the source of the library.
    sources: Option<PathBuf>,
}

/// Builds the package in the current folder. Cargo's messages go to stderr.
fn build() -> Result<Built> {
    let cargo = std::env::var_os("CARGO").unwrap_or("cargo".into());
    let built = Command::new(&cargo)
        .args(["build", "--message-format=json-render-diagnostics"])
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output();
    let built = built.map_err(|error| {
        Failure::new(format!(
            "cargo cannot be started: {error}. Name the library of the profiler by `--profiler` and `--clsid`."
        ))
    })?;
    if !built.status.success() {
        return Err(Failure::new(
            "The profiler was not built; cargo's messages are above. In another folder than that of its package, name \
             its library by `--profiler` and `--clsid`.",
        ));
    }
    let messages = String::from_utf8_lossy(&built.stdout);
    let mut libraries = messages.lines().filter_map(artifact);
    // The last one is that of the package: its dependencies are built before.
    libraries.next_back().ok_or_else(|| {
        Failure::new(
            "The package in this folder has no library that a runtime can load. A profiler's Cargo.toml has \
             `[lib]` with `crate-type = [\"cdylib\", \"lib\"]`.",
        )
    })
}

/// The library in a message of cargo, if it is one.
fn artifact(message: &str) -> Option<Built> {
    let message: Value = serde_json::from_str(message).ok()?;
    if message["reason"] != "compiler-artifact" {
        return None;
    }
    let kinds = message["target"]["crate_types"].as_array()?;
    if !kinds.iter().any(|kind| kind == "cdylib") {
        return None;
    }
    let files = message["filenames"]
        .as_array()?
        .iter()
        .filter_map(Value::as_str);
    let mut libraries = files.filter(|file| file.ends_with(std::env::consts::DLL_SUFFIX));
    let source = Path::new(message["target"]["src_path"].as_str()?);
    Some(Built {
        library: libraries.next()?.into(),
        sources: source.parent().map(Path::to_owned),
    })
}

/// The class ids in the source files of a folder: `#[profiler(clsid = "...")]`.
fn clsids(folder: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(&path).unwrap_or_default();
                found.extend(clsids_in(&text));
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

fn clsids_in(source: &str) -> Vec<String> {
    let attributes = source.split("#[profiler(").skip(1);
    let values = attributes.filter_map(|text| {
        let text = text.split_once("clsid")?.1.trim_start().strip_prefix('=')?;
        let text = text.trim_start().strip_prefix('"')?;
        let clsid: Clsid = text.split_once('"')?.0.parse().ok()?;
        Some(clsid.to_string())
    });
    values.collect()
}

fn only(mut found: Vec<String>, folder: &Path) -> Result<String> {
    match (found.pop(), found.len()) {
        (Some(clsid), 0) => Ok(clsid),
        (None, _) => Err(Failure::usage(format!(
            "There is no `#[profiler(clsid = \"...\")]` in `{}`. Name the class id by `--clsid`.",
            folder.display()
        ))),
        (Some(last), _) => Err(Failure::usage(format!(
            "There are several profilers in `{}`: {}, {last}. Choose one by `--clsid`.",
            folder.display(),
            found.join(", ")
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_ids_are_found_in_attributes() {
        let source = "#[profiler(clsid = \"df63a541-5a33-4611-8829-f4e495985ee3\")]\nimpl\n\
                      #[profiler( clsid=\"0FC6B97D-3335-4EF1-B21E-308F717146F4\", x)]\n\
                      // clsid = \"282F8859-F66D-4168-A257-F3B6BF218ABF\"\n#[profiler(clsid = NAME)]";
        let found = clsids_in(source);
        assert_eq!(
            found,
            [
                "{DF63A541-5A33-4611-8829-F4E495985EE3}",
                "{0FC6B97D-3335-4EF1-B21E-308F717146F4}"
            ]
        );
        let here = Path::new("src");
        assert_eq!(only(vec!["a".to_owned()], here).unwrap(), "a");
        assert!(
            only(found, here)
                .unwrap_err()
                .to_string()
                .contains("--clsid")
        );
        assert!(
            only(Vec::new(), here)
                .unwrap_err()
                .to_string()
                .contains("`src`")
        );
    }

    #[test]
    fn artifacts_are_libraries_for_a_runtime() {
        let suffix = std::env::consts::DLL_SUFFIX;
        let message = |kind: &str| {
            format!(
                "{{\"reason\":\"compiler-artifact\",\"target\":{{\"crate_types\":[\"{kind}\"],\"src_path\":\"/a/src/lib.rs\"}},\
                 \"filenames\":[\"/t/liba.rlib\",\"/t/liba{suffix}\"]}}"
            )
        };
        let built = artifact(&message("cdylib")).unwrap();
        assert_eq!(built.library, PathBuf::from(format!("/t/liba{suffix}")));
        assert_eq!(built.sources.as_deref(), Some(Path::new("/a/src")));
        assert!(artifact(&message("lib")).is_none());
        assert!(artifact("not JSON").is_none());
    }
}
