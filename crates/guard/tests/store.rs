//! Stores on disk: what is committed is found, by any order of lookup; damage is set aside; writers do not lose each other's paths.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::thread;

use wryneck_expr::{Pool, form};
use wryneck_guard::lookup::SIDES;
use wryneck_guard::{Given, Loaded, Order, Step, Store, Tree, Verdict, World, find, obstacle};

const KEY: [u8; 32] = [7; 32];
const PROGRAM: [u8; 32] = [1; 32];

/// An input of one byte, in a world whose one fact is a word.
struct Now {
    byte: u8,
    word: &'static str,
}

impl World for Now {
    fn input(&mut self, name: &[u8]) -> Given {
        match name {
            b"arg00" => Given::Bytes(vec![self.byte]),
            b"clock" => Given::Any,
            _ => Given::Unknown,
        }
    }
    fn holds(&mut self, question: &[u8], answer: &[u8]) -> bool {
        question == b"word" && answer == self.word.as_bytes()
    }
}

/// `arg00[0] == value`, or its negation.
fn is(tree: &mut Tree, name: &str, value: u64, holds: bool) -> Step {
    let mut pool = Pool::new();
    let symbol = pool.symbol(name, 0, 8);
    let (byte, value) = (pool.sym(symbol), pool.bits(8, value));
    let equal = pool.eq(byte, value);
    let condition = if holds { equal } else { pool.not(equal) };
    let form = form::write(&pool, condition, &mut |name| tree.name(name.as_bytes())).expect("it is small");
    tree.condition(&form)
}

/// In the world `w`: byte 1 is clean, byte 2 faults, all others are not verified.
fn tree() -> Tree {
    let mut tree = Tree::default();
    let fact = tree.fact(b"word", b"w");
    let (one, other) = (is(&mut tree, "arg00", 1, true), is(&mut tree, "arg00", 1, false));
    let (two, rest) = (is(&mut tree, "arg00", 2, true), is(&mut tree, "arg00", 2, false));
    let (fault, why) = (tree.text(b"null"), tree.text(b"a clock"));
    tree.add([fact, one], Verdict::Clean);
    tree.add([fact, other, two], Verdict::Faulty(fault));
    tree.add([fact, other, rest], Verdict::Unverified(why));
    tree
}

fn answer(store: &Store, byte: u8, word: &'static str, order: Order<'_>) -> (Option<bool>, String) {
    let Ok(Loaded::Paths(mapped)) = store.load(&PROGRAM) else { return (None, "nothing".into()) };
    let view = mapped.view().expect("it is whole");
    let found = find(&view, order, &mut Now { byte, word }).expect("it is whole");
    let verdict = match found.verdict {
        Some(Verdict::Clean) => Some(true),
        Some(Verdict::Faulty(_)) => Some(false),
        Some(Verdict::Unverified(_)) | None => None,
    };
    (verdict, String::from_utf8_lossy(found.text).into_owned())
}

#[test]
fn what_is_committed_is_found_in_every_order() {
    let dir = tempfile::tempdir().expect("there is room");
    let store = Store::open(dir.path(), KEY).expect("it is ours");
    assert!(matches!(store.load(&PROGRAM), Ok(Loaded::Nothing)));
    assert_eq!(store.commit(&PROGRAM, &tree()).expect("there is room"), 3);
    // The same again adds nothing.
    assert_eq!(store.commit(&PROGRAM, &tree()).expect("there is room"), 3);
    for order in [|| Order::Tree, || Order::Linear, || Order::Recent(&[2, 1])] {
        assert_eq!(answer(&store, 1, "w", order()), (Some(true), String::new()));
        assert_eq!(answer(&store, 2, "w", order()), (Some(false), "null".into()));
        assert_eq!(answer(&store, 3, "w", order()), (None, "a clock".into()));
        // Another world, or an input that has no such byte: nothing is known.
        assert_eq!(answer(&store, 1, "v", order()), (None, String::new()));
    }
    let Ok(Loaded::Paths(mapped)) = store.load(&PROGRAM) else { panic!("it was committed") };
    let view = mapped.view().expect("it is whole");
    assert_eq!(obstacle(&view, &mut Now { byte: 1, word: "v" }), Ok(Some("word".into())));
}

#[test]
fn a_condition_on_an_unknown_input_never_holds_and_a_fault_counts_before_clean() {
    let dir = tempfile::tempdir().expect("there is room");
    let store = Store::open(dir.path(), KEY).expect("it is ours");
    let mut tree = tree();
    let unknown = is(&mut tree, "never written", 0, true);
    let fact = tree.fact(b"word", b"v");
    tree.add([fact, unknown], Verdict::Clean);
    store.commit(&PROGRAM, &tree).expect("there is room");
    assert_eq!(answer(&store, 1, "v", Order::Tree), (None, String::new()));
    let mut other = Tree::default();
    let fact = other.fact(b"word", b"w");
    let text = other.text(b"later");
    other.add([fact], Verdict::Faulty(text));
    store.commit(&PROGRAM, &other).expect("there is room");
    assert_eq!(answer(&store, 1, "w", Order::Tree), (Some(false), "later".into()));
}

/// `arg00[0] < clock[0] + 20` without a carry, or its negation, under the mark of its side.
fn early(tree: &mut Tree, side: usize) -> [Step; 2] {
    let mut pool = Pool::new();
    let [given, clock] = ["arg00", "clock"].map(|name| pool.symbol(name, 0, 8)).map(|symbol| pool.sym(symbol));
    let [given, clock] = [given, clock].map(|byte| pool.zext(byte, 16));
    let twenty = pool.bits(16, 20);
    let late = pool.add(clock, twenty);
    let below = pool.ult(given, late);
    let condition = if side == 0 { below } else { pool.not(below) };
    let form = form::write(&pool, condition, &mut |name| tree.name(name.as_bytes())).expect("it is small");
    [tree.fact(b"either 17", SIDES[side]), tree.condition(&form)]
}

