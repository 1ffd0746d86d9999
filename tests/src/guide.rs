//! The code of the guide in `docs/src`: each block of each chapter is a documentation test.

/// One line a chapter: a name for its tests.
#[cfg(any(test, doctest))]
macro_rules! chapters {
    ($($name:ident = $file:literal;)*) => {
        $(
            #[cfg(doctest)]
            #[doc = include_str!(concat!("../../docs/src/", $file))]
            struct $name;
        )*

        /// The files of the chapters.
        #[cfg(test)]
        const CHAPTERS: &[&str] = &[$($file),*];
    };
}

#[cfg(any(test, doctest))]
chapters! {
    Choosing = "choosing.md";
    FirstProfiler = "first-profiler.md";
    CallbacksAndEvents = "callbacks-and-events.md";
    Components = "components.md";
    Composing = "composing.md";
    Errors = "errors.md";
    ThreadsAndLocks = "threads-and-locks.md";
    Metadata = "metadata.md";
    Patterns = "patterns.md";
    ObjectsAndGc = "objects-and-gc.md";
    Memory = "memory.md";
    HeapGraphs = "heap-graphs.md";
    Exceptions = "exceptions.md";
    Sampling = "sampling.md";
    Hooks = "hooks.md";
    EventPipe = "eventpipe.md";
    SourceLines = "source-lines.md";
    Instrumentation = "instrumentation.md";
    Loggers = "loggers.md";
    Patches = "patches.md";
    PatchedKinds = "patched-kinds.md";
    Mocks = "mocks.md";
    PatchesInCSharp = "patches-in-csharp.md";
    RewritingIl = "rewriting-il.md";
    Helpers = "helpers.md";
    MetadataEmission = "metadata-emission.md";
    Rejit = "rejit.md";
    Tracing = "tracing.md";
    IlAlone = "il-alone.md";
    ReadingAssemblies = "reading-assemblies.md";
    Command = "command.md";
    Outputs = "outputs.md";
    Coverage = "coverage.md";
    TracingServices = "tracing-services.md";
    SpanRules = "span-rules.md";
    Testing = "testing.md";
    Debugging = "debugging.md";
    AttachAndDetach = "attach-and-detach.md";
    Deploying = "deploying.md";
    Troubleshooting = "troubleshooting.md";
    SupportedVersions = "supported-versions.md";
    Faq = "faq.md";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::CHAPTERS;

    const SUMMARY: &str = "SUMMARY.md";

    fn folder() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src")
    }

    fn text(path: &Path) -> String {
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The lines that are not in a block of code.
    fn prose(text: &str) -> impl Iterator<Item = &str> {
        let mut in_code = false;
        text.lines().filter(move |line| {
            let is_fence = line.trim_start().starts_with("```");
            in_code ^= is_fence;
            !in_code && !is_fence
        })
    }

    /// The targets of the links of a text.
    fn links(text: &str) -> Vec<String> {
        let after = prose(text).flat_map(|line| line.split("](").skip(1));
        after
            .filter_map(|rest| Some(rest.split_once(')')?.0.to_owned()))
            .collect()
    }

    /// The anchors of the headings: lower case, without punctuation, with hyphens for spaces.
    fn anchors(text: &str) -> Vec<String> {
        let headings = prose(text).filter_map(|line| line.strip_prefix('#'));
        headings
            .map(|heading| {
                let name = heading.trim_start_matches('#').trim().to_lowercase();
                let kept = name
                    .chars()
                    .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
                kept.map(|c| if c == ' ' { '-' } else { c }).collect()
            })
            .collect()
    }

    #[test]
    fn each_chapter_is_in_the_summary_and_its_code_is_compiled() {
        let files: BTreeSet<String> = fs::read_dir(folder())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| name != SUMMARY)
            .collect();
        let in_summary = links(&text(&folder().join(SUMMARY)));
        assert_eq!(in_summary, CHAPTERS, "the order is that of the summary");
        let listed: BTreeSet<String> = in_summary.into_iter().collect();
        assert_eq!(files, listed);
    }

    /// The texts of the repository: those in its root, those of its packages, and the guide.
    fn texts() -> Vec<PathBuf> {
        const DEPTH: u32 = 3;

        fn collect(folder: &Path, depth: u32, found: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let name = path.file_name().and_then(|name| name.to_str());
                // Build output, and files that do not belong to the repository.
                let is_foreign = name.is_none_or(|name| name == "target" || name.starts_with('.'));
                if path.is_dir() && depth > 0 && !is_foreign {
                    collect(&path, depth - 1, found);
                } else if path.extension().is_some_and(|extension| extension == "md") {
                    found.push(path);
                }
            }
        }

        let mut found = Vec::new();
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        collect(&top, DEPTH, &mut found);
        found
    }

    /// The problems of the links of a text.
    fn broken_links(file: &Path) -> Vec<String> {
        let mut broken = Vec::new();
        for link in links(&text(file)) {
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            if path.starts_with("https://") {
                continue;
            }
            let target = match path {
                "" => file.to_owned(),
                path => file.with_file_name("").join(path),
            };
            let is_there = target.exists()
                && (anchor.is_empty() || anchors(&text(&target)).iter().any(|a| a == anchor));
            if !is_there {
                broken.push(format!("{}: {link}", file.display()));
            }
        }
        broken
    }

    #[test]
    fn links_lead_somewhere() {
        let texts = texts();
        // All chapters, the summary, and the texts in the root and in the packages.
        assert!(texts.len() > CHAPTERS.len() + 10, "{texts:#?}");
        let broken: Vec<String> = texts.iter().flat_map(|file| broken_links(file)).collect();
        assert_eq!(broken, [""; 0]);
    }

    /// Repository pages show the lines that rustdoc and mdBook hide.
    #[test]
    fn no_block_of_rust_has_hidden_lines() {
        for file in texts() {
            let text = text(&file);
            let mut is_rust = false;
            for (number, line) in text.lines().enumerate() {
                let line = line.trim_start();
                if let Some(kind) = line.strip_prefix("```") {
                    is_rust = kind.starts_with("rust");
                }
                let is_hidden = is_rust && (line == "#" || line.starts_with("# "));
                assert!(!is_hidden, "{}:{}: {line}", file.display(), number + 1);
            }
        }
    }

    /// The numbers of lines that the chapter of the loggers says, without those that are empty or a `use`.
    #[test]
    fn the_loggers_are_short() {
        let profilers = |file: &str, most: usize| {
            let text = text(&folder().join(file));
            let blocks = text.split("```rust\n").skip(1);
            let blocks = blocks.filter_map(|block| block.split("```").next());
            let lengths = blocks.filter(|block| block.contains("\nregister!("));
            let lengths: Vec<usize> = lengths
                .map(|block| {
                    let lines = block.lines();
                    let counted = |line: &&str| !line.is_empty() && !line.starts_with("use ");
                    lines.filter(counted).count()
                })
                .collect();
            assert!(lengths.iter().all(|length| *length <= most), "{lengths:?}");
            lengths.len()
        };
        assert_eq!(profilers("loggers.md", 26), 3);
        assert_eq!(profilers("instrumentation.md", 14), 1);
    }

    #[test]
    fn every_block_of_code_says_what_it_is() {
        for file in CHAPTERS {
            let mut in_code = false;
            for (number, line) in text(&folder().join(file)).lines().enumerate() {
                let Some(kind) = line.trim_start().strip_prefix("```") else {
                    continue;
                };
                in_code = !in_code;
                // For rustdoc, a block without a language is Rust.
                let known = [
                    "rust",
                    "rust,no_run",
                    "text",
                    "sh",
                    "toml",
                    "csharp",
                    "dockerfile",
                    "xml",
                    "yaml",
                ];
                assert!(
                    !in_code || known.contains(&kind),
                    "{file}:{}: {line}",
                    number + 1
                );
            }
        }
    }
}
