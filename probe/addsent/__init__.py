"""AddSent (Jia and Liang 2017): sentences that look as if they answered a question and do not.

One sentence a question is made of a fake answer and the altered question, and put into the passage.
The published sets were then repaired and checked by people; these are raw.
"""
