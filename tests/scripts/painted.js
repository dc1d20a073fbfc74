// Returns a pixel of an article's own colour outside its box.
async picture => {
    const {data, width, height} = await drawn(picture);
    const box = document.querySelector('article.contentgen').getBoundingClientRect();
    for (let y = 0; y < height; y++)
        for (let x = 0; x < width; x++) {
            const at = 4 * (y * width + x);
            if (data[at] <= 250 || data[at + 1] >= 5 || data[at + 2] <= 250) continue;
            const inside = x >= box.left - 1 && x <= box.right + 1
                && y >= box.top - 1 && y <= box.bottom + 1;
            if (!inside) return [`a pixel at ${x}, ${y}`];
        }
    return [];
}
