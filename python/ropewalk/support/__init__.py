"""Helpers that know nothing of networks: arguments, texts, files, optional libraries."""
