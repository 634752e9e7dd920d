"""What differs between two machines: HTTP, keys, configuration, places on the disk, trust.

Touches the world. `ports` names what a session is given; everything else here is one way to provide it.
Others import the ports and what they need. Imports `targets`, `tools`, `providers`, `wire`.
"""
