//! Code that boxes arguments and results, and unboxes objects.
//!
//! A [`Boxer`] generates the code; it asks a [`MethodTypes`], which knows the module, for the types
//! of a method.

#[cfg(test)]
mod tests;
mod typed;

use std::error::Error;

use crate::fragment::Fragment;
use crate::messages::messages;
use crate::signature::{MethodSig, TypeSig};
use crate::token::TypeToken;

pub use typed::TypedArguments;

/// Addresses below are never valid. The framework uses managed pointers there, such as 1 to the
/// contents of an empty span.
const NOWHERE: i32 = 0x1_0000;

/// How a value was turned into an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Boxing {
    /// The value is an object already: a reference, which may be null.
    Reference,
    /// A copy of the value. A nullable without a value gives null; a type parameter behaves as its
    /// type argument.
    Value,
    /// The target of the managed pointer: a copy of the value, or the reference. Null if the
    /// pointer is null, or points to no memory, such as the one to the contents of an empty span.
    ///
    /// Unsafe code can have other managed pointers that must not be read, such as one past the end
    /// of an array.
    Target,
    /// The address, as a `System.IntPtr`, of an unmanaged pointer or a function pointer.
    Address,
    /// Null, because there can be no object.
    Skipped(NotBoxable),
}

messages! {
    /// The reason why a value cannot become an object.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum NotBoxable {
        /// There is no value.
        Void => "`void` has no value";
        /// The type is restricted to the stack, as `Span<T>` is.
        ByRefLike => "the type is restricted to the stack";
        /// The type parameter allows such types (`allows ref struct`).
        AllowsByRefLike => "the type parameter allows types that are restricted to the stack";
        /// The module that defines the type is not among the loaded ones, so the type may be
        /// restricted to the stack.
        UnknownType => "the type is in no loaded module, and may be restricted to the stack";
    }
}

messages! {
    /// The reason why the code cannot be generated.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum BoxingError {
        /// The signature has fewer arguments.
        NoArgument(number: u16) => "the method has no argument {number}";
        /// The signature has more arguments than instructions can name.
        TooMany => "the method has more arguments than IL can name";
        /// The code would replace `this`.
        This => "`this` must not be replaced";
        /// `this` is an unmanaged pointer.
        ThisType => "`this` has no such type";
        /// A signature cannot contain this.
        PointerToPointer => "a managed pointer to a managed pointer";
        /// An object cannot become a managed pointer.
        ManagedPointer => "an object cannot become a managed pointer";
        /// An object cannot become a value of this type.
        NotBoxable(reason: NotBoxable) => "an object cannot become such a value: {reason}";
    }
}

impl Error for BoxingError {}

/// Code that leaves an object, and the kind of that object.
///
/// The code holds tokens of the method's module and is valid only there.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Boxed {
    /// The code.
    pub code: Fragment,
    /// The kind of the object.
    pub boxing: Boxing,
}

/// Code that leaves an `object[]` of all arguments, and the kinds of its elements.
///
/// The code holds tokens of the method's module and is valid only there.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BoxedArguments {
    /// The code.
    pub code: Fragment,
    /// The kinds of the elements, without `this`.
    pub boxing: Vec<Boxing>,
}

impl Boxed {
    fn skipped(mut code: Fragment, reason: NotBoxable) -> Self {
        code.ldnull();
        Self {
            code,
            boxing: Boxing::Skipped(reason),
        }
    }
}

/// The types of a method, as a [`Boxer`] needs them.
pub trait MethodTypes {
    /// The error of a failed metadata call.
    type Error: From<BoxingError>;

    /// The signature of the method.
    fn signature(&self) -> &MethodSig;

    /// The type that declares the method; for a generic type, its instance over its own parameters.
    ///
    /// # Errors
    ///
    /// The error of a failed metadata call.
    fn this_type(&self) -> Result<TypeSig, Self::Error>;

    /// The token for a type as an operand.
    ///
    /// # Errors
    ///
    /// The error of a failed metadata call.
    fn operand(&mut self, type_sig: &TypeSig) -> Result<TypeToken, Self::Error>;

    /// Whether values of a type are restricted to the stack; `None` if that is not known.
    fn is_by_ref_like(&self, class: TypeToken) -> Option<bool>;

    /// Whether a type parameter, `!n` or `!!n`, allows types that are restricted to the stack.
    ///
    /// # Errors
    ///
    /// The error of a failed metadata call.
    fn allows_by_ref_like(&self, parameter: &TypeSig) -> Result<bool, Self::Error>;
}

