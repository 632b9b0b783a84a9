"""Drawings of a page, each in HTML and as a stand-alone SVG to take away."""
