// The desk in the browser. All that comes from texts, pages and people is shown as text.

const HOLD = 500; // milliseconds for which nothing acts on what has just appeared

let words = {}; // in each language, or in English only
let column = 0;
function say(name, ...values) {
  const sentence = words[name]?.[column] ?? words[name]?.[0] ?? name;
  // A function, since a value can contain what replace() takes for a pattern, such as $'.
  return sentence.replace(/\{(\d)\}/g, (place, index) => values[index] ?? place);
}

function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name in element && name !== "list") element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== ""));
  return element;
}

const makeButton = (label, onclick, more = {}) => make("button", { type: "button", onclick, ...more }, label);
const textBox = (value, name, more = {}) => make("textarea", { value, dir: "auto", required: true, "aria-label": say(name), ...more });
const list = (title, lines) => lines?.length ? make("section", {}, make("h2", {}, title), make("ul", {}, ...lines.map((line) => make("li", { dir: "auto" }, line)))) : null;

async function call(action, body = {}) {
  let response;
  try {
    response = await fetch(`/_contentgen/api/${action}`, {
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
      localStorage.setItem("key", (await call("session", { token })).key);
    }
    await (location.pathname === "/_contentgen/" ? showQueue() : new Panel().open());
  } catch (error) {
    document.body.replaceChildren(make("main", { className: "queue" }, make("p", { className: "note", role: "alert" }, error.status === 401 ? say("open") : error.message)));
  }
}

// --- The queue ---------------------------------------------------------------------------------

const ORDER = ["outdated", "changed", "damaged", "proposed", "draft", "failed", "missing", "approved"];

async function showQueue() {
  const { texts, by, problem } = await call("queue");
  const rank = (text) => text.newer_draft ? 0 : ORDER.indexOf(text.state);
  texts.sort((a, b) => rank(a) - rank(b) || b.marked - a.marked || a.page.localeCompare(b.page));
  const rows = make("tbody");
  const search = make("input", { type: "search", "aria-label": say("filter"), placeholder: say("filter") });
  const fill = () => {
    const wanted = search.value.toLowerCase();
    rows.replaceChildren(...texts
      .filter((text) => `${text.page} ${text.topic} ${text.state}`.toLowerCase().includes(wanted))
      .map((text) => make("tr", {},
        make("td", {}, make("a", { href: addressOf(text) }, text.topic), make("div", { className: "quiet" }, nameOfPage(text))),
        make("td", {}, text.state, text.newer_draft ? make("div", { className: "quiet" }, say("newer")) : null),
        make("td", { "data-label": say("left") }, text.marked ? String(text.marked) : ""),
        make("td", { "data-label": say("remarks") }, text.remarks.length ? String(text.remarks.length) : ""),
        make("td", {}, (text.generated_at ?? "").slice(0, 10)),
        make("td", {}, text.model ?? ""))));
  };
  search.addEventListener("input", fill);
  fill();
  document.title = say("texts");
  document.body.replaceChildren(make("main", { className: "queue" },
    make("h1", {}, say("texts")),
    make("p", { className: "quiet" }, say("by", by)),
    problem ? make("p", { className: "note", role: "alert" }, problem) : null,
    make("div", { className: "bar" }, nextButton(texts, "", "first"), search),
    make("div", { className: "wide", tabIndex: 0, role: "region", "aria-label": say("texts") }, make("table", {},
      make("thead", {}, make("tr", {}, ...["title", "state", "left", "remarks", "age", "model"].map((name) => make("th", { scope: "col" }, say(name))))),
      rows))));
}

const addressOf = (text) => `${text.url || "/"}?text=${text.ref}`;
const nameOfPage = (text) => `${text.page}${text.id === "main" ? "" : ` · ${text.id}`}`;

function nextButton(texts, ref, name = "next") {
  const waiting = texts.filter((text) => text.newer_draft || text.due_since || ["draft", "proposed", "outdated", "changed"].includes(text.state));
  const after = waiting.findIndex((text) => text.ref === ref) + 1;
  const next = waiting[after % Math.max(waiting.length, 1)];
  return makeButton(say(name), () => location.assign(addressOf(next)), { disabled: !next || next.ref === ref, "data-name": "next" });
}

// --- One text ----------------------------------------------------------------------------------

class Panel {
  selected = 0; // the sentence with statements
  block = null; // the number of the block that was selected in the page
  editing = null;
  said = "";
  last = Promise.resolve();
  isPressed = false; // what is pressed stays where it is
  released = Promise.resolve(); // when nothing is pressed, and a click has done what it does
  release = null;
  shown = ""; // what the page says that it shows
  isReady = false; // whether the page has said that it is there
  stamp = null; // the build that the page is of
  isArmed = false; // no key acts before the person has come into the panel: another page can lead here while one types
  quietUntil = 0; // no key acts, until nobody has typed for a moment
  path = location.pathname; // of the page in the frame
  origin = ""; // of the page of this text, which no other page has
  shownOrigin = ""; // of the page in the frame

  async open() {
    const { texts } = await call("queue");
    const asked = new URLSearchParams(location.search).get("text");
    const found = texts.find((text) => text.ref === asked) ?? texts.find((text) => text.url === location.pathname);
    this.texts = texts;
    this.frame = make("iframe", { title: say("page"), sandbox: "allow-scripts allow-same-origin allow-forms" });
    this.overlay = make("div", { className: "overlay", hidden: true });
    this.status = make("p", { className: "hidden", role: "status" });
    this.panel = make("aside", { className: "panel", "aria-label": say("review"), tabIndex: -1 });
    document.body.replaceChildren(make("div", { className: "desk" }, this.panel, make("main", {}, this.frame, this.overlay)), this.status);
    addEventListener("message", (event) => this.heard(event));
    addEventListener("keydown", (event) => this.key(event));
    // A page can take the focus, and give it back while the person types.
    addEventListener("blur", () => { this.quietUntil = Infinity; });
    addEventListener("focus", () => { this.quietUntil = performance.now() + HOLD; });
    addEventListener("pointerdown", ({ target }) => {
      this.isArmed = true;
      this.quietUntil = 0;
      if (this.release || !target.closest("button:enabled, summary")) return;
      this.isPressed = true;
      this.released = new Promise((done) => { this.release = done; });
    }, true);
    addEventListener("click", () => { this.isPressed = false; }, true);
    for (const name of ["pointerup", "pointercancel", "blur"]) addEventListener(name, () => setTimeout(() => { // after the click
      this.isPressed = false;
      this.release?.();
      this.release = null;
    }));
    this.panel.addEventListener("focusin", () => { this.isArmed = true; });
    for (const name of ["focusin", "focusout"]) addEventListener(name, () => queueMicrotask(() => this.guard()));
    this.origin = (found ?? await call("page", { address: location.pathname })).frame;
    if (!found) {
      this.frame.src = this.origin + location.pathname;
      this.panel.append(make("p", {}, say("no_text")), make("a", { href: "/_contentgen/" }, say("list")));
      return;
    }
    this.ref = found.ref;
    this.lost = this.recall("edit");
    this.take(await call("text", { ref: this.ref }));
    this.frame.src = this.origin + location.pathname; // which is of this build, or of a later one
    this.poll();
  }

  // What was typed and not sent is kept in the browser as long as the desk runs.
  recall(kind) { return JSON.parse(localStorage.getItem(`${kind} ${this.ref}`) ?? "null"); }
  remember(kind, value) {
    if (value) localStorage.setItem(`${kind} ${this.ref}`, JSON.stringify(value));
    else localStorage.removeItem(`${kind} ${this.ref}`);
  }

  take(text) {
    const before = this.text;
    this.text = text;
    const number = this.block === null ? -1 : this.numberOf(before.blocks[this.block]);
    this.block = number < 0 ? null : number;
    if (this.editing) {
      this.editing.number = this.numberOf(this.editing);
      if (unmarked(text.blocks[this.editing.number]) === unmarked(this.editing)) this.block = this.editing.number;
      else [this.lost, this.editing] = [this.recall("edit"), null];
    }
    if (before?.asking && !text.asking && !text.ask_problem) this.remember("note", null);
    if (text.seen !== before?.seen) this.since = performance.now();
    this.selected = Math.min(this.selected, Math.max(text.statements.length - 1, 0));
    if (this.stamp !== null && this.stamp !== text.stamp) this.reload();
    this.stamp = text.stamp;
    this.draw();
    this.tell();
  }

  // Where a block is now: others before it may be gone, or new.
  numberOf({ number, digest }) {
    const { blocks } = this.text;
    return blocks[number]?.digest === digest ? number : blocks.findIndex((block) => block.digest === digest);
  }

  async poll() {
    for (;;) {
      await new Promise((done) => setTimeout(done, 1000));
      await this.inTurn(() => this.look());
    }
  }

  async look() {
    try {
      const text = await call("text", { ref: this.ref, version: this.text.version });
      if (this.said === this.failure) this.announce("");
      this.failure = null;
      await this.released;
      if (text.version !== this.text.version) this.take(text);
      else if (this.text.asking) this.drawProgress();
    } catch (error) {
      if (this.failure !== error.message) this.announce(error.message);
      this.failure = error.message;
    }
  }

  get isElsewhere() { return Boolean(this.shownOrigin) && this.shownOrigin !== this.origin; }

  reload() {
    this.shown = "";
    if (this.isReady) this.frame.contentWindow.postMessage({ type: "reload" }, this.shownOrigin);
    else this.frame.src = this.origin + location.pathname;
    this.isReady = false;
  }

  announce(message) {
    this.said = message;
    this.status.textContent = message;
    this.draw();
  }

  // Calls follow one another, so that each has what the one before has left.
  inTurn(next) {
    this.last = this.last.then(next);
    return this.last;
  }

  // Tells whether it was done.
  act(action, body = {}, seen = this.text.seen) {
    return this.inTurn(() => this.send(action, { seen: action === "undo" ? this.text.seen : seen, ...body }));
  }

  async send(action, body) {
    try {
      const text = await call(action, { ref: this.ref, ...body });
      await this.released;
      this.said = action === "approve" ? say("approved", text.approved_file) : "";
      this.status.textContent = this.said;
      if (action === "undo" || action === "approve") this.block = null;
      if (body.change?.action === "edit" && body.change.markdown === this.area?.value) this.close();
      this.take(text);
      return true;
    } catch (error) {
      if (error.status === 409) await this.look();
      this.announce(error.message);
      return false;
    }
  }

  change(block, change) {
    return this.act("change", { change: { block: this.numberOf(block), digest: block.digest, ...change } });
  }

  // Each statement of a sentence, one after the other, in the text that the acts before have left.
  settle(card, action) {
    if (!card || card.isSettled) return null; // a click too many
    card.isSettled = true;
    return this.inTurn(async () => {
      const block = this.numberOf({ number: card.block, digest: card.digest });
      for (const _ of action === "remove" ? [1] : card.statements) {
        const now = this.text.statements.find((it) => it.block === block && sentenceOf(it) === sentenceOf(card));
        const change = { block, digest: card.digest, action, statement: now?.statements[0] ?? 0 };
        if (!await this.send("change", { seen: now ? this.text.seen : "", change })) break;
      }
      card.isSettled = false;
    });
  }

  close() {
    if (!this.editing) return;
    this.back = this.editing.back;
    this.editing = null;
    this.remember("edit", null);
  }

  // --- What is shown ---

  draw() {
    if (this.isPressed) return this.released.then(() => this.draw());
    const { text } = this;
    const active = document.activeElement;
    const focus = this.back ?? active?.dataset?.name;
    const isMine = this.back || active?.closest("aside, .overlay");
    const selection = focus === "editor" ? [active.selectionStart, active.selectionEnd, active.scrollTop] : null;
    const top = this.panel.scrollTop;
    this.back = null;
    document.title = `${text.title} · ${say("review")}`;
    this.panel.replaceChildren(...[
      this.actions(),
      this.notes(),
      text.statements.length ? null : text.seen ? make("p", { className: "quiet" }, say("none_left")) : null,
      ...text.statements.map((card, index) => this.card(card, index)),
      make("h1", { dir: "auto" }, text.title),
      make("p", { className: "quiet" }, [nameOfPage(text), text.state, text.state === "draft" ? "" : text.reason, text.model].filter(Boolean).join(" · ")),
      make("div", { className: "bar" }, make("a", { href: "/_contentgen/" }, say("list")), nextButton(this.texts, this.ref), makeButton("?", () => this.help(), { "aria-label": say("keys") })),
      make("div", { className: "bar" },
        text.can_update ? makeButton(say("with_note"), () => this.askWithNote(), { "data-name": "note", disabled: Boolean(text.asking) || !text.seen }) : null,
        makeButton(say("new_text"), () => this.askForNew(), { "data-name": "new", disabled: Boolean(text.asking) })),
      text.brief ? make("section", {}, make("h2", {}, say("brief")), make("div", { className: "brief", dir: "auto" }, text.brief)) : null,
      list(say("updates"), text.updates),
      list(say("remarks"), text.remarks),
      list(say("hidden"), text.hidden),
      this.changedSources(),
      text.seen ? make("h2", {}, say("blocks")) : null,
      ...text.blocks.map((block) => this.listed(block)),
    ].filter(Boolean));
    this.panel.scrollTop = top;
    this.drawTools();
    const again = focus ? document.querySelector(`[data-name="${CSS.escape(focus)}"]:enabled`) : null;
    if (isMine && !document.querySelector("dialog")) (again ?? this.panel.querySelector('[aria-current="true"] button') ?? this.panel).focus({ preventScroll: true });
    if (again && selection) [again.selectionStart, again.selectionEnd, again.scrollTop] = selection;
    this.guard();
  }

  // Approve names the text, and waits until the page shows it, and for a moment after that.
  actions() {
    const { text } = this;
    const why = this.whyNot();
    const wait = Math.max(this.since, this.shownAt ?? Infinity) + HOLD - performance.now();
    if (!why && wait > 0) setTimeout(() => this.draw(), wait);
    const count = text.statements.length;
    const approve = text.left
      ? makeButton(say("approve_anyway"), () => this.approveAnyway(), { "data-name": "approve", disabled: Boolean(why) || wait > 0 })
      : makeButton(say("approve", text.title), (event) => event.detail < 2 && this.approve(), { className: "main", "data-name": "approve", title: text.title, disabled: Boolean(why) || wait > 0 });
    this.why = why;
    return make("div", { className: "bar actions" },
      count ? make("span", { className: "quiet", title: say("left") }, say("of", this.selected + 1, count)) : null,
      approve,
      makeButton(say("undo"), () => this.act("undo"), { "data-name": "undo", disabled: !text.can_undo }),
      makeButton(say("compare"), () => this.compare(), { "data-name": "compare", disabled: !text.seen }));
  }

  whyNot() {
    const { text } = this;
    if (!text.seen) return text.reason;
    if (text.asking || text.waits) return text.waits || say("asking");
    if (text.state === "approved" && !text.newer_draft && !text.due_since) return " ";
    return this.shown === text.in_page?.digest ? "" : say("not_shown");
  }

  notes() {
    const { text } = this;
    const other = this.texts.find((it) => it.url === this.path);
    const editable = this.lost && text.blocks.find((block) => block.digest === this.lost.digest);
    return make("div", {},
      this.why?.trim() ? make("p", { className: "note" }, this.why) : null,
      this.said ? make("p", { className: "note" }, this.said) : null,
      text.approved_file ? make("div", { className: "bar" }, makeButton(say("copy"), (event) => this.copy(event.target)), nextButton(this.texts, this.ref)) : null,
      text.asking ? this.progress() : text.ask_problem ? make("p", { className: "note" }, text.ask_problem) : null,
      this.isElsewhere ? make("div", { className: "note" }, make("p", {}, say("elsewhere")), make("div", { className: "bar" },
        other ? make("a", { href: addressOf(other) }, other.topic) : null,
        makeButton(say("back"), () => { this.path = location.pathname; this.shownOrigin = ""; this.isReady = false; this.shown = ""; this.frame.src = this.origin + this.path; this.draw(); }))) : null,
      this.lost ? make("section", { className: "note" }, make("p", {}, say("lost_words")), make("textarea", { readOnly: true, dir: "auto", "aria-label": say("lost_words") }, this.lost.markdown),
        make("div", { className: "bar" },
          editable ? makeButton(say("edit"), () => { const { markdown } = this.lost; this.lost = null; this.edit(editable.number, markdown); }) : null,
          makeButton(say("close"), () => { this.lost = null; this.remember("edit", null); this.draw(); }))) : null,
      text.replaces && text.state === "changed" ? make("p", { className: "note" }, say("replaces_edits"))
        : text.replaces ? make("p", { className: "quiet" }, say("replaces")) : null);
  }

  progress() {
    this.clock = make("span");
    this.drawProgress();
    return make("div", { className: "note bar" }, this.clock, makeButton(say("cancel"), () => this.act("cancel"), { "data-name": "cancel" }));
  }

  drawProgress() {
    const { began, is_update } = this.text.asking;
    const seconds = Math.max(0, Math.floor(Date.now() / 1000 - began));
    this.clock.textContent = `${say(is_update ? "updating" : "writing")}, ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }

  async copy(button) {
    await navigator.clipboard.writeText(this.text.commit_command);
    button.textContent = say("copied");
  }

  card(card, index) {
    const source = this.text.sources.find((it) => it.address === card.source);
    const name = (action) => `${action}-${index}`;
    return make("section", { className: "item", "aria-current": String(index === this.selected), "data-statement": index, "aria-label": card.text },
      make("p", { dir: "auto" }, ...card.parts.map(([text, number]) => number === null ? text : make("mark", {}, text))),
      make("div", { className: "bar" },
        makeButton(say("confirm"), () => this.settle(card, "confirm"), { "data-name": name("confirm") }),
        makeButton(say("edit"), () => this.edit(card.block), { "data-name": name("edit") }),
        makeButton(say("remove"), () => this.settle(card, "remove"), { "data-name": name("remove"), title: say("removes") })),
      source ? make("div", {},
        make("div", { className: "quiet" }, `${say("source")}: ${source.title}`),
        source.state === "same" ? null : make("p", { className: "note" }, say(source.state)),
        make("div", { className: "source", tabIndex: 0, role: "region", "aria-label": source.title, dir: "auto" }, source.text)) : make("p", { className: "quiet" }, say("no_source")),
      ...this.evidence(card));
  }

  evidence(card) {
    if (!card.evidence.length) return [make("p", { className: "quiet" }, say("no_evidence"))];
    return card.evidence.map(({ title, file, text }) => make("div", {},
      make("div", { className: "quiet" }, `${say("closest")}: ${title} (${file})`),
      make("p", { className: "source", dir: "auto" }, text)));
  }

  listed(block) {
    return make("details", { className: "item", open: this.opened === block.number, "data-block": block.number },
      make("summary", { dir: "auto", "data-name": `block-${block.number}`, onclick: () => this.unfold(block) }, nameOf(block), block.changed_by ? make("span", { className: "quiet" }, ` · ${say("changed_by")} ${block.changed_by}`) : null),
      make("p", { dir: "auto" }, block.text), this.blockButtons(block, "list"));
  }

  blockButtons(block, where) {
    const button = (name, label, act) => makeButton(label, act, { "data-name": `${name}-${where}-${block.number}`, "aria-label": `${label}: ${block.text.slice(0, 60)}` });
    return make("div", { className: "bar" },
      button("edit", say("edit"), () => this.edit(block.number)),
      button("add", say("add"), () => this.add(block)),
      button("delete", say("delete"), () => this.change(block, { action: "delete" })));
  }

  // The buttons of the block that was clicked, or its editor, beside it. The page only says where:
  // it can neither hide them, nor change what they act on when somebody is about to press one.
  // The buttons in the page are those of the block beside which they stand.
  unfold(block) {
    this.opened = this.opened === block.number ? null : block.number;
    if (!this.editing) this.block = block.number;
    this.drawTools();
    this.tell(block.number);
  }

  drawTools() {
    const block = this.text.blocks[this.editing?.number ?? this.block];
    const what = this.editing ? `editor ${this.editing.digest}` : block && `tools ${block.number} ${block.digest}`;
    this.overlay.hidden = !block;
    if (what === this.what) return; // the editor has what was typed
    this.what = what;
    this.overlay.replaceChildren(...(block ? [this.editing ? this.editor(block) : this.blockButtons(block, "page")] : []));
  }

  // While a person types, the page cannot take the focus.
  guard() {
    this.frame.inert = document.activeElement === this.area && Boolean(this.editing);
  }

  editor(block) {
    const cancel = () => { this.close(); this.draw(); };
    this.area = textBox(this.editing.text ?? block.markdown, "edit", {
      "data-name": "editor",
      oninput: ({ target }) => this.remember("edit", target.value === block.markdown ? null : { digest: block.digest, markdown: target.value }),
      onkeydown: (event) => { if (event.key === "Escape") { event.stopPropagation(); cancel(); } },
    });
    queueMicrotask(() => {
      this.area.focus();
      const mark = this.editing?.text ? null : /==.+?==/.exec(this.area.value);
      if (mark) this.area.setSelectionRange(mark.index, mark.index + mark[0].length);
    });
    const save = async (event) => {
      event.preventDefault();
      const { area } = this;
      form.inert = true; // once, however often it is clicked
      if (await this.change(this.editing, { action: "edit", markdown: area.value })) return;
      form.inert = false;
      area.focus();
    };
    const form = make("form", { onsubmit: save }, this.area, make("p", { className: "quiet" }, say("syntax")), make("div", { className: "bar" },
      make("button", { className: "main" }, say("save")), makeButton(say("cancel"), cancel)));
    return form;
  }

  edit(number, text = null) {
    if (this.editing && number !== this.editing.number && this.recall("edit")) {
      this.announce(say("unsaved"));
      this.area.focus();
      return;
    }
    const back = document.activeElement?.dataset?.name;
    const { digest, markdown } = this.text.blocks[number];
    this.editing = { number, digest, markdown, text, back };
    this.block = number;
    this.draw();
    this.tell(number);
  }

  add(block) {
    const kinds = make("select", { "aria-label": say("kind") }, ...(block.kind === "li" ? ["li"] : ["p", "h2", "h3", "blockquote"]).map((kind) => make("option", { value: kind }, say(`kind_${KINDS[kind]}`))));
    const area = textBox(this.recall("add") ?? "", "edit", { oninput: () => this.remember("add", area.value) });
    this.ask(say("add"), say("save"), [kinds, area, make("p", { className: "quiet" }, say("syntax"))],
      () => this.change(block, { action: "insert", markdown: area.value, kind: kinds.value }).then((done) => done && (this.remember("add", null), done)));
  }

  dialog(title, ...content) {
    const dialog = make("dialog", { "aria-label": title, onclose: () => dialog.remove() },
      make("h2", {}, title), ...content, make("div", { className: "bar" }, makeButton(say("close"), () => dialog.close())));
    document.body.append(dialog);
    dialog.showModal();
    return dialog;
  }

  // A dialog that stays, with what was typed, until `send` has done what it says.
  ask(title, label, fields, send) {
    const problem = make("p", { role: "alert" });
    const form = make("form", { onsubmit: async (event) => {
      event.preventDefault();
      form.inert = true;
      const done = await send();
      form.inert = false;
      if (done) dialog.close();
      else problem.textContent = this.said;
    } }, problem, ...fields, make("div", { className: "bar" }, make("button", { className: "main" }, label)));
    const dialog = this.dialog(title, form);
    form.querySelector("textarea, input")?.focus();
  }

  approve(more = {}, seen = this.text.seen) {
    if (this.editing && this.recall("edit")) return this.announce(say("unsaved"));
    return this.act("approve", { shown: this.shown, ...more }, seen);
  }

  approveAnyway() {
    const { seen } = this.text;
    const reason = make("input", { "aria-label": say("reason"), maxLength: 300, size: 50, required: true });
    this.ask(say("approve_anyway"), say("approve", this.text.title), [make("p", {}, say("reason")), reason],
      () => this.approve({ reason: reason.value }, seen));
  }

  askWithNote() {
    const note = textBox(this.recall("note") ?? "", "note", { maxLength: 2000, placeholder: say("note"), oninput: () => this.remember("note", note.value) });
    const sections = make("select", { "aria-label": say("section") }, make("option", { value: "" }, say("whole")),
      ...this.text.blocks.filter((block) => /^h[2-6]$/.test(block.kind)).map((block) => make("option", { value: block.text }, block.text)));
    this.ask(say("with_note"), say("send"), [note, sections], () => this.act("ask", { note: note.value, section: sections.value }));
  }

  async askForNew() {
    const { seen } = this.text;
    const { cost } = await call("cost", { ref: this.ref }).catch((error) => ({ cost: error.message }));
    this.ask(say("new_text"), say("send"), [make("p", {}, say("replace")), cost ? make("p", {}, `${say("cost")}: ${cost}`) : ""],
      () => this.act("ask", { replace: true }, seen));
  }

  // What the text rests on and is another now, with the blocks that cite it.
  changedSources() {
    const changed = this.text.sources.filter((source) => source.state !== "same");
    if (!changed.length) return null;
    const side = (source, name) => make("div", { dir: "auto", tabIndex: 0, role: "region", "aria-label": `${say(name)}: ${source.title}` },
      make("span", { className: "quiet" }, `${say(name)}: `), diff(source.words, name === "before" ? "old" : "new"));
    return make("section", {}, make("h2", {}, say("changed_sources")),
      this.text.can_update ? makeButton(say("update"), () => this.act("ask", { update: true }), { "data-name": "update", disabled: Boolean(this.text.asking) }) : null,
      ...changed.map((source) => make("div", { className: "item" },
        make("strong", { dir: "auto" }, source.title),
        ...source.blocks.map((number) => make("div", { className: "quiet", dir: "auto" }, nameOf(this.text.blocks[number]))),
        make("div", { className: "row" }, side(source, "before"), side(source, "after")))));
  }

  async compare(earlier, focus = 0) {
    let found;
    try {
      found = await call("compare", { ref: this.ref, earlier });
    } catch (error) {
      return this.announce(error.message);
    }
    const { rows, versions } = found;
    const { seen } = this.text;
    const takeBack = async (row, index) => {
      await this.act("change", { change: row.change }, seen);
      await this.compare(found.earlier, index);
    };
    document.querySelector("dialog")?.close();
    const dialog = this.dialog(`${say("compare")}: ${say(`with_${found.earlier}`)}`,
      make("div", { className: "bar" }, ...versions.map((it) => makeButton(say(`with_${it}`), () => this.compare(it), { "aria-pressed": String(it === found.earlier) }))),
      make("p", { className: "quiet" }, rows.length ? `${say("differences")}: ${rows.length}` : say("same")),
      rows.length ? make("div", { className: "row quiet", "aria-hidden": "true" }, make("span", {}, say("before")), make("span", {}, say("after"))) : null,
      this.said ? make("p", { className: "note" }, this.said) : null,
      ...rows.map((row, index) => make("div", { className: "row", role: "group", "aria-label": row.words.map(([, text]) => text).join("").slice(0, 60) },
        make("div", { dir: "auto" }, diff(row.words, "old")),
        make("div", { dir: "auto" }, diff(row.words, "new")),
        make("div", { className: "bar" }, makeButton(say("reject"), () => takeBack(row, index), { disabled: !row.change })))));
    const buttons = dialog.querySelectorAll(".row button");
    buttons[Math.min(focus, buttons.length - 1)]?.focus();
  }

  // --- The page beside it, which is not trusted ---

  // It gets its own text, and no other page gets it.
  tell(block = this.editing?.number ?? this.block ?? this.text.statements[this.selected]?.block ?? null) {
    if (!this.isReady || this.isElsewhere || !this.text.in_page) return;
    this.frame.contentWindow.postMessage({ type: "text", page: this.text.in_page, select: block }, this.origin);
  }

  heard({ origin, source, data }) {
    if (source !== this.frame.contentWindow || !this.text) return;
    if (data?.type === "ready") {
      this.isReady = true;
      this.shown = "";
      this.path = String(data.path);
      this.shownOrigin = origin;
      this.draw();
      this.tell();
    }
    if (origin !== this.origin) return;
    if (data?.type === "shown" && this.shown !== data.digest) {
      this.shown = String(data.digest);
      this.shownAt = performance.now();
      this.draw();
    }
    if (data?.type !== "place" && data?.type !== "click") return;
    const block = this.text.blocks[data.block] ?? null;
    for (const name of block ? ["top", "left", "width", "height"] : []) this.overlay.style.setProperty(`--${name}`, `${Number(data[name]) || 0}px`);
    if (data.type === "place" || this.editing || document.activeElement !== this.frame) return;
    this.block = block?.number ?? null;
    const index = this.text.statements.findIndex((card) => card.block === this.block);
    if (index >= 0) this.selected = index;
    // What a person types next is for the desk, but not what they are typing.
    this.quietUntil = performance.now() + HOLD;
    this.panel.focus({ preventScroll: true });
    this.draw();
    this.panel.querySelector(index >= 0 ? `[data-statement="${index}"]` : `[data-block="${this.block}"]`)?.scrollIntoView({ block: "nearest" });
  }

  select(index) {
    const { length } = this.text.statements;
    if (!length) return;
    this.selected = (index + length) % length;
    this.block = null;
    this.draw();
    const card = this.panel.querySelector('[aria-current="true"]');
    card.scrollIntoView({ block: "center" });
    card.querySelector("button").focus({ preventScroll: true });
    this.tell();
  }

  help() {
    this.dialog(say("keys"), make("p", {}, say("help")));
  }

  key(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) return event.repeat || event.target.form?.requestSubmit();
    if (event.target.closest("textarea, input, select") || document.querySelector("dialog") || !this.text || !this.isArmed) return;
    const now = performance.now();
    if (now < this.quietUntil) {
      this.quietUntil = Math.max(this.quietUntil, now + HOLD);
      return;
    }
    const isUndo = event.key === "z" && (event.ctrlKey || event.metaKey) && !event.shiftKey;
    if (!isUndo && (event.ctrlKey || event.metaKey || event.altKey || event.repeat)) return;
    const card = this.text.statements[this.selected];
    const approve = this.panel.querySelector('[data-name="approve"]');
    const act = isUndo ? () => this.text.can_undo && this.act("undo") : {
      j: () => this.select(this.selected + 1),
      k: () => this.select(this.selected - 1),
      e: () => this.block === null ? card && this.edit(card.block) : this.edit(this.block),
      c: () => this.settle(card, "confirm"),
      x: () => this.settle(card, "remove"),
      a: () => approve.disabled ? this.why && this.announce(this.why) : approve.focus(),
      n: () => document.querySelector('[data-name="next"]:enabled')?.click(),
      "?": () => this.help(),
      Escape: () => { this.block = null; this.draw(); },
    }[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }
}

const KINDS = { h1: "title", h2: "heading", h3: "subheading", h4: "subheading", h5: "subheading", h6: "subheading", p: "p", text: "p", li: "item", td: "cell", th: "cell", blockquote: "quotation", pre: "code" };

const unmarked = (block) => block?.markdown.replaceAll("==", "");

const sentenceOf = (card) => card.parts.map(([text]) => text).join("");

const nameOf = (block) => `${say(`kind_${KINDS[block.kind] ?? "p"}`)} · ${block.text.slice(0, 80)}`;

function diff(parts, side) {
  const line = make("span");
  for (const [kind, text] of parts) {
    if (kind === "equal") line.append(text);
    else if (kind === side) line.append(make(side === "old" ? "del" : "ins", {}, text));
  }
  return line;
}

start();
