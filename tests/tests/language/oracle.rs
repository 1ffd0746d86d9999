//! The allowed output of a profiled program that prints its exceptions: that without the profiler, except for
//! frames that optimised code does not have.

use clr_profiler_tests::Finished;

/// A line of a stack trace: a method, and its source line, if it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Frame<'a> {
    method: &'a str,
    place: Option<&'a str>,
}

impl<'a> Frame<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let frame = line.strip_prefix("   at ")?;
        Some(match frame.split_once(" in ") {
            Some((method, place)) => Self {
                method,
                place: Some(place),
            },
            None => Self {
                method: frame,
                place: None,
            },
        })
    }
}

/// The parts that have to be equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Same {
    /// All frames, with their lines.
    Lines,
    /// All frames of the program, with their lines. Those of the framework vary while it is
    /// compiled once more.
    OwnLines,
    /// There may be more frames than in the plain run, but no others than in the exact one, and each has
    /// the line of one of these two.
    Near,
    /// As in `Near`, but with any lines: the plain run does not have those of the source either.
    Frames,
    /// No other frames of the program than in the exact run, each of which may have been inlined.
    OwnFrames,
}

/// An output as other lines and the frames after each of them; the first ones follow no line.
fn parts(output: &str, same: Same) -> Vec<(&str, Vec<Frame<'_>>)> {
    let mut parts = vec![("", Vec::new())];
    for line in output.lines() {
        match (Frame::parse(line), parts.last_mut()) {
            (Some(frame), Some((_, found))) => {
                let is_own = !frame.method.starts_with("System.");
                if is_own || !matches!(same, Same::OwnLines | Same::OwnFrames) {
                    found.push(frame);
                }
            }
            _ => parts.push((line, Vec::new())),
        }
    }
    parts
}

/// Compares a profiled run with a plain one, in which the compiler may have inlined methods.
///
/// `exact` is a plain run of code that is not optimised: it has all frames.
fn check(plain: &str, profiled: &str, exact: &str, same: Same) -> Result<(), String> {
    let [plain, profiled, exact] = [plain, profiled, exact].map(|output| parts(output, same));
    let others = |parts: &[(&str, Vec<Frame<'_>>)]| {
        let texts: Vec<String> = parts.iter().map(|part| part.0.to_owned()).collect();
        texts.join("\n")
    };
    for expected in [&plain, &exact] {
        let (expected, found) = (others(expected), others(&profiled));
        if expected != found {
            return Err(format!("it printed\n{found}\ninstead of\n{expected}"));
        }
    }
    for ((text, profiled), (plain, exact)) in profiled.iter().zip(plain.iter().zip(&exact)) {
        trace(&plain.1, profiled, &exact.1, same).map_err(|problem| {
            let plain = &plain.1;
            format!("after `{text}`: {problem}\nplain: {plain:#?}\nprofiled: {profiled:#?}")
        })?;
    }
    Ok(())
}

fn trace(
    plain: &[Frame<'_>],
    profiled: &[Frame<'_>],
    exact: &[Frame<'_>],
    same: Same,
) -> Result<(), String> {
    match same {
        Same::Lines | Same::OwnLines => match plain == profiled {
            true => Ok(()),
            false => Err("another trace".to_owned()),
        },
        Same::Near => near(plain, profiled, exact),
        Same::Frames => near(&methods(plain), &methods(profiled), &methods(exact)),
        Same::OwnFrames => near(&[], &methods(profiled), &methods(exact)),
    }
}

/// Only the methods. Optimised code has handlers as frames of their own, next to their method's.
fn methods<'a>(frames: &[Frame<'a>]) -> Vec<Frame<'a>> {
    let methods = frames.iter().map(|frame| Frame {
        place: None,
        ..*frame
    });
    let mut methods: Vec<_> = methods.collect();
    methods.dedup();
    methods
}

fn near(plain: &[Frame<'_>], profiled: &[Frame<'_>], exact: &[Frame<'_>]) -> Result<(), String> {
    let (mut plain, mut exact) = (plain.iter().peekable(), exact.iter());
    for frame in profiled {
        let is_same = |other: &&Frame<'_>| other.method == frame.method;
        let Some(source) = exact.find(is_same) else {
            return Err(format!("an additional frame {}", frame.method));
        };
        let inlined = plain.next_if(|other| is_same(other));
        let places = [Some(source.place), inlined.map(|same| same.place)];
        if !places.contains(&Some(frame.place)) {
            return Err(format!(
                "{} is at {:?}, not at {places:?}",
                frame.method, frame.place
            ));
        }
    }
    match plain.next() {
        Some(missing) => Err(format!("no frame {}", missing.method)),
        None => Ok(()),
    }
}

/// [`check`] of everything that the runs show.
pub(crate) fn unnoticed(
    plain: &Finished,
    profiled: &Finished,
    exact: &Finished,
    same: Same,
) -> Result<(), String> {
    let other = |finished: &Finished| (finished.status.code(), finished.stderr.clone());
    if other(plain) != other(profiled) {
        return Err(format!(
            "{:?} instead of {:?}",
            other(profiled),
            other(plain)
        ));
    }
    check(&plain.stdout, &profiled.stdout, &exact.stdout, same)
}

#[test]
fn the_oracle_sees_what_is_wrong() {
    let trace = |frames: &[&str]| {
        let frames = frames.iter().map(|frame| format!("   at {frame}\n"));
        format!("said\nE: now\n{}more\n", frames.collect::<String>())
    };
    let (a, b, c) = ("A() in /_/a:line 1", "B() in /_/a:line 2", "System.C()");
    let another_line = "A() in /_/a:line 3";
    let exact = trace(&[a, b, c]);
    let plain = trace(&[a, c]);
    let is_good =
        |same: Same, profiled: &[&str]| check(&plain, &trace(profiled), &exact, same).is_ok();
    let all = [
        Same::Lines,
        Same::OwnLines,
        Same::Near,
        Same::Frames,
        Same::OwnFrames,
    ];
    for (profiled, good) in [
        (&[a, c][..], [true; 5]),
        (&[a, b, c], [false, false, true, true, true]),
        (&[another_line, c], [false, false, false, true, true]),
        (&["A()", c], [false, false, false, true, true]),
        // A frame less.
        (&[a, b], [false, false, false, false, true]),
        (&[a], [false, true, false, false, true]),
        // One of ours, and another order.
        (&[a, "Ours()", c], [false; 5]),
        (&[b, a, c], [false; 5]),
        (&[c, a], [false, true, false, false, true]),
    ] {
        assert_eq!(
            all.map(|same| is_good(same, profiled)),
            good,
            "{profiled:?}"
        );
    }
    // In optimised code, a line may be near by.
    let near = trace(&[another_line, c]);
    assert_eq!(check(&near, &plain, &exact, Same::Near), Ok(()));
    assert_eq!(check(&near, &near, &exact, Same::Near), Ok(()));
    for same in all {
        assert!(check(&plain, &plain.replace("said", "sad"), &exact, same).is_err());
        assert!(check(&plain, &plain.replace("more\n", ""), &exact, same).is_err());
    }
}
