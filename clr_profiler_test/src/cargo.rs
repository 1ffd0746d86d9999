//! The library of a profiler, built by cargo right before the test uses it.
//!
//! Cargo builds a test without the `cdylib` of a package whose `crate-type` is `cdylib` alone: the file in `target` is
//! then that of the last `cargo build`, however old it is. So the test builds it, which takes no time if it is up to date.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::{env, str};

use serde_json::Value;

use crate::{Error, Result};

/// The results of this process, by the names of crates.
static BUILT: Mutex<Option<HashMap<String, Result<PathBuf, String>>>> = Mutex::new(None);

/// Builds the `cdylib` of a crate of this workspace, unless it is up to date, and returns its path.
///
/// `name` is that of the library, in code or in `Cargo.toml`: `my_profiler` or `my-profiler`. Cargo is called once in a
/// process for each library, with the profile, target and target folder of the running test. Features are those that
/// `cargo build -p PACKAGE --lib` selects.
///
/// # Errors
///
/// If the workspace has no such library, if its `crate-type` does not include `cdylib`, or if it does not compile; the
/// error has the messages of the compiler.
pub fn build_library(name: &str) -> Result<PathBuf> {
    // Held while cargo runs: of several tests that need the library, one builds it.
    let mut built = BUILT.lock().unwrap_or_else(PoisonError::into_inner);
    let built = built.get_or_insert_default();
    let name = name.replace('-', "_");
    if !built.contains_key(&name) {
        let place = env::current_exe().ok().as_deref().and_then(Place::of);
        let result = build(&name, &folder(), place).map_err(|error| error.to_string());
        built.insert(name.clone(), result);
    }
    match &built[&name] {
        Ok(path) => Ok(path.clone()),
        Err(error) => Err(Error::new(error.clone())),
    }
}

/// Builds the library of a package in this folder, or in its workspace.
fn build(name: &str, folder: &Path, place: Option<Place>) -> Result<PathBuf> {
    let package = package_of(name, folder)?;
    let mut command = cargo(folder);
    command
        .args(["build", "--lib", "--package", &package])
        .args(["--message-format", "json-render-diagnostics"]);
    if let Some(place) = place {
        command.args(["--profile", &place.profile]);
        command.arg("--target-dir").arg(place.target_folder);
        if let Some(target) = place.target {
            command.args(["--target", &target]);
        }
    }
    let messages = output(command)?;
    library_in(&messages, name).ok_or_else(|| {
        Error::new(format!(
            "cargo has built the package `{package}`, but did not name the file of its `cdylib`."
        ))
    })
}

/// The file of the library in cargo's messages.
fn library_in(messages: &str, name: &str) -> Option<PathBuf> {
    let messages = messages
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let artifact = messages
        .filter(|message| message["reason"] == "compiler-artifact")
        .find(|message| is_library(&message["target"], name))?;
    let files = artifact["filenames"].as_array()?;
    files
        .iter()
        .filter_map(Value::as_str)
        .find(|file| file.ends_with(env::consts::DLL_SUFFIX))
        .map(PathBuf::from)
}

/// Whether a target of cargo is the library of this name, with a `cdylib`.
fn is_library(target: &Value, name: &str) -> bool {
    has_name(target, name) && has(&target["crate_types"], "cdylib")
}

fn has_name(target: &Value, name: &str) -> bool {
    let is_example = has(&target["kind"], "example");
    !is_example
        && target["name"]
            .as_str()
            .is_some_and(|it| it.replace('-', "_") == name)
}

fn has(list: &Value, text: &str) -> bool {
    list.as_array()
        .is_some_and(|list| list.iter().any(|it| it == text))
}

