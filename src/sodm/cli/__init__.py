"""The command `sodm`. Typer and rich are imported in here only."""
