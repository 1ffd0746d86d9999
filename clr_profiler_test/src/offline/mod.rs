//! Edits of method bodies, run on the methods of an assembly file, without a runtime.
//!
//! Each body is decoded, edited, encoded and verified as `Method::rewrite` does it. References to other assemblies are
//! not followed: whether the members that symbols name exist, and whether inserted code may use them, is checked by a
//! runtime alone.

mod context;
mod module;
mod names;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use clr_metadata::Assembly;
use clr_metadata::rows::GenericParamRow;
use clr_profiler_il::attributes::GenericParamAttributes;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::metadata::{Importer, MetadataResolver, ResolutionCache, TokenCache};
use clr_profiler_il::signature::{MethodSig, TypeSig};
use clr_profiler_il::text::diff;
use clr_profiler_il::token::{MethodDef, Token};
use clr_profiler_il::verify::MethodContext;

use crate::{Error, Result};
use module::Module;

pub use context::{OfflineContext, OfflineProps};

/// An assembly file whose methods are edited in memory.
///
/// ```no_run
/// use clr_profiler_il::fragment::Fragment;
/// use clr_profiler_il::symbol::MethodSymbol;
/// use clr_profiler_test::AssemblyFile;
///
/// # fn main() -> Result<(), clr_profiler_test::Error> {
/// let log = MethodSymbol::new("[System.Console]System.Console", "WriteLine", "void (string)");
/// let edited = AssemblyFile::open("tests/App.dll")?.edit(|body, cx| {
///     body.prologue(Fragment::new().ldstr(cx.full_name()).call(&log))?;
///     Ok(())
/// });
/// edited.assert_valid();
/// println!("{}", edited.listing());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct AssemblyFile {
    name: String,
    bytes: Vec<u8>,
}

/// The results of an edit, one for each method that has IL.
#[derive(Debug, Clone)]
pub struct EditedAssembly {
    name: String,
    methods: Vec<EditedMethod>,
}

/// The result of an edit of one method.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EditedMethod {
    /// The full name, such as `Shop.Store.Sell(string, int)`.
    pub name: String,
    /// The method in the metadata of the file.
    pub token: MethodDef,
    /// The result.
    pub outcome: Outcome,
}

/// The result of an edit of a method.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Outcome {
    /// The new body is equal to the old one.
    Unchanged,
    /// The new body is valid.
    Changed {
        /// The difference as text. Tokens are shown as the names of their items.
        diff: String,
        /// The new body: header, code and exception clauses. Its tokens are those of the file, and added ones.
        bytes: Vec<u8>,
    },
    /// The edit returned this error, or the new body cannot be encoded. A profiler leaves the method as it is.
    Refused(String),
    /// The new body breaks a rule. `Method::rewrite` refuses it and leaves the method as it is.
    Invalid {
        /// Each violation with the instructions around it.
        violations: String,
        /// The whole new body.
        listing: String,
    },
}

impl AssemblyFile {
    /// Reads a file.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or if it is no .NET assembly.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let bytes = fs::read(path).map_err(Error::io("read", path))?;
        Self::from_bytes(&path.display().to_string(), bytes)
    }

    /// An assembly in memory, with a name for messages.
    ///
    /// # Errors
    ///
    /// If it is no .NET assembly.
    pub fn from_bytes(name: &str, bytes: Vec<u8>) -> Result<Self> {
        if let Err(error) = Assembly::parse(&bytes) {
            return Err(Error::new(format!(
                "`{name}` is no .NET assembly: {error}."
            )));
        }
        Ok(Self {
            name: name.to_owned(),
            bytes,
        })
    }

    /// Runs an edit on each method that has IL, in the order of their tokens.
    ///
    /// # Panics
    ///
    /// If the edit panics, or if the file has broken rows or bodies.
    pub fn edit(
        &self,
        mut edit: impl FnMut(&mut MethodBody, &mut OfflineContext<'_>) -> clr_profiler::Result<()>,
    ) -> EditedAssembly {
        let broken =
            |error: &dyn std::fmt::Display| -> ! { panic!("{} is broken: {error}", self.name) };
        let assembly = Assembly::parse(&self.bytes).unwrap_or_else(|error| broken(&error));
        let file = File {
            references: references(&assembly),
            module: Module::new(assembly.metadata.clone()),
            resolutions: ResolutionCache::default(),
            tokens: RefCell::default(),
        };
        let mut methods = Vec::new();
        for token in assembly.metadata.tokens::<MethodDef>() {
            let bytes = assembly.body(token).unwrap_or_else(|error| broken(&error));
            let Some(before) = bytes else { continue };
            let method = file.method(token).unwrap_or_else(|error| broken(&error));
            let name = method.name.clone();
            let outcome = file.edited(before, method, &mut edit);
            methods.push(EditedMethod {
                name,
                token,
                outcome: outcome.unwrap_or_else(|error| Outcome::Refused(error.to_string())),
            });
        }
        EditedAssembly {
            name: self.name.clone(),
            methods,
        }
    }
}

