//! `heap_snapshot`: the objects on the heap of a fully known program, and the paths to them.

use std::collections::HashMap;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use clr_profiler_tests::{
    Example, Finished, Folder, Running, Runtime, STRESS, Sample, profilee, runtimes,
};
use serde_json::Value;

use super::endings::{Ending, endings};

const EXAMPLE: Example = Example("heap_snapshot");

/// Runs `Graph` to an end, and returns the file of this name.
fn results(runtime: &Runtime, ending: &str, options: &[&str], name: &str) -> String {
    let folder = Folder::new();
    let file = folder.path(name);
    let mut all = options.to_vec();
    all.extend(["--output", file.to_str().unwrap()]);
    let program = profilee("Graph");
    let finished = Finished::of(EXAMPLE.command(runtime, &all, &program, &[ending]));
    let plain = Finished::of(EXAMPLE.plain(runtime, &program, &[ending]));
    assert_eq!(finished.status, plain.status);
    assert_eq!(
        (&*finished.stdout, &*finished.stderr),
        ("built\nended\n", "")
    );
    fs::read_to_string(file).unwrap()
}

/// Sends SIGUSR1 to `Graph` while it waits, and returns the file of this name, and the program's
/// output.
fn results_of_signal(runtime: &Runtime, options: &[&str], name: &str) -> (String, Finished) {
    let folder = Folder::new();
    let file = folder.path(name);
    let mut all = options.to_vec();
    all.extend(["--signal", "--output", file.to_str().unwrap()]);
    let command = EXAMPLE.command(runtime, &all, &profilee("Graph"), &["wait"]);
    let mut running = Running::start(command);
    assert_eq!(running.line(), "built");
    let id = running.id().to_string();
    assert!(
        Command::new("kill")
            .args(["-USR1", &id])
            .status()
            .unwrap()
            .success()
    );
    let begun = Instant::now();
    // It is replaced whole.
    while !file.exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no snapshot");
        std::thread::sleep(Duration::from_millis(10));
    }
    let finished = running.finish();
    (fs::read_to_string(file).unwrap(), finished)
}

/// Objects, own and retained bytes by type.
fn totals(table: &str) -> HashMap<&str, [u64; 3]> {
    let rows = table.lines().skip(1).filter_map(|line| {
        let mut words = line.split_whitespace();
        let mut numbers = [0; 3];
        for number in &mut numbers {
            *number = words.next()?.parse().ok()?;
        }
        let name = line.splitn(2, "  ").last()?.trim_start();
        let name = name.rsplit_once("  ").map_or(name, |(_, name)| name);
        Some((name, numbers))
    });
    rows.collect()
}

/// Objects, own and retained bytes of types, on 64 bits: as in the comments of the source.
const KNOWN: [(&str, [u64; 3]); 6] = [
    // Each retains a B, a C[] and the C of both.
    ("Graph.A", [1000, 48 * 1000, (48 + 48 + 56 + 4 * 24) * 1000]),
    ("Graph.B", [1000, 48 * 1000, (48 + 24) * 1000]),
    ("Graph.C[]", [1000, 56 * 1000, (56 + 3 * 24) * 1000]),
    ("Graph.C", [4003, 24 * 4003, 24 * 4003]),
    // One refers to the other.
    ("Graph.Cycle", [2, 64, 64 + 1024 + 2024]),
    // One of them is a key in a weak table, which attaches an object with an array.
    ("Graph.Key", [2, 48, 48 + 24 + 3024]),
];

#[test]
fn the_table_tells_what_is_there_and_what_it_keeps() {
    for runtime in runtimes() {
        for ending in ["return", "exit"] {
            let table = results(runtime, ending, &[], "heap.txt");
            println!("on {}:\n{table}", runtime.name);
            let totals = totals(&table);
            for (name, expected) in KNOWN {
                assert_eq!(totals.get(name), Some(&expected), "{name}");
            }
            assert!(!table.contains("OnlyWeak"), "nothing keeps it");
            assert!(!table.contains("lead to nothing"));
        }
    }
}

/// The path to an object of a type: the lines below the table.
fn path(runtime: &Runtime, name: &str) -> Vec<String> {
    let (table, finished) = results_of_signal(runtime, &["--path", name], "heap.txt");
    assert_eq!(
        (&*finished.stdout, &*finished.stderr),
        ("built\nended\n", "")
    );
    println!("on {}:\n{table}", runtime.name);
    let (_, path) = table.split_once("\n\n").unwrap();
    path.lines().map(str::to_owned).collect()
}

