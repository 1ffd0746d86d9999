use clr_profiler_il::body::{BodyError, EncodeBuffers, MethodBody};
use clr_profiler_il::edit::{AtOffset, EditError, Labels, OffsetPair};
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::instruction::{Operand, Position};
use clr_profiler_il::symbol::{MethodSymbol, Reference, TypeSymbol};
use clr_profiler_il::token::Token;
use clr_profiler_il::usage::Usage;
use clr_profiler_il::verify::{MethodContext, VerifyBuffers};

use crate::tokens::{Meanings, Module, some_method};

/// One step of an edit; the number is that of a fragment.
#[derive(Clone, Copy, Debug)]
enum Step {
    Prologue(usize),
    Epilogue(usize),
    /// Before each third instruction.
    Within(usize),
    /// Before each third instruction, and with the number of steps after each second one, all at once.
    Marks(usize, usize),
    /// Something reads the instructions.
    Look,
    /// Something needs the instructions for an edit.
    Strip,
}

use Step::{Epilogue, Look, Marks, Prologue, Strip, Within};

/// The bytes before an encoded body.
const PREFIX: [u8; 3] = [1, 2, 3];

const EDITS: &[&[Step]] = &[
    &[],
    &[Prologue(0), Epilogue(0)],
    &[Epilogue(2), Prologue(1)],
    &[Prologue(1)],
    &[Epilogue(1)],
    &[Prologue(3), Epilogue(3)],
    &[Prologue(2), Prologue(0), Epilogue(1), Epilogue(2)],
    &[Epilogue(0), Epilogue(3), Prologue(2)],
    &[Look, Prologue(0), Epilogue(2)],
    &[Prologue(2), Look, Epilogue(0)],
    &[Prologue(0), Epilogue(2), Strip],
    &[Prologue(4), Epilogue(4)],
    &[Prologue(0), Epilogue(5)],
    // Code that depends on the stack at its position, or changes it.
    &[Prologue(6), Epilogue(7)],
    &[Prologue(0), Epilogue(8)],
    &[Prologue(9), Epilogue(0)],
    &[Prologue(0), Epilogue(9)],
    &[Within(0)],
    &[Within(10)],
    &[Within(10), Prologue(10), Epilogue(10)],
    &[Within(7)],
    &[Within(8)],
    &[Marks(10, 0)],
    &[Marks(10, 2)],
    &[Marks(1, 5)],
    &[Marks(2, 0)],
    &[Marks(3, 0)],
    &[Marks(7, 0)],
    &[Marks(8, 3)],
    &[Prologue(0), Marks(10, 2)],
    &[Marks(10, 2), Prologue(0), Epilogue(0)],
    &[Marks(10, 4), Look, Strip],
    &[Look, Marks(10, 1)],
    &[Marks(10, 0), Marks(10, 3)],
];

/// The comparison of bodies that were decoded to nodes with the same bodies that were decoded
/// lazily.
#[derive(Debug)]
pub struct Lazily {
    fragments: Vec<Fragment>,
    /// With nodes from the beginning, and lazily.
    bodies: [MethodBody; 2],
    buffers: [EncodeBuffers; 2],
    checked: MethodBody,
    verifying: VerifyBuffers,
}

/// Inserts code at places in the order of the code.
fn one_by_one(
    body: &mut MethodBody,
    mut places: Vec<AtOffset>,
    code: &Fragment,
) -> Result<(), EditError> {
    places.sort_unstable_by_key(|at| match *at {
        AtOffset::Before(offset) => (offset, false),
        AtOffset::After(offset) => (offset, true),
    });
    for at in places {
        let (AtOffset::Before(offset) | AtOffset::After(offset)) = at;
        let mut all = body.instructions();
        let one = all.find(|one| one.original_offset() == Some(offset));
        let id = one.ok_or(EditError::NoInstruction(offset))?.id();
        match at {
            AtOffset::Before(_) => body.insert_before(id, Labels::Move, code)?,
            AtOffset::After(_) => body.insert_after(id, Labels::Stay, code)?,
        };
    }
    Ok(())
}

impl Lazily {
    /// The number of edits that can be compared.
    pub const EDITS: usize = EDITS.len();

