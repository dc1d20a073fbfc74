// Returns the texts of an article that go beyond its box, where they cannot be scrolled to.
() => {
    const found = [];
    for (const article of document.querySelectorAll('article.contentgen, .contentgen-title')) {
        const box = article.getBoundingClientRect();
        const walker = document.createTreeWalker(article, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
            const node = walker.currentNode;
            if (!node.data.trim() || node.parentElement.closest('pre, .contentgen-scroll, .headerlink'))
                continue;
            const range = document.createRange();
            range.selectNodeContents(node);
            if (range.getBoundingClientRect().right > box.right + 1) found.push(node.data.slice(0, 40));
        }
    }
    return found;
}
