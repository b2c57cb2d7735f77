"""Reproduction of figures of Song et al. 2018."""
