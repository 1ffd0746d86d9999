//! Wraps in which every part leaves a trace, and the expected run of a wrapped method.

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::opcode::Opcode;
use clr_profiler_il::signature::{MethodSig, TypeSig};
use clr_profiler_il::symbol::MethodSymbol;
use clr_profiler_il::wrap::{Caught, MethodShape, Wrap};

use crate::machine::{Outcome, Run, Value, run};
use crate::tokens::Tokens;

pub(crate) const FUEL: u32 = 2_000;

/// Records a number.
pub(crate) fn trace(code: &mut Fragment, number: i32) {
    code.ldc_i4(number);
    note(code);
}

/// Records the value on the stack.
pub(crate) fn note(code: &mut Fragment) {
    code.call(MethodSymbol::new("H", "Trace", "void (int)"));
}

/// The parts of a wrap.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Parts {
    pub(crate) before: bool,
    pub(crate) skip: Option<bool>,
    pub(crate) on_return: bool,
    pub(crate) replace_result: bool,
    pub(crate) observe: bool,
    pub(crate) caught: Option<Caught>,
    pub(crate) fault: bool,
    pub(crate) finally: bool,
    pub(crate) after: bool,
}

/// The value that `skip_if` stores as the result.
const SKIPPED: Value = 55;

impl Parts {
    pub(crate) const ALL: Self = Self {
        before: true,
        skip: None,
        on_return: true,
        replace_result: false,
        observe: true,
        caught: Some(Caught::Rethrow),
        fault: false,
        finally: true,
        after: true,
    };

    pub(crate) fn wrap(self) -> Wrap {
        let mut wrap = Wrap::new();
        if self.before {
            wrap = wrap.before(|code, _| trace(code, 100));
        }
        if let Some(skip) = self.skip {
            wrap = wrap.skip_if(move |code, method| {
                if let Some(result) = method.result {
                    code.ldc_i4(SKIPPED as i32).stloc(result);
                }
                code.ldc_i4(i32::from(skip));
            });
        }
        if self.on_return {
            wrap = wrap.on_return(|code, method| {
                trace(code, 101);
                if let Some(result) = method.result {
                    code.ldloc(result);
                    note(code);
                }
            });
        }
        if self.replace_result {
            wrap = wrap.replace_result(|code, _, result| {
                code.ldloc(result).ldc_i4(1000).add();
            });
        }
        if self.observe {
            wrap = wrap.observe_exception(|code, _, exception| {
                trace(code, 105);
                code.ldloc(exception);
                note(code);
            });
        }
        if let Some(caught) = self.caught {
            wrap = wrap.on_exception("E", caught, |code, _, exception| {
                trace(code, 102);
                code.ldloc(exception);
                note(code);
            });
        }
        if self.fault {
            wrap = wrap.fault(|code, _| trace(code, 106));
        }
        if self.finally {
            wrap = wrap.finally(|code, _| trace(code, 103));
        }
        if self.after {
            wrap = wrap.after(|code, _| trace(code, 104));
        }
        wrap
    }

    /// The expected run of the wrapped method, from the run of the original.
    pub(crate) fn expected(self, args: &[Value], original: &Run) -> Run {
        let mut trace = Vec::new();
        let mut add = |wanted: bool, what: &[Value]| {
            if wanted {
                trace.extend(what);
            }
        };
        let mut outcome = original.outcome;
        add(self.before, &[100]);
        if self.skip == Some(true) {
            add(self.after, &[104]);
            return Run {
                trace,
                // The original outcome tells only whether the method returns a value.
                outcome: Outcome::Returned(None),
                args: args.to_vec(),
            };
        }
        add(true, &original.trace);
        match original.outcome {
            Outcome::Returned(value) => {
                add(self.on_return, &[101]);
                add(self.on_return, value.as_slice());
                if self.replace_result {
                    outcome = Outcome::Returned(value.map(|value| value + 1000));
                }
            }
            Outcome::Threw(exception) => {
                add(self.observe, &[105, exception]);
                add(self.caught.is_some(), &[102, exception]);
            }
            Outcome::Endless => {}
        }
        let is_thrown =
            matches!(outcome, Outcome::Threw(_)) && self.caught != Some(Caught::Swallow);
        add(self.fault && is_thrown, &[106]);
        add(self.finally && outcome != Outcome::Endless, &[103]);
        if matches!(outcome, Outcome::Threw(_)) && self.caught == Some(Caught::Swallow) {
            // Zero, or the value that was stored in case the method is skipped.
            outcome = Outcome::Returned(None);
        }
        add(
            self.after && matches!(outcome, Outcome::Returned(_)),
            &[104],
        );
        Run {
            trace,
            outcome,
            args: original.args.clone(),
        }
    }
}

