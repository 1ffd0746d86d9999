use crate::signature::MethodSig;

/// The number of values that a call takes from the stack, and whether it returns one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct CallShape {
    /// Whether it takes a `this` that is not one of the parameters.
    pub has_this: bool,
    /// The number of parameters.
    pub params: u32,
    /// Whether it returns a value.
    pub returns: bool,
}

impl CallShape {
    /// Derives the shape from a signature in text. For any other text, `instance` before the last
    /// pair of parentheses implies `this`, and the return type `void` no value.
    pub(super) fn of_text(text: &str) -> Self {
        if let Some(shape) = super::text::shape_of(text) {
            return shape;
        }
        let (before, params) = split_params(text);
        let mut words = before.split_whitespace().filter(|word| {
            !matches!(
                *word,
                "instance"
                    | "explicit"
                    | "default"
                    | "vararg"
                    | "unmanaged"
                    | "cdecl"
                    | "stdcall"
                    | "thiscall"
                    | "fastcall"
                    | "static"
            )
        });
        let returns_void =
            words.next() == Some("void") && words.all(|word| word.starts_with("mod"));
        let mut depth = 0_u32;
        let mut count = 0;
        let mut empty = true;
        for byte in params.bytes().skip(1) {
            match byte {
                b'(' | b'<' | b'[' => depth += 1,
                b')' | b'>' | b']' => depth = depth.saturating_sub(1),
                b',' if depth == 0 => {
                    count += 1;
                    empty = true;
                    continue;
                }
                b' ' => continue,
                _ => {}
            }
            if depth > 0 || byte != b')' {
                empty = false;
            }
        }
        if !empty {
            count += 1;
        }
        let has = |name| before.split_whitespace().any(|word| word == name);
        Self {
            has_this: has("instance") && !has("explicit"),
            params: count,
            returns: !returns_void,
        }
    }

    /// The number of values that `newobj` takes from the stack for this constructor.
    #[must_use]
    pub const fn constructor_arguments(self) -> u32 {
        self.params
    }

    /// The number of values that a call takes from the stack, including `this`, but without the
    /// pointer of `calli`.
    #[must_use]
    pub const fn arguments(self) -> u32 {
        self.params.saturating_add(self.has_this as u32)
    }
}

impl From<&MethodSig> for CallShape {
    fn from(method: &MethodSig) -> Self {
        Self {
            has_this: method.has_this && !method.explicit_this,
            params: u32::try_from(method.params.len()).unwrap_or(u32::MAX),
            returns: !method.return_type.is_void(),
        }
    }
}

/// Splits the text of a signature before its last pair of parentheses.
pub(super) fn split_params(text: &str) -> (&str, &str) {
    let mut depth = 0_u32;
    for (index, byte) in text.bytes().enumerate().rev() {
        match byte {
            b')' => depth += 1,
            b'(' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return text.split_at_checked(index).unwrap_or((text, ""));
                }
            }
            _ => {}
        }
    }
    (text, "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_of_texts() {
        for (text, has_this, params, returns) in [
            ("void ()", false, 0, false),
            ("void ( )", false, 0, false),
            (
                "instance void (string, class [System.Runtime]System.Exception&)",
                true,
                2,
                false,
            ),
            ("int (int, List<int, string>, int[,])", false, 3, true),
            ("void* (method void (int, int)*)", false, 1, true),
            ("instance explicit object (object)", false, 1, true),
            ("unmanaged cdecl void (nint)", false, 1, false),
            ("void modreq(X) (int)", false, 1, false),
            ("vararg void (string, ..., int)", false, 2, false),
            (
                "delegate*<int, void> <[1]>(method void *(int, int))",
                false,
                1,
                true,
            ),
            ("void modopt(class 'a(b,c') (class 'd)')", false, 1, false),
        ] {
            let expected = CallShape {
                has_this,
                params,
                returns,
            };
            assert_eq!(CallShape::of_text(text), expected, "{text}");
        }
    }
}
