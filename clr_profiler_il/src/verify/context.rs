use crate::signature::{MethodSig, TypeSig};

/// The method of a body.
#[derive(Clone, Copy, Debug)]
pub struct MethodContext<'a> {
    /// Its signature. For a runtime-async method, with the type that `ret` takes as the return
    /// type.
    pub signature: &'a MethodSig,
    /// Whether `this` is a managed pointer, because a value type declares the method; otherwise it
    /// is an object.
    pub this_is_pointer: bool,
    /// The generic parameters of the type and the method ([`Var`](TypeSig::Var),
    /// [`MVar`](TypeSig::MVar)) that are constrained to reference types: their values are objects.
    pub references: &'a [TypeSig],
}

impl<'a> MethodContext<'a> {
    /// The context of a static method, or of one of a class.
    #[must_use]
    pub const fn new(signature: &'a MethodSig) -> Self {
        Self {
            signature,
            this_is_pointer: false,
            references: &[],
        }
    }

    /// The context of an instance method of a value type.
    #[must_use]
    pub const fn of_value_type(signature: &'a MethodSig) -> Self {
        Self {
            signature,
            this_is_pointer: true,
            references: &[],
        }
    }
}
