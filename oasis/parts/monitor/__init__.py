"""The part `monitor`: what devices, links, rules and services of the router do now, a question at a time."""
