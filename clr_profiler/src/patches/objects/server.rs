//! The managed code that serves requests, in IL.

use std::sync::Mutex;

use super::request::{SERVER, kind, operation, set_server, take_text, word};
use crate::error::{Error, Result};
use crate::info::{CorProfilerInfo, CorProfilerInfo3, ModuleFlags};
use crate::metadata::MetadataImport;
use crate::rewrite::{NativeCall, NewType, RewriteContext, address};
use crate::runtime::lock;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::fragment::Fragment;
use clr_profiler_il::instruction::Label;
use clr_profiler_il::signature::TypeSig;
use clr_profiler_il::symbol::{MethodSymbol, TypeSymbol};

/// The type that a module gets.
const TYPE: &str = "clr_profiler.Objects";
const START: &str = "Start";
const SERVE: &str = "Serve";
/// That of the delegate `IOCompletionCallback`, which passes a pointer.
const SIGNATURE: &str = "void (uint, uint, valuetype [corelib]System.Threading.NativeOverlapped*)";

/// Held while the type is added to a module.
static ADDING: Mutex<()> = Mutex::new(());

/// Adds the code to the module of a method, unless it has it.
pub(in super::super) fn prepare(cx: &RewriteContext<'_>) -> Result<()> {
    let (info, module) = (cx.info(), cx.module());
    let (_, flags) = info.module_info2(module)?;
    if flags.contains(ModuleFlags::COLLECTIBLE) {
        return Err(Error::other(
            "objects cannot be read in an assembly that can be unloaded",
        ));
    }
    let _one = lock(&ADDING);
    let metadata = info.module_metadata(module)?;
    if metadata.find_type_def_by_name(TYPE, None).is_ok() {
        return Ok(());
    }
    drop(metadata);
    info.define_type(module, TYPE, NewType::Static, |class| {
        let serve = class.method(SERVE, SIGNATURE, serve)?;
        class.method(START, "void ()", |body, cx| start(body, cx, &serve))
    })?;
    Ok(())
}

/// The code that a patched method runs before its hooks: starts the server, once.
pub(in super::super) fn code_before(code: &mut Fragment) {
    let is_ready = code.label();
    let server = SERVER.as_ptr().expose_provenance();
    code.append(&address(server)).ldind_i().brtrue(is_ready);
    code.call(MethodSymbol::new(TYPE, START, "void ()"));
    code.mark(is_ready).nop();
}

fn method(owner: &str, name: &str, signature: &str) -> MethodSymbol {
    MethodSymbol::new(owner, name, signature)
}

const OBJECT: &str = "[corelib]System.Object";
const TYPE_CLASS: &str = "[corelib]System.Type";
const FIELD: &str = "[corelib]System.Reflection.FieldInfo";
const ARRAY: &str = "[corelib]System.Array";
const HANDLE: &str = "[corelib]System.Runtime.InteropServices.GCHandle";

/// Makes a delegate of the server, which is never freed, and tells its address.
fn start(body: &mut MethodBody, cx: &mut RewriteContext<'_>, serve: &MethodSymbol) -> Result<()> {
    const CALLBACK: &str = "[corelib]System.Threading.IOCompletionCallback";
    let delegate = body.add_local(TypeSig::Object)?;
    let tell = cx.call_native(&NativeCall::raw(set_server as extern "C" fn(isize)))?;
    let mut code = Fragment::new();
    code.try_block(|code| {
        code.ldnull().ldftn(serve);
        code.newobj(method(
            CALLBACK,
            ".ctor",
            "instance void (object, native int)",
        ));
        code.stloc(delegate).ldloc(delegate);
        let alloc = "valuetype [corelib]System.Runtime.InteropServices.GCHandle (object)";
        code.call(method(HANDLE, "Alloc", alloc)).pop();
        code.ldloc(delegate).castclass("[corelib]System.Delegate");
        code.call(method(
            "[corelib]System.Runtime.InteropServices.Marshal",
            "GetFunctionPointerForDelegate",
            "native int (class [corelib]System.Delegate)",
        ));
        code.append(&tell);
    })
    .catch(OBJECT, |code| {
        code.pop();
    })
    .end();
    code.ret();
    body.append(&code)?;
    Ok(())
}

/// The locals of the server.
#[derive(Clone, Copy)]
struct Locals {
    operation: u16,
    object: u16,
    value: u16,
    class: u16,
    field: u16,
    name: u16,
    pinned: u16,
    handle: u16,
    code: u16,
}

