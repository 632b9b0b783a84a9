"""Results as JSON values, tables and charts."""
