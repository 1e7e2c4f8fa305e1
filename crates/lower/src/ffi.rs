//! LLVM's C API, as far as lowering reads it: handles that cannot outlive their module, and one table of getters.
//!
//! The only file with `unsafe`. Handles ([`Value`], [`Type`], [`Block`], [`Metadata`]) borrow the [`Module`] they came
//! from. A getter has the precondition LLVM gives it (`predicate` wants an `icmp`, `operand(i)` wants `i < operands`);
//! the callers match on the opcode or kind first, and the module has passed LLVM's own verifier. Cost: one call into
//! LLVM each; nothing is cached.

use std::ffi::{CStr, c_char, c_int, c_uint};
use std::marker::PhantomData;
use std::ptr;

use llvm_sys::analysis::{LLVMVerifierFailureAction, LLVMVerifyModule};
use llvm_sys::core::*;
pub use llvm_sys::debuginfo::LLVMMetadataKind as MetadataKind;
use llvm_sys::debuginfo::*;
use llvm_sys::error_handling::LLVMInstallFatalErrorHandler;
use llvm_sys::ir_reader::LLVMParseIRInContext2;
use llvm_sys::prelude::*;
use llvm_sys::target::*;
pub use llvm_sys::{
    LLVMAtomicOrdering as Ordering, LLVMAtomicRMWBinOp as RmwOp, LLVMIntPredicate as IntPredicate, LLVMLinkage as Linkage,
    LLVMOpcode as Opcode, LLVMTypeKind as TypeKind, LLVMValueKind as ValueKind,
};

/// A parsed module and its context.
pub struct Module {
    context: LLVMContextRef,
    raw: LLVMModuleRef,
    builder: LLVMBuilderRef,
    layout: LLVMTargetDataRef,
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident($raw:ty);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
        pub struct $name<'m>($raw, PhantomData<&'m Module>);

        impl From<$raw> for $name<'_> {
            fn from(raw: $raw) -> Self {
                $name(raw, PhantomData)
            }
        }
        impl From<$raw> for Maybe<$name<'_>> {
            fn from(raw: $raw) -> Self {
                Maybe((!raw.is_null()).then(|| raw.into()))
            }
        }
    )*};
}

handles! {
    /// A value: constant, global, argument, instruction, inline assembly.
    Value(LLVMValueRef);
    Type(LLVMTypeRef);
    Block(LLVMBasicBlockRef);
    Metadata(LLVMMetadataRef);
    /// A debug record standing before an instruction.
    DbgRecord(LLVMDbgRecordRef);
    Use(LLVMUseRef);
}

/// What a getter gives that may give nothing.
struct Maybe<T>(Option<T>);
/// LLVM's `int` that means yes or no.
struct Flag(bool);
impl From<c_int> for Flag {
    fn from(raw: c_int) -> Self {
        Flag(raw != 0)
    }
}

