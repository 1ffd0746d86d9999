//! Names of methods and of the operands that are tokens, in the forms of source and of symbols.

use std::fmt::{self, Write};

use clr_metadata::rows::GenericParamRow;
use clr_profiler_il::metadata::Tables;
use clr_profiler_il::signature::{
    FieldSig, MethodSig, MethodSpecSig, TypeNames, TypeSig, TypeSpecSig,
};
use clr_profiler_il::token::{MethodDef, Token, TokenTable, TypeDef, TypeToken};

use super::module::Module;

/// Names in the form of source, as a profiler sees them: `Shop.Store+Item`.
struct SourceNames<'m, 'a> {
    module: &'m Module<'a>,
    type_parameters: Vec<String>,
    method_parameters: Vec<String>,
}

/// The name of a method with its type and the types of its parameters, as `RewriteContext::full_name` has it.
pub(super) fn method_name(
    module: &Module<'_>,
    method: MethodDef,
    class: TypeDef,
    signature: &MethodSig,
) -> String {
    let names = SourceNames {
        module,
        type_parameters: parameters(module, class.token()),
        method_parameters: parameters(module, method.token()),
    };
    let mut name = String::new();
    // `<Module>` is the type of global members.
    if class.row() != 1 {
        name = type_path(module, class.token());
        push_list(&mut name, ('<', '>'), &names.type_parameters);
        name.push('.');
    }
    name += module.metadata.member_name(method).unwrap_or_default();
    push_list(&mut name, ('<', '>'), &names.method_parameters);
    let types: Vec<String> = (signature.params.iter())
        .map(|parameter| parameter.display(&names).to_string())
        .collect();
    name.push('(');
    name += &types.join(", ");
    name.push(')');
    name
}

fn push_list(name: &mut String, (open, close): (char, char), parts: &[String]) {
    if !parts.is_empty() {
        name.push(open);
        name.push_str(&parts.join(", "));
        name.push(close);
    }
}

/// The names of the generic parameters of a type or method.
fn parameters(module: &Module<'_>, owner: Token) -> Vec<String> {
    let rows = module.metadata.rows::<GenericParamRow>().flatten();
    rows.filter(|row| row.owner.token() == owner)
        .filter_map(|row| Some(module.metadata.string(row.name).ok()?.to_owned()))
        .collect()
}

/// The name of a type with those that enclose it, without the numbers of generic parameters.
fn type_path(module: &Module<'_>, token: Token) -> String {
    let Some((name, scope)) = module.type_name(token) else {
        return token.to_string();
    };
    let name = name.split('`').next().unwrap_or(&name).to_owned();
    let outer = match TypeToken::try_from(token) {
        Ok(TypeToken::Def(class)) => module.metadata.enclosing_type(class).map(|it| it.token()),
        _ => (scope.table() == TokenTable::TYPE_REF).then_some(scope),
    };
    match outer {
        Some(outer) if outer != token => format!("{}+{name}", type_path(module, outer)),
        _ => name,
    }
}

impl TypeNames for SourceNames<'_, '_> {
    fn type_name(&self, token: TypeToken, out: &mut dyn Write) -> fmt::Result {
        out.write_str(&type_path(self.module, token.token()))
    }

    fn type_parameter(&self, index: u32, out: &mut dyn Write) -> fmt::Result {
        match self.type_parameters.get(index as usize) {
            Some(name) => out.write_str(name),
            None => write!(out, "!{index}"),
        }
    }

    fn method_parameter(&self, index: u32, out: &mut dyn Write) -> fmt::Result {
        match self.method_parameters.get(index as usize) {
            Some(name) => out.write_str(name),
            None => write!(out, "!!{index}"),
        }
    }
}

/// Names in the form of symbols: `[System.Runtime]System.Object`.
struct SymbolNames<'m, 'a>(&'m Module<'a>);

