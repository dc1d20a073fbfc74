// Notes what the Content-Security-Policy forbids, and reads the pixels of a picture.
window.violations = [];
addEventListener('securitypolicyviolation', event =>
    violations.push(`${event.effectiveDirective}: ${event.sample || event.blockedURI}`));
window.drawn = async picture => {
    const bytes = Uint8Array.from(atob(picture), letter => letter.charCodeAt(0));
    const bitmap = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
    const drawing = canvas.getContext('2d', {willReadFrequently: true});
    drawing.drawImage(bitmap, 0, 0);
    return drawing.getImageData(0, 0, bitmap.width, bitmap.height);
};