/// Pushes the address of a word of the request.
fn at(code: &mut Fragment, word: usize) -> &mut Fragment {
    code.ldarg(2).conv_u().ldc_i4(word as i32 * 8).add()
}

fn get(code: &mut Fragment, word: usize) -> &mut Fragment {
    at(code, word).ldind_i8()
}

fn set(code: &mut Fragment, word: usize, value: u64) {
    at(code, word).ldc_i8(value.cast_signed()).stind_i8();
}

/// Ends with a result.
fn end(code: &mut Fragment, kind: u64, done: Label) {
    set(code, word::KIND, kind);
    code.br(done);
}

/// Pushes a new string.
fn text(code: &mut Fragment, text: usize, length: usize) {
    get(code, text).conv_u().ldc_i4(0);
    get(code, length).conv_i4();
    let constructor = "instance void (char*, int, int)";
    code.newobj(method("[corelib]System.String", ".ctor", constructor));
}

/// Branches if the operation is one of these.
fn if_operation(code: &mut Fragment, l: &Locals, operations: &[u64], to: Label) {
    for one in operations {
        code.ldloc(l.operation).ldc_i4(*one as i32).beq(to);
    }
}

/// Pushes the address of the bytes of a boxed value, which it pins.
fn pinned_bytes(code: &mut Fragment, l: &Locals) {
    code.ldloc(l.value).stloc(l.pinned);
    code.ldloc(l.pinned)
        .conv_u()
        .ldc_i4(size_of::<usize>() as i32)
        .add();
}

/// Stores the kind of the numbers of a class, or 0.
fn number_kind(code: &mut Fragment, l: &Locals) {
    let (is_number, none, done, unsigned) =
        (code.label(), code.label(), code.label(), code.label());
    let test = |name| method(TYPE_CLASS, name, "instance bool ()");
    code.ldloc(l.class)
        .callvirt(test("get_IsEnum"))
        .brtrue(is_number);
    code.ldloc(l.class)
        .callvirt(test("get_IsPrimitive"))
        .brfalse(none);
    code.mark(is_number).ldloc(l.class);
    let type_code = "valuetype [corelib]System.TypeCode (class [corelib]System.Type)";
    code.call(method(TYPE_CLASS, "GetTypeCode", type_code));
    code.ldc_i4(kind::NUMBER as i32).add().stloc(l.code);
    code.ldtoken(TypeSymbol::new("[corelib]System.UIntPtr"))
        .call(method(
            TYPE_CLASS,
            "GetTypeFromHandle",
            "class [corelib]System.Type (valuetype [corelib]System.RuntimeTypeHandle)",
        ));
    code.ldloc(l.class).beq(unsigned).br(done);
    code.mark(unsigned)
        .ldc_i4(kind::NUMBER as i32 + 2)
        .stloc(l.code)
        .br(done);
    code.mark(none).ldc_i4(0).stloc(l.code).mark(done).nop();
}

