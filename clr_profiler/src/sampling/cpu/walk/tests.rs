//! Walks of stacks that are made up, in code that is there.

#![cfg_attr(
    not(target_arch = "x86_64"),
    allow(dead_code, reason = "the code that is walked is for x86-64")
)]

use std::cell::RefCell;

use super::super::slot::executable;
use super::*;
use crate::ids::FunctionId;
use crate::info::CodeRange;

/// The addresses about which a runtime was asked that knows no code.
#[derive(Default)]
struct Asked(RefCell<Vec<usize>>);

impl Executed for Asked {
    fn code_at(&self, address: usize, _images: &[usize]) -> Vec<Code> {
        self.0.borrow_mut().push(address);
        Vec::new()
    }
}

/// The places in [`code`]: the body of a method, an address that follows no call, one that does, and the end of a native function.
const BODY: usize = 0x10;
const BETWEEN: usize = 0x48;
const RETURN: usize = 0x55;
const LEAVES: usize = 0x60;

/// Compiled code of a method with a frame, of 64 bytes, and other code.
fn code() -> (usize, CodeMap) {
    let mut code = vec![0x90; 0x80];
    let mut put = |at: usize, bytes: &[u8]| code[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &[0x55, 0x48, 0x8B, 0xEC]); // push rbp; mov rbp, rsp
    put(RETURN - 5, &[0xE8, 0, 0, 0, 0]); // call
    put(LEAVES, &[0x5D, 0xC3]); // pop rbp; ret
    let start = executable(&code);
    let mut map = CodeMap::default();
    let function = FunctionId::from_runtime(1);
    map.add(vec![Code::new(function, CodeRange { start, size: 0x40 })]);
    (start, map)
}

/// The stack pointer of the samples, and the frame pointer, which leads to the third word.
const SP: usize = 0x7000_0000;
const FP: usize = SP + 16;

/// The code of the frames of a stack with these words, at an instruction, and whether it is broken. `beyond` are more return addresses.
fn walk(
    asked: &Asked,
    map: CodeMap,
    ip: usize,
    (stack, beyond): (&[usize], &[usize]),
) -> (Vec<CpuCode>, bool) {
    let mut words = vec![0, 1, ip, SP, FP, 0, 0, 0, 0, beyond.len(), 0, 0];
    words.extend(beyond);
    words.extend([SP, stack.len()]);
    words.extend(stack);
    words[0] = words.len();
    let words: Vec<u64> = words.into_iter().map(|word| word as u64).collect();
    let mut frames = Vec::new();
    let map = Mutex::new(map);
    let (mut maps, mut natives) = (Maps::default(), Natives::default());
    let mut walker = Walker::new(asked, &map, (&mut maps, &mut natives), 64);
    let walked = walker.walk(&Record::take(&mut &*words).unwrap(), &mut frames);
    (
        frames.into_iter().map(|frame| frame.code).collect(),
        walked.is_broken,
    )
}

/// An address in the code of this program, whose tables for exceptions name it.
fn native() -> usize {
    let function: fn() -> usize = native;
    (function as *const ()).expose_provenance() + 1
}

fn managed() -> CpuCode {
    CpuCode::Managed(FunctionId::from_runtime(1))
}

#[test]
#[cfg(target_arch = "x86_64")]
#[cfg_attr(miri, ignore = "Miri has no executable memory")]
fn the_runtime_is_asked_about_executed_code_alone() {
    for (caller, expected) in [(BETWEEN, vec![]), (RETURN, vec![RETURN - 1])] {
        let asked = Asked::default();
        let (start, map) = code();
        let (frames, _) = walk(&asked, map, start + BODY, (&[0, 0, 0, start + caller], &[]));
        assert_eq!(frames, [managed(), CpuCode::Stub], "{caller:x}");
        let asked: Vec<_> = asked
            .0
            .into_inner()
            .iter()
            .map(|address| address - start)
            .collect();
        assert_eq!(asked, expected);
    }
}

#[test]
#[cfg(target_arch = "x86_64")]
#[cfg_attr(miri, ignore = "Miri has no executable memory")]
fn the_caller_of_code_that_is_about_to_return_is_at_the_stack_pointer() {
    let (start, map) = code();
    // The frame pointer is that of the caller until it is restored, and would lead to the caller's caller.
    let stack = [FP, start + BODY, 0, native()];
    let (frames, _) = walk(&Asked::default(), map, start + LEAVES, (&stack, &[]));
    assert_eq!(frames[..2], [CpuCode::Stub, managed()]);
}

#[test]
#[cfg(target_arch = "x86_64")]
#[cfg_attr(miri, ignore = "Miri has no executable memory")]
fn return_addresses_of_the_kernel_complete_a_stack_that_was_copied_in_part() {
    let ends = |beyond: &dyn Fn(usize) -> Vec<usize>| {
        let (start, map) = code();
        let (frames, is_broken) = walk(
            &Asked::default(),
            map,
            start + BODY,
            (&[0, 0], &beyond(start)),
        );
        let is_native = matches!(frames.last(), Some(CpuCode::Native(_)));
        (frames.len(), is_native, is_broken)
    };
    assert_eq!(
        ends(&|start| vec![FP, start + BODY, native(), 0]),
        (3, true, false)
    );
    // Those of another frame, or not all of them.
    assert_eq!(
        ends(&|start| vec![FP + 8, start + BODY, native(), 0]),
        (1, false, true)
    );
    assert_eq!(
        ends(&|start| vec![FP, start + BODY, native()]),
        (3, true, true)
    );
}

#[test]
fn words_are_found_where_they_were_copied() {
    let mut words = vec![0, 3, 0x10, 0x1000, 0x1010, 0, 1, 1, 0, 3, 0, 0];
    words.extend([0x2008, 0x77, 0x78]);
    words.extend([0x1000, 3, 7, 8, 9]);
    words.extend([0x1018, 1, 10]);
    words.extend([0x2000, 1, 11]);
    words[0] = words.len() as u64;
    let mut rest = &words[..];
    let record = Record::take(&mut rest).unwrap();
    assert!(rest.is_empty());
    assert_eq!(record.header(Header::Weight), 3);
    let found = [
        0x0FF8, 0x1000, 0x1008, 0x1010, 0x1018, 0x1020, 0x2000, 0x2008,
    ]
    .map(|address| record.word(address));
    let expected = [
        None,
        Some(7),
        Some(8),
        Some(9),
        Some(10),
        None,
        Some(11),
        None,
    ];
    assert_eq!(found, expected);
    assert!(record.continues() && Record::take(&mut rest).is_none());
    assert_eq!(
        (record.beyond(0x2008), record.beyond(0x2010)),
        (&[0x77, 0x78][..], &[][..])
    );
    // Words that the handler did not write are no record.
    for length in 1..words.len() {
        words[0] = length as u64;
        let _ = Record::take(&mut &words[..]);
    }
}
