"""Where the parts of a level are solved: on the threads of this process, or anywhere else."""

from sodm.engines.base import Block, Engine, Part, Slot, Table
from sodm.engines.threads import ThreadEngine

__all__ = ["Block", "Engine", "Part", "Slot", "Table", "ThreadEngine"]
