"""Parts of tabs that have fields and events of their own."""
