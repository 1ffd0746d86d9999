//! The time for long inputs is proportional to their length: nothing is quadratic.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::{LocalsSig, MethodSig, TokenNames, TypeSpecSig};
use clr_profiler_il::symbol::{MethodSymbol, NoTokens, TypeSymbol};
use clr_profiler_il::text::diff;
use clr_profiler_il::verify::MethodContext;

/// The length of an input, and the time limit. Ten nanoseconds for each pair of bytes would exceed
/// half a minute.
const LENGTH: usize = 60_000;
const MOST: Duration = Duration::from_secs(10);

/// Runs a closure and measures the time.
fn timed<T>(what: &str, run: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let done = run();
    let took = start.elapsed();
    assert!(took < MOST, "{what} took {took:?}");
    if took > Duration::from_millis(300) {
        println!("{what} took {took:?}");
    }
    done
}

/// All operations on a body.
fn body(what: &str, body: &MethodBody) {
    let text = timed(&format!("{what}: print"), || body.to_string());
    timed(&format!("{what}: parse"), || {
        text.parse::<MethodBody>().map(drop)
    })
    .unwrap();
    let encoded = timed(&format!("{what}: encode"), || {
        let mut out = Vec::new();
        body.encode(&mut NoTokens, &mut out).map(|()| out)
    });
    if let Ok(out) = encoded {
        let again = timed(&format!("{what}: decode"), || MethodBody::decode(&out));
        let again = again.unwrap();
        timed(&format!("{what}: map"), || again.offset_map());
        timed(&format!("{what}: diff"), || {
            diff(&again, &again).to_string()
        });
    }
    let signature = MethodSig::parse(&[0, 0, 1]).unwrap();
    timed(&format!("{what}: structure"), || body.verify_structure());
    timed(&format!("{what}: verify"), || {
        body.verify(&MethodContext::new(&signature), &())
    });
    let _ = timed(&format!("{what}: depths"), || {
        body.stack_depths(&()).map(drop)
    });
    let mut edited = body.clone();
    let nop = Fragment::new().nop().clone();
    let ids: Vec<_> = body.instructions().map(|one| one.id()).collect();
    let _ = timed(&format!("{what}: before_ret"), || edited.before_ret(&nop));
    timed(&format!("{what}: prologue"), || edited.prologue(&nop)).unwrap();
    if let (Some(&first), Some(&last)) = (ids.first(), ids.last()) {
        let _ = timed(&format!("{what}: finally"), || {
            edited.add_finally(first, last, &nop)
        });
    }
    let shape = clr_profiler_il::wrap::MethodShape::new(&signature);
    let wrap = clr_profiler_il::wrap::Wrap::new().finally(|code, _| {
        code.nop();
    });
    let _ = timed(&format!("{what}: wrap"), || {
        edited.wrap(&wrap, &shape).map(drop)
    });
}

/// Repeats a line, with `#` replaced by a number and `+` by the next one.
fn lines(line: &str) -> String {
    let mut text = String::new();
    let mut number = 0;
    while text.len() < LENGTH {
        let next = (number + 1).to_string();
        let line = line.replace('#', &number.to_string()).replace('+', &next);
        writeln!(text, "{line}").unwrap();
        number += 1;
    }
    writeln!(text, "l{number}: ret").unwrap();
    text
}

#[test]
fn bodies_of_many_lines() {
    let all = [
        "nop",
        "ldc.i4.0\nl#: pop",
        "l#: br l+",
        "l#: ldc.i4.0\nbrtrue l+",
        "l#: br l0",
        "l#: ldc.i4.0\nswitch (l#, l0, l+)",
        "l#: ret",
        "l#: volatile. unaligned. 1 ldsfld 0x04000001\npop",
        "ldstr 0x70000001\nl#: pop",
        "l#: leave l+\nh#: pop\nleave l+\n.try l# to h# catch 0x01000001 handler h# to l+",
        "l#: leave l+\nh#: endfinally\n.try l# to h# finally handler h# to l+",
    ];
    for line in all {
        let text = lines(line);
        let parsed = timed(&format!("{line:?}: first"), || text.parse::<MethodBody>());
        body(
            line,
            &parsed.unwrap_or_else(|error| panic!("{line}: {error}")),
        );
    }
}

