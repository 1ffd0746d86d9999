//! Verification of the inserted code alone, where the rest cannot have changed.

use super::neutral::{differs_by_neutral_code, has_neutral_marks, may_be_neutral};
use super::stack::Stack;
use super::values::with_pass;
use super::{Check, MethodContext, VerifyBuffers, Violation};
use crate::body::{BodyError, MethodBody, declared_depth};
use crate::flat::Flat;
use crate::flow::Ranks;
use crate::opcode::Opcode;
use crate::signature::{MethodSig, TypeSig};
use crate::symbol::Resolver;

impl MethodBody {
    /// The violations in the encoded body that the original body did not have, as
    /// [`verify_changes_with`](Self::verify_changes_with) finds them in the decoded `bytes`.
    ///
    /// `bytes` is this body as it was just encoded, `original` the body that was decoded into it, and `checked` the
    /// memory in which `bytes` are decoded; violations refer to its instructions. `method` is called if the method matters.
    ///
    /// If the body was decoded [lazily](Self::decode_lazily_into) and nothing needed its instructions, only the
    /// prologue and the epilogue are verified, each by itself. Where they find an empty stack, use no values below their own and leave none,
    /// every other instruction finds the stack that it has in the original body. Nor are the instructions of the original body
    /// verified if all that was inserted between them is arithmetic that leaves nothing on the stack, or writes memory. Otherwise
    /// the whole body is verified.
    ///
    /// # Errors
    ///
    /// If the bytes are not a body.
    pub fn verify_encoded_with<'m>(
        &self,
        bytes: &[u8],
        original: &[u8],
        (checked, buffers): (&mut Self, &mut VerifyBuffers),
        method: impl FnOnce() -> MethodContext<'m>,
        resolver: &impl Resolver,
    ) -> Result<Vec<Violation>, BodyError> {
        if self.is_neutral_encoded(bytes, original, checked) {
            return Ok(Vec::new());
        }
        let method = &method();
        if let Some(flat) = self.code.flat()
            && !flat.has_marks()
            && self.differs_by_code_alone(original)
            && is_as_planned(flat, bytes, checked)
            && is_neutral(flat, self, (checked, buffers), method, resolver)
        {
            return Ok(Vec::new());
        }
        checked.decode_into(bytes)?;
        if self.code.flat().is_none()
            && may_be_neutral(self)
            && differs_by_neutral_code(checked, original, &mut buffers.neutral)
        {
            return Ok(Vec::new());
        }
        Ok(checked.verify_changes_with(buffers, original, method, resolver))
    }

    /// Whether there is no violation whatever the method is, because the body was decoded lazily, and the code between its instructions
    /// leaves nothing on the stack and names nothing.
    fn is_neutral_encoded(&self, bytes: &[u8], original: &[u8], checked: &mut Self) -> bool {
        if let Some(flat) = self.code.flat()
            && flat.has_marks()
            && !self.locals.changed
            && let Some(declared) = declared_depth(original)
        {
            return is_as_planned(flat, bytes, checked) && has_neutral_marks(flat, self, declared);
        }
        false
    }

    /// Whether locals and declared depth are those of the original body.
    fn differs_by_code_alone(&self, original: &[u8]) -> bool {
        let depth = declared_depth(original);
        !self.locals.changed && depth == Some(self.max_stack)
    }
}

/// Whether bytes are a well-formed body with code of the planned size.
fn is_as_planned(flat: &Flat, bytes: &[u8], checked: &mut MethodBody) -> bool {
    let read = checked.decode_lazily_into(bytes);
    let again = checked.code.flat();
    read.is_ok() && again.is_some_and(|again| again.bytes().len() as u64 == flat.new_size())
}

/// Whether the inserted code breaks no rule, uses no values below its own and leaves none.
fn is_neutral(
    flat: &Flat,
    edited: &MethodBody,
    (checked, buffers): (&mut MethodBody, &mut VerifyBuffers),
    method: &MethodContext<'_>,
    resolver: &impl Resolver,
) -> bool {
    let mut code = std::mem::take(&mut buffers.inserted);
    let epilogue = match checked.code.flat() {
        Some(new) => flat.copy_planned(new.bytes(), &mut code),
        None => 0,
    };
    let read = checked.decode_code_into(&code);
    buffers.inserted = code;
    if read.is_err() {
        return false;
    }
    let mut check = Check {
        body: checked,
        ranks: Ranks::NONE,
        found: Vec::new(),
    };
    let mut uses_arguments = false;
    for instruction in checked.instructions() {
        check.name(&instruction);
        check.prefixes(&instruction);
        uses_arguments |= instruction.argument().is_some();
    }
    if !check.found.is_empty() {
        return false;
    }
    let without_arguments = MethodSig::new(TypeSig::Void, Vec::new());
    let context = match uses_arguments {
        true => *method,
        false => MethodContext {
            signature: &without_arguments,
            ..*method
        },
    };
    with_pass(checked, &context, resolver, buffers, |pass| {
        let (mut stack, mut room) = (Stack::EMPTY, edited.max_stack());
        for instruction in checked.instructions() {
            if instruction.original_offset() == Some(epilogue) {
                if stack.depth > 0 {
                    return false;
                }
                // It is added to a stack that may be full.
                room = edited.added_stack.above;
            }
            // It must not be used where other values are on the stack.
            if instruction.opcode() == Opcode::Localloc {
                return false;
            }
            match pass.execute(&instruction, stack) {
                Some(after) if after.depth <= room => stack = after,
                _ => return false,
            }
        }
        stack.depth == 0 && pass.is_clean()
    })
}
