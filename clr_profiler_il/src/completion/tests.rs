use super::*;
use crate::symbol::NoTokens;
use crate::token::{MethodDef, TypeSpec};

/// A method called `M` and its module, whose types are named by row.
struct Method {
    signature: MethodSig,
    implementation: MethodImplAttributes,
    is_core_library: bool,
    attributes: &'static [&'static str],
    has_awaiter: bool,
}

/// The types that the module defines: the last one is compiler-generated.
const DEFS: [&str; 3] = ["App.Job", "System.Threading.Tasks.Task`1", "<M>d__0"];
/// The types that it refers to, with their assemblies.
const REFS: [Option<(&str, &str)>; 6] = [
    Some(("System.Runtime", "System.Threading.Tasks.Task")),
    Some(("netstandard", "System.Threading.Tasks.ValueTask`1")),
    Some(("Other", "System.Threading.Tasks.Task")),
    Some(("mscorlib", "System.Collections.IEnumerator")),
    Some((
        "System.Runtime",
        "System.Collections.Generic.IAsyncEnumerable`1",
    )),
    None,
];

fn def(row: u32) -> TypeToken {
    TypeDef::from_row(row).unwrap().into()
}

fn class(row: u32) -> TypeSig {
    TypeSig::Class(TypeRef::from_row(row).unwrap().into())
}

fn instance(definition: TypeToken) -> TypeSig {
    TypeSig::GenericInstance {
        is_value_type: false,
        definition,
        arguments: vec![TypeSig::String],
    }
}

/// For constructors, whose rows are those of their types.
impl Resolver for Method {
    fn method(&self, _method: Reference<'_>) -> Option<MethodSig> {
        None
    }

    fn signature(&self, _signature: Reference<'_>) -> Option<MethodSig> {
        None
    }

    fn declaring_type(&self, member: Reference<'_>) -> Option<TypeSig> {
        let Reference::Token(token) = member else {
            return None;
        };
        Some(instance(def(token.row())))
    }
}

impl CompletionContext for Method {
    type Error = &'static str;

    fn signature(&self) -> &MethodSig {
        &self.signature
    }

    fn implementation(&self) -> MethodImplAttributes {
        self.implementation
    }

    fn name(&self) -> &str {
        "M"
    }

    fn resolver(&self) -> &dyn Resolver {
        self
    }

    fn is_core_library(&self) -> bool {
        self.is_core_library
    }

    fn type_def_name(&self, class: TypeDef) -> Result<String, Self::Error> {
        let name = DEFS.get(class.token().row() as usize - 1);
        name.map(|name| (*name).to_owned()).ok_or("no such row")
    }

    fn type_ref_name(&self, class: TypeRef) -> Result<Option<(String, String)>, Self::Error> {
        let named = REFS.get(class.token().row() as usize - 1);
        let owned = |(assembly, name): (&str, &str)| (assembly.to_owned(), name.to_owned());
        named.map(|named| named.map(owned)).ok_or("no such row")
    }

    fn has_attribute(&self, name: &str) -> Result<bool, Self::Error> {
        let name = name.strip_prefix("System.Runtime.CompilerServices.");
        Ok(name.is_some_and(|name| self.attributes.contains(&name)))
    }

    fn has_awaiter(&self, _class: TypeToken) -> bool {
        self.has_awaiter
    }
}

fn returning(returned: TypeSig) -> Method {
    Method {
        signature: MethodSig::new(returned, Vec::new()),
        implementation: MethodImplAttributes::empty(),
        is_core_library: false,
        attributes: &[],
        has_awaiter: false,
    }
}

/// A body that creates an object of the type of this row.
fn making(row: u32) -> MethodBody {
    let mut body = MethodBody::decode(&[0x06, 0x2a]).unwrap();
    let constructor = MethodDef::from_row(row).unwrap().token();
    let mut code = crate::fragment::Fragment::new();
    code.newobj(constructor).pop();
    body.prologue(&code).unwrap();
    let mut bytes = Vec::new();
    body.encode(&mut NoTokens, &mut bytes).unwrap();
    MethodBody::decode(&bytes).unwrap()
}

fn of(method: &Method) -> Completion {
    Completion::of(method, &making(1)).unwrap()
}

