use std::collections::HashMap;

use arbitrary::Unstructured;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::instruction::Label;
use clr_profiler_il::symbol::{MethodSymbol, TypeSymbol};

/// New code, and the positions of its labels by instruction.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) fragment: Fragment,
    pub(crate) positions: HashMap<Label, usize>,
    /// An exit.
    pub(crate) exit: Option<Label>,
    /// Whether it has no branches and leaves the stack balanced.
    pub(crate) is_balanced: bool,
}

impl Code {
    /// Code without any effect, which leaves the stack unchanged.
    pub(crate) fn balanced(input: &mut Unstructured<'_>) -> Self {
        let mut code = Self {
            is_balanced: true,
            ..Self::default()
        };
        for _ in 0..input.int_in_range(0..=4_u8).unwrap_or_default() {
            code.pair(input);
        }
        code
    }

    fn len(&self) -> usize {
        self.fragment.instructions().count()
    }

    fn pair(&mut self, input: &mut Unstructured<'_>) {
        let out = &mut self.fragment;
        match input.int_in_range(0..=9_u8).unwrap_or_default() {
            0 => out.nop(),
            1 => out.ldc_i4(input.arbitrary().unwrap_or_default()).pop(),
            2 => out.ldc_i8(input.arbitrary().unwrap_or_default()).pop(),
            3 => out.ldc_r8(input.arbitrary().unwrap_or_default()).pop(),
            4 => out.ldnull().dup().pop().pop(),
            5 => out.ldstr("text").pop(),
            6 => out.call(method("void ()", "C")),
            7 => out
                .ldc_i4(1)
                .ldc_i4(2)
                .call(method("int (int, int)", "D"))
                .pop(),
            8 => out.ldtoken(TypeSymbol::new("class [A]B`1<int>")).pop(),
            _ => out
                .ldc_r4(input.arbitrary().unwrap_or_default())
                .neg()
                .pop(),
        };
    }

    /// Any code: branches, prefixes, handlers, an incomplete instruction.
    pub(crate) fn any(input: &mut Unstructured<'_>) -> Self {
        let mut code = Self::balanced(input);
        code.is_balanced = false;
        let mut pending = Vec::new();
        for _ in 0..input.int_in_range(0..=6_u8).unwrap_or_default() {
            let number: u16 = input.arbitrary().unwrap_or_default();
            match input.int_in_range(0..=13_u8).unwrap_or_default() {
                0 => {
                    let label = code.fragment.label();
                    code.fragment.br(label);
                    pending.push(label);
                }
                1 => {
                    let label = code.fragment.label();
                    code.fragment.ldc_i4(0).brtrue(label);
                    pending.push(label);
                }
                2 => {
                    let labels = [code.fragment.label(), code.fragment.label()];
                    code.fragment.ldc_i4(0).switch(&labels);
                    pending.extend(labels);
                }
                3 => {
                    if let Some(label) = pending.pop() {
                        code.positions.insert(label, code.len());
                        code.fragment.mark(label);
                    }
                }
                4 => {
                    let label = code.fragment.label();
                    code.positions.insert(label, code.len());
                    code.fragment.mark(label).ldc_i4(1).brfalse(label);
                }
                5 => {
                    let exit = *code.exit.get_or_insert_with(|| code.fragment.label());
                    code.fragment.br(exit);
                }
                6 => {
                    code.fragment.volatile();
                }
                7 => {
                    code.fragment.ldloc(number).pop();
                }
                8 => {
                    code.fragment.starg(number % 300).dup();
                }
                9 => {
                    code.fragment.ret();
                }
                10 => {
                    let inner = Self::balanced(input).fragment;
                    code.fragment
                        .try_block(|body| {
                            body.append(&inner);
                        })
                        .finally(|handler| {
                            handler.append(&inner);
                        })
                        .end();
                }
                11 => {
                    let inner = Self::balanced(input).fragment;
                    code.fragment
                        .try_block(|body| {
                            body.append(&inner);
                        })
                        .catch("[A]T", |handler| {
                            handler.pop().append(&inner);
                        })
                        .filter(
                            |filter| {
                                filter.pop().ldc_i4(0);
                            },
                            |handler| {
                                handler.pop();
                            },
                        )
                        .end();
                }
                12 => {
                    code.fragment.tail().call(method("void ()", "C"));
                }
                _ => {
                    code.fragment
                        .constrained("!0")
                        .callvirt(method("instance void ()", "E"));
                }
            }
        }
        // Most labels get a position.
        for label in pending {
            if !number_of(input).is_multiple_of(16) {
                code.positions.insert(label, code.len());
                code.fragment.mark(label);
            }
        }
        code
    }
}

fn method(signature: &str, name: &str) -> MethodSymbol {
    MethodSymbol::new("[A]B", name, signature)
}

fn number_of(input: &mut Unstructured<'_>) -> u8 {
    // Exhausted input counts as placed.
    input.arbitrary().unwrap_or(1)
}
