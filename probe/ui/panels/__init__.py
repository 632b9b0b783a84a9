"""Parts of views that have fields and events of their own."""
