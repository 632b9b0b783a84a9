"""How the page is served: its queue, its sessions, passwords, and the checks of every request."""
