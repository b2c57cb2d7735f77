"""Reproduction of tables and figures of Alheid et al. 2016."""
