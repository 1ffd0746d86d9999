//! Labels of other fragments and bodies are refused: their indexes denote other labels here.

use clr_profiler_il::body::MethodBody;
use clr_profiler_il::edit::{EditError, InsertionPoint, Labels, Side};
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::instruction::{Label, Position};

/// `nop; ret`.
const BODY: [u8; 3] = [0x0a, 0x00, 0x2a];

/// A fragment with a label of its own at its end.
fn marked() -> (Fragment, Label) {
    let mut fragment = Fragment::new();
    let label = fragment.label();
    fragment.nop().mark(label);
    (fragment, label)
}

fn assert_refused(fragment: &Fragment, label: Label) {
    let expected = EditError::UnknownLabel(label);
    let mut body = MethodBody::decode(&BODY).unwrap();
    let before = body.to_string();
    assert_eq!(body.prologue(fragment), Err(expected));
    assert_eq!(body.before_ret(fragment), Err(expected));
    assert_eq!(body.append(fragment), Err(expected));
    assert_eq!(body.to_string(), before);
}

#[test]
fn branches_to_a_label_of_another_fragment() {
    let (_, label) = marked();
    for code in [
        |code: &mut Fragment, label| {
            code.br(label).nop();
        },
        |code: &mut Fragment, label| {
            code.ldc_i4(0).brtrue(label);
        },
        |code: &mut Fragment, label| {
            code.ldc_i4(0).switch(&[label]);
        },
        |code: &mut Fragment, label| {
            code.mark(label);
        },
    ] as [fn(&mut Fragment, Label); 4]
    {
        // With a label of the same index, and without.
        for mut fragment in [marked().0, Fragment::new()] {
            code(&mut fragment, label);
            assert_refused(&fragment, label);
            assert_refused(Fragment::new().nop().append(&fragment), label);
        }
    }
}

#[test]
fn labels_of_what_was_appended_mean_nothing() {
    let (inner, label) = marked();
    let mut outer = Fragment::new();
    outer.append(&inner).ldc_i4(0).brtrue(label);
    assert_refused(&outer, label);
}

#[test]
fn a_clone_knows_the_labels_that_were_there() {
    let mut first = Fragment::new();
    let end = first.label();
    first.ldc_i4(0).brtrue(end);
    let mut second = first.clone();
    let mut third = second.clone();
    for fragment in [&mut first, &mut second, &mut third] {
        fragment.nop().mark(end);
        let mut body = MethodBody::decode(&BODY).unwrap();
        body.prologue(fragment).unwrap();
        assert!(body.to_string().contains("brtrue.s   IL_0004"), "{body}");
    }
    // Later labels belong to only one of them.
    let (later, other) = (first.label(), second.label());
    assert_ne!(later, other);
    first.br(other);
    assert_refused(&first, other);
    second.br(later);
    assert_refused(&second, later);
}

#[test]
fn labels_of_another_body() {
    let mut one = MethodBody::decode(&BODY).unwrap();
    let mut other = MethodBody::decode(&BODY).unwrap();
    let [first, last] = [
        one.first().unwrap(),
        one.instructions().last().unwrap().id(),
    ];
    let (own, label) = (
        one.label(Position::End).unwrap(),
        other.label(Position::End).unwrap(),
    );
    assert!(one.position(own).is_some() && one.position(label).is_none());
    let expected = EditError::UnknownLabel(label);
    assert_eq!(one.move_label(label, Position::End), Err(expected));
    let mut skip = Fragment::new();
    let out = skip.label();
    skip.ldc_i4(0).brtrue(out);
    let point = InsertionPoint {
        position: Position::Before(first),
        labels: Labels::Stay,
        side: Side::Outside,
    };
    let refused = one.insert(point, &skip, &[(out, label)]);
    assert_eq!(refused, Err(expected));
    let refused = one.insert(point, &skip, &[(own, own)]);
    assert_eq!(refused, Err(EditError::UnknownLabel(own)));
    let ret = one.label(Position::Before(last)).unwrap();
    let inserted = one.insert(point, &skip, &[(out, ret)]).unwrap().unwrap();
    assert_eq!(one.set_target(inserted.last, 0, label), Err(expected));
    assert_eq!(one.set_target(inserted.last, 0, own), Ok(()));
    // A body that was decoded earlier into the same memory.
    one.decode_into(&BODY).unwrap();
    assert!(one.position(own).is_none());
}
