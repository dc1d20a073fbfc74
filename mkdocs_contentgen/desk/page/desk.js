// The desk in the browser. All that comes from texts, pages and people is shown as text.

const API = "/_contentgen/api";
const FRAME = document.documentElement.dataset.frame;

let words = {}; // in each language, or in English only
let column = 0;
const say = (name) => words[name]?.[column] ?? words[name]?.[0] ?? name;

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

async function call(path, body) {
  let response;
  try {
    response = await fetch(`${API}${path}`, body === undefined ? {} : {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Contentgen-Key": localStorage.getItem("key") ?? "" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Error(say("lost"));
  }
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error), { status: response.status });
  return answer;
}

async function start() {
  words = await (await fetch("/_contentgen/words.json")).json();
  column = words.languages.indexOf(document.documentElement.lang.toLowerCase().split("-")[0]);
  if (column < 0) document.documentElement.lang = "en";
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  try {
    if (token) {
      history.replaceState(null, "", location.pathname + location.search);
      localStorage.setItem("key", (await call("/session", { token })).key);
    }
    await (location.pathname === "/_contentgen/" ? showQueue() : new Panel().open());
  } catch (error) {
    document.body.replaceChildren(make("main", { className: "queue" }, make("p", { className: "note", role: "alert" }, error.status === 401 ? say("open") : error.message)));
  }
}

// --- The queue ---------------------------------------------------------------------------------

const ORDER = ["outdated", "changed", "damaged", "draft", "failed", "missing", "approved"];

async function showQueue() {
  const { texts, by, problem } = await call("/queue");
  const rank = (text) => text.newer_draft ? 0 : ORDER.indexOf(text.state);
  texts.sort((a, b) => rank(a) - rank(b) || b.marked - a.marked || a.page.localeCompare(b.page));
  const rows = make("tbody");
  const states = make("select", { "aria-label": say("filter") },
    make("option", { value: "" }, say("all")),
    ...[...new Set(texts.map((text) => text.state))].map((state) => make("option", { value: state }, state)));
  const search = make("input", { type: "search", "aria-label": say("filter"), placeholder: say("filter") });
  const fill = () => {
    const wanted = search.value.toLowerCase();
    rows.replaceChildren(...texts
      .filter((text) => (!states.value || text.state === states.value) && `${text.page} ${text.topic}`.toLowerCase().includes(wanted))
      .map((text) => make("tr", {},
        make("td", {}, make("a", { href: addressOf(text) }, text.topic), make("div", { className: "quiet" }, `${text.page}${text.id === "main" ? "" : ` · ${text.id}`}`)),
        make("td", {}, text.state, text.newer_draft ? make("div", { className: "quiet" }, say("newer")) : null),
        make("td", { "data-label": say("left") }, text.marked ? String(text.marked) : ""),
        make("td", { "data-label": say("remarks") }, text.remarks.length ? String(text.remarks.length) : ""),
        make("td", {}, (text.generated_at ?? "").slice(0, 10)),
        make("td", {}, text.model ?? ""))));
  };
  states.addEventListener("change", fill);
  search.addEventListener("input", fill);
  fill();
  document.title = say("texts");
  document.body.replaceChildren(make("main", { className: "queue" },
    make("h1", {}, say("texts")),
    make("p", { className: "quiet" }, by),
    problem ? make("p", { className: "note", role: "alert" }, problem) : null,
    make("div", { className: "bar" }, states, search, nextButton(texts, "")),
    make("div", { className: "wide", tabIndex: 0, role: "region", "aria-label": say("texts") }, make("table", {},
      make("thead", {}, make("tr", {}, ...["title", "state", "left", "remarks", "age", "model"].map((name) => make("th", { scope: "col" }, say(name))))),
      rows))));
}

const addressOf = (text) => `${text.url || "/"}?text=${text.ref}`;

function nextButton(texts, ref) {
  const waiting = texts.filter((text) => text.newer_draft || ["draft", "outdated", "changed"].includes(text.state));
  const after = waiting.findIndex((text) => text.ref === ref) + 1;
  const next = waiting[after % Math.max(waiting.length, 1)];
  return make("button", { type: "button", disabled: !next || next.ref === ref, onclick: () => location.assign(addressOf(next)) }, say("next"));
}

