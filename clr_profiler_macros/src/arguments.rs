//! The arguments of `#[profiler(...)]`.

use proc_macro2::{Span, TokenStream};
use quote::{ToTokens, quote};
use syn::parse::Parser;
use syn::{Error, Expr, ExprLit, Lit, LitStr, Path, Result};

/// The parsed arguments of `#[profiler(...)]`.
pub(crate) struct Arguments {
    /// The class id.
    pub(crate) clsid: ClassId,
    /// The path of the crate `clr_profiler`.
    pub(crate) clr_profiler: Path,
}

/// A class id.
pub(crate) enum ClassId {
    /// As the number that `Uuid::from_u128` takes.
    Number(u128),
    /// As an expression of type `Uuid`.
    Expression(Expr),
}

impl ClassId {
    /// An expression of type `Uuid`, from this module of `clr_profiler`.
    pub(crate) fn uuid(&self, private: &TokenStream) -> TokenStream {
        match self {
            Self::Number(number) => quote!(#private::Uuid::from_u128(#number)),
            Self::Expression(expression) => expression.to_token_stream(),
        }
    }
}

const USAGE: &str = "write `#[profiler(clsid = \"00000000-0000-0000-0000-000000000000\")]` with a \
                     GUID of your own, such as `uuidgen` makes";

impl Arguments {
    pub(crate) fn parse(tokens: TokenStream) -> Result<Self> {
        if let Ok(literal) = syn::parse2::<Lit>(tokens.clone()) {
            return Err(Error::new(
                literal.span(),
                format!("the class id has to be named: {USAGE}"),
            ));
        }
        let mut clsid = None;
        let mut clr_profiler = None;
        let parser = syn::meta::parser(|meta| {
            if meta.path.is_ident("clsid") {
                let mut value = meta.value()?.parse()?;
                // An expression that comes from a macro of the user.
                while let Expr::Group(group) = value {
                    value = *group.expr;
                }
                clsid = Some(match value {
                    Expr::Lit(ExprLit {
                        lit: Lit::Str(text),
                        ..
                    }) => ClassId::Number(guid(&text)?),
                    Expr::Lit(literal) => {
                        let problem = format!("the class id is a string: {USAGE}");
                        return Err(Error::new_spanned(literal, problem));
                    }
                    expression => ClassId::Expression(expression),
                });
                Ok(())
            } else if meta.path.is_ident("crate") {
                clr_profiler = Some(meta.value()?.call(Path::parse_mod_style)?);
                Ok(())
            } else {
                Err(meta.error(format!("`#[profiler]` takes `clsid` and `crate`: {USAGE}")))
            }
        });
        parser.parse2(tokens)?;
        Ok(Self {
            clsid: clsid.ok_or_else(|| {
                Error::new(
                    Span::call_site(),
                    format!("the class id is missing: {USAGE}"),
                )
            })?,
            clr_profiler: clr_profiler.unwrap_or_else(|| syn::parse_quote!(::clr_profiler)),
        })
    }
}

/// A GUID in its usual form, with or without braces.
fn guid(text: &LitStr) -> Result<u128> {
    let value = text.value();
    let wrong = |problem: &str| {
        let form = "a GUID reads 8-4-4-4-12 hexadecimal digits, such as \
                    \"DF63A541-5A33-4611-8829-F4E495985EE3\"";
        Err(Error::new(
            text.span(),
            format!("`{value}` is not a class id: {problem}; {form}"),
        ))
    };
    let bare = value
        .strip_prefix('{')
        .and_then(|inner| inner.strip_suffix('}'));
    let groups: Vec<&str> = bare.unwrap_or(&value).split('-').collect();
    if let Some(bad) = groups.concat().chars().find(|c| !c.is_ascii_hexdigit()) {
        return wrong(&format!("`{bad}` is not a hexadecimal digit"));
    }
    if groups.iter().map(|group| group.len()).ne([8, 4, 4, 4, 12]) {
        return wrong("its groups of digits have the wrong lengths");
    }
    match u128::from_str_radix(&groups.concat(), 16) {
        Ok(0) => wrong("it is all zeros, which no class may have"),
        Ok(number) => Ok(number),
        Err(error) => wrong(&error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use quote::quote;

    fn error_of(tokens: TokenStream) -> String {
        Arguments::parse(tokens)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn a_guid_with_and_without_braces() {
        for text in [
            "DF63A541-5A33-4611-8829-F4E495985EE3",
            "{df63a541-5a33-4611-8829-f4e495985ee3}",
        ] {
            let arguments = Arguments::parse(quote!(clsid = #text)).unwrap();
            let ClassId::Number(number) = arguments.clsid else {
                panic!("{text} is a number");
            };
            assert_eq!(number, 0xDF63A541_5A33_4611_8829_F4E495985EE3);
        }
    }

    #[test]
    fn a_constant_is_a_class_id() {
        let arguments = Arguments::parse(quote!(clsid = names::PROFILER)).unwrap();
        let uuid = arguments.clsid.uuid(&quote!(private));
        assert_eq!(uuid.to_string(), "names :: PROFILER");
    }

    #[test]
    fn mistakes_are_named() {
        assert!(error_of(quote!()).contains("class id is missing"));
        assert!(error_of(quote!(guid = "x")).contains("takes `clsid` and `crate`"));
        assert!(error_of(quote!("x")).contains("has to be named"));
        assert!(error_of(quote!(clsid = 7)).contains("is a string"));
        assert!(
            error_of(quote!(clsid = "DF63A541-5A33-4611-8829-F4E495985EG3")).contains("`G` is not")
        );
        assert!(error_of(quote!(clsid = "DF63A541-5A33-4611-8829")).contains("wrong lengths"));
        let zeros = "00000000-0000-0000-0000-000000000000";
        assert!(error_of(quote!(clsid = #zeros)).contains("all zeros"));
    }
}
