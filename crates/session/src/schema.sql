-- A run folder's database. Written while the run goes on, a transaction every half second: a killed run leaves a readable one.
-- Several runs' tables can be attached and compared: no number here but those of machine code is an address.

-- The number of this schema; a change here is a new number, and `show` and `replay` say which one they read.
PRAGMA user_version = 6;

-- Facts of the run: command (JSON array), program, started (seconds since 1970), version, status (`running` until the end),
-- and at the end summary (the JSON object that --json prints). rest: what is known where `pending` was last written (JSON, `left.rs`).
CREATE TABLE run (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Every path that ended, in order.
CREATE TABLE path (
    id INTEGER PRIMARY KEY,
    class TEXT NOT NULL,            -- exit, fault, assumed, unsupported, limit, internal
    what TEXT NOT NULL,             -- status, kind of fault, what is unsupported, which limit
    instructions INTEGER NOT NULL,  -- on this path
    depth INTEGER NOT NULL,         -- decisions
    covers_new INTEGER NOT NULL,    -- 1: it entered a block that no path had entered before
    approximated INTEGER NOT NULL,  -- 1: something on it was skipped or bounded
    finds INTEGER NOT NULL,         -- findings that it was the first to show; they are numbered in this order
    prefix BLOB,                    -- its decisions; only where a test was written or a finding was first shown
    places TEXT,                    -- where it made them (JSON, `decided.rs`); only with the decisions
    test TEXT                       -- the test's file name
);

-- One row per place and kind, replaced as its count grows.
CREATE TABLE finding (
    id INTEGER PRIMARY KEY,
    kind TEXT NOT NULL, cwe INTEGER NOT NULL, message TEXT NOT NULL,
    file TEXT NOT NULL, line INTEGER NOT NULL, col INTEGER NOT NULL, function TEXT NOT NULL,
    stack TEXT NOT NULL,            -- JSON array of places, innermost first
    inputs TEXT NOT NULL,           -- JSON array of names and bytes
    count INTEGER NOT NULL,         -- paths that ended so
    test TEXT,
    source_line TEXT,               -- its text, if the source was there
    steps TEXT NOT NULL,            -- JSON array: the decisions on the way there, repetitions counted
    native TEXT, native_why TEXT,   -- reproduced, not reproduced, not replayable; null before it was tried
    code TEXT NOT NULL,             -- JSON array: where there is no source, the instructions around the place
    variables TEXT NOT NULL         -- JSON array: for each place of the stack the variables in scope and their values
);

-- What was skipped, bounded or given up, and the flag that changes it.
CREATE TABLE ledger (kind TEXT NOT NULL, what TEXT NOT NULL, count INTEGER NOT NULL, flag TEXT NOT NULL, PRIMARY KEY (kind, what)) WITHOUT ROWID;

-- Lines with code, and whether a path ran them; library: 1 for those of the C library only.
CREATE TABLE coverage (
    file TEXT NOT NULL, line INTEGER NOT NULL, covered INTEGER NOT NULL, library INTEGER NOT NULL, PRIMARY KEY (file, line)
) WITHOUT ROWID;

-- Functions with code, where they begin, and whether a path entered them.
CREATE TABLE function (
    file TEXT NOT NULL, line INTEGER NOT NULL, name TEXT NOT NULL, entered INTEGER NOT NULL, library INTEGER NOT NULL,
    PRIMARY KEY (file, line, name)
) WITHOUT ROWID;

-- What is left to explore, as it was when the fact `rest` was last written: a path, or the alternative of a decision (`--resume`).
CREATE TABLE pending (
    id INTEGER PRIMARY KEY,
    prefix BLOB NOT NULL,           -- its decisions
    input BLOB NOT NULL             -- values of input that lead there
);

-- At that time: what is not relevant to the rules so far, by name. flip: 0 the decisions before one with deferred alternatives, 1 those up to a deferred one.
CREATE TABLE deferred (id INTEGER PRIMARY KEY, name BLOB NOT NULL, flip INTEGER NOT NULL);

-- What was read of the host, once per question.
CREATE TABLE host (
    question TEXT NOT NULL,         -- stat, lstat, file, dir, link, uname
    path BLOB NOT NULL,
    error INTEGER,                  -- an error number, or null
    answer BLOB                     -- bytes of a file or link; `inode kind name` with a zero byte after each; uname's names with one between; stat's numbers
);
