use std::fmt::{self, Write};

use super::{
    ArrayShape, CallingConvention, FieldSig, LocalsSig, MemberRefSig, MethodSig, MethodSpecSig,
    PropertySig, StandAloneSig, TypeSig, TypeSpecSig,
};
use crate::lexer::write_type_name;
use crate::token::TypeToken;

/// The names of the types that a signature refers to by token.
///
/// ```
/// use std::fmt;
///
/// use clr_profiler_il::signature::{MethodSig, NameStyle, TypeNames};
/// use clr_profiler_il::token::TypeToken;
///
/// struct Names;
///
/// impl TypeNames for Names {
///     fn type_name(&self, token: TypeToken, out: &mut dyn fmt::Write) -> fmt::Result {
///         match token.raw() {
///             0x0100_0001 => out.write_str("System.Collections.Generic.List"),
///             _ => write!(out, "{token}"),
///         }
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let method = MethodSig::parse(&[0x00, 0x01, 0x08, 0x15, 0x12, 0x05, 0x01, 0x0e])?;
/// assert_eq!(
///     method.display(&Names).to_string(),
///     "int (System.Collections.Generic.List<string>)"
/// );
/// assert_eq!(
///     method.display(&Names).style(NameStyle::Full).to_string(),
///     "System.Int32 (System.Collections.Generic.List<System.String>)"
/// );
/// # Ok(())
/// # }
/// ```
pub trait TypeNames {
    /// Writes the name of a type as it should appear in the text: with or without namespace and
    /// enclosing types, and with or without the number of generic parameters (`` `1 ``).
    ///
    /// # Errors
    ///
    /// The errors of `out`. For an unresolvable token, write a placeholder: `to_string` panics on
    /// an error.
    fn type_name(&self, token: TypeToken, out: &mut dyn fmt::Write) -> fmt::Result;

    /// Writes the name of a generic parameter of the enclosing type; by default `!0`.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    fn type_parameter(&self, index: u32, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "!{index}")
    }

    /// Writes the name of a generic parameter of the method; by default `!!0`.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    fn method_parameter(&self, index: u32, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "!!{index}")
    }
}

impl<N: TypeNames + ?Sized> TypeNames for &N {
    fn type_name(&self, token: TypeToken, out: &mut dyn fmt::Write) -> fmt::Result {
        (**self).type_name(token, out)
    }

    fn type_parameter(&self, index: u32, out: &mut dyn fmt::Write) -> fmt::Result {
        (**self).type_parameter(index, out)
    }

    fn method_parameter(&self, index: u32, out: &mut dyn fmt::Write) -> fmt::Result {
        (**self).method_parameter(index, out)
    }
}

/// Names each type by its token, `0x01000005`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenNames;

impl TypeNames for TokenNames {
    fn type_name(&self, token: TypeToken, out: &mut dyn fmt::Write) -> fmt::Result {
        write!(out, "{token}")
    }
}

/// The names of primitive types.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NameStyle {
    /// C# keywords: `int`, `string`, `nint`.
    #[default]
    Keyword,
    /// Full names: `System.Int32`, `System.String`, `System.IntPtr`.
    Full,
    /// The form that `parse_text` reads: primitives by C# keyword, other types prefixed by `class`
    /// or `valuetype` and quoted where necessary, the exact bounds of arrays, generic parameters by
    /// number.
    Exact,
}

/// A signature as text: the result of `display`, for printing or `to_string`.
///
/// Names of types follow C#, their order follows ECMA-335: an enclosing type is written after the
/// enclosed one.
///
/// | Signature | Text |
/// |---|---|
/// | by-ref, pointer | `int&`, `int*` |
/// | vector, array | `int[]`, `int[,]`, `int[*]` for one dimension |
/// | array of arrays, outermost last | `int[,][]` |
/// | bounds other than 0 | `int[1...4,-2...]` |
/// | generic instance | `List<int>` |
/// | generic parameters | `!0`, `!!0` |
/// | modifiers | `int modreq(IsVolatile)`, `int modopt(IsLong)` |
/// | pinned | `int& pinned` |
/// | function pointer, return type last | `delegate*<int, void>`, `delegate* unmanaged[Cdecl]<int>` |
/// | method | `instance int (string, object)` |
/// | generic method | `!!0 <[1]>(!!0)` |
/// | vararg call | `vararg void (string, ..., int)` |
/// | property, indexer | `instance int`, `instance int [string]` |
/// | locals | `([0] int, [1] string)` |
/// | method specification | `<int, string>` |
///
/// The [`Exact`](NameStyle::Exact) style of `text` differs in these points:
///
/// | Signature | Text |
/// |---|---|
/// | named type | `class [System.Runtime]System.Uri`, ``valuetype [A]N.Pair`1/'<X>'<int>`` |
/// | bounds: only size, only lower bound, both, none | `int[4]`, `int[1...]`, `int[1...4]`, `int[*]` |
/// | more than 32 dimensions | `int[0...4 rank 40]` |
#[derive(Clone, Copy)]
pub struct SignatureDisplay<'a, N: ?Sized> {
    subject: Subject<'a>,
    names: &'a N,
    style: NameStyle,
}

