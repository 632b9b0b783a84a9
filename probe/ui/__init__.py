"""The tabs that look at models. Only here, in finetune/ui and in app.py is gradio imported."""
