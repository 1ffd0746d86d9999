use crate::signature::{MethodSig, TypeSig};

/// The method that a body belongs to.
#[derive(Clone, Copy, Debug)]
pub struct MethodContext<'a> {
    /// Its signature. Of a runtime-async method, the one with the type that `ret` takes.
    pub signature: &'a MethodSig,
    /// Whether `this` is a managed pointer: the method is declared by a value type. Otherwise it is
    /// an object.
    pub this_is_pointer: bool,
    /// Those of the type's and the method's own generic parameters ([`Var`](TypeSig::Var),
    /// [`MVar`](TypeSig::MVar)) that are constrained to reference types: their values are objects.
    pub references: &'a [TypeSig],
}

impl<'a> MethodContext<'a> {
    /// A static method, or one of a class.
    #[must_use]
    pub const fn new(signature: &'a MethodSig) -> Self {
        Self {
            signature,
            this_is_pointer: false,
            references: &[],
        }
    }

    /// A method of a value type.
    #[must_use]
    pub const fn of_value_type(signature: &'a MethodSig) -> Self {
        Self {
            signature,
            this_is_pointer: true,
            references: &[],
        }
    }
}
