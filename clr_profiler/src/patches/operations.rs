//! The code of operations without closures: [`Counter`] and [`Recorder`].

use super::code::{Locals, null_check, push};
use super::counter::{Addresses, Counter, Recorder};
use super::plan::Planned;
use super::slot::{Home, Kind};
use crate::error::{Error, Result};
use crate::rewrite::{Primitive, RewriteContext, address};
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::instruction::Label;
use clr_profiler_il::signature::TypeSig;
use clr_profiler_il::symbol::MethodSymbol;
use clr_profiler_il::token::TypeToken;
use clr_profiler_il::wrap::{Wrap, WrappedMethod};

/// An operation of a patch.
#[derive(Clone, Debug)]
pub(super) enum Operation {
    Count(Counter),
    Record(Box<str>, Recorder),
}

/// The number of locals of a recorded value: its bytes, the number, and a figure.
const LOCALS: u16 = 3;

/// The value to record.
struct Recorded {
    planned: Planned,
    primitive: Primitive,
    operand: TypeToken,
    to: Addresses,
    /// Its first local.
    local: u16,
}

/// The operations of one method, as code of a wrap.
pub(super) struct Operations {
    before: Vec<Code>,
    after: Vec<Code>,
    locals: u16,
}

type Code = Box<dyn Fn(&mut Fragment, &WrappedMethod<'_>) + Send + Sync>;

impl Operations {
    /// The operations of a method, of which the wrap has so many locals already.
    pub(super) fn new(
        cx: &RewriteContext<'_>,
        first: u16,
        operations: &[Operation],
        planned: &[Planned],
    ) -> Result<Self> {
        let mut all = Self {
            before: Vec::new(),
            after: Vec::new(),
            locals: 0,
        };
        if !operations.is_empty() && cx.full_name().starts_with("System.Threading.Interlocked.") {
            return Err(Error::other("counting uses the methods of this type"));
        }
        for operation in operations {
            match operation {
                Operation::Count(counter) => {
                    let counter = counter.keep();
                    all.before.push(Box::new(move |code, _| {
                        code.append(&address(counter)).call(increment()).pop();
                    }));
                }
                Operation::Record(name, recorder) => {
                    let recorded = Recorded::new(name, recorder, planned, first + all.locals)?;
                    all.locals += LOCALS;
                    match recorded.planned.slot.home {
                        Home::Result => &mut all.after,
                        _ => &mut all.before,
                    }
                    .push(Box::new(move |code, method| recorded.record(code, method)));
                }
            }
        }
        Ok(all)
    }

    /// Adds the locals, and the operations before the code of the method: the first parts of a wrap.
    pub(super) fn begin(&mut self, mut wrap: Wrap) -> Wrap {
        for _ in 0..self.locals {
            wrap = wrap.local(TypeSig::I8);
        }
        for code in self.before.drain(..) {
            wrap = wrap.before(code);
        }
        wrap
    }

    /// Adds the operations after all other code: the last parts of a wrap.
    pub(super) fn end(self, mut wrap: Wrap) -> Wrap {
        for code in self.after {
            wrap = wrap.after(code);
        }
        wrap
    }
}

fn interlocked(name: &str, signature: &str) -> MethodSymbol {
    MethodSymbol::new("[corelib]System.Threading.Interlocked", name, signature)
}

fn increment() -> MethodSymbol {
    interlocked("Increment", "long (long&)")
}

impl Recorded {
    fn new(name: &str, recorder: &Recorder, planned: &[Planned], local: u16) -> Result<Self> {
        let refuse = |problem: &str| {
            Err(Error::other(format!(
                "`{name}` cannot be recorded: {problem}"
            )))
        };
        let Some(planned) = planned.iter().find(|one| *one.slot.name == *name) else {
            return refuse("the method has no such value");
        };
        let primitive = match &planned.slot.kind {
            Kind::Value(layout) => layout.leaves.first().map(|leaf| leaf.primitive),
            _ => None,
        };
        match (primitive, planned.operands.value) {
            (Some(Primitive::R4 | Primitive::R8) | None, _) | (_, None) => {
                refuse("it is no integer")
            }
            (Some(primitive), Some(operand)) => Ok(Self {
                planned: planned.clone(),
                primitive,
                operand,
                to: recorder.keep(),
                local,
            }),
        }
    }

    fn record(&self, code: &mut Fragment, method: &WrappedMethod<'_>) {
        let slot = &self.planned.slot;
        let [bytes, number, figure] = [0, 1, 2].map(|local| method.local(self.local + local));
        let at = Locals::without_frame(method);
        let end = code.label();
        if let Home::Argument {
            number,
            is_by_ref: true,
        } = slot.home
        {
            null_check(code, &at, number, end);
        }
        code.ldloca(bytes).conv_u();
        push(code, &at, slot, &self.planned.operands);
        code.stobj(self.operand);
        code.ldloca(bytes).conv_u();
        match self.primitive {
            Primitive::Bool | Primitive::U1 => code.ldind_u1().conv_u8(),
            Primitive::Char | Primitive::U2 => code.ldind_u2().conv_u8(),
            Primitive::U4 => code.ldind_u4().conv_u8(),
            Primitive::I1 => code.ldind_i1().conv_i8(),
            Primitive::I2 => code.ldind_i2().conv_i8(),
            Primitive::I4 => code.ldind_i4().conv_i8(),
            Primitive::NativeInt => code.ldind_i().conv_i8(),
            Primitive::NativeUint => code.ldind_i().conv_u8(),
            _ => code.ldind_i8(),
        };
        code.stloc(number);
        // First, so that a reader who sees a count sees the extremes.
        extreme(code, self.to.min, number, figure, Fragment::bge);
        extreme(code, self.to.max, number, figure, Fragment::ble);
        code.append(&address(self.to.sum)).ldloc(number);
        code.call(interlocked("Add", "long (long&, long)")).pop();
        code.append(&address(self.to.count));
        code.call(increment()).pop().mark(end).nop();
    }
}

/// Replaces a figure by a number, unless the comparison says that it stays.
fn extreme(
    code: &mut Fragment,
    at: usize,
    number: u16,
    figure: u16,
    stays: fn(&mut Fragment, Label) -> &mut Fragment,
) {
    let exchange = interlocked("CompareExchange", "long (long&, long, long)");
    let (again, end) = (code.label(), code.label());
    code.mark(again);
    code.append(&address(at)).ldind_i8().stloc(figure);
    code.ldloc(number).ldloc(figure);
    stays(code, end);
    code.append(&address(at)).ldloc(number).ldloc(figure);
    code.call(&exchange).ldloc(figure).bne_un(again);
    code.mark(end).nop();
}
