"""Files scored row by row: what is done is on the disk, and what was interrupted goes on there."""
