//! The state machines of asynchronous methods, and the methods that the compiler has named.

use clr_metadata::Error;
use clr_metadata::token::{MethodDef, Token};
use clr_profiler::il::body::MethodBody;
use clr_profiler::il::instruction::{InstructionId, Operand};
use clr_profiler::il::opcode::Opcode;
use clr_profiler::il::symbol::Reference;

use super::generated::STATE;
use super::module::{CoveredModule, DEPTH};

/// The attribute of a method whose code is in a state machine.
const ASYNCHRONOUS: &str = "System.Runtime.CompilerServices.AsyncStateMachineAttribute";

/// The state of a machine that has ended.
const ENDED: i32 = -2;

/// The code of an asynchronous method.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AsyncMachine {
    /// The method of the source.
    pub(crate) kickoff: MethodDef,
    /// The field with the state: -1 when it begins, -2 when it has ended.
    pub(crate) state: Token,
}

impl CoveredModule<'_> {
    /// Whether the code of a method is in a state machine, because it is asynchronous.
    pub(crate) fn is_asynchronous(&self, method: MethodDef) -> bool {
        self.assembly
            .metadata
            .find_attribute(method, ASYNCHRONOUS)
            .is_some()
    }

    /// Whether the compiler has named a method, or a type that it is in.
    pub(crate) fn is_generated(&self, method: MethodDef) -> Result<bool, Error> {
        let metadata = &self.assembly.metadata;
        if metadata.member_name(method)?.starts_with('<') {
            return Ok(true);
        }
        let mut class = Some(metadata.method_owner(method)?);
        for _ in 0..DEPTH {
            let Some(of) = class else { break };
            if self.class(of)?.is_of_compiler {
                return Ok(true);
            }
            class = metadata.enclosing_type(of);
        }
        Ok(false)
    }

    /// The asynchronous method whose code a `MoveNext` is; `None` if it is that of none.
    pub(crate) fn async_machine(&self, method: MethodDef) -> Option<AsyncMachine> {
        if self.assembly.metadata.member_name(method).ok()? != "MoveNext" {
            return None;
        }
        let kickoff = self.continued_method(method)?;
        if !self.is_asynchronous(kickoff) {
            return None;
        }
        let body = MethodBody::decode(self.body(method).ok()?).ok()?;
        let state = ends(&body, |token| {
            self.assembly
                .metadata
                .member_name(token)
                .is_ok_and(|name| name == STATE)
        });
        let state = state.first().map(|(_, state)| *state)?;
        Some(AsyncMachine { kickoff, state })
    }
}

/// The instructions that store the last state, with the field.
pub(crate) fn ends(
    body: &MethodBody,
    is_state: impl Fn(Token) -> bool,
) -> Vec<(InstructionId, Token)> {
    let mut found = Vec::new();
    let mut before = None;
    for one in body.instructions() {
        if one.opcode() == Opcode::Stfld
            && before == Some(ENDED)
            && let Operand::Reference(Reference::Token(token)) = one.operand()
            && is_state(token)
        {
            found.push((one.id(), token));
        }
        before = one.int32();
    }
    found
}
