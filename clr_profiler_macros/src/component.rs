//! The expansion of `#[component]`.

use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::Parser;
use syn::{Error, ImplItem, Item, Path, Result};

use crate::callbacks::{CALLBACKS, LIFECYCLE};
use crate::profiler::{check_name, is_of, names, overridden, place_of};

/// The methods of the trait `Component` that are not callbacks.
const OWN: &[&str] = &[
    "name",
    "callbacks",
    "events",
    "order",
    "panic_limit",
    "attach",
    "start",
    "shutdown",
];

pub(crate) fn expand(arguments: TokenStream, item: TokenStream) -> TokenStream {
    let clr_profiler = path(arguments);
    let mut implementation = match syn::parse2::<Item>(item) {
        Ok(Item::Impl(implementation)) if is_of(&implementation, "Component") => implementation,
        // The item is kept, so that one mistake is one error.
        Ok(other) => {
            let mut problem = Error::new(
                place_of(&other),
                "`#[component]` belongs on an `impl Component for ...`",
            );
            problem.extend(clr_profiler.err());
            let problem = problem.into_compile_error();
            return quote!(#problem #other);
        }
        Err(mut problem) => {
            problem.extend(clr_profiler.err());
            return problem.into_compile_error();
        }
    };
    let mut problems: Vec<Error> = clr_profiler.as_ref().err().cloned().into_iter().collect();
    let clr_profiler = clr_profiler.unwrap_or_else(|_| syn::parse_quote!(::clr_profiler));
    implementation.items.retain(|item| match item {
        ImplItem::Fn(function) => {
            let known = CALLBACKS.iter().filter(|name| !LIFECYCLE.contains(name));
            let known: Vec<&str> = known.chain(OWN).copied().collect();
            let problem = check_name(&function.sig.ident, &known, "Component");
            let is_right = problem.is_none();
            problems.extend(problem);
            is_right
        }
        _ => true,
    });
    if !names(&implementation).any(|(name, _)| name == "callbacks") {
        let callbacks = overridden(&implementation, &quote!(#clr_profiler::__private), OWN);
        implementation.items.push(syn::parse_quote! {
            fn callbacks(&self) -> #clr_profiler::events::CallbackSet { #callbacks }
        });
    }
    let problems = problems.into_iter().map(Error::into_compile_error);
    quote!(#(#problems)* #implementation)
}

/// The path of the crate.
fn path(arguments: TokenStream) -> Result<Path> {
    let mut clr_profiler = None;
    let parser = syn::meta::parser(|meta| {
        if meta.path.is_ident("crate") {
            clr_profiler = Some(meta.value()?.call(Path::parse_mod_style)?);
            Ok(())
        } else {
            Err(meta.error("`#[component]` takes nothing but `crate`, where `clr_profiler` is"))
        }
    });
    parser.parse2(arguments)?;
    Ok(clr_profiler.unwrap_or_else(|| syn::parse_quote!(::clr_profiler)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_callbacks_are_those_that_are_written() {
        let text = expand(
            quote!(),
            quote! {
                impl<T> Component for C<T> {
                    fn shutdown(&self) {}
                    fn jit_inlining(&self) {}
                }
            },
        );
        let text = text.to_string();
        assert!(text.contains("with (\"jit_inlining\")"), "{text}");
        assert!(!text.contains("with (\"shutdown\")"), "{text}");
    }

    #[test]
    fn callbacks_by_hand_stay() {
        let item = quote! {
            impl Component for C {
                fn callbacks(&self) -> CallbackSet {
                    CallbackSet::EMPTY
                }
            }
        };
        let text = expand(quote!(), item).to_string();
        assert_eq!(text.matches("fn callbacks").count(), 1, "{text}");
    }

    #[test]
    fn mistakes_are_named() {
        let text = expand(
            quote!(clsid = "1"),
            quote! {
                impl Component for C {
                    fn initialize() {}
                    fn jit_inlinig(&self) {}
                }
            },
        );
        let text = text.to_string();
        assert!(text.contains("takes nothing but `crate`"), "{text}");
        assert!(text.contains("`initialize` is not a callback"), "{text}");
        assert!(text.contains("did you mean `jit_inlining`?"), "{text}");
        let text = expand(quote!(), quote!(impl Profiler for P {})).to_string();
        assert!(text.contains("belongs on an `impl Component"), "{text}");
    }
}
