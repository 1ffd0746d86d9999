//! The tables of the messages so far.

use std::collections::HashMap;

use super::message::{Message, Sums};

/// The tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Table {
    Methods,
    Tree,
    Threads,
    Allocations,
    Exceptions,
}

impl Table {
    pub(crate) const ALL: [(Self, &str); 5] = [
        (Self::Methods, "1 methods"),
        (Self::Tree, "2 tree"),
        (Self::Threads, "3 threads"),
        (Self::Allocations, "4 allocations"),
        (Self::Exceptions, "5 exceptions"),
    ];
}

/// The state of the screen.
pub(crate) struct View {
    pub(crate) table: Table,
    pub(crate) first_row: usize,
    pub(crate) is_paused: bool,
    /// Methods are ordered by their time with callees.
    pub(crate) by_all: bool,
    /// The sums since the beginning are shown, not the last period.
    pub(crate) has_sums: bool,
    last: Option<Period>,
    /// The sums of all periods.
    methods: HashMap<String, (f64, f64)>,
    threads: HashMap<(u32, String), f64>,
    allocated: HashMap<String, u64>,
    exceptions: HashMap<String, u64>,
    cpu: f64,
}

/// A message, with the time and the pauses since the one before.
pub(crate) struct Period {
    pub(crate) message: Message,
    pub(crate) time: f64,
    pub(crate) paused: f64,
}

/// A row of a table: its numbers as text, and its name.
pub(crate) struct Row(pub(crate) Vec<String>, pub(crate) String);

impl View {
    pub(crate) fn new() -> Self {
        Self {
            table: Table::Methods,
            first_row: 0,
            is_paused: false,
            by_all: false,
            has_sums: false,
            last: None,
            methods: HashMap::new(),
            threads: HashMap::new(),
            allocated: HashMap::new(),
            exceptions: HashMap::new(),
            cpu: 0.0,
        }
    }

    pub(crate) fn last(&self) -> Option<&Period> {
        self.last.as_ref()
    }

    pub(crate) fn add(&mut self, message: Message) {
        for method in &message.methods {
            let sum = self.methods.entry(method.name.clone()).or_default();
            *sum = (sum.0 + method.own, sum.1 + method.all);
        }
        for thread in &message.threads {
            let key = (thread.id, thread.name.clone());
            *self.threads.entry(key).or_default() += thread.cpu;
        }
        add(&mut self.exceptions, &message.exceptions);
        if let Some(allocated) = &message.allocated {
            add(&mut self.allocated, allocated);
        }
        self.cpu += message.cpu;
        if self.is_paused {
            return;
        }
        let before = self.last.as_ref().map(|last| &last.message);
        let (at, paused) =
            before.map_or((0.0, 0.0), |before| (before.at, before.collections.paused));
        self.last = Some(Period {
            time: (message.at - at).max(1.0),
            paused: message.collections.paused - paused,
            message,
        });
    }

