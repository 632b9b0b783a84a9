() => {
  // Sort a table by the column whose head was pressed: once up, once more down.
  window.sortSheet = (button) => {
    const head = button.closest("th"), body = head.closest("table").tBodies[0];
    const column = [...head.parentNode.children].indexOf(head);
    const up = head.getAttribute("aria-sort") !== "ascending";
    const cell = (row) => row.children[column].textContent.trim();
    const order = (a, b) => {
      const x = parseFloat(cell(a)), y = parseFloat(cell(b));
      const numbers = !Number.isNaN(x) && !Number.isNaN(y);
      return numbers ? x - y : cell(a).localeCompare(cell(b));
    };
    const rows = [...body.rows].sort((a, b) => (up ? order(a, b) : order(b, a)));
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    body.append(...rows);
  };

  // Show only the cards and terms of the catalogue that hold every word of the search.
  document.addEventListener("input", ({ target }) => {
    const catalogue = target.closest(".catalogue");
    if (!catalogue || target.type !== "search") return;
    const words = target.value.toLowerCase().split(/\s+/).filter(Boolean);
    const items = [...catalogue.querySelectorAll(".searched")];
    for (const item of items) {
      const text = (item.querySelector(".about") ?? item).textContent.toLowerCase();
      item.hidden = !words.every((word) => text.includes(word));
    }
    for (const part of catalogue.querySelectorAll("section")) part.hidden = !part.querySelector(".searched:not([hidden])");
    const shown = items.filter((item) => !item.hidden).length;
    catalogue.querySelector("[role=status]").textContent = words.length ? `${shown} of ${items.length}` : "";
  });
  // Scroll to the term that a link names, once the glossary is there.
  window.showTerm = () => {
    if (window.location.hash.startsWith("#term-")) document.getElementById(window.location.hash.slice(1))?.scrollIntoView();
  };

  // Put a term's definition under it, or above it where the window ends; Escape and scrolling close.
  const place = ({ target }) => {
    const term = target.closest?.(".term");
    if (!term) return;
    const box = term.getBoundingClientRect(), above = box.bottom > window.innerHeight - 150;
    const left = Math.max(8, Math.min(box.left, window.innerWidth - 328));
    term.style.setProperty("--left", `${left}px`);
    term.style.setProperty("--top", above ? "auto" : `${box.bottom}px`);
    term.style.setProperty("--bottom", above ? `${window.innerHeight - box.top}px` : "auto");
    term.classList.remove("closed");
  };
  const close = () => {
    for (const term of document.querySelectorAll(".term:hover, .term:focus")) term.classList.add("closed");
  };
  for (const event of ["focusin", "pointerover", "pointerdown"]) document.addEventListener(event, place);
  document.addEventListener("keydown", ({ key }) => key === "Escape" && close());
  document.addEventListener("scroll", close, { capture: true, passive: true });

  // Show or hide the table that says the same as a picture.
  window.unfoldTable = (button) => {
    const table = button.closest(".picture").querySelector(".as-table");
    table.hidden = !table.hidden;
    button.setAttribute("aria-expanded", String(!table.hidden));
  };
  // Show the curve of the figure that was pressed in the heat map of a generalisation.
  document.addEventListener("click", ({ target }) => {
    const pressed = target.closest?.(".generalised button[data-cell]");
    if (!pressed) return;
    const shown = pressed.closest(".generalised");
    shown.querySelector(".all-curves").open = true;
    for (const panel of shown.querySelectorAll(".all-curves .panel")) {
      panel.classList.toggle("opened", panel.dataset.title === pressed.dataset.cell);
    }
    shown.querySelector(".panel.opened")?.scrollIntoView({ block: "nearest" });
  });
  // Make the PNG of a picture from its SVG, at twice its size, and save it.
  window.takePng = async (button) => {
    const source = button.closest(".picture").querySelector("a[download$='.svg']");
    const image = new Image();
    image.src = source.href;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = 2 * image.naturalWidth;
    canvas.height = 2 * image.naturalHeight;
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    const link = document.createElement("a");
    link.download = source.download.replace(/svg$/, "png");
    link.href = canvas.toDataURL("image/png");
    link.click();
  };

  // Let the arrow keys move within a choice, and Tab past it: gradio gives each of its buttons a name alone.
  document.addEventListener("keydown", ({ target }) => {
    if (target.type !== "radio") return;
    const group = target.closest("fieldset, .block");
    for (const each of group?.querySelectorAll("input[type=radio]") ?? []) each.name = `choice-${group.id}`;
  });

  // Complete a link as it is shown: the app does not know by which address it is reached.
  document.addEventListener("animationstart", ({ target, animationName }) => {
    if (animationName === "link-is-shown") target.value = new URL(target.value, window.location.href).href;
  });

  // Say in the browser's title how far a file is, and tell where it is allowed that it has ended.
  const title = document.title;
  window.tellProgress = (html) => {
    const state = new DOMParser().parseFromString(html || "", "text/html").querySelector("[data-state]");
    document.title = state ? `${state.dataset.title} · ${title}` : title;
    const ended = ["finished", "stopped"].includes(state?.dataset.state);
    if (ended && document.hidden && window.Notification?.permission === "granted") {
      new Notification(state.dataset.title);
    }
  };

  // A short note that the browser shows at once, before the app has answered.
  window.told = (words) => {
    const note = document.createElement("p");
    note.className = "fine";
    note.setAttribute("role", "status");
    note.textContent = words;
    return note.outerHTML;
  };
}
