use std::fmt;
use std::ops::Range;

use crate::attributes::MethodImplAttributes;
use crate::edit::NotInstrumentable;
use crate::signature::{MethodSig, TypeSig};
use crate::symbol::Resolver;

/// The properties of a method that matter for wrapping.
///
/// ```
/// use clr_profiler_il::attributes::MethodImplAttributes;
/// use clr_profiler_il::signature::{MethodSig, TypeSig};
/// use clr_profiler_il::token::TypeRef;
/// use clr_profiler_il::wrap::MethodShape;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // A runtime-async method that is declared as `Task<int>`.
/// let task = TypeSig::GenericInstance {
///     is_value_type: false,
///     definition: TypeRef::from_row(1).ok_or("a row has 24 bits")?.into(),
///     arguments: vec![TypeSig::I4],
/// };
/// let signature = MethodSig::new(task, vec![]);
/// let shape = MethodShape::new(&signature).implementation(MethodImplAttributes::ASYNC)?;
/// assert_eq!(*shape.return_type(), TypeSig::I4);
/// assert!(shape.is_runtime_async());
/// assert!(!MethodShape::new(&signature).is_runtime_async());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct MethodShape<'a> {
    signature: &'a MethodSig,
    return_type: &'a TypeSig,
    exception_type: TypeSig,
    pub(super) constructor: Option<&'a dyn Resolver>,
}

impl<'a> MethodShape<'a> {
    /// An ordinary method with this signature.
    #[must_use]
    pub const fn new(signature: &'a MethodSig) -> Self {
        Self {
            signature,
            return_type: &signature.return_type,
            exception_type: TypeSig::Object,
            constructor: None,
        }
    }

    /// Sets the implementation attributes, of which only that of runtime-async methods matters: the
    /// value that their `ret` takes differs from the return type of their signature. See
    /// [`effective_return_type`](MethodSig::effective_return_type).
    ///
    /// Such a method may await in the wrapped code, which will be in a try region, but not in the
    /// code of handlers.
    ///
    /// # Errors
    ///
    /// If the attributes do not fit the signature.
    pub fn implementation(
        mut self,
        implementation: MethodImplAttributes,
    ) -> Result<Self, NotInstrumentable> {
        let effective = self.signature.effective_return_type(implementation);
        self.return_type = effective.ok_or(NotInstrumentable::RuntimeAsync)?;
        Ok(self)
    }

    /// Marks the method as an instance constructor of a class. Constructors of value types need not
    /// call another one, and are ordinary methods here.
    ///
    /// The resolver must know the signatures of methods, and [which are
    /// constructors](Resolver::is_constructor), to find the call of the base constructor.
    #[must_use]
    pub const fn constructor(mut self, resolver: &'a dyn Resolver) -> Self {
        self.constructor = Some(resolver);
        self
    }

    /// Sets the type of the exception's local instead of `object`: a reference to
    /// `System.Exception`, for example, so that methods with a parameter of that type can be called
    /// with it.
    #[must_use]
    pub fn exception_type(mut self, exception_type: TypeSig) -> Self {
        self.exception_type = exception_type;
        self
    }

    /// The signature.
    #[must_use]
    pub const fn signature(&self) -> &'a MethodSig {
        self.signature
    }

    /// The type of the value that `ret` takes, with its modifiers.
    #[must_use]
    pub const fn return_type(&self) -> &'a TypeSig {
        self.return_type
    }

    /// Whether the method is runtime-async: it returns the value of its task, and may be suspended
    /// in between without returning.
    #[must_use]
    pub fn is_runtime_async(&self) -> bool {
        // The return type of the signature is that of the task.
        *self.return_type != self.signature.return_type
    }

    pub(super) const fn exception(&self) -> &TypeSig {
        &self.exception_type
    }
}

impl fmt::Debug for MethodShape<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MethodShape")
            .field("signature", self.signature)
            .field("return_type", self.return_type)
            .field("exception_type", &self.exception_type)
            .field("constructor", &self.constructor.is_some())
            .finish()
    }
}

/// A wrapped method: its shape, and the locals of its values.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WrappedMethod<'a> {
    /// The properties of the method.
    pub shape: &'a MethodShape<'a>,
    /// The local of the result. `None` if the method returns nothing or never, or if the wrap has
    /// no code after the method's.
    pub result: Option<u16>,
    /// The local of the exception, null until one is caught; `None` if the wrap has no
    /// `on_exception`.
    pub exception: Option<u16>,
    /// The locals of the wrap.
    pub locals: Range<u16>,
}

impl WrappedMethod<'_> {
    /// The number of a local of the wrap, by its index in the order of
    /// [`Wrap::local`](super::Wrap::local). For an index without a local, a number that no local
    /// has.
    #[must_use]
    pub fn local(&self, index: u16) -> u16 {
        let number = self.locals.start.checked_add(index);
        number
            .filter(|number| self.locals.contains(number))
            .unwrap_or(u16::MAX)
    }
}
