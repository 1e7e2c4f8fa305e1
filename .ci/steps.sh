# The set-up that ./demo and ./test share; sourced by both. Each step is announced, timed, and, if it fails, explained.
# Everything here may be repeated: what is there already is left as it is.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

export WRYNECK_CACHE="${WRYNECK_CACHE:-$HOME/.cache/wryneck}"
STEP='' HINT='' STARTED=0

# step NAME HINT: the step before is done; NAME begins; HINT is what to do if it fails.
step() {
  end_step
  STEP=$1 HINT=$2 STARTED=$SECONDS
  printf '\n== %s\n' "$STEP"
}

end_step() {
  [ -z "$STEP" ] || printf '   done: %s (%d s)\n' "$STEP" $((SECONDS - STARTED))
  STEP=''
}

explain_failure() {
  local status=$?
  [ "$status" -eq 0 ] || [ -z "$STEP" ] && return
  printf '\nFAILED: %s (after %d s, exit %d)\n' "$STEP" $((SECONDS - STARTED)) "$status" >&2
  printf 'What to do: %s\n' "$HINT" >&2
}
trap explain_failure EXIT

# Debian packages, each with its reason.
PACKAGES=(
  build-essential  # the C++ of the SAT solver and of the p-code library; make, dpkg-source
  clang-22         # C to bitcode
  cmake            # a project of the tests
  csmith           # random C programs for the tests
  libcsmith-dev    # what they include
  cvc5             # a solver of floating point
  ca-certificates  # crates over https
  libc++-22-dev    # headers for C++ programs
  libclang-rt-22-dev  # the sanitizers that confirm findings
  libpolly-22-dev  # llvm-config names it
  lld-22           # links whole programs as bitcode
  llvm-22-dev      # read by wryneck-lower
  musl-dev         # native programs for replays
  musl-tools       # musl-gcc: executables of the tests
  patch            # Debian's patches on source packages
  valgrind         # second opinion on reads of memory never written
  xz-utils         # source packages
  z3               # second opinion on the solver
)

# The oldest rustc that the workspace builds with (1.RUST_MINOR).
RUST_MINOR=89

as_root() {
  if [ "$(id -u)" -eq 0 ]; then "$@"; elif command -v sudo >/dev/null; then sudo "$@"; else
    printf 'neither root nor sudo; run as root: %s\n' "$*" >&2
    return 1
  fi
}

install_missing() {
  local missing=()
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  printf 'installing: %s\n' "${missing[*]}"
  as_root apt-get -q update
  as_root env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends "${missing[@]}"
}

rust_is_new_enough() {
  local minor
  minor=$(rustc --version 2>/dev/null | sed -n 's/^rustc 1\.\([0-9]*\).*/\1/p')
  [ -n "$minor" ] && [ "$minor" -ge "$RUST_MINOR" ] && command -v cargo >/dev/null
}

# GB that a first build, packages, caches and the programs of the tests take: 8 (2026-11-25), and some to spare.
DISK_GB=10

room_on_disk() {
  local free
  free=$(df --output=avail -BG . | tail -1 | tr -dc 0-9)
  [ "$free" -ge "$DISK_GB" ] || [ -d target/debug ] || {
    printf '%d GB are free here, a first build and its tests need %d\n' "$free" "$DISK_GB" >&2
    return 1
  }
}

prepare() {
  step 'room on the disk' 'free some; cargo clean removes earlier builds'
  room_on_disk

  step 'Debian packages' 'see the messages of apt-get above; on another system install what is listed here by its own means'
  if command -v apt-get >/dev/null; then
    install_missing "${PACKAGES[@]}"
  else
    printf 'This is not Debian. Needed: LLVM 22 with clang, lld and headers (as clang-22, llvm-link-22 …), musl for x86-64,\n'
    printf 'dpkg-source or the sources by --musl-source, a C++ compiler, make, patch, xz, cvc5, z3, csmith.\n'
    clang-22 --version >/dev/null && lld-22 --version >/dev/null
  fi

  step 'Rust' "install rustc and cargo 1.$RUST_MINOR or newer: Debian's rustup, cargo or cargo-web package, or your own way"
  export PATH="$PATH:$HOME/.cargo/bin"
  if ! rust_is_new_enough && ! command -v rustc >/dev/null && command -v apt-get >/dev/null; then
    # Debian 12 keeps a current compiler for its browsers under these names.
    if apt-cache show cargo-web >/dev/null 2>&1; then install_missing cargo-web rustc-web; else install_missing cargo rustc; fi
  fi
  rust_is_new_enough
  rustc --version

  step 'wryneck, release build' 'read the first error above; network access to the crate registry is needed once'
  cargo build --release -p wryneck-cli -p wryneck-lower -p xtask

  step 'musl as bitcode' 'no network: cargo xtask setup libc --musl-source DIR; else read the error above'
  target/release/xtask setup libc

  step 'coreutils as bitcode' 'see the log named above; an interrupted build starts afresh when repeated'
  target/release/xtask corpus coreutils
}
