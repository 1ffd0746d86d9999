//! Valid and invalid profiler libraries.

#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use clr_profiler_launcher::{Clsid, Error, ProfilerLibrary, find_library_next_to};
use common::*;

const GOOD: &str = "11111111-2222-3333-4444-555555555555";
const NULL: &str = "{11111111-2222-3333-4444-000000000000}";
const FAILS: &str = "11111111-2222-3333-4444-00000000000F";

/// Compiles a library that answers these CLSIDs and writes a file when its factory is released.
fn build(folder: &Folder, name: &str, source: &str, flags: &[&str]) -> PathBuf {
    let source = folder.file(&format!("{name}.rs"), source);
    let library = folder.path().join(format!("lib{name}.so"));
    let status = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args([
            "--edition=2024",
            "--crate-type=cdylib",
            "--crate-name",
            name,
            "-o",
        ])
        .arg(&library)
        .args(flags)
        .arg(source)
        .status()
        .expect("rustc is there, as cargo is");
    assert!(status.success());
    library
}

const PROFILER: &str = r#"
use std::ffi::c_void;

#[repr(C)]
struct Table(*const c_void, *const c_void, extern "system" fn(*mut Factory) -> u32);
#[repr(C)]
pub struct Factory(*const Table);

extern "system" fn release(this: *mut Factory) -> u32 {
    drop(unsafe { Box::from_raw(this) });
    std::fs::write(env!("RELEASED"), "released").unwrap();
    0
}

#[unsafe(no_mangle)]
pub extern "system" fn DllGetClassObject(
    clsid: &(u32, u16, u16, [u8; 8]),
    iid: &(u32, u16, u16, [u8; 8]),
    out: &mut *mut Factory,
) -> i32 {
    if (iid.0, iid.1, iid.2, iid.3) != (1, 0, 0, [0xc0, 0, 0, 0, 0, 0, 0, 0x46]) {
        return 0x80004002_u32 as i32;
    }
    if (clsid.0, clsid.1, clsid.2) != (0x11111111, 0x2222, 0x3333) {
        return 0x80040111_u32 as i32;
    }
    match clsid.3 {
        [0x44, 0x44, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55] => {
            let table = Table(std::ptr::null(), std::ptr::null(), release);
            *out = Box::into_raw(Box::new(Factory(Box::leak(Box::new(table)))));
            0
        }
        [0x44, 0x44, 0, 0, 0, 0, 0, 0] => 0,
        _ => 0x80004005_u32 as i32,
    }
}
"#;

#[track_caller]
fn check(path: &Path, clsid: &str) -> Result<(), Error> {
    ProfilerLibrary::new(path, clsid).unwrap().check()
}

#[test]
fn the_library_is_asked_for_its_class() {
    let folder = Folder::new();
    let released = folder.path().join("released");
    let source = PROFILER.replace("env!(\"RELEASED\")", &format!("{released:?}"));
    let library = build(&folder, "profiler", &source, &[]);
    let file = library.display().to_string();

    check(&library, GOOD).unwrap();
    assert_eq!(fs::read_to_string(&released).unwrap(), "released");

    let other = "{99999999-2222-3333-4444-555555555555}";
    let error = check(&library, other).unwrap_err();
    assert!(matches!(error, Error::ClsidNotInLibrary { .. }));
    says(&error, &[&file, other, "CLASS_E_CLASSNOTAVAILABLE"]);

    let error = check(&library, FAILS).unwrap_err();
    assert!(
        matches!(error, Error::ClassFactory { hresult, .. } if hresult == 0x8000_4005_u32 as i32)
    );
    says(&error, &[&file, FAILS, "0x80004005"]);
    says(
        &check(&library, NULL).unwrap_err(),
        &[&file, NULL, "gives no class factory"],
    );
}

