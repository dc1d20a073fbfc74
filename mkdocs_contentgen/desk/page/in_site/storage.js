// In a page of the site beside the desk: browsers that block cookies of other sites refuse storage
// to its frame, and themes that ask for it fail. Such a page gets a storage for as long as it is
// shown.

function temporaryStorage() {
  const kept = new Map();
  return {
    get length() { return kept.size; },
    key: (index) => [...kept.keys()][index] ?? null,
    getItem: (name) => kept.get(String(name)) ?? null,
    setItem: (name, value) => { kept.set(String(name), String(value)); },
    removeItem: (name) => { kept.delete(String(name)); },
    clear: () => kept.clear(),
  };
}

for (const name of ["localStorage", "sessionStorage"]) {
  try {
    window[name].getItem("");
  } catch {
    Object.defineProperty(window, name, { value: temporaryStorage() });
  }
}
