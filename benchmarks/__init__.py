"""Speed, as ratios within one interleaved run: `make bench`, or `python -m benchmarks NAME`."""
