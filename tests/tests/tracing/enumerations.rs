//! A span for each enumeration of an iterator.

use std::fs;

use clr_profiler_tests::{Finished, Folder, profilee, runtimes};

use super::trace::{EXAMPLE, Span, Trace};

/// The spans below each case, by the order in which they began; `!` and the exception, `?` for one that has not ended.
const EXPECTED: &str = "\
Cases.ToTheEnd()
  Iterators.Numbers(int)
  enumeration of Iterators.Numbers(int)
    Calls.Leaf(string) inside
    Calls.Leaf(string) inside
    Calls.Leaf(string) at the end
  Calls.Leaf(string) outside
  Calls.Leaf(string) outside
  Calls.Leaf(string) after
Cases.LeftEarly()
  Iterators.Cleans()
  enumeration of Iterators.Cleans()
    Calls.Leaf(string) finally
  Calls.Leaf(string) after
Cases.WithException()
  Iterators.Throws()
  enumeration of Iterators.Throws() !System.InvalidOperationException: an iterator
    Calls.Leaf(string) before the exception
  Calls.Leaf(string) after
Cases.Twice()
  Iterators.Numbers(int)
  enumeration of Iterators.Numbers(int)
    Calls.Leaf(string) inside
    Calls.Leaf(string) at the end
  enumeration of Iterators.Numbers(int)
    Calls.Leaf(string) inside
    Calls.Leaf(string) at the end
Cases.Never()
  Iterators.Numbers(int)
  Iterators.Numbers(int)
Cases.Nested()
  Iterators.Outer()
  enumeration of Iterators.Outer()
    Iterators.Numbers(int)
    enumeration of Iterators.Numbers(int)
      Calls.Leaf(string) inside
      Calls.Leaf(string) at the end
    Calls.Leaf(string) between
Cases.NotDisposed()
  Iterators.Numbers(int)
  enumeration of Iterators.Numbers(int) ?
    Calls.Leaf(string) inside
Cases.OnceMore()
  Iterators.Numbers(int)
  enumeration of Iterators.Numbers(int)
    Calls.Leaf(string) at the end
Cases.ByLinq()
  Iterators.Numbers(int)
  enumeration of Iterators.Numbers(int)
    Calls.Leaf(string) inside
    Calls.Leaf(string) inside
    Calls.Leaf(string) at the end
Cases.OnThreads()
  Iterators.Numbers(int)
  enumeration of Iterators.Numbers(int)
    Calls.Leaf(string) inside
    Calls.Leaf(string) at the end
Cases.Generic()
  Shelf<T>.GetEnumerator()
  enumeration of Shelf<T>.GetEnumerator()
    Calls.Leaf(string) shelf
  Shelf<T>.GetEnumerator()
  enumeration of Shelf<T>.GetEnumerator()
    Calls.Leaf(string) shelf
Cases.WithTask()
  Iterators.Tasks()
  enumeration of Iterators.Tasks()
    Calls.Leaf(string) in a task
Cases.StreamToTheEnd()
  Iterators.Stream(int)
  enumeration of Iterators.Stream(int)
    Calls.Leaf(string) inside
    Calls.Leaf(string) inside, later
    Calls.Leaf(string) inside
    Calls.Leaf(string) inside, later
  Calls.Leaf(string) outside
  Calls.Leaf(string) outside
  Calls.Leaf(string) after
Cases.StreamCompleted()
  Iterators.Completed()
  enumeration of Iterators.Completed()
    Calls.Leaf(string) at the end
  Calls.Leaf(string) after
Cases.StreamLeftEarly()
  Iterators.StreamCleans()
  enumeration of Iterators.StreamCleans()
    Calls.Leaf(string) finally
  Calls.Leaf(string) after
Cases.StreamWithException(bool)
  Iterators.StreamThrows(bool)
  enumeration of Iterators.StreamThrows(bool) !System.InvalidOperationException: an async iterator
  Calls.Leaf(string) after
Cases.StreamWithException(bool)
  Iterators.StreamThrows(bool)
  enumeration of Iterators.StreamThrows(bool) !System.InvalidOperationException: an async iterator
  Calls.Leaf(string) after
Cases.StreamCancelled()
  Iterators.Cancelled(System.Threading.CancellationToken)
  enumeration of Iterators.Cancelled(System.Threading.CancellationToken) cancelled
  Calls.Leaf(string) after
