// The desk in the browser. All that comes from texts, pages and people is shown as text.

const API = "/_contentgen/api";
const FRAME = document.documentElement.dataset.frame;

let words = {};
const say = (name) => words[name] ?? name;

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
  const all = await (await fetch("/_contentgen/words.json")).json();
  const language = document.documentElement.lang.toLowerCase();
  const own = all[language] ?? all[language.split("-")[0]] ?? {};
  words = { ...all.en, ...own };
  if (!own.texts) document.documentElement.lang = "en";
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
  texts.sort((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || b.marked - a.marked || a.page.localeCompare(b.page));
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
        make("td", {}, text.state),
        make("td", {}, text.marked ? String(text.marked) : ""),
        make("td", {}, text.remarks.length ? String(text.remarks.length) : ""),
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
  const waiting = texts.filter((text) => ["draft", "outdated", "changed"].includes(text.state));
  const after = waiting.findIndex((text) => text.ref === ref) + 1;
  const next = waiting[after % Math.max(waiting.length, 1)];
  return make("button", { type: "button", disabled: !next || next.ref === ref, onclick: () => location.assign(addressOf(next)) }, say("next"));
}

// --- One text ----------------------------------------------------------------------------------

class Panel {
  selected = 0;
  editing = null;
  comparing = null;
  said = "";
  acts = 0;
  pending = 0;
  last = Promise.resolve();

  async open() {
    const { texts } = await call("/queue");
    const asked = new URLSearchParams(location.search).get("text");
    const here = texts.filter((text) => text.url === location.pathname);
    const found = texts.find((text) => text.ref === asked) ?? here[0];
    this.texts = texts;
    this.frame = make("iframe", { src: FRAME + location.pathname, title: say("page") });
    this.status = make("p", { className: "hidden", role: "status" });
    this.panel = make("aside", { className: "panel", "aria-label": say("review") });
    document.body.replaceChildren(make("div", { className: "desk" }, make("main", {}, this.frame), this.panel), this.status);
    addEventListener("message", (event) => this.heard(event));
    addEventListener("keydown", (event) => this.key(event));
    if (!found) {
      this.panel.append(make("p", {}, say("no_text")), make("a", { href: "/_contentgen/" }, say("list")));
      return;
    }
    this.ref = found.ref;
    this.take(await call(`/texts/${found.ref}`));
    this.poll();
  }