/// The name of the package in this workspace that has the library.
fn package_of(name: &str, folder: &Path) -> Result<String> {
    let mut command = cargo(folder);
    command.args(["metadata", "--no-deps", "--format-version", "1"]);
    let metadata: Value = serde_json::from_str(&output(command)?).map_err(|error| {
        Error::new(format!(
            "The output of `cargo metadata` is no JSON: {error}."
        ))
    })?;
    let mut without = None;
    let mut others = Vec::new();
    for package in metadata["packages"].as_array().into_iter().flatten() {
        for target in package["targets"].as_array().into_iter().flatten() {
            let package = package["name"].as_str().unwrap_or_default();
            if is_library(target, name) {
                return Ok(package.to_owned());
            }
            if has_name(target, name)
                && (has(&target["kind"], "lib") || has(&target["kind"], "rlib"))
            {
                without = Some(package.to_owned());
            }
            if has(&target["crate_types"], "cdylib") {
                others.extend(target["name"].as_str().map(str::to_owned));
            }
        }
    }
    let folder = folder.display();
    Err(Error::new(match without {
        Some(package) => format!(
            "The package `{package}` has no library that a runtime can load. Write `crate-type = [\"cdylib\", \"lib\"]` \
             below `[lib]` in its Cargo.toml."
        ),
        None => format!(
            "No package of the workspace of `{folder}` has a library `{name}` with the crate type `cdylib`; those that \
             are there: {others:?}. The type of a profiler is found by the crate that declares it: declare it in the \
             library, not in the test."
        ),
    }))
}

/// The folder of the package that is tested.
fn folder() -> PathBuf {
    let given = env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from);
    given.unwrap_or_else(|| PathBuf::from("."))
}

fn cargo(folder: &Path) -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(folder).stdin(Stdio::null());
    command
}

