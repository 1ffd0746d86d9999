use std::borrow::Cow;

use crate::attributes::MemberAccess;

/// The facts about a method that patterns ask for.
///
/// `clr_profiler::Method` implements it for methods of a running program. A tool that reads assemblies
/// implements it for their rows.
///
/// Names of types, other than that of [`type_path`](Self::type_path), are in source form: `Shop.Cart<int>+Line[]`, with
/// the keywords of C# or full names for primitive types, and generic parameters by their names.
pub trait MethodFacts {
    /// The error of a fact that cannot be read.
    type Error;

    /// The simple name of the assembly: `Shop`.
    ///
    /// # Errors
    ///
    /// The fact cannot be read.
    fn assembly(&self) -> Result<Cow<'_, str>, Self::Error>;

    /// The declaring type, in the form of the metadata: ``Shop.Cart`1+Line``.
    ///
    /// # Errors
    ///
    /// The fact cannot be read.
    fn type_path(&self) -> Result<Cow<'_, str>, Self::Error>;

    /// The name of the method: `Add`, `.ctor`, `get_Count`.
    ///
    /// # Errors
    ///
    /// The fact cannot be read.
    fn method_name(&self) -> Result<Cow<'_, str>, Self::Error>;

    /// The accessibility of the method.
    ///
    /// # Errors
    ///
    /// The fact cannot be read.
    fn access(&self) -> Result<MemberAccess, Self::Error>;

    /// The types of the parameters, as declared: `T`, `int&`, `System.Collections.Generic.List<string>`.
    ///
    /// # Errors
    ///
    /// The fact cannot be read.
    fn parameters(&self) -> Result<Vec<String>, Self::Error>;

    /// The names of the generic parameters of the declaring type, those of its enclosing types first, or of
    /// the method.
    ///
    /// # Errors
    ///
    /// The fact cannot be read.
    fn generic_parameters(&self, of: GenericOwner) -> Result<Vec<String>, Self::Error>;

    /// The generic arguments of the instance; empty if they are not known.
    ///
    /// # Errors
    ///
    /// The fact cannot be read.
    fn generic_arguments(&self, of: GenericOwner) -> Result<Vec<String>, Self::Error>;

    /// The types of the custom attributes.
    ///
    /// # Errors
    ///
    /// The fact cannot be read.
    fn attributes(&self, of: AttributeOwner) -> Result<Vec<String>, Self::Error>;

    /// The base types of the declaring type.
    ///
    /// # Errors
    ///
    /// The fact cannot be read.
    fn base_types(&self) -> Result<Vec<String>, Self::Error>;

    /// The interfaces that the declaring type and its base types implement.
    ///
    /// # Errors
    ///
    /// The fact cannot be read.
    fn interfaces(&self) -> Result<Vec<String>, Self::Error>;
}

/// The item whose generic parameters are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GenericOwner {
    /// The declaring type.
    Type,
    /// The method.
    Method,
}

/// The item whose custom attributes are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AttributeOwner {
    /// The method: `[A]` or `[method: A]`.
    Method,
    /// The declaring type: `[type: A]`.
    Type,
    /// The assembly: `[assembly: A]`.
    Assembly,
}
