// What the browser keeps for the desk, in all tabs or in one. Where its storage is full or blocked,
// the page itself keeps it, as long as it is open.

function keeper(storage) {
  const inPage = new Map();
  const inBrowser = () => {
    try {
      return window[storage];
    } catch { // it is blocked
      return null;
    }
  };
  return {
    get: (place) => inPage.get(place) ?? inBrowser()?.getItem(place) ?? null,
    set: (place, value) => {
      try {
        window[storage].setItem(place, value);
        inPage.delete(place);
      } catch {
        inPage.set(place, value);
      }
    },
    remove: (place) => {
      inPage.delete(place);
      inBrowser()?.removeItem(place);
    },
    entries: () => Object.entries({ ...inBrowser(), ...Object.fromEntries(inPage) }),
    isInPage: (place) => inPage.has(place),
  };
}

export const kept = keeper("localStorage");
export const keptForTab = keeper("sessionStorage");
