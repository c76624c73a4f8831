"""UCI, equal to libuci: `model` to read and foresee, `cursor` to write."""
