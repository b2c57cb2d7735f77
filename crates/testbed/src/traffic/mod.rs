//! Traffic by the scenario, from a client to a server, and what is measured of it.
