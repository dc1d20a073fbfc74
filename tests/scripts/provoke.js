// Does to each element what a reader may do, and returns to what kinds of addresses links lead.
() => {
    const events = ['click', 'mouseover', 'mouseenter', 'focus', 'blur', 'input', 'toggle', 'load',
                    'error', 'animationstart', 'transitionend', 'wheel', 'copy', 'pointerdown'];
    for (const element of document.querySelectorAll('.contentgen, .contentgen *, body > p, img'))
        if (element.tagName !== 'A')
            for (const name of events) element.dispatchEvent(new Event(name, {bubbles: true}));
    const links = [...document.querySelectorAll('.contentgen a, body > a')];
    return [...new Set(links.map(link => link.protocol))].sort();
}
