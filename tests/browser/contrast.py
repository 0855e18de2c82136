"""WCAG 2.2 contrast of a page, computed in the page from what is really drawn."""

# 1.4.3: text 4.5, large text 3; 1.4.11: lines of the chart and edges of controls 3.
CONTRAST = """
const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
function rgba(colour) {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = colour;
  canvas.fillRect(0, 0, 1, 1);
  const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
  return [r, g, b, a / 255];
}
function ground(element) {
  for (let e = element; e; e = e.parentElement) {
    const colour = rgba(getComputedStyle(e).backgroundColor);
    if (colour[3] === 1) return colour;
  }
  return [255, 255, 255, 1];
}
function luminance([r, g, b]) {
  const [x, y, z] = [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * x + 0.7152 * y + 0.0722 * z;
}
function ratio(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}
const near = rgba(getComputedStyle(document.body).getPropertyValue('--near'));
const found = [];
const walker = document.createTreeWalker(document.getElementById('main'), NodeFilter.SHOW_TEXT);
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement;
  if (!walker.currentNode.data.trim() || !element.checkVisibility()) continue;
  if (element.closest('title, desc, .spoken, script')) continue;
  const style = getComputedStyle(element);
  const inChart = element instanceof SVGElement;
  const colour = rgba(inChart ? style.fill : style.color);
  const grounds = inChart ? [ground(element.closest('figure')), near] : [ground(element)];
  const size = parseFloat(style.fontSize);
  const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
  for (const g of grounds) {
    const what = `${element.tagName} ${walker.currentNode.data.slice(0, 30)}`;
    found.push({ what, ratio: ratio(colour, g), least: large ? 3 : 4.5 });
  }
}
for (const line of document.querySelectorAll('#chart .curve, #chart .measured, #chart .plain')) {
  const colour = rgba(getComputedStyle(line).stroke);
  for (const g of [ground(line.closest('figure')), near]) {
    found.push({ what: line.className.baseVal, ratio: ratio(colour, g), least: 3 });
  }
}
for (const control of document.querySelectorAll('button, select')) {
  if (!control.checkVisibility()) continue;
  const colour = rgba(getComputedStyle(control).borderTopColor);
  found.push({ what: 'edge', ratio: ratio(colour, ground(control.parentElement)), least: 3 });
}
return found"""
