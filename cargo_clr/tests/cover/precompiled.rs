//! Precompiled code is given up where methods are covered, and nowhere else.

use std::process::Command;

use clr_profiler_tests::{Folder, Runtime, runtimes_where};

use crate::command::{clr_on, stderr, text};
use crate::compiled::compile;

const SOURCE: &str = "\
using System;
using System.Collections.Generic;
using System.Linq;

static class Program
{
    static void Main()
    {
        var words = new List<string> { \"pear\", \"apple\", \"plum\", \"cherry\" };
        var sorted = words.Where(word => word.Length > 4).OrderBy(word => word).Select(word => word.Trim());
        Console.WriteLine(string.Join(\", \", sorted.Concat(words.Skip(1).Reverse()).Distinct()));
        var counter = typeof(GC).Assembly.GetType(\"System.Runtime.JitInfo\").GetMethod(\"GetCompiledMethodCount\");
        Console.Error.WriteLine(\"compiled \" + counter.Invoke(null, new object[] { false }));
    }
}
";

/// The number of methods that the runtime has compiled when the program ends, each once.
fn compiled(mut command: Command) -> i64 {
    let output = command.env("DOTNET_TieredCompilation", "0").output();
    let told = stderr(&output.unwrap());
    let number = told.lines().find_map(|line| line.strip_prefix("compiled "));
    number.unwrap_or_else(|| panic!("{told}")).parse().unwrap()
}

#[test]
fn other_assemblies_keep_their_precompiled_code() {
    let Some(program) = compile("Precompiled", SOURCE, &[]) else {
        return;
    };
    // 3.1 does not count.
    for runtime in runtimes_where(|runtime: &Runtime| runtime.major >= 8) {
        println!("on {}", runtime.name);
        let plain = runtime.launch(program.path(), &[]).command().unwrap();
        let plain = compiled(plain);
        let folder = Folder::new();
        let lcov = folder.path("cover.lcov");
        let json = folder.path("cover.json");
        let covered = |words: &[&str]| {
            let files = [
                "-o",
                lcov.to_str().unwrap(),
                "--also",
                json.to_str().unwrap(),
            ];
            let words = [&["cover"], words, &files].concat();
            compiled(clr_on(runtime, &words, program.path(), &[]))
        };
        let own = covered(&[]);
        assert!(text(&folder, "cover.lcov").contains("Precompiled.cs"));
        let framework = covered(&["--methods", "System.Linq!**"]);
        println!("{plain} methods, {own} covered, {framework} with System.Linq");
        // The methods of the program have no precompiled code.
        assert!((plain - 2..=plain + 2).contains(&own), "{plain} {own}");
        // Covered methods give theirs up: each that has run was compiled.
        let is_covered = text(&folder, "cover.json").contains("\"assembly\": \"System.Linq\"");
        assert!(is_covered, "{}", runtime.name);
        assert!(framework > plain + 20, "{plain} {framework}");
    }
}
