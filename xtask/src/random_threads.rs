//! Random C programs of two to four threads: what the gate `threads` runs in the engine and natively.
//!
//! The threads lock, wait, signal and count by every function of threads that has a model, and each says letters and numbers into one output, which
//! so shows their order; compiled with `-DAPART`, into one each, which orders nothing. A program may deadlock, race, give back what it does not hold, or leave its main function early. One argument of
//! one byte may decide what is done. In a *sequential* program every thread is joined where it was made, so any run of it ends the same.

use std::fmt::Write;

use crate::random::Random;

const PRELUDE: &str = include_str!("random_threads.c");
/// Threads that a program may make.
const THREADS: usize = 3;
/// Kinds of statements.
const KINDS: usize = 30;

pub struct Program {
    pub text: String,
    /// No two of its threads run at the same time.
    pub sequential: bool,
    /// An input byte decides something.
    pub has_input: bool,
}

impl Program {
    /// Its own functions, without what all programs begin with.
    pub fn body(&self) -> &str {
        self.text.strip_prefix(PRELUDE).unwrap_or(&self.text)
    }
}

struct Generator {
    random: Random,
    out: String,
    threads: usize,
    has_input: bool,
    sequential: bool,
    /// All threads first wait for one condition.
    gather: bool,
    /// Statements to choose from: few in most programs, so that threads meet.
    kinds: Vec<usize>,
    /// Of each kind.
    objects: usize,
    /// Within how many blocks.
    depth: usize,
}

pub fn program(seed: u64) -> Program {
    let sequential = seed % 4 == 3;
    let mut random = Random::new(seed);
    let threads = 2 + random.below(2);
    let few = !seed.is_multiple_of(3);
    let kinds = if few { (0..4).map(|_| random.below(KINDS)).collect() } else { (0..KINDS).collect() };
    let objects = if few { 1 } else { 2 };
    let mut g = Generator {
        random,
        out: String::new(),
        threads,
        has_input: false,
        sequential,
        gather: !sequential && seed.is_multiple_of(5),
        kinds,
        objects,
        depth: 1,
    };
    let at_barrier = if sequential { 1 } else { 1 + g.below(3) };
    g.line("static void first(void) {");
    g.line("say('O', 1);");
    if g.below(3) == 0 {
        g.statement();
    }
    g.line("}");
    for thread in 0..g.threads {
        g.thread(thread);
    }
    g.line("int main(int argc, char **argv) {");
    let semaphores = g.below(3) | g.below(3) << 2;
    g.line(&format!("begin(argc, argv, {semaphores}, {at_barrier});"));
    for thread in 0..g.threads {
        g.make(thread);
        if sequential {
            g.join(thread);
        }
        if g.below(3) == 0 {
            g.statement();
        }
    }
    if g.gather {
        g.line("sched_yield();");
        for _ in 0..g.below(3) {
            g.line("pthread_cond_signal(&c[0]);");
        }
        g.line("say('H', sched_yield());");
        g.line("pthread_cond_broadcast(&c[0]);");
    }
    if g.below(8) == 0 {
        g.line("pthread_exit(0);");
    } else if !sequential && g.below(10) > 0 {
        for thread in 0..g.threads {
            g.join(thread);
        }
    }
    g.line("return (n[0] + n[1] + a) & 63;");
    g.line("}");
    Program { text: format!("{PRELUDE}{}", g.out), sequential, has_input: g.has_input }
}

