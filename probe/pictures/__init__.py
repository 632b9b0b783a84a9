"""Charts as SVG, each with the table of its figures; page, reports and files draw the same."""