    /// The comparison, in memory of its own.
    #[must_use]
    pub fn new() -> Self {
        let mut small = Fragment::new();
        small.ldc_i4(7).pop();
        // Moves branches out of their reach.
        let mut large = Fragment::new();
        for number in 0..30 {
            large.ldc_i4(number * 1000).pop();
        }
        let log = MethodSymbol::new(
            "[System.Console]System.Console",
            "WriteLine",
            "void (string)",
        );
        let mut call = Fragment::new();
        call.ldstr("entered").call(&log);
        call.ldarg(0).volatile().ldind_i4().conv_i8();
        call.ldc_i8(1 << 40).add().pop();
        let class = TypeSymbol::new("[System.Runtime]System.Object");
        call.ldnull().constrained(&class).callvirt(&log);
        let mut branches = Fragment::new();
        let end = branches.label();
        branches.ldarg(0).brtrue(end).nop().mark(end);
        let mut ends = Fragment::new();
        ends.ldnull().throw();
        let mut leaves = Fragment::new();
        leaves.ldc_i4(7);
        let mut takes = Fragment::new();
        takes.pop();
        let mut replaces = Fragment::new();
        replaces.pop().ldc_i4(0);
        let mut allocates = Fragment::new();
        allocates.ldc_i4(8).conv_u().localloc().pop();
        let mut marks = Fragment::new();
        marks.ldc_i4(0x1234_5678).conv_u().ldc_i4(1).stind_i1();
        Self {
            fragments: vec![
                small,
                large,
                call,
                branches,
                Fragment::new(),
                ends,
                leaves,
                takes,
                replaces,
                allocates,
                marks,
            ],
            bodies: [MethodBody::new(), MethodBody::new()],
            buffers: [EncodeBuffers::new(), EncodeBuffers::new()],
            checked: MethodBody::new(),
            verifying: VerifyBuffers::new(),
        }
    }

    /// Compares the results of an edit of a body: errors, bytes, violations, maximum stack, offsets, ids and text.
    /// Returns whether there were bytes.
    ///
    /// # Panics
    ///
    /// If they differ.
    pub fn check(&mut self, bytes: &[u8], edit: usize) -> bool {
        let steps = EDITS[edit];
        let [eager, lazy] = [0, 1].map(|which| self.run(bytes, steps, which));
        if steps.is_empty() && eager.is_ok() {
            originals(bytes, &self.bodies);
        }
        assert_eq!(lazy, eager, "{steps:?} of {bytes:02x?}");
        let Ok(Edited {
            written: Ok(written),
            ..
        }) = eager
        else {
            return false;
        };
        let new = &written[PREFIX.len()..];
        let [eager, lazy] = &self.bodies;
        let signature = some_method(eager.max_stack());
        let context = MethodContext::new(&signature);
        let memory = (&mut self.checked, &mut self.verifying);
        let found = lazy.verify_encoded_with(new, bytes, memory, || context, &Meanings);
        let whole = MethodBody::decode(new).map(|new| {
            let violations = new.verify_changes(bytes, &context, &Meanings);
            assert!(
                violations.is_empty() || !found.as_ref().is_ok_and(Vec::is_empty),
                "{violations:?}: {steps:?} of {new}"
            );
            violations
        });
        assert_eq!(found, whole, "{steps:?} of {bytes:02x?}");
        let memory = (&mut self.checked, &mut self.verifying);
        let found = eager.verify_encoded_with(new, bytes, memory, || context, &Meanings);
        assert_eq!(found, whole, "{steps:?} of {bytes:02x?}");
        assert_eq!(lazy.max_stack(), eager.max_stack());
        let [mapped, same] = [lazy, eager].map(MethodBody::instrumented_code_map);
        assert_eq!(mapped, same, "{steps:?} of {bytes:02x?}");
        // From here on both have nodes.
        let [ids, same] = [lazy, eager].map(|body| {
            let instructions = body.instructions();
            let ids = instructions.map(|one| (one.id(), one.original_offset()));
            ids.collect::<Vec<_>>()
        });
        assert_eq!(ids, same);
        assert_eq!(lazy.to_string(), eager.to_string());
        true
    }

