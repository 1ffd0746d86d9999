//! The verbs with a profiler of the command: their options as its settings.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clr_profiler::patches::{Faults, ManagedPatches};
use clr_profiler_il::pattern::MethodPatterns;

use crate::cli::{
    Alloc, Calls, Cpu, Exceptions, Format, Gc, Heap, Locks, Log, Methods, Patch, Stacks, Subject,
    Trace,
};
use crate::outcome::{self, Failure, Result};
use crate::rules;
use crate::tool::{Profiles, Tool, result_file};

/// How stacks are opened, by the ending of the file: the first one that fits.
const STACKS: &[(&str, &str)] = &[
    ("svg", "open it in a browser"),
    ("pb.gz", "open it with `go tool pprof -http=: FILE`"),
    ("pprof", "open it with `go tool pprof -http=: FILE`"),
    ("firefox.json", "load it at https://profiler.firefox.com"),
    ("json", "open it at https://www.speedscope.app"),
    ("otlp", "send it to a collector at /v1development/profiles"),
    ("folded", "each line is a stack"),
];

impl Stacks {
    /// Has the tool write this format, to a file with the ending of it unless another one is given.
    fn apply(&self, mut tool: Tool, setting: &'static str) -> Tool {
        tool.viewers = STACKS;
        let Some(format) = self.format else {
            return tool;
        };
        let (name, ending) = match format {
            Format::Svg => ("svg", "svg"),
            Format::Pprof => ("pprof", "pb.gz"),
            Format::Firefox => ("firefox", "firefox.json"),
            Format::Speedscope => ("speedscope", "json"),
            Format::Otlp => ("otlp", "otlp"),
            Format::Folded => ("folded", "folded"),
            Format::Table => ("table", "txt"),
        };
        tool.ending = Some(ending);
        tool.set(setting, Some(name))
    }
}

impl Profiles for Cpu {
    fn tool(&self, _subject: &Subject) -> Result<Tool> {
        let tool = Tool::new(
            "cpu",
            "B859E288-AEB7-4E25-98DD-4D6A1B242B70",
            ("CPU_SAMPLER_OUTPUT", "cpu.svg"),
        )
        .next_to("A20C77D2-0F0B-4C55-8E8F-1C5D1C3C4B02")
        .set(
            "CPU_SAMPLER_INTERVAL",
            self.interval.map(|interval| interval.to_string()),
        )
        .flag("CPU_SAMPLER_SUSPEND", self.suspend)
        .flag("CPU_SAMPLER_WALL", self.wall)
        .flag("CPU_SAMPLER_THREADS", self.threads)
        .flag("CPU_SAMPLER_LINES", self.lines.lines);
        Ok(self.stacks.apply(tool, "CPU_SAMPLER_FORMAT"))
    }
}

impl Profiles for Gc {
    fn tool(&self, _subject: &Subject) -> Result<Tool> {
        let tool = Tool::new(
            "gc",
            "0FC6B97D-3335-4EF1-B21E-308F717146F4",
            ("GC_MONITOR_OUTPUT", "gc.txt"),
        )
        .next_to("A20C77D2-0F0B-4C55-8E8F-1C5D1C3C4B04")
        .flag("GC_MONITOR_SURVIVORS", self.survivors)
        .flag("GC_MONITOR_TRIGGERS", self.triggers)
        .flag("GC_MONITOR_JSON", self.lines_as_json);
        Ok(match self.lines_as_json {
            true => tool,
            false => self.stacks.apply(tool, "GC_MONITOR_FORMAT"),
        })
    }
}

impl Profiles for Exceptions {
    fn tool(&self, _subject: &Subject) -> Result<Tool> {
        let tool = Tool::new(
            "exceptions",
            "282F8859-F66D-4168-A257-F3B6BF218ABF",
            ("EXCEPTION_LOGGER_OUTPUT", "exceptions.txt"),
        )
        .next_to("A20C77D2-0F0B-4C55-8E8F-1C5D1C3C4B03")
        .set("EXCEPTION_LOGGER_FILTER", self.filter.as_ref())
        .set(
            "EXCEPTION_LOGGER_DEPTH",
            self.depth.map(|depth| depth.to_string()),
        )
        .flag("EXCEPTION_LOGGER_LINES", self.lines.lines);
        Ok(self.stacks.apply(tool, "EXCEPTION_LOGGER_FORMAT"))
    }
}

