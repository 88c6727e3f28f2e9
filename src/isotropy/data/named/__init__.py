"""Data sets by name: one file for each family, and the catalogue of all."""
