use super::{AnyName, Callee, FieldName, Fragment, SignatureName, StringName, TypeName};
use crate::instruction::Label;
use crate::opcode::{Opcode, for_each_opcode};

/// Generates the methods that append one instruction each, from the table of opcodes. The operand
/// kind determines the parameter of a method:
///
/// ```text
/// Ldfld 0x7b "ldfld" Field [Object] => [Any] Next [] ldfld;
/// ```
///
/// becomes `pub fn ldfld(&mut self, field: impl Into<FieldName>) -> &mut Self`.
macro_rules! instructions {
    ($($opcode:ident $code:literal $name:literal $operand:ident $pops:tt => $pushes:tt $flow:ident $form:tt $method:tt;)*) => {
        /// One method for each instruction.
        impl Fragment {
            $(instructions!(@ $flow $operand $method $opcode $name);)*
        }
    };

    // The long form has the method.
    (@ $flow:ident $operand:ident _ $($row:tt)*) => {};

    (@ Prefix None $method:ident $($row:tt)*) => {
        instructions!(@prefix $method () bare_prefix $($row)*);
    };
    (@ Prefix Int8 ($method:ident $argument:ident) $($row:tt)*) => {
        instructions!(@prefix $method ($argument: u8) number_prefix $($row)*);
    };
    (@ Prefix Type $method:ident $($row:tt)*) => {
        instructions!(@prefix $method (name: impl Into<TypeName>) type_prefix $($row)*);
    };
    (@prefix $method:ident $argument:tt $append:ident $($row:tt)*) => {
        instructions!(@one $method $argument ["Appends `" "`, a prefix of the next instruction."] $append $($row)*);
    };

    (@ $flow:ident None $method:ident $($row:tt)*) => {
        instructions!(@one $method () ["Appends `" "`."] simple $($row)*);
    };
    (@ $flow:ident Int32 $method:ident $($row:tt)*) => {
        instructions!(@one $method (value: i32) ["Appends `" "` in its shortest form."] int32 $($row)*);
    };
    (@ $flow:ident Int64 $method:ident $($row:tt)*) => {
        instructions!(@one $method (value: i64) ["Appends `" "`."] int64 $($row)*);
    };
    (@ $flow:ident Float32 $method:ident $($row:tt)*) => {
        instructions!(@one $method (value: f32) ["Appends `" "`."] float32 $($row)*);
    };
    (@ $flow:ident Float64 $method:ident $($row:tt)*) => {
        instructions!(@one $method (value: f64) ["Appends `" "`."] float64 $($row)*);
    };
    (@ $flow:ident Variable $method:ident $($row:tt)*) => {
        instructions!(@one $method (number: u16) ["Appends `" "` in its shortest form."] variable $($row)*);
    };
    (@ $flow:ident Target $method:ident $($row:tt)*) => {
        instructions!(@one $method (target: Label) ["Appends `" "`."] branch $($row)*);
    };
    (@ $flow:ident Switch $method:ident $($row:tt)*) => {
        instructions!(@one $method (targets: &[Label]) ["Appends `" "`."] table $($row)*);
    };
    (@ $flow:ident Method $method:ident $($row:tt)*) => {
        instructions!(@one $method (method: impl Into<Callee>) ["Appends `" "`."] method $($row)*);
    };
    (@ $flow:ident Field $method:ident $($row:tt)*) => {
        instructions!(@one $method (field: impl Into<FieldName>) ["Appends `" "`."] field $($row)*);
    };
    (@ $flow:ident Type $method:ident $($row:tt)*) => {
        instructions!(@one $method (name: impl Into<TypeName>) ["Appends `" "`."] typed $($row)*);
    };
    (@ $flow:ident AnyToken $method:ident $($row:tt)*) => {
        instructions!(@one $method (name: impl Into<AnyName>) ["Appends `" "`."] any $($row)*);
    };
    (@ $flow:ident String $method:ident $($row:tt)*) => {
        instructions!(@one $method (text: impl Into<StringName>) ["Appends `" "`."] string $($row)*);
    };
    (@ $flow:ident Signature $method:ident $($row:tt)*) => {
        instructions!(@one $method (signature: impl Into<SignatureName>) ["Appends `" "`."] indirect $($row)*);
    };
    (@one $method:ident ($($argument:ident: $type:ty)?) [$begin:literal $end:literal] $append:ident $opcode:ident $name:literal) => {
        #[doc = concat!($begin, $name, $end)]
        pub fn $method(&mut self $(, $argument: $type)?) -> &mut Self {
            self.$append(Opcode::$opcode $(, $argument.into())?)
        }
    };
}

for_each_opcode!(instructions);
