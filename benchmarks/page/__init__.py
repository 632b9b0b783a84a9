"""The page as people meet it: in a browser, many at once, in pictures."""
