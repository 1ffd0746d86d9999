//! The memory that would be freed with an object.

use super::ObjectGraph;

/// No object: not reached, or held by several roots.
const NONE: u32 = u32::MAX;

/// The dominators of objects: an object dominates another if every path from the roots to the other
/// one leads through it.
///
/// Takes 12 bytes an object; during the computation 20, or 16 and 4 a reference if that is more.
///
/// ```
/// use clr_profiler::heap::HeapGraph;
/// use clr_profiler_tools::heap::Dominators;
///
/// /// The types whose objects keep at least a megabyte.
/// fn keepers(graph: &HeapGraph) -> Vec<&str> {
///     let totals = Dominators::of(graph).by_class();
///     let of_classes = totals.iter().zip(graph.classes());
///     let large = of_classes.filter(|(total, _)| total.retained >= 1 << 20);
///     large.map(|(_, class)| class.name.as_str()).collect()
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Dominators<'a, G> {
    graph: &'a G,
    /// The nearest object that dominates it; `len` if there is none, `NONE` if it is not reached.
    nearest: Vec<u32>,
    retained: Vec<u64>,
}

/// The memory of the objects of a type: see [`Dominators::by_class`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassTotals {
    /// The number of objects.
    pub count: u64,
    /// The bytes that they take themselves.
    pub size: u64,
    /// The bytes that would be freed with them: of those objects that no other one of the type dominates.
    pub retained: u64,
}

impl<'a, G: ObjectGraph> Dominators<'a, G> {
    /// Computes the dominators by the semidominators of Lengauer and Tarjan, and ancestors of the tree of dominators: the
    /// time grows hardly faster than the graph.
    #[must_use]
    pub fn of(graph: &'a G) -> Self {
        let mut search = Search::of(graph);
        search.collect_predecessors(graph);
        search.find_semidominators();
        let (order, dominators) = search.find_dominators();
        let count = graph.object_count();
        let mut nearest = vec![NONE; count as usize];
        let mut retained: Vec<u64> = (0..count).map(|object| graph.size(object)).collect();
        // Children have higher numbers than their dominators.
        for number in (1..order.len()).rev() {
            let object = order[number];
            match dominators[number + 1] {
                0 => nearest[object as usize] = count,
                above => {
                    let above = order[above as usize];
                    nearest[object as usize] = above;
                    retained[above as usize] += retained[object as usize];
                }
            }
        }
        Self {
            graph,
            nearest,
            retained,
        }
    }

    /// Whether a root keeps the object alive, directly or through others.
    #[must_use]
    pub fn is_reached(&self, object: u32) -> bool {
        let nearest = self.nearest.get(object as usize);
        nearest.is_some_and(|nearest| *nearest != NONE)
    }

    /// The nearest object that dominates it; `None` if roots keep it alive in several ways, if it is not
    /// reached, or if there is no such object.
    #[must_use]
    pub fn immediate(&self, object: u32) -> Option<u32> {
        let nearest = *self.nearest.get(object as usize)?;
        ((nearest as usize) < self.nearest.len()).then_some(nearest)
    }

    /// The bytes that would be freed with an object: its own, and those of all that it dominates. Its own
    /// if no root keeps it alive; `None` if there is no such object.
    #[must_use]
    pub fn retained(&self, object: u32) -> Option<u64> {
        self.retained.get(object as usize).copied()
    }

    /// Totals for each of the graph's classes, in their order.
    #[must_use]
    pub fn by_class(&self) -> Vec<ClassTotals> {
        let graph = self.graph;
        let mut totals = vec![ClassTotals::default(); graph.class_count()];
        for object in 0..graph.object_count() {
            let total = &mut totals[graph.class_index(object)];
            total.count += 1;
            total.size += graph.size(object);
            if !self.is_reached(object) {
                total.retained += graph.size(object);
            }
        }
        // Through the tree of dominators, to skip objects that one of the same type dominates.
        let (first_child, next) = self.children();
        let mut above = vec![0_u32; totals.len()];
        let mut object = first_child[self.nearest.len()];
        // Returns upwards through `nearest`.
        while (object as usize) < self.nearest.len() {
            let class = graph.class_index(object);
            if above[class] == 0 {
                totals[class].retained += self.retained[object as usize];
            }
            above[class] += 1;
            if first_child[object as usize] != NONE {
                object = first_child[object as usize];
                continue;
            }
            loop {
                above[graph.class_index(object)] -= 1;
                if next[object as usize] != NONE {
                    object = next[object as usize];
                    break;
                }
                object = self.nearest[object as usize];
                if object as usize >= self.nearest.len() {
                    break;
                }
            }
        }
        totals
    }

    /// The tree's first children, of the root at the end, and next siblings.
    fn children(&self) -> (Vec<u32>, Vec<u32>) {
        let count = self.nearest.len();
        let mut first = vec![NONE; count + 1];
        let mut next = vec![NONE; count];
        for object in (0..count).rev() {
            let nearest = self.nearest[object];
            if nearest != NONE {
                next[object] = first[nearest as usize];
                first[nearest as usize] = object as u32;
            }
        }
        (first, next)
    }
}

/// A depth-first search and the values computed from it, indexed by the numbers that the search assigns; 0 is all roots
/// together. A heap can fill most of the memory, so the lists are used again for other values when theirs are not needed anymore:
/// they take 16 bytes an object and 4 a reference.
struct Search {
    /// The object of each number.
    order: Vec<u32>,
    /// The number of each object, with a spare entry; then the least semidominator on the way up; then the depth in the tree of
    /// dominators.
    numbers: Vec<u32>,
    /// The parent in the search's tree; then the next number up to which the way was compressed; then a dominator far above.
    above: Vec<u32>,
    /// The next reference of each number; then its first predecessor, up to a further entry for the end; then, each one place
    /// later, the parents; then the dominators.
    first: Vec<u32>,
    /// The predecessors of all numbers; then, at the end, the semidominators.
    from: Vec<u32>,
    path: Vec<u32>,
}

