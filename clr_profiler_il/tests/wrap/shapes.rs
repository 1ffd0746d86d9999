//! Bodies of every shape, wrapped in every way.

use clr_profiler_il::body::{HandlerKind, MethodBody};
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::{LocalsSig, TypeSig};
use clr_profiler_il::wrap::{Caught, MethodShape, Wrap};

use crate::machine::{Outcome, run};
use crate::parts::{FUEL, Parts, assert_valid, assert_wraps, note, signature, trace};
use crate::tokens::Tokens;

type Build = fn(&mut Fragment);

/// Name, whether it returns a value, code. Local 0 is an `int`.
const SHAPES: [(&str, bool, Build); 17] = [
    ("nothing", false, |f| {
        f.ret();
    }),
    ("a value", true, |f| {
        f.ldarg(0).ret();
    }),
    ("two returns", true, |f| {
        let other = f.label();
        f.ldarg(0).brtrue(other).ldc_i4(1).ret();
        f.mark(other).ldc_i4(2).ret();
    }),
    ("two returns of nothing", false, |f| {
        let other = f.label();
        f.ldarg(0).brtrue(other).ret();
        f.mark(other);
        trace(f, 1);
        f.ret();
    }),
    ("a return out of try, as compilers make it", true, |f| {
        let end = f.label();
        f.try_block(|t| {
            t.ldc_i4(7).stloc(0).leave(end);
        })
        .finally(|h| trace(h, 1))
        .end();
        f.mark(end).ldloc(0).ret();
    }),
    ("no return", true, |f| {
        trace(f, 1);
        f.ldarg(0).throw();
    }),
    ("an endless loop", false, |f| {
        let again = f.label();
        f.mark(again);
        trace(f, 1);
        f.br(again);
    }),
    ("back to the first instruction", true, |f| {
        let (start, done) = (f.label(), f.label());
        f.mark(start).ldarg(0).brfalse(done);
        trace(f, 1);
        f.ldarg(0).ldc_i4(-1).add().starg(0).br(start);
        f.mark(done).ldarg(0).ret();
    }),
    ("a branch to the return", false, |f| {
        let end = f.label();
        f.ldarg(0).brtrue(end);
        trace(f, 1);
        f.mark(end).ret();
    }),
    (
        "a branch to the return with the value on the stack",
        true,
        |f| {
            let end = f.label();
            f.ldc_i4(9)
                .ldarg(0)
                .brtrue(end)
                .pop()
                .ldc_i4(8)
                .mark(end)
                .ret();
        },
    ),
    ("a switch to returns", true, |f| {
        let (one, two) = (f.label(), f.label());
        f.ldarg(0).switch(&[one, two, one]).ldc_i4(30).ret();
        f.mark(one).ldc_i4(10).ret();
        f.mark(two).ldc_i4(20).ret();
    }),
    ("handlers of all kinds", true, |f| {
        f.try_block(|t| {
            t.try_block(|t| {
                t.try_block(|t| {
                    t.ldarg(0).throw();
                })
                .catch("E1", |h| {
                    h.pop();
                    trace(h, 1);
                })
                .filter(
                    |x| {
                        x.pop().ldarg(0).ldc_i4(-2).add();
                    },
                    |h| {
                        note(h);
                        h.rethrow();
                    },
                )
                .fault(|h| trace(h, 3))
                .finally(|h| trace(h, 4))
                .end();
            })
            .catch("E3", note)
            .end();
        })
        .finally(|h| trace(h, 5))
        .end();
        trace(f, 6);
        f.ldc_i4(6).ret();
    }),
    ("an empty try", false, |f| {
        f.try_block(|_| {}).finally(|_| {}).end().ret();
    }),
    (
        "a try at the first instruction, branched back to",
        false,
        |f| {
            let start = f.label();
            f.mark(start);
            f.try_block(|t| {
                trace(t, 1);
            })
            .catch("E", |h| {
                h.pop();
            })
            .end();
            f.ldarg(0)
                .ldc_i4(-1)
                .add()
                .dup()
                .starg(0)
                .brtrue(start)
                .ret();
        },
    ),
    ("a handler at the end", true, |f| {
        let end = f.label();
        let over = f.label();
        f.br(over);
        f.mark(end).ldc_i4(3).ret();
        f.mark(over);
        let _ = f
            .try_block(|t| {
                t.leave(end);
            })
            .finally(|h| trace(h, 1));
        // The end of the handler is the end of the body.
    }),
    ("code that nothing reaches", true, |f| {
        f.ldarg(0).ret();
        trace(f, 1);
        f.ldc_i4(1).ret();
    }),
    ("a return that nothing reaches", true, |f| {
        let skip = f.label();
        f.br(skip).ldloc(0).ret().mark(skip).ldc_i4(5).throw();
    }),
];

