"""Engines: formulas, the simulator, the kernel testbed, and sockets over real links."""
