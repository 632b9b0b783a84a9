"""Judgements by people, as Gupta et al. 2021 had workers give them: tables 4 and 14."""
