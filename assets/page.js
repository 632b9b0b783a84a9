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
}
