//! Tells the program's assemblies from the framework's.

const FAMILIES: [&str; 5] = ["System", "Microsoft", "Interop", "mscorlib", "netstandard"];

/// The assembly that the runtime creates for dynamic methods: it has none of its own.
const OF_DYNAMIC_METHODS: &str = "Anonymously Hosted DynamicMethods Assembly";

/// Whether an assembly is part of .NET, or created by it, by its name.
#[must_use]
pub fn is_framework(assembly: &str) -> bool {
    let is_of = |family: &str| {
        let rest = assembly.strip_prefix(family);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    assembly == OF_DYNAMIC_METHODS || FAMILIES.into_iter().any(is_of)
}

/// Whether assemblies whose names begin like this can be part of .NET.
#[must_use]
pub fn begins_like_framework(prefix: &str) -> bool {
    is_framework(prefix) || FAMILIES.iter().any(|family| family.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::{begins_like_framework, is_framework};

    #[test]
    fn names_may_begin_like_those_of_the_framework() {
        for prefix in ["Sys", "System", "System.Li", "m"] {
            assert!(begins_like_framework(prefix), "{prefix}");
        }
        assert!(!begins_like_framework("Shop"));
        assert!(!begins_like_framework("Systematics"));
    }

    #[test]
    fn assemblies_of_others_may_begin_alike() {
        for name in [
            "System",
            "System.Private.CoreLib",
            "Microsoft.CSharp",
            "mscorlib",
            "Anonymously Hosted DynamicMethods Assembly",
        ] {
            assert!(is_framework(name), "{name}");
        }
        for name in [
            "Systematics",
            "MicrosoftFan.App",
            "mscorlib2",
            "Shop.System",
        ] {
            assert!(!is_framework(name), "{name}");
        }
    }
}