#[test]
fn what_keeps_an_object_leads_there_from_a_root() {
    for runtime in runtimes() {
        let path = |name| path(runtime, name);
        assert_eq!(path("Graph.Pinned"), ["handle, pinned", "  Graph.Pinned"]);
        assert_eq!(
            path("Graph.OnStack"),
            ["stack of Graph.Program.Main(string[])", "  Graph.OnStack"]
        );
        let of_b = path("Graph.B");
        assert!(of_b[0].starts_with("handle"), "{of_b:?}");
        assert_eq!(of_b[1], "  object[]");
        assert!(of_b[2].ends_with("]: Graph.A"), "{of_b:?}");
        assert_eq!(of_b[3..], ["  Own: Graph.B"]);
        let of_attached = path("Graph.Attached");
        assert_eq!(
            of_attached.last().unwrap(),
            "  (weak table): Graph.Attached"
        );
        assert_eq!(
            path("Graph.OnlyWeak"),
            ["there is no object of the type Graph.OnlyWeak"]
        );
        let of_held = path("Graph.HeldByFinalizer");
        assert_eq!(
            of_held[1..],
            ["  Graph.Finalized", "  Kept: Graph.HeldByFinalizer"]
        );
    }
}

/// A `.heapsnapshot` file, read according to the format description in it.
struct Snapshot {
    nodes: Vec<Node>,
}

struct Node {
    kind: String,
    name: String,
    id: u64,
    size: u64,
    /// Kind, name or index, and the number of the node.
    edges: Vec<(String, String, usize)>,
}

impl Snapshot {
    fn parse(text: &str) -> Self {
        let file: Value = serde_json::from_str(text).unwrap();
        let meta = &file["snapshot"]["meta"];
        let names = |list: &Value| -> Vec<String> {
            let list = list.as_array().unwrap().iter();
            list.map(|name| name.as_str().unwrap_or("").to_owned())
                .collect()
        };
        let numbers = |list: &Value| -> Vec<usize> {
            let list = list.as_array().unwrap().iter();
            list.map(|number| number.as_u64().unwrap() as usize)
                .collect()
        };
        let strings = names(&file["strings"]);
        let (node_fields, edge_fields) = (names(&meta["node_fields"]), names(&meta["edge_fields"]));
        let node_kinds = names(&meta["node_types"][0]);
        let edge_kinds = names(&meta["edge_types"][0]);
        let of_node = |name: &str| node_fields.iter().position(|field| field == name).unwrap();
        let of_edge = |name: &str| edge_fields.iter().position(|field| field == name).unwrap();
        let (nodes, edges) = (numbers(&file["nodes"]), numbers(&file["edges"]));
        let nodes = nodes.chunks(node_fields.len());
        let mut edges = edges.chunks(edge_fields.len());
        assert_eq!(file["snapshot"]["node_count"], nodes.len());
        assert_eq!(file["snapshot"]["edge_count"], edges.len());
        let count = nodes.len();
        let nodes = nodes.map(|node| {
            assert_eq!(node.len(), node_fields.len());
            let own = edges.by_ref().take(node[of_node("edge_count")]);
            let own: Vec<_> = own
                .map(|edge| {
                    assert_eq!(edge.len(), edge_fields.len());
                    let kind = edge_kinds[edge[of_edge("type")]].clone();
                    let name = edge[of_edge("name_or_index")];
                    let name = match &*kind {
                        "element" | "hidden" => name.to_string(),
                        _ => strings[name].clone(),
                    };
                    let to = edge[of_edge("to_node")];
                    assert_eq!(to % node_fields.len(), 0);
                    assert!(to / node_fields.len() < count);
                    (kind, name, to / node_fields.len())
                })
                .collect();
            assert_eq!(own.len(), node[of_node("edge_count")]);
            Node {
                kind: node_kinds[node[of_node("type")]].clone(),
                name: strings[node[of_node("name")]].clone(),
                id: node[of_node("id")] as u64,
                size: node[of_node("self_size")] as u64,
                edges: own,
            }
        });
        let nodes = nodes.collect();
        assert!(edges.next().is_none(), "each edge belongs to a node");
        Self { nodes }
    }

