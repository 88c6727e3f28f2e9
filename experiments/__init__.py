"""Long experiments: each is run by `python -m experiments NAME`, its outcome kept in results/."""
