//! An SMT-LIB 2 solver as a process fed by a pipe, such as `z3 -in` or cvc5, which know floating point.
//!
//! For cross-checks, and for what bit-blasting is bad at. The process is started when first asked, keeps running, and is asked inside
//! `push`/`pop`; assertions are named, so unsatisfiable answers come with a core. Two threads move text, so that neither a full pipe nor a
//! silent process can block: while waiting, [`Stop`](crate::Stop) is asked every few milliseconds, and a process that is given up on is killed.
//! A process that dies or answers nonsense gives [`Why::Process`], and the next query starts another. Of the budget only the stop signal is
//! obeyed: processes do not count work alike.
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use wryneck_expr::print::smtlib;
use wryneck_expr::{ExprId, Pool, SymId};

use super::{Backend, Effort, Verdict};
use crate::answer::Why;
use crate::budget::{Budget, Stop};

/// How long to wait for text before asking the stop signal again.
const PATIENCE: Duration = Duration::from_millis(5);

/// A solver process; the first word of the command is the program.
pub struct SmtlibProcess {
    command: Vec<String>,
    running: Option<Running>,
    effort: Effort,
}

struct Running {
    child: Child,
    /// Text for the process; closed by dropping it.
    to: Sender<String>,
    /// Its lines.
    from: Receiver<String>,
    /// Of SMT-LIB.
    logic: &'static str,
}

/// What is done to each process before it starts, such as having it end with its parent.
static PREPARE: OnceLock<fn(&mut Command)> = OnceLock::new();

impl SmtlibProcess {
    /// From now on `prepare` is called on every process that is to be started.
    pub fn prepare_by(prepare: fn(&mut Command)) {
        let _ = PREPARE.set(prepare);
    }

    pub fn new(command: Vec<String>) -> SmtlibProcess {
        SmtlibProcess { command, running: None, effort: Effort::default() }
    }

    fn ask(&mut self, pool: &Pool, assertions: &[ExprId], budget: &Budget) -> Result<Verdict, Why> {
        if !smtlib::is_expressible(pool, assertions) {
            return Err(Why::NoText);
        }
        let logic = smtlib::logic(pool, assertions);
        // A process keeps its logic; one for floating point could answer all, more slowly.
        self.running.take_if(|running| running.logic != logic);
        let running = match &mut self.running {
            Some(running) => running,
            none => {
                self.effort.restarts += 1;
                none.insert(Running::start(&self.command, logic)?)
            }
        };
        running.send(script(pool, assertions))?;
        let verdict = match running.reply(&budget.stop)?.as_str() {
            "sat" => running.model(pool, assertions, &budget.stop)?,
            "unsat" => running.core(assertions.len(), &budget.stop)?,
            _ => return Err(Why::Process),
        };
        running.send("(pop 1)\n".into())?;
        Ok(verdict)
    }
}

impl Backend for SmtlibProcess {
    fn check(&mut self, pool: &Pool, assertions: &[ExprId], budget: &Budget) -> Verdict {
        self.effort.calls += 1;
        self.ask(pool, assertions, budget).unwrap_or_else(|why| {
            // Its state is unknown: end it, the next query starts another.
            self.running = None;
            Verdict::Unknown(why)
        })
    }

    fn forget(&mut self) {}

    fn effort(&self) -> Effort {
        self.effort
    }

    fn memory(&self) -> usize {
        0
    }
}

impl Running {
    fn start(command: &[String], logic: &'static str) -> Result<Running, Why> {
        let (program, arguments) = command.split_first().ok_or(Why::Process)?;
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        PREPARE.get().into_iter().for_each(|prepare| prepare(&mut command));
        let mut child = command.spawn().map_err(|_| Why::Process)?;
        let (mut stdin, stdout) = child.stdin.take().zip(child.stdout.take()).ok_or(Why::Process)?;
        let (to, texts) = mpsc::channel::<String>();
        thread::spawn(move || {
            while let Ok(text) = texts.recv()
                && stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_ok()
            {}
        });
        let (lines, from) = mpsc::channel();
        thread::spawn(move || {
            let mut all = BufReader::new(stdout).lines();
            while let Some(Ok(line)) = all.next()
                && lines.send(line).is_ok()
            {}
        });
        let running = Running { child, to, from, logic };
        running.send(format!("(set-option :produce-models true)\n(set-option :produce-unsat-cores true)\n(set-logic {logic})\n"))?;
        Ok(running)
    }

