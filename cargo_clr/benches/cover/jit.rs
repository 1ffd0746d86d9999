//! The time that the JIT takes, by the runtime's own clock.

use std::ffi::OsStr;
use std::fs;
use std::process::Command;

use clr_profiler_test::Compiled;
use clr_profiler_tests::Folder;

use crate::compiled::compile;

/// The assemblies that the runtime calls before the program.
const HOOKS: &str = "DOTNET_STARTUP_HOOKS";

/// Has programs write it at their end, if the variable `JIT` is set: that takes time itself.
pub(super) struct JitClock {
    hook: Option<Compiled>,
}

/// The work of the JIT in a run.
#[derive(Clone, Copy)]
pub(super) struct Compilations {
    pub(super) seconds: f64,
    /// The size of the compiled code, in bytes of IL.
    pub(super) bytes: f64,
    pub(super) methods: f64,
}

impl JitClock {
    pub(super) fn new() -> Self {
        let is_wanted = std::env::var_os("JIT").is_some();
        let hook = is_wanted.then(|| compile_hook().expect("a compiler"));
        Self { hook }
    }

    /// Has the program of a command write the work of its JIT into a file of this folder.
    pub(super) fn attach(&self, command: &mut Command, folder: &Folder) {
        if let Some(hook) = &self.hook {
            // A runtime that is in an application starts another program by a hook, too, which never returns.
            let known = command.get_envs().find(|(name, _)| *name == HOOKS);
            let known = known.and_then(|(_, value)| value.map(OsStr::to_owned));
            let mut hooks = hook.path().as_os_str().to_owned();
            if let Some(other) = known {
                hooks.push(":");
                hooks.push(other);
            }
            command.env(HOOKS, hooks);
            command.env("COVER_JIT_TIMES", folder.path("jit"));
        }
    }

    /// The sums over the processes of the last run.
    pub(super) fn last(&self, folder: &Folder) -> Option<Compilations> {
        self.hook.as_ref()?;
        let text =
            fs::read_to_string(folder.path("jit")).expect("a program that takes startup hooks");
        fs::remove_file(folder.path("jit")).unwrap();
        let mut sum = [0.0; 3];
        for line in text.lines() {
            for (sum, number) in sum.iter_mut().zip(line.split(' ')) {
                *sum += number.parse::<f64>().unwrap();
            }
        }
        Some(Compilations {
            seconds: sum[0] / 1000.0,
            bytes: sum[1],
            methods: sum[2],
        })
    }
}

fn compile_hook() -> Option<Compiled> {
    compile("Hook", include_str!("StartupHook.cs"), &["-target:library"])
}