macro_rules! getters {
    ($($on:ident { $($(#[$doc:meta])* $name:ident($($arg:ident: $ty:ty),*) -> $ret:tt = $call:ident;)* })*) => {$(
        impl<'m> $on<'m> {$(
            $(#[$doc])*
            pub fn $name(self $(, $arg: $ty)*) -> getters!(@type $ret) {
                // SAFETY: the handle's module is alive ('m) and verified; the caller meets the getter's precondition
                // (header).
                let raw = unsafe { $call(self.0 $(, $arg)*) };
                getters!(@wrap $ret raw)
            }
        )*}
    )*};
    (@type (Option $t:ident)) => { Option<$t<'m>> };
    (@type (handle $t:ident)) => { $t<'m> };
    (@type bool) => { bool };
    (@type $t:ty) => { $t };
    (@wrap (Option $t:ident) $raw:ident) => { Maybe::<$t<'m>>::from($raw).0 };
    (@wrap (handle $t:ident) $raw:ident) => { $t::from($raw) };
    (@wrap bool $raw:ident) => { Flag::from($raw).0 };
    (@wrap $t:ty, $raw:ident) => { $raw };
    (@wrap $t:tt $raw:ident) => { $raw };
}

getters! {
    Value {
        kind() -> ValueKind = LLVMGetValueKind;
        ty() -> (handle Type) = LLVMTypeOf;
        is_constant() -> bool = LLVMIsConstant;
        /// Is it `undef` or `poison`?
        is_undef() -> bool = LLVMIsUndef;
        is_null() -> bool = LLVMIsNull;
        operand(i: c_uint) -> (handle Value) = LLVMGetOperand;
        operands() -> c_int = LLVMGetNumOperands;
        first_use() -> (Option Use) = LLVMGetFirstUse;
        /// Of an integer constant of at most 64 bits.
        zext_value() -> u64 = LLVMConstIntGetZExtValue;
        sext_value() -> i64 = LLVMConstIntGetSExtValue;
        /// Element of any constant of aggregate or vector type.
        element(i: c_uint) -> (Option Value) = LLVMGetAggregateElement;
        constant_opcode() -> Opcode = LLVMGetConstOpcode;
        block_address_function() -> (handle Value) = LLVMGetBlockAddressFunction;
        block_address_block() -> (handle Block) = LLVMGetBlockAddressBasicBlock;

        is_declaration() -> bool = LLVMIsDeclaration;
        linkage() -> Linkage = LLVMGetLinkage;
        /// Of a global: the type of what it names.
        value_type() -> (handle Type) = LLVMGlobalGetValueType;
        alignment() -> u32 = LLVMGetAlignment;
        initializer() -> (Option Value) = LLVMGetInitializer;
        is_thread_local() -> bool = LLVMIsThreadLocal;
        is_global_constant() -> bool = LLVMIsGlobalConstant;
        next_global() -> (Option Value) = LLVMGetNextGlobal;
        next_function() -> (Option Value) = LLVMGetNextFunction;
        next_alias() -> (Option Value) = LLVMGetNextGlobalAlias;
        next_ifunc() -> (Option Value) = LLVMGetNextGlobalIFunc;
        aliasee() -> (handle Value) = LLVMAliasGetAliasee;
        subprogram() -> (Option Metadata) = LLVMGetSubprogram;
        params() -> u32 = LLVMCountParams;
        param(i: c_uint) -> (handle Value) = LLVMGetParam;
        first_block() -> (Option Block) = LLVMGetFirstBasicBlock;

        opcode() -> Opcode = LLVMGetInstructionOpcode;
        next_instruction() -> (Option Value) = LLVMGetNextInstruction;
        parent() -> (handle Block) = LLVMGetInstructionParent;
        debug_loc() -> (Option Metadata) = LLVMInstructionGetDebugLoc;
        first_record() -> (Option DbgRecord) = LLVMGetFirstDbgRecord;
        predicate() -> IntPredicate = LLVMGetICmpPredicate;
        /// Of an addition, subtraction, multiplication or shift to the left: does it promise not to overflow, taken as signed?
        no_signed_wrap() -> bool = LLVMGetNSW;
        successors() -> u32 = LLVMGetNumSuccessors;
        successor(i: c_uint) -> (handle Block) = LLVMGetSuccessor;
        is_conditional() -> bool = LLVMIsConditional;
        condition() -> (handle Value) = LLVMGetCondition;
        /// Of successor `i` (at least 1) of a switch.
        case_value(i: c_uint) -> (handle Value) = LLVMGetSwitchCaseValue;
        allocated_type() -> (handle Type) = LLVMGetAllocatedType;
        gep_element_type() -> (handle Type) = LLVMGetGEPSourceElementType;
        incoming() -> u32 = LLVMCountIncoming;
        incoming_value(i: c_uint) -> (handle Value) = LLVMGetIncomingValue;
        incoming_block(i: c_uint) -> (handle Block) = LLVMGetIncomingBlock;
        /// Of a load or store.
        ordering() -> Ordering = LLVMGetOrdering;
        rmw_op() -> RmwOp = LLVMGetAtomicRMWBinOp;
        mask_elements() -> u32 = LLVMGetNumMaskElements;
        /// Element of a shuffle's mask; negative: undefined.
        mask(i: c_uint) -> c_int = LLVMGetMaskValue;
        called_value() -> (handle Value) = LLVMGetCalledValue;
        called_type() -> (handle Type) = LLVMGetCalledFunctionType;
        args() -> u32 = LLVMGetNumArgOperands;
        normal_dest() -> (handle Block) = LLVMGetNormalDest;
        unwind_dest() -> (handle Block) = LLVMGetUnwindDest;
        /// Of a landing pad: how many clauses, which, and whether it cleans up.
        clauses() -> u32 = LLVMGetNumClauses;
        clause(i: c_uint) -> (handle Value) = LLVMGetClause;
        is_cleanup() -> bool = LLVMIsCleanup;
    }
    Type {
        kind() -> TypeKind = LLVMGetTypeKind;
        is_sized() -> bool = LLVMTypeIsSized;
        int_width() -> u32 = LLVMGetIntTypeWidth;
        /// Of an array or vector.
        element() -> (handle Type) = LLVMGetElementType;
        vector_len() -> u32 = LLVMGetVectorSize;
        array_len() -> u64 = LLVMGetArrayLength2;
        fields() -> u32 = LLVMCountStructElementTypes;
        field(i: c_uint) -> (handle Type) = LLVMStructGetTypeAtIndex;
        is_var_arg() -> bool = LLVMIsFunctionVarArg;
        return_type() -> (handle Type) = LLVMGetReturnType;
        param_types() -> u32 = LLVMCountParamTypes;
    }
    Block {
        first_instruction() -> (Option Value) = LLVMGetFirstInstruction;
        terminator() -> (Option Value) = LLVMGetBasicBlockTerminator;
        next() -> (Option Block) = LLVMGetNextBasicBlock;
    }
    Use {
        user() -> (handle Value) = LLVMGetUser;
        next() -> (Option Use) = LLVMGetNextUse;
    }
    DbgRecord {
        next() -> (Option DbgRecord) = LLVMGetNextDbgRecord;
        debug_loc() -> (Option Metadata) = LLVMDbgRecordGetDebugLoc;
    }
    Metadata {
        line() -> u32 = LLVMDILocationGetLine;
        column() -> u32 = LLVMDILocationGetColumn;
        scope() -> (handle Metadata) = LLVMDILocationGetScope;
        inlined_at() -> (Option Metadata) = LLVMDILocationGetInlinedAt;
        scope_file() -> (Option Metadata) = LLVMDIScopeGetFile;
        subprogram_line() -> u32 = LLVMDISubprogramGetLine;
        variable_line() -> u32 = LLVMDIVariableGetLine;
        variable_file() -> (Option Metadata) = LLVMDIVariableGetFile;
        variable_scope() -> (Option Metadata) = LLVMDIVariableGetScope;
        /// Of a DIGlobalVariableExpression.
        global_variable() -> (handle Metadata) = LLVMDIGlobalVariableExpressionGetVariable;
    }
}

/// The bytes at `text`, `len` of them, owned by the module.
///
/// # Safety
/// `text` is null or points to `len` bytes that live as long as `'m`.
unsafe fn bytes<'m>(text: *const c_char, len: usize) -> &'m [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: by this function's contract.
    unsafe { std::slice::from_raw_parts(text.cast(), len) }
}

/// Takes a message LLVM allocated.
///
/// # Safety
/// `text` is null or a NUL-terminated string that LLVM gave away.
unsafe fn message(text: *mut c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: by this function's contract; disposed of once, after the copy.
    unsafe {
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeMessage(text);
        copy
    }
}

impl<'m> Value<'m> {
    /// Name in the module; empty for the nameless.
    pub fn name(self) -> &'m [u8] {
        let mut len = 0;
        // SAFETY: any value has a name, which lives as long as the value.
        unsafe { bytes(LLVMGetValueName2(self.0, &mut len), len) }
    }
    /// Of a global: the section that its source puts it in; empty where it says none.
    pub fn section(self) -> &'m [u8] {
        // SAFETY: a global's section is null or a string, which lives as long as the global.
        unsafe {
            let name = LLVMGetSection(self.0);
            if name.is_null() { &[] } else { CStr::from_ptr(name).to_bytes() }
        }
    }
    /// The values that use it.
    pub fn users(self) -> impl Iterator<Item = Value<'m>> {
        std::iter::successors(self.first_use(), |u| u.next()).map(Use::user)
    }
    /// An instruction? (Constants of kinds without a name in the C API claim to be one.)
    pub fn is_instruction(self) -> bool {
        self.kind() == ValueKind::LLVMInstructionValueKind && !self.is_constant()
    }
    pub fn is_function(self) -> bool {
        self.kind() == ValueKind::LLVMFunctionValueKind
    }
    /// An integer constant of at most 64 bits.
    pub fn as_int(self) -> Option<u64> {
        let small = self.kind() == ValueKind::LLVMConstantIntValueKind && self.ty().kind() == TypeKind::LLVMIntegerTypeKind;
        (small && self.ty().int_width() <= 64).then(|| self.zext_value())
    }
    /// Memory image of a constant array or vector of plain numbers.
    pub fn raw_data(self) -> &'m [u8] {
        let mut len = 0usize;
        // SAFETY: the caller saw a ConstantDataArray or -Vector; its bytes live in the context. The C function takes a
        // pointer to where the length goes, which llvm-sys 221 declares as a number.
        unsafe { bytes(LLVMGetRawDataValues(self.0, (&raw mut len).expose_provenance()), len) }
    }
    /// Predicate of an `fcmp` as LLVM's number: its four low bits are the outcomes (equal, greater, less, unordered).
    pub fn float_predicate(self) -> u32 {
        // SAFETY: the caller saw an `fcmp`.
        unsafe { LLVMGetFCmpPredicate(self.0) as u32 }
    }
    /// Indices of `extractvalue` and `insertvalue`.
    pub fn indices(self) -> &'m [u32] {
        // SAFETY: the caller saw one of the two; the array has that many elements and lives in the instruction.
        unsafe { std::slice::from_raw_parts(LLVMGetIndices(self.0), LLVMGetNumIndices(self.0) as usize) }
    }
    /// Template and constraints of inline assembly.
    pub fn inline_asm(self) -> (&'m [u8], &'m [u8]) {
        let (mut text_len, mut constraints_len) = (0, 0);
        // SAFETY: the caller saw inline assembly; both strings live in the context.
        unsafe {
            let text = LLVMGetInlineAsmAsmString(self.0, &mut text_len);
            let constraints = LLVMGetInlineAsmConstraintString(self.0, &mut constraints_len);
            (bytes(text, text_len), bytes(constraints, constraints_len))
        }
    }
    /// Whether inline assembly is written as Intel does, the destination first.
    pub fn is_intel_asm(self) -> bool {
        // SAFETY: the caller saw inline assembly.
        unsafe { LLVMGetInlineAsmDialect(self.0) == llvm_sys::LLVMInlineAsmDialect::LLVMInlineAsmDialectIntel }
    }
    /// Text of a metadata string passed as an argument; empty for anything else.
    pub fn metadata_string(self) -> &'m [u8] {
        let mut len = 0;
        // SAFETY: the caller saw metadata as a value; gives null for what is no string.
        unsafe { bytes(LLVMGetMDString(self.0, &mut len), len as usize) }
    }
    /// Has the function (index `-1`) or its parameter `i` (counted from 1; 0: the result) this attribute?
    pub fn function_attribute(self, index: u32, kind: Attribute) -> Option<AttributeValue<'m>> {
        // SAFETY: the caller saw a function.
        AttributeValue::of(unsafe { LLVMGetEnumAttributeAtIndex(self.0, index, kind.0) })
    }
    /// As [`Value::function_attribute`], of a call site.
    pub fn call_attribute(self, index: u32, kind: Attribute) -> Option<AttributeValue<'m>> {
        // SAFETY: the caller saw a call.
        AttributeValue::of(unsafe { LLVMGetCallSiteEnumAttribute(self.0, index, kind.0) })
    }
    /// Debug records that stand before the instruction.
    pub fn records(self) -> impl Iterator<Item = DbgRecord<'m>> {
        std::iter::successors(self.first_record(), |r| r.next())
    }
    /// The `!dbg` attachment of a global variable.
    pub fn global_debug(self) -> Option<Metadata<'m>> {
        let mut len = 0;
        // SAFETY: the caller saw a global; the entries are disposed of once, after the last read of them.
        unsafe {
            let entries = LLVMGlobalCopyAllMetadata(self.0, &mut len);
            let dbg = (0..len as c_uint).find(|&i| LLVMValueMetadataEntriesGetKind(entries, i) == 0);
            let found = dbg.map(|i| Metadata::from(LLVMValueMetadataEntriesGetMetadata(entries, i)));
            LLVMDisposeValueMetadataEntries(entries);
            found
        }
    }
}