impl TypeNames for SymbolNames<'_, '_> {
    fn type_name(&self, token: TypeToken, out: &mut dyn Write) -> fmt::Result {
        out.write_str(&symbol_type(self.0, token.token()))
    }
}

fn symbol_type(module: &Module<'_>, token: Token) -> String {
    let spec = |blob: Vec<u8>| TypeSpecSig::parse(&blob).ok().map(|it| it.type_sig);
    if token.table() == TokenTable::TYPE_SPEC {
        let known = module.type_spec(token).and_then(spec);
        return known.map_or_else(|| token.to_string(), |known| symbol_sig(module, &known));
    }
    let Some((name, scope)) = module.type_name(token) else {
        return token.to_string();
    };
    match TypeToken::try_from(token) {
        Ok(TypeToken::Def(class)) => {
            let full = module.metadata.full_name(class.into());
            full.unwrap_or(name)
        }
        _ if scope.table() == TokenTable::TYPE_REF && scope != token => {
            format!("{}/{name}", symbol_type(module, scope))
        }
        _ => match module.assembly(scope) {
            Some(assembly) if scope.table() == TokenTable::ASSEMBLY_REF => {
                format!("[{assembly}]{name}")
            }
            _ => name,
        },
    }
}

fn symbol_sig(module: &Module<'_>, sig: &TypeSig) -> String {
    sig.display(&SymbolNames(module)).to_string()
}

/// The meaning of a token in a listing; `None` if it has none.
pub(super) fn operand(module: &Module<'_>, token: Token) -> Option<String> {
    Some(match token.table() {
        TokenTable::TYPE_DEF | TokenTable::TYPE_REF | TokenTable::TYPE_SPEC => {
            symbol_type(module, token)
        }
        TokenTable::METHOD_DEF | TokenTable::FIELD_DEF | TokenTable::MEMBER_REF => {
            let member = module.member(token)?;
            let owner = symbol_type(module, member.parent);
            let names = SymbolNames(module);
            if let Ok(field) = FieldSig::parse(&member.signature) {
                return Some(format!(
                    "{} {owner}::{}",
                    field.field_type.display(&names),
                    member.name
                ));
            }
            let method = MethodSig::parse(&member.signature).ok()?;
            let instance = if method.has_this { "instance " } else { "" };
            let types: Vec<String> = (method.params.iter())
                .map(|parameter| parameter.display(&names).to_string())
                .collect();
            format!(
                "{instance}{} {owner}::{}({})",
                method.return_type.display(&names),
                member.name,
                types.join(", ")
            )
        }
        TokenTable::METHOD_SPEC => {
            let (method, blob) = module.method_spec(token)?;
            let arguments = MethodSpecSig::parse(&blob).ok()?.arguments;
            let arguments: Vec<String> =
                arguments.iter().map(|it| symbol_sig(module, it)).collect();
            format!("{}<{}>", operand(module, method)?, arguments.join(", "))
        }
        _ if token.raw() >> 24 == 0x70 => format!("{:?}", module.user_string(token)?),
        _ => return None,
    })
}

/// A listing in which tokens have their meaning instead of their numbers, which change whenever the file is compiled.
pub(super) fn named(module: &Module<'_>, listing: &str) -> String {
    let mut named = String::with_capacity(listing.len());
    let mut rest = listing;
    while let Some(at) = rest.find("0x") {
        let (before, after) = rest.split_at(at);
        named += before;
        let number = after.get(2..10);
        let number = number.filter(|digits| digits.bytes().all(|it| it.is_ascii_hexdigit()));
        let is_longer = after.as_bytes().get(10).is_some_and(u8::is_ascii_hexdigit);
        let token = number
            .filter(|_| !is_longer)
            .and_then(|digits| u32::from_str_radix(digits, 16).ok());
        match token.and_then(|raw| operand(module, Token::new(raw))) {
            Some(name) => {
                named += &name;
                rest = &after[10..];
            }
            None => {
                named += "0x";
                rest = &after[2..];
            }
        }
    }
    named + rest
}