fn ways() -> Vec<Parts> {
    let mut ways = Vec::new();
    for bits in 0..128 {
        for caught in [None, Some(Caught::Rethrow), Some(Caught::Swallow)] {
            for skip in [None, Some(false), Some(true)] {
                ways.push(Parts {
                    before: bits & 1 != 0,
                    on_return: bits & 2 != 0,
                    finally: bits & 4 != 0,
                    after: bits & 8 != 0,
                    replace_result: bits & 16 != 0,
                    observe: bits & 32 != 0,
                    fault: bits & 64 != 0,
                    caught,
                    skip,
                });
            }
        }
    }
    ways
}

pub(crate) fn built(tokens: &mut Tokens, build: impl FnOnce(&mut Fragment)) -> MethodBody {
    let mut code = Fragment::new();
    build(&mut code);
    let locals = vec![TypeSig::I4];
    tokens.decoded(&code, LocalsSig { locals })
}

#[test]
fn every_shape_in_every_way() {
    let mut tokens = Tokens::default();
    for (name, returns, build) in SHAPES {
        println!("{name}");
        let body = built(&mut tokens, build);
        assert_eq!(body.verify_structure(), [], "{body}");
        for mut parts in ways() {
            parts.replace_result &= returns;
            assert_wraps(&body, &mut tokens, returns, parts);
        }
    }
}

#[test]
fn the_shapes_do_what_they_are_named_for() {
    // Otherwise the comparison would compare nothing.
    let mut tokens = Tokens::default();
    let mut outcomes = Vec::new();
    for (_, returns, build) in SHAPES {
        let body = built(&mut tokens, build);
        for argument in 0..4 {
            outcomes.push(run(&body, &tokens, &[argument], returns, FUEL).outcome);
        }
    }
    let count = |is: fn(&Outcome) -> bool| outcomes.iter().filter(|one| is(one)).count();
    assert_eq!(count(|one| matches!(one, Outcome::Returned(None))), 19);
    assert_eq!(count(|one| matches!(one, Outcome::Returned(Some(_)))), 34);
    assert_eq!(count(|one| matches!(one, Outcome::Threw(_))), 10);
    assert_eq!(count(|one| matches!(one, Outcome::Endless)), 5);
}

#[test]
fn clauses_come_behind_those_within() {
    let mut tokens = Tokens::default();
    let mut body = built(&mut tokens, SHAPES[11].2);
    let signature = signature(true);
    let shape = MethodShape::new(&signature);
    let inner = body.clauses().count();
    let wrap = Wrap::new()
        .on_exception("E1", Caught::Swallow, |_, _, _| {})
        .on_exception("E2", Caught::Rethrow, |code, _, _| {
            // A clause of its own, inside of the handler.
            code.try_block(|t| trace(t, 1)).fault(|_| {}).end();
        })
        .finally(|code, _| trace(code, 2));
    body.wrap(&wrap, &shape).unwrap();
    assert_valid(&body, &mut tokens);
    let kinds: Vec<_> = body.clauses().map(|clause| clause.kind).collect();
    assert_eq!(kinds.len(), inner + 4);
    assert!(matches!(kinds[0], HandlerKind::Fault));
    assert!(matches!(kinds[inner + 1], HandlerKind::Catch(_)));
    assert!(matches!(kinds[inner + 2], HandlerKind::Catch(_)));
    assert!(matches!(kinds[inner + 3], HandlerKind::Finally));
    let tries: Vec<_> = body.clauses().map(|clause| clause.try_region).collect();
    assert_eq!(tries[inner + 1], tries[inner + 2]);
    assert_eq!(tries[inner + 3].start, tries[inner + 2].start);
}

#[test]
fn wraps_around_wraps() {
    let mut tokens = Tokens::default();
    for (name, returns, build) in SHAPES {
        println!("{name}");
        let signature = signature(returns);
        let shape = MethodShape::new(&signature);
        let mut body = built(&mut tokens, build);
        body.wrap(&Parts::ALL.wrap(), &shape).unwrap();
        for _ in 0..2 {
            body = {
                let locals = body.locals().unwrap().clone();
                let mut read = tokens.encoded(&body);
                read.set_locals(locals);
                read
            };
            for mut parts in ways().into_iter().step_by(7) {
                parts.replace_result &= returns;
                assert_wraps(&body, &mut tokens, returns, parts);
            }
            body.wrap(&Parts::ALL.wrap(), &shape).unwrap();
        }
    }
}