/// The subject of a `SignatureDisplay`.
#[derive(Clone, Copy)]
enum Subject<'a> {
    Type(&'a TypeSig),
    Method(&'a MethodSig),
    Parameters(&'a MethodSig),
    Property(&'a PropertySig),
    Locals(&'a LocalsSig),
    Arguments(&'a [TypeSig]),
}

impl<N: ?Sized> SignatureDisplay<'_, N> {
    /// Sets the names of primitive types.
    #[must_use]
    pub const fn style(mut self, style: NameStyle) -> Self {
        self.style = style;
        self
    }
}

impl<N: TypeNames + ?Sized> fmt::Display for SignatureDisplay<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut printer = Printer {
            names: &self.names,
            style: self.style,
            out: f,
        };
        match self.subject {
            Subject::Type(of) => printer.type_sig(of),
            Subject::Method(method) => printer.method(method),
            Subject::Parameters(method) => printer.parameters(method),
            Subject::Property(property) => printer.property(property),
            Subject::Locals(locals) => printer.locals(locals),
            Subject::Arguments(arguments) => printer.arguments(arguments),
        }
    }
}

impl<N: TypeNames + ?Sized> fmt::Debug for SignatureDisplay<'_, N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SignatureDisplay({self})")
    }
}

/// Implements `display` for signatures.
///
/// `MethodSig, method => Subject::Method(method);` maps a `MethodSig` to its subject.
macro_rules! displays {
    ($($name:ident, $value:ident => $subject:expr;)*) => {$(
        impl $name {
            /// The signature as text, with types named by `names`; see [`SignatureDisplay`].
            #[must_use]
            pub fn display<'a, N: TypeNames + ?Sized>(
                &'a self,
                names: &'a N,
            ) -> SignatureDisplay<'a, N> {
                let $value = self;
                SignatureDisplay { subject: $subject, names, style: NameStyle::Keyword }
            }

            /// The signature as text that can be parsed again: [`display`](Self::display) in the
            /// [`Exact`](NameStyle::Exact) style.
            #[must_use]
            pub fn text<'a, N: TypeNames + ?Sized>(
                &'a self,
                names: &'a N,
            ) -> SignatureDisplay<'a, N> {
                self.display(names).style(NameStyle::Exact)
            }
        }
    )*};
}

displays! {
    TypeSig, of => Subject::Type(of);
    MethodSig, method => Subject::Method(method);
    FieldSig, field => Subject::Type(&field.field_type);
    PropertySig, property => Subject::Property(property);
    LocalsSig, locals => Subject::Locals(locals);
    TypeSpecSig, spec => Subject::Type(&spec.type_sig);
    MethodSpecSig, spec => Subject::Arguments(&spec.arguments);
    MemberRefSig, member => match member {
        MemberRefSig::Method(method) => Subject::Method(method),
        MemberRefSig::Field(field) => Subject::Type(&field.field_type),
    };
    StandAloneSig, sig => match sig {
        StandAloneSig::Method(method) => Subject::Method(method),
        StandAloneSig::Locals(locals) => Subject::Locals(locals),
        StandAloneSig::Field(field) => Subject::Type(&field.field_type),
    };
}

