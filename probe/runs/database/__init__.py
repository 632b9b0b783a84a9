"""The run database: its tables, how it is opened, and how an older one is upgraded."""
