//! Faults in the programs of the tests, counted by their effects.
//!
//! `AFTER_CHECK=write` puts a thousand faults on each runtime of `SCENARIO_RUNTIMES`, and writes the table of the
//! documentation. Otherwise some faults are put, and their effects must be in the table.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use clr_profiler_tests::{Runtime, Sample, Scenario, name_of, profilee, runtimes};

use super::AfterCheck;
use super::kinds::KINDS;

/// The programs: their output is the same each time, and they end when `Main` does.
const PROGRAMS: [&str; 9] = [
    "Rewrites", "Values", "Members", "Inlines", "Throws", "Objects", "Statics", "Boxed", "Boxes",
];

/// The number of faults in the table.
const FAULTS: usize = 1_000;

/// The number of faults otherwise, of which quick tests take half.
const SAMPLE: usize = 50;

/// The time in which something must happen.
const PATIENCE: Duration = Duration::from_secs(60);

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Fault {
    kind: &'static str,
    program: &'static str,
    method: u32,
    seed: u64,
}

impl Fault {
    fn line(&self) -> String {
        let path = profilee(self.program);
        let Self {
            kind, method, seed, ..
        } = self;
        format!("{}\t{kind}\t{method}\t{seed}", path.display())
    }
}

/// The end of one program.
#[derive(Clone, Debug)]
enum End {
    /// Exit code or type of exception, hash of the output, types of all exceptions with their counts.
    Line(String, String, Vec<(String, u32)>),
    /// The whole process ended, with this standard error.
    Died(ExitStatus, String),
    Hung,
}

/// The ends of the programs of a list, and the log: kind of line, number of the program, rest.
#[derive(Default)]
struct Run {
    ends: Vec<End>,
    log: Vec<(String, usize, String)>,
}

/// How programs are run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    /// Without the profiler.
    Plain,
    Profiled,
    /// Methods with faults are compiled on trial, and get their original body if that fails.
    WithTrials,
}

impl How {
    /// How faults are put for the page: `AFTER_CHECK_TRIALS=1` is that about trials.
    fn of_page() -> Self {
        match env::var("AFTER_CHECK_TRIALS").is_ok_and(|trials| trials == "1") {
            true => Self::WithTrials,
            false => Self::Profiled,
        }
    }
}

/// Runs the programs of a list; a process that dies is followed by another one for the rest.
fn run(runtime: &Runtime, lines: &[String], how: How) -> Run {
    let mut all = Run::default();
    while all.ends.len() < lines.len() {
        let first = all.ends.len();
        let run = run_some(runtime, &lines[first..], how);
        let log = run.log.into_iter();
        all.log
            .extend(log.map(|(kind, number, rest)| (kind, number + first, rest)));
        all.ends.extend(run.ends);
    }
    all
}

fn run_some(runtime: &Runtime, lines: &[String], how: How) -> Run {
    let thread = format!("{:?}", thread::current().id());
    let folder = env::temp_dir().join(format!("clr_profiler-after-{}-{thread}", process::id()));
    fs::create_dir_all(&folder).unwrap();
    let [list, log, out, err] = ["list", "log", "out", "err"].map(|name| folder.join(name));
    fs::write(&list, lines.join("\n")).unwrap();
    let _ = fs::remove_file(&log);
    let mut launch = runtime.launch(&profilee("AfterCheck"), &[list.to_str().unwrap()]);
    launch.env("AFTER_CHECK", &list).env("SCENARIO_LOG", &log);
    let trials = if how == How::WithTrials { "1" } else { "0" };
    launch.env("AFTER_CHECK_TRIALS", trials);
    if how != How::Plain {
        let name = name_of::<AfterCheck>();
        launch.profiler(Scenario::new("AfterCheck").profiler_library(name));
    }
    let mut child = launch
        .command()
        .unwrap()
        .stdin(Stdio::null())
        .stdout(fs::File::create(&out).unwrap())
        .stderr(fs::File::create(&err).unwrap())
        .spawn()
        .unwrap();
    let (mut size, mut since) = (0, Instant::now());
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break Some(status);
        }
        let now = fs::metadata(&out).map_or(0, |file| file.len());
        if now != size {
            (size, since) = (now, Instant::now());
        }
        if since.elapsed() > PATIENCE {
            child.kill().unwrap();
            child.wait().unwrap();
            break None;
        }
        thread::sleep(Duration::from_millis(10));
    };
    let text =
        |path: &Path| String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned();
    let mut ends: Vec<End> = text(&out).lines().filter_map(end).collect();
    // After the last program, the end of the process is that of the runtime alone.
    if ends.len() < lines.len() {
        let stderr = text(&err);
        ends.push(status.map_or(End::Hung, |status| End::Died(status, stderr)));
    }
    let log = text(&log).lines().filter_map(logged).collect();
    fs::remove_dir_all(&folder).unwrap();
    Run { ends, log }
}

