//! Packages of users, with special settings in their manifests.

use std::path::Path;
use std::process::{Command, Output};
use std::{env, fs};

/// Runs `cargo check` on a package with this manifest and this library.
fn check(name: &str, manifest: &str, source: &str) -> Output {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let package = scratch.join(name);
    fs::create_dir_all(package.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = {name:?}\nversion = \"0.0.0\"\nedition = \"2024\"\n\n\
         [lib]\ncrate-type = [\"cdylib\"]\n\n[workspace]\n\n{manifest}"
    );
    let api = workspace.join("clr_profiler");
    let manifest = manifest.replace("CLR_PROFILER", api.to_str().unwrap());
    fs::write(package.join("Cargo.toml"), manifest).unwrap();
    fs::write(package.join("src/lib.rs"), source).unwrap();
    // The same versions of everything: dependencies are not built, or fetched, again.
    fs::copy(workspace.join("Cargo.lock"), package.join("Cargo.lock")).unwrap();
    let output = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(&package)
        .args(["check", "--offline", "--target-dir"])
        .arg(scratch.parent().unwrap())
        .output()
        .unwrap();
    fs::remove_dir_all(package).unwrap();
    output
}

#[test]
fn the_crate_may_have_another_name() {
    let output = check(
        "renamed_crate",
        "[dependencies]\nrenamed = { package = \"clr_profiler\", path = 'CLR_PROFILER' }\n",
        r#"
            #![deny(warnings)]

            mod inner {
                pub use renamed as again;
            }

            use renamed::prelude::*;

            struct First;

            #[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001", crate = renamed)]
            impl Profiler for First {
                fn initialize(_: &ProfilerInfo, _: &mut Setup) -> Result<Self> {
                    Ok(Self)
                }
            }

            struct Second;

            #[renamed::profiler(crate = crate::inner::again, clsid = "C0FFEE00-0000-4000-8000-000000000002")]
            impl renamed::Profiler for Second {
                fn initialize(_: &ProfilerInfo, _: &mut Setup) -> Result<Self> {
                    Ok(Self)
                }
            }

            renamed::register!(First, Second);
        "#,
    );
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn a_package_that_aborts_on_panic_is_refused() {
    let output = check(
        "aborting_package",
        "[dependencies]\nclr_profiler.path = 'CLR_PROFILER'\n\n[profile.dev]\npanic = \"abort\"\n",
        r#"
            use clr_profiler::prelude::*;

            struct Mine;

            #[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
            impl Profiler for Mine {
                fn initialize(_: &ProfilerInfo, _: &mut Setup) -> Result<Self> {
                    Ok(Self)
                }
            }

            register!(Mine);
        "#,
    );
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    let errors: Vec<&str> = message
        .lines()
        .filter(|line| line.starts_with("error: "))
        .collect();
    let (refused, end) = (errors[0], errors[1]);
    assert_eq!(
        refused,
        "error: a profiler must be built with `panic = \"unwind\"`: with `panic = \"abort\"` a \
         panic in a callback would end the program that is being profiled; remove `panic = \
         \"abort\"` from the Cargo profile"
    );
    assert!(
        end.starts_with("error: could not compile `aborting_package`"),
        "{message}"
    );
}