#[test]
fn a_return_inside_try_leaves() {
    // Invalid, but unambiguous: nop, ret, in a try; nop; ret.
    let mut tokens = Tokens::default();
    let mut body = built(&mut tokens, |f| {
        f.try_block(|t| {
            t.ldarg(0).ret();
        })
        .finally(|h| trace(h, 1))
        .end();
        f.ldc_i4(1).ret();
    });
    assert_ne!(body.verify_structure(), []);
    let signature = signature(true);
    let shape = MethodShape::new(&signature);
    // Also without a region of the wrap.
    let wrap = Parts {
        caught: None,
        finally: false,
        ..Parts::ALL
    };
    body.wrap(&wrap.wrap(), &shape).unwrap();
    assert_valid(&body, &mut tokens);
    let ran = run(&body, &tokens, &[3], true, FUEL);
    assert_eq!(ran.outcome, Outcome::Returned(Some(3)));
    assert_eq!(ran.trace, [100, 1, 101, 3, 104]);
}

#[test]
fn arguments_are_replaced_before_anything_sees_them() {
    let mut tokens = Tokens::default();
    let mut body = built(&mut tokens, |f| {
        f.ldarg(0).ret();
    });
    let signature = signature(true);
    let shape = MethodShape::new(&signature);
    let wrap = Wrap::new()
        .local(TypeSig::I4)
        .before(|code, method| {
            code.ldarg(0).stloc(method.local(0));
        })
        .replace_argument(0, |code, _| {
            code.ldarg(0).ldc_i4(40).add();
        })
        .skip_if(|code, _| {
            code.ldarg(0);
            note(code);
            code.ldc_i4(0);
        })
        .after(|code, method| {
            code.ldloc(method.local(0));
            note(code);
        });
    let wrapped = body.wrap(&wrap, &shape).unwrap();
    assert_eq!((wrapped.local(0), wrapped.result), (1, Some(2)));
    assert_valid(&body, &mut tokens);
    let ran = run(&body, &tokens, &[2], true, FUEL);
    assert_eq!(ran.outcome, Outcome::Returned(Some(42)));
    assert_eq!(ran.trace, [42, 2]);
}

#[test]
fn exceptions_of_the_wrap() {
    let mut tokens = Tokens::default();
    let original = built(&mut tokens, |f| {
        f.ldarg(0).ret();
    });
    let signature = signature(true);
    let shape = MethodShape::new(&signature);
    let throws = |code: &mut Fragment| {
        code.ldc_i4(77).throw();
    };
    let caught = |wrap: Wrap| {
        wrap.on_exception("E", Caught::Swallow, |code, _, _| trace(code, 102))
            .finally(|code, _| trace(code, 103))
    };
    for (wrap, expected) in [
        (
            caught(Wrap::new().before(move |code, _| throws(code))),
            &[][..],
        ),
        (
            caught(Wrap::new().on_return(move |code, _| throws(code))),
            &[103],
        ),
        (
            caught(Wrap::new().after(move |code, _| throws(code))),
            &[103],
        ),
    ] {
        let mut body = original.clone();
        body.wrap(&wrap, &shape).unwrap();
        assert_valid(&body, &mut tokens);
        let ran = run(&body, &tokens, &[1], true, FUEL);
        assert_eq!(
            (ran.trace.as_slice(), ran.outcome),
            (expected, Outcome::Threw(77))
        );
    }
    // A handler that throws another exception, and one selected by type.
    let wrap = Wrap::new()
        .on_exception("E2", Caught::Rethrow, move |code, _, _| throws(code))
        .on_exception("E3", Caught::Swallow, |code, method, exception| {
            code.ldloc(exception).stloc(method.result.unwrap_or(0));
        });
    let mut body = built(&mut tokens, |f| {
        let fine = f.label();
        f.ldarg(0)
            .brfalse(fine)
            .ldarg(0)
            .throw()
            .mark(fine)
            .ldc_i4(0)
            .ret();
    });
    body.wrap(&wrap, &shape).unwrap();
    assert_valid(&body, &mut tokens);
    for (argument, outcome) in [
        (0, Outcome::Returned(Some(0))),
        (1, Outcome::Threw(1)),
        (2, Outcome::Threw(77)),
        (3, Outcome::Returned(Some(3))),
    ] {
        assert_eq!(
            run(&body, &tokens, &[argument], true, FUEL).outcome,
            outcome
        );
    }
}
