"""Gradio drawn with the page's tokens: assets/style/page.css gives their values, light and dark."""

from pathlib import Path

import gradio as gr

from probe.settings import ASSETS

FONT = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "DejaVu Sans", "sans-serif"]
MONO = ["ui-monospace", "SFMono-Regular", "Menlo", "DejaVu Sans Mono", "monospace"]
COLOURS = {
    "body_background_fill": "var(--page)",
    "body_text_color": "var(--ink)",
    "body_text_color_subdued": "var(--soft)",
    "background_fill_primary": "var(--card)",
    "background_fill_secondary": "var(--page)",
    "border_color_primary": "var(--line)",
    "border_color_accent": "var(--accent)",
    "border_color_accent_subdued": "var(--accent)",
    "color_accent_soft": "var(--accent-soft)",
    "link_text_color": "var(--accent)",
    "link_text_color_active": "var(--accent)",
    "link_text_color_hover": "var(--accent)",
    "link_text_color_visited": "var(--accent)",
    "block_background_fill": "transparent",
    "block_border_color": "var(--line)",
    "block_border_width": "0px",
    "block_info_text_color": "var(--soft)",
    "block_label_background_fill": "transparent",
    "block_label_border_width": "0px",
    "block_label_text_color": "var(--soft)",
    "block_title_text_color": "var(--soft)",
    "block_shadow": "none",
    "panel_background_fill": "transparent",
    "panel_border_width": "0px",
    "checkbox_background_color": "var(--field)",
    "checkbox_background_color_focus": "var(--field)",
    "checkbox_background_color_hover": "var(--field)",
    "checkbox_background_color_selected": "var(--accent)",
    "checkbox_border_color": "var(--soft)",
    "checkbox_border_color_focus": "var(--accent)",
    "checkbox_border_color_hover": "var(--accent)",
    "checkbox_border_color_selected": "var(--accent)",
    "checkbox_label_background_fill": "var(--card)",
    "checkbox_label_background_fill_hover": "var(--accent-soft)",
    "checkbox_label_background_fill_selected": "var(--accent-soft)",
    "checkbox_label_border_color": "var(--line)",
    "checkbox_label_border_color_hover": "var(--line)",
    "checkbox_label_border_color_selected": "var(--accent)",
    "checkbox_label_border_width": "1px",
    "checkbox_label_text_color": "var(--ink)",
    "checkbox_label_text_color_selected": "var(--ink)",
    "input_background_fill": "var(--field)",
    "input_background_fill_focus": "var(--field)",
    "input_background_fill_hover": "var(--field)",
    "input_border_color": "var(--line)",
    "input_border_color_focus": "var(--accent)",
    "input_border_color_hover": "var(--line)",
    "input_border_width": "1px",
    "input_placeholder_color": "var(--soft)",
    "input_shadow": "none",
    "input_shadow_focus": "none",
    "loader_color": "var(--accent)",
    "slider_color": "var(--accent)",
    "table_border_color": "var(--line)",
    "table_even_background_fill": "var(--card)",
    "table_odd_background_fill": "var(--card)",
    "button_border_width": "1px",
    "button_primary_background_fill": "var(--accent)",
    "button_primary_background_fill_hover": "var(--accent)",
    "button_primary_border_color": "var(--accent)",
    "button_primary_border_color_hover": "var(--accent)",
    "button_primary_text_color": "var(--on-accent)",
    "button_primary_text_color_hover": "var(--on-accent)",
    "button_primary_shadow": "none",
    "button_secondary_background_fill": "var(--card)",
    "button_secondary_background_fill_hover": "var(--accent-soft)",
    "button_secondary_border_color": "var(--line)",
    "button_secondary_border_color_hover": "var(--line)",
    "button_secondary_text_color": "var(--ink)",
    "button_secondary_text_color_hover": "var(--ink)",
    "button_secondary_shadow": "none",
}
"""What gradio takes the tokens for, in light and dark alike: the tokens change, not their use."""
SIZES = {
    "body_text_size": "var(--t1)",
    "prose_text_size": "var(--t1)",
    "block_title_text_size": "var(--t0)",
    "block_title_text_weight": "400",
    "block_label_text_size": "var(--t0)",
    "block_info_text_size": "var(--t0)",
    "block_padding": "0px",
    "block_radius": "var(--r)",
    "container_radius": "var(--r)",
    "layout_gap": "var(--s3)",
    "form_gap_width": "0px",
    "input_radius": "8px",
    "input_padding": "7px 10px",
    "input_text_size": "var(--t1)",
    "checkbox_label_padding": "6px 12px",
    "checkbox_label_gap": "var(--s2)",
    "checkbox_label_text_size": "var(--t1)",
    "button_large_radius": "8px",
    "button_large_padding": "0 16px",
    "button_large_text_size": "var(--t1)",
    "button_large_text_weight": "500",
    "button_medium_radius": "8px",
    "button_small_radius": "8px",
    "button_small_padding": "0 12px",
    "button_small_text_size": "var(--t1)",
    "button_small_text_weight": "400",
}


def theme() -> gr.themes.Base:
    """Return a calm theme that needs no font from the network."""
    dark = {f"{name}_dark": value for name, value in COLOURS.items()}
    base = gr.themes.Base(primary_hue="teal", neutral_hue="slate", font=FONT, font_mono=MONO)
    return base.set(**COLOURS, **dark, **SIZES, color_accent="var(--accent)")


def style_files() -> list[Path]:
    """Return the style files: the page's tokens first, then the tabs'."""
    return sorted((ASSETS / "style").glob("*.css"), key=lambda path: (path.stem != "page", path))
