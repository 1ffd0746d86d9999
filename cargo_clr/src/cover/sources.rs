//! The source files of deterministic builds, whose PDBs name no folder of a machine.

use std::path::{Path, PathBuf};

use clr_profiler_tools::coverage::Coverage;

/// Replaces the paths of deterministic builds, `/_/src/Shop.cs`, by those of the files below `folder` or a folder above it, as
/// far as they are there.
pub(super) fn locate(coverage: &mut Coverage, folder: &Path) {
    coverage.map_paths(|path| match found(&path, folder) {
        Some(found) => found.to_string_lossy().into_owned(),
        None => path,
    });
}

fn found(path: &str, folder: &Path) -> Option<PathBuf> {
    let below = below_root(path)?;
    let files = folder.ancestors().map(|above| above.join(below));
    files.into_iter().find(|file| file.is_file())
}

/// The path below the root of its repository: after `/_/`, or `/_1/` for a second repository.
fn below_root(path: &str) -> Option<&str> {
    let after = path.strip_prefix("/_")?;
    after
        .trim_start_matches(|digit: char| digit.is_ascii_digit())
        .strip_prefix('/')
}

/// A line about source files that are not there, if any.
pub(super) fn missing(coverage: &Coverage) -> Option<String> {
    let mut missing = coverage
        .files
        .keys()
        .filter(|path| !Path::new(path).is_file());
    let first = missing.next()?;
    let (number, all) = (1 + missing.count(), coverage.files.len());
    Some(format!(
        "the sources of {number} of {all} files are not at the paths of the PDBs, such as `{first}`: reports have the lines without \
         them, and `genhtml` needs `--ignore-errors source`"
    ))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use clr_profiler_tools::coverage::FileCoverage;

    use super::*;

    #[test]
    fn sources_of_deterministic_builds_are_found_above() {
        let root = std::env::temp_dir().join(format!("clr-sources-{}", std::process::id()));
        let folder = root.join("test/bin");
        fs::create_dir_all(&folder).unwrap();
        fs::create_dir_all(root.join("src")).unwrap();
        let source = root.join("src/Shop.cs");
        fs::write(&source, "").unwrap();
        let hit = |line| FileCoverage {
            lines: [(line, 1)].into(),
            ..FileCoverage::default()
        };
        let mut coverage = Coverage::default();
        for (path, line) in [
            ("/_/src/Shop.cs", 1),
            ("/_2/src/Shop.cs", 2),
            ("/_/src/Other.cs", 3),
            ("/_x/src/Shop.cs", 4),
        ] {
            coverage.files.insert(path.to_owned(), hit(line));
        }
        locate(&mut coverage, &folder);
        let of_source = &coverage.files[source.to_str().unwrap()];
        assert_eq!(of_source.lines, [(1, 1), (2, 1)].into());
        let others: Vec<_> = coverage.files.keys().take(2).collect();
        assert_eq!(others, ["/_/src/Other.cs", "/_x/src/Shop.cs"]);
        assert_eq!(coverage.files.len(), 3);
        let line = missing(&coverage).unwrap();
        assert!(line.starts_with("the sources of 2 of 3 files"), "{line}");
        coverage
            .files
            .retain(|path, _| *path == source.to_str().unwrap());
        assert_eq!(missing(&coverage), None);
        fs::remove_dir_all(&root).unwrap();
    }
}