pub(crate) fn signature(returns: bool) -> MethodSig {
    let of = if returns { TypeSig::I4 } else { TypeSig::Void };
    MethodSig::new(of, vec![TypeSig::I4])
}

/// Checks that the structure and the stack of a body are valid, in memory and when read again.
#[track_caller]
pub(crate) fn assert_valid(body: &MethodBody, tokens: &mut Tokens) {
    assert_eq!(body.verify_structure(), [], "\n{body}");
    let most = body
        .stack_depths(tokens)
        .unwrap_or_else(|error| panic!("{error}\n{body}"));
    assert!(most.max() <= body.max_stack(), "{}\n{body}", most.max());
    let again = tokens.encoded(body);
    assert_eq!(again.verify_structure(), []);
    assert_eq!(
        again.stack_depths(tokens).map(|depths| depths.max()),
        Ok(most.max())
    );
}

/// Checks that the offset map leads from every instruction to its successor in the wrapped body.
#[track_caller]
pub(crate) fn assert_mapped(original: &MethodBody, wrapped: &MethodBody, tokens: &mut Tokens) {
    let again = tokens.encoded(wrapped);
    let map = wrapped.offset_map();
    assert_eq!(map.len(), original.len());
    for (old, pair) in original.instructions().zip(map) {
        assert_eq!(old.original_offset(), Some(pair.old));
        let new = again
            .instructions()
            .find(|new| new.original_offset() == Some(pair.new))
            .unwrap_or_else(|| panic!("nothing at {}\n{wrapped}", pair.new));
        if old.opcode() == Opcode::Ret {
            let name = new.opcode().mnemonic();
            let fine = ["stloc", "leave", "br", "ret"];
            assert!(fine.iter().any(|start| name.starts_with(start)), "{name}");
        } else {
            assert_eq!(new.opcode(), old.opcode());
        }
    }
}

/// Wraps a body, and compares its run with that of the original.
#[track_caller]
pub(crate) fn assert_wraps(
    original: &MethodBody,
    tokens: &mut Tokens,
    returns: bool,
    parts: Parts,
) {
    let signature = signature(returns);
    let shape = MethodShape::new(&signature);
    let mut body = original.clone();
    let wrapped = body.wrap(&parts.wrap(), &shape).unwrap();
    assert_valid(&body, tokens);
    assert_mapped(original, &body, tokens);
    for argument in 0..4 {
        let before = run(original, tokens, &[argument], returns, FUEL);
        // Sufficient for the new code, too.
        let after = run(&body, tokens, &[argument], returns, 2 * FUEL);
        let mut expected = parts.expected(&[argument], &before);
        if before.outcome == Outcome::Endless && parts.skip != Some(true) {
            let length = expected.trace.len().min(after.trace.len());
            assert_eq!(after.trace[..length], expected.trace[..length]);
            assert_eq!(after.outcome, Outcome::Endless, "\n{body}");
            continue;
        }
        if let (Outcome::Returned(None), Some(_)) = (expected.outcome, wrapped.result) {
            let stored = if parts.skip.is_some() { SKIPPED } else { 0 };
            expected.outcome = Outcome::Returned(Some(stored));
        }
        assert_eq!(after, expected, "with {argument}\n{original}\n{body}");
    }
}