#[test]
fn regions_in_regions() {
    let depth = LENGTH / 60;
    let mut text = String::new();
    for number in 0..depth {
        writeln!(text, "t{number}: nop").unwrap();
    }
    for number in (0..depth).rev() {
        writeln!(
            text,
            "leave e{number}\nh{number}: endfinally\ne{number}: nop"
        )
        .unwrap();
    }
    text.push_str("ret\n");
    for number in (0..depth).rev() {
        let clause = format!(".try t{number} to h{number} finally handler h{number} to e{number}");
        writeln!(text, "{clause}").unwrap();
    }
    let parsed = timed("nested: first", || text.parse::<MethodBody>()).unwrap();
    body("nested", &parsed);
}

#[test]
fn texts_of_one_piece() {
    let pieces = [
        "(",
        ")",
        "'",
        "\"",
        "\\",
        "/",
        "//",
        "\n",
        "\t",
        ",",
        "<",
        ">",
        "[",
        "]",
        "[]",
        "*",
        "&",
        "a",
        "a:",
        "a: ",
        ".",
        "!",
        "!0",
        "::",
        "`",
        "0",
        "1,",
        "-",
        "int ",
        "int,",
        "class ",
        "class a<",
        "method ",
        "method void *(",
        "delegate*<",
        "modreq(",
        "int modopt(a) ",
        "volatile. ",
        ".try ",
        ".locals (",
        "ldstr \"",
        "ldstr 'a'",
        "switch (a,",
        "nop nop ",
        "é",
        "\u{1F600}",
        "call void a::b(",
        "vararg ",
        "pinned ",
        "rank ",
        "...",
        "1...2,",
        "label 0 ",
    ];
    let text = |what: &str, text: &str| {
        let _ = timed(&format!("{what:?}: body"), || {
            text.parse::<MethodBody>().map(drop)
        });
        let _ = timed(&format!("{what:?}: fragment"), || {
            text.parse::<Fragment>().map(drop)
        });
        let _ = timed(&format!("{what:?}: method"), || {
            MethodSymbol::parse(text).map(drop)
        });
        let _ = timed(&format!("{what:?}: type"), || {
            TypeSymbol::parse(text).map(drop)
        });
        let tokens = &mut TokenNames;
        let _ = timed(&format!("{what:?}: signature"), || {
            MethodSig::parse_text(text, tokens).map(drop)
        });
        let _ = timed(&format!("{what:?}: specification"), || {
            TypeSpecSig::parse_text(text, &mut TokenNames).map(drop)
        });
        let _ = timed(&format!("{what:?}: locals"), || {
            LocalsSig::parse_text(text, &mut TokenNames).map(drop)
        });
    };
    for piece in pieces {
        text(piece, &piece.repeat(LENGTH / piece.len()));
        // After prefixes that make the parser read further.
        for before in [
            "ldtoken ",
            "call void A::B(",
            "ldstr \"",
            "switch (",
            ".locals (",
            "(",
        ] {
            let rest = piece.repeat(LENGTH / piece.len());
            text(&format!("{before}{piece}"), &format!("{before}{rest}"));
        }
    }
}

#[test]
fn bytes_of_one_piece() {
    let is_whole = std::env::var_os("CORPUS").is_some_and(|corpus| corpus == "all");
    for first in 0..=0xff_u8 {
        let seconds = [0, 8, 0x2a];
        for (number, second) in seconds.into_iter().enumerate() {
            // A third of them, unless all are asked for.
            if !is_whole && number != usize::from(first) % seconds.len() {
                continue;
            }
            let piece = [first, second];
            let bytes = piece.repeat(LENGTH / 12);
            timed(&format!("{piece:x?}: signature"), || {
                let _ = MethodSig::parse(&bytes);
                let _ = TypeSpecSig::parse(&bytes);
                let _ = LocalsSig::parse(&bytes);
            });
            let mut fat = vec![0x13, 0x30, 8, 0];
            fat.extend((bytes.len() as u32).to_le_bytes());
            fat.extend([0; 4]);
            fat.extend(&bytes);
            let decoded = timed(&format!("{piece:x?}: decode"), || MethodBody::decode(&fat));
            if let Ok(decoded) = decoded {
                body(&format!("{piece:x?}"), &decoded);
            }
        }
    }
}
