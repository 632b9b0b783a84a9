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
}
