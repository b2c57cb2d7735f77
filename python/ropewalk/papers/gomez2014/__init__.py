"""Reproduction of figures of Gómez et al. 2014."""
