"""Engines: formulas, the simulator, the kernel's testbed, and sockets over real links."""
