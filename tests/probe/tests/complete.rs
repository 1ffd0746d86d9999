//! No call is forgotten.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use clr_profiler_tests::coverage::wrappers;

/// Types whose public methods are all called, unless they are `unsafe`.
const TYPES: &[&str] = &[
    "ProfilerInfo",
    "GcScope",
    "Metadata",
    "MetadataWriter",
    "Method",
    "MethodMalloc",
    "Object",
    "FunctionControl",
    "AssemblyReferenceProvider",
    "SuspendedRuntime",
    "Setup",
    "Rejit",
    "Sampler",
    "CpuSampler",
    "HeapRecorder",
    "Instrumentation",
];

/// Methods of these that do not call the runtime.
const PLAIN: &[&str] = &[
    "Method::function",
    "Method::module",
    "Method::token",
    "Object::class",
    "Object::id",
    "Metadata::as_raw",
    // They create arguments of `Setup::attach`.
    "HeapRecorder::new",
    "HeapRecorder::with_texts",
    "HeapRecorder::without_places",
    // It reads a number.
    "HeapRecorder::walked",
    "Rejit::new",
    "Sampler::new",
    "CpuSampler::builder",
    "Instrumentation::new",
    "Instrumentation::wrap",
    "Instrumentation::wrap_each",
    "Instrumentation::edit",
    "Instrumentation::edit_where_present",
    "Instrumentation::edit_without_new_tokens",
    "Instrumentation::choose",
    "Instrumentation::except",
    "Instrumentation::framework",
    "Instrumentation::patch",
    "Instrumentation::managed_patches",
    "Instrumentation::faults",
    "Instrumentation::helper",
    "Instrumentation::report",
    "Instrumentation::report_problems",
    "Instrumentation::at_module_load",
    "Instrumentation::at_first_use",
    "Instrumentation::without_locals",
    "Instrumentation::without_new_tokens",
    "Instrumentation::select_late",
    "Instrumentation::choose_at_first_use",
    "Instrumentation::defer",
    "Instrumentation::switchable",
    "Instrumentation::uses",
    // A part of `CeeGen`'s calls.
    "MetadataWriter::cee_gen",
    // Called in `get_rejit_parameters`, which `Rejit` does.
    "FunctionControl::rewrite",
    // Its hooks are unsafe to implement.
    "Setup::hooks",
];

fn called() -> BTreeSet<&'static str> {
    probe::calls::all().iter().map(|call| call.name).collect()
}

#[test]
fn every_wrapper_is_called_or_left_out_for_a_reason() {
    let called = called();
    let left_out: BTreeSet<&str> = probe::calls::left_out().map(|(name, _)| name).collect();
    let wrappers = wrappers().unwrap();
    let wrappers: BTreeSet<&str> = wrappers
        .values()
        .flatten()
        .map(String::as_str)
        .filter(|name| !name.starts_with("Profiler::"))
        .collect();
    let is_called = |name: &str| {
        // Of an enumerator only the type is named.
        let of_type = format!("{name}::");
        called.contains(name) || called.iter().any(|call| call.starts_with(&of_type))
    };
    let forgotten: Vec<_> = wrappers
        .iter()
        .filter(|name| !is_called(name) && !left_out.contains(*name))
        .collect();
    assert!(forgotten.is_empty(), "are not called: {forgotten:#?}");
    let gone: Vec<_> = left_out.difference(&wrappers).collect();
    assert!(gone.is_empty(), "no such wrappers: {gone:#?}");
    println!("{} calls, {} wrappers", called.len(), wrappers.len());
}

#[test]
fn every_method_of_its_types_is_called() {
    let called = called();
    let mut methods = BTreeSet::new();
    let library = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clr_profiler/src");
    collect(&library, &mut methods).unwrap();
    assert!(
        methods.len() > 60,
        "the sources are read otherwise: {methods:#?}"
    );
    let forgotten: Vec<_> = methods
        .iter()
        .filter(|name| !called.contains(name.as_str()) && !PLAIN.contains(&name.as_str()))
        .collect();
    assert!(forgotten.is_empty(), "are not called: {forgotten:#?}");
}

/// The public methods of the types in the files of a folder.
fn collect(folder: &Path, methods: &mut BTreeSet<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, methods)?;
            continue;
        }
        let mut owner = None;
        for line in fs::read_to_string(&path)?.lines() {
            if let Some(block) = line.strip_prefix("impl") {
                let name = block
                    .trim_start_matches("<'info>")
                    .trim_start_matches("<'a>")
                    .trim();
                let name = name.split(['<', ' ']).next().unwrap_or_default();
                owner = TYPES
                    .iter()
                    .find(|it| **it == name && !block.contains(" for "));
            } else if line == "}" {
                owner = None;
            }
            let method = line.strip_prefix("    pub fn ");
            if let (Some(owner), Some(method)) = (owner, method) {
                let name = method.split(['(', '<']).next().unwrap_or_default();
                // A row of a macro.
                if !name.starts_with('$') {
                    methods.insert(format!("{owner}::{name}"));
                }
            }
        }
    }
    Ok(())
}
