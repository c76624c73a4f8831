"""UCI, equal to libuci: `cursor` to read and change, `preview` to foresee, `model` for the values."""