// --- One text ----------------------------------------------------------------------------------

class Panel {
  selected = 0;
  editing = null;
  said = "";
  acts = 0;
  pending = 0;
  last = Promise.resolve();
  place = null; // the block that was selected in the page
  inPage = false; // whether its editor is there
  lost = ""; // words of a person that could not be saved
  kept = new Set(); // differences that the person has seen
  isReady = false; // whether the page has said that it is there
  isStale = false;
  loadedAt = 0;
  isArmed = true; // whether a key acts
  path = location.pathname;

  async open() {
    const { texts } = await call("/queue");
    const asked = new URLSearchParams(location.search).get("text");
    const here = texts.filter((text) => text.url === location.pathname);
    const found = texts.find((text) => text.ref === asked) ?? here[0];
    this.texts = texts;
    this.frame = make("iframe", { src: FRAME + location.pathname, title: say("page") });
    this.tools = make("div", { className: "tools", hidden: true });
    this.overlay = make("div", { className: "overlay", hidden: true });
    this.status = make("p", { className: "hidden", role: "status" });
    this.panel = make("aside", { className: "panel", "aria-label": say("review"), tabIndex: -1 });
    document.body.replaceChildren(make("div", { className: "desk" }, make("main", {}, make("div", { className: "page" }, this.frame, this.overlay), this.tools), this.panel), this.status);
    addEventListener("message", (event) => this.heard(event));
    addEventListener("keydown", (event) => this.key(event));
    // A page can take the focus, and give it back while the person types: then no key acts.
    addEventListener("blur", () => { this.isArmed = false; });
    addEventListener("pointerdown", () => { this.isArmed = true; }, true);
    addEventListener("focusin", (event) => { if (event.target.closest("aside, dialog, .tools, .overlay")) this.isArmed = true; });
    if (!found) {
      this.panel.append(make("p", {}, say("no_text")), make("a", { href: "/_contentgen/" }, say("list")));
      return;
    }
    this.ref = found.ref;
    this.take(await call(`/texts/${found.ref}`));
    this.poll();
  }

  take(text) {
    if (this.editing !== null) {
      // Blocks before it may be gone, or new.
      const same = (block) => block?.digest === this.edited.digest;
      const number = same(text.blocks[this.editing]) ? this.editing : text.blocks.findIndex(same);
      if (number < 0 && this.isDirty()) this.lost = this.typed;
      this.editing = number < 0 ? null : number;
      if (number < 0) this.place = null;
    }
    this.text = text;
    this.selected = Math.min(this.selected, Math.max(text.statements.length - 1, 0));
    this.draw();
    this.tell();
  }

  async poll() {
    for (;;) {
      await new Promise((done) => setTimeout(done, this.text.building || this.text.asking ? 500 : 3000));
      try {
        const acts = this.acts;
        const text = await call(`/texts/${this.ref}`);
        if (this.pending || acts !== this.acts) continue; // older than what the person has just done
        const built = text.built !== this.text.built;
        if (text.seen !== this.text.seen || text.asking !== this.text.asking || text.building !== this.text.building) {
          if (this.editing === null) this.take(text);
        }
        this.text.built = text.built;
        if (built || (this.isStale && !this.isReady)) this.reload();
      } catch (error) {
        this.announce(error.message);
      }
    }
  }

  reload() {
    // A page that loads itself again stays where it is scrolled to.
    const now = performance.now();
    this.isStale = !this.isReady; // what is being loaded may be of the build before
    if (this.isReady) this.frame.contentWindow.postMessage({ type: "reload" }, FRAME);
    else if (now - this.loadedAt > 5000) this.frame.src = FRAME + location.pathname;
    else return;
    this.isReady = false;
    this.loadedAt = now;
  }

  announce(message) {
    this.said = message;
    this.status.textContent = message;
    this.draw();
  }

  // One after the other, each with what the one before has left. Tells whether it was done.
  act(path, body, seen = this.text.seen, closes = false) {
    this.acts += 1;
    this.pending += 1;
    this.last = this.last.then(() => this.send(path, { seen: path === "undo" ? this.text.seen : seen, ...body }, closes)).finally(() => { this.pending -= 1; });
    return this.last;
  }

