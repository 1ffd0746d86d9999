use super::constructor::base_call;
use super::{Constructors, MethodShape, TailCalls, Wrap};
use crate::body::MethodBody;
use crate::code::END;
use crate::edit::{EditError, NotInstrumentable};
use crate::flow::{Ranks, Regions};
use crate::instruction::{InstructionId, Prefix};
use crate::opcode::Opcode;
use crate::signature::CallingConvention;

/// A `ret` of the body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Return {
    pub(super) node: u32,
    /// Whether it is inside of an existing region, where it should not be.
    pub(super) in_region: bool,
}

/// The facts about a body that matter for wrapping it.
pub(super) struct Survey {
    /// The first wrapped instruction.
    pub(super) start: u32,
    pub(super) returns: Vec<Return>,
}

impl Survey {
    /// Analyses a body, and refuses one that cannot be wrapped.
    pub(super) fn new(
        body: &MethodBody,
        wrap: &Wrap,
        shape: &MethodShape<'_>,
    ) -> Result<Self, EditError> {
        if shape.signature().convention == CallingConvention::VarArg {
            return Err(NotInstrumentable::VarArg.into());
        }
        let last = body.code.node(body.code.last());
        let last = last.filter(|_| body.code.last() != END);
        if !last.ok_or(EditError::EmptyRegion)?.opcode.ends_block() {
            let id = InstructionId(body.code.last());
            return Err(NotInstrumentable::FallsOffTheEnd(id).into());
        }
        let mut survey = Self {
            start: body.code.first(),
            returns: Vec::new(),
        };
        for instruction in body.instructions() {
            match instruction.opcode() {
                Opcode::Ret => survey.returns.push(Return {
                    node: instruction.id.0,
                    in_region: false,
                }),
                Opcode::Jmp => return Err(NotInstrumentable::Jmp(instruction.id).into()),
                _ if wrap.tail_calls == TailCalls::Skip
                    && instruction.prefixes().any(|prefix| prefix == Prefix::Tail) =>
                {
                    return Err(NotInstrumentable::TailCall(instruction.id).into());
                }
                _ => {}
            }
        }
        let constructor = shape
            .constructor
            .filter(|_| wrap.constructors == Constructors::AfterBaseCall);
        if body.code.clauses.is_empty() && constructor.is_none() {
            return Ok(survey);
        }
        let ranks = Ranks::new(&body.code);
        // Reporting errors of clauses is left to the verifier.
        let regions = Regions::new(&body.code, &ranks, |_, _, _| {});
        survey.locate_returns(&ranks, &regions)?;
        if let Some(resolver) = constructor {
            let call = base_call(body, resolver, &ranks, &regions)?;
            survey.start = body.code.next(call);
        }
        Ok(survey)
    }

    /// Records which `ret`s are in regions.
    fn locate_returns(&mut self, ranks: &Ranks, regions: &Regions) -> Result<(), EditError> {
        for one in &mut self.returns {
            if let Some(region) = regions.get(regions.at(ranks.of(one.node))) {
                one.in_region = true;
                if region.closed {
                    let id = InstructionId(one.node);
                    return Err(NotInstrumentable::RetInHandler(id).into());
                }
            }
        }
        Ok(())
    }
}
