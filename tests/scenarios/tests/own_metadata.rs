//! A module's own metadata answers as the runtime does.
//!
//! The profiler asks about every row of every loaded module, and logs a hash of the answers to each kind of
//! question, and the full name of each method that is compiled.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Mutex;

use clr_profiler::il::token::{
    GenericParam, MemberRef, MethodSpec, StandAloneSig, Token, TypeRef, TypeSpec,
};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Logs the hashes and the names when the program ends.
#[derive(Default)]
pub(crate) struct HashesMetadata {
    /// The names, each after module and token. Instances of a generic method have several.
    names: Mutex<BTreeSet<String>>,
}

#[profiler(clsid = clsid("HashesMetadata"))]
impl Profiler for HashesMetadata {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup
            .on_failure(|failure| log::line(failure))
            .add_events(EventMask::MONITOR_MODULE_LOADS);
        Ok(Self::default())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        let module = info.module_info(method.module())?.name;
        let module = module.rsplit('/').next().unwrap_or_default();
        let name = format!("{module} {} {}", method.token(), method.full_name()?);
        let mut names = self.names.lock().map_err(|_| Error::other("a panic"))?;
        names.insert(name);
        Ok(())
    }

    fn shutdown(&self, info: &ProfilerInfo) -> Result<()> {
        let names = self.names.lock().map_err(|_| Error::other("a panic"))?;
        for name in &*names {
            log::line(format_args!("name {name}"));
        }
        for module in info.modules()? {
            let module = module?;
            let Ok(metadata) = info.module_metadata(module) else {
                continue;
            };
            let name = info.module_info(module)?.name;
            let name = name.rsplit('/').next().unwrap_or_default();
            for (kind, rows, hash) in hashes(&metadata)? {
                log::line(format_args!("{name} {kind} {rows} {hash:x}"));
            }
        }
        Ok(())
    }
}

/// The answers about the rows of a table, and about one row more.
fn of_rows<T: TryFrom<Token>, A: Debug>(
    metadata: &Metadata<'_>,
    table: u32,
    ask: impl Fn(T) -> Result<A>,
) -> Result<(u32, u64)> {
    let rows = metadata.table_info(table)?.rows;
    let mut hasher = DefaultHasher::new();
    for row in 1..=rows + 1 {
        let Ok(token) = T::try_from(Token::new(table << 24 | row)) else {
            continue;
        };
        match ask(token) {
            Ok(answer) => format!("{answer:?}").hash(&mut hasher),
            Err(error) => error.hresult().0.hash(&mut hasher),
        }
    }
    Ok((rows, hasher.finish()))
}

fn hashes(metadata: &Metadata<'_>) -> Result<Vec<(&'static str, u32, u64)>> {
    let mut all = Vec::new();
    let mut add =
        |kind, of: Result<(u32, u64)>| of.map(|(rows, hash)| all.push((kind, rows, hash)));
    add(
        "types",
        of_rows(metadata, 0x02, |it: TypeDef| metadata.type_def_props(it)),
    )?;
    add(
        "nested types",
        of_rows(metadata, 0x02, |it: TypeDef| {
            metadata.nested_class_props(it)
        }),
    )?;
    add(
        "references",
        of_rows(metadata, 0x01, |it: TypeRef| metadata.type_ref_props(it)),
    )?;
    add(
        "methods",
        of_rows(metadata, 0x06, |it: MethodDef| metadata.method_props(it)),
    )?;
    add(
        "members",
        of_rows(metadata, 0x0A, |it: MemberRef| {
            metadata.member_ref_props(it)
        }),
    )?;
    add(
        "signatures",
        of_rows(metadata, 0x11, |it: StandAloneSig| {
            metadata.sig_from_token(it)
        }),
    )?;
    add(
        "type specs",
        of_rows(metadata, 0x1B, |it: TypeSpec| {
            metadata.type_spec_from_token(it)
        }),
    )?;
    add(
        "parameters",
        of_rows(metadata, 0x2A, |it: GenericParam| {
            metadata.generic_param_props(it)
        }),
    )?;
    add(
        "method specs",
        of_rows(metadata, 0x2B, |it: MethodSpec| {
            metadata.method_spec_props(it)
        }),
    )?;
    let mut hasher = DefaultHasher::new();
    let scope = metadata.scope_props()?;
    // A module that the program builds has another id in each run.
    let is_built = scope.name.starts_with("RefEmit");
    format!("{} {:?}", scope.name, (!is_built).then_some(scope.mvid)).hash(&mut hasher);
    all.push(("modules", 1, hasher.finish()));
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeSet, HashMap};

    use clr_profiler_tests::Scenario;

    use super::HashesMetadata;

    /// Names by module and token.
    type Names<'l> = HashMap<(&'l str, &'l str), BTreeSet<&'l str>>;

    /// The names, and the other lines.
    fn parts(log: &str) -> (Names<'_>, Vec<&str>) {
        let (mut names, mut others) = (Names::new(), Vec::new());
        for line in log.lines() {
            let mut words = line.splitn(4, ' ');
            match [words.next(), words.next(), words.next(), words.next()] {
                [Some("name"), Some(module), Some(token), Some(name)] => {
                    names.entry((module, token)).or_default().insert(name);
                }
                _ => others.push(line),
            }
        }
        (names, others)
    }

    #[test]
    fn the_answers_of_the_runtime_and_of_the_image_are_equal() {
        let scenario = Scenario::new("Basics").profiled_by::<HashesMetadata>();
        // The library's methods are compiled, too.
        let scenario = scenario.env("DOTNET_ReadyToRun", "0");
        let scenario = scenario.env("COMPlus_ReadyToRun", "0");
        let native = scenario.clone().env("CLR_PROFILER_METADATA", "native");
        scenario.on_each_runtime(|runtime, profiled| {
            let native = native.run_on(runtime);
            assert_eq!(profiled.output(), native.output(), "{}", profiled.log);
            let [(names, own), (native_names, native)] =
                [profiled, &native].map(|run| parts(&run.log));
            assert!(own.len() > 30, "{}", profiled.log);
            assert_eq!(own, native);
            // Threads of the runtime compile methods, and instances of generic ones, at different times.
            let mut compared = 0;
            for (method, names) in &names {
                let Some(native) = native_names.get(method) else {
                    continue;
                };
                assert!(!names.is_disjoint(native), "{names:?} {native:?}");
                compared += 1;
            }
            assert!(compared > 500, "{compared}: {}", profiled.log);
        });
    }
}
