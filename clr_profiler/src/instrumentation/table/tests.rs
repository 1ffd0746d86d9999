use super::*;

fn key(row: u32) -> MethodKey {
    (ModuleId::from_runtime(8), MethodDef::from_row(row).unwrap())
}

fn table(module: Module) -> Table {
    let mut table = Table::default();
    let id = ModuleId::from_runtime(8);
    assert!(table.begin_module(id, module));
    assert!(!table.begin_module(id, Module::default()));
    let methods = (1..=3).map(|row| (key(row).1, vec![row]));
    let inliners = Some(vec![key(7)]);
    table.add_methods(id, methods.collect(), inliners, Timing::Compilation);
    table
}

fn finished(table: &mut Table, key: MethodKey) {
    table.finish(key, MethodState::Instrumented, None, Some("A.B()".into()));
}

#[test]
fn a_switch_changes_the_code_that_exists() {
    let mut table = table(Module::default());
    assert_eq!(table.begin(key(1)).as_deref(), Some(&[1][..]));
    finished(&mut table, key(1));
    // Of the next tier.
    assert_eq!(table.begin(key(1)), None);
    assert_eq!(table.switch(true), Switched::default());
    let off = table.switch(false);
    assert_eq!((off.request, off.revert), (vec![key(1)], vec![]));
    assert!(table.rules_of_rejit(key(1)).unwrap().is_empty());
    // First compiled while the rules are off.
    assert_eq!(table.begin(key(2)), None);
    let on = table.switch(true);
    assert_eq!((on.request, on.revert), (vec![key(2)], vec![key(1)]));
    assert_eq!(*table.rules_of_rejit(key(2)).unwrap(), [2]);
    // The next tier of the first code, which ReJIT has replaced.
    assert_eq!(table.begin(key(2)), None);
    assert!(table.begin(key(3)).is_some());
    let off = table.switch(false);
    assert_eq!(off.request, [key(1), key(3)]);
    assert_eq!(off.revert, [key(2)]);
}

#[test]
fn a_removal_is_for_good_and_seen_at_the_next_compilation() {
    let mut table = table(Module::default());
    assert!(table.begin(key(1)).is_some());
    finished(&mut table, key(1));
    assert!(table.begin(key(2)).is_some());
    finished(&mut table, key(2));
    let removed = table.begin_removal();
    assert_eq!(removed.set_back, [key(1), key(2)]);
    assert_eq!(removed.revert, []);
    assert_eq!(table.begin_removal(), Removed::default());
    // Compiled meanwhile: perhaps with the new IL.
    assert_eq!(table.begin(key(1)), None);
    assert!(!table.may_be_inlined(key(1), u64::MAX) && table.rejects_code(key(7)));
    table.keep(key(2), "it is another's".to_owned());
    table.end_removal();
    assert!(table.may_be_inlined(key(1), u64::MAX) && !table.may_be_inlined(key(2), u64::MAX));
    assert!(!table.rejects_code(key(7)) && !table.rejects_code(key(1)));
    let states = |table: &Table| -> Vec<_> {
        let outcomes = table.outcomes(|_, _| true);
        outcomes.iter().map(|of| of.state.name()).collect()
    };
    assert_eq!(states(&table), ["instrumented", "instrumented", "off"]);
    for row in 1..=3 {
        assert_eq!(table.begin(key(row)), None);
    }
    assert_eq!(states(&table), ["off", "instrumented", "off"]);
}

#[test]
fn a_method_whose_rules_leave_it_alone_again_may_be_inlined() {
    let mut table = table(Module::default());
    assert!(table.begin_again(key(1)).is_none());
    assert!(table.begin(key(1)).is_some());
    finished(&mut table, key(1));
    assert_eq!(table.begin_again(key(1)).as_deref(), Some(&[1][..]));
    table.end_again(key(1), true);
    assert!(!table.may_be_inlined(key(1), u64::MAX));
    table.end_again(key(1), false);
    assert!(table.may_be_inlined(key(1), u64::MAX) && !table.may_be_inlined(key(2), u64::MAX));
    table.begin_removal();
    assert!(table.begin_again(key(1)).is_none());
}

#[test]
fn a_removal_reverts_what_rejit_has_changed() {
    let mut table = table(Module::default());
    assert!(table.begin(key(1)).is_some());
    finished(&mut table, key(1));
    table.switch(false);
    assert_eq!(table.begin(key(2)), None);
    table.switch(true);
    let removed = table.begin_removal();
    assert_eq!(
        (removed.set_back, removed.revert),
        (vec![key(1)], vec![key(2)])
    );
    assert!(table.rules_of_rejit(key(2)).unwrap().is_empty());
}

