"""Explores an executable with angr to the end, as its documentation begins: no library loaded, symbolic input of a fixed size.

usage: explore.py PROGRAM argument|stdin BYTES

Prints one JSON object: how many states ended and how, and the seconds from loading the program on; importing angr is not counted.
"""

import json
import logging
import sys
import time

import angr
import claripy

logging.disable(logging.CRITICAL)
program, kind, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
start = time.time()
project = angr.Project(program, auto_load_libs=False)
symbolic = claripy.BVS("input", 8 * size)
if kind == "argument":
    state = project.factory.entry_state(args=[program, symbolic])
else:
    state = project.factory.entry_state(args=[program], stdin=angr.SimFileStream(name="stdin", content=symbolic, has_end=True))
manager = project.factory.simulation_manager(state)
manager.run()
stashes = {name: len(states) for name, states in manager.stashes.items() if states}
stashes.update({"errored": len(manager.errored)} if manager.errored else {})
print(json.dumps({"version": angr.__version__, "seconds": time.time() - start, "stashes": stashes}))
