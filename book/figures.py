"""The look of every figure: one style, colours that survive grey, the same bytes each run."""

import matplotlib.pyplot as plt
from matplotlib_inline.backend_inline import set_matplotlib_formats

# Okabe and Ito's palette, chosen to stay apart for colour-blind readers and in grey.
COLORS = {
    "blue": "#0072B2",
    "orange": "#E69F00",
    "green": "#009E73",
    "red": "#D55E00",
    "sky": "#56B4E9",
    "purple": "#CC79A7",
    "ink": "#222222",
    "grey": "#8A8A8A",
}

plt.rcParams.update(
    {
        "figure.figsize": (7.2, 3.6),
        "figure.dpi": 110,
        "figure.facecolor": "white",
        "font.size": 11,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.edgecolor": COLORS["ink"],
        "axes.titlelocation": "left",
        "axes.titlesize": 11,
        "hatch.linewidth": 0.8,
        "legend.frameon": False,
        "savefig.bbox": "tight",
        "svg.fonttype": "path",
        "svg.hashsalt": "the-api-surface",
    }
)
set_matplotlib_formats("svg", "png", metadata={"Date": None})
