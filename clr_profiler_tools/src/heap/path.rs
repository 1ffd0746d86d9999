//! The path from a root to an object.

use clr_profiler::heap::HeapGraph;

use super::{ObjectGraph, PlaceName};

/// A shortest path from a strong root to an object.
///
/// ```
/// use clr_profiler::heap::HeapGraph;
/// use clr_profiler_tools::heap::HeapPath;
///
/// /// Why an object of a type is alive: the types on the path to it, each with the field that leads on.
/// fn why(graph: &HeapGraph, name: &str) -> Option<Vec<String>> {
///     let has_name = |number| graph.object(number).is_some_and(|object| object.class().name == name);
///     let path = HeapPath::shortest(graph, has_name)?;
///     let steps = path.steps.iter().filter_map(|step| {
///         let object = graph.object(step.object)?;
///         Some(format!("{}.{}", object.class().name, step.place_name(graph)))
///     });
///     Some(steps.collect())
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapPath {
    /// The root, as an index of [`HeapGraph::roots`]. It holds the object of the first step, or
    /// `object` itself.
    pub root: usize,
    /// The objects before the last one.
    pub steps: Vec<HeapStep>,
    /// The object at the end.
    pub object: u32,
}

/// A reference on a [`HeapPath`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HeapStep {
    /// The object that refers to the next one.
    pub object: u32,
    /// The number of its reference, as in [`HeapObject::reference`](clr_profiler::heap::HeapObject::reference).
    pub reference: u32,
}

impl HeapPath {
    /// A shortest path from a strong root to one of the objects that match; `None` if no root
    /// keeps any of them alive.
    #[must_use]
    pub fn shortest<G: ObjectGraph>(
        graph: &G,
        is_looked_for: impl Fn(u32) -> bool,
    ) -> Option<Self> {
        const UNSEEN: u32 = u32::MAX;
        const HELD: u32 = u32::MAX - 1;
        let mut from = vec![UNSEEN; graph.object_count() as usize];
        let mut queue = Vec::new();
        for (_, object) in graph.strong_roots() {
            if from[object as usize] == UNSEEN {
                from[object as usize] = HELD;
                queue.push(object);
            }
        }
        let mut next = 0;
        let found = loop {
            let object = *queue.get(next)?;
            if is_looked_for(object) {
                break object;
            }
            next += 1;
            for target in graph.targets(object) {
                if from[target as usize] == UNSEEN {
                    from[target as usize] = object;
                    queue.push(target);
                }
            }
        };
        let mut steps = Vec::new();
        let mut first = found;
        while from[first as usize] != HELD {
            let object = from[first as usize];
            let reference = graph.targets(object).position(|target| target == first)?;
            steps.push(HeapStep {
                object,
                reference: reference as u32,
            });
            first = object;
        }
        steps.reverse();
        let (root, _) = graph.strong_roots().find(|(_, held)| *held == first)?;
        Some(Self {
            root,
            steps,
            object: found,
        })
    }
}

impl HeapStep {
    /// The field or element of the reference; unknown if the step is not one of this graph.
    #[must_use]
    pub fn place_name<'a>(&self, graph: &'a HeapGraph) -> PlaceName<'a> {
        let object = graph.object(self.object);
        let reference = object.and_then(|object| object.reference(self.reference));
        match (object, reference) {
            (Some(object), Some(reference)) => PlaceName::of(object.class(), reference.place),
            _ => PlaceName::Unknown,
        }
    }
}
