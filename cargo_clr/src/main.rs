//! Profiles .NET programs, and says why a profiler was not loaded: `cargo clr --help`.

mod attach;
mod child;
mod cli;
mod cover;
mod doctor;
mod library;
mod new;
mod next_to;
mod outcome;
mod package;
mod process;
mod ps;
mod rules;
mod run;
mod tool;
mod top;
mod verbs;
mod verify;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use cli::{Cli, Completions, Man, Verb};
use outcome::{Failure, Result};

fn main() -> ExitCode {
    let cli = Cli::parse_from(words(std::env::args_os()));
    match run_verb(cli.verb) {
        Ok(code) => code,
        Err(failure) => {
            let command = Cli::command();
            let style = command.get_styles().get_error();
            // If stderr is closed, the exit code says it.
            let _ = writeln!(anstream::stderr(), "{style}error:{style:#} {failure}");
            failure.code()
        }
    }
}

/// As `cargo clr VERB` the first word is `clr`; as `cargo-clr VERB` it is the verb.
fn words(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words: Vec<OsString> = words.into_iter().collect();
    if words.get(1).is_some_and(|word| word == "clr") {
        words.remove(1);
    }
    words
}

fn run_verb(verb: Verb) -> Result<ExitCode> {
    match verb {
        Verb::Cpu(options) => tool::run(&options).map(exit),
        Verb::Gc(options) => tool::run(&options).map(exit),
        Verb::Exceptions(options) => tool::run(&options).map(exit),
        Verb::Log(options) => tool::run(&options).map(exit),
        Verb::Calls(options) => tool::run(&options).map(exit),
        Verb::Alloc(options) => tool::run(&options).map(exit),
        Verb::Locks(options) => tool::run(&options).map(exit),
        Verb::Heap(options) => tool::run(&options).map(exit),
        Verb::Trace(options) => tool::run(&*options).map(exit),
        Verb::Rules(options) => rules::check(&options),
        Verb::Patch(options) => tool::run(&options).map(exit),
        Verb::Top(options) => top::run(&options),
        Verb::Cover(options) => cover::run(&options).map(exit),
        Verb::CoverMerge(options) => cover::merge(&options),
        Verb::Run(options) => run::run(&options).map(exit),
        Verb::Attach(options) => attach::attach(&options),
        Verb::Ps(options) => ps::list(&options),
        Verb::Doctor(options) => doctor::examine(&options),
        Verb::Verify(options) => verify::verify(&options),
        Verb::New(options) => new::create(&options),
        Verb::Completions(Completions { shell }) => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut by_file(), "cargo-clr", &mut text);
            // The script for bash has the `-` of the name in two forms, so that it would not find the options of verbs.
            let text = String::from_utf8_lossy(&text).replace("cargo__subcmd__clr", "cargo__clr");
            print(text)
        }
        Verb::Man(Man { folder: None }) => {
            let mut text = Vec::new();
            let page = clap_mangen::Man::new(by_file());
            page.render(&mut text)
                .map_err(|error| Failure::new(error.to_string()))?;
            print(&text)
        }
        Verb::Man(Man {
            folder: Some(folder),
        }) => {
            if !folder.is_dir() {
                return Err(Failure::usage(format!(
                    "There is no folder `{}` for the pages.",
                    folder.display()
                )));
            }
            clap_mangen::generate_to(by_file(), &folder)
                .map_err(outcome::io("write to", &folder))?;
            Ok(ExitCode::SUCCESS)
        }
        Verb::Load { library, clsid } => doctor::load(&library, &clsid),
    }
}

/// Ends with the exit code of a program.
#[cfg(not(windows))]
fn exit(code: i32) -> ExitCode {
    // The system keeps no more of it.
    ExitCode::from(code as u8)
}

/// Ends with the exit code of a program, of which an `ExitCode` has a fourth: that of a crash would become another one.
#[cfg(windows)]
fn exit(code: i32) -> ExitCode {
    std::process::exit(code)
}

/// The command for shells and manuals: by the name of its file, with the verbs for users alone.
fn by_file() -> clap::Command {
    let all = Cli::command();
    let verbs = all.get_subcommands().filter(|verb| !verb.is_hide_set());
    let help = all.get_after_help().cloned().unwrap_or_default();
    clap::Command::new("cargo-clr")
        .version(env!("CARGO_PKG_VERSION"))
        .about(env!("CARGO_PKG_DESCRIPTION"))
        .after_help(help)
        .subcommands(verbs.cloned())
}

/// Writes to stdout. A reader that has seen enough is no failure.
fn print(text: impl AsRef<[u8]>) -> Result<ExitCode> {
    match io::stdout().write_all(text.as_ref()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::new(format!("stdout cannot be written: {error}")))
        }
        _ => Ok(ExitCode::SUCCESS),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cargo_passes_the_name_of_the_command() {
        let given = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        for (from, to) in [
            (&["cargo-clr", "clr", "ps"][..], &["cargo-clr", "ps"][..]),
            (&["cargo-clr", "ps"], &["cargo-clr", "ps"]),
            (&["cargo-clr"], &["cargo-clr"]),
        ] {
            assert_eq!(words(given(from)), given(to));
        }
    }
}
