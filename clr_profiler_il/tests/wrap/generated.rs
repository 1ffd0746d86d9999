//! Generated bodies: a wrapped method has the same effects as the original.

use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::instruction::Label;
use clr_profiler_il::wrap::Caught;
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use crate::machine::{Outcome, run};
use crate::parts::{FUEL, Parts, assert_wraps, note, trace};
use crate::shapes::built;
use crate::tokens::Tokens;

/// A statement. In protected code or in a handler, exits become the allowed ones.
#[derive(Clone, Debug)]
enum Statement {
    Trace(u8),
    Throw(u8),
    /// Returns directly, or by the common `ret` at the end.
    Return(bool),
    /// Jumps back to the first instruction.
    Restart,
    /// Decrements the argument.
    CountDown,
    If(Vec<Statement>, Vec<Statement>),
    Switch(Vec<Vec<Statement>>),
    Try(Vec<Statement>, Handler),
}

#[derive(Clone, Debug)]
enum Handler {
    Catch(u8, Vec<Statement>, bool),
    Filter(u8, Vec<Statement>),
    Finally(Vec<Statement>),
    Fault(Vec<Statement>),
}

fn statements() -> impl Strategy<Value = Vec<Statement>> {
    let simple = prop_oneof![
        6 => (0_u8..90).prop_map(Statement::Trace),
        2 => (1_u8..4).prop_map(Statement::Throw),
        2 => any::<bool>().prop_map(Statement::Return),
        1 => Just(Statement::Restart),
        2 => Just(Statement::CountDown),
    ];
    let any = simple.prop_recursive(4, 24, 4, |inner| {
        let block = prop::collection::vec(inner, 0..4);
        let handler = prop_oneof![
            ((0_u8..4), block.clone(), any::<bool>())
                .prop_map(|(name, code, rethrow)| Handler::Catch(name, code, rethrow)),
            ((1_u8..4), block.clone()).prop_map(|(name, code)| Handler::Filter(name, code)),
            block.clone().prop_map(Handler::Finally),
            block.clone().prop_map(Handler::Fault),
        ];
        prop_oneof![
            (block.clone(), block.clone()).prop_map(|(yes, no)| Statement::If(yes, no)),
            prop::collection::vec(block.clone(), 1..4).prop_map(Statement::Switch),
            (block, handler).prop_map(|(code, handler)| Statement::Try(code, handler)),
        ]
    });
    prop::collection::vec(any, 0..6)
}

/// The exits that are allowed at a position.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Where {
    Outside,
    /// In a try region or a catch: only by `leave`.
    Leaving,
    /// In a finally or fault, or in a nested region: none.
    Closed,
}

impl Where {
    fn within(self) -> Self {
        if self == Self::Closed {
            self
        } else {
            Self::Leaving
        }
    }
}

struct Writer {
    start: Label,
    end: Label,
    returns: bool,
}

impl Writer {
    fn all(&self, f: &mut Fragment, statements: &[Statement], place: Where) {
        for statement in statements {
            self.one(f, statement, place);
        }
    }

    fn go(&self, f: &mut Fragment, to: Label, place: Where) {
        match place {
            Where::Outside => f.br(to),
            Where::Leaving => f.leave(to),
            Where::Closed => f.nop(),
        };
    }

