"""What a reproducer says to people."""

from __future__ import annotations

import shlex

from twinjit.pipeline import AUTO, NAMED_PIPELINES
from twinjit.workers.reproducer import CRASH_FILE, Reproducer

__all__ = ["README_FILE", "to_readme"]

README_FILE = "README.txt"
"""Name of the file."""

_TEXT = """\
A compilation by Twinjit {twinjit} (LLVM {llvm}) ended its process:
  {ending}

{program} is the program, exactly as it was handed in: before you give it away, see whether it is
confidential. {crash} has the options, the builds and what the process wrote.

To have it crash again, in a process of its own:
  twinjit reproduce-crash DIRECTORY

With the tools of MLIR and LLVM {llvm}, built with assertions, in this directory:
{commands}

{remark}
Programs that make MLIR or LLVM crash are reported at https://github.com/llvm/llvm-project/issues.
"""

_AUTO = """\
The pipeline was chosen by the program's dialects; "twinjit explain --full" tells it, where the
program can be read.
"""

_OWN = """\
Passes called twinjit-... are Twinjit's own; mlir-opt does not know them. Twinjit also brings the
program to a canonical form before the passes: where the crash does not come back without either, it
is to be reported to Twinjit.
"""


def to_readme(reproducer: Reproducer) -> str:
    """Write ``README.txt``."""
    return _TEXT.format(
        twinjit=reproducer.versions.get("twinjit", ""),
        llvm=reproducer.versions.get("llvm", ""),
        ending=reproducer.ending,
        program=reproducer.program_file,
        crash=CRASH_FILE,
        commands=_commands(reproducer),
        remark=(_AUTO if reproducer.options.pipeline == AUTO else "") + _OWN,
    )


def _commands(reproducer: Reproducer) -> str:
    options, target = reproducer.options, reproducer.options.target
    named = NAMED_PIPELINES.get(options.pipeline)
    pipeline = shlex.quote(named.text if named else options.pipeline)
    passes = "PIPELINE" if options.pipeline == AUTO else pipeline
    machine = f"-O{options.opt_level} -mtriple={target.triple} -mcpu={target.cpu}"
    attributes = f"-mattr={shlex.quote(target.features)} " if target.features else ""
    steps = [
        f"mlir-opt --pass-pipeline={passes} {reproducer.program_file}",
        "mlir-translate --mlir-to-llvmir",
        f"opt {machine}",
        f"llc {machine} {attributes}-relocation-model=pic -o /dev/null",
    ]
    return "  " + " |\n    ".join(steps)
