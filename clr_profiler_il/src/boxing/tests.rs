use super::*;
use crate::token::{TypeDef, TypeRef, TypeSpec};

/// An instance method of a value type, with parameters of these types.
struct Types(MethodSig);

fn def(row: u32) -> TypeToken {
    TypeDef::from_row(row).unwrap().into()
}

impl MethodTypes for Types {
    type Error = BoxingError;

    fn signature(&self) -> &MethodSig {
        &self.0
    }

    fn this_type(&self) -> Result<TypeSig, BoxingError> {
        Ok(TypeSig::ValueType(def(1)))
    }

    fn operand(&mut self, type_sig: &TypeSig) -> Result<TypeToken, BoxingError> {
        Ok(match type_sig {
            TypeSig::Class(class) | TypeSig::ValueType(class) => *class,
            TypeSig::I4 => TypeRef::from_row(4).unwrap().into(),
            TypeSig::NativeInt => TypeRef::from_row(8).unwrap().into(),
            _ => TypeSpec::from_row(1).unwrap().into(),
        })
    }

    fn is_by_ref_like(&self, class: TypeToken) -> Option<bool> {
        match class.token().row() {
            7 => Some(true),
            8 => None,
            _ => Some(false),
        }
    }

    fn allows_by_ref_like(&self, parameter: &TypeSig) -> Result<bool, BoxingError> {
        Ok(*parameter == TypeSig::Var(1))
    }
}

fn types(params: &[TypeSig]) -> Types {
    Types(MethodSig {
        has_this: true,
        ..MethodSig::new(TypeSig::Void, params.to_vec())
    })
}

/// The code as one line of instructions.
fn line(code: &Fragment) -> String {
    let text = code.to_string();
    let lines = text.lines().map(|line| {
        let words = line.split_whitespace().filter(|word| !word.ends_with(':'));
        words.collect::<Vec<_>>().join(" ")
    });
    lines.collect::<Vec<_>>().join("; ")
}

fn by_ref(target: TypeSig) -> TypeSig {
    TypeSig::ByRef(Box::new(target))
}

#[test]
fn a_value_becomes_what_its_type_says() {
    let skipped = Boxing::Skipped;
    let pointer = TypeSig::Pointer(Box::new(TypeSig::Void));
    for (value, code, boxing) in [
        (TypeSig::String, "ldarg.1", Boxing::Reference),
        (TypeSig::I4, "ldarg.1; box 0x01000004", Boxing::Value),
        (TypeSig::Var(0), "ldarg.1; box 0x1b000001", Boxing::Value),
        (pointer, "ldarg.1; box 0x01000008", Boxing::Address),
        (
            TypeSig::ValueType(def(7)),
            "ldarg.1; pop; ldnull",
            skipped(NotBoxable::ByRefLike),
        ),
        (
            TypeSig::ValueType(def(8)),
            "ldarg.1; pop; ldnull",
            skipped(NotBoxable::UnknownType),
        ),
        (
            TypeSig::Var(1),
            "ldarg.1; pop; ldnull",
            skipped(NotBoxable::AllowsByRefLike),
        ),
    ] {
        let mut types = types(&[value]);
        let boxed = Boxer::new(&mut types).argument(1).unwrap();
        assert_eq!((&*line(&boxed.code), boxed.boxing), (code, boxing));
    }
    let mut types = types(&[]);
    let this = Boxer::new(&mut types).argument(0).unwrap();
    assert_eq!(
        line(&this.code),
        "ldarg.0; ldobj 0x02000001; box 0x02000001"
    );
    assert_eq!(this.boxing, Boxing::Target);
    let none = Boxer::new(&mut types).value(&TypeSig::Void).unwrap();
    assert_eq!(line(&none.code), "ldnull");
    let error = Boxer::new(&mut types).argument(1).unwrap_err();
    assert_eq!(error, BoxingError::NoArgument(1));
}

#[test]
fn what_a_pointer_points_to_is_read_where_it_points_to_memory() {
    let mut types = types(&[by_ref(TypeSig::I4)]);
    let boxed = Boxer::new(&mut types).argument(1).unwrap();
    assert_eq!(boxed.boxing, Boxing::Target);
    let code = line(&boxed.code);
    let code = code.trim_end_matches("; ");
    assert!(code.starts_with("ldarg.1; dup; conv.u; ldc.i4"), "{code}");
    assert!(code.contains("pop; ldnull; br"), "{code}");
    assert!(code.ends_with("ldobj 0x01000004; box 0x01000004"), "{code}");
}

#[test]
fn the_array_has_what_can_be_an_object() {
    let mut types = types(&[TypeSig::String, TypeSig::ValueType(def(7))]);
    let all = Boxer::new(&mut types).array().unwrap();
    assert_eq!(
        line(&all.code),
        "ldc.i4.2; newarr object; dup; ldc.i4.0; ldarg.1; stelem.ref"
    );
    let skipped = Boxing::Skipped(NotBoxable::ByRefLike);
    assert_eq!(all.boxing, [Boxing::Reference, skipped]);
    let typed = Boxer::new(&mut types).typed().unwrap();
    assert_eq!(line(&typed.code), "ldarg.1; ldnull");
    assert_eq!(
        typed.method("Log", "Enter", "void", &["int"]).to_string(),
        "void Log::Enter<string, object>(int, !!0, !!1)"
    );
}

#[test]
fn an_object_becomes_a_value_again() {
    let mut types = types(&[
        TypeSig::I4,
        by_ref(TypeSig::String),
        TypeSig::ValueType(def(7)),
    ]);
    let mut boxer = Boxer::new(&mut types);
    let mut object = Fragment::new();
    object.ldnull();
    let mut store = |number| boxer.store(number, &object).map(|code| line(&code));
    let stored = "ldnull; unbox.any 0x01000004; starg.s 1";
    assert_eq!(store(1).as_deref(), Ok(stored));
    let stored = "ldarg.2; ldnull; castclass 0x1b000001; stind.ref";
    assert_eq!(store(2).as_deref(), Ok(stored));
    let problem = BoxingError::NotBoxable(NotBoxable::ByRefLike);
    assert_eq!(
        problem.to_string(),
        "an object cannot become such a value: the type is restricted to the stack"
    );
    assert_eq!(store(3), Err(problem));
    assert_eq!(store(0), Err(BoxingError::This));
}
