"""Tables for a terminal and a notebook, one module for each verb."""