/// The server: serves the request at the address that is its last argument.
fn serve(body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
    let handle = cx.type_sig("valuetype [corelib]System.Runtime.InteropServices.GCHandle")?;
    let class = cx.type_sig("class [corelib]System.Type")?;
    let field = cx.type_sig("class [corelib]System.Reflection.FieldInfo")?;
    let l = Locals {
        operation: body.add_local(TypeSig::I4)?,
        object: body.add_local(TypeSig::Object)?,
        value: body.add_local(TypeSig::Object)?,
        class: body.add_local(class)?,
        field: body.add_local(field)?,
        name: body.add_local(TypeSig::String)?,
        pinned: body.add_local(TypeSig::Pinned(Box::new(TypeSig::Object)))?,
        handle: body.add_local(handle)?,
        code: body.add_local(TypeSig::I4)?,
    };
    body.set_init_locals(true);
    let take = NativeCall::raw(take_text as extern "C" fn(*mut super::request::Request, *const u8));
    let take = cx.call_native(&take)?;
    let pass_text = |code: &mut Fragment| {
        code.ldloc(l.value).stloc(l.pinned);
        code.ldarg(2)
            .conv_u()
            .conv_i()
            .ldloc(l.pinned)
            .conv_u()
            .conv_i();
        code.append(&take).ldnull().stloc(l.pinned);
    };
    let mut code = Fragment::new();
    code.try_block(|code| {
        let done = code.label();
        let (build, classify) = (code.label(), code.label());
        get(code, word::OPERATION).conv_i4().stloc(l.operation);
        object(code, &l, done);
        let get_type = method(OBJECT, "GetType", "instance class [corelib]System.Type ()");
        code.ldloc(l.object).callvirt(&get_type).stloc(l.class);
        part(code, &l, done, build, classify);
        code.mark(build);
        store(code, &l, done);
        code.mark(classify);
        let (is_object, is_not_null, is_no_text) = (code.label(), code.label(), code.label());
        code.ldloc(l.value).brtrue(is_not_null);
        end(code, kind::NULL, done);
        code.mark(is_not_null)
            .ldloc(l.value)
            .isinst("[corelib]System.String");
        code.brfalse(is_no_text);
        pass_text(code);
        end(code, kind::TEXT, done);
        code.mark(is_no_text);
        code.ldloc(l.value).callvirt(&get_type).stloc(l.class);
        number_kind(code, &l);
        code.ldloc(l.code).brfalse(is_object);
        at(code, word::BITS);
        pinned_bytes(code, &l);
        code.ldind_i8().stind_i8().ldnull().stloc(l.pinned);
        at(code, word::KIND)
            .ldloc(l.code)
            .conv_i8()
            .stind_i8()
            .br(done);
        code.mark(is_object);
        at(code, word::BITS).ldloc(l.value);
        let alloc = "valuetype [corelib]System.Runtime.InteropServices.GCHandle (object)";
        code.call(method(HANDLE, "Alloc", alloc))
            .stloc(l.handle)
            .ldloc(l.handle);
        let to_int = "native int (valuetype [corelib]System.Runtime.InteropServices.GCHandle)";
        code.call(method(HANDLE, "ToIntPtr", to_int))
            .conv_i8()
            .stind_i8();
        at(code, word::SIZE).ldloc(l.class);
        let is_struct = method(TYPE_CLASS, "get_IsValueType", "instance bool ()");
        code.callvirt(is_struct).conv_i8().stind_i8();
        end(code, kind::OBJECT, done);
        code.mark(done).nop();
    })
    .catch(OBJECT, |code| {
        let get_type = method(OBJECT, "GetType", "instance class [corelib]System.Type ()");
        code.callvirt(&get_type)
            .callvirt(method(TYPE_CLASS, "get_FullName", "instance string ()"));
        code.stloc(l.value);
        pass_text(code);
        set(code, word::KIND, kind::FAILED);
    })
    .end();
    code.ret();
    body.append(&code)?;
    Ok(())
}

/// Stores the object, or frees its handle.
fn object(code: &mut Fragment, l: &Locals, done: Label) {
    let (of_handle, kept, known) = (code.label(), code.label(), code.label());
    get(code, word::IS_HANDLE).brtrue(of_handle);
    at(code, word::OBJECT).ldind_ref().stloc(l.object).br(known);
    code.mark(of_handle);
    get(code, word::OBJECT).conv_i();
    let from_int = "valuetype [corelib]System.Runtime.InteropServices.GCHandle (native int)";
    code.call(method(HANDLE, "FromIntPtr", from_int))
        .stloc(l.handle);
    code.ldloc(l.operation)
        .ldc_i4(operation::FREE as i32)
        .bne_un(kept);
    code.ldloca(l.handle)
        .call(method(HANDLE, "Free", "instance void ()"));
    end(code, kind::DONE, done);
    code.mark(kept).ldloca(l.handle);
    code.call(method(HANDLE, "get_Target", "instance object ()"));
    code.stloc(l.object).mark(known).nop();
}