/// How to turn a value that is not a managed pointer into an object.
#[derive(Clone, Copy)]
enum Plan {
    /// It is an object.
    Reference,
    /// `box` of this type.
    Value(TypeToken),
    /// `box` of `System.IntPtr`.
    Address,
    Skip(NotBoxable),
}

enum Argument {
    /// `this`, which the signature does not list.
    This,
    Param(TypeSig),
}

/// Generates boxing code for one method. The code holds tokens of the method's module.
#[derive(Debug)]
pub struct Boxer<'a, T>(&'a mut T);

impl<'a, T: MethodTypes> Boxer<'a, T> {
    /// A boxer for the method of these types.
    #[must_use]
    pub fn new(types: &'a mut T) -> Self {
        Self(types)
    }

    /// Code that loads an argument as an object. `this` is argument 0 of an instance method.
    ///
    /// For an argument by reference, the object is that of its target. Where there can be no
    /// object, the code loads null, and [`Boxed::boxing`] gives the reason.
    ///
    /// # Errors
    ///
    /// If there is no such argument, or a metadata call fails.
    pub fn argument(&mut self, number: u16) -> Result<Boxed, T::Error> {
        let mut code = Fragment::new();
        code.ldarg(number);
        match self.parameter(number)? {
            Argument::This => self.box_loaded_this(code),
            Argument::Param(param) => self.box_loaded(code, &param),
        }
    }

    /// Code that replaces the value on the top of the stack by an object, or by null where there
    /// can be none.
    ///
    /// # Errors
    ///
    /// The error of a failed metadata call.
    pub fn value(&mut self, value: &TypeSig) -> Result<Boxed, T::Error> {
        self.box_loaded(Fragment::new(), value)
    }

    /// Code that loads an `object[]` of all arguments, without `this`.
    ///
    /// # Errors
    ///
    /// The error of a failed metadata call.
    pub fn array(&mut self) -> Result<BoxedArguments, T::Error> {
        let params = self.0.signature().params.len();
        let first = usize::from(self.has_implicit_this());
        let length = i32::try_from(params).map_err(|_| BoxingError::TooMany)?;
        let mut code = Fragment::new();
        code.ldc_i4(length).newarr("object");
        let mut boxing = Vec::with_capacity(params);
        for (index, number) in (0..length).zip(first..) {
            let number = u16::try_from(number).map_err(|_| BoxingError::TooMany)?;
            let boxed = self.argument(number)?;
            boxing.push(boxed.boxing);
            // New elements are null already.
            if !matches!(boxed.boxing, Boxing::Skipped(_)) {
                code.dup().ldc_i4(index).append(&boxed.code).stelem_ref();
            }
        }
        Ok(BoxedArguments { code, boxing })
    }

    /// Code that replaces the object on the top of the stack by a value of a type.
    ///
    /// # Errors
    ///
    /// If an object cannot become such a value, or a metadata call fails.
    pub fn unbox(&mut self, value: &TypeSig) -> Result<Fragment, T::Error> {
        let mut code = Fragment::new();
        let value = value.unmodified();
        if matches!(value, TypeSig::ByRef(_)) {
            return Err(BoxingError::ManagedPointer.into());
        }
        match self.plan(value)? {
            Plan::Reference if *value == TypeSig::Object => {}
            Plan::Reference => {
                code.castclass(self.0.operand(value)?);
            }
            Plan::Value(class) => {
                code.unbox_any(class);
            }
            Plan::Address => {
                code.unbox_any(self.0.operand(&TypeSig::NativeInt)?);
            }
            Plan::Skip(reason) => {
                return Err(BoxingError::NotBoxable(reason).into());
            }
        }
        Ok(code)
    }

    /// Code that stores an object, loaded by `object`, in an argument. For an argument by
    /// reference, it replaces the target.
    ///
    /// # Errors
    ///
    /// As [`unbox`](Self::unbox); also if there is no such argument, or it is `this`.
    pub fn store(&mut self, number: u16, object: &Fragment) -> Result<Fragment, T::Error> {
        let Argument::Param(param) = self.parameter(number)? else {
            return Err(BoxingError::This.into());
        };
        let mut code = Fragment::new();
        if let TypeSig::ByRef(target) = param.unmodified() {
            let unbox = self.unbox(target)?;
            code.ldarg(number).append(object).append(&unbox);
            match self.plan(target)? {
                Plan::Reference => code.stind_ref(),
                Plan::Value(class) => code.stobj(class),
                Plan::Address | Plan::Skip(_) => code.stind_i(),
            };
        } else {
            let unbox = self.unbox(&param)?;
            code.append(object).append(&unbox).starg(number);
        }
        Ok(code)
    }

