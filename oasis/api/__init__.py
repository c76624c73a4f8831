"""The methods that front ends may call, and who may call them."""
