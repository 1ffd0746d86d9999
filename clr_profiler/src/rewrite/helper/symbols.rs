//! Symbols for the methods of a helper, checked before anything is rewritten.

use std::borrow::Cow;
use std::fmt;

use super::{HelperAssembly, Source};
use crate::error::{Error, Result};
use clr_metadata::{Assembly, Metadata};
use clr_profiler_il::signature::{TypeKeyword, TypeNames};
use clr_profiler_il::symbol::MethodSymbol;
use clr_profiler_il::token::{TypeDef, TypeRef, TypeToken};

impl HelperAssembly {
    /// A symbol for a method of the helper, which must exist: for `initialize`, so that a mistake in a name is noticed
    /// before any method is rewritten.
    ///
    /// The type is named without its assembly, `Logging.Logger`, and the signature as in [`MethodSymbol::new`].
    ///
    /// # Errors
    ///
    /// A mistake in the signature; that the helper has no such type, or no method of that name and signature: then the error
    /// lists those of the same name.
    ///
    /// ```no_run
    /// use clr_profiler::rewrite::HelperAssembly;
    ///
    /// # fn initialize() -> clr_profiler::Result<()> {
    /// let helper = HelperAssembly::open("/opt/tracer/Helper.dll")?;
    /// let enter = helper.method("Logger", "Enter", "void (string)")?;
    /// assert_eq!(enter.to_string(), "void [Helper]Logger::Enter(string)");
    /// # Ok(())
    /// # }
    /// ```
    pub fn method(&self, class: &str, name: &str, signature: &str) -> Result<MethodSymbol> {
        let assembly = &self.props.name;
        let symbol = MethodSymbol::new(&format!("[{assembly}]{class}"), name, signature);
        let wanted = signature_text(&symbol)?;
        let bytes = match &self.source {
            Source::File(path) => Cow::Owned(std::fs::read(path)?),
            Source::Memory(bytes) => Cow::Borrowed(*bytes),
        };
        let parsed = Assembly::parse(&bytes).map_err(Error::other)?;
        let metadata = parsed.metadata;
        let found = metadata.find_type(class).ok_or_else(|| {
            Error::other(format!(
                "the helper assembly {assembly} has no type {class}"
            ))
        })?;
        let others = match find_methods(&metadata, found, name, &wanted).map_err(Error::other)? {
            FoundMethods::One => return Ok(symbol),
            FoundMethods::Others(others) => others,
        };
        Err(Error::other(match others.is_empty() {
            true => {
                format!("the type {class} of the helper assembly {assembly} has no method {name}")
            }
            false => format!(
                "the method {name} of {class} in the helper assembly {assembly} is not `{wanted}` but {}",
                others.join(" or ")
            ),
        }))
    }
}

/// The result of a search for a method by its name and signature.
pub(in crate::rewrite) enum FoundMethods {
    One,
    /// Only the name was found, with these signatures.
    Others(Vec<String>),
}

/// Searches the methods that a type declares.
pub(in crate::rewrite) fn find_methods(
    metadata: &Metadata<'_>,
    class: TypeDef,
    name: &str,
    wanted: &str,
) -> Result<FoundMethods, clr_metadata::Error> {
    let mut others = Vec::new();
    for method in metadata.methods(class) {
        if metadata.member_name(method)? != name {
            continue;
        }
        let sig = metadata.method_signature(method)?;
        let text = sig.text(&Declared(metadata)).to_string();
        if text == wanted {
            return Ok(FoundMethods::One);
        }
        others.push(format!("`{text}`"));
    }
    Ok(FoundMethods::Others(others))
}

/// The signature of a symbol with the names of types alone, without their assemblies.
pub(in crate::rewrite) fn signature_text(symbol: &MethodSymbol) -> Result<String> {
    let mut types = Vec::new();
    let sig = symbol.sig(&mut |name: &str, _: TypeKeyword| number(&mut types, name));
    let sig = sig.map_err(|error| Error::other(format!("`{}`: {error}", symbol.signature)))?;
    Ok(sig.text(&Named(&types)).to_string())
}

/// A token that stands for a name.
fn number(types: &mut Vec<String>, name: &str) -> Option<TypeToken> {
    // The same type can be referred to in a facade, and in the assembly that defines it.
    let name = match name.split_once(']') {
        Some((assembly, name)) if assembly.starts_with('[') => name,
        _ => name,
    };
    types.push(name.to_owned());
    let row = u32::try_from(types.len()).ok()?;
    TypeRef::from_row(row).map(TypeToken::Ref)
}

/// The names by their numbers.
struct Named<'a>(&'a [String]);

impl TypeNames for Named<'_> {
    fn type_name(&self, token: TypeToken, out: &mut dyn fmt::Write) -> fmt::Result {
        let row = match token {
            TypeToken::Ref(of) => of.row() as usize,
            _ => 0,
        };
        let name = row.checked_sub(1).and_then(|index| self.0.get(index));
        out.write_str(name.map_or("?", String::as_str))
    }
}

/// The names in the helper's metadata.
pub(in crate::rewrite) struct Declared<'a>(pub(in crate::rewrite) &'a Metadata<'a>);

impl TypeNames for Declared<'_> {
    fn type_name(&self, token: TypeToken, out: &mut dyn fmt::Write) -> fmt::Result {
        match self.0.full_name(token) {
            Ok(name) => out.write_str(&name),
            Err(_) => out.write_str("?"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn helper() -> HelperAssembly {
        let file = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../tests/profilees/helper/Helper.dll"
        );
        HelperAssembly::open(file).unwrap()
    }

    #[test]
    fn a_method_of_the_helper_is_found_by_its_signature() {
        let helper = helper();
        let enter = helper.method("Logger", "Enter", "void (string)").unwrap();
        assert_eq!(
            enter,
            MethodSymbol::new("[Helper]Logger", "Enter", "void (string)")
        );
        assert!(helper.method("Logger", "Look", "int (object)").is_ok());
        assert!(helper.method("Logger", "Look", "int32 (object)").is_ok());
    }

    #[test]
    fn a_mistake_is_named() {
        let helper = helper();
        for (class, name, signature, expected) in [
            ("Logger", "Enter", "void (string", "`void (string`: "),
            (
                "Lugger",
                "Enter",
                "void (string)",
                "the helper assembly Helper has no type Lugger",
            ),
            (
                "Logger",
                "Entre",
                "void (string)",
                "the type Logger of the helper assembly Helper has no method Entre",
            ),
            (
                "Logger",
                "Enter",
                "void (object)",
                "the method Enter of Logger in the helper assembly Helper is not `void (object)` but \
                 `void (string)`",
            ),
            (
                "Logger",
                "Enter",
                "instance void (string)",
                "the method Enter of Logger in the helper assembly Helper is not `instance void (string)` but \
                 `void (string)`",
            ),
        ] {
            let error = helper
                .method(class, name, signature)
                .unwrap_err()
                .to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