    fn one(&self, f: &mut Fragment, statement: &Statement, place: Where) {
        match statement {
            Statement::Trace(number) => trace(f, i32::from(*number)),
            Statement::Throw(number) => {
                f.ldc_i4(i32::from(*number)).throw();
            }
            Statement::Return(here) => {
                if self.returns {
                    f.ldc_i4(7);
                    if *here && place == Where::Outside {
                        f.ret();
                        return;
                    }
                    f.stloc(0);
                } else if *here && place == Where::Outside {
                    f.ret();
                    return;
                }
                self.go(f, self.end, place);
            }
            Statement::Restart => self.go(f, self.start, place),
            Statement::CountDown => {
                f.ldarg(0).ldc_i4(-1).add().starg(0);
            }
            Statement::If(yes, no) => {
                let (other, done) = (f.label(), f.label());
                f.ldarg(0).brfalse(other);
                self.all(f, yes, place);
                f.br(done).mark(other);
                self.all(f, no, place);
                f.mark(done);
            }
            Statement::Switch(cases) => {
                let labels: Vec<_> = cases.iter().map(|_| f.label()).collect();
                let done = f.label();
                // The number may have become negative.
                f.ldarg(0)
                    .dup()
                    .add()
                    .brfalse(done)
                    .ldc_i4(1)
                    .switch(&labels)
                    .br(done);
                for (case, label) in cases.iter().zip(labels) {
                    f.mark(label);
                    self.all(f, case, place);
                    f.br(done);
                }
                f.mark(done);
            }
            Statement::Try(code, handler) => {
                let within = place.within();
                let region = f.try_block(|t| {
                    t.nop();
                    self.all(t, code, within);
                });
                match handler {
                    Handler::Catch(name, code, rethrow) => {
                        let name = match name {
                            0 => "E".to_owned(),
                            name => format!("E{name}"),
                        };
                        region.catch(name.as_str(), |h| {
                            note(h);
                            self.all(h, code, within);
                            if *rethrow {
                                h.rethrow();
                            }
                        })
                    }
                    Handler::Filter(name, code) => region.filter(
                        |x| {
                            x.ldc_i4(-i32::from(*name)).add();
                        },
                        |h| {
                            note(h);
                            self.all(h, code, within);
                        },
                    ),
                    Handler::Finally(code) => region.finally(|h| {
                        h.nop();
                        self.all(h, code, Where::Closed);
                    }),
                    Handler::Fault(code) => region.fault(|h| {
                        h.nop();
                        self.all(h, code, Where::Closed);
                    }),
                }
                .end();
            }
        }
    }
}

/// The code of a method; with `ends` there is a path to a `ret`, otherwise there may be none.
fn method(f: &mut Fragment, statements: &[Statement], returns: bool, ends: bool) {
    let writer = Writer {
        start: f.label(),
        end: f.label(),
        returns,
    };
    f.mark(writer.start);
    if returns {
        f.ldc_i4(3).stloc(0);
    }
    writer.all(f, statements, Where::Outside);
    if !ends {
        f.br(writer.start);
    }
    f.mark(writer.end);
    if returns {
        f.ldloc(0);
    }
    f.ret();
}

fn parts() -> impl Strategy<Value = Parts> {
    let caught = prop_oneof![
        Just(None),
        Just(Some(Caught::Rethrow)),
        Just(Some(Caught::Swallow))
    ];
    let skip = prop_oneof![4 => Just(None), 1 => any::<bool>().prop_map(Some)];
    (any::<[bool; 7]>(), caught, skip).prop_map(|(bits, caught, skip)| Parts {
        before: bits[0],
        on_return: bits[1],
        finally: bits[2],
        after: bits[3],
        replace_result: bits[4],
        observe: bits[5],
        fault: bits[6],
        caught,
        skip,
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        failure_persistence: None,
        cases: 1_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn wrapped_methods_do_what_they_did(
        statements in statements(),
        mut parts in parts(),
        returns in any::<bool>(),
        ends in prop::bool::weighted(0.8),
    ) {
        let mut tokens = Tokens::default();
        let body = built(&mut tokens, |f| method(f, &statements, returns, ends));
        prop_assert_eq!(body.verify_structure(), []);
        parts.replace_result &= returns;
        assert_wraps(&body, &mut tokens, returns, parts);
    }
}

/// Otherwise the property above would be nearly empty.
#[test]
fn generated_methods_end_in_every_way() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut counts = [0; 3];
    let mut tokens = Tokens::default();
    for _ in 0..300 {
        let tree = statements().new_tree(&mut runner).unwrap();
        let body = built(&mut tokens, |f| method(f, &tree.current(), true, true));
        counts[match run(&body, &tokens, &[2], true, FUEL).outcome {
            Outcome::Returned(_) => 0,
            Outcome::Threw(_) => 1,
            Outcome::Endless => 2,
        }] += 1;
    }
    assert!(counts.iter().all(|&count| count >= 20), "{counts:?}");
}