#[test]
fn input_of_any_value_decides_only_where_it_cannot_matter() {
    let dir = tempfile::tempdir().expect("there is room");
    let store = Store::open(dir.path(), KEY).expect("it is ours");
    let commit = |side: usize, end: &dyn Fn(&mut Tree) -> Verdict| {
        let mut tree = Tree::default();
        let steps = early(&mut tree, side);
        let verdict = end(&mut tree);
        tree.add(steps, verdict);
        store.commit(&PROGRAM, &tree).expect("there is room");
    };
    let asked = |byte: u8| answer(&store, byte, "", Order::Tree).0;
    commit(0, &|_| Verdict::Clean);
    // Below 20 one side is taken whatever the clock says. Above it the other side is not verified yet.
    assert_eq!((asked(19), asked(200)), (Some(true), None));
    assert_eq!(answer(&store, 19, "", Order::Linear).0, None);
    commit(1, &|tree| Verdict::Unverified(tree.text(b"unknown")));
    assert_eq!((asked(19), asked(200)), (Some(true), None));
    // Deeper down, and with a fault: nothing is known where the sides end otherwise.
    commit(1, &|tree| Verdict::Faulty(tree.text(b"a fault")));
    assert_eq!((asked(19), asked(200)), (Some(true), None));
}

#[test]
fn both_sides_of_a_decision_make_a_verdict() {
    let dir = tempfile::tempdir().expect("there is room");
    let store = Store::open(dir.path(), KEY).expect("it is ours");
    let mut tree = Tree::default();
    for (number, value) in [(0, 5), (1, 6)] {
        // Two pairs: of the second one a side is missing.
        let name = format!("either {value}");
        let other = if number == 0 { vec![0, 1] } else { vec![1] };
        for side in other {
            let known = is(&mut tree, "arg00", value, true);
            let mark = tree.fact(name.as_bytes(), SIDES[side]);
            let condition = is(&mut tree, "clock", 7, side == 0);
            tree.add([known, mark, condition], Verdict::Clean);
        }
    }
    store.commit(&PROGRAM, &tree).expect("there is room");
    let asked = |byte: u8| answer(&store, byte, "", Order::Tree).0;
    assert_eq!([5, 6, 7].map(asked), [Some(true), None, None]);
}

#[test]
fn damaged_and_foreign_files_are_set_aside() {
    let dir = tempfile::tempdir().expect("there is room");
    let store = Store::open(dir.path(), KEY).expect("it is ours");
    store.commit(&PROGRAM, &tree()).expect("there is room");
    let file = fs::read_dir(dir.path())
        .expect("it is there")
        .map(|entry| entry.expect("it can be read").path())
        .find(|path| path.extension().is_some_and(|ending| ending == "paths"))
        .expect("it was committed");
    let whole = fs::read(&file).expect("it can be read");
    for at in (0..whole.len()).step_by(7) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x40;
        fs::write(&file, &bytes).expect("there is room");
        assert!(matches!(store.load(&PROGRAM), Ok(Loaded::SetAside(_))), "byte {at}");
        assert!(matches!(store.load(&PROGRAM), Ok(Loaded::Nothing)));
    }
    // Another user's key, another program's file, a link, a file that others can write.
    fs::write(&file, &whole).expect("there is room");
    assert!(matches!(Store::open(dir.path(), [8; 32]).and_then(|other| other.load(&PROGRAM)), Ok(Loaded::SetAside(_))));
    let copy = dir.path().join("copy");
    fs::write(&copy, &whole).expect("there is room");
    symlink(&copy, &file).expect("there is room");
    assert!(matches!(store.load(&PROGRAM), Ok(Loaded::SetAside(_))));
    fs::write(&file, &whole).expect("there is room");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).expect("it is ours");
    assert!(matches!(store.load(&PROGRAM), Ok(Loaded::SetAside(_))));
    fs::write(&file, &whole).expect("there is room");
    assert!(matches!(store.load(&PROGRAM), Ok(Loaded::Paths(_))));
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o777)).expect("it is ours");
    assert!(Store::open(dir.path(), KEY).is_err());
}

#[test]
fn writers_at_once_lose_nothing() {
    const EACH: u64 = 20;
    let dir = tempfile::tempdir().expect("there is room");
    thread::scope(|scope| {
        for writer in 0..4u64 {
            let dir = dir.path();
            scope.spawn(move || {
                let store = Store::open(dir, KEY).expect("it is ours");
                for number in 0..EACH {
                    let mut tree = Tree::default();
                    let step = is(&mut tree, "arg00", writer * EACH + number, true);
                    tree.add([step], Verdict::Clean);
                    store.commit(&PROGRAM, &tree).expect("there is room");
                    assert!(!matches!(store.load(&PROGRAM), Ok(Loaded::Nothing | Loaded::SetAside(_)) | Err(_)));
                }
            });
        }
    });
    let store = Store::open(dir.path(), KEY).expect("it is ours");
    for byte in 0..4 * EACH as u8 {
        assert_eq!(answer(&store, byte, "", Order::Tree).0, Some(true), "{byte}");
    }
    assert!(store.forget(&PROGRAM).expect("it is ours"));
    assert!(matches!(store.load(&PROGRAM), Ok(Loaded::Nothing)));
}
