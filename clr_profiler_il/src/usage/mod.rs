//! The types and members that inserted code uses, by token: a JIT checks access to each of them
//! (see [`Accessibility`](crate::access::Accessibility)).

#[cfg(test)]
mod tests;

use crate::body::MethodBody;
use crate::instruction::Operand;
use crate::metadata::{Member, Tables};
use crate::opcode::Opcode;
use crate::signature::{MethodSpecSig, TypeSig, TypeSpecSig};
use crate::symbol::{Reference, Symbol, TokenSource};
use crate::token::{Token, TokenTable, TypeToken};

/// The maximum number of `TypeSpec`s that one name leads to: in hostile metadata they can refer to
/// each other.
const SPEC_LIMIT: usize = 64;

/// The types and members that inserted code uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Usage {
    /// Types, methods and fields.
    pub names: Vec<Token>,
    /// The constructors of `newobj`.
    pub constructors: Vec<Token>,
}

impl Usage {
    /// Collects the tokens of the code that was inserted into a body. The body must have been
    /// encoded, so that all symbols have tokens.
    ///
    /// # Errors
    ///
    /// The error of the token source.
    pub fn of<S: TokenSource>(body: &MethodBody, tokens: &mut S) -> Result<Self, S::Error> {
        let mut used = Self::default();
        for instruction in body.inserted_code() {
            let opcode = instruction.opcode();
            let Operand::Reference(reference) = instruction.operand() else {
                continue;
            };
            if !opcode.checks_access() {
                continue;
            }
            let token = match reference {
                Reference::Token(token) => token,
                Reference::Symbol(Symbol::Method(method)) => tokens.method(method)?,
                Reference::Symbol(Symbol::Field(field)) => tokens.field(field)?,
                Reference::Symbol(Symbol::Type(class)) => tokens.type_token(class)?,
                Reference::Symbol(_) => continue,
            };
            if opcode == Opcode::Newobj {
                used.constructors.push(token);
            }
            used.names.push(token);
        }
        Ok(used)
    }
}

/// A type or member that a token refers to, with an accessibility of its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AccessTarget {
    /// A type: a `TypeDef` or a `TypeRef`.
    Class(TypeToken),
    /// A method or field.
    Member {
        /// A `MethodDef`, `FieldDef` or `MemberRef`.
        token: Token,
        /// The type that it is looked up in: its parent.
        class: TypeToken,
        /// Its row.
        member: Member,
    },
}

impl AccessTarget {
    /// The targets of a token: a member follows the type that it is looked up in, and generic
    /// arguments are last. Unresolvable parts are omitted.
    #[must_use]
    pub fn of(tables: &impl Tables, name: Token) -> Vec<Self> {
        let mut parts = Parts {
            tables,
            all: Vec::new(),
            specs_left: SPEC_LIMIT,
        };
        parts.name(name);
        parts.all
    }
}

/// Collects targets.
struct Parts<'a, T> {
    tables: &'a T,
    all: Vec<AccessTarget>,
    specs_left: usize,
}

impl<T: Tables> Parts<'_, T> {
    fn name(&mut self, name: Token) {
        match name.table() {
            TokenTable::METHOD_SPEC => {
                let Some((generic, arguments)) = self.tables.method_spec(name) else {
                    return;
                };
                self.member(generic);
                if let Ok(arguments) = MethodSpecSig::parse(&arguments) {
                    self.signatures(&arguments.arguments);
                }
            }
            TokenTable::METHOD_DEF | TokenTable::FIELD_DEF | TokenTable::MEMBER_REF => {
                self.member(name);
            }
            _ => {
                if let Ok(class) = TypeToken::try_from(name) {
                    self.class(class);
                }
            }
        }
    }

    fn member(&mut self, token: Token) {
        if let Some(member) = self.tables.member(token)
            && let Ok(class) = TypeToken::try_from(member.parent)
        {
            self.class(class);
            self.all.push(AccessTarget::Member {
                token,
                class,
                member,
            });
        }
    }

    fn class(&mut self, class: TypeToken) {
        let TypeToken::Spec(_) = class else {
            self.all.push(AccessTarget::Class(class));
            return;
        };
        if let Some(left) = self.specs_left.checked_sub(1)
            && let Some(blob) = self.tables.type_spec(class.token())
            && let Ok(read) = TypeSpecSig::parse(&blob)
        {
            self.specs_left = left;
            self.signature(&read.type_sig);
        }
    }

    fn signatures(&mut self, signatures: &[TypeSig]) {
        for signature in signatures {
            self.signature(signature);
        }
    }

    /// Adds the types that a type consists of.
    fn signature(&mut self, signature: &TypeSig) {
        match signature {
            TypeSig::Class(class) | TypeSig::ValueType(class) => self.class(*class),
            TypeSig::GenericInstance {
                definition,
                arguments,
                ..
            } => {
                self.class(*definition);
                self.signatures(arguments);
            }
            TypeSig::SzArray(inner) | TypeSig::ByRef(inner) | TypeSig::Pointer(inner) => {
                self.signature(inner);
            }
            _ => {}
        }
    }
}
