//! Graphs made by hand, and dominators by definition.

use std::collections::HashMap;

use super::graph::{HeapClass, HeapGraph, HeapRoot, PlaceName, ReferencePlace};
use super::record::Record;
use super::{ClassTotals, Elements};
use crate::callbacks::payload::RootFlags;
use crate::callbacks::reasons::RootKind;
use crate::ids::ClassId;

/// Objects with their classes and sizes in words, what they refer to, and what roots hold.
struct Heap<'a> {
    objects: &'a [(usize, usize)],
    references: &'a [(usize, usize)],
    held: &'a [usize],
    weak: &'a [(usize, usize)],
}

/// Not in the order in which they are walked.
fn address(object: usize) -> usize {
    0x1_0000 + (object * 7 % 1009) * 64
}

impl Heap<'_> {
    fn graph(&self) -> HeapGraph {
        let mut record = Record::default();
        for (object, (class, words)) in self.objects.iter().enumerate() {
            let mut count = 0;
            for (from, to) in self.references {
                if *from == object {
                    record.refer(address(*to), count + 1);
                    count += 1;
                }
            }
            record.object(
                address(object),
                ClassId::from_runtime(class + 1),
                words * 8,
                count,
            );
        }
        for object in self.held {
            let root = HeapRoot {
                object: 0,
                kind: RootKind::Handle,
                flags: RootFlags::empty(),
                id: 5,
            };
            record.roots.push((address(*object), root));
        }
        for (key, value) in self.weak {
            record.weak_elements.push((address(*key), address(*value)));
        }
        let classes = record.classes.iter().map(|class| HeapClass {
            id: *class,
            name: format!("Class{}", class.raw() - 1),
            elements: None,
            fields: vec![(8, "first".to_owned()), (24, "third".to_owned())],
        });
        let classes = classes.collect();
        HeapGraph::build(record, classes, HashMap::new()).unwrap()
    }
}

fn targets(graph: &HeapGraph, object: u32) -> Vec<u32> {
    graph.references(object).map(|r| r.target).collect()
}

#[test]
fn references_are_those_that_were_recorded() {
    let graph = Heap {
        objects: &[(0, 3), (1, 2), (0, 3), (2, 4)],
        references: &[(0, 1), (0, 2), (2, 0), (3, 3), (1, 500)],
        held: &[0, 900],
        weak: &[(1, 3), (1, 2), (600, 1)],
    }
    .graph();
    assert_eq!((graph.len(), graph.reference_count()), (4, 6));
    assert_eq!(targets(&graph, 0), [1, 2]);
    assert_eq!(targets(&graph, 1), [2, 3]);
    assert_eq!(targets(&graph, 2), [0]);
    assert_eq!(targets(&graph, 3), [3]);
    assert_eq!(graph.lost_references(), 3);
    assert_eq!(graph.roots().len(), 1);
    assert_eq!(graph.class(2).name, "Class0");
    assert_eq!(graph.size(3), 32);
    let places: Vec<_> = graph.references(0).map(|r| r.place).collect();
    assert_eq!(
        places,
        [ReferencePlace::Offset(8), ReferencePlace::Offset(16)]
    );
    let weak: Vec<_> = graph.references(1).map(|r| r.place).collect();
    assert_eq!(weak, [ReferencePlace::WeakTable; 2]);
}

#[test]
fn places_have_the_names_of_fields_and_elements() {
    let mut graph = Heap {
        objects: &[(0, 3), (1, 9)],
        references: &[],
        held: &[],
        weak: &[],
    }
    .graph();
    graph.classes[1].elements = Some(Elements {
        offset: 16,
        size: 24,
    });
    let name = |object, offset| graph.place_name(object, ReferencePlace::Offset(offset));
    assert_eq!(name(0, 8), PlaceName::Field("first", 0));
    assert_eq!(name(0, 16), PlaceName::Field("first", 8));
    assert_eq!(name(0, 24).to_string(), "third");
    assert_eq!(name(0, 0), PlaceName::Unknown);
    assert_eq!(name(1, 16 + 24 * 2 + 8).to_string(), "[2]+8");
    assert_eq!(name(1, 8), PlaceName::Unknown);
}

#[test]
fn a_shortest_path_is_found() {
    let graph = Heap {
        objects: &[(0, 3), (1, 3), (1, 3), (2, 3), (3, 3)],
        references: &[(0, 1), (1, 2), (2, 3), (0, 3), (3, 0)],
        held: &[0],
        weak: &[],
    }
    .graph();
    let path = graph.path_to(|object| graph.class(object).name == "Class2");
    let path = path.unwrap();
    assert_eq!((path.root.object, path.object), (0, 3));
    assert_eq!(path.steps, [(0, ReferencePlace::Offset(16))]);
    assert_eq!(graph.path_to(|object| object == 0).unwrap().steps, []);
    assert_eq!(graph.path_to(|object| object == 4), None);
}

#[test]
fn a_type_keeps_what_goes_with_it() {
    // A list of three of the same type, the last of which keeps another one; one more is not held.
    let graph = Heap {
        objects: &[(0, 3), (0, 3), (0, 3), (1, 10), (1, 20)],
        references: &[(0, 1), (1, 2), (2, 3), (4, 3)],
        held: &[0],
        weak: &[],
    }
    .graph();
    let dominators = graph.dominators();
    assert_eq!(dominators.retained(0), 8 * 19);
    assert_eq!(dominators.immediate(3), Some(2));
    assert_eq!(dominators.immediate(0), None);
    assert!(dominators.is_reached(0) && !dominators.is_reached(4));
    let totals = |count, size, retained| ClassTotals {
        count,
        size,
        retained,
    };
    assert_eq!(
        dominators.by_class(&graph),
        [totals(3, 72, 8 * 19), totals(2, 240, 240)]
    );
}