    /// The objects of a type.
    fn of(&self, name: &str) -> impl Iterator<Item = &Node> + use<'_> {
        let of = self.nodes.iter().filter(|node| node.name == name);
        let of: Vec<_> = of.collect();
        assert!(of.iter().all(|node| node.kind == "object"));
        of.into_iter()
    }

    /// An object's references: kinds, names and types.
    fn edges<'a>(&'a self, node: &'a Node) -> Vec<(&'a str, &'a str, &'a str)> {
        let edges = node.edges.iter();
        let mut edges: Vec<_> = edges
            .map(|(kind, name, to)| (&**kind, &**name, &*self.nodes[*to].name))
            .collect();
        edges.sort_unstable();
        edges
    }

    fn edges_of(&self, name: &str) -> Vec<(&str, &str, &str)> {
        self.edges(self.of(name).next().unwrap())
    }
}

fn assert_known_graph(snapshot: &Snapshot) {
    let mut ids: Vec<u64> = snapshot.nodes.iter().map(|node| node.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), snapshot.nodes.len());
    for (name, [count, size, _]) in KNOWN {
        assert_eq!(snapshot.of(name).count() as u64, count, "{name}");
        let sizes: u64 = snapshot.of(name).map(|node| node.size).sum();
        assert_eq!(sizes, size, "{name}");
    }
    let mut last = 0;
    for a in snapshot.of("Graph.A") {
        let (rest, next): (Vec<_>, _) = snapshot
            .edges(a)
            .into_iter()
            .partition(|(_, name, _)| *name != "Next");
        assert_eq!(
            rest,
            [
                ("property", "Own", "Graph.B"),
                ("property", "Several", "Graph.C[]")
            ]
        );
        last += usize::from(next.is_empty());
        // The B refers to the A that has it.
        let own = |name| a.edges.iter().find(|(_, edge, _)| edge == name).unwrap().2;
        let back = &snapshot.nodes[own("Own")];
        let (_, _, back) = back
            .edges
            .iter()
            .find(|(_, edge, _)| edge == "Back")
            .unwrap();
        assert!(std::ptr::eq(&snapshot.nodes[*back], a));
    }
    assert_eq!(last, 1);
    for b in snapshot.of("Graph.B") {
        assert_eq!(
            snapshot.edges(b),
            [
                ("property", "Back", "Graph.A"),
                ("property", "Inherited", "Graph.C")
            ]
        );
    }
    for array in snapshot.of("Graph.C[]") {
        let elements = ["0", "2", "3"].map(|index| ("element", index, "Graph.C"));
        assert_eq!(snapshot.edges(array), elements);
    }
    assert_eq!(
        snapshot.edges_of("Graph.Structures"),
        [
            ("property", "Boxed", "Graph.Pair"),
            ("property", "Pair", "Graph.C"),
            ("property", "Pair+8", "Graph.C"),
            ("property", "Pairs", "Graph.Pair[]"),
            ("property", "Table", "object[,]"),
        ]
    );
    assert_eq!(
        snapshot.edges_of("Graph.Pair[]"),
        [("element", "1", "Graph.C"), ("element", "1", "Graph.Key")]
    );
    assert_eq!(
        snapshot.edges_of("object[,]"),
        [("element", "5", "Graph.Attached")]
    );
    assert_eq!(
        snapshot.edges_of("Graph.Pair"),
        [("property", "Right", "Graph.Pinned")]
    );
    let attached: Vec<_> = snapshot
        .of("Graph.Key")
        .map(|key| snapshot.edges(key))
        .collect();
    let attaches = vec![("internal", "(weak table)", "Graph.Attached")];
    assert!(attached.contains(&attaches) && attached.contains(&vec![]));
    assert_eq!(snapshot.of("Graph.OnlyWeak").count(), 0);
    assert_eq!(snapshot.of("Graph.AlsoWeak").count(), 1);
    assert_eq!(snapshot.of("Graph.Finalized").count(), 2);
    assert_eq!(snapshot.of("Graph.HeldByFinalizer").count(), 2);
}