    fn run(&mut self, bytes: &[u8], steps: &[Step], which: usize) -> Result<Edited, BodyError> {
        let (body, buffers) = (&mut self.bodies[which], &mut self.buffers[which]);
        match which {
            0 => body.decode_into(bytes)?,
            _ => body.decode_lazily_into(bytes)?,
        }
        let mut refusals = Vec::new();
        for step in steps {
            let edited = match *step {
                Prologue(number) => body.prologue(&self.fragments[number]),
                Epilogue(number) => body.before_ret(&self.fragments[number]),
                Within(number) => {
                    let ids = body.instructions().map(|one| one.id()).step_by(3);
                    ids.collect::<Vec<_>>().into_iter().try_for_each(|id| {
                        let code = &self.fragments[number];
                        body.insert_before(id, Labels::Move, code).map(drop)
                    })
                }
                Marks(number, step) => {
                    let offsets: Vec<u32> = body
                        .original_instructions()
                        .map(|one| one.offset())
                        .collect();
                    let before = offsets.iter().step_by(3).copied().map(AtOffset::Before);
                    let after = offsets.iter().skip(1).step_by(step.max(1));
                    let after = after.copied().map(AtOffset::After);
                    let after = after.take(if step == 0 { 0 } else { usize::MAX });
                    let places: Vec<AtOffset> = after.chain(before).collect();
                    let code = &self.fragments[number];
                    match which {
                        0 => one_by_one(body, places, code),
                        _ => body.insert_at(&places, |_, out| {
                            out.append(code);
                        }),
                    }
                }
                Look => {
                    assert_eq!(body.instructions().count(), body.len());
                    Ok(())
                }
                Strip => {
                    body.strip_tail_calls();
                    Ok(())
                }
            };
            refusals.extend(edited.err().map(|error| error.to_string()));
        }
        let (mut module, mut out) = (Module::default(), PREFIX.to_vec());
        let written = body.encode_with(buffers, &mut module, &mut out);
        let written = written.map(|()| out).map_err(|error| error.to_string());
        let mut used = match Usage::of(body, &mut module) {
            Ok(used) => used.names,
            Err(never) => match never {},
        };
        // Those of a lazily decoded body are not repeated for each `ret`.
        used.sort_unstable();
        used.dedup();
        Ok(Edited {
            refusals,
            map: match written.is_ok() {
                true => body.encoded_code_map(buffers),
                false => Vec::new(),
            },
            written,
            used,
        })
    }
}

/// Compares the instructions as they were decoded with the nodes of them.
fn originals(bytes: &[u8], bodies: &[MethodBody; 2]) {
    let Ok(body) = MethodBody::decode(bytes) else {
        return;
    };
    let offset = |position| match position {
        Position::Before(id) => body.instruction(id).and_then(|one| one.original_offset()),
        Position::End => None,
    };
    let nodes = body.instructions().map(|one| {
        let targets = one
            .targets()
            .map(|label| offset(body.position(label).unwrap()).unwrap());
        let token = match one.operand() {
            Operand::Reference(Reference::Token(token)) => Some(token),
            _ => None,
        };
        let targets: Vec<u32> = targets.collect();
        let values = (one.local(), one.int32(), token);
        (
            one.original_offset().unwrap(),
            one.opcode(),
            values,
            targets,
        )
    });
    let nodes: Vec<_> = nodes.collect();
    for body in bodies {
        let read = body.original_instructions().map(|one| {
            let values = (one.local(), one.int32(), one.token());
            (one.offset(), one.opcode(), values, one.targets().collect())
        });
        assert_eq!(read.collect::<Vec<_>>(), nodes, "{bytes:02x?}");
        let at = nodes
            .iter()
            .map(|(offset, ..)| body.instruction_at(*offset));
        assert!(at.eq(body.instructions().map(|one| Some(one.id()))));
    }
    let [eager, lazy] = bodies.each_ref().map(MethodBody::handler_offsets);
    assert_eq!(eager, lazy);
}

impl Default for Lazily {
    fn default() -> Self {
        Self::new()
    }
}

/// The results of an edit.
#[derive(Debug, PartialEq)]
struct Edited {
    refusals: Vec<String>,
    /// The bytes, or the error.
    written: Result<Vec<u8>, String>,
    map: Vec<OffsetPair>,
    used: Vec<Token>,
}

/// Checks that a lazily decoded body is the same as one with nodes, whatever is edited.
pub(crate) fn lazily(bytes: &[u8]) {
    let mut lazily = Lazily::new();
    for edit in 0..Lazily::EDITS {
        lazily.check(bytes, edit);
    }
}
