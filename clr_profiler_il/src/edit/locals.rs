use super::EditError;
use crate::body::MethodBody;
use crate::signature::{LocalsSig, TypeSig};
use crate::symbol::Resolver;

impl MethodBody {
    /// Tells the types of the locals that the token of the body names.
    ///
    /// The token stays until a local is added.
    pub fn set_locals(&mut self, locals: LocalsSig) {
        self.locals.signature = Some(locals);
    }

    /// As [`set_locals`](Self::set_locals), asking a resolver.
    ///
    /// # Errors
    ///
    /// If it does not know them.
    pub fn resolve_locals(&mut self, resolver: &impl Resolver) -> Result<(), EditError> {
        if self.locals.signature.is_none() {
            let token = self.locals_token().ok_or(EditError::UnknownLocals)?;
            self.locals.signature = resolver.locals(token);
        }
        self.locals().map(|_| ()).ok_or(EditError::UnknownLocals)
    }

    /// Appends a local and gives its number. The others keep theirs; the token of all is asked for
    /// when the body is encoded.
    ///
    /// # Errors
    ///
    /// If the body has locals whose types were not told, or has as many as it can have.
    pub fn add_local(&mut self, local: TypeSig) -> Result<u16, EditError> {
        let locals = self.locals.signature.as_mut();
        let locals = locals.ok_or(EditError::UnknownLocals)?;
        let number = locals.push(local).map_err(EditError::Locals)?;
        self.locals.changed = true;
        Ok(number)
    }
}