#[test]
fn the_file_holds_each_object_with_its_references() {
    for runtime in runtimes() {
        let (text, finished) = results_of_signal(runtime, &[], "heap.heapsnapshot");
        println!("on {}: {} bytes", runtime.name, text.len());
        assert_eq!(
            (&*finished.stdout, &*finished.stderr),
            ("built\nended\n", "")
        );
        let snapshot = Snapshot::parse(&text);
        assert_known_graph(&snapshot);
        // Starting from the first node.
        let [first, roots] = [0, 1].map(|index| &snapshot.nodes[index]);
        assert_eq!((&*first.kind, &*roots.name), ("synthetic", "(GC roots)"));
        assert!(first.edges.iter().any(|(_, _, to)| *to == 1));
        let of_kind = |name: &str| -> Vec<(&str, &str)> {
            let kind = snapshot
                .nodes
                .iter()
                .find(|node| node.name == name)
                .unwrap();
            let edges = kind.edges.iter();
            edges
                .map(|(_, name, to)| (&**name, &*snapshot.nodes[*to].name))
                .collect()
        };
        let stacks = of_kind("(stacks)");
        assert!(
            stacks.contains(&("Graph.Program.Main(string[])", "Graph.OnStack")),
            "{stacks:?}"
        );
        let is_of = |edges: Vec<(&str, &str)>, name| edges.iter().any(|(_, to)| *to == name);
        assert!(is_of(of_kind("(handles)"), "Graph.Pinned"));
        // It has a weak one, too.
        assert!(!is_of(of_kind("(handles)"), "Graph.AlsoWeak"));
        assert!(is_of(of_kind("(finalizer queue)"), "Graph.Finalized"));
        // Everything that can be collected is reachable from there.
        let mut seen = vec![false; snapshot.nodes.len()];
        let mut queue = vec![0];
        while let Some(node) = queue.pop() {
            if !std::mem::replace(&mut seen[node], true) {
                queue.extend(snapshot.nodes[node].edges.iter().map(|(_, _, to)| *to));
            }
        }
        let of_graph = snapshot.nodes.iter().zip(&seen);
        let mut lost = of_graph.filter(|(node, seen)| node.name.starts_with("Graph.") && !**seen);
        assert!(lost.next().is_none());
    }
}

