// Returns each text in the articles of a page with its contrast against the worst pixel behind it.
async picture => {
    const image = await drawn(picture);
    const pixels = image.data;
    const brush = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
    const colours = new Map();
    const parse = colour => {
        if (!colours.has(colour)) {
            brush.clearRect(0, 0, 1, 1);
            brush.fillStyle = colour;
            brush.fillRect(0, 0, 1, 1);
            colours.set(colour, [...brush.getImageData(0, 0, 1, 1).data]);
        }
        return colours.get(colour);
    };
    const linear = value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const luminance = ([red, green, blue]) =>
        0.2126 * linear(red / 255) + 0.7152 * linear(green / 255) + 0.0722 * linear(blue / 255);
    const contrast = (one, other) => {
        const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b);
        return (light + 0.05) / (dark + 0.05);
    };
    const found = [];
    for (const article of document.querySelectorAll('article.contentgen')) {
        const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const node = walker.currentNode, element = node.parentElement;
            // The theme's own: its permalinks, which show while one points at a heading.
            if (!node.data.trim() || element.closest('.headerlink')) continue;
            let opacity = 1;
            for (let at = element; at; at = at.parentElement)
                opacity *= getComputedStyle(at).opacity;
            const [red, green, blue, alpha] = parse(getComputedStyle(element).color);
            const share = opacity * alpha / 255;
            const range = document.createRange();
            range.selectNodeContents(node);
            let worst = null;
            const seen = new Set();
            for (const box of range.getClientRects()) {
                const inset = Math.min(3, box.width / 2 - 0.5);
                // Where the letters are, without the room for accents that lines may share.
                for (const part of [0.3, 0.5, 0.7]) {
                    const y = Math.round(box.top + scrollY + part * box.height);
                    // And not where the frame of a neighbour ends.
                    for (let x = Math.ceil(box.left + inset); x < box.right - inset; x += 2) {
                        const at = 4 * (y * image.width + x);
                        if (x < 0 || x >= image.width || y < 0 || y >= image.height) continue;
                        const behind = [pixels[at], pixels[at + 1], pixels[at + 2]];
                        const colour = behind[0] << 16 | behind[1] << 8 | behind[2];
                        if (seen.has(colour)) continue;
                        seen.add(colour);
                        const shown = [red, green, blue].map(
                            (value, i) => share * value + (1 - share) * behind[i]);
                        const ratio = contrast(shown, behind);
                        if (!worst || ratio < worst.ratio)
                            worst = {ratio, behind, colour: shown.map(Math.round)};
                    }
                }
            }
            if (worst)
                found.push(
                    {text: node.data.trim(), within: element.outerHTML.slice(0, 80), ...worst});
        }
    }
    return found;
}
