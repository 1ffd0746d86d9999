use super::super::{CallingConvention, MethodSig, TypeSig};
use super::{MAX_NUMBER, Nested, TypeParser};
use crate::lexer::TextError;

/// The words before a method.
#[derive(Clone, Copy)]
pub(crate) struct MethodHeader {
    convention: CallingConvention,
    has_this: bool,
    explicit_this: bool,
}

/// Parameters and the position of the sentinel.
type Params = (Vec<TypeSig>, Option<usize>);

impl TypeParser<'_, '_> {
    /// The words before a method: `instance explicit unmanaged[Cdecl]`.
    pub(crate) fn method_header(&mut self) -> Result<MethodHeader, TextError> {
        let mut called = MethodHeader {
            convention: CallingConvention::Default,
            has_this: false,
            explicit_this: false,
        };
        loop {
            match self.cursor.peek_word() {
                "instance" => called.has_this = true,
                "explicit" => called.explicit_this = true,
                "vararg" => called.convention = CallingConvention::VarArg,
                "default" | "managed" => {}
                "unmanaged" => {
                    self.cursor.word();
                    called.convention = self.unmanaged()?;
                    continue;
                }
                _ => return Ok(called),
            }
            self.cursor.word();
        }
    }

    fn unmanaged(&mut self) -> Result<CallingConvention, TextError> {
        let brackets = self.cursor.eat("[");
        let convention = match self.cursor.peek_word() {
            "Cdecl" | "cdecl" => CallingConvention::C,
            "Stdcall" | "stdcall" => CallingConvention::StdCall,
            "Thiscall" | "thiscall" => CallingConvention::ThisCall,
            "Fastcall" | "fastcall" => CallingConvention::FastCall,
            "vararg" if !brackets => CallingConvention::NativeVarArg,
            _ if brackets => {
                let expected = "`Cdecl`, `Stdcall`, `Thiscall` or `Fastcall`";
                return Err(self.cursor.expected(expected));
            }
            _ => return Ok(CallingConvention::Unmanaged),
        };
        self.cursor.word();
        if brackets {
            self.cursor.expect("]", "`]` after a calling convention")?;
        }
        Ok(convention)
    }

    pub(super) fn follows_arity(&mut self) -> bool {
        let start = self.cursor.at();
        let follows = self.cursor.eat("<") && self.cursor.follows("[");
        self.cursor.go_to(start);
        follows
    }

    /// `<[2]>`: the number of a method's own generic parameters.
    pub(crate) fn arity(&mut self) -> Result<u32, TextError> {
        if !self.follows_arity() {
            return Ok(0);
        }
        self.cursor.eat("<");
        self.cursor.eat("[");
        let start = self.cursor.at();
        let expected = "the number of generic parameters, at least 1";
        let arity = self.cursor.unsigned(MAX_NUMBER, expected)?;
        if arity == 0 {
            self.cursor.go_to(start);
            return Err(self.cursor.expected(expected));
        }
        self.cursor.expect("]", "`]>` after a number")?;
        self.cursor.expect(">", "`]>` after a number")?;
        Ok(arity as u32)
    }

    pub(crate) fn params(&mut self, called: MethodHeader) -> Result<(), TextError> {
        self.nested_params(called.convention, ["(", ")"])
            .map(|_| ())
    }

    /// Types between two brackets, optionally with a sentinel before one of them.
    pub(super) fn nested_params(
        &mut self,
        convention: CallingConvention,
        [open, close]: [&'static str; 2],
    ) -> Result<Nested<Params>, TextError> {
        self.cursor.expect(open, "a list of parameters")?;
        let (mut params, mut sentinel, mut height) = (Vec::new(), None, 0);
        if self.cursor.eat(close) {
            return Ok(Nested {
                of: (params, sentinel),
                height,
            });
        }
        loop {
            if convention.allows_sentinel() && sentinel.is_none() && self.cursor.eat("...") {
                sentinel = Some(params.len());
                self.cursor.expect(",", "`,` and a further argument")?;
            }
            let param = self.nested(false)?;
            height = height.max(param.height);
            params.push(param.of);
            if !self.cursor.eat(",") {
                self.cursor.expect(close, "`,` or the end of the list")?;
                return Ok(Nested {
                    of: (params, sentinel),
                    height,
                });
            }
        }
    }

    /// `delegate* unmanaged[Cdecl]<int, void>`, after the first word.
    pub(super) fn delegate(&mut self) -> Result<Nested<TypeSig>, TextError> {
        self.cursor.expect("*", "`*` after `delegate`")?;
        let called = self.method_header()?;
        let arity = self.arity()?;
        let Nested {
            of: (mut params, sentinel),
            height,
        } = self.nested_params(called.convention, ["<", ">"])?;
        let Some(return_type) = params.pop().filter(|_| sentinel != Some(params.len())) else {
            return Err(self.cursor.expected("parameters and a return type"));
        };
        let method = called.method(arity, return_type, (params, sentinel));
        Ok(Nested {
            of: TypeSig::FunctionPointer(Box::new(method)),
            height: height + 1,
        })
    }

    /// `method unmanaged cdecl void *(int)`, after the first word.
    pub(super) fn method_pointer(&mut self) -> Result<Nested<TypeSig>, TextError> {
        let called = self.method_header()?;
        let return_type = self.nested(true)?;
        let arity = self.arity()?;
        self.cursor
            .expect("*", "`*(` and the parameters of a function pointer")?;
        let params = self.nested_params(called.convention, ["(", ")"])?;
        let method = called.method(arity, return_type.of, params.of);
        Ok(Nested {
            of: TypeSig::FunctionPointer(Box::new(method)),
            height: return_type.height.max(params.height) + 1,
        })
    }

    pub(crate) fn method_sig(&mut self) -> Result<MethodSig, TextError> {
        let called = self.method_header()?;
        let return_type = self.type_sig()?;
        let arity = self.arity()?;
        let params = self.nested_params(called.convention, ["(", ")"])?;
        Ok(called.method(arity, return_type, params.of))
    }
}

impl MethodHeader {
    fn method(
        self,
        generic_parameter_count: u32,
        return_type: TypeSig,
        (params, sentinel): Params,
    ) -> MethodSig {
        let Self {
            convention,
            has_this,
            explicit_this,
        } = self;
        MethodSig {
            convention,
            has_this,
            explicit_this,
            generic_parameter_count,
            return_type,
            params,
            sentinel,
        }
    }
}
