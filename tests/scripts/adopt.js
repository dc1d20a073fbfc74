// Gives a page one style sheet, in a way that the Content-Security-Policy allows.
rule => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(rule);
    document.adoptedStyleSheets = [sheet];
}
