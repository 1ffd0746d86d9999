//! Handmade graphs, and dominators by definition.

use super::{ClassTotals, Dominators, HeapPath, HeapStep, ObjectGraph, PlaceName};

/// Objects with their classes and sizes in words, their references, and the roots.
struct Heap {
    objects: Vec<(usize, u64)>,
    references: Vec<Vec<u32>>,
    held: Vec<u32>,
}

impl Heap {
    fn new(objects: &[(usize, u64)], references: &[(u32, u32)], held: &[u32]) -> Self {
        let of = |object| references.iter().filter(move |(from, _)| *from == object);
        let all = 0..objects.len() as u32;
        Self {
            objects: objects.to_vec(),
            references: all
                .map(|object| of(object).map(|(_, to)| *to).collect())
                .collect(),
            held: held.to_vec(),
        }
    }
}

impl ObjectGraph for Heap {
    fn object_count(&self) -> u32 {
        self.objects.len() as u32
    }

    fn class_count(&self) -> usize {
        let classes = self.objects.iter().map(|(class, _)| class + 1);
        classes.max().unwrap_or(0)
    }

    fn class_index(&self, object: u32) -> usize {
        self.objects[object as usize].0
    }

    fn size(&self, object: u32) -> u64 {
        self.objects[object as usize].1 * 8
    }

    fn target(&self, object: u32, reference: u32) -> Option<u32> {
        let references = &self.references[object as usize];
        references.get(reference as usize).copied()
    }

    fn strong_roots(&self) -> impl Iterator<Item = (usize, u32)> {
        self.held.iter().copied().enumerate()
    }

    fn clear_references(&mut self) {
        self.references.clear();
    }
}

#[test]
fn places_have_the_names_of_fields_and_elements() {
    let fields = [(8, "first".to_owned()), (24, "third".to_owned())];
    let field = |offset| PlaceName::field(&fields, offset);
    assert_eq!(field(8), PlaceName::Field("first", 0));
    assert_eq!(field(16), PlaceName::Field("first", 8));
    assert_eq!(field(24).to_string(), "third");
    assert_eq!(field(0), PlaceName::Unknown);
    let element = |offset| PlaceName::element(16, 24, offset);
    assert_eq!(element(16 + 24 * 2 + 8).to_string(), "[2]+8");
    assert_eq!(element(8), PlaceName::Unknown);
}

#[test]
fn a_shortest_path_is_found() {
    let graph = Heap::new(
        &[(0, 3), (1, 3), (1, 3), (2, 3), (3, 3)],
        &[(0, 1), (1, 2), (2, 3), (0, 3), (3, 0)],
        &[0],
    );
    let path = HeapPath::shortest(&graph, |object| graph.class_index(object) == 2).unwrap();
    assert_eq!((path.root, path.object), (0, 3));
    let step = HeapStep {
        object: 0,
        reference: 1,
    };
    assert_eq!(path.steps, [step]);
    let held = HeapPath::shortest(&graph, |object| object == 0).unwrap();
    assert_eq!(held.steps, []);
    assert_eq!(HeapPath::shortest(&graph, |object| object == 4), None);
}

#[test]
fn a_type_keeps_what_goes_with_it() {
    // A list of three of the same type, the last of which keeps another one; one more is not reachable.
    let graph = Heap::new(
        &[(0, 3), (0, 3), (0, 3), (1, 10), (1, 20)],
        &[(0, 1), (1, 2), (2, 3), (4, 3)],
        &[0],
    );
    let dominators = Dominators::of(&graph);
    assert_eq!(dominators.retained(0), Some(8 * 19));
    assert_eq!(dominators.immediate(3), Some(2));
    assert_eq!(dominators.immediate(0), None);
    assert!(dominators.is_reached(0) && !dominators.is_reached(4));
    let totals = |count, size, retained, unreached| ClassTotals {
        count,
        size,
        retained,
        unreached,
    };
    assert_eq!(
        dominators.by_class(),
        [totals(3, 72, 8 * 19, 0), totals(2, 240, 240, 160)]
    );
}

