"""The endpoints over HTTP; the Inoculate tab's are in finetune/ui."""