    fn send(&self, text: String) -> Result<(), Why> {
        self.to.send(text).map_err(|_| Why::Process)
    }

    /// The next answer: a word, or lines until the parentheses close.
    fn reply(&mut self, stop: &Stop) -> Result<String, Why> {
        let mut text = String::new();
        loop {
            match self.from.recv_timeout(PATIENCE) {
                Ok(line) => {
                    text.push_str(line.trim());
                    text.push(' ');
                }
                Err(RecvTimeoutError::Timeout) if stop.asked() => return Err(Why::Stopped),
                Err(RecvTimeoutError::Timeout) => continue,
                Err(RecvTimeoutError::Disconnected) => return Err(Why::Process),
            }
            let open = text.matches('(').count();
            if !text.trim().is_empty() && open == text.matches(')').count() {
                return Ok(text.trim().to_owned());
            }
        }
    }

    fn model(&mut self, pool: &Pool, assertions: &[ExprId], stop: &Stop) -> Result<Verdict, Why> {
        let mut symbols: Vec<SymId> = assertions.iter().flat_map(|&e| pool.support(e)).copied().collect();
        symbols.sort_unstable();
        symbols.dedup();
        if symbols.is_empty() {
            return Ok(Verdict::Sat(Vec::new()));
        }
        let names: Vec<String> = symbols.iter().map(|&symbol| smtlib::symbol_name(symbol)).collect();
        self.send(format!("(get-value ({}))\n", names.join(" ")))?;
        let reply = self.reply(stop)?;
        let values = values(&reply).filter(|values| values.len() == symbols.len()).ok_or(Why::Process)?;
        let pairs = symbols.into_iter().zip(&names).zip(values);
        let named = pairs.map(|((symbol, name), (said, value))| (*name == said).then_some((symbol, value)));
        Ok(Verdict::Sat(named.collect::<Option<_>>().ok_or(Why::Process)?))
    }

    fn core(&mut self, assertions: usize, stop: &Stop) -> Result<Verdict, Why> {
        self.send("(get-unsat-core)\n".into())?;
        let reply = self.reply(stop)?;
        let mut core: Vec<usize> = words(&reply).filter_map(|word| word.strip_prefix('a')?.parse().ok()).collect();
        core.sort_unstable();
        // A process without cores says something else: then everything is the core.
        let usable = core.last().is_some_and(|&last| last < assertions);
        Ok(Verdict::Unsat(if usable { core } else { (0..assertions).collect() }))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to kill, only to reap.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The query inside a `push`, assertion `i` named `a<i>`.
fn script(pool: &Pool, assertions: &[ExprId]) -> String {
    let mut text = String::from("(push 1)\n");
    smtlib::declare(pool, assertions, &mut text);
    for (i, &assertion) in assertions.iter().enumerate() {
        writeln!(text, "(assert (! (= {} #b1) :named a{i}))", smtlib::term(pool, assertion)).expect("a string takes any text");
    }
    text.push_str("(check-sat)\n");
    text
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| c == '(' || c == ')' || c.is_whitespace()).filter(|word| !word.is_empty())
}

/// Names and values of a reply to `get-value`: `#x` and `#b` digits, or `(_ bv5 8)`.
fn values(reply: &str) -> Option<Vec<(&str, u64)>> {
    let mut values = Vec::new();
    let mut rest = words(reply);
    while let Some(name) = rest.next() {
        let value = match rest.next()? {
            "_" => {
                let value = rest.next()?.strip_prefix("bv")?.parse().ok()?;
                rest.next()?;
                value
            }
            digits => match digits.strip_prefix("#x") {
                Some(digits) => u64::from_str_radix(digits, 16).ok()?,
                None => u64::from_str_radix(digits.strip_prefix("#b")?, 2).ok()?,
            },
        };
        values.push((name, value));
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_in_every_spelling() {
        assert_eq!(values("((s0 #x1f) (s1 #b101) (s2 (_ bv7 8)))"), Some(vec![("s0", 31), ("s1", 5), ("s2", 7)]));
        assert_eq!(values("(error \"no model\")"), None);
    }
}