/// The standard output of cargo.
fn output(mut command: Command) -> Result<String> {
    let output = command
        .output()
        .map_err(|error| Error::new(format!("cargo cannot be started ({error}): {command:?}.")))?;
    if !output.status.success() {
        return Err(Error::new(format!(
            "cargo failed ({}): {command:?}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The settings with which cargo has built an executable, by its path.
#[derive(Debug, PartialEq, Eq)]
struct Place {
    target_folder: PathBuf,
    /// Of a build for another system.
    target: Option<String>,
    profile: String,
}

impl Place {
    /// `target/PROFILE/deps/NAME`, or with the target's name before the profile.
    fn of(executable: &Path) -> Option<Self> {
        let folder = executable.parent()?;
        let kind = folder.file_name()?;
        let of_profile = match kind.to_str()? {
            "deps" | "examples" => folder.parent()?,
            _ => return None,
        };
        let profile = match of_profile.file_name()?.to_str()? {
            "debug" => "dev",
            other => other,
        };
        let above = of_profile.parent()?;
        // Cargo marks the target folder, not those of targets in it.
        let (target_folder, target) = if above.join("CACHEDIR.TAG").is_file() {
            (above, None)
        } else {
            let target = above.file_name()?.to_str()?.to_owned();
            (above.parent()?, Some(target))
        };
        Some(Self {
            target_folder: target_folder.to_owned(),
            target,
            profile: profile.to_owned(),
        })
        .filter(|place| place.target_folder.join("CACHEDIR.TAG").is_file())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn the_settings_of_a_build_by_the_path_of_its_test() {
        let scratch = Scratch::new();
        let target = scratch.folder();
        std::fs::write(target.join("CACHEDIR.TAG"), "").unwrap();
        let place = |path: &str| Place::of(&target.join(path));
        let expected = |triple: Option<&str>, profile: &str| {
            Some(Place {
                target_folder: target.to_owned(),
                target: triple.map(str::to_owned),
                profile: profile.to_owned(),
            })
        };
        assert_eq!(place("debug/deps/test-1"), expected(None, "dev"));
        assert_eq!(place("release/examples/run"), expected(None, "release"));
        let windows = "x86_64-pc-windows-msvc";
        assert_eq!(
            place(&format!("{windows}/ci/deps/test-1")),
            expected(Some(windows), "ci")
        );
        assert_eq!(place("elsewhere/test-1"), None);
        assert_eq!(Place::of(Path::new("/usr/debug/deps/test")), None);
    }

    #[test]
    fn a_library_that_was_built_before_is_built_again() {
        let scratch = Scratch::new();
        let folder = scratch.folder();
        std::fs::write(
            folder.join("Cargo.toml"),
            "[package]\nname = \"stale\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\ncrate-type = [\"cdylib\"]\n\
             [workspace]\n",
        )
        .unwrap();
        for expected in [1_u32, 2] {
            let code = format!(
                "#[unsafe(no_mangle)]\npub extern \"C\" fn number() -> u32 {{ {expected} }}\n"
            );
            std::fs::write(folder.join("lib.rs"), code).unwrap();
            let place = Place {
                target_folder: folder.join("target"),
                target: None,
                profile: "dev".to_owned(),
            };
            let path = build("stale", folder, Some(place)).unwrap();
            // A copy: the loader knows the other one by its path.
            let copy = folder.join(format!("copy-{expected}"));
            std::fs::copy(path, &copy).unwrap();
            // SAFETY: the library is the one above, whose initialisation does nothing.
            let library = unsafe { libloading::Library::new(&copy) }.unwrap();
            // SAFETY: the function has this type.
            let number = unsafe { library.get::<extern "C" fn() -> u32>(b"number") }.unwrap();
            assert_eq!(number(), expected);
        }

        std::fs::write(folder.join("lib.rs"), "mistake").unwrap();
        let error = build("stale", folder, None).unwrap_err().to_string();
        assert!(
            error.contains("cargo failed") && error.contains("mistake"),
            "{error}"
        );
    }

    /// Otherwise cargo builds the crates of a profiler once for its test, and once more for its library.
    #[test]
    fn a_library_has_the_features_of_its_test() {
        let scratch = Scratch::new();
        let folder = scratch.folder();
        let kit = Path::new(env!("CARGO_MANIFEST_DIR"));
        let manifest = format!(
            "[package]\nname = \"mine\"\nedition = \"2024\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n\
             [dependencies]\nclr_profiler = {{ path = {:?} }}\n\
             [dev-dependencies]\nclr_profiler_test = {{ path = {kit:?}, features = [\"stand_in\"] }}\n",
            kit.join("../clr_profiler")
        );
        std::fs::write(folder.join("Cargo.toml"), manifest).unwrap();
        std::fs::write(folder.join("lib.rs"), "").unwrap();
        std::fs::copy(kit.join("../Cargo.lock"), folder.join("Cargo.lock")).unwrap();
        let crates = |edges: &str| -> BTreeSet<String> {
            let mut command = cargo(folder);
            command
                .args(["tree", "--offline", "--prefix", "none", "--no-dedupe"])
                .args(["--format", "{p} {f}", "--edges", edges]);
            output(command)
                .unwrap()
                .lines()
                .map(str::to_owned)
                .collect()
        };
        let (of_library, of_test) = (crates("normal"), crates("normal,dev"));
        assert!(of_library.len() > 5, "{of_library:?}");
        let others: Vec<_> = of_library.difference(&of_test).collect();
        assert!(
            others.is_empty(),
            "{others:?} have more features in {of_test:#?}"
        );
    }

    #[test]
    fn the_file_is_taken_from_the_messages() {
        let messages = format!(
            "{{\"reason\":\"compiler-artifact\",\"target\":{{\"name\":\"other\",\"kind\":[\"lib\"],\
             \"crate_types\":[\"lib\"]}},\"filenames\":[\"/t/libother{suffix}\"]}}\n\
             {{\"reason\":\"compiler-artifact\",\"target\":{{\"name\":\"my-profiler\",\"kind\":[\"cdylib\"],\
             \"crate_types\":[\"cdylib\"]}},\"filenames\":[\"/t/a.rlib\",\"/t/libmy_profiler{suffix}\"]}}\n\
             {{\"reason\":\"build-finished\",\"success\":true}}\n",
            suffix = env::consts::DLL_SUFFIX
        );
        let file = format!("/t/libmy_profiler{}", env::consts::DLL_SUFFIX);
        assert_eq!(library_in(&messages, "my_profiler"), Some(file.into()));
        assert_eq!(library_in(&messages, "other"), None);
    }
}
