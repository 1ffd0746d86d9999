//! Small interfaces in addition to the large ones: marks, checks, the mapping, the image's sections.

use std::path::Path;

use clr_profiler::metadata::{Dispenser, DispenserOption, MetadataEvents, MetadataHandler};
use clr_profiler::prelude::*;

use super::say;

struct Silent;

impl MetadataEvents for Silent {}

type Topic = fn(&str, &Dispenser, &str) -> Result<()>;

pub(super) fn all(dispenser: &Dispenser, name: &str) -> Result<()> {
    let on = "services";
    let topics: &[(&str, Topic)] = &[
        ("mapping", mapping),
        ("checks", checks),
        ("sections", sections),
        ("marks", marks),
        ("options", options),
        ("marks with locks", marks),
    ];
    for (topic, run) in topics {
        if let Err(error) = run(on, dispenser, name) {
            say!(on, "{topic}: {error}");
        }
    }
    Ok(())
}

fn options(on: &str, dispenser: &Dispenser, _: &str) -> Result<()> {
    for (option, value) in [
        (DispenserOption::CheckDuplicatesFor, 0x10),
        (DispenserOption::RefToDefCheck, 1),
        (DispenserOption::NotificationForTokenMovement, 2),
        (DispenserOption::ImportOption, 1),
        (DispenserOption::ThreadSafety, 1),
        (DispenserOption::ErrorIfEmitOutOfOrder, 1),
        (DispenserOption::Linker, 1),
        (DispenserOption::Merger, 1),
        (DispenserOption::PreserveLocalRefs, 1),
    ] {
        let set = dispenser.set_option(option, value);
        let got = set.and_then(|()| dispenser.option(option));
        match got {
            Ok(got) => say!(on, "option {option:?}: {}", got == value),
            Err(error) => say!(on, "option {option:?}: {error}"),
        }
    }
    Ok(())
}

fn mapping(on: &str, dispenser: &Dispenser, name: &str) -> Result<()> {
    let opened = dispenser.open_scope(Path::new(name))?;
    let mapping = opened.file_mapping()?;
    let size = std::fs::metadata(name)?.len();
    say!(
        on,
        "mapping: {} {} {}",
        mapping.address != 0,
        mapping.size == size,
        mapping.kind
    );
    Ok(())
}

fn marks(on: &str, dispenser: &Dispenser, name: &str) -> Result<()> {
    let opened = dispenser.open_scope_for_writing(Path::new(name))?;
    let one = opened.type_refs().next().transpose()?;
    let one = one.ok_or_else(|| Error::other("there is no reference"))?;
    let class = opened.find_type_def_by_name("Shop.Program", None)?;
    let show = |what: &str| -> Result<()> {
        say!(
            on,
            "marked {what}: {} {}",
            opened.is_token_marked(one)?,
            opened.is_token_marked(class)?
        );
        Ok(())
    };
    show("before")?;
    opened.unmark_all()?;
    show("none")?;
    opened.mark_token(one)?;
    show("the reference")?;
    opened.mark_token(class)?;
    show("all")?;
    opened.unmark_all()?;
    show("none again")
}

fn checks(on: &str, dispenser: &Dispenser, name: &str) -> Result<()> {
    let opened = dispenser.open_scope(Path::new(name))?;
    let handler = MetadataHandler::new(Silent);
    opened.validator_init(1, &handler)?;
    say!(on, "checked: {}", opened.validate_metadata()?.is_some());
    Ok(())
}

fn sections(on: &str, dispenser: &Dispenser, _: &str) -> Result<()> {
    let scope = dispenser.define_scope()?;
    let generator = scope.cee_gen()?;
    let text = generator.emit_string("text")?;
    say!(on, "text: {:?}", generator.string(text)?);
    let (_, body) = generator.allocate_method_buffer(2)?;
    say!(on, "body: {}", generator.method_buffer(body).is_ok());
    let il = generator.il_section()?;
    say!(on, "code: {}", generator.section_data_len(il)?);
    let strings = generator.string_section()?;
    say!(on, "strings: {}", generator.section_data_len(strings)? > 0);
    Ok(())
}