impl MethodSig {
    /// The parameter list as text, `(int, string)`, to be appended to a method's name.
    ///
    /// ```
    /// use clr_profiler_il::signature::{MethodSig, TokenNames, TypeSig};
    ///
    /// let method = MethodSig::instance(TypeSig::Void, vec![TypeSig::I4, TypeSig::String]);
    /// let text = format!("Program.Run{}", method.display_parameters(&TokenNames));
    /// assert_eq!(text, "Program.Run(int, string)");
    /// ```
    #[must_use]
    pub const fn display_parameters<'a, N: TypeNames + ?Sized>(
        &'a self,
        names: &'a N,
    ) -> SignatureDisplay<'a, N> {
        let subject = Subject::Parameters(self);
        SignatureDisplay {
            subject,
            names,
            style: NameStyle::Keyword,
        }
    }
}

/// The highest rank that is printed as commas, which is the highest that the runtime loads. A blob
/// of a few bytes can declare any rank.
const MAX_COMMAS: u32 = 32;

struct Printer<'a> {
    names: &'a dyn TypeNames,
    style: NameStyle,
    out: &'a mut dyn Write,
}

impl Printer<'_> {
    fn text(&mut self, text: &str) -> fmt::Result {
        self.out.write_str(text)
    }

    fn separated<'s>(
        &mut self,
        types: impl IntoIterator<Item = &'s TypeSig>,
        sentinel: Option<usize>,
    ) -> fmt::Result {
        for (index, of) in types.into_iter().enumerate() {
            if index > 0 {
                self.text(", ")?;
            }
            if sentinel == Some(index) {
                self.text("..., ")?;
            }
            self.type_sig(of)?;
        }
        Ok(())
    }

    fn arguments(&mut self, arguments: &[TypeSig]) -> fmt::Result {
        self.text("<")?;
        self.separated(arguments, None)?;
        self.text(">")
    }

    fn name(&mut self, token: TypeToken) -> fmt::Result {
        if self.style != NameStyle::Exact {
            return self.names.type_name(token, self.out);
        }
        let mut name = String::new();
        self.names.type_name(token, &mut name)?;
        write_type_name(self.out, &name)
    }

    fn named(&mut self, is_value_type: bool, token: TypeToken) -> fmt::Result {
        if self.style == NameStyle::Exact {
            self.text(if is_value_type {
                "valuetype "
            } else {
                "class "
            })?;
        }
        self.name(token)
    }

    fn followed(&mut self, of: &TypeSig, by: &str) -> fmt::Result {
        self.type_sig(of)?;
        self.text(by)
    }

    fn type_sig(&mut self, of: &TypeSig) -> fmt::Result {
        match of {
            TypeSig::Class(token) => self.named(false, *token),
            TypeSig::ValueType(token) => self.named(true, *token),
            TypeSig::GenericInstance {
                is_value_type,
                definition,
                arguments,
            } => {
                self.named(*is_value_type, *definition)?;
                self.arguments(arguments)
            }
            TypeSig::Var(index) if self.style == NameStyle::Exact => write!(self.out, "!{index}"),
            TypeSig::MVar(index) if self.style == NameStyle::Exact => write!(self.out, "!!{index}"),
            TypeSig::Var(index) => self.names.type_parameter(*index, self.out),
            TypeSig::MVar(index) => self.names.method_parameter(*index, self.out),
            TypeSig::Pointer(inner) => self.followed(inner, "*"),
            TypeSig::ByRef(inner) => self.followed(inner, "&"),
            TypeSig::SzArray(inner) => self.followed(inner, "[]"),
            TypeSig::Pinned(inner) => self.followed(inner, " pinned"),
            TypeSig::Array { element, shape } => {
                self.followed(element, "[")?;
                self.shape(shape)?;
                self.text("]")
            }
            TypeSig::FunctionPointer(method) => self.function_pointer(method),
            TypeSig::Modified {
                required,
                modifier,
                inner,
            } => {
                self.followed(inner, if *required { " modreq(" } else { " modopt(" })?;
                self.name(*modifier)?;
                self.text(")")
            }
            primitive => {
                let (keyword, full) = primitive.primitive_names().unwrap_or_default();
                self.text(match self.style {
                    NameStyle::Keyword | NameStyle::Exact => keyword,
                    NameStyle::Full => full,
                })
            }
        }
    }

    fn exact_shape(&mut self, shape: &ArrayShape) -> fmt::Result {
        let many = shape.rank > MAX_COMMAS;
        let bounded = shape.sizes.len().max(shape.lower_bounds.len());
        let printed = if many {
            bounded
        } else {
            usize::try_from(shape.rank).unwrap_or(bounded)
        };
        for dimension in 0..printed {
            if dimension > 0 {
                self.text(",")?;
            }
            let size = shape.sizes.get(dimension).copied().map(i64::from);
            let lowest = shape.lower_bounds.get(dimension).copied().map(i64::from);
            match (lowest, size) {
                (Some(lowest), Some(size)) => {
                    write!(self.out, "{lowest}...{}", lowest + size - 1)?;
                }
                (Some(lowest), None) => write!(self.out, "{lowest}...")?,
                (None, Some(size)) => write!(self.out, "{size}")?,
                (None, None) if shape.rank == 1 => self.text("*")?,
                (None, None) => {}
            }
        }
        if many {
            let space = if printed > 0 { " " } else { "" };
            write!(self.out, "{space}rank {}", shape.rank)?;
        }
        Ok(())
    }

    fn shape(&mut self, shape: &ArrayShape) -> fmt::Result {
        if self.style == NameStyle::Exact {
            return self.exact_shape(shape);
        }
        if shape.rank > MAX_COMMAS {
            return write!(self.out, "rank {}", shape.rank);
        }
        let mut sizes = shape.sizes.iter();
        let mut lower_bounds = shape.lower_bounds.iter();
        for dimension in 0..shape.rank {
            if dimension > 0 {
                self.text(",")?;
            }
            let size = sizes.next().copied().map(i64::from);
            let lowest = lower_bounds.next().copied().map_or(0, i64::from);
            match size {
                Some(size) => write!(self.out, "{lowest}...{}", lowest + size - 1)?,
                None if lowest != 0 => write!(self.out, "{lowest}...")?,
                None if shape.rank == 1 => self.text("*")?,
                None => {}
            }
        }
        Ok(())
    }

    /// The words before a method, `instance explicit vararg`, each between `before` and `after`.
    fn method_header(&mut self, method: &MethodSig, before: &str, after: &str) -> fmt::Result {
        let words = [
            if method.has_this { "instance" } else { "" },
            if method.explicit_this { "explicit" } else { "" },
            match method.convention {
                CallingConvention::Default => "",
                CallingConvention::C => "unmanaged[Cdecl]",
                CallingConvention::StdCall => "unmanaged[Stdcall]",
                CallingConvention::ThisCall => "unmanaged[Thiscall]",
                CallingConvention::FastCall => "unmanaged[Fastcall]",
                CallingConvention::VarArg => "vararg",
                CallingConvention::Unmanaged => "unmanaged",
                CallingConvention::NativeVarArg => "unmanaged vararg",
            },
        ];
        for word in words.into_iter().filter(|word| !word.is_empty()) {
            write!(self.out, "{before}{word}{after}")?;
        }
        Ok(())
    }

    fn generic_parameter_count(&mut self, method: &MethodSig) -> fmt::Result {
        match method.generic_parameter_count {
            0 => Ok(()),
            count => write!(self.out, "<[{count}]>"),
        }
    }

    fn function_pointer(&mut self, method: &MethodSig) -> fmt::Result {
        self.text("delegate*")?;
        self.method_header(method, " ", "")?;
        self.generic_parameter_count(method)?;
        self.text("<")?;
        let types = method.params.iter().chain([&method.return_type]);
        self.separated(types, method.sentinel)?;
        self.text(">")
    }

    fn method(&mut self, method: &MethodSig) -> fmt::Result {
        self.method_header(method, "", " ")?;
        self.followed(&method.return_type, " ")?;
        self.generic_parameter_count(method)?;
        self.parameters(method)
    }

    fn parameters(&mut self, method: &MethodSig) -> fmt::Result {
        self.text("(")?;
        self.separated(&method.params, method.sentinel)?;
        self.text(")")
    }

    fn property(&mut self, property: &PropertySig) -> fmt::Result {
        if property.has_this {
            self.text("instance ")?;
        }
        self.type_sig(&property.property_type)?;
        if property.params.is_empty() {
            return Ok(());
        }
        self.text(" [")?;
        self.separated(&property.params, None)?;
        self.text("]")
    }

    fn locals(&mut self, locals: &LocalsSig) -> fmt::Result {
        self.text("(")?;
        for (index, local) in locals.locals.iter().enumerate() {
            let separator = if index > 0 { ", " } else { "" };
            write!(self.out, "{separator}[{index}] ")?;
            self.type_sig(local)?;
        }
        self.text(")")
    }
}
