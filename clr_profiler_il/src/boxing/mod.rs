//! Arguments and results as objects, and back.
//!
//! A [`Boxer`] makes the code; of the types of a method it asks a [`MethodTypes`], which knows the module.

#[cfg(test)]
mod tests;
mod typed;

use std::error::Error;

use crate::fragment::Fragment;
use crate::messages::messages;
use crate::signature::{MethodSig, TypeSig};
use crate::token::TypeToken;

pub use typed::TypedArguments;

/// Addresses below are nobody's. The framework has managed pointers there, such as 1 to the contents
/// of an empty span.
const NOWHERE: i32 = 0x1_0000;

/// What has become of a value that was to be an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Boxing {
    /// It is one: a reference, which may be null.
    Reference,
    /// A copy of the value. A nullable without a value gives null, and a type parameter gives
    /// whatever its argument does.
    Value,
    /// What the managed pointer points to: a copy of the value, or the reference. Null if the pointer
    /// is null, or points to no memory as the one to the contents of an empty span does.
    ///
    /// Unsafe code has managed pointers that must not be read in other ways, say one past the end of
    /// an array.
    Target,
    /// The address, as a `System.IntPtr`: it was an unmanaged pointer or one to a function.
    Address,
    /// Null, for there can be no object.
    Skipped(NotBoxable),
}

messages! {
    /// Why a value cannot be an object.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum NotBoxable {
        /// There is no value.
        Void => "there is none of `void`";
        /// Its type lives on the stack alone, as `Span<T>` does.
        ByRefLike => "the type lives on the stack alone";
        /// Its type is a parameter that allows types of the stack (`allows ref struct`).
        AllowsByRefLike => "the type parameter allows types that live on the stack alone";
        /// The module that defines its type was not found among those that are loaded, so that it may
        /// be one that lives on the stack alone.
        UnknownType => "the type is in no module that is loaded, and may live on the stack alone";
    }
}

messages! {
    /// Why there is no such code.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[non_exhaustive]
    pub enum BoxingError {
        /// The signature has fewer arguments.
        NoArgument(number: u16) => "the method has no argument {number}";
        /// The signature has more arguments than instructions can name.
        TooMany => "the method has more arguments than IL can name";
        /// `this` would be replaced.
        This => "`this` is not to be replaced";
        /// `this` is an unmanaged pointer.
        ThisType => "`this` has no such type";
        /// No signature has this.
        PointerToPointer => "a managed pointer to a managed pointer";
        /// There are no objects of managed pointers.
        ManagedPointer => "an object cannot become a managed pointer";
        /// There are no objects of this type.
        NotBoxable(reason: NotBoxable) => "an object cannot become such a value: {reason}";
    }
}

impl Error for BoxingError {}

/// Code that leaves an object, and what that object is.
///
/// The code holds tokens of the method's module: it serves there alone.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Boxed {
    /// The code.
    pub code: Fragment,
    /// What the object is.
    pub boxing: Boxing,
}

/// Code that leaves an `object[]` of all arguments, and what its elements are.
///
/// The code holds tokens of the method's module: it serves there alone.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BoxedArguments {
    /// The code.
    pub code: Fragment,
    /// What the elements are, `this` not among them.
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

/// What has to be known of the types of a method.
pub trait MethodTypes {
    /// Why something cannot be known.
    type Error: From<BoxingError>;

    /// The signature of the method.
    fn signature(&self) -> &MethodSig;

    /// The type that declares the method: of a generic type, the instance of its own parameters.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    fn this_type(&self) -> Result<TypeSig, Self::Error>;

    /// The token that an instruction on a type names.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    fn operand(&mut self, type_sig: &TypeSig) -> Result<TypeToken, Self::Error>;

    /// Whether values of a type live on the stack alone; `None` if that cannot be told.
    fn is_by_ref_like(&self, class: TypeToken) -> Option<bool>;

    /// Whether a type parameter, `!n` or `!!n`, allows types that live on the stack alone.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    fn allows_by_ref_like(&self, parameter: &TypeSig) -> Result<bool, Self::Error>;
}

/// How a value that is no managed pointer becomes an object.
#[derive(Clone, Copy)]
enum Plan {
    /// It is one.
    Reference,
    /// By `box` of this type.
    Value(TypeToken),
    /// By `box` of `System.IntPtr`.
    Address,
    Skip(NotBoxable),
}

enum Argument {
    /// `this`, which the signature does not list.
    This,
    Param(TypeSig),
}

/// Makes the code that boxes for one method. It holds tokens of the method's module.
#[derive(Debug)]
pub struct Boxer<'a, T>(&'a mut T);

impl<'a, T: MethodTypes> Boxer<'a, T> {
    /// For the method of these types.
    pub fn new(types: &'a mut T) -> Self {
        Self(types)
    }

    /// Code that loads an argument as an object. `this` is argument 0 of an instance method.
    ///
    /// Of an argument by reference, the object is what it points to. Where there can be no object,
    /// the code loads null, and [`Boxed::boxing`] says why.
    ///
    /// # Errors
    ///
    /// That there is no such argument; what the metadata answer.
    pub fn argument(&mut self, number: u16) -> Result<Boxed, T::Error> {
        let mut code = Fragment::new();
        code.ldarg(number);
        match self.parameter(number)? {
            Argument::This => self.box_loaded_this(code),
            Argument::Param(param) => self.box_loaded(code, &param),
        }
    }

    /// Code that makes an object of the value on the top of the stack, in the place of it. Where there
    /// can be none, the value is dropped for null.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
    pub fn value(&mut self, value: &TypeSig) -> Result<Boxed, T::Error> {
        self.box_loaded(Fragment::new(), value)
    }

    /// Code that loads an `object[]` of all arguments, without `this`.
    ///
    /// # Errors
    ///
    /// What the metadata answer.
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
            // New elements are null.
            if !matches!(boxed.boxing, Boxing::Skipped(_)) {
                code.dup().ldc_i4(index).append(&boxed.code).stelem_ref();
            }
        }
        Ok(BoxedArguments { code, boxing })
    }

    /// Code that takes an object from the stack and leaves a value of a type in its place.
    ///
    /// # Errors
    ///
    /// That an object cannot become such a value; what the metadata answer.
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

    /// Code that stores an object in an argument: `object` loads it. Of an argument by reference,
    /// what it points to is replaced.
    ///
    /// # Errors
    ///
    /// As of [`unbox`](Self::unbox); that there is no such argument, or that it is `this`.
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

    /// Makes an object of what `code` has loaded.
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
                // The stack does not tell a pointer from a number of its size.
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

    /// Makes an object of what the managed pointer points to that `code` has loaded.
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
            // A parameter is boxed as what it stands for, unless that may live on the stack alone.
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
