"""Tables of examples in files: read in any form, written back unaltered."""
