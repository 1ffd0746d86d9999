//! The memory that would be freed with an object.

use super::ObjectGraph;

/// No object: not reached, or held by several roots.
const NONE: u32 = u32::MAX;

/// The dominators of objects: an object dominates another if every path from the roots to the other
/// one leads through it.
///
/// Takes 12 bytes an object; during the computation some 40, and 4 a reference.
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
    /// Computes the dominators by the algorithm of Lengauer and Tarjan: the time grows hardly faster
    /// than the graph.
    #[must_use]
    pub fn of(graph: &'a G) -> Self {
        let mut search = Search::of(graph);
        let predecessors = Predecessors::of(graph, &search);
        search.run(&predecessors);
        drop(predecessors);
        let Search {
            order, dominator, ..
        } = search;
        let count = graph.object_count();
        let mut nearest = vec![NONE; count as usize];
        let mut retained: Vec<u64> = (0..count).map(|object| graph.size(object)).collect();
        // Children have higher numbers than their dominators.
        for number in (1..order.len()).rev() {
            let object = order[number];
            match dominator[number] {
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

/// A depth-first search and the values computed from it. Everything is indexed by the number that the
/// search assigns; 0 stands for all roots together.
struct Search {
    /// The object of each number.
    order: Vec<u32>,
    /// The number of each object.
    numbers: Vec<u32>,
    parent: Vec<u32>,
    dominator: Vec<u32>,
}

impl Search {
    fn of(graph: &impl ObjectGraph) -> Self {
        let mut numbers = vec![NONE; graph.object_count() as usize];
        let (mut order, mut parent) = (vec![NONE], vec![0]);
        // The current number, and the next of its references.
        let mut path: Vec<(u32, u32)> = Vec::new();
        for (_, held) in graph.strong_roots() {
            let mut step = Some((held, 0));
            loop {
                if let Some((object, from)) = step.take()
                    && numbers[object as usize] == NONE
                {
                    let number = order.len() as u32;
                    numbers[object as usize] = number;
                    order.push(object);
                    parent.push(from);
                    path.push((number, 0));
                }
                let Some((number, next)) = path.last_mut() else {
                    break;
                };
                match graph.target(order[*number as usize], *next) {
                    Some(target) => {
                        *next += 1;
                        step = Some((target, *number));
                    }
                    None => {
                        path.pop();
                    }
                }
            }
        }
        Self {
            order,
            numbers,
            parent,
            dominator: Vec::new(),
        }
    }

    fn run(&mut self, predecessors: &Predecessors) {
        let count = self.order.len();
        let mut forest = Forest {
            ancestor: vec![NONE; count],
            label: (0..count as u32).collect(),
            semi: (0..count as u32).collect(),
            path: Vec::new(),
        };
        // The numbers whose semidominator is known to be this one, as lists.
        let (mut bucket, mut next) = (vec![NONE; count], vec![NONE; count]);
        self.dominator = vec![0; count];
        for number in (1..count as u32).rev() {
            let mut semi = forest.semi[number as usize];
            for predecessor in predecessors.of_number(number) {
                let best = forest.evaluate(*predecessor);
                semi = semi.min(forest.semi[best as usize]);
            }
            forest.semi[number as usize] = semi;
            next[number as usize] = bucket[semi as usize];
            bucket[semi as usize] = number;
            let parent = self.parent[number as usize];
            forest.ancestor[number as usize] = parent;
            let mut waiting = std::mem::replace(&mut bucket[parent as usize], NONE);
            while waiting != NONE {
                let best = forest.evaluate(waiting);
                let is_lower = forest.semi[best as usize] < forest.semi[waiting as usize];
                self.dominator[waiting as usize] = if is_lower { best } else { parent };
                waiting = next[waiting as usize];
            }
        }
        for number in 1..count {
            let dominator = self.dominator[number];
            if dominator != forest.semi[number] {
                self.dominator[number] = self.dominator[dominator as usize];
            }
        }
    }
}

/// The processed part of the search's tree.
struct Forest {
    ancestor: Vec<u32>,
    /// The number with the least semidominator on the path up, as far as the path was compressed.
    label: Vec<u32>,
    semi: Vec<u32>,
    path: Vec<u32>,
}

impl Forest {
    fn evaluate(&mut self, number: u32) -> u32 {
        if self.ancestor[number as usize] == NONE {
            return number;
        }
        // Compresses the path to the root of its tree, from the top down.
        let mut at = number;
        loop {
            let above = self.ancestor[at as usize];
            if self.ancestor[above as usize] == NONE {
                break;
            }
            self.path.push(at);
            at = above;
        }
        while let Some(below) = self.path.pop() {
            let above = self.ancestor[below as usize];
            let (upper, own) = (self.label[above as usize], self.label[below as usize]);
            if self.semi[upper as usize] < self.semi[own as usize] {
                self.label[below as usize] = upper;
            }
            self.ancestor[below as usize] = self.ancestor[above as usize];
        }
        self.label[number as usize]
    }
}

/// The predecessors of each number.
struct Predecessors {
    first: Vec<u32>,
    from: Vec<u32>,
}

impl Predecessors {
    fn of(graph: &impl ObjectGraph, search: &Search) -> Self {
        let mut first = vec![0_u32; search.order.len() + 1];
        each(graph, search, |_, to| first[to as usize + 1] += 1);
        for number in 1..first.len() {
            first[number] += first[number - 1];
        }
        // Each advances from the start of its number's range to the start of the next one's.
        let mut from = vec![0; first.last().map_or(0, |count| *count as usize)];
        each(graph, search, |number, to| {
            from[first[to as usize] as usize] = number;
            first[to as usize] += 1;
        });
        for number in (1..first.len()).rev() {
            first[number] = first[number - 1];
        }
        first[0] = 0;
        Self { first, from }
    }

    fn of_number(&self, number: u32) -> &[u32] {
        let number = number as usize;
        &self.from[self.first[number] as usize..self.first[number + 1] as usize]
    }
}

/// Each reference between numbers.
fn each(graph: &impl ObjectGraph, search: &Search, mut visit: impl FnMut(u32, u32)) {
    for (_, object) in graph.strong_roots() {
        visit(0, search.numbers[object as usize]);
    }
    for (number, object) in search.order.iter().enumerate().skip(1) {
        for target in graph.targets(*object) {
            visit(number as u32, search.numbers[target as usize]);
        }
    }
}
