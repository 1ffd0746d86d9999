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

#[cfg(test)]
mod tests {
    use super::is_framework;

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
