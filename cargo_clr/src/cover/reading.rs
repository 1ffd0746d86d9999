//! The sum of the files of hits of a run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clr_profiler_tools::coverage::{AssemblyReader, Contexts, ContextsState, Coverage, Hits};

use crate::outcome::{self, Result};

/// The coverage of all files in a folder, and the problems with them.
pub(super) fn read(folder: &Path) -> Result<(Coverage, Vec<String>)> {
    let mut problems = Vec::new();
    let mut contexts: BTreeMap<String, Contexts> = BTreeMap::new();
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).map_err(outcome::io("read", folder))? {
        let Ok(entry) = entry else { continue };
        let path = entry.path();
        let bytes = fs::read(&path).map_err(outcome::io("read", &path))?;
        // Its process may have ended while it made the file.
        let refused = |reason| format!("`{}`: {reason}", path.display());
        let (process, number) = numbers(&path);
        match path.extension().is_some_and(|ending| ending == "contexts") {
            true => match Contexts::parse(&bytes) {
                Ok(of) => drop(contexts.insert(process, of)),
                Err(reason) => problems.push(refused(reason)),
            },
            false => match Hits::parse(&bytes) {
                Ok(hits) => all.push((process, number, hits)),
                Err(reason) => problems.push(refused(reason)),
            },
        }
    }
    for (process, of) in &contexts {
        let reason = match of.state {
            ContextsState::Separate => continue,
            ContextsState::Parallel => {
                "tests ran at the same time, or one that `--contexts` selects called others on another thread (leave it out: \
                 `; -Shop.Tests!Shop.Program.Main`)"
            }
            ContextsState::Incomplete => "the hits of a test could not be written",
        };
        problems.push(format!(
            "process {process}: {reason}, so that all of its hits are in one context"
        ));
    }
    // An assembly is read once for all of its processes.
    let mut modules: BTreeMap<PathBuf, Vec<Hits>> = BTreeMap::new();
    for (process, number, mut hits) in all {
        if let Some(of) = contexts.get(&process) {
            of.add_to(&mut hits, number);
        }
        modules.entry(hits.path.clone()).or_default().push(hits);
    }
    let mut coverage = Coverage::default();
    let mut reader = AssemblyReader::default();
    for (path, of_processes) in modules {
        let mut refused = 0;
        for problem in add(
            &mut coverage,
            &mut reader,
            &path,
            &of_processes,
            &mut refused,
        ) {
            problems.push(format!("`{}`: {problem}", path.display()));
        }
        if refused > 0 {
            let path = path.display();
            problems.push(format!(
                "`{path}`: {refused} methods could not be given probes"
            ));
        }
    }
    Ok((coverage, problems))
}

/// The process, and the number, in the name of a file: `4711-3.hits`.
fn numbers(path: &Path) -> (String, u32) {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let (process, number) = name.split_once('-').unwrap_or((&name, ""));
    (process.to_owned(), number.parse().unwrap_or_default())
}

fn add(
    coverage: &mut Coverage,
    reader: &mut AssemblyReader,
    path: &Path,
    of_processes: &[Hits],
    refused: &mut usize,
) -> Vec<String> {
    let files = match reader.read(path) {
        Ok(files) => files,
        Err(error) => return vec![format!("it is gone: {error}")],
    };
    let module = match files.module() {
        Ok(module) => module,
        Err(error) => return vec![error.to_string()],
    };
    let mvid = module.mvid().ok();
    let mut problems = Vec::new();
    for hits in of_processes {
        if mvid != Some(hits.mvid) {
            problems.push("it was built anew while the program ran".to_owned());
            continue;
        }
        match coverage.add(&module, hits) {
            Ok(count) => *refused += count,
            Err(error) => problems.push(error.to_string()),
        }
    }
    problems.sort();
    problems.dedup();
    problems
}
