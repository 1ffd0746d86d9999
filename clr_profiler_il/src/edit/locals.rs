use super::EditError;
use crate::body::MethodBody;
use crate::signature::{LocalsSig, TypeSig};
use crate::symbol::Resolver;

impl MethodBody {
    /// Sets the types of the body's locals.
    ///
    /// Their token stays until a local is added.
    pub fn set_locals(&mut self, locals: LocalsSig) {
        self.locals.signature = Some(locals);
    }

    /// As [`set_locals`](Self::set_locals), with the types from a resolver.
    ///
    /// # Errors
    ///
    /// If the resolver does not know them.
    pub fn resolve_locals(&mut self, resolver: &impl Resolver) -> Result<(), EditError> {
        if self.locals.signature.is_none() {
            let token = self.locals_token().ok_or(EditError::UnknownLocals)?;
            self.locals.signature = resolver.locals(token);
        }
        self.locals().map(|_| ()).ok_or(EditError::UnknownLocals)
    }

    /// Appends a local and returns its index. The others keep theirs; encoding asks for a new
    /// token.
    ///
    /// # Errors
    ///
    /// If the types of the body's locals are unknown, or the body has the maximum number of locals.
    pub fn add_local(&mut self, local: TypeSig) -> Result<u16, EditError> {
        let locals = self.locals.signature.as_mut();
        let locals = locals.ok_or(EditError::UnknownLocals)?;
        let number = locals.push(local).map_err(EditError::Locals)?;
        self.locals.changed = true;
        Ok(number)
    }
}