#[test]
fn the_four_types_are_followed_where_they_are_the_core_librarys() {
    for returned in [
        class(1),
        instance(TypeRef::from_row(2).unwrap().into()),
        TypeSig::ValueType(TypeRef::from_row(1).unwrap().into()),
    ] {
        let Completion::Task(followed) = of(&returning(returned.clone())) else {
            panic!("{returned:?} is one of them");
        };
        assert_eq!(*followed.returned(), returned);
    }
    // A type of another assembly, a nested one, and one that is not a class.
    let spec = TypeSig::Class(TypeSpec::from_row(1).unwrap().into());
    for returned in [class(3), class(6), spec, TypeSig::I4, TypeSig::Void] {
        assert_eq!(of(&returning(returned)), Completion::Return);
    }
    // A type that the module defines itself.
    let mut own = returning(instance(def(2)));
    assert_eq!(of(&own), Completion::Return);
    own.is_core_library = true;
    assert!(matches!(of(&own), Completion::Task(_)));
    own.implementation = MethodImplAttributes::ASYNC;
    assert_eq!(of(&own), Completion::Return);
}

#[test]
fn attributes_and_awaiters_tell_what_cannot_be_followed() {
    let with = |returned, attributes, has_awaiter| Method {
        attributes,
        has_awaiter,
        ..returning(returned)
    };
    let own = || TypeSig::Class(def(1));
    for (method, reason) in [
        (
            with(TypeSig::Void, &["AsyncStateMachineAttribute"], false),
            Unobservable::AsyncVoid,
        ),
        (
            with(own(), &["AsyncStateMachineAttribute"], false),
            Unobservable::CustomAwaitable,
        ),
        (with(own(), &[], true), Unobservable::CustomAwaitable),
        (
            with(own(), &["IteratorStateMachineAttribute"], true),
            Unobservable::Iterator,
        ),
        (
            with(own(), &["AsyncIteratorStateMachineAttribute"], true),
            Unobservable::AsyncIterator,
        ),
    ] {
        assert_eq!(of(&method), Completion::Unobservable(reason));
    }
    // A value type has no awaiter, and a task is followed whatever attributes there are.
    assert_eq!(of(&with(TypeSig::I4, &[], true)), Completion::Return);
    let task = with(class(1), &["AsyncStateMachineAttribute"], true);
    assert!(matches!(of(&task), Completion::Task(_)));
}

#[test]
fn an_iterator_without_an_attribute_makes_an_object_of_its_own() {
    for (returned, reason) in [
        (class(4), Unobservable::Iterator),
        (class(5), Unobservable::AsyncIterator),
    ] {
        let method = returning(returned);
        let completion = |row| Completion::of(&method, &making(row));
        assert_eq!(completion(3), Ok(Completion::Unobservable(reason)));
        assert_eq!(completion(1), Ok(Completion::Return));
        assert_eq!(completion(9), Err("no such row"));
    }
    let other = Completion::of(&returning(TypeSig::I4), &making(3));
    assert_eq!(other, Ok(Completion::Return));
}

#[test]
fn what_the_metadata_answer_is_the_error() {
    let completion = Completion::of(&returning(class(7)), &making(1));
    assert_eq!(completion, Err("no such row"));
}

#[test]
fn the_helpers_method_takes_and_returns_what_the_method_returns() {
    let followed = |returned| match of(&returning(returned)) {
        Completion::Task(followed) => followed,
        other => panic!("{other:?}"),
    };
    let task = followed(class(1));
    assert_eq!(task.value(), None);
    let method = task.method("[Helper]Tracer", "Completes", "string");
    let name = class(1).text(&TokenNames).to_string();
    assert_eq!(*method.signature, format!("{name} (string, {name})"));
    assert!(method.type_arguments.is_empty());

    let value = followed(instance(TypeRef::from_row(2).unwrap().into()));
    assert_eq!(value.value(), Some(&TypeSig::String));
    let method = value.method("[Helper]Tracer", "Completes", "string");
    assert!(method.signature.contains("<!!0>"), "{}", method.signature);
    assert_eq!(method.type_arguments, ["string".into()]);
}
