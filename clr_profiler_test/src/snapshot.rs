//! Texts in files that a test compares with.

use std::path::Path;
use std::{env, fs};

/// The variable that has [`snapshot`] write the files.
const VARIABLE: &str = "CLR_PROFILER_TEST_SNAPSHOTS";

/// Compares a text, such as [`EditedAssembly::listing`](crate::EditedAssembly::listing), with the file of this path, which
/// is committed with the test.
///
/// With `CLR_PROFILER_TEST_SNAPSHOTS=write` the text is written to the file instead. Line ends are those of the text:
/// a `\r\n` in the file is as good as `\n`.
///
/// # Panics
///
/// If they differ, or if there is no file; the message has the first lines that differ.
#[track_caller]
pub fn snapshot(path: impl AsRef<Path>, text: &str) {
    let is_written = env::var_os(VARIABLE).is_some_and(|value| value == "write");
    if let Err(problem) = compare(path.as_ref(), text, is_written) {
        panic!("{problem}\n{VARIABLE}=write writes the file again.");
    }
}

fn compare(path: &Path, text: &str, is_written: bool) -> Result<(), String> {
    let shown = path.display();
    if is_written {
        let folder = path.parent().unwrap_or(Path::new("."));
        let written = fs::create_dir_all(folder).and_then(|()| fs::write(path, text));
        return written.map_err(|error| format!("cannot write {shown}: {error}"));
    }
    let expected =
        fs::read_to_string(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let expected = expected.replace("\r\n", "\n");
    if expected == text {
        return Ok(());
    }
    let (expected, found) = (lines(&expected), lines(text));
    let same = (expected.iter().zip(&found))
        .take_while(|(expected, found)| expected == found)
        .count();
    let show = |lines: &[&str]| {
        lines
            .iter()
            .skip(same)
            .take(5)
            .map(|line| format!("    {line}\n"))
            .collect::<String>()
    };
    Err(format!(
        "{shown} differs from line {} on; expected:\n{}  found:\n{}",
        same + 1,
        show(&expected),
        show(&found)
    ))
}

fn lines(text: &str) -> Vec<&str> {
    text.split('\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn a_text_is_written_and_compared() {
        let scratch = Scratch::new();
        let file = scratch.path("folder").join("a.txt");
        assert!(
            compare(&file, "one\ntwo\n", false)
                .unwrap_err()
                .contains("cannot read")
        );
        compare(&file, "one\ntwo\n", true).unwrap();
        compare(&file, "one\ntwo\n", false).unwrap();
        let problem = compare(&file, "one\n2\n", false).unwrap_err();
        assert!(problem.contains("differs from line 2 on"), "{problem}");
        assert!(
            problem.contains("    two\n") && problem.contains("    2\n"),
            "{problem}"
        );
        assert!(compare(&file, "one\ntwo\nmore\n", false).is_err());
        fs::write(&file, "one\r\ntwo\r\n").unwrap();
        compare(&file, "one\ntwo\n", false).unwrap();
    }
}