/// The parts of a file that all its methods share.
struct File<'a> {
    module: Module<'a>,
    resolutions: ResolutionCache,
    tokens: RefCell<TokenCache>,
    /// The generic parameters of a type or method that are constrained to reference types.
    references: BTreeMap<Token, Vec<u32>>,
}

fn references(assembly: &Assembly<'_>) -> BTreeMap<Token, Vec<u32>> {
    let mut references: BTreeMap<Token, Vec<u32>> = BTreeMap::new();
    for row in assembly.metadata.rows::<GenericParamRow>().flatten() {
        if row
            .attributes
            .contains(GenericParamAttributes::REFERENCE_TYPE_CONSTRAINT)
        {
            let numbers = references.entry(row.owner.token()).or_default();
            numbers.push(row.number.into());
        }
    }
    references
}

impl<'a> File<'a> {
    fn method(&'a self, token: MethodDef) -> clr_metadata::Result<OfflineContext<'a>> {
        let metadata = &self.module.metadata;
        let row = metadata.row(token)?;
        let class = metadata.method_owner(token)?;
        let signature: MethodSig = metadata.method_signature(token)?;
        Ok(OfflineContext {
            module: &self.module,
            resolver: self.resolver(),
            tokens: &self.tokens,
            token,
            name: names::method_name(&self.module, token, class, &signature),
            props: OfflineProps {
                class,
                name: metadata.string(row.name)?.to_owned(),
                attributes: row.attributes,
                implementation: row.implementation,
            },
            signature,
        })
    }

    fn resolver(&'a self) -> MetadataResolver<'a, Module<'a>> {
        MetadataResolver::new(&self.module, &self.resolutions)
    }

    fn edited(
        &'a self,
        before: &[u8],
        mut method: OfflineContext<'a>,
        edit: &mut impl FnMut(&mut MethodBody, &mut OfflineContext<'_>) -> clr_profiler::Result<()>,
    ) -> clr_profiler::Result<Outcome> {
        let mut body = MethodBody::decode(before).map_err(clr_profiler::Error::other)?;
        if body.locals_token().is_some() {
            body.resolve_locals(&self.resolver())?;
        }
        let original = body.clone();
        edit(&mut body, &mut method)?;
        let mut bytes = Vec::with_capacity(before.len() * 2);
        {
            let mut tokens = self.tokens.borrow_mut();
            body.encode(&mut Importer::new(&self.module, &mut tokens), &mut bytes)
                .map_err(|error| clr_profiler::Error::other(error.to_string()))?;
        }
        if bytes == before {
            return Ok(Outcome::Unchanged);
        }
        let new = MethodBody::decode(&bytes).map_err(clr_profiler::Error::other)?;
        let violations =
            new.verify_changes(before, &self.verified(&method).context(), &self.resolver());
        if violations.is_empty() {
            let diff = diff(&original, &body).context(2).to_string();
            let diff = names::named(&self.module, &diff);
            return Ok(Outcome::Changed { diff, bytes });
        }
        let shown: Vec<String> = violations
            .iter()
            .map(|violation| violation.display(&new).to_string())
            .collect();
        Ok(Outcome::Invalid {
            violations: names::named(&self.module, &shown.concat()),
            listing: names::named(&self.module, &new.to_string()),
        })
    }

    /// The method as the verifier sees it.
    fn verified(&self, method: &OfflineContext<'_>) -> Verified {
        let mut signature = method.signature.clone();
        let implementation = method.props.implementation;
        if let Some(effective) = method.signature.effective_return_type(implementation) {
            signature.return_type = effective.clone();
        }
        let numbers = |token: Token| self.references.get(&token).into_iter().flatten().copied();
        let of_type = numbers(method.props.class.token()).map(TypeSig::Var);
        let of_method = numbers(method.token.token()).map(TypeSig::MVar);
        Verified {
            signature,
            this_is_pointer: method.resolver.is_in_value_type(method.props.class.into()),
            references: of_type.chain(of_method).collect(),
        }
    }
}

struct Verified {
    signature: MethodSig,
    this_is_pointer: bool,
    references: Vec<TypeSig>,
}

impl Verified {
    fn context(&self) -> MethodContext<'_> {
        MethodContext {
            signature: &self.signature,
            this_is_pointer: self.this_is_pointer,
            references: &self.references,
        }
    }
}

impl EditedAssembly {
    /// The results, in the order of the tokens.
    #[must_use]
    pub fn methods(&self) -> &[EditedMethod] {
        &self.methods
    }