impl Generator {
    fn below(&mut self, n: usize) -> usize {
        self.random.below(n)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", if text.ends_with('{') || text == "}" { 0 } else { 2 * self.depth });
    }

    fn thread(&mut self, number: usize) {
        let standard = number == THREADS - 1;
        self.line(&format!("static {} run{number}(void *p) {{", if standard { "int" } else { "void *" }));
        self.line("#ifdef APART");
        self.line(&format!("self = {};", number + 1));
        self.line("#endif");
        self.line(&format!("say('t', {number});"));
        if self.gather {
            self.line(&format!(
                "pthread_mutex_lock(&m[0]), pthread_cond_wait(&c[0], &m[0]), say('G', {number}), pthread_mutex_unlock(&m[0]);"
            ));
        }
        for _ in 0..1 + self.below(3) {
            self.statement();
        }
        let value = self.below(20);
        match self.below(6) {
            0 if standard => self.line(&format!("thrd_exit({value});")),
            0 => self.line(&format!("pthread_exit((void *)(long){value});")),
            1 => {
                self.line(&format!("pthread_cleanup_push(cleaned, (void *){value}L);"));
                self.statement();
                if self.below(2) == 0 {
                    self.line("pthread_exit(0);");
                }
                let runs = self.below(2);
                self.line(&format!("pthread_cleanup_pop({runs});"));
            }
            _ => {}
        }
        self.line(&if standard { format!("return {value};") } else { format!("return (void *)(long){value};") });
        self.line("}");
    }

    fn make(&mut self, thread: usize) {
        if thread == THREADS - 1 {
            self.line(&format!("thrd_create((thrd_t *)&t[{thread}], run{thread}, 0);"));
        } else {
            self.line(&format!("pthread_create(&t[{thread}], 0, run{thread}, 0);"));
        }
    }

    fn join(&mut self, thread: usize) {
        let text = match self.below(12) {
            _ if thread == THREADS - 1 => format!("{{ int r = 0; thrd_join((thrd_t)t[{thread}], &r); say('J', r); }}"),
            0 => format!("say('j', pthread_timedjoin_np(t[{thread}], 0, later(5)) == ETIMEDOUT);"),
            1 => format!("say('j', pthread_tryjoin_np(t[{thread}], 0) == EBUSY);"),
            _ => format!("{{ void *r = 0; pthread_join(t[{thread}], &r); say('J', (int)(long)r); }}"),
        };
        self.line(&text);
    }

    /// Statements within a lock.
    fn inner(&mut self) {
        self.depth += 1;
        match self.below(4) {
            0 => self.count(),
            1 if self.depth < 3 => self.statement(),
            2 => {
                let i = self.below(self.objects);
                self.line(&format!("flag[{i}] = 1;"));
                self.line(&format!("pthread_cond_signal(&c[{i}]);"));
            }
            _ => self.line("say('i', a);"),
        }
        self.depth -= 1;
    }

    fn count(&mut self) {
        let i = self.below(3);
        self.line(&format!("say('n', n[{i}]++);"));
    }

    fn statement(&mut self) {
        self.depth += 1;
        self.one();
        self.depth -= 1;
    }

    fn one(&mut self) {
        let (i, k) = (self.below(self.objects), self.below(3));
        let kind = self.below(self.kinds.len());
        let kind = self.kinds[kind];
        match kind {
            0..=3 => {
                self.line(&format!("say('l', pthread_mutex_lock(&m[{k}]));"));
                self.inner();
                self.line(&format!("say('u', pthread_mutex_unlock(&m[{k}]));"));
            }
            4 => {
                self.line(&format!("if (!pthread_mutex_trylock(&m[{k}])) {{"));
                self.inner();
                self.line(&format!("pthread_mutex_unlock(&m[{k}]);"));
                self.line("}");
                self.line("else say('T', 0);");
            }
            5 => {
                self.line(&format!("{{ int r = pthread_mutex_timedlock(&m[{k}], later({}));", 1 + i));
                self.line(&format!("say('r', r); if (!r) pthread_mutex_unlock(&m[{k}]); }}"));
            }
            6 | 7 => {
                let word = ["if", "while", "while"][k];
                self.line(&format!("pthread_mutex_lock(&m[{i}]);"));
                if self.below(2) == 0 {
                    self.line(&format!("flag[{i}] = 1;"));
                }
                self.line(&format!("{word} (!flag[{i}]) say('w', pthread_cond_wait(&c[{i}], &m[{i}]));"));
                self.line(&format!("pthread_mutex_unlock(&m[{i}]);"));
            }
            8 => {
                self.line(&format!("pthread_mutex_lock(&m[{i}]);"));
                self.line(&format!("if (!flag[{i}]) say('W', pthread_cond_timedwait(&c[{i}], &m[{i}], later({})) == ETIMEDOUT);", 1 + k));
                self.line(&format!("pthread_mutex_unlock(&m[{i}]);"));
            }
            9 | 10 => {
                self.line(&format!("flag[{i}] = {};", usize::from(k > 0)));
                self.line(&format!("pthread_cond_{}(&c[{i}]);", if k == 2 { "broadcast" } else { "signal" }));
            }
            11 => self.line(&format!("say('p', sem_post(&e[{i}]));")),
            12 => {
                if self.below(3) > 0 {
                    let which = self.below(self.objects);
                    self.line(&format!("sem_post(&e[{which}]);"));
                }
                self.line(&format!("say('s', sem_wait(&e[{i}]));"));
            }
            13 => match k {
                0 => self.line(&format!("say('S', sem_trywait(&e[{i}]) ? errno == EAGAIN : 2);")),
                1 => self.line(&format!("say('S', sem_timedwait(&e[{i}], later(2)) ? errno == ETIMEDOUT : 2);")),
                _ => self.line(&format!("{{ int v; sem_getvalue(&e[{i}], &v); say('v', v); }}")),
            },
            14 if self.below(2) > 0 => self.line("sched_yield();"),
            14 => self.line("say('b', pthread_barrier_wait(&b) == PTHREAD_BARRIER_SERIAL_THREAD);"),
            15 => {
                let how = ["rdlock", "wrlock", "tryrdlock"][k];
                self.line(&format!("if (!pthread_rwlock_{how}(&l)) {{"));
                self.inner();
                self.line("pthread_rwlock_unlock(&l);");
                self.line("}");
                self.line("else say('R', 0);");
            }
            16 => {
                self.line("pthread_spin_lock(&s);");
                self.inner();
                self.line("pthread_spin_unlock(&s);");
            }
            17 => self.line(["say('a', a++);", "say('x', atomic_exchange(&a, 3));", "own++, say('o', own);"][k]),
            18 => self.line(["sched_yield();", "usleep(50);", "thrd_yield();"][k]),
            19 => self.line("pthread_once(&once, first);"),
            20 => match k {
                0 => self.line("say('g', (int)(long)pthread_getspecific(key));"),
                _ => self.line(&format!("pthread_setspecific(key, (void *)(long){});", 1 + i)),
            },
            21 => match k {
                0 => self.line("say('X', mtx_timedlock(&x, later(1))), mtx_unlock(&x);"),
                1 => self.line("if (mtx_lock(&x) == thrd_success) say('Y', cnd_timedwait(&y, &x, later(1))), mtx_unlock(&x);"),
                _ => self.line("say('Z', mtx_trylock(&x) == thrd_busy || mtx_unlock(&x)), cnd_signal(&y);"),
            },
            24 => self.line(&format!("say('>', write({}[1], \"pq\", {}));", ["q", "w"][i], 1 + k % 2)),
            25 => self.line(&format!("get({}[{}], {});", ["q", "w"][i], if i == 1 && k == 0 { 1 } else { 0 }, 1 + k)),
            26 => match k {
                0 => self.line(&format!("say('K', close({}[1]));", ["q", "w"][i])),
                1 => self.line(&format!("say('>', write(w[{i}], \"xyz\", 3));")),
                _ => self.line("get(w[0], 3);"),
            },
            27 => self.line(&format!("ready({}[0], {});", ["q", "w"][i], ["0", "3", "-1"][k])),
            28 => match k {
                0 => self.line("{ eventfd_t got = 0; say('v', eventfd_read(v, &got)), say('V', (int)got); }"),
                _ => self.line(&format!("say('+', eventfd_write(v, {}));", 1 + i)),
            },
            29 => match k {
                0 => self.line("kill(getpid(), SIGUSR1);"),
                _ => self.line(&format!("say('k', sigtimedwait(&blocked, 0, &(struct timespec){{0, {}000}}));", 50 * i)),
            },
            22 => {
                self.has_input = true;
                self.line(&format!("if (in & {}) {{", 1 << i));
                self.inner();
                self.line("}");
            }
            _ => match self.below(10) {
                0 => self.line(&format!("exit({});", 7 + i)),
                1 => self.line("say('E', pthread_mutex_unlock(&m[1]));"),
                2 => self.line(
                    "pthread_mutex_lock(&m[2]), pthread_mutex_lock(&m[2]), pthread_mutex_unlock(&m[2]), pthread_mutex_unlock(&m[2]);",
                ),
                3 if !self.sequential => self.line(&format!("say('d', pthread_detach(t[{i}]) != 0);")),
                4 => self.line("pthread_mutex_unlock(&m[0]);"),
                _ => self.count(),
            },
        }
    }
}
