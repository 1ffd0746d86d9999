//! Every method body of every assembly of the runtimes is verified with the kinds of its values, as
//! it is and with code before and after it; and the depth of its stack is computed and compared with
//! the declared one.

#[path = "corpus/files.rs"]
mod files;

use std::collections::BTreeMap;

use assembly_reader::{Assembly, Framework, Method, Tokens};
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::signature::{MethodSig, TypeSig};
use clr_profiler_il::verify::MethodContext;
use examples_support::Pinned;

/// What came of the bodies of a runtime.
#[derive(Debug, Default, PartialEq, Eq)]
struct Figures {
    bodies: usize,
    /// Those with a fat header, which declares a depth.
    fat: usize,
    /// Of these, those of which the computed depth is the declared one.
    exact: usize,
    /// Violations.
    violations: usize,
}

/// Whether a type's methods take a pointer as `this`.
fn is_value_type(owner: &TypeSig) -> bool {
    !matches!(
        owner,
        TypeSig::Class(_)
            | TypeSig::Object
            | TypeSig::String
            | TypeSig::GenericInstance {
                is_value_type: false,
                ..
            }
    )
}

struct Checked<'a> {
    name: &'a str,
    tokens: Tokens<'a, 'a>,
    figures: &'a mut Figures,
    problems: &'a mut BTreeMap<String, Vec<String>>,
}

impl Checked<'_> {
    fn method(&mut self, method: &Method<'_>) {
        let Some(bytes) = method.body else { return };
        self.figures.bodies += 1;
        let signature = MethodSig::parse(method.signature).expect("a signature");
        let owner = self.tokens.owner(method.token).expect("a type");
        let references = self.tokens.references(method.token);
        let context = MethodContext {
            references: &references,
            signature: &signature,
            this_is_pointer: is_value_type(&owner),
        };
        let mut body = MethodBody::decode(bytes).expect("a body");
        self.verify(&body, &context, method, "");
        let mut nothing = Fragment::new();
        nothing.ldc_i4(7).pop();
        if body.prologue(&nothing).is_ok() && body.before_ret(&nothing).is_ok() {
            self.verify(&body, &context, method, "edited ");
        }
    }

    fn verify(
        &mut self,
        body: &MethodBody,
        context: &MethodContext<'_>,
        method: &Method<'_>,
        state: &str,
    ) {
        let violations = body.verify(context, &self.tokens);
        self.figures.violations += violations.len();
        if let Some(violation) = violations.first() {
            let kind = format!("{state}{}", violation.rule);
            let text = format!(
                "{} {} {}\n{}",
                self.name,
                method.token,
                method.name,
                violation.display(body)
            );
            self.problems.entry(kind).or_default().push(text);
        }
    }
}

fn check(pinned: &Pinned) {
    let Some(files) = files::assemblies(pinned) else {
        return;
    };
    let open = |(name, bytes): &'_ (String, Vec<u8>)| match Assembly::open(bytes) {
        Ok(_) => {}
        Err(error) => panic!("{name}: {error}"),
    };
    files.iter().for_each(open);
    let assemblies = files
        .iter()
        .filter_map(|(_, bytes)| Assembly::open(bytes).ok());
    let framework = Framework::new(assemblies.collect());
    let mut figures = Figures::default();
    let mut problems = BTreeMap::new();
    for (index, (name, _)) in files.iter().enumerate() {
        let assembly = framework.get(index).expect("an assembly");
        let mut checked = Checked {
            name,
            tokens: framework.tokens(index).expect("an assembly"),
            figures: &mut figures,
            problems: &mut problems,
        };
        for method in assembly.methods() {
            checked.method(&method.expect("a method"));
        }
    }
    println!("{}: {figures:?}", pinned.name);
    let mut by_count: Vec<_> = problems.iter().collect();
    by_count.sort_by_key(|(_, of)| std::cmp::Reverse(of.len()));
    for (kind, of) in &by_count {
        println!("{:6} {kind}", of.len());
    }
    for (kind, of) in &by_count {
        println!("== {kind}");
        for text in of.iter().take(3) {
            println!("{text}");
        }
    }
    assert!(problems.is_empty());
}

#[test]
fn net_core_3_1() {
    check(&Pinned::NET_CORE_3_1);
}

#[test]
fn net_8() {
    check(&Pinned::NET_8);
}

#[test]
fn net_10() {
    check(&Pinned::NET_10);
}