#[test]
fn objects_that_are_not_there_are_not_kept() {
    let graph = Heap::new(&[(0, 3)], &[], &[0]);
    let dominators = Dominators::of(&graph);
    assert!(!dominators.is_reached(1));
    assert_eq!(
        (dominators.immediate(1), dominators.retained(1)),
        (None, None)
    );
}

/// The objects that are unreachable without the object, itself included.
fn lost_without(graph: &Heap, without: Option<u32>) -> Vec<bool> {
    let mut is_reached = vec![false; graph.object_count() as usize];
    let mut queue = graph.held.clone();
    while let Some(object) = queue.pop() {
        if Some(object) != without && !std::mem::replace(&mut is_reached[object as usize], true) {
            queue.extend(graph.targets(object));
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
        let objects: Vec<_> = (0..count)
            .map(|_| (random(4), 3 + random(9) as u64))
            .collect();
        let edges = random(count * 3 + 1);
        let mut object = || random(count) as u32;
        let references: Vec<_> = (0..edges).map(|_| (object(), object())).collect();
        let held: Vec<_> = (0..random(4)).map(|_| random(count) as u32).collect();
        let mut graph = Heap::new(&objects, &references, &held);
        let dominators = Dominators::of(&graph);
        let never = lost_without(&graph, None);
        let mut by_class = vec![0; graph.class_count()];
        for object in 0..graph.object_count() {
            let is_reached = !never[object as usize];
            assert_eq!(dominators.is_reached(object), is_reached, "round {round}");
            if !is_reached {
                by_class[graph.class_index(object)] += graph.size(object);
                continue;
            }
            let lost = lost_without(&graph, Some(object));
            let gone =
                (0..graph.object_count()).filter(|o| lost[*o as usize] && !never[*o as usize]);
            let retained: u64 = gone.clone().map(|object| graph.size(object)).sum();
            assert_eq!(dominators.retained(object), Some(retained), "round {round}");
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
        let totals = dominators.by_class();
        let retained: Vec<u64> = totals.iter().map(|total| total.retained).collect();
        assert_eq!(retained, by_class, "round {round}");
        assert_eq!(ClassTotals::of(&mut graph), totals, "round {round}");
        assert!(graph.references.is_empty());
    }
}

/// A graph on which a simpler algorithm would take forever: two parallel chains.
#[test]
fn long_chains_take_no_time() {
    const LENGTH: u32 = 200_000;
    let references = (0..LENGTH * 2).map(|object| {
        let next = (object % LENGTH + 1 < LENGTH).then_some(object + 1);
        let beside = (object < LENGTH).then_some(object + LENGTH);
        next.into_iter().chain(beside).collect()
    });
    let graph = Heap {
        objects: vec![(0, 3); LENGTH as usize * 2],
        references: references.collect(),
        held: vec![0],
    };
    let dominators = Dominators::of(&graph);
    assert_eq!(dominators.retained(0), Some(24 * 2 * u64::from(LENGTH)));
    assert_eq!(dominators.immediate(LENGTH + 5), Some(0));
    assert_eq!(dominators.immediate(5), Some(4));
}

/// Each array has more references than a byte counts.
#[test]
fn arrays_can_be_large() {
    const LENGTH: u32 = 1000;
    let mut references = vec![(0..LENGTH).map(|_| 1).chain([2]).collect()];
    references.extend([(3..3 + LENGTH).collect(), (3..3 + LENGTH).rev().collect()]);
    references.resize_with(3 + LENGTH as usize, Vec::new);
    let graph = Heap {
        objects: vec![(0, 3); 3 + LENGTH as usize],
        references,
        held: vec![0],
    };
    let dominators = Dominators::of(&graph);
    assert_eq!(dominators.retained(1), Some(24));
    assert_eq!(dominators.retained(0), Some(24 * u64::from(3 + LENGTH)));
    assert!((1..3 + LENGTH).all(|object| dominators.immediate(object) == Some(0)));
}
