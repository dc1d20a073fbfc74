// Draws a description of elements over the nodes that are there. A node that stays keeps its focus,
// its selection, what was typed into it, and where it is scrolled to.

export function h(tag, properties, ...children) {
  const { key = null, ...rest } = properties ?? {};
  return { tag, key, properties: rest, children };
}

export function draw(parent, children) {
  const nothing = [null, undefined, false, ""];
  const wanted = children.flat(Infinity).filter((child) => !nothing.includes(child));
  const free = [...parent.childNodes];
  const nodes = wanted.map((child) => {
    const index = free.findIndex((node) => fits(node, child));
    return index < 0 ? create(child) : free.splice(index, 1)[0];
  });
  for (const node of free) node.remove();
  nodes.forEach((node, index) => {
    // A node that is moved would lose its focus, and a frame would load again.
    const there = parent.childNodes[index] ?? null;
    if (there !== node) parent.insertBefore(node, there);
    update(node, wanted[index]);
  });
}

// Draws a whole screen. Where what had the focus is gone, the heading has it, which says where one
// is. What is typed in a page of the site stays without it.
export function drawScreen(children) {
  const before = document.activeElement;
  draw(document.body, children);
  const isGone = !before.isConnected && before.tagName !== "IFRAME";
  if (isGone) document.querySelector("h1")?.focus({ preventScroll: true });
}

function fits(node, child) {
  if (child instanceof Node) return node === child;
  if (typeof child !== "object") return node.nodeType === Node.TEXT_NODE;
  return node.drawn?.tag === child.tag && node.drawn.key === child.key;
}

function create(child) {
  if (child instanceof Node) return child;
  if (typeof child !== "object") return document.createTextNode(child);
  const element = document.createElement(child.tag);
  element.drawn = { tag: child.tag, key: child.key, properties: {} };
  return element;
}

function update(node, child) {
  if (child instanceof Node) return;
  if (typeof child !== "object") {
    if (node.data !== String(child)) node.data = child;
    return;
  }
  const before = node.drawn.properties;
  node.drawn.properties = child.properties;
  draw(node, child.children); // first, since a <select> has its value among its children
  for (const name of Object.keys({ ...before, ...child.properties })) {
    if (before[name] !== child.properties[name]) set(node, name, child.properties[name]);
  }
}

function set(node, name, value) {
  if (name.startsWith("on")) {
    node[name] = value ?? null;
  } else if (name === "value") {
    node.value = value ?? "";
  } else if (value === undefined || value === null || value === false) {
    node.removeAttribute(name);
  } else {
    node.setAttribute(name, value === true ? "" : value);
  }
}