    fn has_implicit_this(&self) -> bool {
        self.0.signature().has_this && !self.0.signature().explicit_this
    }

    fn parameter(&self, number: u16) -> Result<Argument, T::Error> {
        let has_this = self.has_implicit_this();
        let param = usize::from(number).checked_sub(usize::from(has_this));
        let Some(param) = param else {
            return Ok(Argument::This);
        };
        let param = self.0.signature().params.get(param);
        let missing = || BoxingError::NoArgument(number);
        Ok(Argument::Param(param.cloned().ok_or_else(missing)?))
    }

    fn box_loaded_this(&mut self, mut code: Fragment) -> Result<Boxed, T::Error> {
        let this = self.0.this_type()?;
        match self.plan(&this)? {
            Plan::Reference => Ok(Boxed {
                code,
                boxing: Boxing::Reference,
            }),
            Plan::Skip(reason) => {
                code.pop();
                Ok(Boxed::skipped(code, reason))
            }
            Plan::Value(class) => {
                code.ldobj(class).box_(class);
                Ok(Boxed {
                    code,
                    boxing: Boxing::Target,
                })
            }
            Plan::Address => Err(BoxingError::ThisType.into()),
        }
    }

    /// Turns the value loaded by `code` into an object.
    fn box_loaded(&mut self, mut code: Fragment, value: &TypeSig) -> Result<Boxed, T::Error> {
        if let TypeSig::ByRef(target) = value.unmodified() {
            return self.box_target(code, target);
        }
        let boxing = match self.plan(value)? {
            Plan::Reference => Boxing::Reference,
            Plan::Value(class) => {
                code.box_(class);
                Boxing::Value
            }
            Plan::Address => {
                // On the stack, a pointer is indistinguishable from a number of its size.
                code.box_(self.0.operand(&TypeSig::NativeInt)?);
                Boxing::Address
            }
            Plan::Skip(reason) => {
                if reason != NotBoxable::Void {
                    code.pop();
                }
                return Ok(Boxed::skipped(code, reason));
            }
        };
        Ok(Boxed { code, boxing })
    }

    /// Turns the target of the managed pointer loaded by `code` into an object.
    fn box_target(&mut self, mut code: Fragment, target: &TypeSig) -> Result<Boxed, T::Error> {
        let plan = self.plan(target)?;
        if let Plan::Skip(reason) = plan {
            code.pop();
            return Ok(Boxed::skipped(code, reason));
        }
        let (present, done) = (code.label(), code.label());
        code.dup().conv_u().ldc_i4(NOWHERE).conv_u().bge_un(present);
        code.pop().ldnull().br(done).mark(present);
        match plan {
            Plan::Value(class) => code.ldobj(class).box_(class),
            Plan::Address => code.ldind_i().box_(self.0.operand(&TypeSig::NativeInt)?),
            Plan::Reference | Plan::Skip(_) => code.ldind_ref(),
        };
        code.mark(done);
        Ok(Boxed {
            code,
            boxing: Boxing::Target,
        })
    }

    fn plan(&mut self, value: &TypeSig) -> Result<Plan, T::Error> {
        let value = value.unmodified();
        let class = match value {
            TypeSig::Void => return Ok(Plan::Skip(NotBoxable::Void)),
            TypeSig::TypedReference => return Ok(Plan::Skip(NotBoxable::ByRefLike)),
            TypeSig::String
            | TypeSig::Object
            | TypeSig::Class(_)
            | TypeSig::SzArray(_)
            | TypeSig::Array { .. }
            | TypeSig::GenericInstance {
                is_value_type: false,
                ..
            } => return Ok(Plan::Reference),
            TypeSig::Pointer(_) | TypeSig::FunctionPointer(_) => return Ok(Plan::Address),
            TypeSig::ByRef(_) => {
                return Err(BoxingError::PointerToPointer.into());
            }
            TypeSig::ValueType(class)
            | TypeSig::GenericInstance {
                definition: class, ..
            } => *class,
            // A type parameter is boxed as its type argument, unless that may be restricted to the
            // stack.
            TypeSig::Var(_) | TypeSig::MVar(_) if self.0.allows_by_ref_like(value)? => {
                return Ok(Plan::Skip(NotBoxable::AllowsByRefLike));
            }
            _ => return self.0.operand(value).map(Plan::Value),
        };
        Ok(match self.0.is_by_ref_like(class) {
            Some(false) => Plan::Value(self.0.operand(value)?),
            Some(true) => Plan::Skip(NotBoxable::ByRefLike),
            None => Plan::Skip(NotBoxable::UnknownType),
        })
    }
}