/// What cannot be reached any more without the object, itself included.
fn lost_without(graph: &HeapGraph, without: Option<u32>) -> Vec<bool> {
    let mut is_reached = vec![false; graph.len() as usize];
    let mut queue: Vec<u32> = graph.roots().iter().map(|root| root.object).collect();
    while let Some(object) = queue.pop() {
        if Some(object) != without && !std::mem::replace(&mut is_reached[object as usize], true) {
            queue.extend(targets(graph, object));
        }
    }
    is_reached.iter().map(|is_reached| !is_reached).collect()
}

#[test]
fn dominators_are_what_they_are_by_definition() {
    let mut seed = 1_u64;
    let mut random = |end: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed >> 20) as usize % end
    };
    for round in 0..300 {
        let count = 1 + random(40);
        let objects: Vec<_> = (0..count).map(|_| (random(4), 3 + random(9))).collect();
        let edges = random(count * 3 + 1);
        let references: Vec<_> = (0..edges).map(|_| (random(count), random(count))).collect();
        let held: Vec<_> = (0..random(4)).map(|_| random(count)).collect();
        let heap = Heap {
            objects: &objects,
            references: &references,
            held: &held,
            weak: &[],
        };
        let graph = heap.graph();
        let dominators = graph.dominators();
        let never = lost_without(&graph, None);
        let mut by_class = vec![0; graph.classes().len()];
        for object in 0..graph.len() {
            let is_reached = !never[object as usize];
            assert_eq!(dominators.is_reached(object), is_reached, "round {round}");
            if !is_reached {
                by_class[graph.class_index(object)] += graph.size(object);
                continue;
            }
            let lost = lost_without(&graph, Some(object));
            let gone = (0..graph.len()).filter(|o| lost[*o as usize] && !never[*o as usize]);
            let retained: u64 = gone.clone().map(|object| graph.size(object)).sum();
            assert_eq!(dominators.retained(object), retained, "round {round}");
            for other in gone {
                let above = std::iter::successors(Some(other), |o| dominators.immediate(*o));
                assert!(above.into_iter().any(|above| above == object));
            }
            let above = std::iter::successors(dominators.immediate(object), |object| {
                dominators.immediate(*object)
            });
            let class = graph.class_index(object);
            if above.into_iter().all(|o| graph.class_index(o) != class) {
                by_class[class] += retained;
            }
        }
        let totals = dominators.by_class(&graph);
        let retained: Vec<u64> = totals.iter().map(|total| total.retained).collect();
        assert_eq!(retained, by_class, "round {round}");
    }
}

/// As often as it takes where a simpler way takes steps without end: two chains side by side.
#[test]
fn long_chains_take_no_time() {
    const LENGTH: usize = 200_000;
    let mut record = Record::default();
    let place = |object: usize| 0x1000 + object * 64;
    for object in 0..LENGTH * 2 {
        let next = (object % LENGTH + 1 < LENGTH).then_some(object + 1);
        let beside = (object < LENGTH).then_some(object + LENGTH);
        let mut count = 0;
        for target in next.into_iter().chain(beside) {
            record.refer(place(target), 1);
            count += 1;
        }
        record.object(place(object), ClassId::from_runtime(1), 24, count);
    }
    let root = HeapRoot {
        object: 0,
        kind: RootKind::Stack,
        flags: RootFlags::empty(),
        id: 0,
    };
    record.roots.push((place(0), root));
    let graph = HeapGraph::build(record, Vec::new(), HashMap::new()).unwrap();
    let dominators = graph.dominators();
    assert_eq!(dominators.retained(0), 24 * 2 * LENGTH as u64);
    assert_eq!(dominators.immediate(LENGTH as u32 + 5), Some(0));
    assert_eq!(dominators.immediate(5), Some(4));
}

/// Counts what a thread has allocated, now and at most.
struct Counting;

thread_local! {
    static HELD: std::cell::Cell<(isize, isize)> = const { std::cell::Cell::new((0, 0)) };
}

fn count(bytes: isize) {
    // A thread that ends counts no more.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + bytes, most.max(now + bytes)));
    });
}

#[allow(unsafe_code, reason = "an allocator is")]
// SAFETY: the system's allocator does it all.
unsafe impl std::alloc::GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { std::alloc::System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: std::alloc::Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as the caller promises.
        unsafe { std::alloc::System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What is promised in the documentation of `HeapGraph`, for a heap that is walked out of order.
#[test]
fn a_graph_takes_what_it_says_and_less_than_twice_that_before() {
    const COUNT: usize = 300_000;
    HELD.set((0, 0));
    let place = |object: usize| 0x7f00_0000_0000 + (object + COUNT / 2) % COUNT * 64;
    let mut record = Record::default();
    for object in 0..COUNT {
        for number in 1..3 {
            record.refer(place(object * number % COUNT), number as u32);
        }
        record.object(place(object), ClassId::from_runtime(1), 24, 2);
    }
    let graph = HeapGraph::build(record, Vec::new(), HashMap::new()).unwrap();
    assert_eq!(graph.reference_count() as usize, COUNT * 2);
    assert_eq!(targets(&graph, 7), [7, 14]);
    let (now, most) = HELD.get();
    let promised = (COUNT * 12 + COUNT * 2 * 8) as isize;
    // Up to a chunk of each kind is not full.
    let slack = 6 * 8 * 65_536;
    assert!(
        now >= promised && now < promised + slack,
        "{now} of {promised}"
    );
    assert!(most < promised * 2, "{most} of {promised}");
}