  async send(path, body, closes) {
    try {
      const text = await call(`/texts/${this.ref}/${path}`, body);
      if (closes) this.close();
      if (path === "undo" || path === "approve") this.place = null;
      if (path === "approve") this.panel.scrollTop = 0;
      this.said = text.approved_file ? `${say("approved")} ${text.approved_file}` : "";
      this.approvedFile = text.approved_file ?? "";
      this.status.textContent = this.said;
      this.take(text);
      return true;
    } catch (error) {
      try {
        if (error.status === 409) this.take(await call(`/texts/${this.ref}`));
      } catch {} // the first error says what is wrong
      this.announce(error.message);
      return false;
    }
  }

  change(block, change, closes = false) {
    return this.act("change", { change: { block: block.block ?? block.number, digest: block.digest, ...change } }, this.text.seen, closes);
  }

  isDirty() {
    return this.editing !== null && this.typed !== undefined && this.typed !== this.edited.markdown;
  }

  close() {
    this.editing = null;
    this.typed = undefined;
    this.inPage = false;
  }

  // --- What is shown ---

  draw() {
    const { text } = this;
    const active = document.activeElement;
    const focus = active?.dataset?.name;
    const isMine = active?.closest("aside, .tools, .overlay");
    const selection = focus === "editor" ? [active.selectionStart, active.selectionEnd] : null;
    const top = this.panel.scrollTop;
    document.title = `${text.title} · ${say("review")}`;
    this.panel.replaceChildren(...[
      make("div", { className: "bar" }, make("a", { href: "/_contentgen/" }, say("list")), nextButton(this.texts, this.ref), make("button", { type: "button", "aria-label": say("keys"), title: say("help"), onclick: () => this.help() }, "?")),
      make("h1", { dir: "auto" }, text.title),
      make("p", { className: "quiet" }, [text.state, text.reason, text.model].filter(Boolean).join(" · ")),
      this.path === location.pathname ? null : this.elsewhere(),
      this.lost ? make("section", { className: "note" }, make("p", {}, say("lost_words")), make("textarea", { readOnly: true, dir: "auto", "aria-label": say("lost_words") }, this.lost), make("button", { type: "button", onclick: () => { this.lost = ""; this.draw(); } }, say("close"))) : null,
      text.asking ? make("p", { className: "note" }, say("asking")) : text.ask_problem ? make("p", { className: "note" }, text.ask_problem) : null,
      this.actions(),
      text.brief ? make("section", {}, make("h2", {}, say("brief")), make("div", { className: "brief", dir: "auto" }, text.brief)) : null,
      text.updates?.length ? make("section", {}, make("h2", {}, say("updates")), make("ul", {}, ...text.updates.map((update) => make("li", { dir: "auto" }, update)))) : null,
      text.remarks.length ? make("section", {}, make("h2", {}, say("remarks")), make("ul", {}, ...text.remarks.map((remark) => make("li", { dir: "auto" }, remark)))) : null,
      this.changedSources(),
      text.seen ? make("h2", {}, `${say("statements")}: ${text.statements.length}`) : null,
      ...text.statements.map((statement, index) => this.statement(statement, index)),
      text.seen && !text.statements.length ? make("p", { className: "quiet" }, say("none_left")) : null,
      text.seen ? make("h2", {}, say("blocks")) : null,
      ...text.blocks.map((block) => this.block(block)),
    ].filter(Boolean));
    this.panel.scrollTop = top;
    this.drawTools();
    const again = focus ? document.querySelector(`[data-name="${CSS.escape(focus)}"]:enabled`) : null;
    if (isMine) (again ?? this.panel.querySelector('[aria-current="true"] button') ?? this.panel).focus({ preventScroll: true });
    if (again && selection) again.setSelectionRange(...selection);
    this.guard();
  }

  elsewhere() {
    const other = this.texts.find((text) => text.url === this.path);
    return make("div", { className: "note" }, make("p", {}, say("elsewhere")), make("div", { className: "bar" },
      other ? make("a", { href: addressOf(other) }, other.topic) : null,
      make("button", { type: "button", onclick: () => { this.path = location.pathname; this.frame.src = FRAME + this.path; this.draw(); } }, say("back"))));
  }

