//! The formats of files, and the units of weights.

use std::path::Path;

/// The unit of weights.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// How often something was observed.
    Samples,
    /// How often something was called.
    Calls,
    /// Sizes.
    Bytes,
    /// Times.
    Nanoseconds,
}

/// The format of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `.svg`: a flame graph for a browser.
    FlameGraph,
    /// `.pb.gz` and `.pprof`: for `go tool pprof`, and everything else that reads its format.
    Pprof,
    /// `.firefox.json`: for <https://profiler.firefox.com>.
    Firefox,
    /// `.json`: for <https://www.speedscope.app>.
    Speedscope,
    /// `.otlp`: a request of OpenTelemetry's profiles, as protobuf.
    Otlp,
    /// `.folded`: a stack a line.
    Folded,
    /// Anything else: a table, in the profiler's own format.
    Table,
}

/// The name of each format, and the endings that choose it. A longer ending precedes those that it ends with.
const FORMS: [(Form, &str, &[&str]); 7] = [
    (Form::FlameGraph, "svg", &[".svg"]),
    (Form::Pprof, "pprof", &[".pb.gz", ".pprof"]),
    (Form::Firefox, "firefox", &[".firefox.json"]),
    (Form::Speedscope, "speedscope", &[".json"]),
    (Form::Otlp, "otlp", &[".otlp"]),
    (Form::Folded, "folded", &[".folded"]),
    (Form::Table, "table", &[]),
];

impl Form {
    /// The format of the file with this name.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        let name = path.file_name().map(|name| name.to_string_lossy());
        let name = name.unwrap_or_default();
        let chosen = FORMS.iter().find(|(_, _, endings)| {
            let mut stems = endings
                .iter()
                .filter_map(|ending| name.strip_suffix(ending));
            stems.any(|stem| !stem.is_empty())
        });
        chosen.map_or(Self::Table, |(form, ..)| *form)
    }

    /// The format with this name: `svg`, `pprof`, `firefox`, `speedscope`, `otlp`, `folded` or `table`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let named = FORMS.iter().find(|(_, its_name, _)| *its_name == name);
        named.map(|(form, ..)| *form)
    }

    /// Whether its files have whole stacks. A table has sums.
    #[must_use]
    pub fn has_stacks(self) -> bool {
        self != Self::Table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_chooses_the_format() {
        for (name, form) in [
            ("a.svg", Form::FlameGraph),
            ("folder/a.pb.gz", Form::Pprof),
            ("a.pprof", Form::Pprof),
            ("a.firefox.json", Form::Firefox),
            ("a.json", Form::Speedscope),
            ("firefox.json", Form::Speedscope),
            ("a.otlp", Form::Otlp),
            ("a.folded", Form::Folded),
            ("a.gz", Form::Table),
            (".json", Form::Table),
            ("a", Form::Table),
        ] {
            assert_eq!(Form::of(Path::new(name)), form, "{name}");
        }
    }

    #[test]
    fn each_format_has_a_name() {
        for (form, name, _) in FORMS {
            assert_eq!(Form::named(name), Some(form));
        }
        assert_eq!(Form::named("gif"), None);
    }
}
