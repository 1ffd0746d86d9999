//! Which arguments of which methods are interfaces, and have to be exchanged.

use std::sync::OnceLock;

use stand_in::{Interface, NativeMethod, interface, methods};

/// How one argument is exchanged.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    /// `out` becomes a pointer to the interface whose identifier is the argument `iid`.
    GivesByIid { iid: usize, out: usize },
    /// `out` becomes a pointer to this interface.
    Gives {
        out: usize,
        interface: &'static Interface,
    },
    /// The callee receives this interface.
    Hands {
        argument: usize,
        interface: &'static Interface,
    },
    /// The callee receives an interface that it has returned, and expects its own.
    HandsBack { argument: usize },
}

/// The arguments of callbacks that are interfaces.
const HANDED: &[(&str, usize, &str)] = &[
    ("Initialize", 0, "IUnknown"),
    ("InitializeForAttach", 0, "IUnknown"),
    ("GetReJITParameters", 2, "ICorProfilerFunctionControl"),
    (
        "GetAssemblyReferences",
        1,
        "ICorProfilerAssemblyReferenceProvider",
    ),
];

/// The rules of a method; most have none.
pub(crate) fn of(method: &NativeMethod) -> &'static [Rule] {
    static RULES: OnceLock<Vec<Vec<Rule>>> = OnceLock::new();
    &RULES.get_or_init(|| methods().iter().map(|method| make(method)).collect())[method.index]
}

fn make(method: &NativeMethod) -> Vec<Rule> {
    let mut rules = Vec::new();
    for (index, parameter) in method.facts.parameters.iter().enumerate() {
        let type_name = parameter.type_name;
        if type_name == "REFIID" && method.facts.parameters.len() > index + 1 {
            // The output for the interface always follows its identifier.
            rules.push(Rule::GivesByIid {
                iid: index,
                out: index + 1,
            });
        } else if let Some(interface) = given(type_name) {
            rules.push(Rule::Gives {
                out: index,
                interface,
            });
        } else if method.interface.starts_with("IMetaData") && type_name == "*mut c_void" {
            rules.push(Rule::HandsBack { argument: index });
        }
    }
    if method.interface.starts_with("ICorProfilerCallback") {
        for (name, argument, handed) in HANDED {
            if method.facts.name == *name {
                rules.extend(interface(handed).map(|interface| Rule::Hands {
                    argument: *argument,
                    interface,
                }));
            }
        }
    }
    rules
}

/// The interface in `*mut Option<Interface>`.
fn given(type_name: &str) -> Option<&'static Interface> {
    let name = type_name.strip_prefix("*mut Option<")?.strip_suffix('>')?;
    interface(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules_of(name: &str) -> String {
        let method = methods().iter().find(|method| method.name() == name);
        let rules = of(method.unwrap());
        rules
            .iter()
            .map(|rule| match rule {
                Rule::GivesByIid { iid, out } => format!("{iid} gives {out}; "),
                Rule::Gives { out, interface } => format!("gives {out} {}; ", interface.name),
                Rule::Hands {
                    argument,
                    interface,
                } => format!("hands {argument} {}; ", interface.name),
                Rule::HandsBack { argument } => format!("hands back {argument}; "),
            })
            .collect()
    }

    #[test]
    fn interfaces_are_found_among_the_arguments() {
        let expected = [
            ("IUnknown::QueryInterface", "0 gives 1; "),
            ("IClassFactory::CreateInstance", "1 gives 2; "),
            ("ICorProfilerInfo::GetModuleMetaData", "2 gives 3; "),
            (
                "ICorProfilerInfo::GetTokenAndMetaDataFromFunction",
                "1 gives 2; ",
            ),
            (
                "ICorProfilerInfo::GetILFunctionBodyAllocator",
                "gives 1 IMethodMalloc; ",
            ),
            (
                "ICorProfilerInfo6::EnumNgenModuleMethodsInliningThisMethod",
                "gives 4 ICorProfilerMethodEnum; ",
            ),
            (
                "ICorProfilerThreadEnum::Clone",
                "gives 0 ICorProfilerThreadEnum; ",
            ),
            ("ICorProfilerCallback::Initialize", "hands 0 IUnknown; "),
            (
                "ICorProfilerCallback4::GetReJITParameters",
                "hands 2 ICorProfilerFunctionControl; ",
            ),
            (
                "IMetaDataEmit::DefineImportType",
                "hands back 0; hands back 3; hands back 5; ",
            ),
            ("IMetaDataImport::ResolveTypeRef", "1 gives 2; "),
            ("ICorProfilerInfo::GetEventMask", ""),
        ];
        for (name, rules) in expected {
            assert_eq!(rules_of(name), rules, "{name}");
        }
    }
}