  // The block that was clicked in the page. The page only says which: where its tools are, and
  // which one they show, it can neither hide nor change under the pointer.
  drawTools() {
    const found = this.place && this.text.blocks[this.place.number];
    const block = found?.digest === this.place?.digest ? found : null;
    const isOpen = Boolean(block) && this.inPage && this.editing === block.number;
    this.tools.hidden = !block || isOpen;
    this.overlay.hidden = !isOpen;
    this.tools.replaceChildren();
    this.overlay.replaceChildren();
    if (isOpen) {
      const { clientWidth, clientHeight } = this.overlay.parentElement;
      const wide = clamp(this.place.width + 16, 320, clientWidth - 16);
      Object.assign(this.overlay.style, { top: `${clamp(this.place.top - 8, 8, clientHeight - 250)}px`, left: `${clamp(this.place.left - 8, 8, clientWidth - wide - 8)}px`, width: `${wide}px` });
      this.overlay.append(this.editor(block));
    } else if (block) {
      this.tools.append(make("span", { className: "quiet", dir: "auto" }, nameOf(block)), this.blockButtons(block, "page"));
      const wait = this.place.since + 500 - performance.now();
      for (const button of wait > 0 ? this.tools.querySelectorAll("button:enabled:not([data-close])") : []) {
        button.disabled = true;
        setTimeout(() => { button.disabled = false; }, wait);
      }
    }
  }

  // While a person types, the page cannot take the focus.
  guard() {
    this.frame.inert = Boolean(document.activeElement?.matches("textarea:not([readonly])"));
  }

  actions() {
    const { text } = this;
    const left = text.left;
    return make("div", { className: "bar actions" },
      make("button", { type: "button", className: "main", "data-name": "approve", disabled: !text.seen || left > 0, onclick: () => this.act("approve", {}), title: left ? `${say("left")}: ${left}` : "" }, say("approve")),
      left ? make("span", { className: "quiet" }, `${say("left")}: ${left}`) : null,
      left ? make("button", { type: "button", "data-name": "anyway", onclick: () => this.approveAnyway() }, say("approve_anyway")) : null,
      make("button", { type: "button", "data-name": "undo", disabled: !text.can_undo, onclick: () => this.act("undo", {}) }, say("undo")),
      make("button", { type: "button", "data-name": "compare", disabled: !text.seen, onclick: () => { this.kept.clear(); this.compare(); } }, say("compare")),
      make("button", { type: "button", "data-name": "ask", disabled: text.asking, onclick: () => this.ask() }, say("ask")),
      text.replaces ? make("p", { className: "note" }, say("replaces")) : null,
      this.said ? make("p", { className: "note" }, this.said) : null,
      this.approvedFile ? make("button", { type: "button", onclick: () => navigator.clipboard.writeText(`git add -- '${this.approvedFile.replaceAll("'", "'\\''")}'`) }, say("copy")) : null);
  }

  statement(statement, index) {
    const block = this.text.blocks[statement.block];
    const source = this.text.sources.find((it) => it.address === statement.source);
    const name = (action) => `${action}-${index}`;
    return make("section", { className: "item", "aria-current": String(index === this.selected), "data-statement": index, "aria-label": statement.text },
      make("p", { dir: "auto" }, ...marked(statement.sentence)),
      this.isOpen(statement.block) && index === this.firstOf(statement.block) ? this.editor(block) : make("div", { className: "bar" },
        make("button", { type: "button", "data-name": name("confirm"), onclick: () => this.change(statement, { action: "confirm", statement: statement.statement }) }, say("confirm")),
        make("button", { type: "button", "data-name": name("edit"), onclick: () => this.edit(statement.block) }, say("edit")),
        make("button", { type: "button", "data-name": name("remove"), title: say("removes"), onclick: () => this.change(statement, { action: "remove", statement: statement.statement }) }, say("remove"))),
      source ? make("div", {},
        make("div", { className: "quiet" }, `${say("source")}: ${source.title}`),
        source.state === "same" ? null : make("p", { className: "note" }, say(source.state)),
        make("div", { className: "source", tabIndex: 0, role: "region", "aria-label": source.title, dir: "auto" }, source.text)) : make("p", { className: "quiet" }, say("no_source")));
  }

  firstOf(block) {
    return this.text.statements.findIndex((statement) => statement.block === block);
  }

  isOpen(number) {
    return this.editing === number && !this.inPage;
  }

