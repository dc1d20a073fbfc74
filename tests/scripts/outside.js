// Returns what of an article takes a click outside its box.
() => {
    const box = document.querySelector('article.contentgen').getBoundingClientRect();
    const found = new Set();
    for (let y = 0; y < innerHeight; y += 25)
        for (let x = 0; x < innerWidth; x += 25) {
            const inside = x >= box.left - 1 && x <= box.right + 1
                && y >= box.top - 1 && y <= box.bottom + 1;
            const at = inside ? null : document.elementFromPoint(x, y);
            if (at?.closest('article.contentgen, article.contentgen *'))
                found.add(`${at.tagName} at ${x}, ${y}`);
        }
    return [...found].slice(0, 3);
}
