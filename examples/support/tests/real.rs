//! A runtime from the package index runs the sample program.

#![cfg(all(target_os = "linux", target_arch = "x86_64", not(target_env = "musl")))]

use clr_profiler_launcher::{DotnetHost, Launch};
use examples_support::{Fetcher, Pinned, samples};

const OUTPUT: &str = "\
The shop opens.
sold 3 apple for 1.05
sold 40 plum for 4.80
refused: no pear left
visits: 3, total: 5.85
stock: apple 7, pear 4, plum 60
largest: 40, 0.50, plum
swapped: second, first, 7
discount: 1596
mixed: 1717298533
";

/// Runs the sample with arguments for it on this host.
fn run(host: &DotnetHost) {
    let mut launch = Launch::new(samples::sample());
    launch
        .dotnet(host.clone())
        .args(["two words", "exit=7", "größe"]);
    let output = launch.command().unwrap().output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let expected = format!("{OUTPUT}arguments: two words | größe\nThe shop closes.\n");
    assert_eq!(text, expected);
    assert_eq!(output.status.code(), Some(7));
}

/// In CI the network must be available; elsewhere a test cannot require it.
fn may_skip(error: &clr_profiler_test::Error) -> bool {
    std::env::var_os("CI").is_none() && error.to_string().contains("cannot be fetched")
}

#[test]
fn a_fetched_runtime_runs_the_sample() {
    let cache = std::env::temp_dir().join(format!("clr-real-{}", std::process::id()));
    let result = Fetcher::new(&cache).fetch(&Pinned::NET_8);
    let host = match &result {
        Err(error) if may_skip(error) => {
            eprintln!("SKIPPED, as nothing can be fetched here (an error if CI is set): {error}");
            return;
        }
        result => DotnetHost::at(result.as_ref().unwrap()).unwrap(),
    };
    let versions = host.installed_runtimes().unwrap();
    assert_eq!(
        versions.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["8.0.4"]
    );
    run(&host);
    std::fs::remove_dir_all(&cache).unwrap();
}

#[test]
fn all_pinned_runtimes_start() {
    // All tests share the user's cache.
    let fetcher = Fetcher::from_env().unwrap();
    for (pinned, arguments, words) in [
        (Pinned::NET_CORE_3_1, &[][..], ""),
        (Pinned::NET_8, &[], ""),
        (Pinned::NET_9, &["--help"], "Azure MCP Server"),
        (Pinned::NET_10, &["version"], "\"ok\":true"),
    ] {
        let executable = match fetcher.fetch(&pinned) {
            Err(error) if may_skip(&error) => {
                eprintln!("SKIPPED {} (an error if CI is set): {error}", pinned.name);
                continue;
            }
            result => result.unwrap(),
        };
        if executable.file_stem() != Some("dotnet".as_ref()) {
            // It contains a runtime, but no host for other programs.
            let mut launch = Launch::new(&executable);
            launch
                .args(arguments)
                .env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
            let output = launch.command().unwrap().output().unwrap();
            let stdout = String::from_utf8(output.stdout).unwrap();
            assert!(stdout.contains(words), "{stdout}");
        } else {
            let host = DotnetHost::at(executable).unwrap();
            assert_eq!(
                host.installed_runtimes().unwrap()[0].to_string(),
                pinned.version
            );
            run(&host);
        }
    }
}
