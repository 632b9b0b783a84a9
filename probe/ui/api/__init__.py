"""The endpoints over HTTP; those of Train are in finetune/ui."""
