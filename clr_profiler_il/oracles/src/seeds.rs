//! Hand-written initial inputs.

use std::sync::LazyLock;

use clr_profiler_il::body::MethodBody;

use crate::tokens::Module;

/// Small bodies of every shape.
const BODIES: &[&str] = &[
    "ret",
    "ldarg.0\nldc.i4 5\nadd\nret",
    "again: ldarg.0\nbrtrue.s out\nldarg.1\nbrfalse again\nout: ret",
    "ldarg.0\nswitch (a, b, a, c)\na: nop\nb: nop\nc: ret",
    ".maxstack 2\n.locals init 0x11000002\nldloc.0\nldc.i8 77\nconv.i8\nadd\nstloc.1\nret",
    "ldc.r4 1.5\npop\nldc.r8 -2.5\npop\nldstr 0x70000001\npop\nret",
    "ldarg.0\nvolatile. unaligned. 1 ldind.i4\nconstrained. 0x02000002 callvirt 0x0a000003\nret",
    "tail. call 0x0a000006\nret",
    "readonly. ldelema 0x1b000001\npop\nno. 1 ldelem.i4\nret",
    "jmp 0x06000001",
    "a: nop\nleave.s e\nb: pop\nleave.s e\ne: ret\n.try a to b catch 0x01000004 handler b to e",
    "a: nop\nleave.s e\nb: nop\nendfinally\ne: ret\n.try a to b finally handler b to e",
    "a: nop\nleave.s e\nb: nop\nendfinally\ne: ret\n.try a to b fault handler b to e",
    "a: nop\nleave.s e\nf: pop\nldc.i4.1\nendfilter\nb: pop\nleave.s e\ne: ret\n\
     .try a to b filter f handler b to e",
    "a: nop\nb: nop\nleave.s i\nc: pop\nleave.s i\nd: pop\nleave.s i\ni: leave.s e\n\
     f: endfinally\ne: ret\n.try b to c catch 0x01000001 handler c to d\n\
     .try b to c catch 0x01000002 handler d to i\n.try a to f finally handler f to e",
    "a: newobj 0x0a000001\nthrow\nb: rethrow\ne: .try a to b catch 0x01000001 handler b to e",
    "a: leave.s e\nb: endfinally\ne: ldloc.s 4\nldarga.s 3\nstarg.s 1\nldloca 300\npop\nret\n\
     .try a to b finally handler b to e",
    "calli 0x11000001\nldtoken 0x01000002\npop\nldftn 0x06000001\npop\nldsfld 0x04000001\npop\nret",
    ".maxstack 300\nldc.i4.s -3\nldc.i4 100000\nmul.ovf.un\nbr.s x\nx: ret",
    "again: br again",
    "ldarg.0\ncall 0x0a000001\nldarg.0\nldarg.1\nstfld 0x04000002\nret",
];

/// Texts other than the bodies above.
const TEXTS: &[&str] = &[
    "ldstr \"two\\nlines \\u{1f600}\"\ncall void [System.Console]System.Console::WriteLine(string)\nret",
    "ldarg.0\nbrtrue label 0\ncalli unmanaged[Cdecl] void (int)\nldc.r4 NaN(0x7fc00001)\nldc.r8 -inf",
    "newobj instance void class [A]'B `1'<!0, !!1[]>::.ctor(int32 modreq([A]C), native int&)",
    "call !!0 [A]B/C::M<int, string>(vararg int, ..., object)",
    ".maxstack 3\n.locals init ([0] int, [1] string& pinned)\n.local [2] delegate*<int, void>\nret // end",
    "method unmanaged cdecl void *(int32, ...)",
    "class 0x01000001<int, valuetype 0x02000002[,][]>[0...4 rank 40]",
    "([0] int, [1] typedref, [2] int[*][1...,4,-2...3])",
    "instance explicit <[2]> !!0 (!!1, float64*)",
    "instance int [string, class 0x01000001]",
    "<int, object, !!3>",
    "ldfld int [A]B::c\nldsfld class 0x01000003 modreq(0x01000004) [A]'b.c'::'d''\nret",
];

/// Lists of patterns.
const PATTERNS: &[&str] = &[
    "Shop!Shop.Store.Sell(string, *)",
    "**; -**.ToString() # comment\n generated Shop.**",
    "[Shop.Traced] [type: **.TracedAttribute] protected internal Sh*!Shop.Cart<T>+Line.Add<**>(**, ref int?)",
    "Shop.**+<>c__DisplayClass*.<Run>b__0 : System.IComparable<*>, object",
    "A!B.'I.C'(S.P<*[], U>+Q&); **..ctor; Program.<Main>$(System.Collections.Generic.List`1)",
    "- private *!'<Module>'..cctor(void*)\nShop.*.S*l",
];

