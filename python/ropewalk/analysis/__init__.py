"""Analyses of scenarios: many runs, comparisons, advice, explanations, meshes, captures."""
