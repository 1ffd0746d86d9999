//! Graphs of handmade records.

use std::collections::HashMap;

use super::graph::{HeapClass, HeapGraph, HeapRoot, ReferencePlace};
use super::record::Record;
use crate::events::payload::RootFlags;
use crate::events::reasons::RootKind;
use crate::ids::ClassId;

/// Objects with their classes and sizes in words, their references, and the targets of roots.
struct Heap<'a> {
    objects: &'a [(usize, usize)],
    references: &'a [(usize, usize)],
    held: &'a [usize],
    weak: &'a [(usize, usize)],
}

/// Addresses that are not in the order of the walk.
fn address(object: usize) -> usize {
    0x1_0000 + (object * 7 % 1009) * 64
}

impl Heap<'_> {
    fn graph(&self, has_places: bool) -> HeapGraph {
        let mut record = Record::default();
        record.has_places = has_places;
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
    let references = graph.object(object).unwrap().references();
    references.map(|reference| reference.target).collect()
}

fn places(graph: &HeapGraph, object: u32) -> Vec<ReferencePlace> {
    let references = graph.object(object).unwrap().references();
    references.map(|reference| reference.place).collect()
}

const FOUR: Heap<'_> = Heap {
    objects: &[(0, 3), (1, 2), (0, 3), (2, 4)],
    references: &[(0, 1), (0, 2), (2, 0), (3, 3), (1, 500)],
    held: &[0, 900],
    weak: &[(1, 3), (1, 2), (600, 1)],
};

#[test]
fn without_places_those_of_weak_tables_are_known() {
    let graph = FOUR.graph(false);
    assert_eq!(targets(&graph, 0), [1, 2]);
    assert_eq!(places(&graph, 0), [ReferencePlace::Unknown; 2]);
    assert_eq!(places(&graph, 1), [ReferencePlace::WeakTable; 2]);
}

#[test]
fn references_are_those_that_were_recorded() {
    let graph = FOUR.graph(true);
    assert_eq!((graph.len(), graph.reference_count()), (4, 6));
    assert_eq!(targets(&graph, 0), [1, 2]);
    assert_eq!(targets(&graph, 1), [2, 3]);
    assert_eq!(targets(&graph, 2), [0]);
    assert_eq!(targets(&graph, 3), [3]);
    assert_eq!(graph.lost_references(), 3);
    assert_eq!(graph.roots().len(), 1);
    assert_eq!(graph.object(2).unwrap().class().name, "Class0");
    assert_eq!(graph.object(3).unwrap().size(), 32);
    let offsets = [8, 16].map(ReferencePlace::Offset);
    assert_eq!(places(&graph, 0), offsets);
    assert_eq!(places(&graph, 1), [ReferencePlace::WeakTable; 2]);
    let numbers = graph.objects().map(|object| object.number());
    assert!(numbers.eq(0..4));
    assert!(graph.object(4).is_none());
    assert_eq!(graph.object(1).unwrap().reference(2), None);
}

/// Counts the bytes that a thread has allocated, now and at most.
struct Counting;

thread_local! {
    static HELD: std::cell::Cell<(isize, isize)> = const { std::cell::Cell::new((0, 0)) };
}

fn count(bytes: isize) {
    // A thread that is ending is not counted.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + bytes, most.max(now + bytes)));
    });
}

#[allow(unsafe_code, reason = "an allocator is")]
// SAFETY: forwards to the system's allocator.
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

/// The sizes that the documentation of `HeapGraph` states, for a heap that is walked out of order.
#[test]
fn a_graph_takes_what_it_says_and_less_than_twice_that_before() {
    const COUNT: usize = 300_000;
    HELD.set((0, 0));
    let place = |object: usize| 0x7f00_0000_0000 + (object + COUNT / 2) % COUNT * 64;
    let mut record = Record::default();
    record.has_places = true;
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
    let promised = (COUNT * 8 + COUNT * 2 * 6) as isize;
    // Up to one chunk of each list is not full.
    let slack = (2 + 2 + 4 + 4 + 2) * 65_536;
    assert!(
        now >= promised && now < promised + slack,
        "{now} of {promised}"
    );
    let recorded = (COUNT * 12 + COUNT * 2 * 8) as isize;
    let slack = slack + (4 + 4 + 2 + 4 + 8) * 65_536 + COUNT as isize;
    assert!(most < recorded + slack, "{most} of {recorded}");
}