#[test]
fn libraries_that_do_not_load() {
    let folder = Folder::new();
    let missing = folder.path().join("libmissing.so");
    let error = check(&missing, GOOD).unwrap_err();
    assert!(matches!(error, Error::NoSuchLibrary { .. }));
    says(&error, &[&missing.display().to_string(), "Build it first"]);

    let plain = build(&folder, "plain", "", &[]);
    let error = check(&plain, GOOD).unwrap_err();
    assert!(matches!(error, Error::NoDllGetClassObject { .. }));
    says(&error, &["libplain.so", "DllGetClassObject", "register!"]);

    let dependency = build(
        &folder,
        "needed",
        "#[unsafe(no_mangle)] extern \"C\" fn f() {}",
        &[],
    );
    let link = format!("-Clink-arg={}", dependency.display());
    let source = "unsafe extern \"C\" { fn f(); } \
                  #[unsafe(no_mangle)] extern \"C\" fn g() { unsafe { f() } }";
    let dependent = build(&folder, "dependent", source, &[&link]);
    fs::remove_file(dependency).unwrap();
    let error = check(&dependent, GOOD).unwrap_err();
    assert!(matches!(error, Error::LibraryNotLoadable { .. }));
    says(
        &error,
        &[
            "libdependent.so",
            "libneeded.so`, which is missing",
            "The loader says:",
        ],
    );

    let (ours, other) = elf_machines();
    let foreign = folder.file("libforeign.so", elf(other, 64));
    let error = check(&foreign, GOOD).unwrap_err();
    assert!(matches!(error, Error::WrongArchitecture { .. }));
    says(&error, &["libforeign.so", std::env::consts::ARCH]);

    for (name, content, part) in [
        ("libbroken.so", elf(ours, 64), "The loader says:"),
        ("text.so", b"hello".to_vec(), "not a native library"),
        (
            "p.dll",
            Pe {
                cli: false,
                ..Pe::default()
            }
            .bytes(),
            "for Windows, but this is Linux",
        ),
        ("Managed.dll", Pe::default().bytes(), "managed assembly"),
    ] {
        let error = check(&folder.file(name, content), GOOD).unwrap_err();
        assert!(matches!(error, Error::LibraryNotLoadable { .. }));
        says(&error, &[name, part]);
    }
    says(&check(folder.path(), GOOD).unwrap_err(), &["is a folder"]);
}

#[test]
fn clsids() {
    let lower: Clsid = "{df63a541-5a33-4611-8829-f4e495985ee3}".parse().unwrap();
    let upper: Clsid = "DF63A541-5A33-4611-8829-F4E495985EE3".parse().unwrap();
    assert_eq!(lower, upper);
    assert_eq!(upper.to_string(), "{DF63A541-5A33-4611-8829-F4E495985EE3}");
    assert_eq!(upper.as_u128(), 0xDF63A541_5A33_4611_8829_F4E495985EE3);
    assert_eq!(Clsid::from_u128(upper.as_u128()), upper);
    ProfilerLibrary::new("p.so", upper).unwrap();
    for text in [
        "",
        "{}",
        "hello",
        "DF63A541-5A33-4611-8829-F4E495985EE",
        "DF63A541-5A33-4611-8829-F4E495985EE3-",
        "DF63A541-5A33-4611-8829-F4E495985EE3}",
        "{DF63A541-5A33-4611-8829-F4E495985EE3",
        "DF63A5415A3346118829F4E495985EE3",
        "+F63A541-5A33-4611-8829-F4E495985EE3",
        "ÄF63A54-5A33-4611-8829-F4E495985EE3",
    ] {
        let error = ProfilerLibrary::new("p.so", text).unwrap_err();
        assert!(matches!(error, Error::BadClsid { .. }));
        says(&error, &[text, "GUID"]);
    }
}

#[test]
fn the_newest_library_next_to_the_executable_is_found() {
    let folder = Folder::new();
    let target = folder.path().join("debug");
    for name in ["examples", "deps"] {
        fs::create_dir_all(target.join(name)).unwrap();
    }
    let example = target.join("examples/my_profiler");
    let error = find_library_next_to(&example, "my-profiler").unwrap_err();
    let above = target.join("libmy_profiler.so");
    let deps = target.join("deps/libmy_profiler.so");
    says(
        &error,
        &[
            "my-profiler",
            "cargo build -p",
            "cdylib",
            &deps.display().to_string(),
            &above.display().to_string(),
            &target
                .join("examples/libmy_profiler.so")
                .display()
                .to_string(),
        ],
    );
    for (newest, age) in [(&deps, 100), (&above, 50), (&deps, 10)] {
        fs::write(newest, "").unwrap();
        let time = SystemTime::now() - Duration::from_secs(age);
        fs::File::options()
            .append(true)
            .open(newest)
            .unwrap()
            .set_modified(time)
            .unwrap();
        for executable in [
            &example,
            &target.join("deps/test-1234"),
            &target.join("tool"),
        ] {
            assert_eq!(
                &find_library_next_to(executable, "my_profiler").unwrap(),
                newest
            );
        }
    }
}
