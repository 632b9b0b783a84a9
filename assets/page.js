() => {
  // Mark the task in the head of the page, and let its links keep it.
  window.showTask = (task) => {
    document.body.dataset.task = task;
    const here = new URL(window.location.href).searchParams, kept = ["view", "aim", "texts"].filter((key) => here.has(key));
    for (const link of document.querySelectorAll("#header [data-task]")) {
      link.toggleAttribute("data-current", link.dataset.task === task);
      if (link.dataset.task === task) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
      link.search = new URLSearchParams([["task", link.dataset.task], ...kept.map((key) => [key, here.get(key)])]);
    }
    for (const link of document.querySelectorAll("#places a, #header .mine, #header h1 a")) link.search = `task=${task}`;
    const chosen = document.querySelector("#header [data-current]");
    for (const menu of document.querySelectorAll("#header summary")) menu.textContent = chosen.textContent;
    if (window.location.hash === "#api") document.querySelector("footer .show-api").click();
  };

  // What Probe is sent with answers what it begins with: it is not shown where a link says more.
  const plain = ([name, value]) => name === "__theme" || (name === "task" && value === "nli");
  const query = [...new URL(window.location.href).searchParams];
  document.body.classList.toggle("answered", query.every(plain));

  window.goToTask = (task) => document.querySelector(`#task [data-task="${task}"]`).click();
  // Keep in the address what is looked at; with `push` Back leads to what was before.
  window.writeAddress = (said, push = false) => {
    const address = new URL(window.location.href);
    for (const [name, value] of Object.entries(said)) {
      if (value) address.searchParams.set(name, value);
      else address.searchParams.delete(name);
    }
    if (address.href === window.location.href) return;
    window.history[push ? "pushState" : "replaceState"](null, "", address);
    if (push) here = address;
    window.showTask(document.body.dataset.task);
  };
  const views = () => [...document.querySelectorAll("[role=tab][id^=view-]")];
  const nameOfView = (tab) => tab.id.replace(/^view-|-button$/g, "");
  const viewKey = () => document.querySelector("#header [data-key]").dataset.key;
  let here = new URL(window.location.href), moving = false;
  document.addEventListener("click", ({ target }) => {
    const tab = target.closest?.("[role=tab][id^=view-]");
    if (!tab) return;
    window.writeAddress({ [viewKey()]: nameOfView(tab) }, !moving);
    here = new URL(window.location.href);
  });
  // Back and Forward: another view is shown; what else the address says is read anew.
  window.addEventListener("popstate", () => {
    const now = new URL(window.location.href), before = here;
    here = now;
    if (window.moveWithin?.(now)) return;
    const other = (url) => [...url.searchParams].filter(([name]) => name !== viewKey()).join();
    if (other(now) !== other(before)) return window.location.reload();
    const named = now.searchParams.get(viewKey());
    moving = true;
    (views().find((tab) => nameOfView(tab) === named) ?? views()[0])?.click();
    moving = false;
  });
  // The endpoints stand on a page of their own, of which gradio's button knows nothing.
  document.addEventListener("click", (event) => {
    if (!event.target.closest?.("footer .show-api") || window.location.pathname.endsWith("/http")) return;
    event.stopPropagation();
    window.location.assign("http#api");
  }, true);
  // A link within the page stays on it: gradio has all links begin at the first page.
  document.addEventListener("click", (event) => {
    const link = event.target.closest?.("a[href^='#']");
    if (!link || event.defaultPrevented) return;
    event.preventDefault();
    const aim = document.getElementById(link.hash.slice(1));
    window.history.replaceState(null, "", window.location.pathname + window.location.search + link.hash);
    aim?.scrollIntoView();
    aim?.focus();
  });
  // Let the arrow keys move between places, tasks and views.
  document.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    const row = event.target.closest?.("#places, #task, [role=tablist]");
    if (!step || !row) return;
    const all = [...row.querySelectorAll("a, [role=tab]")].filter((part) => part.checkVisibility());
    const next = all[(all.indexOf(event.target) + step + all.length) % all.length];
    next?.focus();
    if (next?.matches("[role=tab]")) next.click();
  });

  // The last of a list of models leads to where one is brought.
  const bring = (event) => {
    const list = event.target.closest?.(".options") ?? event.target.closest?.(".block")?.querySelector(".options");
    const item = event.type === "mousedown" ? event.target.closest?.("[role=option]") : list?.querySelector(".active");
    if ((event.key ?? "Enter") !== "Enter" || !item?.textContent.includes("Bring a model …")) return;
    event.stopPropagation();
    event.preventDefault();
    window.location.assign(`mine?kind=models&task=${document.body.dataset.task}`);
  };
  for (const event of ["mousedown", "keydown"]) document.addEventListener(event, bring, true);

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
  // What gets the focus may be scrolled to: then it goes along.
  let reached = 0;
  document.addEventListener("focusin", () => { reached = performance.now(); });
  const follow = () => performance.now() - reached < 400 ? place({ target: document.activeElement }) : close();
  document.addEventListener("scroll", follow, { capture: true, passive: true });

  // What a person has unfolded: details, and the tables of pictures. Gradio folds it, as it shows a part anew.
  const unfolded = new Set();
  const wordsOf = (fold) => fold.ariaLabel ?? fold.querySelector("summary").textContent;
  const nameOf = (fold) => {
    const part = fold.closest("[id]");
    const alike = [...part.querySelectorAll("details.twin, .picture")].filter((each) => wordsOf(each) === wordsOf(fold));
    return [part.id, wordsOf(fold), alike.indexOf(fold)].join("|");
  };
  const isOpen = (fold) => fold.open ?? !fold.querySelector(".as-table").hidden;
  const setOpen = (fold, open) => {
    unfolded[open ? "add" : "delete"](nameOf(fold));
    if (fold.matches("details")) fold.open = open;
    else {
      fold.querySelector(".as-table").hidden = !open;
      fold.querySelector("[onclick^=unfoldTable]").setAttribute("aria-expanded", String(open));
    }
  };
  const unfoldAgain = () => {
    if (!unfolded.size) return;
    for (const fold of document.querySelectorAll("details.twin, .picture")) {
      if (!isOpen(fold) && unfolded.has(nameOf(fold))) setOpen(fold, true);
    }
  };
  document.addEventListener("click", (event) => {
    const fold = event.target.closest?.("summary")?.parentNode;
    if (!fold?.matches("details.twin")) return;
    event.preventDefault();
    setOpen(fold, !fold.open);
  });
  // Show or hide the table that says the same as a picture.
  window.unfoldTable = (button) => {
    const picture = button.closest(".picture");
    setOpen(picture, !isOpen(picture));
  };

  // Where the control that has the focus goes, the one next to its place gets it; one that is disabled for a while gets it back.
  const isSeen = (part) => part.isConnected && part.checkVisibility({ visibilityProperty: true });
  let focused = null, around = [], disabled = false;
  document.addEventListener("focusin", ({ target }) => {
    focused = target;
    disabled = false;
    around = [];
    for (let part = target.parentElement; part && !part.matches("[role=tabpanel], body"); part = part.parentElement) around.push(part);
  });
  document.addEventListener("pointerdown", ({ target }) => {
    if (!focused?.contains(target)) focused = null;
  });
  const focusNext = () => {
    if (!focused || ![document.body, focused].includes(document.activeElement)) return;
    if (isSeen(focused)) {
      if (disabled && !focused.disabled) focused.focus({ preventScroll: true });
      disabled = focused.disabled;
      return;
    }
    for (const part of around.filter(isSeen)) {
      const controls = [...part.querySelectorAll("button, summary, a[href]")].filter((each) => isSeen(each) && !each.disabled);
      const follows = (each) => focused.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING;
      const alike = (each) => each.textContent === focused.textContent;
      const next = focused.isConnected ? controls.find(follows) ?? controls.at(-1) : controls.find(alike) ?? controls[0];
      if (next) return next.focus({ preventScroll: true });
    }
    focused = null;
  };

  let waits = false;
  new MutationObserver(() => {
    if (waits) return;
    waits = true;
    requestAnimationFrame(() => {
      waits = false;
      unfoldAgain();
      focusNext();
    });
  }).observe(document.body, { subtree: true, childList: true, attributeFilter: ["class", "disabled", "hidden", "open", "style"] });

  // Show the curve of the figure that was pressed in the heat map of a generalisation.
  document.addEventListener("click", ({ target }) => {
    const pressed = target.closest?.(".generalised button[data-cell]");
    if (!pressed) return;
    const shown = pressed.closest(".generalised");
    setOpen(shown.querySelector(".all-curves"), true);
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
  // Have the PDF of a picture made of its SVG, and save it.
  window.takePdf = async (button) => {
    const source = button.closest(".picture").querySelector("a[download$='.svg']");
    const body = await (await fetch(source.href)).blob();
    const answer = await fetch(`picture.pdf?seal=${button.dataset.seal}`, { method: "POST", body });
    if (!answer.ok) return void (button.textContent = `PDF: ${(await answer.json()).detail}`);
    const link = document.createElement("a");
    link.download = source.download.replace(/svg$/, "pdf");
    link.href = URL.createObjectURL(await answer.blob());
    link.click();
  };

  // Let the arrow keys move within a choice, and Tab past it: gradio gives each of its buttons a name alone.
  document.addEventListener("keydown", ({ target }) => {
    if (target.type !== "radio") return;
    const group = target.closest("fieldset, .block");
    for (const each of group?.querySelectorAll("input[type=radio]") ?? []) each.name = `choice-${group.id}`;
  });

  // Copy a link whole, and say so beside the button; show a part as large as the window, Escape and a further press end that.
  document.addEventListener("click", async ({ target }) => {
    const button = target.closest?.("[data-copy], [data-large]");
    if (!button) return;
    if (button.dataset.large) return button.closest("[id]").classList.toggle(`large-${button.dataset.large}`);
    const link = new URL(button.dataset.copy, window.location.href).href;
    const told = button.closest("[id]").querySelector("[role=status]");
    try {
      await navigator.clipboard.writeText(link);
      told.textContent = "The link is on the clipboard.";
    } catch {
      told.textContent = `This browser keeps pages from the clipboard: copy it yourself: ${link}`;
    }
  });
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Escape") for (const part of document.querySelectorAll("[class*=large-]")) part.className = part.className.replace(/large-\S+/g, "");
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

  // A short note that the browser shows at once, before the app has answered: as the heading of the card that is shown, or alone.
  window.told = (words, html) => {
    const heading = new DOMParser().parseFromString(html || "", "text/html").querySelector(".card > b");
    if (heading) {
      heading.textContent = words;
      return heading.parentNode.outerHTML;
    }
    const note = document.createElement("p");
    note.className = "fine";
    note.setAttribute("role", "status");
    note.textContent = words;
    return note.outerHTML;
  };
}
