"""Reproduction of tables and figures of Elahi et al. 2011."""
