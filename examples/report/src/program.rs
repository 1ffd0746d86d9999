//! What belongs to the program and what to the framework.

/// Whether an assembly comes with .NET, by its name.
#[must_use]
pub fn is_framework(assembly: &str) -> bool {
    const FAMILIES: [&str; 5] = ["System", "Microsoft", "Interop", "mscorlib", "netstandard"];
    FAMILIES.iter().any(|family| {
        let rest = assembly.strip_prefix(family);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
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