impl Profiles for Log {
    fn tool(&self, subject: &Subject) -> Result<Tool> {
        if (self.perf_map || self.jitdump.is_some()) && !cfg!(target_os = "linux") {
            return Err(Failure::usage(
                "Names for perf are for Linux, where perf is. Without `--perf-map` and `--jitdump`, `log` writes the methods here, too; \
                 `cargo clr cpu` takes samples with names.",
            ));
        }
        let jitdump = self.jitdump.as_deref().map(|folder| -> Result<PathBuf> {
            let folder = std::path::absolute(folder).map_err(outcome::io("find", folder))?;
            // Tried with the file of another process, because the id of this one is not known yet.
            result_file(&folder.join("jit-0.dump"), subject)?;
            Ok(folder)
        });
        let mut tool = Tool::new(
            "log",
            "DF63A541-5A33-4611-8829-F4E495985EE3",
            ("JIT_LOGGER_OUTPUT", "methods.txt"),
        )
        .next_to("A20C77D2-0F0B-4C55-8E8F-1C5D1C3C4B05")
        .set("JIT_LOGGER_METHODS", patterns(&self.methods)?)
        .flag("JIT_LOGGER_LINES", self.lines.lines)
        .flag("JIT_LOGGER_SUMMARY", self.summary)
        .flag("JIT_LOGGER_PERF_MAP", self.perf_map)
        .set("JIT_LOGGER_JITDUMP", jitdump.transpose()?);
        if self.perf_map {
            // Otherwise code is in a file in memory, in which perf looks for no names of a map.
            tool.environment = &[("DOTNET_EnableWriteXorExecute", "0")];
        }
        Ok(tool)
    }
}

impl Profiles for Calls {
    fn tool(&self, _subject: &Subject) -> Result<Tool> {
        let tool = Tool::new(
            "calls",
            "5C0B3F6E-7F0D-4C38-9E0A-6D2F4B8A1E57",
            ("CALL_COUNTER_OUTPUT", "calls.txt"),
        )
        .set("CALL_COUNTER_METHODS", patterns(&self.methods)?)
        .set("CALL_COUNTER_SORT", self.sort.map(|sort| sort.name()))
        .flag("CALL_COUNTER_INLINE", self.inline)
        .flag("CALL_COUNTER_NO_TIMES", self.no_times);
        let mut tool = self.stacks.apply(tool, "CALL_COUNTER_FORMAT");
        tool.refuses_attach = Some(
            "Calls cannot be counted in a running program: the runtime grants the hooks of calls only at its start. Start \
             the program with `cargo clr calls -- App.dll`, or sample it with `cargo clr cpu -p PID`.",
        );
        Ok(tool)
    }
}

impl Profiles for Alloc {
    fn tool(&self, subject: &Subject) -> Result<Tool> {
        let tool = Tool::new(
            "alloc",
            "E1A9C1D4-52F3-4B0B-A0C6-3B1F7C9D2E68",
            ("ALLOC_PROFILER_OUTPUT", "allocations.txt"),
        )
        .next_to("A20C77D2-0F0B-4C55-8E8F-1C5D1C3C4B01")
        .flag(
            "ALLOC_PROFILER_SAMPLED",
            self.sampled || subject.target.process.is_some(),
        )
        .flag("ALLOC_PROFILER_SURVIVAL", self.survival);
        Ok(self.stacks.apply(tool, "ALLOC_PROFILER_FORMAT"))
    }
}

impl Profiles for Locks {
    fn tool(&self, _subject: &Subject) -> Result<Tool> {
        let tool = Tool::new(
            "locks",
            "7E2C4D58-90B3-4A6F-8C1D-5B0E6F3A9274",
            ("LOCK_MONITOR_OUTPUT", "locks.txt"),
        )
        .next_to("A20C77D2-0F0B-4C55-8E8F-1C5D1C3C4B07")
        .flag("LOCK_MONITOR_LINES", self.lines.lines);
        Ok(self.stacks.apply(tool, "LOCK_MONITOR_FORMAT"))
    }
}

impl Profiles for Heap {
    fn tool(&self, subject: &Subject) -> Result<Tool> {
        let is_table = subject.output.as_ref().is_some_and(|file| {
            file.extension()
                .is_none_or(|ending| ending != "heapsnapshot")
        });
        if self.path.is_some() && !is_table {
            return Err(Failure::usage(
                "The path to an object is shown in a table: `--path` needs `-o` with another ending than .heapsnapshot.",
            ));
        }
        let seconds = |time: Duration| time.as_secs_f64().to_string();
        let mut tool = Tool::new(
            "heap",
            "4B0B7D1B-6F0E-4E0C-9E5B-6E9C6A9A1D42",
            ("HEAP_SNAPSHOT_OUTPUT", "heap.heapsnapshot"),
        )
        .set("HEAP_SNAPSHOT_PATH", self.path.as_ref())
        .set(
            "HEAP_SNAPSHOT_STRINGS",
            self.strings.map(|length| length.to_string()),
        )
        .set("HEAP_SNAPSHOT_AFTER", self.after.map(seconds));
        tool.viewers = &[(
            "heapsnapshot",
            "load it in the memory page of Chromium's developer tools",
        )];
        tool.refuses_attach = Some(
            "The heap cannot be recorded in a running program: its objects are told by events of collections that the \
             runtime grants only at its start. Start the program with `cargo clr heap -- App.dll`.",
        );
        Ok(tool)
    }
}

