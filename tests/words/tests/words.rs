//! Counts the words that the text of the repository avoids.
//!
//! `counts.txt` has the number for each area and rule; an area without a line there has none. The
//! test fails when a number has grown, and also when it has shrunk, so that it only ever shrinks:
//! `WORDS=write cargo test -p words` writes the file. `WORDS=tests/src cargo test -p words` lists
//! the violations in the files whose path contains `tests/src`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use words::tree;

#[test]
fn the_text_avoids_the_words_of_the_rules() {
    let (found, stale) = tree::check();
    let counts = tree::counts(&found);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("counts.txt");
    let asked = env::var("WORDS").unwrap_or_default();
    if asked == "write" {
        let mut text = String::new();
        for ((area, rule), count) in &counts {
            writeln!(text, "{area} {rule} {count}").unwrap();
        }
        fs::write(&path, text).unwrap();
    } else if !asked.is_empty() {
        let found: Vec<String> = found
            .iter()
            .filter(|it| it.file.contains(&asked))
            .map(|it| it.to_string())
            .collect();
        panic!("{}\n{} violations", found.join("\n"), found.len());
    }
    let recorded = recorded(&fs::read_to_string(&path).unwrap());
    let mut message = String::new();
    for exception in stale {
        writeln!(message, "excuses nothing: {exception:?}").unwrap();
    }
    let keys: BTreeSet<_> = counts.keys().chain(recorded.keys()).collect();
    for key in keys {
        let (area, rule) = key;
        let is = counts.get(key).copied().unwrap_or(0);
        let was = recorded.get(key).copied().unwrap_or(0);
        if is < was {
            let line = format!("{area}: {rule}: only {is} instead of {was}, write it down with");
            writeln!(message, "{line} `WORDS=write cargo test -p words`").unwrap();
        } else if is > was {
            let found: Vec<_> = found.iter().filter(|it| it.key() == *key).collect();
            let say = found[0].rule.say;
            writeln!(message, "{area}: {rule}: {is} instead of {was}; say {say}:").unwrap();
            for it in found {
                writeln!(message, "    {it}").unwrap();
            }
        }
    }
    assert!(message.is_empty(), "\n{message}");
}

fn recorded(text: &str) -> BTreeMap<(String, String), usize> {
    let line = |line: &str| {
        let mut parts = line.split(' ');
        let mut next = || parts.next().unwrap().to_owned();
        ((next(), next()), next().parse().unwrap())
    };
    text.lines().map(line).collect()
}
