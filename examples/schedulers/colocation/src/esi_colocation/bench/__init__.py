"""A model of interference, an ESI simulated around it in virtual time, and the benchmark on both."""