fn end(line: &str) -> Option<End> {
    let columns: Vec<&str> = line.split('\t').collect();
    let ["end", _, code, hash, types] = columns[..] else {
        return None;
    };
    let types = types.split(',').filter_map(|one| {
        let (name, count) = one.split_once('*')?;
        Some((name.to_owned(), count.parse().ok()?))
    });
    Some(End::Line(code.to_owned(), hash.to_owned(), types.collect()))
}

fn logged(line: &str) -> Option<(String, usize, String)> {
    let mut columns = line.splitn(3, '\t');
    let kind = columns.next()?.to_owned();
    let number = columns.next()?.parse().ok()?;
    Some((kind, number, columns.next().unwrap_or_default().to_owned()))
}

/// The signal by which a program has ended.
#[cfg(unix)]
fn signal(status: &ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(status)
}

#[cfg(not(unix))]
fn signal(_status: &ExitStatus) -> Option<i32> {
    None
}

/// The effect of a fault on a program, compared with its end without.
fn seen(plain: &End, end: &End, entered: bool) -> String {
    let when = if entered { "while running" } else { "before" };
    let short = |name: &str| name.rsplit('.').next().unwrap_or(name).to_owned();
    match (plain, end) {
        (_, End::Hung) => "hang".to_owned(),
        (_, End::Died(status, stderr)) => {
            let unhandled = stderr
                .split_once("Unhandled exception. ")
                .or_else(|| stderr.split_once("Unhandled Exception: "));
            match (unhandled, signal(status)) {
                (Some((_, text)), _) => {
                    let name = text.split([':', '\n']).next().unwrap_or_default();
                    format!("{} {when}", short(name.trim()))
                }
                (None, Some(6)) => "abort".to_owned(),
                (None, Some(11)) => "SIGSEGV".to_owned(),
                (None, Some(signal)) => format!("signal {signal}"),
                (None, None) => format!("exit code {:?}", status.code()),
            }
        }
        (End::Line(code, hash, types), End::Line(new_code, new_hash, new_types)) => {
            // The wrap rethrows exceptions of the program, so that each may be thrown twice.
            let count = |name: &str| {
                let known = types.iter().find(|(known, _)| known == name);
                2 * known.map_or(0, |(_, count)| *count)
            };
            let thrown = new_types.iter().find(|(name, new)| *new > count(name));
            match thrown {
                Some((name, _)) => format!("{} {when}", short(name)),
                None if (code, hash) == (new_code, new_hash) => "nothing".to_owned(),
                None if new_code.parse::<i32>().is_err() => format!("{} {when}", short(new_code)),
                None => "wrong output".to_owned(),
            }
        }
        (plain, _) => panic!("without a fault: {plain:?}"),
    }
}

/// The ends of the programs without faults.
fn plain(runtime: &Runtime) -> BTreeMap<&'static str, End> {
    let lines = PROGRAMS.map(|program| profilee(program).display().to_string());
    let ends = run(runtime, &lines, How::Plain).ends;
    PROGRAMS.into_iter().zip(ends).collect()
}

/// The faults that are possible on a runtime.
fn census(runtime: &Runtime, plain: &BTreeMap<&str, End>) -> BTreeSet<Fault> {
    let lines = PROGRAMS.map(|program| format!("{}\tcensus", profilee(program).display()));
    let run = run(runtime, &lines, How::Profiled);
    for (program, end) in PROGRAMS.iter().zip(&run.ends) {
        // The wrap alone changes nothing.
        let seen = seen(&plain[program], end, true);
        assert_eq!(seen, "nothing", "{program} on {}: {end:?}", runtime.name);
    }
    let sites = run.log.iter().filter(|(kind, ..)| kind == "site");
    let faults = sites.map(|(_, program, site)| {
        let (method, kind) = site.split_once('\t').unwrap();
        let kind = KINDS.iter().find(|known| known.name == kind).unwrap().name;
        let method = method.parse().unwrap();
        let program = PROGRAMS[*program];
        // FNV-1a: the same order with each compiler.
        let bytes = kind
            .bytes()
            .chain(program.bytes())
            .chain(u32::to_le_bytes(method));
        let seed = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        let seed = seed >> 32;
        Fault {
            kind,
            program,
            method,
            seed,
        }
    });
    faults.collect()
}