/// Index of a function's own attributes.
pub const ON_FUNCTION: u32 = u32::MAX;

/// A kind of attribute.
#[derive(Clone, Copy)]
pub struct Attribute(c_uint);

/// An attribute that is there.
#[derive(Clone, Copy)]
pub struct AttributeValue<'m>(LLVMAttributeRef, PhantomData<&'m Module>);

impl Attribute {
    pub fn named(name: &str) -> Attribute {
        // SAFETY: reads `name.len()` bytes.
        Attribute(unsafe { LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) })
    }
}

impl<'m> AttributeValue<'m> {
    fn of(raw: LLVMAttributeRef) -> Option<AttributeValue<'m>> {
        (!raw.is_null()).then_some(AttributeValue(raw, PhantomData))
    }
    /// The type a `byval` (or other type attribute) carries.
    pub fn ty(self) -> Type<'m> {
        // SAFETY: the caller asked for a kind that carries a type.
        Type::from(unsafe { LLVMGetTypeAttributeValue(self.0) })
    }
    /// The number an `align` (or other integer attribute) carries.
    pub fn number(self) -> u64 {
        // SAFETY: the caller asked for a kind that carries a number.
        unsafe { LLVMGetEnumAttributeValue(self.0) }
    }
}

impl<'m> Type<'m> {
    /// Parameter types of a function type.
    pub fn params(self) -> Vec<Type<'m>> {
        let mut out = vec![ptr::null_mut(); self.param_types() as usize];
        // SAFETY: the caller saw a function type; `out` has room for its parameters.
        unsafe { LLVMGetParamTypes(self.0, out.as_mut_ptr()) };
        out.into_iter().map(Type::from).collect()
    }
}

