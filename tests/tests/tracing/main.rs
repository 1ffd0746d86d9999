//! `method_tracer`: the program's behaviour stays the same, and its calls become spans.

mod collector;
#[path = "../watching/endings.rs"]
mod endings;
mod ends;
mod flow;
mod kinds;
mod limits;
mod otlp;
mod trace;
