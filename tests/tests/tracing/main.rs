//! `method_tracer`: the program's behaviour stays the same, and its calls become spans.

#![cfg(unix)]

mod collector;
mod ends;
mod flow;
mod kinds;
mod limits;
mod otlp;
mod threads;
mod trace;