#[test]
fn a_heap_is_looked_at_again_and_again() {
    let runtime = runtimes()[0];
    let folder = Folder::new();
    let file = folder.path("heap.txt");
    let options = ["--every", "0.2", "--output", file.to_str().unwrap()];
    let command = EXAMPLE.command(runtime, &options, &profilee("Graph"), &["wait"]);
    let mut running = Running::start(command);
    assert_eq!(running.line(), "built");
    let begun = Instant::now();
    let mut contents = Vec::new();
    while contents.len() < 4 {
        assert!(begun.elapsed() < Duration::from_secs(60), "{contents:?}");
        let content = fs::read_to_string(&file).unwrap_or_default();
        if contents.last() != Some(&content) {
            contents.push(content);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let finished = running.finish();
    assert_eq!(
        (&*finished.stdout, &*finished.stderr),
        ("built\nended\n", "")
    );
    assert!(contents.last().unwrap().contains("  Graph.A\n"));
}

/// The texts of `Graph`, as far as 40 UTF-16 units of them, each with whether it is truncated.
fn texts() -> [(String, bool); 6] {
    [
        ("!".repeat(40), true),
        ("a \"quoted\"\ttab!".to_owned(), false),
        ("\0\u{1f600}!".to_owned(), false),
        ("twice!".to_owned(), false),
        ("\u{fffd} alone!".to_owned(), false),
        // A pair is not split.
        ("y".repeat(39), true),
    ]
}

#[test]
fn strings_have_their_texts_on_request() {
    for runtime in runtimes() {
        let (text, _) = results_of_signal(runtime, &["--strings", "40"], "heap.heapsnapshot");
        let snapshot = Snapshot::parse(&text);
        let strings: Vec<&Node> = (snapshot.nodes.iter())
            .filter(|node| node.kind == "string")
            .collect();
        for (text, is_truncated) in texts() {
            let name = if is_truncated { text + "..." } else { text };
            let with_name = strings.iter().filter(|node| node.name == name);
            let expected = if name == "twice!" { 2 } else { 1 };
            assert_eq!(with_name.count(), expected, "{name:?} on {}", runtime.name);
        }
        assert!(strings.iter().all(|node| node.edges.is_empty()));

        let (table, _) = results_of_signal(runtime, &["--strings", "7"], "heap.txt");
        println!("on {}:\n{table}", runtime.name);
        let (_, rows) = table.split_once("\n\n").unwrap();
        let row = |text: &str| {
            let row = rows.lines().find_map(|row| row.strip_suffix(text));
            let row = row.unwrap_or_else(|| panic!("no {text} in {rows}"));
            let numbers: Vec<u64> = (row.split_whitespace())
                .map(|number| number.parse().unwrap())
                .collect();
            numbers
        };
        // The header, the length and the terminator: 22 bytes, in units of 8.
        assert_eq!(row("  \"!!!!!!!\"..."), [1, 624]);

        // No text without the option.
        let (text, _) = results_of_signal(runtime, &[], "heap.heapsnapshot");
        let without = Snapshot::parse(&text);
        assert!(without.of("string").count() > texts().len());
        assert!(!text.contains("twice!") && !text.contains("!!!!"));
    }
}

/// While a file is written the program is killed, interrupted, or returns.
#[test]
fn a_file_is_whole_wherever_its_write_ends() {
    let runtime = runtimes()[0];
    // With a file of an earlier write, and without.
    for (end, writes) in [("-KILL", 0), ("-KILL", 1), ("-INT", 1), ("return", 1)] {
        let folder = Folder::new();
        let file = folder.path("heap.heapsnapshot");
        let options = ["--every", "0.01", "--output", file.to_str().unwrap()];
        let words = ["wait", "10000", "5000"];
        let command = EXAMPLE.command(runtime, &options, &profilee("Graph"), &words);
        let mut running = Running::start(command);
        assert_eq!(running.line(), "built");
        let part = folder.path(&format!("heap.heapsnapshot.{}.part", running.id()));
        let begun = Instant::now();
        let wait = |until: &dyn Fn() -> bool| {
            while !until() {
                assert!(begun.elapsed() < Duration::from_secs(60), "{end}: no write");
            }
        };
        // The first recording may have begun before.
        for _ in 0..2 {
            wait(&|| file.exists());
            let _ = fs::remove_file(&file);
        }
        wait(&|| {
            if writes == 0 {
                let _ = fs::remove_file(&file);
            }
            let is_written = fs::metadata(&part).is_ok_and(|about| about.len() > 100_000);
            is_written && file.exists() == (writes > 0)
        });
        let finished = if end == "return" {
            running.finish()
        } else {
            let id = running.id().to_string();
            let status = Command::new("kill").args([end, &id]).status();
            assert!(status.unwrap().success());
            running.wait()
        };
        assert_eq!(finished.stderr, "", "{end}");
        let is_killed = end == "-KILL";
        // A part that nobody reads may remain of a process that was killed.
        assert!(is_killed || !part.exists(), "{end}");
        match fs::read_to_string(&file) {
            Ok(text) => {
                let snapshot = Snapshot::parse(&text);
                assert_eq!(snapshot.of("Graph.Link").count(), 10_000, "{end}");
                assert_eq!(snapshot.of("Graph.Branch").count(), 5_000, "{end}");
            }
            Err(_) => assert!(is_killed && writes == 0, "{end}: no file"),
        }
    }
}

/// Types that are loaded, compiled and unloaded meanwhile have their names, or none, and nothing breaks.
#[test]
fn a_heap_is_looked_at_while_the_program_does_everything() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let file = folder.path("heap.txt");
        let options = ["--every", "0.01", "--output", file.to_str().unwrap()];
        let is_whole = Sample::one_of(2).is_whole();
        let seconds = if is_whole { "4" } else { "2" };
        let command = EXAMPLE.command(runtime, &options, &profilee("Stress"), &[seconds]);
        let mut finished = Finished::of(command);
        if runtime.major == 8 {
            // The program unloads, and from then on the runtime cannot walk the heap.
            let told = "not written, the first: ICorProfilerInfo5::SetEventMask2 was not called";
            let stderr = std::mem::take(&mut finished.stderr);
            assert!(
                stderr.contains(told) && stderr.lines().count() == 1,
                "{stderr}"
            );
        }
        assert_eq!(finished.output(), STRESS);
        // Nothing was written if the first unload came before.
        let table = fs::read_to_string(file);
        if runtime.major != 8 || table.is_ok() {
            let table = table.unwrap();
            assert!(table.contains(" roots ("), "{table}");
            assert!(!table.contains("lead to nothing"), "{table}");
        }
    }
}

#[test]
fn however_the_program_ends_its_streams_are_its_own() {
    endings(EXAMPLE, &[], "collect", |runtime, ending, results| {
        // An abort leaves no time for recording.
        let is_abort = matches!(
            ending,
            Ending::Unhandled | Ending::FailFast | Ending::Overflow
        );
        if ending.is_seen(runtime) && !is_abort {
            let totals = totals(results);
            // 20,000 of 1,000 bytes, and those of the runtime.
            let [count, size, _] = totals["byte[]"];
            assert!((20_000..20_200).contains(&count), "{results}");
            assert!(size > 20_000 * 1024, "{results}");
        } else {
            assert_eq!(results, "", "{ending:?}");
        }
    });
}