    /// The names of the columns before the name.
    pub(crate) fn columns(&self) -> (&'static [&'static str], &'static str) {
        match self.table {
            Table::Methods => (&["own", "own ms", "with callees", "ms"], "method"),
            Table::Tree => (&["with callees", "ms"], "method"),
            Table::Threads => (&["cpu", "ms", "id"], "thread"),
            Table::Allocations => (&["share", "MB", "MB/s"], "type"),
            Table::Exceptions => (&["count", "a second"], "type"),
        }
    }

    pub(crate) fn rows(&self) -> Vec<Row> {
        let Some(last) = &self.last else {
            return Vec::new();
        };
        let message = &last.message;
        // Milliseconds, for rates.
        let time = if self.has_sums { message.at } else { last.time };
        let cpu = if self.has_sums { self.cpu } else { message.cpu };
        match self.table {
            Table::Methods => {
                let mut methods: Vec<(&String, (f64, f64))> = match self.has_sums {
                    true => self
                        .methods
                        .iter()
                        .map(|(name, sums)| (name, *sums))
                        .collect(),
                    false => {
                        let methods = message.methods.iter();
                        methods
                            .map(|method| (&method.name, (method.own, method.all)))
                            .collect()
                    }
                };
                methods.sort_by(
                    |(one, (one_own, one_all)), (other, (other_own, other_all))| {
                        let order = match self.by_all {
                            true => other_all.total_cmp(one_all),
                            false => other_own.total_cmp(one_own),
                        };
                        order.then_with(|| one.cmp(other))
                    },
                );
                let row = |(name, (own, all)): (&String, (f64, f64))| {
                    let numbers = vec![share(own, cpu), ms(own), share(all, cpu), ms(all)];
                    Row(numbers, name.clone())
                };
                methods.into_iter().map(row).collect()
            }
            // The sums have no stacks.
            Table::Tree => {
                let rows = message.tree.iter().map(|node| {
                    let name = format!("{}{}", "  ".repeat(node.depth), node.name);
                    Row(vec![share(node.all, message.cpu), ms(node.all)], name)
                });
                rows.collect()
            }
            Table::Threads => {
                let mut threads: Vec<(u32, &String, f64)> = match self.has_sums {
                    true => {
                        let threads = self.threads.iter();
                        threads.map(|((id, name), cpu)| (*id, name, *cpu)).collect()
                    }
                    false => {
                        let threads = message.threads.iter();
                        threads
                            .map(|thread| (thread.id, &thread.name, thread.cpu))
                            .collect()
                    }
                };
                threads.sort_by(|one, other| other.2.total_cmp(&one.2).then(one.0.cmp(&other.0)));
                let row = |(id, name, cpu): (u32, &String, f64)| {
                    Row(
                        vec![share(cpu, time), ms(cpu), id.to_string()],
                        name.clone(),
                    )
                };
                threads.into_iter().map(row).collect()
            }
            Table::Allocations => {
                let parts = self.parts(&self.allocated, message.allocated.as_ref());
                let all: u64 = parts.iter().map(|(_, bytes)| bytes).sum();
                let row = |(name, bytes): (&String, u64)| {
                    let megabytes = bytes as f64 / 1e6;
                    let numbers = vec![
                        share(bytes as f64, all as f64),
                        format!("{megabytes:.1}"),
                        format!("{:.1}", megabytes / time * 1e3),
                    ];
                    Row(numbers, name.clone())
                };
                parts.into_iter().map(row).collect()
            }
            Table::Exceptions => {
                let parts = self.parts(&self.exceptions, Some(&message.exceptions));
                let row = |(name, count): (&String, u64)| {
                    let numbers = vec![
                        count.to_string(),
                        format!("{:.1}", count as f64 / time * 1e3),
                    ];
                    Row(numbers, name.clone())
                };
                parts.into_iter().map(row).collect()
            }
        }
    }

    /// The sums, or those of a period; the largest first.
    fn parts<'a>(
        &self,
        sums: &'a HashMap<String, u64>,
        period: Option<&'a Sums>,
    ) -> Vec<(&'a String, u64)> {
        let mut parts: Vec<(&String, u64)> = match self.has_sums {
            true => sums.iter().map(|(name, sum)| (name, *sum)).collect(),
            false => {
                let parts = period.into_iter().flat_map(|period| &period.types);
                parts.map(|part| (&part.name, part.sum)).collect()
            }
        };
        parts.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(other.0)));
        parts
    }
}

fn add(sums: &mut HashMap<String, u64>, more: &Sums) {
    for part in &more.types {
        *sums.entry(part.name.clone()).or_default() += part.sum;
    }
}

fn share(part: f64, all: f64) -> String {
    let share = if all > 0.0 { part / all * 100.0 } else { 0.0 };
    format!("{share:.1} %")
}

fn ms(milliseconds: f64) -> String {
    format!("{milliseconds:.0}")
}

#[cfg(test)]
mod tests {
    use super::super::message::tests::LINE;
    use super::*;

    fn view() -> View {
        let mut view = View::new();
        for at in [1000.0, 3000.0] {
            let mut message: Message = serde_json::from_str(LINE).unwrap();
            message.at = at;
            view.add(message);
        }
        view
    }

    fn first(view: &View) -> (String, String) {
        let Row(numbers, name) = view.rows().swap_remove(0);
        (numbers.join(" | "), name)
    }

    #[test]
    fn methods_are_ordered_by_own_time_or_with_callees() {
        let mut view = view();
        assert_eq!(
            first(&view),
            (
                "60.0 % | 900 | 66.7 % | 1000".into(),
                "Shop.Cart.Add(int)".into()
            )
        );
        view.by_all = true;
        view.has_sums = true;
        assert_eq!(
            first(&view),
            ("0.7 % | 20 | 100.0 % | 3000".into(), "Shop.Main()".into())
        );
    }

    #[test]
    fn rates_are_those_of_the_period_or_of_all() {
        let mut view = view();
        for (table, period, all) in [
            (Table::Threads, "75.0 % | 1500 | 7", "100.0 % | 3000 | 7"),
            (
                Table::Allocations,
                "100.0 % | 2.5 | 1.2",
                "100.0 % | 5.0 | 1.7",
            ),
            (Table::Exceptions, "3 | 1.5", "6 | 2.0"),
        ] {
            view.table = table;
            view.has_sums = false;
            assert_eq!(first(&view).0, period);
            view.has_sums = true;
            assert_eq!(first(&view).0, all);
        }
        view.table = Table::Tree;
        assert_eq!(view.rows()[1].1, "  Shop.Cart.Add(int)");
    }

    #[test]
    fn a_pause_keeps_the_period_and_adds_to_the_sums() {
        let mut view = view();
        view.is_paused = true;
        let mut message: Message = serde_json::from_str(LINE).unwrap();
        message.at = 9000.0;
        view.add(message);
        assert_eq!(view.last().unwrap().message.at, 3000.0);
        assert_eq!(view.cpu, 4500.0);
    }
}
