//! The messages of the profiler, one for each period. Times are in milliseconds.

use serde::Deserialize;

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Message {
    /// Since the profiler began.
    pub(crate) at: f64,
    /// Whether own time is booked where it was used.
    pub(crate) exact: bool,
    pub(crate) samples: u64,
    /// The processor time of the samples.
    pub(crate) cpu: f64,
    pub(crate) methods: Vec<Method>,
    pub(crate) tree: Vec<Node>,
    pub(crate) threads: Vec<Thread>,
    /// Bytes; absent where the runtime does not tell them.
    pub(crate) allocated: Option<Sums>,
    /// Counts.
    pub(crate) exceptions: Sums,
    /// Since the profiler began.
    pub(crate) collections: Collections,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Method {
    pub(crate) name: String,
    pub(crate) own: f64,
    /// With its callees.
    pub(crate) all: f64,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Node {
    pub(crate) depth: usize,
    pub(crate) name: String,
    pub(crate) all: f64,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Thread {
    pub(crate) id: u32,
    pub(crate) name: String,
    pub(crate) cpu: f64,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Sums {
    pub(crate) all: u64,
    pub(crate) types: Vec<Sum>,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Sum {
    pub(crate) name: String,
    pub(crate) sum: u64,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Collections {
    /// By the oldest generation.
    pub(crate) counts: [u64; 3],
    pub(crate) paused: f64,
    pub(crate) longest: f64,
}

#[cfg(test)]
pub(super) mod tests {
    pub(crate) const LINE: &str = r#"{"at":1000.0,"exact":true,"samples":250,"cpu":1500.0,"methods":[{"name":"Shop.Cart.Add(int)","own":900.0,"all":1000.0},{"name":"Shop.Main()","own":10.0,"all":1500.0}],"tree":[{"depth":0,"name":"Shop.Main()","all":1500.0},{"depth":1,"name":"Shop.Cart.Add(int)","all":1000.0}],"threads":[{"id":7,"name":".NET TP Worker","cpu":1500.0}],"allocated":{"all":2500000,"types":[{"name":"System.String","sum":2500000}]},"exceptions":{"all":3,"types":[{"name":"System.TimeoutException","sum":3}]},"collections":{"counts":[5,2,1],"paused":20.0,"longest":4.5}}"#;
}