/// Signatures in bytes.
const SIGNATURES: &[&[u8]] = &[
    &[0x00, 0x00, 0x01],
    &[0x20, 0x02, 0x01, 0x0e, 0x08],
    &[
        0x30, 0x02, 0x03, 0x1e, 0x00, 0x13, 0x01, 0x1d, 0x1e, 0x01, 0x10, 0x1c,
    ],
    &[0x05, 0x03, 0x01, 0x08, 0x41, 0x0e, 0x1c],
    &[0x60, 0x01, 0x18, 0x0f, 0x01],
    &[0x06, 0x1f, 0x05, 0x20, 0x09, 0x11, 0x80, 0x81],
    &[
        0x06, 0x15, 0x12, 0x05, 0x02, 0x08, 0x15, 0x11, 0x09, 0x01, 0x0e,
    ],
    &[
        0x07, 0x04, 0x45, 0x10, 0x08, 0x12, 0x05, 0x16, 0x1b, 0x09, 0x01, 0x01, 0x08,
    ],
    &[0x28, 0x01, 0x0e, 0x08],
    &[0x08, 0x00, 0x08],
    &[0x0a, 0x02, 0x08, 0x1e, 0x00],
    &[0x14, 0x08, 0x03, 0x02, 0x04, 0x03, 0x02, 0x00, 0x7f],
    &[0x1d, 0x14, 0x1c, 0x01, 0x00, 0x00],
    &[
        0x15, 0x12, 0x05, 0x01, 0x1b, 0x10, 0x01, 0x01, 0x1e, 0x00, 0x08,
    ],
    &[0x13, 0xc0, 0x00, 0x40, 0x00],
];

/// Custom attributes: the number of parameters, their types, the blob.
const ATTRIBUTES: &[&[u8]] = &[
    b"\x00",
    b"\x00\x01\x00\x00\x00",
    b"\x02\x00\x67\x01\x00\x04cart\x07\x00\x00\x00\x01\x00\x54\x02\x04Loud\x01",
    b"\x07\x07\x17\x27\x37\x47\x57\xa7\x01\x00\x01x\x01\xfe\xfe\xfe\xff\xfe\xff\0\0\0\x3f\x00\x00",
    b"\x03\x01\x01\x01\x01\x00\x0e\x02ab\x50\x01T\x55\x01F\x05\0\0\0\x00\x00",
    b"\x01\x01\x01\x00\x1d\x51\x02\0\0\0\x02\x01\x0e\xff\x00\x00",
    b"\x02\x02\x63\x01\x00\xff\x05\0\0\0\x01\0\x53\x1d\x55\x01F\x02Cs\x01\0\0\0\x07\0\0\0",
    b"\x02\x04\x0c\x01\x00\x02\0\0\0\x01a\xff\xff\xff\xff\xff\x01\0\x54\x1d\x0e\x01N\0\0\0\0",
    b"\x01\x05\x01\x00\x01\x02\x00\x00",
    b"\x03\x87\x97\xb7\x01\x00\x01\x02\x03\x04\x05\x06\x07\x08\x08\x07\x06\x05\x04\x03\x02\x01\0\0\0\0\0\0\x04\xc0\0\0",
    b"\x03\x77\xa7\x83\x01\x00\x01\x02\x03\xff\0\0\x80\x3f\x01\x02\x03\x04\0\0\0\0\0\0",
];

/// The hand-written bodies, encoded.
pub fn bodies() -> &'static [Vec<u8>] {
    static ENCODED: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
        let bodies = BODIES.iter().map(|text| {
            let body: MethodBody = text
                .parse()
                .unwrap_or_else(|error| panic!("{error}\n{text}"));
            let mut out = Vec::new();
            let done = body.encode(&mut Module::default(), &mut out);
            done.unwrap_or_else(|error| panic!("{error:?}\n{text}"));
            out
        });
        bodies.collect()
    });
    &ENCODED
}

/// The seeds of an oracle, by its name.
///
/// # Panics
///
/// If there is no such oracle.
#[must_use]
pub fn of(oracle: &str) -> Vec<Vec<u8>> {
    let bytes = |texts: &[&str]| -> Vec<_> {
        let texts = texts.iter();
        texts.map(|text| text.as_bytes().to_vec()).collect()
    };
    match oracle {
        "decode" | "round_trip" => bodies().to_vec(),
        // The index of a body, then a script.
        "edit" => (0..bodies().len())
            .flat_map(|number| {
                let mut random = crate::random::Random::new(number as u64);
                [64, 512].map(|length| [&[number as u8][..], &random.bytes(length)].concat())
            })
            .collect(),
        "signature" => SIGNATURES.iter().map(|blob| blob.to_vec()).collect(),
        "attribute" => ATTRIBUTES.iter().map(|input| input.to_vec()).collect(),
        "text" => [bytes(BODIES), bytes(TEXTS)].concat(),
        "pattern" => bytes(PATTERNS),
        _ => panic!("there is no oracle {oracle}"),
    }
}
