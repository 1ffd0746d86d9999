use std::fmt;

/// The words that start or follow a type, and so must be quoted as names.
const RESERVED: &[&str] = &[
    "class",
    "valuetype",
    "method",
    "delegate",
    "native",
    "unsigned",
    "pinned",
    "modreq",
    "modopt",
];

/// Writes a name so that it can be read back: parts with characters other than letters, digits and
/// ``_$@?` `` are single-quoted.
pub(crate) fn write_name(out: &mut dyn fmt::Write, name: &str) -> fmt::Result {
    if name.is_empty() || RESERVED.contains(&name) {
        return write_quoted(out, name);
    }
    let mut slash = false;
    let mut rest = name;
    loop {
        let end = rest.find(['.', '/']).unwrap_or(rest.len());
        let (part, others) = rest.split_at_checked(end).unwrap_or((rest, ""));
        let plain = |one: char| one.is_alphanumeric() || matches!(one, '_' | '$' | '@' | '?' | '`');
        if part.chars().all(plain) && !(slash && part.is_empty()) {
            out.write_str(part)?;
        } else {
            write_quoted(out, part)?;
        }
        let mut others = others.chars();
        match others.next() {
            None => return Ok(()),
            Some(separator) => {
                slash = separator == '/';
                out.write_char(separator)?;
            }
        }
        rest = others.as_str();
    }
}

/// Writes the name of a type, optionally prefixed by its assembly in square brackets.
pub(crate) fn write_type_name(out: &mut dyn fmt::Write, name: &str) -> fmt::Result {
    let Some((assembly, own)) = name
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .filter(|(_, own)| !own.is_empty())
    else {
        return write_name(out, name);
    };
    let plain = |one: char| one.is_alphanumeric() || matches!(one, '_' | '.' | '-' | '+');
    out.write_char('[')?;
    // An assembly name with another first character could be read as the bounds of an array.
    if assembly.starts_with(char::is_alphabetic)
        && assembly.chars().all(plain)
        && !assembly.starts_with("rank")
    {
        out.write_str(assembly)?;
    } else {
        write_quoted(out, assembly)?;
    }
    out.write_char(']')?;
    // No word is reserved after an assembly, but a quote does no harm.
    write_name(out, own)
}

/// Writes a quoted name.
pub(crate) fn write_quoted(out: &mut dyn fmt::Write, name: &str) -> fmt::Result {
    out.write_char('\'')?;
    for character in name.chars() {
        match character {
            '\'' | '\\' => write!(out, "\\{character}")?,
            '\n' => out.write_str("\\n")?,
            '\r' => out.write_str("\\r")?,
            _ => out.write_char(character)?,
        }
    }
    out.write_char('\'')
}
