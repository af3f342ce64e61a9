# What the compiled module offers is documented where it is bound (bindings/); to a type checker it is opaque.
from typing import Any

def __getattr__(name: str) -> Any: ...
