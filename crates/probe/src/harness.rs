//! A C program that builds the inputs of a finding and calls the function.
//!
//! It is linked with the code under test. Objects come from `malloc` with exactly the bytes that the path used, so that a sanitizer sees any access
//! outside. Functions whose calls were skipped are defined here where the program defines none: they return what the path assumed.

use std::fmt::Write;

use crate::shape::{Content, Param, Shape, Target, letter, target_text};

/// The function under test.
pub struct Function<'a> {
    pub name: &'a str,
    pub params: &'a [Param],
}

/// The text of the harness. `defined`: whether the program defines a function. The error says why none can be written.
pub fn text(shape: &Shape, function: &Function<'_>, title: &str, defined: &dyn Fn(&str) -> bool) -> Result<String, String> {
    if let Some(call) = &shape.failing {
        return Err(format!("`{call}` fails on its path"));
    }
    if let Some(call) = shape.calls.iter().find(|call| call.name.starts_with('*') && !call.placed) {
        return Err(format!("the path calls an unknown function through `{}`", &call.name[1..]));
    }
    if let Some(call) = shape.calls.iter().find(|call| defined(&call.name)) {
        return Err(format!("the path skips `{}`, which the program defines", call.name));
    }
    let mut out = String::new();
    let line = |out: &mut String, text: String| {
        out.push_str(&text);
        out.push('\n');
    };
    line(&mut out, format!("/* {} */", title.replace("*/", "* /")));
    line(&mut out, "#include <stdint.h>\n#include <stdlib.h>\n#include <string.h>\n".into());
    line(&mut out, format!("extern uint64_t wryneck_target() __asm__(\"{}\");", function.name));
    for (number, (name, _)) in shape.variables.iter().enumerate() {
        line(&mut out, format!("extern unsigned char variable_{number}[] __asm__(\"{name}\");"));
    }
    for number in 0..shape.objects.len() {
        line(&mut out, format!("static char *{};", letter(number)));
    }
    stubs(shape, &mut out);
    out.push_str(&allocators(&shape.fates));
    line(&mut out, "\nint main(void) {".into());
    for (number, object) in shape.objects.iter().enumerate() {
        let (name, size) = (letter(number), object.high - object.low);
        line(&mut out, format!("    /* what `{}` points to */", object.pointer));
        let back = if object.low < 0 { format!(" + {}", -object.low) } else { String::new() };
        line(&mut out, format!("    {name} = (char *)calloc(1, {size}){back};"));
    }
    for (number, object) in shape.objects.iter().enumerate() {
        fill(&letter(number), &object.content, &mut out);
    }
    for (number, (_, content)) in shape.variables.iter().enumerate() {
        fill(&format!("(char *)variable_{number}"), content, &mut out);
    }
    let mut args = Vec::new();
    for (number, (param, content)) in function.params.iter().zip(&shape.arguments).enumerate() {
        if param.by_value > 0 {
            return Err(format!("the structure `{}` is passed by value", param.name));
        }
        let kind = if param.width <= 32 { "uint32_t" } else { "uint64_t" };
        let value = crate::shape::value(content, param);
        line(
            &mut out,
            format!(
                "    {kind} argument_{number} = ({kind}){value}{}; /* {} */",
                if content.pointers.contains_key(&0) { "" } else { "u" },
                param.name
            ),
        );
        args.push(format!("argument_{number}"));
    }
    line(&mut out, "    started = 1;".into());
    line(&mut out, format!("    wryneck_target({});\n    return 0;\n}}", args.join(", ")));
    Ok(out.replace("(uint32_t)-", "(uint32_t)(int32_t)-"))
}

/// Allocators that fail where those of the path did; linked by `--wrap`.
fn allocators(fates: &[u8]) -> String {
    let list: Vec<String> = fates.iter().chain([&0]).map(u8::to_string).collect();
    let mut out = format!(
        "/* which allocations of the path fail */\nstatic const unsigned char fates[] = {{{}}};\nstatic unsigned turn, started;\n\
         static int fails(void) {{\n    return started && turn < sizeof fates && fates[turn++];\n}}\n",
        list.join(", ")
    );
    for (name, params, args) in
        [("malloc", "size_t n", "n"), ("calloc", "size_t n, size_t m", "n, m"), ("realloc", "void *p, size_t n", "p, n")]
    {
        let _ = writeln!(
            out,
            "void *__real_{name}({params});\nvoid *__wrap_{name}({params}) {{\n    return fails() ? NULL : __real_{name}({args});\n}}"
        );
    }
    out
}

/// Functions that return what the path assumed, call after call.
fn stubs(shape: &Shape, out: &mut String) {
    let mut names: Vec<&str> = shape.calls.iter().map(|call| call.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    for (number, name) in names.into_iter().enumerate() {
        match name.starts_with('*') {
            true => {
                let first = shape.calls.iter().position(|call| call.name == name).unwrap_or(0);
                let _ = writeln!(out, "/* what `{}` points to */\nstatic uint64_t function_{first}(void) {{", &name[1..]);
            }
            false => {
                let _ = writeln!(out, "uint64_t stub_{number}(void) __asm__(\"{name}\");\nuint64_t stub_{number}(void) {{");
            }
        }
        let _ = writeln!(out, "    static int call;\n    switch (call++) {{");
        for (turn, call) in shape.calls.iter().filter(|call| call.name == name).enumerate() {
            let result = match &call.pointer {
                Some(target) => format!("(uint64_t)({})", target_text(target)),
                None => format!("{:#x}u", call.result),
            };
            let _ = writeln!(out, "    case {turn}: return {result};");
        }
        let _ = writeln!(out, "    default: return 0;\n    }}\n}}");
    }
}

fn fill(name: &str, content: &Content, out: &mut String) {
    let mut bytes: Vec<(i64, u8)> = content.bytes.iter().filter(|(_, byte)| **byte != 0).map(|(at, byte)| (*at, *byte)).collect();
    bytes.retain(|(at, _)| !content.pointers.keys().any(|p| (*p..*p + 8).contains(at)));
    for (at, byte) in bytes {
        let _ = writeln!(out, "    ({name})[{at}] = (char){byte};");
    }
    for (at, target) in &content.pointers {
        let target = match target {
            Target::Object(..) | Target::Variable(..) | Target::Function(_) => target_text(target),
        };
        let _ = writeln!(out, "    memcpy({name} + {at}, &(void *){{{target}}}, sizeof(void *));");
    }
}
