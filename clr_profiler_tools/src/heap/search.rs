//! The computation of dominators.
//!
//! A heap can fill most of the memory, so each step frees the lists that the next one does not need. All but the first are
//! indexed by the numbers that a depth-first search assigns to the objects; 0 is all roots together.

use std::collections::HashMap;

use super::ObjectGraph;
use super::dominators::NONE;

/// The depth-first search. Takes 8 bytes an object; meanwhile 9, then 12.
pub(super) struct Search {
    /// The number of each object, or `NONE`.
    numbers: Vec<u32>,
    /// The parent of each number in the search's tree.
    parents: Vec<u32>,
}

impl Search {
    /// Finds the objects that roots keep alive.
    pub(super) fn of(graph: &impl ObjectGraph) -> Self {
        let count = graph.object_count() as usize;
        let mut numbers = vec![NONE; count];
        let mut last = 0;
        // Of objects, not of numbers: the way back needs the objects.
        let mut parents = vec![NONE; count];
        let mut next = Positions::new(count);
        for (_, held) in graph.strong_roots() {
            if numbers[held as usize] != NONE {
                continue;
            }
            last += 1;
            numbers[held as usize] = last;
            let mut object = held;
            while object != NONE {
                match graph.target(object, next.advance(object)) {
                    Some(target) if numbers[target as usize] == NONE => {
                        last += 1;
                        numbers[target as usize] = last;
                        parents[target as usize] = object;
                        object = target;
                    }
                    Some(_) => {}
                    None => object = parents[object as usize],
                }
            }
        }
        drop(next);
        let mut of_numbers = vec![0; last as usize + 1];
        for (object, number) in numbers.iter().enumerate() {
            if *number != NONE && parents[object] != NONE {
                of_numbers[*number as usize] = numbers[parents[object] as usize];
            }
        }
        Self {
            numbers,
            parents: of_numbers,
        }
    }

    /// The references, as the following steps need them.
    pub(super) fn references(self, graph: &impl ObjectGraph) -> References {
        let Self { numbers, parents } = self;
        let mut semidominators = parents.clone();
        let mut count = 0;
        each(graph, &numbers, |from, to| {
            let least = &mut semidominators[to as usize];
            *least = from.min(*least);
            count += usize::from(from > to);
        });
        let mut backward = Vec::with_capacity(count);
        each(graph, &numbers, |from, to| {
            if from > to {
                backward.push((to, from));
            }
        });
        backward.sort_unstable();
        References {
            numbers,
            parents,
            semidominators,
            backward,
        }
    }
}

/// The references that a search has read of each object: a few bytes for those that have many, one byte for the others.
struct Positions {
    few: Vec<u8>,
    many: HashMap<u32, u32>,
}

impl Positions {
    /// Sentinel: the number is in `many`.
    const MANY: u8 = u8::MAX;

    fn new(count: usize) -> Self {
        Self {
            few: vec![0; count],
            many: HashMap::new(),
        }
    }

    /// The number of the next reference of an object.
    fn advance(&mut self, object: u32) -> u32 {
        let few = &mut self.few[object as usize];
        if *few < Self::MANY {
            *few += 1;
            return u32::from(*few) - 1;
        }
        let many = self.many.entry(object).or_insert(u32::from(Self::MANY));
        *many += 1;
        *many - 1
    }
}

/// Each reference between numbers.
fn each(graph: &impl ObjectGraph, numbers: &[u32], mut visit: impl FnMut(u32, u32)) {
    for (_, object) in graph.strong_roots() {
        visit(0, numbers[object as usize]);
    }
    for (object, number) in (0..).zip(numbers) {
        if *number != NONE {
            for target in graph.targets(object) {
                visit(*number, numbers[target as usize]);
            }
        }
    }
}