#[test]
fn code_that_was_there_before_changes_by_rejit_alone() {
    let module = Module {
        is_by_rejit: true,
        ..Module::default()
    };
    let mut table = table(module);
    let id = ModuleId::from_runtime(8);
    let more = vec![(key(9).1, vec![0])];
    assert_eq!(
        table.add_methods(id, more.clone(), None, Timing::Compilation),
        [key(9)]
    );
    assert_eq!(table.begin(key(9)), None);
    assert_eq!(table.switch(false).revert.len(), 4);
    assert_eq!(table.add_methods(id, more, None, Timing::Compilation), []);
    assert_eq!(table.switch(true).request.len(), 4);
}

#[test]
fn precompiled_code_is_rejected_where_copies_are() {
    let mut table = table(Module::default());
    for (row, expected) in [(1, true), (4, false), (7, true)] {
        assert_eq!(table.rejects_code(key(row)), expected, "{row}");
    }
    assert!(!table.has_copies_in_instances());
    table.add_methods(
        ModuleId::from_runtime(8),
        Vec::new(),
        None,
        Timing::Compilation,
    );
    assert!(table.rejects_code(key(4)) && table.has_copies_in_instances());
    table.forget(ModuleId::from_runtime(8));
    assert!(!table.rejects_code(key(7)) && !table.rejects_code(key(1)));
    assert_eq!(table.unloaded(), 3);
}

#[test]
fn methods_of_dynamic_modules_are_decided_one_by_one() {
    let mut table = Table::default();
    let module = Module {
        is_dynamic: true,
        ..Module::default()
    };
    table.begin_module(ModuleId::from_runtime(8), module);
    assert_eq!(table.selected(key(1)), Selected::Undecided(false));
    table.decide(key(1), [].into(), true);
    table.decide(key(2), [0].into(), true);
    assert_eq!(table.selected(key(1)), Selected::No);
    assert_eq!(table.selected(key(2)), Selected::Yes);
    // The program compiles the methods that it builds once.
    assert!(!table.can_wait(key(2)) && !table.waits_undecided(key(3)));
}

#[test]
fn a_deferred_method_is_changed_when_it_is_compiled_again() {
    let mut table = table(Module::default());
    table.let_wait(key(1).0, |rules| rules != [9]);
    assert_eq!(table.begin_or_defer(key(1), true), None);
    assert!(table.may_keep_code(key(2)) && table.may_keep_code(key(7)));
    // Its first compilation has not ended: that of another instance leaves it alone, too.
    assert_eq!(table.begin_or_defer(key(1), false), None);
    let [first, second] = [0x20, 0x40].map(FunctionId::from_runtime);
    assert_eq!(table.needs_map(key(1), first), None);
    assert_eq!(table.needs_map(key(1), second), None);
    table.compiled(key(1));
    table.compiled(key(1));
    let again = table.begin_or_defer(key(1), false);
    assert_eq!(again, Some(Begun::Again(vec![1].into())));
    // The code of each gets its offsets once, and that of the one that is being compiled again.
    let both = vec![first, second];
    assert_eq!(table.needs_map(key(1), first).as_ref(), Some(&both));
    table.have_offsets(key(1), &both, first);
    assert_eq!(table.needs_map(key(1), second), Some(vec![first]));
    // Another thread compiles it before it is edited, and waits for that.
    let other = table.begin_or_defer(key(1), true);
    assert_eq!(other, Some(Begun::First(vec![1].into())));
    finished(&mut table, key(1));
    assert_eq!(table.begin_or_defer(key(1), true), None);
    let first = table.begin_or_defer(key(2), false);
    assert_eq!(first, Some(Begun::First(vec![2].into())));
    finished(&mut table, key(2));
    assert!(!table.may_keep_code(key(2)) && !table.can_wait(key(2)));
    table.defer(key(3));
    let outcomes = table.outcomes(|_, _| true);
    let states: Vec<_> = outcomes.iter().map(|of| of.state.name()).collect();
    assert_eq!(states, ["instrumented", "instrumented", "deferred"]);
    // A removal is no reason to change it.
    assert_eq!(table.begin_removal().set_back, [key(1), key(2)]);
    assert_eq!(table.begin_or_defer(key(3), false), None);
}

#[test]
fn a_method_that_was_left_alone_undecided_is_edited_once_it_is_decided_about() {
    let mut table = Table::default();
    let module = Module {
        is_dynamic: true,
        unseen: [(key(1).1, Unseen::default())].into_iter().collect(),
        ..Module::default()
    };
    table.begin_module(key(1).0, module);
    assert_eq!(table.unseen(2), [key(1)]);
    assert_eq!(table.outcomes(|_, _| true).len(), 1);
    assert_eq!(table.begin_early(key(1)), None);
    table.decide(key(1), [5].into(), false);
    assert_eq!(table.unseen(2), []);
    assert_eq!(table.begin_early(key(1)).as_deref(), Some(&[5][..]));
}
