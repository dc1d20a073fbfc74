// Returns, by the text of its first item, how each list in an article is numbered and indented.
() => {
    const article = document.querySelector('article.contentgen');
    const left = node => {
        const range = document.createRange();
        range.selectNodeContents(node);
        return range.getBoundingClientRect().left;
    };
    const text = left([...article.querySelectorAll('p')].find(p => p.textContent === 'A paragraph.'));
    const found = {};
    for (const list of article.querySelectorAll('ol, ul')) {
        const item = list.querySelector('li'), style = getComputedStyle(item);
        found[item.firstChild.data] = {
            type: style.listStyleType,
            display: style.display,
            before: getComputedStyle(item, '::before').content,
            left: left(item.firstChild) - text,
            size: parseFloat(style.fontSize),
        };
    }
    return found;
}