  blockButtons(block, where = "list") {
    const button = (name, label, act, disabled = false) => make("button", { type: "button", disabled, "data-name": `${name}-${where}-${block.number}`, "aria-label": `${label}: ${block.text.slice(0, 60)}`, onclick: act }, label);
    return make("div", { className: "bar" },
      button("edit", say("edit"), () => this.edit(block.number, where === "page")),
      button("add", say("add"), () => this.add(block)),
      button("delete", say("delete"), () => this.change(block, { action: "delete" })),
      where === "page" ? make("button", { type: "button", "data-close": "", onclick: () => { this.place = null; this.drawTools(); } }, say("close")) : null);
  }

  block(block) {
    const isOpen = this.isOpen(block.number) && this.firstOf(block.number) < 0;
    return make("details", { className: "item", open: isOpen || this.opened === block.number, "data-block": block.number },
      make("summary", { dir: "auto", onclick: () => { this.opened = this.opened === block.number ? null : block.number; if (this.opened !== null) this.tell(block.number); } }, nameOf(block), block.changed_by ? make("span", { className: "quiet" }, ` · ${say("changed_by")} ${block.changed_by}`) : null),
      isOpen ? this.editor(block) : make("div", {}, make("p", { dir: "auto" }, block.text), this.blockButtons(block)));
  }

  editor(block, save = (markdown) => this.change(block, { action: "edit", markdown }, true), text = this.typed ?? block.markdown, kinds = null, cancel = () => { this.close(); this.draw(); }) {
    const area = make("textarea", { value: text, dir: "auto", "aria-label": say("edit"), "data-name": "editor", oninput: () => { if (!kinds) this.typed = area.value; },
      onfocus: () => this.guard(), onblur: () => queueMicrotask(() => this.guard()), onkeydown: (event) => {
      if (event.key === "Escape") { event.preventDefault(); event.stopPropagation(); cancel(); }
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save(area.value, kinds?.value);
    } });
    queueMicrotask(() => { if (!area.matches(":focus")) area.focus(); });
    return make("div", {}, kinds, area, make("p", { className: "quiet" }, say("syntax")), make("div", { className: "bar" },
      make("button", { type: "button", className: "main", onclick: () => save(area.value, kinds?.value) }, say("save")),
      make("button", { type: "button", onclick: cancel }, say("cancel"))));
  }

  edit(number, inPage = false) {
    if (this.isDirty() && number !== this.editing) {
      this.announce(say("unsaved"));
      document.querySelector('[data-name="editor"]')?.focus();
      return;
    }
    this.close();
    this.editing = number;
    this.edited = this.text.blocks[number];
    this.inPage = inPage;
    if (!inPage) this.place = null;
    this.draw();
    if (number !== null) this.tell(number);
  }

  add(block) {
    const kinds = make("select", { "aria-label": say("kind") }, ...(block.kind === "li" ? ["li"] : ["p", "h2", "h3", "blockquote"]).map((kind) => make("option", { value: kind }, say(`kind_${KINDS[kind]}`))));
    const problem = make("p", { role: "alert" });
    const dialog = this.dialog(say("add"), problem, this.editor(block, async (markdown, kind) => {
      if (await this.change(block, { action: "insert", markdown, kind })) dialog.close();
      else problem.textContent = this.said;
    }, "", kinds, () => dialog.close()));
  }

  dialog(title, ...content) {
    const dialog = make("dialog", { "aria-label": title, onclose: () => { dialog.remove(); this.guard(); } },
      make("h2", {}, title), ...content,
      make("div", { className: "bar" }, make("button", { type: "button", onclick: () => dialog.close() }, say("close"))));
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
  }

  approveAnyway() {
    const { seen } = this.text;
    const approve = () => {
      if (!reason.value.trim()) return reason.focus();
      dialog.close();
      this.act("approve", { reason: reason.value }, seen);
    };
    const reason = make("input", { "aria-label": say("reason"), maxLength: 300, size: 50, onkeydown: (event) => { if (event.key === "Enter") approve(); } });
    const dialog = this.dialog(say("approve_anyway"), make("p", {}, say("reason")), reason,
      make("div", { className: "bar" }, make("button", { type: "button", className: "main", onclick: approve }, say("approve"))));
    reason.focus();
  }

