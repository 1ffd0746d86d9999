//! [`MethodName`]: methods by name, in modules that may not be loaded yet.

use std::fmt;
use std::str::FromStr;

use crate::error::{Error, Result};
use crate::ids::ModuleId;
use crate::info::CorProfilerInfo;
use crate::metadata::{MetadataImport, find_type_def, method_name};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::symbol::MethodPath;
use clr_profiler_il::token::MethodDef;

/// A pattern for methods by name: `[Shop]Shop.Cart<T>+Line.Add(string, int[])`.
///
/// Written like [`Method::full_name`](crate::Method::full_name), with the assembly in front if only one of
/// that name is meant. An omitted part matches everything: the assembly, and the parameters with their
/// parentheses (all overloads). Generic types are written with their parameters, under any names (`Cart<T>`),
/// or as in metadata (`` Cart`1 ``); generic parameters of the method itself may be omitted.
///
/// ```
/// use clr_profiler::rejit::MethodName;
///
/// let name: MethodName = "[Shop]Shop.Cart<T>+Line.Add".parse()?;
/// assert_eq!(name.to_string(), "[Shop]Shop.Cart<T>+Line.Add");
/// assert!("Add".parse::<MethodName>().is_err()); // of which type?
/// # Ok::<(), clr_profiler::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MethodName(MethodPath);

impl FromStr for MethodName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        text.parse().map(Self).map_err(Error::other)
    }
}

impl MethodName {
    /// The methods with IL that have this name in a module.
    pub(super) fn find(&self, info: &ProfilerInfo, module: ModuleId) -> Result<Vec<MethodDef>> {
        let metadata = info.module_metadata(module)?;
        let Some(class) = find_type_def(&metadata, self.0.types())? else {
            return Ok(Vec::new());
        };
        if let Some(wanted) = self.0.assembly() {
            let name = match info.module_info(module)?.assembly {
                Some(assembly) => info.assembly_info(assembly)?.name,
                None => metadata.scope_props()?.name,
            };
            if name != wanted {
                return Ok(Vec::new());
            }
        }
        let mut found = Vec::new();
        for method in metadata.methods_with_name(class, self.0.method())? {
            let method = method?;
            let props = metadata.method_props(method)?;
            // A method without an address in the image has no IL: it is abstract, for example.
            let is_meant = props.rva != 0
                && self.0.takes(|| {
                    let name = method_name(&metadata, method, &props, Default::default())?;
                    let parameters = name.split_once('(').map_or("", |(_, text)| text);
                    Ok::<_, Error>(parameters.trim_end_matches(')').to_owned())
                })?;
            if is_meant {
                found.push(method);
            }
        }
        Ok(found)
    }
}

impl fmt::Display for MethodName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