  take(text) {
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
        if (built) this.frame.src = FRAME + location.pathname;
      } catch (error) {
        this.announce(error.message);
      }
    }
  }

  announce(message) {
    this.said = message;
    this.status.textContent = message;
    this.draw();
  }

  // One after the other, each with what the one before has left.
  act(path, body, seen = this.text.seen) {
    this.acts += 1;
    this.pending += 1;
    this.last = this.last.then(() => this.send(path, { seen: path === "undo" ? this.text.seen : seen, ...body })).finally(() => { this.pending -= 1; });
    return this.last;
  }

  async send(path, body) {
    try {
      const text = await call(`/texts/${this.ref}/${path}`, body);
      this.editing = null;
      this.typed = undefined;
      this.said = text.approved_file ? `${say("approved")} ${text.approved_file}` : "";
      this.approvedFile = text.approved_file ?? "";
      this.status.textContent = this.said;
      this.take(text);
    } catch (error) {
      if (error.status === 409) {
        this.editing = null;
        this.take(await call(`/texts/${this.ref}`));
      }
      this.announce(error.message);
    }
  }

  change(block, change) {
    return this.act("change", { change: { block: block.block ?? block.number, digest: block.digest, ...change } });
  }

  // --- What is shown ---

  draw() {
    const { text } = this;
    const focus = document.activeElement?.dataset?.name;
    const top = this.panel.scrollTop;
    document.title = `${text.title} · ${say("review")}`;
    this.panel.replaceChildren(...[
      make("div", { className: "bar" }, make("a", { href: "/_contentgen/" }, say("list")), nextButton(this.texts, this.ref)),
      make("h1", {}, text.title),
      make("p", { className: "quiet" }, [text.state, text.reason, text.model].filter(Boolean).join(" · ")),
      this.said ? make("p", { className: "note" }, this.said) : null,
      text.asking ? make("p", { className: "note" }, say("asking")) : text.ask_problem ? make("p", { className: "note" }, text.ask_problem) : null,
      this.approvedFile ? make("button", { type: "button", onclick: () => navigator.clipboard.writeText(`git add -- '${this.approvedFile.replaceAll("'", "'\\''")}'`) }, say("copy")) : null,
      this.actions(),
      text.brief ? make("section", {}, make("h2", {}, say("brief")), make("div", { className: "brief" }, text.brief)) : null,
      text.remarks.length ? make("section", {}, make("h2", {}, say("remarks")), make("ul", {}, ...text.remarks.map((remark) => make("li", {}, remark)))) : null,
      text.seen ? make("h2", {}, `${say("statements")}: ${text.statements.length}`) : null,
      ...text.statements.map((statement, index) => this.statement(statement, index)),
      text.seen && !text.statements.length ? make("p", { className: "quiet" }, say("none_left")) : null,
      text.seen ? make("h2", {}, say("blocks")) : null,
      ...text.blocks.map((block) => this.block(block)),
    ].filter(Boolean));
    this.panel.scrollTop = top;
    if (focus) this.panel.querySelector(`[data-name="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  }

  actions() {
    const { text } = this;
    const left = text.left;
    return make("div", { className: "bar" },
      make("button", { type: "button", className: "main", "data-name": "approve", disabled: !text.seen || left > 0, onclick: () => this.act("approve", {}), title: left ? `${say("left")}: ${left}` : "" }, say("approve")),
      left ? make("span", { className: "quiet" }, `${say("left")}: ${left}`) : null,
      left ? make("button", { type: "button", "data-name": "anyway", onclick: () => this.approveAnyway() }, say("approve_anyway")) : null,
      make("button", { type: "button", "data-name": "undo", disabled: !text.can_undo, onclick: () => this.act("undo", {}) }, say("undo")),
      make("button", { type: "button", "data-name": "compare", disabled: !text.seen, onclick: () => this.compare() }, say("compare")),
      make("button", { type: "button", "data-name": "ask", disabled: text.asking, onclick: () => this.ask() }, say("ask")));
  }

  statement(statement, index) {
    const block = this.text.blocks[statement.block];
    const source = this.text.sources.find((it) => it.address === statement.source);
    const name = (action) => `${action}-${index}`;
    return make("section", { className: "item", "aria-current": String(index === this.selected), "data-statement": index, "aria-label": statement.text },
      make("p", {}, ...marked(statement.sentence)),
      this.editing === statement.block && index === this.firstOf(statement.block) ? this.editor(block) : make("div", { className: "bar" },
        make("button", { type: "button", "data-name": name("confirm"), onclick: () => this.change(statement, { action: "confirm", statement: statement.statement }) }, say("confirm")),
        make("button", { type: "button", "data-name": name("edit"), onclick: () => this.edit(statement.block) }, say("edit")),
        make("button", { type: "button", "data-name": name("remove"), onclick: () => this.change(statement, { action: "remove", statement: statement.statement }) }, say("remove"))),
      source ? make("div", {},
        make("div", { className: "quiet" }, `${say("source")}: ${source.title}`),
        source.state === "same" ? null : make("p", { className: "note" }, say(source.state)),
        make("div", { className: "source", tabIndex: 0, role: "region", "aria-label": source.title }, source.text)) : make("p", { className: "quiet" }, say("no_source")));
  }

  firstOf(block) {
    return this.text.statements.findIndex((statement) => statement.block === block);
  }

  block(block) {
    const isOpen = this.editing === block.number && this.firstOf(block.number) < 0;
    const button = (name, label, act, disabled = false) => make("button", { type: "button", disabled, "data-name": `${name}-block-${block.number}`, "aria-label": `${label}: ${block.text.slice(0, 60)}`, onclick: act }, label);
    return make("details", { className: "item", open: isOpen || this.opened === block.number, "data-block": block.number, ontoggle: (event) => { if (event.target.open) { this.opened = block.number; this.tell(block.number); } } },
      make("summary", {}, `${block.kind} · ${block.text.slice(0, 80)}`, block.changed_by ? make("span", { className: "quiet" }, ` · ${say("changed_by")} ${block.changed_by}`) : null),
      isOpen ? this.editor(block) : make("div", {}, make("p", {}, block.text), make("div", { className: "bar" },
        button("edit", say("edit"), () => this.edit(block.number)),
        button("add", say("add"), () => this.add(block)),
        button("up", say("up"), () => this.change(block, { action: "move", target: block.up }), block.up === null),
        button("down", say("down"), () => this.change(block, { action: "move", target: block.down }), block.down === null),
        button("delete", say("delete"), () => this.change(block, { action: "delete" })))));
  }

  editor(block, save = (markdown) => this.change(block, { action: "edit", markdown }), text = this.typed ?? block.markdown, kinds = null) {
    const area = make("textarea", { value: text, "aria-label": say("edit"), "data-name": "editor", oninput: () => { this.typed = area.value; }, onkeydown: (event) => {
      if (event.key === "Escape") { event.stopPropagation(); this.edit(null); }
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save(area.value, kinds?.value);
    } });
    queueMicrotask(() => { if (!area.matches(":focus")) area.focus(); });
    return make("div", {}, kinds, area, make("div", { className: "bar" },
      make("button", { type: "button", className: "main", onclick: () => save(area.value, kinds?.value) }, say("save")),
      make("button", { type: "button", onclick: () => this.edit(null) }, say("cancel"))));
  }

  edit(block) {
    this.editing = block;
    this.typed = undefined;
    this.draw();
    if (block !== null) this.tell(block);
  }

  add(block) {
    const kinds = make("select", { "aria-label": say("kind") }, ...(block.kind === "li" ? ["li"] : ["p", "h2", "h3", "blockquote"]).map((kind) => make("option", {}, kind)));
    const dialog = this.dialog(say("add"), this.editor(block, async (markdown, kind) => { dialog.close(); await this.change(block, { action: "insert", markdown, kind }); }, "", kinds));
  }

  dialog(title, ...content) {
    const dialog = make("dialog", { "aria-label": title, onclose: () => dialog.remove() },
      make("h2", {}, title), ...content,
      make("div", { className: "bar" }, make("button", { type: "button", onclick: () => dialog.close() }, say("close"))));
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
  }

  approveAnyway() {
    const { seen } = this.text;
    const reason = make("input", { "aria-label": say("reason"), maxLength: 300, size: 50 });
    const dialog = this.dialog(say("approve_anyway"), make("p", {}, say("reason")), reason,
      make("div", { className: "bar" }, make("button", { type: "button", className: "main", onclick: () => {
        if (!reason.value.trim()) return reason.focus();
        dialog.close();
        this.act("approve", { reason: reason.value }, seen);
      } }, say("approve"))));
    reason.focus();
  }

  ask() {
    if (!this.text.is_edited) return this.act("ask", {});
    const dialog = this.dialog(say("ask"), make("p", {}, say("replace")),
      make("div", { className: "bar" }, make("button", { type: "button", className: "main", onclick: () => { dialog.close(); this.act("ask", { replace: true }); } }, say("ask"))));
  }

  async compare(with_ = "generated") {
    const { rows, has_approved } = await call(`/texts/${this.ref}/compare?with=${with_}`);
    document.querySelector("dialog")?.close();
    const changed = rows.filter((row) => row.kind !== "equal");
    const list = make("div", { className: "rows" }, ...changed.flatMap((row) => [
      make("div", {}, row.words.length ? diff(row.words, "old") : row.before),
      make("div", {}, row.words.length ? diff(row.words, "new") : row.after, row.kind.startsWith("moved") ? make("span", { className: "quiet" }, ` (${say("moved")})`) : null,
        row.block !== null && ["changed", "added"].includes(row.kind) ? make("div", { className: "bar" }, make("button", { type: "button", onclick: async () => {
          await this.change(row, row.kind === "added" ? { action: "delete" } : { action: "edit", markdown: row.markdown });
          await this.compare(with_);
        } }, say("reject"))) : null)]));
    const columns = make("input", { type: "checkbox", checked: true, onchange: () => list.classList.toggle("one", !columns.checked) });
    this.dialog(`${say("compare")}: ${say(with_ === "approved" ? "with_approved" : "generated")}`,
      make("div", { className: "bar" },
        make("button", { type: "button", onclick: () => this.compare("generated") }, say("generated")),
        make("button", { type: "button", disabled: !has_approved, onclick: () => this.compare("approved") }, say("with_approved")),
        make("label", {}, columns, ` ${say("columns")}`)),
      changed.length ? list : make("p", {}, say("same")));
  }

  // --- The page beside it, which is not trusted ---

  tell(block) {
    const selected = this.text.statements[this.selected];
    this.frame.contentWindow?.postMessage({
      type: "text",
      blocks: this.text.blocks.map((it) => it.text),
      select: block ?? selected?.block ?? null,
      statement: block === undefined && selected ? selected.text : "",
    }, FRAME);
  }

  heard(event) {
    if (event.origin !== FRAME || event.source !== this.frame.contentWindow) return;
    if (event.data?.type === "ready" && this.text) this.tell();
    const block = event.data?.type === "block" ? this.text?.blocks[event.data.block] : undefined;
    if (!block) return;
    // The page is not trusted, so it does not choose what a key acts on.
    const index = this.firstOf(block.number);
    const item = index >= 0 ? `[data-statement="${index}"]` : `[data-block="${block.number}"]`;
    this.panel.querySelector(item)?.scrollIntoView({ block: "center" });
  }

  select(index, tell = true) {
    if (!this.text.statements.length) return;
    this.selected = (index + this.text.statements.length) % this.text.statements.length;
    this.draw();
    this.panel.querySelector('[aria-current="true"]')?.scrollIntoView({ block: "center" });
    if (tell) this.tell();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("textarea, input, select, dialog")) return;
    const statement = this.text?.statements[this.selected];
    const act = {
      j: () => this.select(this.selected + 1),
      k: () => this.select(this.selected - 1),
      e: () => statement && this.edit(statement.block),
      c: () => statement && this.change(statement, { action: "confirm", statement: statement.statement }),
      x: () => statement && this.change(statement, { action: "remove", statement: statement.statement }),
      a: () => this.text.left ? this.approveAnyway() : this.act("approve", {}),
      n: () => this.panel.querySelector(".bar button:not(:disabled)")?.click(),
      "?": () => this.dialog(say("keys"), make("p", {}, say("help"))),
    }[event.key];
    if (!act || !this.text) return;
    event.preventDefault();
    act();
  }
}

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
