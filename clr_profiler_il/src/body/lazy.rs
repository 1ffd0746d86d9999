use std::fmt;
use std::mem;
use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, OnceLock, PoisonError};

use super::instructions::read_instructions;
use super::link::{link, node_at_offset};
use super::sections::link_flat_clause;
use crate::code::Code;
use crate::flat::Flat;

/// The instructions of a body: nodes, or flat code until something needs nodes.
///
/// It dereferences to the nodes. Reading them leaves flat code in force; a mutable
/// access replaces it.
pub(crate) struct LazyCode {
    /// The nodes, unless flat code is in force.
    code: Code,
    flat: Flat,
    is_flat: bool,
    /// The nodes of the flat code, if something has read them.
    read: OnceLock<Box<Code>>,
    /// Memory for these nodes.
    spare: Mutex<Option<Box<Code>>>,
}

impl LazyCode {
    /// These nodes.
    pub(crate) fn new(code: Code) -> Self {
        Self {
            code,
            flat: Flat::default(),
            is_flat: false,
            read: OnceLock::new(),
            spare: Mutex::new(None),
        }
    }

    /// No nodes, in memory that is reused.
    #[inline]
    pub(super) fn anew(&mut self) -> &mut Code {
        self.is_flat = false;
        self.code.clear();
        &mut self.code
    }

    /// Reads flat code, which is in force if `read` returns `true`.
    #[inline]
    pub(super) fn read_flat(&mut self, read: impl FnOnce(&mut Flat) -> bool) -> bool {
        self.keep_memory();
        self.is_flat = read(&mut self.flat);
        self.is_flat
    }

    /// The flat code, if it is in force.
    pub(crate) fn flat(&self) -> Option<&Flat> {
        self.is_flat.then_some(&self.flat)
    }

    /// The flat code, if it is in force and nothing has read its nodes.
    pub(crate) fn unread_flat(&mut self) -> Option<&mut Flat> {
        let is_unread = self.is_flat && self.read.get().is_none();
        is_unread.then_some(&mut self.flat)
    }

    /// Has the nodes replace flat code.
    #[inline]
    pub(crate) fn settle(&mut self) {
        if self.is_flat {
            self.replace_flat();
        }
    }

    #[cold]
    fn replace_flat(&mut self) {
        self.is_flat = false;
        match self.read.get_mut() {
            Some(read) => mem::swap(&mut **read, &mut self.code),
            None => make_nodes(&self.flat, &mut self.code),
        }
        self.keep_memory();
    }

    /// Keeps the memory of nodes that were read.
    fn keep_memory(&mut self) {
        if let Some(read) = self.read.take() {
            *self.spare.get_mut().unwrap_or_else(PoisonError::into_inner) = Some(read);
        }
    }

    #[cold]
    fn nodes(&self) -> &Code {
        self.read.get_or_init(|| {
            let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
            let mut code = spare.take().unwrap_or_else(|| Box::new(Code::new()));
            make_nodes(&self.flat, &mut code);
            code
        })
    }
}

/// Makes the nodes of flat code, with the planned insertions.
fn make_nodes(flat: &Flat, code: &mut Code) {
    code.clear();
    let read = read_instructions(code, flat.bytes(), 0).and_then(|()| link(code, 0));
    debug_assert!(read.is_ok(), "flat code is well-formed");
    for clause in flat.clauses() {
        link_flat_clause(code, clause);
    }
    flat.insert_planned(code, node_at_offset);
}

impl Deref for LazyCode {
    type Target = Code;

    #[inline]
    fn deref(&self) -> &Code {
        match self.is_flat {
            true => self.nodes(),
            false => &self.code,
        }
    }
}

impl DerefMut for LazyCode {
    #[inline]
    fn deref_mut(&mut self) -> &mut Code {
        self.settle();
        &mut self.code
    }
}

impl Clone for LazyCode {
    fn clone(&self) -> Self {
        let mut clone = Self::new(Code::new());
        match self.is_flat {
            true => {
                clone.flat = self.flat.clone();
                clone.read = self.read.clone();
                clone.is_flat = true;
            }
            false => clone.code = self.code.clone(),
        }
        clone
    }
}

impl fmt::Debug for LazyCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
