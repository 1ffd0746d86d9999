use std::fs;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};

use clr_profiler::rewrite::HelperAssembly;
use clr_profiler_tests::{Finished, Folder, Scenario, profilee};

use super::Helped;

/// Copies a file into a folder.
fn copied(folder: &Folder, file: &Path) -> PathBuf {
    let name = file.file_name().unwrap().to_str().unwrap();
    let copy = folder.path(name);
    fs::copy(file, &copy).unwrap();
    copy
}

fn helper() -> PathBuf {
    profilee("helper/Helper")
}

/// The lines in the helper's log for calls of `Outer` and `Inner`.
const CALLS: [&str; 8] = [
    "> Outer", " > Inner", " < Inner", "< Outer", "> Outer", " > Inner", " < Inner", "< Outer",
];

fn assert_called(plain: &Finished, profiled: &Finished, start: &[&str]) {
    assert_eq!(
        plain.output(),
        (
            Some(5),
            "outer 42\ncaught\ntook 1\ntook 13\ntook 2\nitem 3\n",
            ""
        )
    );
    assert_eq!(profiled.output(), plain.output(), "{}", profiled.log);
    let mut logged: Vec<&str> = profiled.log.lines().collect();
    // A single-file application loads the program later than its hooks.
    let (first, _) = logged.split_at_mut(start.len());
    first.sort_unstable();
    let expected = [start, &["at Main loaded true"], &CALLS].concat();
    assert_eq!(logged, expected);
}

const FOUND: &str = "helper Helper 1.2.3.4 key 160";

#[test]
fn a_helper_is_loaded_by_the_module_that_needs_it() {
    let scenario = Scenario::new("Helped")
        .profiled_by::<Helped>()
        .env("HELPER_WAY", "load")
        .env("HELPER", helper().to_str().unwrap());
    scenario.compare(|plain, profiled| assert_called(plain, profiled, &[FOUND]));
}

#[test]
fn a_helper_is_loaded_as_a_startup_hook() {
    let scenario = Scenario::new("Helped")
        .profiled_by::<Helped>()
        .env("HELPER_WAY", "hook")
        .startup_hook(helper());
    scenario.compare(|plain, profiled| {
        assert_called(plain, profiled, &[FOUND, "saw the start"]);
    });
}

#[test]
fn a_helper_is_found_next_to_the_program() {
    let folder = Folder::new();
    let program = copied(&folder, &profilee("Helped"));
    copied(
        &folder,
        &profilee("Helped").with_extension("runtimeconfig.json"),
    );
    copied(&folder, &helper());
    let scenario = Scenario::at(program)
        .profiled_by::<Helped>()
        .env("HELPER_WAY", "folder");
    scenario.compare(|plain, profiled| assert_called(plain, profiled, &[FOUND]));
}

#[test]
fn a_helper_that_is_missing_is_noticed_before_anything_needs_it() {
    let in_a_folder = format!("{MAIN_SEPARATOR}Helper.dll cannot be used: ");
    for (way, problem) in [
        ("load", "the helper assembly  cannot be used: "),
        ("hook", "no startup hook is called Helper: "),
        ("folder", &in_a_folder),
    ] {
        let scenario = Scenario::new("Helped")
            .profiled_by::<Helped>()
            .env("HELPER_WAY", way);
        scenario.compare(|plain, profiled| {
            assert_eq!(profiled.output(), plain.output());
            assert_eq!(profiled.log.lines().count(), 1, "{}", profiled.log);
            assert!(profiled.log.contains(problem), "{}", profiled.log);
        });
    }
}

#[test]
fn what_a_helper_calls_does_not_call_it_again() {
    for guard in ["native", "field"] {
        let scenario = Scenario::new("Helped")
            .profiled_by::<Helped>()
            .env("HELPED", guard)
            .env("HELPER_WAY", "load")
            .env("HELPER", helper().to_str().unwrap());
        scenario.on_each_runtime(|_, profiled| {
            // The helper calls ToString of the 13th item, which throws: that the second item is
            // seen shows that the exception left the guard.
            assert_eq!(
                profiled.output(),
                (
                    Some(5),
                    "outer 42\ncaught\ntook 1\nnot this one\ntook 2\nitem 3\n",
                    ""
                ),
                "{}",
                profiled.log
            );
            let lines: Vec<_> = profiled.log.lines().skip(2).collect();
            assert_eq!(lines, ["saw item 1", "saw item 2", "saw item 3"]);
        });
    }
}

#[test]
fn a_file_that_is_no_assembly_is_refused_wherever_it_breaks() {
    let folder = Folder::new();
    let file = copied(&folder, &helper());
    let whole = fs::read(&file).unwrap();
    let props = HelperAssembly::open(&file).unwrap().props().clone();
    assert_eq!((&*props.name, props.version.major), ("Helper", 1));
    let read = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        HelperAssembly::open(&file).map(|helper| helper.props().clone())
    };
    let mut cut = 0;
    for end in (0..whole.len()).step_by(7) {
        match read(&whole[..end]) {
            Ok(read) => assert_eq!(read, props, "{end}"),
            Err(_) => cut += 1,
        }
    }
    assert!(cut > 200, "{cut}");
    let mut other = whole.clone();
    for at in (0..whole.len()).step_by(3) {
        other[at] = 0xff;
        // Its meaning may have changed, but it is read to the end.
        let _ = read(&other);
        other[at] = whole[at];
    }
    for (bytes, problem) in [
        (&b""[..], "this is not a PE file"),
        (b"MZ", "the data ends within a value"),
        (b"\x7fELF", "this is not a PE file"),
    ] {
        let error = read(bytes).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn a_program_with_a_list_must_list_its_helper() {
    let folder = Folder::new();
    let program = copied(&folder, &profilee("Helped"));
    copied(&folder, &helper());
    assert!(HelperAssembly::next_to(&program, "Helper").is_ok());
    let list = program.with_extension("deps.json");
    fs::write(
        &list,
        r#"{"targets": {"x": {"Helped/1": {"runtime": {"Helped.dll": {}}}}}}"#,
    )
    .unwrap();
    let error = HelperAssembly::next_to(&program, "Helper").unwrap_err();
    assert!(
        error.to_string().contains("does not list Helper.dll"),
        "{error}"
    );
    fs::write(&list, r#"{"runtime": {"Helper.dll": {}}}"#).unwrap();
    assert!(HelperAssembly::next_to(&program, "Helper").is_ok());
    fs::rename(folder.path("Helper.dll"), folder.path("Other.dll")).unwrap();
    let error = HelperAssembly::next_to(&program, "Other").unwrap_err();
    assert!(error.to_string().contains("is called Helper"), "{error}");
}
