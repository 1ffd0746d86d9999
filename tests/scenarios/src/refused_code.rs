//! The least that selected methods can cost at a start: their precompiled code is refused, and nothing else is done.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, RwLock};
use std::{env, fs};

use clr_profiler::prelude::*;
use scenario_support::clsid;

/// A file with the full names of methods. With it, their modules and rows are written to the other file.
const NAMES: &str = "REFUSED_CODE_NAMES";

/// A file with the path of a module, the row of a method and its name in each line, with tabs between.
const METHODS: &str = "REFUSED_CODE_METHODS";

type Tokens = HashSet<MethodDef>;

enum Work {
    Find {
        names: HashSet<String>,
        found: Mutex<BTreeSet<(String, u32, String)>>,
    },
    Refuse {
        by_path: HashMap<String, Tokens>,
        modules: RwLock<HashMap<ModuleId, Tokens>>,
        refused: AtomicUsize,
    },
}

/// Finds methods with precompiled code by their names, or refuses the code of those that were found. It searches nothing then, and edits nothing.
pub(crate) struct RefusedCode {
    work: Work,
    file: PathBuf,
}

fn variable(name: &str) -> Result<OsString> {
    env::var_os(name).ok_or_else(|| Error::other(format!("{name} is missing")))
}

fn read(text: &str) -> Option<HashMap<String, Tokens>> {
    let mut by_path: HashMap<String, Tokens> = HashMap::new();
    for line in text.lines() {
        let mut columns = line.split('\t');
        let (path, row) = (columns.next()?, columns.next()?);
        let token = MethodDef::from_row(row.parse().ok()?)?;
        by_path.entry(path.to_owned()).or_default().insert(token);
    }
    Some(by_path)
}

#[profiler(clsid = clsid("RefusedCode"))]
impl Profiler for RefusedCode {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        let file = PathBuf::from(variable(METHODS)?);
        let work = match env::var_os(NAMES) {
            Some(names) => Work::Find {
                names: fs::read_to_string(names)?
                    .lines()
                    .map(str::to_owned)
                    .collect(),
                found: Mutex::default(),
            },
            None => Work::Refuse {
                by_path: read(&fs::read_to_string(&file)?).ok_or_else(|| Error::other("no row"))?,
                modules: RwLock::default(),
                refused: AtomicUsize::new(0),
            },
        };
        Ok(Self { work, file })
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        if let Work::Refuse {
            by_path, modules, ..
        } = &self.work
            && let Some(tokens) = by_path.get(&info.module_info(module)?.name)
        {
            let mut modules = modules.write().unwrap_or_else(PoisonError::into_inner);
            modules.insert(module, tokens.clone());
        }
        Ok(())
    }

    fn jit_cached_function_search_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
    ) -> Result<bool> {
        match &self.work {
            Work::Find { names, found } => {
                let method = info.method(function)?;
                let name = method.full_name()?;
                if names.contains(&name) {
                    let path = info.module_info(method.module())?.name;
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.insert((path, method.token().row(), name));
                }
                Ok(true)
            }
            Work::Refuse {
                modules, refused, ..
            } => {
                let facts = info.function_info(function)?;
                let modules = modules.read().unwrap_or_else(PoisonError::into_inner);
                let tokens = modules.get(&facts.module);
                let is_refused = tokens.is_some_and(|tokens| tokens.contains(&facts.token));
                refused.fetch_add(usize::from(is_refused), Ordering::Relaxed);
                Ok(!is_refused)
            }
        }
    }

    /// Writes the methods, or how often code was refused.
    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        match &self.work {
            Work::Find { found, .. } => {
                let found = found.lock().unwrap_or_else(PoisonError::into_inner);
                let mut text = String::new();
                for (path, row, name) in &*found {
                    let _ = writeln!(text, "{path}\t{row}\t{name}");
                }
                fs::write(&self.file, text)?;
            }
            Work::Refuse { refused, .. } => {
                let refused = refused.load(Ordering::Relaxed);
                fs::write(self.file.with_extension("refused"), refused.to_string())?;
            }
        }
        Ok(())
    }
}
