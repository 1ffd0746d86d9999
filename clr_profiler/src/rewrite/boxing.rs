//! The methods of [`RewriteContext`] that box arguments and results, and unbox objects.

use super::RewriteContext;
use super::lookup::Lookup;
use crate::error::{Error, Result};
use crate::info::CorProfilerInfo;
use crate::metadata::{MetadataImport, MetadataImport2};
use clr_profiler_il::attributes::GenericParamAttributes;
use clr_profiler_il::boxing::{Boxed, BoxedArguments, Boxer, MethodTypes, TypedArguments};
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::{MethodSig, TypeSig};
use clr_profiler_il::token::{Token, TypeToken};

/// Values as objects.
impl RewriteContext<'_> {
    /// Code that loads an argument as an object. `this` is argument 0 of an instance method.
    ///
    /// If the argument is by reference, the value that it refers to is boxed. If that is impossible, the
    /// code loads null, and [`Boxed::boxing`] says why.
    ///
    /// # Errors
    ///
    /// That there is no such argument; an error of the metadata.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// use clr_profiler::il::fragment::Fragment;
    /// use clr_profiler::il::symbol::MethodSymbol;
    ///
    /// # fn jit(info: &ProfilerInfo, function: FunctionId) -> Result<()> {
    /// let write = MethodSymbol::new("[System.Console]System.Console", "WriteLine", "void (object)");
    /// info.method(function)?.rewrite(|body, cx| {
    ///     let first = cx.box_argument(0)?;
    ///     body.prologue(Fragment::new().append(&first.code).call(&write))?;
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn box_argument(&mut self, number: u16) -> Result<Boxed> {
        Boxer::new(self).argument(number)
    }

    /// Code that loads `this` as an object; of a value type, a copy, which in a constructor has the fields
    /// that are initialised so far. `None` for a static method.
    ///
    /// # Errors
    ///
    /// An error of the metadata.
    pub fn box_this(&mut self) -> Result<Option<Boxed>> {
        if !self.signature().has_this {
            return Ok(None);
        }
        self.box_argument(0).map(Some)
    }

    /// Code that replaces the value on the top of the stack by an object.
    ///
    /// `value` is a type in terms of the method's module: of a parameter or the [result](Self::return_type)
    /// of the method, or from [`type_sig`](Self::type_sig). A value that cannot be boxed is replaced by null.
    /// Of `void` there is no value to drop.
    ///
    /// # Errors
    ///
    /// An error of the metadata.
    pub fn box_value(&mut self, value: &TypeSig) -> Result<Boxed> {
        Boxer::new(self).value(value)
    }

    /// Code that loads an `object[]` of all arguments, without `this`.
    ///
    /// Since .NET 5, methods of the core library implement casts, `unbox` and the storing of references in
    /// arrays, and since .NET 10 the boxing of nullable values: those of
    /// `System.Runtime.CompilerServices.CastHelpers`. If this code is inserted in a method that they call, it
    /// recurses without end. So do not rewrite methods of `System.Runtime.*`, and in other methods of the core
    /// library use [`box_argument`](Self::box_argument), which stores nothing in arrays.
    ///
    /// # Errors
    ///
    /// An error of the metadata.
    pub fn arguments_array(&mut self) -> Result<BoxedArguments> {
        Boxer::new(self).array()
    }

    /// Code that replaces an object on the stack by a value of a type: the inverse of
    /// [`box_value`](Self::box_value).
    ///
    /// In the program, an object of another type throws `InvalidCastException`, and null for a value type
    /// `NullReferenceException`.
    ///
    /// # Errors
    ///
    /// That no object can be unboxed to such a value: a by-reference type, `void`, a type that is or may be
    /// restricted to the stack. An error of the metadata.
    pub fn unbox_value(&mut self, value: &TypeSig) -> Result<Fragment> {
        Boxer::new(self).unbox(value)
    }

    /// Code that stores an object in an argument: `object` loads it. Of an argument by reference, the value
    /// that it refers to is replaced.
    ///
    /// As for [`unbox_value`](Self::unbox_value), the object must be of the right type.
    ///
    /// # Errors
    ///
    /// That there is no such argument, or that it is `this`; otherwise as of
    /// [`unbox_value`](Self::unbox_value).
    pub fn store_argument(&mut self, number: u16, object: &Fragment) -> Result<Fragment> {
        Boxer::new(self).store(number, object)
    }

    /// Code that loads all arguments as they are, without `this`: numbers and structs are copied instead of
    /// boxed.
    ///
    /// An argument by reference is loaded as an object of the value that it refers to, as by
    /// [`box_argument`](Self::box_argument); an unmanaged pointer is loaded as a native integer. An argument
    /// that no generic method can take is replaced by null: [`TypedArguments::boxing`] says why.
    ///
    /// # Errors
    ///
    /// An error of the metadata.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// use clr_profiler::il::fragment::Fragment;
    ///
    /// # fn jit(info: &ProfilerInfo, function: FunctionId) -> Result<()> {
    /// // In C#: `static void Enter<T0, T1>(string method, T0 first, T1 second)` and others.
    /// info.method(function)?.rewrite(|body, cx| {
    ///     let arguments = cx.typed_arguments()?;
    ///     let enter = arguments.method("[Helper]Logger", "Enter", "void", &["string"]);
    ///     let mut code = Fragment::new();
    ///     code.ldstr(cx.full_name()).append(&arguments.code).call(&enter);
    ///     body.prologue(&code)?;
    ///     Ok(())
    /// })?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn typed_arguments(&mut self) -> Result<TypedArguments> {
        Boxer::new(self).typed()
    }
}

impl MethodTypes for RewriteContext<'_> {
    type Error = Error;

    fn signature(&self) -> &MethodSig {
        self.signature()
    }

    fn this_type(&self) -> Result<TypeSig> {
        self.this_type()
    }

    fn operand(&mut self, type_sig: &TypeSig) -> Result<TypeToken> {
        self.type_operand(type_sig)
    }

    /// Only the module that defines the type marks it by an attribute (`ref struct`), so a reference is
    /// resolved there.
    fn is_by_ref_like(&self, class: TypeToken) -> Option<bool> {
        const ATTRIBUTE: &str = "System.Runtime.CompilerServices.IsByRefLikeAttribute";
        if let TypeToken::Spec(_) = class {
            return None;
        }
        // A type that is unknown now may be known when another module has been loaded: unknown is not cached.
        self.module.by_ref_like.find(class, || {
            Lookup::of(self.info()).in_type(self.module(), class, |definition| {
                let metadata = &definition.metadata;
                let attribute = metadata.custom_attribute_by_name(definition.class, ATTRIBUTE);
                Some(attribute.ok()?.is_some())
            })
        })
    }

    fn allows_by_ref_like(&self, parameter: &TypeSig) -> Result<bool> {
        let (owner, number): (Token, u32) = match *parameter {
            TypeSig::Var(number) => (self.props().class.into(), number),
            TypeSig::MVar(number) => (self.token().into(), number),
            _ => return Ok(false),
        };
        let metadata = self.info().module_metadata(self.module())?;
        for parameter in metadata.generic_params(owner) {
            let parameter = metadata.generic_param_props(parameter?)?;
            if parameter.number == number {
                return Ok(parameter
                    .attributes
                    .contains(GenericParamAttributes::ACCEPT_BY_REF_LIKE));
            }
        }
        Err(Error::other(format!(
            "there is no type parameter {number} of {owner}"
        )))
    }
}
