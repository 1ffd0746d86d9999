//! The cost of many rules at the start of a server: the time until an ASP.NET Core server, which is precompiled, tells its address,
//! under `method_tracer` with 20 rules and with 844, as many as the largest agent has.
//!
//! ```sh
//! cargo bench -p clr_profiler_tests --bench rules            # 30 starts of each
//! cargo bench -p clr_profiler_tests --bench rules -- 100
//! ```
//!
//! The rules name methods of the assemblies that the server loads, and select none of them. Both lists name the same assemblies, so
//! that the difference is that of matching. Starts alternate; the figures are medians, and their ratio.

use std::process::ExitCode;

#[cfg(unix)]
fn main() -> ExitCode {
    let starts = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok());
    measure::run(starts.unwrap_or(30));
    ExitCode::SUCCESS
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    eprintln!("rules: error: the server is started on Unix only");
    ExitCode::FAILURE
}

#[cfg(unix)]
mod measure {
    use std::fs;
    use std::path::PathBuf;
    use std::time::{Duration, Instant};

    use clr_profiler_tests::{Example, Folder, Running, profilee, runtimes_where};
    use clr_profiler_tools::conventions::{RuleText, checked};

    const TRACER: Example = Example("method_tracer");
    const COUNTS: [usize; 2] = [20, 844];
    /// Assemblies of ASP.NET Core and .NET that the server loads.
    const ASSEMBLIES: [&str; 10] = [
        "Microsoft.AspNetCore.Hosting",
        "Microsoft.AspNetCore.Http",
        "Microsoft.AspNetCore.Http.Abstractions",
        "Microsoft.AspNetCore.Routing",
        "Microsoft.AspNetCore.Server.Kestrel.Core",
        "Microsoft.Extensions.DependencyInjection",
        "Microsoft.Extensions.Hosting",
        "Microsoft.Extensions.Logging",
        "System.Collections.Concurrent",
        "System.Net.Sockets",
    ];
    /// The longest start.
    const START: Duration = Duration::from_secs(120);

    pub(super) fn run(starts: usize) {
        // The one that brings ASP.NET Core.
        let runtimes = runtimes_where(|runtime| runtime.major == 9);
        let Some(runtime) = runtimes.first() else {
            return println!("there is no .NET 9");
        };
        let folder = Folder::new();
        let files = COUNTS.map(|count| {
            let rules: Vec<RuleText> = (0..count).map(rule).collect();
            let file = folder.path(&format!("{count}.json"));
            fs::write(&file, checked::write(&rules)).expect("the folder can be written");
            file
        });
        let start = |file: &PathBuf| {
            let output = folder.path("trace.json");
            let options = ["--output", output.to_str().expect("the path is a text")];
            let program = profilee("Requests");
            let mut command = TRACER.command(runtime, &options, &program, &["serve", "None"]);
            command.env("METHOD_TRACER_RULES", file);
            command.env("METHOD_TRACER_CONVENTIONS", "none");
            let begun = Instant::now();
            let mut server = Running::start(command);
            server.line_within(START);
            let took = begun.elapsed();
            server.ask("");
            let finished = server.finish();
            assert_eq!(finished.status.code(), Some(7), "{}", finished.stderr);
            took
        };
        let mut all = [Vec::new(), Vec::new()];
        for _ in 0..starts {
            for (took, file) in all.iter_mut().zip(&files) {
                took.push(start(file).as_secs_f64() * 1e3);
            }
        }
        let medians = all.map(|mut all| {
            all.sort_by(f64::total_cmp);
            all[all.len() / 2]
        });
        for (count, median) in COUNTS.iter().zip(medians) {
            println!("{count:>5} rules: {median:.1} ms");
        }
        println!("ratio: {:.3}", medians[1] / medians[0]);
    }

    fn rule(number: usize) -> RuleText {
        let assembly = ASSEMBLIES[number % ASSEMBLIES.len()];
        RuleText {
            origin: format!("rules:{number}"),
            methods: format!("{assembly}!{assembly}.Type{number}.Method{number}(*, string)"),
            kind: Some("client".to_owned()),
            attributes: vec![("argument".to_owned(), None, "arguments[0].Name".to_owned())],
            ..RuleText::default()
        }
    }
}