impl std::fmt::Display for Type<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // SAFETY: any type can be printed; the message is ours.
        f.write_str(&unsafe { message(LLVMPrintTypeToString(self.0)) })
    }
}

impl<'m> DbgRecord<'m> {
    /// The value and the source variable of a variable record (labels have none).
    pub fn variable(self) -> Option<(Value<'m>, Metadata<'m>)> {
        // SAFETY: the kind is checked before the variable's getters.
        unsafe {
            if LLVMDbgRecordGetKind(self.0) == llvm_sys::LLVMDbgRecordKind::LLVMDbgRecordLabel {
                return None;
            }
            let value = Maybe::<Value>::from(LLVMDbgVariableRecordGetValue(self.0, 0)).0?;
            Some((value, Maybe::<Metadata>::from(LLVMDbgVariableRecordGetVariable(self.0)).0?))
        }
    }
    pub fn is_declare(self) -> bool {
        // SAFETY: any record has a kind.
        unsafe { LLVMDbgRecordGetKind(self.0) == llvm_sys::LLVMDbgRecordKind::LLVMDbgRecordDeclare }
    }
}

type FileText = unsafe extern "C" fn(LLVMMetadataRef, *mut c_uint) -> *const c_char;

impl<'m> Metadata<'m> {
    pub fn kind(self) -> MetadataKind {
        // SAFETY: any metadata has a kind.
        unsafe { LLVMGetMetadataKind(self.0) }
    }
    fn file_text(self, get: FileText) -> &'m [u8] {
        let mut len = 0;
        // SAFETY: the caller saw a DIFile; its strings live in the context.
        unsafe { bytes(get(self.0, &mut len), len as usize) }
    }
    /// Directory of a file.
    pub fn directory(self) -> &'m [u8] {
        self.file_text(LLVMDIFileGetDirectory)
    }
    /// Name of a file, relative to its directory or absolute.
    pub fn filename(self) -> &'m [u8] {
        self.file_text(LLVMDIFileGetFilename)
    }
    fn operand(self, module: &'m Module, i: usize) -> Option<LLVMValueRef> {
        // SAFETY: debug nodes are nodes with operands; `all` has room for all of them.
        unsafe {
            let node = LLVMMetadataAsValue(module.context, self.0);
            let mut all = vec![ptr::null_mut(); LLVMGetMDNodeNumOperands(node) as usize];
            LLVMGetMDNodeOperands(node, all.as_mut_ptr());
            all.get(i).copied().filter(|v| !v.is_null())
        }
    }
    /// Operand `i` of a debug node, if it is a node.
    pub fn node(self, module: &'m Module, i: usize) -> Option<Metadata<'m>> {
        // SAFETY: operands of debug nodes are metadata wrapped as values.
        self.operand(module, i).map(|v| Metadata::from(unsafe { LLVMValueAsMetadata(v) }))
    }
    /// Operand `i` of a debug node, if it is a string.
    pub fn string(self, module: &'m Module, i: usize) -> Option<&'m [u8]> {
        let value = self.operand(module, i)?;
        let mut len = 0;
        // SAFETY: gives null for what is no string; the string lives in the context.
        Some(unsafe { bytes(LLVMGetMDString(value, &mut len), len as usize) }).filter(|s| !s.is_empty())
    }
}

/// Called by LLVM before it would end the process.
pub type FatalHandler = extern "C" fn(reason: *const c_char);

/// Installs what LLVM calls on an error it cannot return; the handler must not return.
pub fn on_fatal_error(handler: FatalHandler) {
    // SAFETY: the handler is a plain function with the signature LLVM wants.
    unsafe { LLVMInstallFatalErrorHandler(Some(handler)) };
}

/// LLVM's version: major, minor, patch.
pub fn version() -> [u32; 3] {
    let mut v = [0; 3];
    let [major, minor, patch] = &mut v;
    // SAFETY: writes three numbers.
    unsafe { LLVMGetVersion(major, minor, patch) };
    v
}

/// How data lies in memory on x86-64 Linux; for text written by hand that does not say.
const X86_64_LAYOUT: &CStr = c"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128";

extern "C" fn ignore_diagnostic(_: LLVMDiagnosticInfoRef, _: *mut std::ffi::c_void) {}

impl Module {
    /// Parses bitcode or text and verifies it.
    ///
    /// # Errors
    /// LLVM's own words, and whether the parser (`false`) or the verifier (`true`) said them.
    pub fn parse(input: &[u8]) -> Result<Module, (bool, String)> {
        // SAFETY: the buffer is copied and ends in NUL as LLVM wants; each object is disposed of once, on every way
        // out.
        unsafe {
            let context = LLVMContextCreate();
            LLVMContextSetDiagnosticHandler(context, Some(ignore_diagnostic), ptr::null_mut());
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(input.as_ptr().cast(), input.len(), c"input".as_ptr());
            let (mut raw, mut text) = (ptr::null_mut(), ptr::null_mut());
            let failed = LLVMParseIRInContext2(context, buffer, &mut raw, &mut text) != 0;
            LLVMDisposeMemoryBuffer(buffer);
            let text = message(text);
            if failed {
                LLVMContextDispose(context);
                return Err((false, text));
            }
            if CStr::from_ptr(LLVMGetDataLayoutStr(raw)).is_empty() {
                LLVMSetDataLayout(raw, X86_64_LAYOUT.as_ptr());
            }
            let builder = LLVMCreateBuilderInContext(context);
            let module = Module { context, raw, builder, layout: LLVMGetModuleDataLayout(raw) };
            let mut text = ptr::null_mut();
            let action = LLVMVerifierFailureAction::LLVMReturnStatusAction;
            let broken = LLVMVerifyModule(raw, action, &mut text) != 0;
            let text = message(text);
            if broken { Err((true, text)) } else { Ok(module) }
        }
    }
    /// The target triple, maybe empty.
    pub fn triple(&self) -> String {
        // SAFETY: a NUL-terminated string of the module.
        unsafe { CStr::from_ptr(LLVMGetTarget(self.raw)).to_string_lossy().into_owned() }
    }
    /// Is the data layout little-endian with 8-byte pointers?
    pub fn is_little_endian_64(&self) -> bool {
        // SAFETY: the layout belongs to the module.
        unsafe { LLVMByteOrder(self.layout) == llvm_sys::target::LLVMByteOrdering::LLVMLittleEndian && LLVMPointerSize(self.layout) == 8 }
    }
    /// Assembly at the top level, maybe empty.
    pub fn inline_asm(&self) -> &[u8] {
        let mut len = 0;
        // SAFETY: a string of the module.
        unsafe { bytes(LLVMGetModuleInlineAsm(self.raw, &mut len), len) }
    }
    fn list<'m>(&'m self, first: LLVMValueRef, next: fn(Value<'m>) -> Option<Value<'m>>) -> impl Iterator<Item = Value<'m>> {
        std::iter::successors(Maybe::<Value>::from(first).0, move |&v| next(v))
    }
    pub fn functions(&self) -> impl Iterator<Item = Value<'_>> {
        // SAFETY: the module is alive.
        self.list(unsafe { LLVMGetFirstFunction(self.raw) }, Value::next_function)
    }
    pub fn globals(&self) -> impl Iterator<Item = Value<'_>> {
        // SAFETY: the module is alive.
        self.list(unsafe { LLVMGetFirstGlobal(self.raw) }, Value::next_global)
    }
    pub fn aliases(&self) -> impl Iterator<Item = Value<'_>> {
        // SAFETY: the module is alive.
        self.list(unsafe { LLVMGetFirstGlobalAlias(self.raw) }, Value::next_alias)
    }
    pub fn ifuncs(&self) -> impl Iterator<Item = Value<'_>> {
        // SAFETY: the module is alive.
        self.list(unsafe { LLVMGetFirstGlobalIFunc(self.raw) }, Value::next_ifunc)
    }
    /// Bits of a value of this sized type.
    pub fn bits(&self, ty: Type) -> u64 {
        // SAFETY: the caller saw a sized type.
        unsafe { LLVMSizeOfTypeInBits(self.layout, ty.0) }
    }
    /// Bytes from one element of an array of this sized type to the next.
    pub fn alloc_size(&self, ty: Type) -> u64 {
        // SAFETY: the caller saw a sized type.
        unsafe { LLVMABISizeOfType(self.layout, ty.0) }
    }
    pub fn alignment(&self, ty: Type) -> u32 {
        // SAFETY: the caller saw a sized type.
        unsafe { LLVMABIAlignmentOfType(self.layout, ty.0) }
    }
    /// Alignment LLVM would give a global variable that asks for none.
    pub fn preferred_alignment(&self, global: Value) -> u32 {
        // SAFETY: the caller saw a global variable of a sized type.
        unsafe { LLVMPreferredAlignmentOfGlobal(self.layout, global.0) }
    }
    /// Byte offset of field `i` of a sized structure.
    pub fn field_offset(&self, ty: Type, i: u32) -> u64 {
        // SAFETY: the caller saw a structure with more than `i` fields.
        unsafe { LLVMOffsetOfElement(self.layout, ty.0, i) }
    }
    /// The limbs of a plain number of any width: LLVM's own constant folder cuts it into words.
    pub fn number(&self, constant: Value, bits: u32) -> Vec<u64> {
        // SAFETY: the caller saw a constant integer or float of `bits` bits; a builder without a place only folds
        // constants.
        unsafe {
            let wide = LLVMIntTypeInContext(self.context, bits.next_multiple_of(64));
            let word = LLVMIntTypeInContext(self.context, 64);
            let int = LLVMIntTypeInContext(self.context, bits);
            let value = LLVMBuildZExt(self.builder, LLVMBuildBitCast(self.builder, constant.0, int, c"".as_ptr()), wide, c"".as_ptr());
            let limb = |i: u32| {
                let shift = LLVMConstInt(wide, u64::from(i) * 64, 0);
                let shifted = LLVMBuildLShr(self.builder, value, shift, c"".as_ptr());
                LLVMConstIntGetZExtValue(LLVMBuildTrunc(self.builder, shifted, word, c"".as_ptr()))
            };
            (0..bits.div_ceil(64)).map(limb).collect()
        }
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: made together in `parse`, disposed of once, the context last.
        unsafe {
            LLVMDisposeBuilder(self.builder);
            LLVMDisposeModule(self.raw);
            LLVMContextDispose(self.context);
        }
    }
}
