"""Reproduction of figures and statements of Park et al. 2014."""
