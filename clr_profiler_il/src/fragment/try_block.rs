use super::{Fragment, TypeName};
use crate::code::{Bounds, ClauseKind, END, LabelKind};
use crate::instruction::Label;

/// A try region whose handlers follow; created by [`Fragment::try_block`].
///
/// A `catch` or `filter` protects the same code as the one before it. A `finally` or `fault`
/// protects all code before it, including handlers, and so do the handlers after it.
///
/// ```
/// use clr_profiler_il::fragment::Fragment;
///
/// let mut fragment = Fragment::new();
/// fragment
///     .try_block(|body| {
///         body.nop();
///     })
///     .catch("[System.Runtime]System.Exception", |handler| {
///         handler.pop();
///     })
///     .finally(|handler| {
///         handler.nop();
///     })
///     .end()
///     .ret();
/// assert_eq!(
///     fragment.to_string(),
///     "\
/// IL_0000:  nop
/// IL_0001:  leave.s    IL_0008
/// IL_0003:  pop
/// IL_0004:  leave.s    IL_0008
/// IL_0006:  nop
/// IL_0007:  endfinally
/// IL_0008:  ret
/// .try IL_0000 to IL_0003 catch [System.Runtime]System.Exception handler IL_0003 to IL_0006
/// .try IL_0000 to IL_0006 finally handler IL_0006 to IL_0008
/// "
/// );
/// ```
#[derive(Debug)]
#[must_use = "a try block without a handler has no effect"]
pub struct Try<'a> {
    fragment: &'a mut Fragment,
    /// The first instruction.
    start: Label,
    /// The end of the code that the next catch or filter protects.
    end: Label,
    /// The position after the last handler.
    after: Label,
    handlers: bool,
}

impl Fragment {
    /// Appends code that handlers protect. The stack must be empty before it, and is empty after
    /// it.
    ///
    /// Control that reaches the end of the code or of a handler continues after all handlers.
    pub fn try_block(&mut self, body: impl FnOnce(&mut Self)) -> Try<'_> {
        let start = self.code.add_label(END, LabelKind::RegionStart);
        let after = self.label();
        body(self);
        self.leave_if_reachable(after);
        let end = self.code.add_label(END, LabelKind::RegionEnd);
        self.code.place_label(after, END);
        Try {
            fragment: self,
            start,
            end,
            after,
            handlers: false,
        }
    }

    fn leave_if_reachable(&mut self, after: Label) {
        if self.reachable_end() || self.is_empty() {
            self.leave(after);
        }
    }

    /// Starts a region that control enters with this many values on the stack.
    fn enter(&mut self, height: i64) -> Label {
        self.stack.enter(height);
        self.code.add_label(END, LabelKind::RegionStart)
    }
}

impl<'a> Try<'a> {
    /// Handles exceptions of a type. The handler finds the exception on the stack.
    pub fn catch(self, name: impl Into<TypeName>, handler: impl FnOnce(&mut Fragment)) -> Self {
        let (value, symbolic) = self.fragment.name(name.into().0);
        let start = self.fragment.enter(1);
        handler(self.fragment);
        self.fragment.leave_if_reachable(self.after);
        self.finish(ClauseKind::Catch, (value, symbolic), None, start)
    }

    /// Handles the exceptions that `filter` accepts by leaving 1 on the stack instead of 0. Filter
    /// and handler find the exception on the stack; `endfilter` is appended.
    pub fn filter(
        self,
        filter: impl FnOnce(&mut Fragment),
        handler: impl FnOnce(&mut Fragment),
    ) -> Self {
        let filter_start = self.fragment.enter(1);
        filter(self.fragment);
        self.fragment.endfilter();
        let start = self.fragment.enter(1);
        handler(self.fragment);
        self.fragment.leave_if_reachable(self.after);
        self.finish(ClauseKind::Filter, (0, false), Some(filter_start), start)
    }

    /// Runs the handler however control leaves; `endfinally` is appended.
    pub fn finally(self, handler: impl FnOnce(&mut Fragment)) -> Self {
        self.always(ClauseKind::Finally, handler)
    }

    /// Runs the handler when an exception leaves the code; `endfinally` is appended.
    pub fn fault(self, handler: impl FnOnce(&mut Fragment)) -> Self {
        self.always(ClauseKind::Fault, handler)
    }

    fn always(mut self, kind: ClauseKind, handler: impl FnOnce(&mut Fragment)) -> Self {
        if self.handlers {
            self.protect_all();
        }
        let start = self.fragment.enter(0);
        handler(self.fragment);
        if self.fragment.reachable_end() {
            self.fragment.endfinally();
        }
        let mut done = self.finish(kind, (0, false), None, start);
        done.protect_all();
        done
    }

    /// Makes the next handler protect all code so far.
    fn protect_all(&mut self) {
        self.fragment.code.place_label(self.end, END);
    }

    fn finish(
        mut self,
        kind: ClauseKind,
        (value, symbolic): (u32, bool),
        filter: Option<Label>,
        start: Label,
    ) -> Self {
        let code = &mut self.fragment.code;
        let bounds = Bounds {
            try_start: code.node_of(self.start),
            try_end: code.node_of(self.end),
            filter: filter.map(|filter| code.node_of(filter)),
            handler_start: code.node_of(start),
            handler_end: END,
        };
        code.add_clause(kind, (value, symbolic), bounds);
        self.fragment.code.place_label(self.after, END);
        self.fragment.stack.enter(0);
        self.handlers = true;
        self
    }

    /// Ends the statement; the next instruction follows all handlers.
    pub fn end(self) -> &'a mut Fragment {
        self.fragment
    }
}
