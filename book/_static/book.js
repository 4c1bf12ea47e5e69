// What the theme leaves open: pages read from disk, and boxes that scroll sideways.
"use strict";

// A page on disk may not read its neighbours: search lists titles there, without excerpts.
if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

// A box that scrolls must be reachable with the keyboard, and only while it scrolls.
function markScrollers() {
  const boxes = "pre, .diagram, .math mjx-container, .cell_output .output, .pst-scrollable-table-container";
  for (const box of document.querySelectorAll(boxes)) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
    } else {
      box.removeAttribute("tabindex");
    }
  }
}

window.addEventListener("load", () => {
  markScrollers();
  window.addEventListener("resize", markScrollers);
  window.MathJax?.startup?.promise?.then(markScrollers);
});