impl Profiles for Trace {
    fn tool(&self, subject: &Subject) -> Result<Tool> {
        let summary = self.summary.as_deref();
        let summary = summary.map(|file| result_file(file, subject)).transpose()?;
        let output = subject.output.as_deref();
        let output = std::path::absolute(output.unwrap_or(Path::new("trace.json"))).ok();
        if summary.is_some() && summary == output {
            return Err(Failure::usage(
                "The trace and its summary are two files: `-o` and `--summary` name the same one.",
            ));
        }
        let profiles = [
            ("--cpu-profile", &self.cpu_profile),
            ("--wall-profile", &self.wall_profile),
            ("--locks-profile", &self.locks_profile),
            ("--alloc-profile", &self.alloc_profile),
            ("--exceptions-profile", &self.exceptions_profile),
            ("--gc-profile", &self.gc_profile),
        ];
        let mut others = vec![output, summary.clone()];
        let mut files = Vec::new();
        for (option, file) in profiles {
            let file = file.as_deref();
            let file = file.map(|file| result_file(file, subject)).transpose()?;
            if file.is_some() && others.contains(&file) {
                return Err(Failure::usage(format!(
                    "A profile next to a trace is a file of its own: `{option}` names that of another option."
                )));
            }
            others.push(file.clone());
            files.push(file);
        }
        let mut files = files.into_iter();
        let mut profile = || files.next().flatten();
        let mut tool = Tool::new(
            "trace",
            "C2B8E5F1-7D34-4A96-8E07-51F3A9D26B48",
            ("METHOD_TRACER_OUTPUT", "trace.json"),
        )
        .set("METHOD_TRACER_METHODS", patterns(&self.methods)?)
        .set("METHOD_TRACER_RULES", rules::setting(&self.rules, subject)?)
        .set("METHOD_TRACER_CONVENTIONS", self.conventions.as_ref())
        .set("METHOD_TRACER_SUMMARY", summary)
        .set("METHOD_TRACER_CPU_PROFILE", profile())
        .set("METHOD_TRACER_WALL_PROFILE", profile())
        .set("METHOD_TRACER_LOCKS_PROFILE", profile())
        .set("METHOD_TRACER_ALLOC_PROFILE", profile())
        .set("METHOD_TRACER_EXCEPTIONS_PROFILE", profile())
        .set("METHOD_TRACER_GC_PROFILE", profile())
        .set(
            "METHOD_TRACER_MAX_SIZE",
            self.max_size.map(|size| size.to_string()),
        )
        .set(
            "METHOD_TRACER_BUDGET",
            self.budget.map(|percent| percent.to_string()),
        )
        .set("METHOD_TRACER_OTLP", self.otlp.as_ref())
        .flag("METHOD_TRACER_ARGUMENTS", self.arguments)
        .flag("METHOD_TRACER_RESULTS", self.results)
        .flag("METHOD_TRACER_ITERATORS", self.iterators)
        .set("METHOD_TRACER_REDACT", self.redact.as_ref());
        tool.viewers = &[("json", "open it at https://ui.perfetto.dev")];
        Ok(tool)
    }
}

impl Profiles for Patch {
    fn tool(&self, _subject: &Subject) -> Result<Tool> {
        let faults = self.faults.as_deref().map(checked_faults).transpose()?;
        let mut patches = Vec::new();
        for file in &self.patches {
            let path = std::path::absolute(file).map_err(outcome::io("find", file))?;
            ManagedPatches::open(&path).map_err(|error| Failure::usage(format!("{error}.")))?;
            patches.push(path);
        }
        let joined = std::env::join_paths(&patches);
        let joined = joined
            .map_err(|error| Failure::usage(format!("The path of a file of patches: {error}.")))?;
        Ok(Tool::new(
            "patch",
            "9B6C1E52-3F0D-4D8A-A7C4-2E51D08B7F36",
            ("FAULT_INJECTOR_OUTPUT", "patch.txt"),
        )
        .set("FAULT_INJECTOR_FAULTS", faults)
        .set(
            "FAULT_INJECTOR_PATCHES",
            (!patches.is_empty()).then_some(joined),
        )
        .flag("FAULT_INJECTOR_ALL_CALLERS", self.all_callers))
    }
}