/// So many faults: of each kind in turn, as long as it has some, in the order of their seeds.
fn choose(faults: BTreeSet<Fault>, count: usize) -> Vec<Fault> {
    let mut by_kind: BTreeMap<&str, Vec<Fault>> = BTreeMap::new();
    for fault in faults {
        by_kind.entry(fault.kind).or_default().push(fault);
    }
    for faults in by_kind.values_mut() {
        faults.sort_by_key(|fault| fault.seed);
    }
    let mut chosen = Vec::new();
    for round in 0.. {
        let before = chosen.len();
        for kind in KINDS {
            let fault = by_kind.get(kind.name).and_then(|faults| faults.get(round));
            chosen.extend(fault.cloned());
        }
        if chosen.len() >= count || chosen.len() == before {
            break;
        }
    }
    chosen.truncate(count);
    chosen
}

/// The faults of a test that does not write the table.
fn sample(possible: BTreeSet<Fault>) -> Vec<Fault> {
    let all = choose(possible, SAMPLE);
    assert_eq!(all.len(), SAMPLE);
    let sample = Sample::one_of(2);
    let chosen = all.into_iter().enumerate();
    let chosen = chosen.filter(|(number, _)| sample.has(*number));
    chosen.map(|(_, fault)| fault).collect()
}

/// The effects of these faults on programs, and whether the check has refused them; none of a fault that was not put.
fn put(
    runtime: &Runtime,
    plain: &BTreeMap<&str, End>,
    faults: &[Fault],
    how: How,
) -> Vec<Option<(String, bool)>> {
    let lines: Vec<String> = faults.iter().map(Fault::line).collect();
    let run = run(runtime, &lines, how);
    let has = |kind: &str, number: usize| {
        let mut log = run.log.iter();
        log.any(|(logged, of, _)| logged == kind && *of == number)
    };
    let seen = faults.iter().zip(&run.ends).enumerate();
    seen.map(|(number, (fault, end))| {
        if has("unset", number) {
            return Some(("not set".to_owned(), true));
        }
        if !has("planted", number) {
            return None;
        }
        let mut seen = seen_of(plain, fault, end, has("entered", number));
        // A process that other faults have damaged is no witness.
        if !matches!(end, End::Line(..)) {
            let lines = std::slice::from_ref(&lines[number]);
            let alone = self::run(runtime, lines, how);
            let entered = alone.log.iter().any(|(kind, ..)| kind == "entered");
            seen = seen_of(plain, fault, &alone.ends[0], entered);
        }
        let of_fault = run.log.iter().filter(|(_, of, _)| *of == number);
        let callbacks = of_fault.filter(|(kind, ..)| ["tried", "finished"].contains(&&**kind));
        let callbacks: Vec<String> = callbacks
            .map(|(kind, _, rest)| format!("{kind} {rest}"))
            .collect();
        let Fault { kind, program, .. } = fault;
        let callbacks = callbacks.join(", ");
        println!("{}\t{kind}\t{program}\t{seen}\t{callbacks}", runtime.name);
        // The program shows nothing of it. On .NET Core 3.1 a few throw something that is not explained yet.
        let is_healed = has("healed", number) && runtime.major != 3;
        assert!(!is_healed || seen == "nothing", "{}: {seen} {fault:?}", runtime.name);
        Some((seen, has("refused", number)))
    })
    .collect()
}

fn seen_of(plain: &BTreeMap<&str, End>, fault: &Fault, end: &End, entered: bool) -> String {
    seen(&plain[fault.program], end, entered)
}