/// Finds the part of the object: reads its value, or stores its class.
fn part(code: &mut Fragment, l: &Locals, done: Label, build: Label, classify: Label) {
    /// `BindingFlags`: of the class itself, of instances and static, public and not.
    const FLAGS: i32 = 2 | 4 | 8 | 16 | 32;
    let (of_field, search, found) = (code.label(), code.label(), code.label());
    let (name, length, missing) = (code.label(), code.label(), code.label());
    let (set_field, set_element) = (code.label(), code.label());
    if_operation(code, l, &[operation::TYPE_NAME], name);
    if_operation(code, l, &[operation::LENGTH], length);
    if_operation(
        code,
        l,
        &[operation::GET_FIELD, operation::SET_FIELD],
        of_field,
    );
    if_operation(code, l, &[operation::SET_ELEMENT], set_element);
    code.ldloc(l.object).castclass(ARRAY);
    get(code, word::INDEX).conv_i4();
    code.callvirt(method(ARRAY, "GetValue", "instance object (int)"));
    code.stloc(l.value).br(classify);

    code.mark(set_element).ldloc(l.class);
    let element = "instance class [corelib]System.Type ()";
    code.callvirt(method(TYPE_CLASS, "GetElementType", element));
    code.stloc(l.class).br(build);

    code.mark(name).ldloc(l.class);
    code.callvirt(method(TYPE_CLASS, "get_FullName", "instance string ()"));
    code.stloc(l.value).br(classify);

    code.mark(length).ldloc(l.object).castclass(ARRAY);
    code.callvirt(method(ARRAY, "get_Length", "instance int ()"));
    code.box_("[corelib]System.Int32")
        .stloc(l.value)
        .br(classify);

    code.mark(of_field);
    text(code, word::NAME, word::NAME_LENGTH);
    code.stloc(l.name);
    // Private fields of a base class are found there alone.
    code.mark(search).ldloc(l.class).brfalse(missing);
    code.ldloc(l.class)
        .ldloc(l.name)
        .ldc_i4(FLAGS)
        .callvirt(method(
            TYPE_CLASS,
            "GetField",
            "instance class [corelib]System.Reflection.FieldInfo (string, valuetype \
         [corelib]System.Reflection.BindingFlags)",
        ));
    code.stloc(l.field).ldloc(l.field).brtrue(found);
    let class = "instance class [corelib]System.Type ()";
    code.ldloc(l.class)
        .callvirt(method(TYPE_CLASS, "get_BaseType", class));
    code.stloc(l.class).br(search);
    code.mark(missing);
    end(code, kind::MISSING, done);
    code.mark(found);
    if_operation(code, l, &[operation::SET_FIELD], set_field);
    code.ldloc(l.field).ldloc(l.object);
    code.callvirt(method(FIELD, "GetValue", "instance object (object)"));
    code.stloc(l.value).br(classify);
    code.mark(set_field).ldloc(l.field);
    code.callvirt(method(FIELD, "get_FieldType", class))
        .stloc(l.class);
}

/// Makes the value of the request, and stores it in the part.
fn store(code: &mut Fragment, l: &Locals, done: Label) {
    let (is_text, is_null, is_number) = (code.label(), code.label(), code.label());
    let (is_object, of_handle) = (code.label(), code.label());
    let (store, of_element, matches) = (code.label(), code.label(), code.label());
    get(code, word::KIND).ldc_i8(kind::TEXT as i64).beq(is_text);
    get(code, word::KIND).ldc_i8(kind::NULL as i64).beq(is_null);
    get(code, word::KIND)
        .ldc_i8(kind::OBJECT as i64)
        .beq(is_object);
    code.br(is_number);
    // Reflection stores the reference, or the copy of a struct, and checks its type.
    code.mark(is_object);
    get(code, word::TEXT_LENGTH).brtrue(of_handle);
    at(code, word::TEXT).ldind_ref().stloc(l.value).br(store);
    code.mark(of_handle);
    get(code, word::TEXT).conv_i();
    let from_int = "valuetype [corelib]System.Runtime.InteropServices.GCHandle (native int)";
    code.call(method(HANDLE, "FromIntPtr", from_int))
        .stloc(l.handle)
        .ldloca(l.handle);
    code.call(method(HANDLE, "get_Target", "instance object ()"));
    code.stloc(l.value).br(store);
    code.mark(is_null).ldnull().stloc(l.value).br(store);
    code.mark(is_text);
    text(code, word::TEXT, word::TEXT_LENGTH);
    code.stloc(l.value).br(store);
    code.mark(is_number);
    number_kind(code, l);
    code.ldloc(l.code).conv_i8();
    get(code, word::KIND).beq(matches);
    at(code, word::BITS).ldloc(l.code).conv_i8().stind_i8();
    end(code, kind::MISMATCH, done);
    code.mark(matches).ldloc(l.class);
    let create = "object (class [corelib]System.Type)";
    code.call(method(
        "[corelib]System.Activator",
        "CreateInstance",
        create,
    ));
    code.stloc(l.value);
    pinned_bytes(code, l);
    at(code, word::BITS);
    get(code, word::SIZE)
        .conv_u4()
        .cpblk()
        .ldnull()
        .stloc(l.pinned);
    code.mark(store);
    if_operation(code, l, &[operation::SET_ELEMENT], of_element);
    code.ldloc(l.field).ldloc(l.object).ldloc(l.value);
    code.callvirt(method(FIELD, "SetValue", "instance void (object, object)"));
    end(code, kind::DONE, done);
    code.mark(of_element)
        .ldloc(l.object)
        .castclass(ARRAY)
        .ldloc(l.value);
    get(code, word::INDEX).conv_i4();
    code.callvirt(method(ARRAY, "SetValue", "instance void (object, int)"));
    end(code, kind::DONE, done);
}
