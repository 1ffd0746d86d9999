//! The requirements of a program, by its `.runtimeconfig.json`.

use std::fs;
use std::path::Path;

use clr_profiler_launcher::RuntimeVersion;
use serde_json::Value;

/// The oldest version of `Microsoft.NETCore.App` on which the assembly runs, and the name of another framework that it
/// needs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Needs {
    pub(crate) oldest: Option<RuntimeVersion>,
    pub(crate) other: Option<String>,
}

impl Needs {
    /// Those of the configuration next to this assembly; none if it has no configuration, or one of another form.
    pub(crate) fn of(assembly: &Path) -> Self {
        let text = fs::read(assembly.with_extension("runtimeconfig.json")).unwrap_or_default();
        Self::parse(&text)
    }

    fn parse(configuration: &[u8]) -> Self {
        let value: Value = serde_json::from_slice(configuration).unwrap_or_default();
        let options = &value["runtimeOptions"];
        let several = options["frameworks"].as_array();
        let mut needs = Self::default();
        for framework in several.into_iter().flatten().chain([&options["framework"]]) {
            match framework["name"].as_str() {
                Some("Microsoft.NETCore.App") => {
                    let version = framework["version"].as_str();
                    needs.oldest = version.and_then(RuntimeVersion::parse);
                }
                Some(other) => needs.other = Some(other.to_owned()),
                None => {}
            }
        }
        needs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_are_read() {
        let one = br#"{"runtimeOptions": {"framework": {"name": "Microsoft.NETCore.App", "version": "8.0.0"}}}"#;
        let eight = RuntimeVersion::parse("8.0.0");
        assert_eq!(
            Needs::parse(one),
            Needs {
                oldest: eight.clone(),
                other: None
            }
        );
        let two = br#"{"runtimeOptions": {"frameworks": [
            {"name": "Microsoft.NETCore.App", "version": "8.0.0"},
            {"name": "Microsoft.AspNetCore.App", "version": "8.0.0"}]}}"#;
        assert_eq!(
            Needs::parse(two),
            Needs {
                oldest: eight,
                other: Some("Microsoft.AspNetCore.App".to_owned())
            }
        );
        assert_eq!(Needs::parse(b"no JSON"), Needs::default());
    }
}
