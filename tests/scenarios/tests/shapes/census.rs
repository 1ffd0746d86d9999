//! The outcome for each method with IL.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::edit::NotInstrumentable;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{RewriteContext, RewriteError};

use scenario_support::log;

/// The methods of the modules that are rewritten.
#[derive(Default)]
pub(super) struct Census {
    methods: Mutex<BTreeMap<(ModuleId, MethodDef), Found>>,
    /// The names of the assemblies of the program.
    assemblies: Vec<String>,
    /// Whether methods may be inlined, and are then not seen with their new IL.
    inlines: bool,
}

/// A method with IL.
struct Found {
    name: String,
    /// `None` before the method is compiled.
    outcome: Option<Outcome>,
}

enum Outcome {
    Rewritten,
    Refused(String),
}

impl Census {
    pub(super) fn new() -> Self {
        let assemblies = match super::variable("SHAPES_ASSEMBLIES") {
            none if none.is_empty() => "Shapes ShapesIL".to_owned(),
            names => names,
        };
        Self {
            methods: Mutex::default(),
            assemblies: assemblies.split(' ').map(str::to_owned).collect(),
            inlines: !super::variable("SHAPES_INLINE").is_empty(),
        }
    }

    /// Records the methods of a module, if it is one of the program.
    pub(super) fn take(&self, info: &ProfilerInfo, module: ModuleId) -> Result<bool> {
        let Some(assembly) = info.module_info(module)?.assembly else {
            return Ok(false);
        };
        if !self
            .assemblies
            .contains(&info.assembly_info(assembly)?.name)
        {
            return Ok(false);
        }
        let metadata = info.module_metadata(module)?;
        // Concurrent readers get all of them or none.
        let mut methods = BTreeMap::new();
        for row in 1.. {
            let Some(token) = MethodDef::from_row(row) else {
                break;
            };
            let Ok(props) = metadata.method_props(token) else {
                break;
            };
            let (flags, code) = (props.attributes, props.implementation);
            // The module's initialiser, which is in no type, loads the helper.
            if props.name == ".cctor" && props.class.row() <= 1 {
                continue;
            }
            if NotInstrumentable::without_il(flags, code, props.rva).is_none() {
                let found = Found {
                    name: props.name,
                    outcome: None,
                };
                methods.insert((module, token), found);
            }
        }
        self.lock().append(&mut methods);
        Ok(true)
    }

    /// All methods with IL.
    pub(super) fn all(&self) -> Vec<(ModuleId, MethodDef)> {
        self.lock().keys().copied().collect()
    }

    /// The number of rewritten methods.
    pub(super) fn rewritten(&self) -> usize {
        let methods = self.lock();
        let outcomes = methods.values().map(|found| &found.outcome);
        let rewritten = outcomes.filter(|outcome| matches!(outcome, Some(Outcome::Rewritten)));
        rewritten.count()
    }

    pub(super) fn may_inline(&self, info: &ProfilerInfo, callee: FunctionId) -> Result<bool> {
        let method = info.method(callee)?;
        let place = (method.module(), method.token());
        Ok(self.inlines || !self.lock().contains_key(&place))
    }

    /// Rewrites a method before it is compiled, if it is one of the program.
    pub(super) fn rewrite(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        edit: impl FnOnce(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()>,
    ) -> Result<()> {
        let method = info.method(function)?;
        let place = (method.module(), method.token());
        if self.lock().contains_key(&place) {
            let rewritten = method.rewrite(edit).map(|rewritten| {
                assert!(rewritten.is_changed());
            });
            self.became(place, rewritten);
        }
        Ok(())
    }

    pub(super) fn became(&self, place: (ModuleId, MethodDef), rewritten: Result<()>) {
        if let Some(found) = self.lock().get_mut(&place) {
            found.outcome = Some(match rewritten {
                Ok(()) => Outcome::Rewritten,
                Err(error) => {
                    let refusal = RewriteError::of(&error);
                    if let Some(refusal) = refusal {
                        found.name = refusal.method().to_owned();
                    }
                    let reason = refusal.and_then(RewriteError::reason);
                    Outcome::Refused(reason.map_or_else(
                        || format!("{error} {:?}", refusal.and_then(RewriteError::listing)),
                        |reason| {
                            let reason = format!("{reason:?}");
                            reason.split('(').next().unwrap_or_default().to_owned()
                        },
                    ))
                }
            });
        }
    }

    /// Logs the number of methods, the number of rewritten ones, and the others.
    pub(super) fn report(&self) {
        let methods = self.lock();
        let rewritten = methods
            .values()
            .filter(|found| matches!(found.outcome, Some(Outcome::Rewritten)));
        log::line(format_args!("methods {}", methods.len()));
        log::line(format_args!("rewritten {}", rewritten.count()));
        for found in methods.values() {
            match &found.outcome {
                Some(Outcome::Rewritten) => {}
                Some(Outcome::Refused(reason)) => {
                    log::line(format_args!("refused {reason} {}", found.name));
                }
                None => log::line(format_args!("missing {}", found.name)),
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(ModuleId, MethodDef), Found>> {
        self.methods.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
