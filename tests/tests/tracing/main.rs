//! `method_tracer`: what the program does stays as it is, and its calls become spans.

mod collector;
#[path = "../watching/endings.rs"]
mod endings;
mod ends;
mod flow;
mod kinds;
mod limits;
mod otlp;
mod trace;