impl Search {
    /// Finds the objects that roots keep alive.
    fn of(graph: &impl ObjectGraph) -> Self {
        let count = graph.object_count() as usize;
        let mut search = Self {
            order: Vec::with_capacity(count + 1),
            numbers: vec![NONE; count + 1],
            above: Vec::with_capacity(count + 1),
            first: vec![0; count + 2],
            from: Vec::new(),
            path: Vec::new(),
        };
        search.order.push(NONE);
        search.above.push(0);
        for (_, held) in graph.strong_roots() {
            let mut number = search.visit(held, 0).unwrap_or(0);
            // Back at the root of all, there is nothing left to do.
            while number != 0 {
                let reference = &mut search.first[number as usize];
                *reference += 1;
                number = match graph.target(search.order[number as usize], *reference - 1) {
                    Some(target) => search.visit(target, number).unwrap_or(number),
                    None => search.above[number as usize],
                };
            }
        }
        search
    }

    /// Gives an object a number, unless it has one.
    fn visit(&mut self, object: u32, parent: u32) -> Option<u32> {
        let number = &mut self.numbers[object as usize];
        if *number != NONE {
            return None;
        }
        *number = self.order.len() as u32;
        self.order.push(object);
        self.above.push(parent);
        Some(*number)
    }

    /// Collects the predecessors of each number; each has at least one.
    fn collect_predecessors(&mut self, graph: &impl ObjectGraph) {
        let Self {
            order,
            numbers,
            first,
            from,
            ..
        } = self;
        first.truncate(order.len() + 1);
        first.fill(0);
        each(graph, order, numbers, |_, to| first[to as usize + 1] += 1);
        for number in 1..first.len() {
            first[number] += first[number - 1];
        }
        // Each advances from the start of its number's range to the start of the next one's.
        *from = vec![0; first.last().map_or(0, |count| *count as usize)];
        each(graph, order, numbers, |number, to| {
            from[first[to as usize] as usize] = number;
            first[to as usize] += 1;
        });
        for number in (1..first.len()).rev() {
            first[number] = first[number - 1];
        }
        first[0] = 0;
    }

    /// Where the semidominator of a number is: at the end of the predecessors, those of this number and of higher ones are not
    /// needed anymore, and there are as many or more of them.
    fn place(&self, number: usize) -> usize {
        self.from.len() - (self.order.len() - number)
    }

    /// Finds the semidominators.
    fn find_semidominators(&mut self) {
        let count = self.order.len();
        self.numbers.truncate(count);
        for number in (1..count).rev() {
            let mut least = number as u32;
            for place in self.first[number] as usize..self.first[number + 1] as usize {
                let predecessor = self.from[place];
                least = least.min(match predecessor as usize > number {
                    true => self.least_above(predecessor, number as u32),
                    false => predecessor,
                });
            }
            let place = self.place(number);
            self.from[place] = least;
            self.numbers[number] = least;
            // The parent, which compressed ways do not keep.
            self.first[number + 1] = self.above[number];
        }
    }

    /// The least semidominator on the way up from a number to `lowest`. Compresses the way.
    fn least_above(&mut self, number: u32, lowest: u32) -> u32 {
        let mut at = number;
        loop {
            let above = self.above[at as usize];
            if above <= lowest {
                break;
            }
            self.path.push(at);
            at = above;
        }
        while let Some(below) = self.path.pop() {
            let above = self.above[below as usize];
            let least = self.numbers[above as usize];
            let own = &mut self.numbers[below as usize];
            *own = least.min(*own);
            self.above[below as usize] = self.above[above as usize];
        }
        self.numbers[number as usize]
    }

    /// Finds the dominators: of each number the lowest one above its parent in the tree of dominators that is not below its
    /// semidominator. `above` leads to one so far up that there are few steps.
    ///
    /// Returns the objects of the numbers, and their dominators each one place later.
    fn find_dominators(mut self) -> (Vec<u32>, Vec<u32>) {
        self.above[0] = 0;
        self.numbers[0] = 0;
        for number in 1..self.order.len() {
            let semidominator = self.from[self.place(number)];
            let mut at = self.dominator(number);
            while at > semidominator {
                let far = self.above[at as usize];
                at = match far > semidominator {
                    true => far,
                    false => self.dominator(at as usize),
                };
            }
            self.first[number + 1] = at;
            let depth = |number: u32| self.numbers[number as usize];
            let far = self.above[at as usize];
            let farther = self.above[far as usize];
            // As long as both before together, or one.
            let is_even = depth(at) - depth(far) == depth(far) - depth(farther);
            let (above, depth) = (if is_even { farther } else { at }, depth(at) + 1);
            self.above[number] = above;
            self.numbers[number] = depth;
        }
        (self.order, self.first)
    }

    /// The dominator of a number; its parent before that is known.
    fn dominator(&self, number: usize) -> u32 {
        self.first[number + 1]
    }
}

/// Each reference between numbers.
fn each(graph: &impl ObjectGraph, order: &[u32], numbers: &[u32], mut visit: impl FnMut(u32, u32)) {
    for (_, object) in graph.strong_roots() {
        visit(0, numbers[object as usize]);
    }
    for (number, object) in order.iter().enumerate().skip(1) {
        for target in graph.targets(*object) {
            visit(number as u32, numbers[target as usize]);
        }
    }
}
