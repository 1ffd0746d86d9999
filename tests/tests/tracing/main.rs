//! `method_tracer`: the program's behaviour stays the same, and its calls become spans.

#![cfg(unix)]

mod both;
mod budget;
mod collector;
mod conventions;
mod database;
mod ends;
mod enumerations;
mod faults;
mod flow;
mod grpc;
mod kinds;
mod limits;
mod logging;
mod no_code;
mod order;
mod otlp;
mod providers;
mod real;
mod requests;
mod semantic_conventions;
mod service;
mod threads;
mod trace;
mod trees;
mod values;
