"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const [KIND, OWNER, NAME, STATE, FUNCTION, FILE, LINE, DIGEST, FROM, WHY, USES] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
  const SLOT = data.kinds.indexOf("slots");
  const LIMIT = 400;
  const text = (number) => data.strings[number];
  const byId = (id) => document.getElementById(id);
  // Everything shown is made here: texts become text nodes, never markup.
  const make = (tag, attributes, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (name === "on") for (const [event, call] of Object.entries(value)) node.addEventListener(event, call);
      else if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value === true ? "" : String(value));
    }
    for (const child of children.flat()) if (child !== null && child !== undefined) node.append(child);
    return node;
  };
  const idOf = (row) => (row[OWNER] ? text(row[OWNER]) + "." : "") + text(row[NAME]);
  const link = (id) => "#" + encodeURIComponent(id);
  const place = (row) => (row[FILE] ? text(row[FILE]) + (row[LINE] ? ":" + row[LINE] : "") : "");
  const chip = (state) => make("span", { class: "chip " + data.states[state][0] });
  const cells = (tag, values) => make("tr", {}, values.map((value) => make(tag, { class: typeof value === "number" ? "number" : null }, value instanceof Node ? value : String(value))));
  const table = (headings, rows) => make("table", {}, make("thead", {}, cells("th", headings)), make("tbody", {}, rows.map((row) => cells("td", row))));
  const state = { release: 0, view: "coverage", hidden: new Set(), query: "" };
  const release = () => data.releases[state.release];
  const indices = new Map();
  const index = (number) => {
    if (!indices.has(number)) indices.set(number, new Map(data.releases[number].rows.map((row) => [idOf(row), row])));
    return indices.get(number);
  };
  const haystack = (row) => (idOf(row) + " " + text(row[FUNCTION]) + " " + text(row[FILE]) + " " + text(row[WHY])).toLowerCase();
  const matches = (row) => !state.hidden.has(row[STATE]) && (!state.query || haystack(row).includes(state.query));

  const rowTable = (rows) => table(["", "row", "of", "C function", "place", "why", "uses"], rows.map((row) => [
    chip(row[STATE]), make("a", { href: link(idOf(row)) }, idOf(row)), data.kinds[row[KIND]], text(row[FUNCTION]), place(row), text(row[WHY]), row[USES]]));

  const heat = (rows) => {
    const types = new Map();
    for (const row of rows) if (row[KIND] === SLOT) {
      if (!types.has(row[OWNER])) types.set(row[OWNER], []);
      types.get(row[OWNER]).push(row);
    }
    const column = new Map(release().slots.map((slot, at) => [slot[0], at + 2]));
    const grid = `grid-template-columns: 210px repeat(${release().slots.length}, 15px)`;
    const box = make("div", { id: "heat", role: "grid", "aria-label": "Types and slots" });
    box.append(make("div", { class: "heads", style: grid, role: "row" }, make("b", {}, "type"), release().slots.map((slot) => make("span", { role: "columnheader" }, text(slot[0])))));
    const plain = (ty) => text(ty[2]).startsWith("Objects/");
    // The builtin types come first.
    for (const ty of [...release().types.filter(plain), ...release().types.filter((ty) => !plain(ty))]) {
      const found = types.get(ty[0]);
      if (!found) continue;
      const line = make("div", { class: "row", style: grid, role: "row" }, make("span", { role: "rowheader", title: `${text(ty[1])} ${text(ty[2])}:${ty[3]}` }, text(ty[0])));
      for (const row of found) line.append(make("a", {
        class: `cell ${data.states[row[STATE]][0]}${row[FROM] ? " inherited" : ""}`, href: link(idOf(row)), style: `grid-column: ${column.get(row[NAME])}`,
        title: `${idOf(row)}: ${text(row[FUNCTION])}: ${data.states[row[STATE]][1]}`, "aria-label": `${idOf(row)}: ${data.states[row[STATE]][1]}`, tabindex: "-1" }));
      box.append(line);
    }
    const first = box.querySelector(".cell");
    if (first) first.tabIndex = 0;
    return box;
  };
  const totals = () => {
    const rows = data.kinds.map((kind, number) => {
      const own = release().rows.filter((row) => row[KIND] === number);
      return [kind, own.length, ...data.states.map((_, at) => own.filter((row) => row[STATE] === at).length)];
    }).filter((row) => row[1]);
    return table(["what", "all", ...data.states.map((found) => found[1])], rows);
  };
  const views = {
    coverage() {
      const rows = release().rows.filter(matches);
      const parts = [];
      if (state.query) parts.push(make("h2", {}, `${rows.length} rows match`), rowTable(rows.slice(0, LIMIT)));
      else parts.push(make("h2", {}, "Counts"), totals());
      parts.push(make("h2", {}, "Types and slots"), make("p", { class: "dim" }, "An empty place: C leaves the slot empty. Pale: inherited. Arrow keys move, Enter opens."), heat(rows));
      status(`${rows.length} of ${release().rows.length} rows; C leaves ${release().absent} cells empty`);
      return parts;
    },
    missing() {
      const word = data.states.findIndex((found) => found[0] === "break");
      const rows = release().rows.filter((row) => row[STATE] === word && matches(row)).sort((a, b) => b[USES] - a[USES]);
      const counted = Object.entries(release().counted).map(([name, count]) => `${count} code objects of ${name}`).join(", ");
      status(`${rows.length} rows break the graph`);
      return [make("h2", {}, "What breaks the graph, most used first"), make("p", { class: "dim" }, counted ? `Uses are counted in ${counted}.` : "Uses are not counted."), rowTable(rows.slice(0, 4 * LIMIT))];
    },
    diff() {
      if (data.releases.length < 2) { status("one release"); return [make("p", {}, "This page holds one release. Give --release more than once to compare.")]; }
      const other = state.release === 0 ? 1 : state.release - 1;
      const [from, to] = other < state.release ? [other, state.release] : [state.release, other];
      const [before, after] = [index(from), index(to)];
      const changes = [];
      for (const id of [...new Set([...before.keys(), ...after.keys()])].sort()) {
        const [old, now] = [before.get(id), after.get(id)];
        const words = [];
        if (!old) words.push("new"); else if (!now) words.push("gone");
        else {
          if (old[FUNCTION] !== now[FUNCTION]) words.push(`${text(old[FUNCTION])} → ${text(now[FUNCTION])}`);
          else if (old[DIGEST] && now[DIGEST] && old[DIGEST] !== now[DIGEST]) words.push("another text");
          if (old[STATE] !== now[STATE]) words.push(`${data.states[old[STATE]][1]} → ${data.states[now[STATE]][1]}`);
        }
        const row = now || old;
        if (words.length && matches(row)) changes.push([make("a", { href: link(id) }, id), data.kinds[row[KIND]], words.join("; "), text(row[FUNCTION]), place(row)]);
      }
      status(`${changes.length} rows differ`);
      return [make("h2", {}, `${data.releases[from].release} → ${data.releases[to].release}`), table(["row", "of", "change", "C function", "place"], changes.slice(0, 5 * LIMIT))];
    },
    dynamo() {
      if (!data.dynamo.length) { status("TorchDynamo is not audited"); return [make("p", {}, "Give --dynamo PATH to audit TorchDynamo.")]; }
      return data.dynamo.flatMap((audit) => {
        const found = audit.findings.filter((one) => !state.query || JSON.stringify(one).toLowerCase().includes(state.query));
        status(`${found.length} of ${audit.findings.length} findings`);
        return [make("h2", {}, `TorchDynamo of PyTorch ${audit.torch} against CPython ${audit.release}`), table(["severity", "rule", "place", "finding", "what to do", "C function", "digest"], found.slice(0, 5 * LIMIT).map((one) => [
          make("span", { class: one.severity }, one.severity), one.rule, `${one.path}:${one.line}`, one.message, one.advice, one.function ? `${one.function} ${one.c_place || ""}` : "", one.digest || ""])),
        make("h2", {}, "Slot definitions"), table(["method", "slot", "C function", "CPython's wrapper", "TorchDynamo"], audit.slotdefs.map((row) => [row.name, row.slot, row.function || "", row.wrapper || "", row.dynamo ? `${row.dynamo.wrapper} ${row.dynamo.path}:${row.dynamo.line}` : "absent"]))];
      });
    },
  };
  const status = (words) => { byId("status").textContent = words; };
  const titles = { coverage: "Coverage", missing: "Missing", diff: "Diff", dynamo: "TorchDynamo" };
  const draw = () => {
    byId("views").replaceChildren(...Object.keys(views).map((view) => make("a", { href: "#/" + view, "aria-current": view === state.view ? "page" : null }, titles[view])));
    byId("main").replaceChildren(...views[state.view]());
  };
  const section = (title, ...children) => [make("h3", {}, title), ...children];
  const words = (list) => make("p", { class: "mono" }, list.length ? list.join(", ") : "none");
  const open = (id) => {
    const found = data.releases.map((one, at) => [one, index(at).get(id)]);
    const row = (found[state.release] && found[state.release][1]) || (found.find((pair) => pair[1]) || [])[1];
    if (!row) { search.value = id; state.query = id.toLowerCase(); draw(); return; }
    const known = data.functions[`${text(row[FILE])} ${text(row[FUNCTION])}`];
    const parts = [make("button", { class: "close", type: "button", on: { click: () => close() } }, "Close (Esc)"), make("h2", { id: "detail-title" }, id),
      make("p", {}, chip(row[STATE]), data.states[row[STATE]][1], row[WHY] ? ": " + text(row[WHY]) : ""),
      table(["", ""], [["C function", text(row[FUNCTION])], ["place", place(row)], ["digest", text(row[DIGEST])], ["inherited from", text(row[FROM])], ["uses", row[USES]]].filter((pair) => pair[1]))];
    parts.push(...section("Releases", table(["release", "C function", "state", "digest"], found.map(([one, other]) => other ? [one.release, text(other[FUNCTION]), data.states[other[STATE]][1], text(other[DIGEST])] : [one.release, "C leaves it empty", "", ""]))));
    if (known) {
      parts.push(...section(`Text and meaning of the C function, of ${data.read.join(", ")}`, table(["release", "digest", ""], known.history.map((step) => [step.release, step.digest, data.changes[step.change] + (step.what ? ": " + step.what : "")]))));
      parts.push(...section("Generated Rust", known.rust ? make("pre", {}, known.rust) : make("p", { class: "dim" }, "There is none.")));
      const effects = known.effects;
      parts.push(...section("Effects", effects ? table(["", ""], [["verdict", effects.verdict], ...Object.entries(effects).filter(([name, value]) => Array.isArray(value) && value.length && name !== "name").map(([name, value]) => [name, value.join(", ")]), ["calls slots", Object.keys(effects.slots || {}).join(", ")]].filter((pair) => pair[1])) : make("p", { class: "dim" }, "They are not analysed.")));
      parts.push(...section("Messages and other strings", make("ul", {}, known.messages.map((message) => make("li", { class: "mono" }, message)))));
      parts.push(...section("Calls", words(known.calls)), ...section("Callers", words(known.callers)), ...section(`Tests that run it: ${known.reached}`, words(known.tests)));
    }
    const panel = byId("detail");
    panel.replaceChildren(...parts);
    panel.hidden = false;
    panel.scrollTop = 0;
    document.body.classList.add("open");
  };
  const close = () => { byId("detail").hidden = true; document.body.classList.remove("open"); history.replaceState(null, "", "#/" + state.view); };
  const follow = () => {
    const wanted = decodeURIComponent(location.hash.slice(1));
    if (wanted.startsWith("/")) { state.view = views[wanted.slice(1)] ? wanted.slice(1) : "coverage"; close(); draw(); return; }
    if (!byId("main").firstChild) draw();
    if (wanted) open(wanted);
  };
  const search = byId("search");
  search.addEventListener("input", () => { state.query = search.value.trim().toLowerCase(); draw(); });
  byId("release").append(...data.releases.map((one, at) => make("option", { value: at }, one.release)));
  state.release = Math.max(0, data.releases.findIndex((one) => one.release === data.sources));
  byId("release").value = state.release;
  byId("release").addEventListener("change", (event) => { state.release = Number(event.target.value); draw(); });
  byId("filters").append(...data.states.map(([key, word], at) => make("label", {}, make("input", { type: "checkbox", checked: true, value: key, on: { change: (event) => { event.target.checked ? state.hidden.delete(at) : state.hidden.add(at); draw(); } } }), chip(at), word, " ")));
  byId("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") { if (!byId("detail").hidden) close(); else if (state.query) { search.value = ""; state.query = ""; draw(); } return; }
    if (event.key === "/" && event.target !== search) { event.preventDefault(); search.focus(); return; }
    const cell = event.target.closest && event.target.closest(".cell");
    if (!cell || !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    const line = cell.parentElement;
    let next = event.key === "ArrowRight" ? cell.nextElementSibling : event.key === "ArrowLeft" ? cell.previousElementSibling : null;
    if (!next && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      const other = event.key === "ArrowDown" ? line.nextElementSibling : line.previousElementSibling;
      next = other && ([...other.querySelectorAll(".cell")].find((found) => found.style.gridColumn === cell.style.gridColumn) || other.querySelector(".cell"));
    }
    if (next && next.classList.contains("cell")) { cell.tabIndex = -1; next.tabIndex = 0; next.focus(); }
  });
  addEventListener("hashchange", follow);
  if (data.releases.length) follow(); else { state.view = "dynamo"; draw(); }
})();
