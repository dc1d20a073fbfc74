// Returns the texts whose elements end so, each with a property as it is computed.
([ending, property]) => [...document.querySelectorAll('article.contentgen *, .contentgen-title')]
    .filter(element => !element.querySelector(':not(a)') && element.tagName !== 'A')
    .map(element => [element.textContent.match(/[\w :-]*/)[0].trim(), element])
    .filter(([text, element]) => text.endsWith(ending))
    .map(([text, element]) => [text, getComputedStyle(element)[property]])
