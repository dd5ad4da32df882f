// Text with less than 4.5 to 1 between it and its ground, or 3 to 1 where it is large, with the ratio.
() => {
  const parsed = (colour) => {
    const parts = colour.match(/[\d.]+/g).map(Number);
    return parts.length > 3 ? parts : [...parts, 1];
  };
  const over = (above, below) => [0, 1, 2].map((i) => above[i] * above[3] + below[i] * (1 - above[3])).concat(1);
  const luminance = (colour) => {
    const [r, g, b] = colour.map((c) => (c / 255 <= 0.03928 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      const colour = parsed(getComputedStyle(e).backgroundColor);
      if (colour[3] > 0) layers.push(colour);
      if (colour[3] === 1) break;
    }
    return layers.reverse().reduce((below, above) => over(above, below), [255, 255, 255, 1]);
  };
  const found = {};
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode, element = text.parentElement, box = element.getBoundingClientRect();
    const style = getComputedStyle(element);
    if (!text.data.trim() || !box.width || !box.height || style.visibility === "hidden") continue;
    if (element.closest("svg, .headerlink, .md-clipboard")) continue;
    let opacity = 1;
    for (let e = element; e; e = e.parentElement) opacity *= +getComputedStyle(e).opacity;
    if (opacity === 0) continue;
    const below = ground(element), colour = parsed(style.color);
    colour[3] *= opacity;
    const [a, b] = [luminance(over(colour, below)), luminance(below)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize), isLarge = size >= 24 || (size >= 18.66 && +style.fontWeight >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) found[`${element.tagName}.${element.className} ${ratio.toFixed(2)}`] = text.data;
  }
  return found;
}