  ask() {
    const { text } = this;
    if (!text.is_edited && !text.can_update) return this.act("ask", {});
    const note = make("textarea", { dir: "auto", maxLength: 2000, "aria-label": say("note"), placeholder: say("note") });
    const sections = make("select", { "aria-label": say("section") }, make("option", { value: "" }, say("whole")),
      ...text.blocks.filter((block) => /^h[2-6]$/.test(block.kind)).map((block) => make("option", { value: block.text }, block.text)));
    const send = () => {
      const asked = note.value.trim();
      dialog.close();
      this.act("ask", asked ? { note: asked, section: sections.value } : { replace: true });
    };
    const dialog = this.dialog(say("ask"),
      text.can_update ? make("p", {}, say("ask_help")) : null, text.can_update ? note : null, text.can_update ? sections : null,
      text.is_edited ? make("p", { className: "note" }, say("replace")) : null,
      make("div", { className: "bar" }, make("button", { type: "button", className: "main", onclick: send }, say("ask"))));
    if (text.can_update) note.focus();
  }

  // What the text rests on and is another now, with the blocks that cite it.
  changedSources() {
    const changed = this.text.sources.filter((source) => source.state !== "same");
    if (!changed.length) return null;
    return make("section", {}, make("h2", {}, say("changed_sources")),
      this.text.can_update ? make("button", { type: "button", "data-name": "update", disabled: this.text.asking, onclick: () => this.act("ask", { update: true }) }, say("update")) : null,
      ...changed.map((source) => make("div", { className: "item" },
        make("strong", { dir: "auto" }, source.title),
        ...source.blocks.map((number) => make("div", { className: "quiet", dir: "auto" }, nameOf(this.text.blocks[number]))),
        make("div", { className: "row" },
          make("div", { dir: "auto", tabIndex: 0, role: "region", "aria-label": `${say("before")}: ${source.title}` }, make("span", { className: "quiet" }, `${say("before")}: `), source.before || "–"),
          make("div", { dir: "auto", tabIndex: 0, role: "region", "aria-label": `${say("after")}: ${source.title}` }, make("span", { className: "quiet" }, `${say("after")}: `), source.text || say("gone"))))));
  }

  async compare(wanted = "generated", focus = 0) {
    let found;
    try {
      found = await call(`/texts/${this.ref}/compare?with=${wanted}`);
    } catch (error) {
      return this.announce(error.message);
    }
    const { rows, against, earlier, versions } = found;
    if (!versions.includes(earlier) && versions.length) return this.compare(versions[0]);
    const nameOfRow = (row) => JSON.stringify([earlier, row.kind, row.words]);
    const { seen } = this.text;
    document.querySelector("dialog")?.close();
    const changed = rows.filter((row) => !this.kept.has(nameOfRow(row)));
    const summary = make("p", { className: "quiet", role: "status" });
    const count = () => { summary.textContent = `${say("differences")}: ${list.childElementCount}`; };
    const list = make("div", { className: "rows" }, ...changed.map((row) => {
      const item = make("div", { className: "row", role: "group", "aria-label": (row.after || row.before).slice(0, 60) },
        make("div", { dir: "auto" }, diff(row.words, "old")),
        make("div", { dir: "auto" }, diff(row.words, "new")),
        make("div", { className: "bar" },
          make("button", { type: "button", onclick: () => { this.kept.add(nameOfRow(row)); (item.nextElementSibling ?? item.previousElementSibling)?.querySelector("button").focus(); item.remove(); count(); } }, say("accept")),
          make("button", { type: "button", disabled: !row.can_take_back, onclick: async () => {
            const index = [...list.children].indexOf(item);
            await this.act("take-back", { earlier, against, row: row.number }, seen);
            await this.compare(earlier, index);
          } }, say("reject"))));
      return item;
    }));
    count();
    const columns = make("input", { type: "checkbox", checked: true, onchange: () => list.classList.toggle("one", !columns.checked) });
    this.dialog(`${say("compare")}: ${say(earlier === "approved" ? "with_approved" : "generated")}`,
      make("div", { className: "bar" },
        make("button", { type: "button", disabled: !versions.includes("generated"), onclick: () => this.compare("generated") }, say("generated")),
        make("button", { type: "button", disabled: !versions.includes("approved"), onclick: () => this.compare("approved") }, say("with_approved")),
        make("label", {}, columns, ` ${say("columns")}`)),
      changed.length ? summary : null,
      changed.length ? make("div", { className: "row quiet", "aria-hidden": "true" }, make("span", {}, say("before")), make("span", {}, say("after"))) : null,
      this.said ? make("p", { className: "note" }, this.said) : null,
      changed.length ? list : make("p", {}, say("same")));
    list.children[Math.min(focus, list.children.length - 1)]?.querySelector("button").focus();
  }