/// The path of the documentation: the page without trials, or with them.
fn page(how: How) -> PathBuf {
    let page = match how {
        How::WithTrials => "../../docs/self-healing.md",
        _ => "../../docs/behind-the-verifier.md",
    };
    Path::new(env!("CARGO_MANIFEST_DIR")).join(page)
}

/// The cells of the table: kind and major version of the runtime to the effects with their numbers.
type Cells = BTreeMap<(&'static str, u32), BTreeMap<String, usize>>;

#[test]
fn programs_see_of_faults_what_the_table_says() {
    if env::var("AFTER_CHECK").is_ok_and(|mode| mode == "write") {
        return write();
    }
    let page = fs::read_to_string(page(How::Profiled)).unwrap();
    for runtime in runtimes() {
        let plain = plain(runtime);
        let faults = sample(census(runtime, &plain));
        let all = put(runtime, &plain, &faults, How::Profiled);
        let mut count = 0;
        for (fault, seen) in faults.iter().zip(all) {
            let Some((seen, is_refused)) = seen else {
                continue;
            };
            println!("{}: {seen}, refused {is_refused}: {fault:?}", runtime.name);
            count += 1;
            let row = page
                .lines()
                .find(|line| line.starts_with(&format!("| {} |", fault.kind)));
            let row = row.unwrap_or_else(|| panic!("no row of {}", fault.kind));
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let column = [3, 8, 9, 10]
                .iter()
                .position(|major| *major == runtime.major);
            // A newer runtime is not in the table.
            let Some(cell) = column.and_then(|column| cells.get(4 + column)) else {
                continue;
            };
            let is_undefined = ["wrong output", "SIGSEGV", "abort"]
                .iter()
                .any(|one| cell.contains(one));
            assert!(
                is_undefined || cell.contains(&seen),
                "{}: {seen} of {fault:?}, but the table has {cell}",
                runtime.name
            );
            // A kind that the check has always or never refused, it treats in the same way here.
            let refused = cells[2].split_once(" of ").unwrap();
            let expected = match refused.0 {
                "0" => Some(false),
                all if all == refused.1 => Some(true),
                _ => None,
            };
            assert!(
                expected.is_none_or(|expected| expected == is_refused),
                "{fault:?}"
            );
        }
        assert!(
            count > faults.len() * 3 / 4,
            "{count} of {} faults were put",
            faults.len()
        );
    }
}

#[test]
fn a_call_whose_compilation_would_fail_goes_on_with_the_original_body() {
    for runtime in runtimes() {
        let plain = plain(runtime);
        let faults = sample(census(runtime, &plain));
        let seen = put(runtime, &plain, &faults, How::WithTrials);
        let healed = seen.iter().flatten().filter(|(seen, _)| seen == "nothing");
        let count = healed.count();
        let of = faults.len();
        assert!(count > of * 2 / 3, "{count} of {of} on {}", runtime.name);
    }
}

/// The results on one runtime.
#[derive(Default)]
struct Seen {
    plain: BTreeMap<&'static str, End>,
    possible: BTreeSet<Fault>,
    put: Vec<Option<(String, bool)>>,
}

/// Puts all faults on all runtimes, and writes the page.
fn write() {
    let runtimes = runtimes();
    // All runtimes at once.
    let each = |work: &(dyn Fn(usize, &Runtime) -> Seen + Sync)| -> Vec<Seen> {
        thread::scope(|scope| {
            let threads = runtimes.iter().enumerate();
            let threads = threads.map(|(at, runtime)| scope.spawn(move || work(at, runtime)));
            let threads: Vec<_> = threads.collect();
            let results = threads.into_iter().map(|thread| thread.join().unwrap());
            results.collect()
        })
    };
    let seen = each(&|_, runtime| {
        let plain = plain(runtime);
        let possible = census(runtime, &plain);
        Seen {
            plain,
            possible,
            put: Vec::new(),
        }
    });
    let possible = seen.iter().map(|seen| seen.possible.clone());
    let possible = possible.reduce(|all, here| all.intersection(&here).cloned().collect());
    let faults = choose(possible.unwrap_or_default(), FAULTS * 11 / 10);
    let mut seen = seen;
    let since = Instant::now();
    for next in faults.chunks(100) {
        let more = each(&|at, runtime| Seen {
            put: put(runtime, &seen[at].plain, next, How::of_page()),
            ..Seen::default()
        });
        for (seen, more) in seen.iter_mut().zip(more) {
            seen.put.extend(more.put);
        }
        // The page is that of the faults so far.
        let count = write_page(&runtimes, &faults, &seen);
        println!("{count} faults in {:?}", since.elapsed());
    }
}

/// Writes the page for the faults that were put on each runtime so far, and returns their number.
fn write_page(runtimes: &[&Runtime], faults: &[Fault], all: &[Seen]) -> usize {
    let has_all = |at: &usize| {
        all.iter()
            .all(|seen| matches!(seen.put.get(*at), Some(Some(_))))
    };
    let everywhere: Vec<usize> = (0..faults.len()).filter(has_all).take(FAULTS).collect();
    let (mut cells, mut refused) = (Cells::new(), BTreeMap::<_, (usize, usize)>::new());
    let mut totals = BTreeMap::<(String, bool, u32), usize>::new();
    for (runtime, seen) in runtimes.iter().zip(all) {
        for at in &everywhere {
            let Some((seen, is_refused)) = &seen.put[*at] else {
                continue;
            };
            let kind = faults[*at].kind;
            let cell = cells.entry((kind, runtime.major)).or_default();
            *cell.entry(seen.clone()).or_default() += 1;
            let refused = refused.entry(kind).or_default();
            refused.0 += usize::from(*is_refused);
            refused.1 += 1;
            let total = totals
                .entry((class(seen), *is_refused, runtime.major))
                .or_default();
            *total += 1;
        }
    }
    let majors: Vec<u32> = runtimes.iter().map(|runtime| runtime.major).collect();
    let tables = tables(&majors, everywhere.len(), &cells, &refused, &totals);
    let old = fs::read_to_string(page(How::of_page())).unwrap_or_default();
    let text = old
        .split("<!-- written by the test -->")
        .next()
        .unwrap_or_default();
    fs::write(
        page(How::of_page()),
        format!("{text}<!-- written by the test -->\n\n{tables}"),
    )
    .unwrap();
    everywhere.len()
}

/// The row of the first table.
fn class(seen: &str) -> String {
    for when in ["before", "while running"] {
        if seen.ends_with(&format!(" {when}")) {
            return match when {
                "before" => "exception before any code of the method ran".to_owned(),
                _ => "exception while the method ran".to_owned(),
            };
        }
    }
    seen.to_owned()
}

fn tables(
    majors: &[u32],
    count: usize,
    cells: &Cells,
    refused: &BTreeMap<&str, (usize, usize)>,
    totals: &BTreeMap<(String, bool, u32), usize>,
) -> String {
    let names = majors.iter().map(|major| match major {
        3 => ".NET Core 3.1".to_owned(),
        major => format!(".NET {major}"),
    });
    let names: Vec<String> = names.collect();
    let mut text = format!("Faults: {count} on each runtime.\n\n");
    text += &format!("| The program sees | Check | {} |\n", names.join(" | "));
    text += &format!("|---|---|{}\n", "---|".repeat(majors.len()));
    let rows: BTreeSet<_> = totals
        .keys()
        .map(|(class, refused, _)| (class, *refused))
        .collect();
    for (class, is_refused) in rows {
        let counts = majors.iter().map(|major| {
            let count = totals.get(&(class.clone(), is_refused, *major));
            count.copied().unwrap_or(0).to_string()
        });
        let check = if is_refused { "refused" } else { "accepted" };
        let counts: Vec<String> = counts.collect();
        text += &format!("| {class} | {check} | {} |\n", counts.join(" | "));
    }
    text += &format!("\n| Fault | Refused | Faults | {} |\n", names.join(" | "));
    text += &format!("|---|---|---|{}\n", "---|".repeat(majors.len()));
    for kind in KINDS {
        let Some((refused, all)) = refused.get(kind.name) else {
            continue;
        };
        let number = all / majors.len();
        let row = majors.iter().map(|major| {
            let cell = cells.get(&(kind.name, *major));
            let seen = cell.into_iter().flatten();
            let seen: Vec<String> = seen
                .map(|(seen, count)| format!("{seen} {count}"))
                .collect();
            seen.join("<br>")
        });
        let row: Vec<String> = row.collect();
        text += &format!(
            "| {} | {refused} of {all} | {number} | {} |\n",
            kind.name,
            row.join(" | ")
        );
    }
    text
}