    /// The result for the method with this full name, such as `Shop.Store.Sell(string, int)`.
    ///
    /// # Panics
    ///
    /// If the assembly has none; the message has the names of its methods.
    #[must_use]
    pub fn method(&self, name: &str) -> &EditedMethod {
        let found = self.methods.iter().find(|method| method.name == name);
        found.unwrap_or_else(|| {
            let names: Vec<&str> = self.methods.iter().map(|method| &method.name[..]).collect();
            panic!(
                "{} has no method {name}, but:\n{}",
                self.name,
                names.join("\n")
            )
        })
    }

    /// The methods that were changed.
    pub fn changed(&self) -> impl Iterator<Item = &EditedMethod> {
        self.methods
            .iter()
            .filter(|method| matches!(method.outcome, Outcome::Changed { .. }))
    }

    /// The methods for which the edit returned an error, with the error.
    pub fn refused(&self) -> impl Iterator<Item = (&EditedMethod, &str)> {
        self.methods
            .iter()
            .filter_map(|method| match &method.outcome {
                Outcome::Refused(reason) => Some((method, &reason[..])),
                _ => None,
            })
    }

    /// Asserts that each new body is valid. Refusals are no violations.
    ///
    /// # Panics
    ///
    /// If one is not; the message has the violations and their listings.
    pub fn assert_valid(&self) {
        let mut text = String::new();
        for method in &self.methods {
            if let Outcome::Invalid { violations, .. } = &method.outcome {
                // Writing to a `String` cannot fail.
                let _ = write!(text, "\n{}\n{violations}", method.name);
            }
        }
        assert!(
            text.is_empty(),
            "the edit of {} breaks rules:{text}",
            self.name
        );
    }

    /// The results as text, for [`snapshot`](crate::snapshot): the differences of changed bodies, the reasons of
    /// refusals, and violations, by the names of the methods. Unchanged methods are left out.
    #[must_use]
    pub fn listing(&self) -> String {
        let mut text = String::new();
        for EditedMethod { name, outcome, .. } in &self.methods {
            // Writing to a `String` cannot fail.
            let _ = match outcome {
                Outcome::Unchanged => Ok(()),
                Outcome::Changed { diff, .. } => writeln!(text, "== {name}\n{diff}"),
                Outcome::Refused(reason) => writeln!(text, "== {name}\nrefused: {reason}\n"),
                Outcome::Invalid { violations, .. } => {
                    writeln!(text, "== {name}\ninvalid:\n{violations}")
                }
            };
        }
        text
    }
}
