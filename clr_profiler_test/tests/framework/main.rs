//! Profilers on a stand-in for the runtime of .NET Framework 4.8, whose core library is that of Mono: it has the name, version and
//! key of the real one. So they show the names and identities that a profiler emits, not that the real runtime takes them.

#![cfg(all(
    feature = "stand_in",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]

mod clr;
mod events;
mod helpers;
mod metadata;
mod module;
mod outputs;
mod references;