/// The outcome of a search. Takes 12 bytes an object, and 8 for each of the references below.
pub(super) struct References {
    numbers: Vec<u32>,
    parents: Vec<u32>,
    /// The least number that refers to each one: its semidominator, unless one of the references below leads to a lower one.
    semidominators: Vec<u32>,
    /// The references from higher numbers to lower ones: sorted, the lower number first.
    backward: Vec<(u32, u32)>,
}

impl References {
    /// Finds the dominators. Takes 20 bytes an object, and 8 for each backward reference.
    pub(super) fn dominators(self) -> Found {
        let Self {
            numbers,
            parents,
            semidominators,
            backward,
        } = self;
        let mut ways = Ways {
            above: parents.clone(),
            least: vec![0; parents.len()],
            semidominators,
        };
        ways.find_semidominators(backward);
        let mut dominators = parents;
        ways.find_dominators(&mut dominators);
        Found {
            numbers,
            dominators,
        }
    }
}

struct Ways {
    semidominators: Vec<u32>,
    /// The number at which the shortened way up continues; then a dominator far above.
    above: Vec<u32>,
    /// The least semidominator before that number; then the depth in the tree of dominators.
    least: Vec<u32>,
}

impl Ways {
    fn find_semidominators(&mut self, mut backward: Vec<(u32, u32)>) {
        for number in (1..self.semidominators.len()).rev() {
            let mut least = self.semidominators[number];
            while let Some((_, from)) = backward.pop_if(|(to, _)| *to as usize == number) {
                least = least.min(self.least_above(from, number as u32));
            }
            self.semidominators[number] = least;
            self.least[number] = least;
        }
    }

    /// The least semidominator on the way up from a number to `lowest`. Shortens the way.
    fn least_above(&mut self, number: u32, lowest: u32) -> u32 {
        let mut least = NONE;
        let mut at = number;
        while at > lowest {
            let above = self.above[at as usize];
            if above > lowest {
                let of_above = self.least[above as usize];
                let own = &mut self.least[at as usize];
                *own = of_above.min(*own);
                self.above[at as usize] = self.above[above as usize];
            }
            least = least.min(self.least[at as usize]);
            at = self.above[at as usize];
        }
        least
    }

    /// Finds the dominators, from the parents: of each number the lowest one above its parent in the tree of dominators that is
    /// not below its semidominator. `above` leads to one so far up that there are few steps.
    fn find_dominators(&mut self, dominators: &mut [u32]) {
        self.above[0] = 0;
        self.least[0] = 0;
        for number in 1..dominators.len() {
            let semidominator = self.semidominators[number];
            let mut at = dominators[number];
            while at > semidominator {
                let far = self.above[at as usize];
                at = match far > semidominator {
                    true => far,
                    false => dominators[at as usize],
                };
            }
            dominators[number] = at;
            let depth = |number: u32| self.least[number as usize];
            let far = self.above[at as usize];
            let farther = self.above[far as usize];
            // As long as both before together, or one.
            let is_even = depth(at) - depth(far) == depth(far) - depth(farther);
            let (above, depth) = (if is_even { farther } else { at }, depth(at) + 1);
            self.above[number] = above;
            self.least[number] = depth;
        }
    }
}

/// The dominators of numbers.
pub(super) struct Found {
    numbers: Vec<u32>,
    dominators: Vec<u32>,
}

impl Found {
    /// The nearest dominator of each object: their number if there is none, `NONE` if it is not reached. Then the object and the
    /// dominator of each number.
    pub(super) fn of_objects(self) -> (Vec<u32>, Vec<u32>, Vec<u32>) {
        let Self {
            mut numbers,
            dominators,
        } = self;
        let mut order = vec![numbers.len() as u32; dominators.len()];
        for (object, number) in numbers.iter().enumerate() {
            if *number != NONE {
                order[*number as usize] = object as u32;
            }
        }
        for number in &mut numbers {
            if *number != NONE {
                *number = order[dominators[*number as usize] as usize];
            }
        }
        (numbers, order, dominators)
    }
}