Cases.StreamTwice()
  Iterators.Stream(int)
  enumeration of Iterators.Stream(int)
    Calls.Leaf(string) inside
    Calls.Leaf(string) inside, later
  enumeration of Iterators.Stream(int)
    Calls.Leaf(string) inside
    Calls.Leaf(string) inside, later
";

fn write(trace: &Trace, parent: u64, depth: usize, text: &mut String) {
    for span in trace.spans.iter().filter(|span| span.parent == parent) {
        *text += &format!(
            "{}{}",
            "  ".repeat(depth),
            span.name.replace("Enumerates.", "")
        );
        if let (true, Some(at)) = (span.name.ends_with("Leaf(string)"), span.arguments.get(1)) {
            *text += &format!(" {}", at.trim_matches('"'));
        }
        if let Some(exception) = &span.exception {
            *text += &format!(" !{exception}");
        }
        *text += if span.is_cancelled {
            " cancelled\n"
        } else if span.is_unfinished {
            " ?\n"
        } else {
            "\n"
        };
        write(trace, span.id, depth + 1, text);
    }
}

fn run(options: &[&str]) -> Vec<Trace> {
    let each = runtimes().into_iter().map(|runtime| {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let file = folder.path("trace.json");
        let program = profilee("Enumerates");
        let all = "Enumerates!Enumerates.Calls.*; Enumerates!Enumerates.Cases.*; Enumerates!Enumerates.Iterators.*; \
                   Enumerates!Enumerates.Shelf.GetEnumerator";
        let own = ["--budget",
            "100",
            "--methods", all, "--arguments", "--output", file.to_str().unwrap()];
        let plain = Finished::of(EXAMPLE.plain(runtime, &program, &[]));
        let finished = Finished::of(EXAMPLE.command(runtime, &[&own[..], options].concat(), &program, &[]));
        assert_eq!(plain.stdout, "enumerated\n", "{plain:?}");
        assert_eq!(finished.output(), plain.output(), "{finished:?}");
        Trace::parse(&fs::read_to_string(file).unwrap())
    });
    each.collect()
}

#[test]
fn each_enumeration_has_a_span_on_request() {
    for trace in run(&["--iterators"]) {
        let mut text = String::new();
        write(&trace, 0, 0, &mut text);
        assert_eq!(text, EXPECTED);
        assert_eq!(trace.other["up_to_return"].as_array().unwrap().len(), 0);
        // It ends with the last piece, before the code of whoever has waited for that.
        for after in trace.of("Enumerates.Calls.Leaf(string)") {
            if after.arguments[1] != "\"after\"" {
                continue;
            }
            let is_before = |span: &&Span| {
                span.parent == after.parent && span.name.starts_with("enumeration of ")
            };
            let before: Vec<_> = trace.spans.iter().filter(is_before).collect();
            assert_eq!(before.len(), 1, "{after:?}");
            assert!(before[0].end <= after.start, "{before:?} {after:?}");
        }
    }
}

#[test]
fn the_budget_counts_the_pieces_of_enumerations() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let file = folder.path("trace.json");
        let options = [
            "--iterators",
            "--methods",
            "Enumerates!Enumerates.Iterators.Many",
            "--output",
            file.to_str().unwrap(),
        ];
        let program = profilee("Enumerates");
        let command = EXAMPLE.command(runtime, &options, &program, &["60000"]);
        let finished = Finished::of(command);
        assert_eq!(finished.stdout, "enumerated 12000000\n", "{finished:?}");
        let trace = Trace::parse(&fs::read_to_string(file).unwrap());
        // Not because of its 200 calls.
        let many = "enumeration of Enumerates.Iterators.Many(int)";
        assert!(trace.reason("counted", many).is_some(), "{}", trace.other);
    }
}

#[test]
fn without_the_request_iterators_end_when_they_return() {
    for trace in run(&[]) {
        let is_enumeration = |span: &Span| span.name.starts_with("enumeration of ");
        assert!(!trace.spans.iter().any(is_enumeration));
        let reason = trace.reason("up_to_return", "Enumerates.Iterators.Numbers(int)");
        assert!(reason.unwrap().contains("iterator"), "{reason:?}");
    }
}