/// The absolute path of a file of faults without mistakes.
fn checked_faults(file: &Path) -> Result<PathBuf> {
    let faults = std::path::absolute(file).map_err(outcome::io("find", file))?;
    let text = fs::read_to_string(&faults).map_err(|error| {
        Failure::usage(format!(
            "The file of faults `{}` cannot be read: {error}.",
            faults.display()
        ))
    })?;
    check_faults(&text).map_err(|(line, column, problem)| {
        let file = file.display();
        Failure::usage(format!("{file}:{line}:{column}: {problem}."))
    })?;
    Ok(faults)
}

/// The patterns, with a file as an absolute path, because the program may have another folder.
pub(crate) fn patterns(methods: &Methods) -> Result<Option<OsString>> {
    let Some(text) = &methods.methods else {
        return Ok(None);
    };
    let Some(file) = text.strip_prefix('@') else {
        let parsed = MethodPatterns::parse(text)
            .map_err(|error| Failure::usage(format!("The patterns `{text}`: {error}.")))?;
        selects(&parsed, &format!("The patterns `{text}`"))?;
        return Ok(Some(text.into()));
    };
    let path = std::path::absolute(file).map_err(outcome::io("find", Path::new(file)))?;
    let content = fs::read_to_string(&path).map_err(|error| {
        Failure::usage(format!(
            "The file of patterns `{}` cannot be read: {error}.",
            path.display()
        ))
    })?;
    let parsed = MethodPatterns::parse(&content).map_err(|error| {
        let (line, column, problem) = (error.line(), error.column(), error.kind());
        Failure::usage(format!("{file}:{line}:{column}: {problem}."))
    })?;
    selects(&parsed, &format!("The patterns in `{file}`"))?;
    let mut text = OsString::from("@");
    text.push(path);
    Ok(Some(text))
}

/// Refuses patterns that no method can match.
fn selects(patterns: &MethodPatterns, subject: &str) -> Result<()> {
    match patterns.is_empty() {
        true => Err(Failure::usage(format!(
            "{subject} select nothing: `-` leaves methods out. Begin with `**;` for all others."
        ))),
        false => Ok(()),
    }
}

/// The line and the column of the first mistake in a file of faults, and the mistake.
fn check_faults(text: &str) -> Result<(), (usize, usize, String)> {
    let mut has_faults = false;
    for (number, line) in (1..).zip(text.lines()) {
        let content = line.trim();
        has_faults |=
            !(content.is_empty() || content.starts_with('#') || content.starts_with("seed "));
        if Faults::parse(line).is_ok() {
            continue;
        }
        let column = |before: &str| before.chars().count() + 1;
        let begin = column(line.split_once(content).map_or("", |(before, _)| before));
        // Each line ends with its patterns.
        if let Some((before, patterns)) = line.rsplit_once(" of ")
            && let Err(error) = MethodPatterns::parse(patterns)
        {
            let column = column(before) + " of ".len() + error.column() - 1;
            return Err((number, column, error.kind().to_string()));
        }
        let example = "`throw System.TimeoutException \"no answer\" in 5 % of Shop.Gateway.*`";
        let problem = format!("`{content}` is no fault; one is {example}");
        return Err((number, begin, problem));
    }
    match has_faults {
        true => Ok(()),
        false => Err((1, 1, "there is no fault in this file".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_in_faults_have_a_line_and_a_column() {
        let good = "# all\nseed 7\n\n  delay 1 ms in 5 % of Shop.*\n";
        assert_eq!(check_faults(good), Ok(()));
        for (text, line, column, part) in [
            ("", 1, 1, "no fault in this file"),
            ("# nothing\nseed 1\n", 1, 1, "no fault in this file"),
            ("\nfrobnicate\n", 2, 1, "`frobnicate` is no fault"),
            ("seed 1\n\t throw A in 101 % of B.C", 2, 3, "is no fault"),
            ("return 1 in 1 % of A::B", 1, 21, "nested types"),
            (
                "throw E \"end of line\" in 1 % of Nobody",
                1,
                33,
                "without its type",
            ),
        ] {
            let (at, place, problem) = check_faults(text).unwrap_err();
            assert_eq!((at, place), (line, column), "{text}: {problem}");
            assert!(problem.contains(part), "{text}: {problem}");
        }
    }
}
