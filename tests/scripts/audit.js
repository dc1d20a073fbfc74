// Returns what axe-core finds on a page, and whether that is inside an article.
async () => {
    const {violations} = await axe.run(document, {resultTypes: ['violations']});
    return violations.flatMap(({id, nodes}) => nodes.map(({target, html}) => ({
        rule: id,
        html: html.slice(0, 200),
        inside: !!document.querySelector(target[0])?.closest('article.contentgen'),
    })));
}
