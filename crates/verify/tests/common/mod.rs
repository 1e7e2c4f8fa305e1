//! Helpers that the tests of the static analysis share.

use std::rc::Rc;

use wryneck_environ::{Linux, NoHost, ProgramInput};
use wryneck_exec::Image;
use wryneck_expr::Pool;
use wryneck_ir::link::{Program, Unit};

/// A module in text form as a whole program.
pub fn image(text: &str) -> Rc<Image> {
    let module = wryneck_ir::text::parse(text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    wryneck_ir::verify::verify(&module).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let program = Program::link(vec![Unit { name: "test".into(), module, library: false }]).expect("links");
    let environment = Linux::new(ProgramInput::default(), Rc::new(NoHost));
    Rc::new(Image::new(program, &environment, &mut Pool::new()))
}