  // --- The page beside it, which is not trusted ---

  tell(block) {
    const selected = this.text.statements[this.selected];
    this.frame.contentWindow?.postMessage({
      type: "text",
      blocks: this.text.blocks.map(({ text, kind, html }) => ({ text, kind, html })),
      select: block ?? selected?.block ?? null,
    }, FRAME);
  }

  heard(event) {
    if (event.origin !== FRAME || event.source !== this.frame.contentWindow) return;
    if (event.data?.type === "ready" && this.text) {
      this.isReady = true;
      if (this.isStale) this.reload();
      this.tell();
      const path = String(event.data.path);
      if (path !== this.path) { this.path = path; this.draw(); }
    }
    if (event.data?.type === "no block" && this.editing === null) {
      this.place = null;
      this.drawTools();
    }
    const block = event.data?.type === "block" ? this.text?.blocks[event.data.block] : undefined;
    if (!block || this.editing !== null || document.activeElement !== this.frame) return;
    const [top, left, width] = ["top", "left", "width"].map((name) => Number(event.data[name]) || 0);
    const since = this.place?.number === block.number ? this.place.since : performance.now();
    this.place = { number: block.number, digest: block.digest, since, top, left, width };
    if (this.frame.clientWidth < 500 || this.frame.clientHeight < 300) {
      this.opened = block.number; // there is no room beside the page
      this.place = null;
      this.draw();
    }
    this.drawTools();
    // The page is not trusted, so it does not choose what a key acts on.
    const index = this.firstOf(block.number);
    const item = index >= 0 ? `[data-statement="${index}"]` : `[data-block="${block.number}"]`;
    this.panel.querySelector(item)?.scrollIntoView({ block: "center" });
  }

  select(index) {
    if (!this.text.statements.length) return;
    this.selected = (index + this.text.statements.length) % this.text.statements.length;
    this.draw();
    this.panel.querySelector('[aria-current="true"]')?.scrollIntoView({ block: "center" });
    this.tell();
  }

  help() {
    this.dialog(say("keys"), make("p", {}, say("help")));
  }

  key(event) {
    if (!this.isArmed || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("textarea, input, select, dialog")) return;
    const statement = this.text?.statements[this.selected];
    const act = {
      j: () => this.select(this.selected + 1),
      k: () => this.select(this.selected - 1),
      e: () => statement && this.edit(statement.block),
      c: () => statement && this.change(statement, { action: "confirm", statement: statement.statement }),
      x: () => statement && this.change(statement, { action: "remove", statement: statement.statement }),
      a: () => this.text.left ? this.approveAnyway() : this.act("approve", {}),
      n: () => this.panel.querySelector(".bar button:not(:disabled)")?.click(),
      "?": () => this.help(),
      Escape: () => { this.place = null; this.edit(null); },
    }[event.key];
    if (!act || !this.text) return;
    event.preventDefault();
    act();
  }
}

const KINDS = { h1: "title", h2: "heading", h3: "subheading", h4: "subheading", h5: "subheading", h6: "subheading", p: "p", text: "p", li: "item", td: "cell", th: "cell", blockquote: "quotation", pre: "code" };

const nameOf = (block) => `${say(`kind_${KINDS[block.kind] ?? "p"}`)} · ${block.text.slice(0, 80)}`;

const clamp = (value, least, most) => Math.max(least, Math.min(value, most));

function marked(parts) {
  return parts.map(([text, isStatement]) => isStatement ? make("mark", {}, text) : text);
}

function diff(parts, side) {
  const line = make("span");
  for (const [kind, text] of parts) {
    if (kind === "equal") line.append(text);
    else if (kind === side) line.append(make(side === "old" ? "del" : "ins", {}, text));
  }
  return line;
}

start();
