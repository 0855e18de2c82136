"use strict";
// The curve as SVG: axes, the band, the interval, the document's curve and the one explored.

const NARROW = 480; // below this width, in pixels, there are fewer marks on the axes
const MARGIN = { top: 26, right: 14, bottom: 46, left: 46 };

function shape(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  Object.entries(attributes).forEach(([key, value]) => made.setAttribute(key, value));
  if (text !== undefined) made.textContent = text;
  return made;
}

// Round marks of an axis: about `most` of 1, 2 or 5 times a power of ten.
function marks(low, high, most) {
  const rough = (high - low) / most;
  const ten = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * ten).find((s) => s >= rough);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => (first + i) * step);
}

const isNumber = (value) => value !== null && value !== undefined && Number.isFinite(value);

const lastOf = (view) => view.curve.at(-1).gamma || 1;
const isOnAxis = (band, last) => band.low !== null && band.low <= last;

// `view`: curve and before, a list of {gamma, speedup}; best; band; spread and measured of the rows.
function drawChart(svg, view) {
  const width = Math.max(svg.parentNode.clientWidth, 280);
  const height = Math.round(Math.min(420, Math.max(260, width * 0.55)));
  const all = [...view.curve, ...view.before, ...view.measured].map((p) => p.speedup);
  const ends = view.spread.flatMap((p) => [p.low, p.high]);
  const shown = [...all, ...ends].filter(isNumber);
  const low = Math.min(1, ...shown);
  const high = Math.max(1, ...shown);
  const room = (high - low || 1) * 0.08;
  const [floor, top] = [Math.max(0, low - room), high + room];
  const last = lastOf(view);
  const x = (n) => MARGIN.left + (n / last) * (width - MARGIN.left - MARGIN.right);
  const y = (s) => height - MARGIN.bottom - ((s - floor) / (top - floor)) * (height - MARGIN.top - MARGIN.bottom);
  const path = (points) =>
    points.filter((p) => isNumber(p.speedup)).map((p, i) => `${i ? "L" : "M"}${x(p.gamma)} ${y(p.speedup)}`).join("");

  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren(
    shape("title", { id: "chart-title" }, "Speedup over the draft length"),
    shape("desc", { id: "chart-text" }, view.text),
    ...bandOn(view, x, last, height),
    ...spreadOn(view, x, y),
    ...axesOn({ width, height, floor, top, last, x, y }),
    shape("line", { class: "plain", x1: x(0), x2: x(last), y1: y(1), y2: y(1) }),
    shape("path", { class: "before", d: path(view.before) }),
    shape("path", { class: "curve", d: path(view.curve) }),
    ...pointsOn(view, x, y, last),
  );
}

function bandOn(view, x, last, height) {
  const { low, high } = view.band;
  if (!isOnAxis(view.band, last)) return [];
  const half = (x(1) - x(0)) / 2;
  const left = Math.max(x(low) - half, MARGIN.left);
  const right = Math.min(x(Math.min(high, last)) + half, x(last));
  const size = { x: left, width: right - left, y: MARGIN.top, height: height - MARGIN.top - MARGIN.bottom };
  return [shape("rect", { class: "near", ...size })];
}

function spreadOn(view, x, y) {
  const known = view.spread.filter((p) => isNumber(p.low) && isNumber(p.high));
  if (known.length < 2) return [];
  const above = known.map((p) => `${x(p.gamma)} ${y(p.high)}`);
  const below = known.map((p) => `${x(p.gamma)} ${y(p.low)}`).reverse();
  return [shape("path", { class: "spread", d: `M${[...above, ...below].join("L")}Z` })];
}

function axesOn({ width, height, floor, top, last, x, y }) {
  const foot = height - MARGIN.bottom;
  const found = marks(floor, top, 8).flatMap((s) => [
    shape("line", { class: "grid", x1: x(0), x2: x(last), y1: y(s), y2: y(s) }),
    shape("text", { x: MARGIN.left - 8, y: y(s) + 4, "text-anchor": "end" }, String(Number(s.toPrecision(6)))),
  ]);
  const every = Math.max(1, ...marks(0, last, width < NARROW ? 8 : 16).slice(1, 2));
  for (let n = 0; n <= last; n += every) {
    found.push(shape("text", { x: x(n), y: foot + 18, "text-anchor": "middle" }, String(n)));
  }
  found.push(shape("text", { x: MARGIN.left - 36, y: 14 }, "speedup"));
  found.push(shape("text", { x: x(last / 2), y: height - 6, "text-anchor": "middle" }, "γ, tokens drafted in a round"));
  return found;
}

function pointsOn(view, x, y, last) {
  const found = [];
  for (const point of view.curve.filter((p) => isNumber(p.speedup))) {
    const at = { cx: x(point.gamma), cy: y(point.speedup), "data-gamma": point.gamma, "data-value": point.speedup };
    const best = point.gamma === view.best;
    const dot = shape("circle", { class: best ? "best" : "point", r: best ? 7 : last > 32 ? 2 : 3.5, ...at });
    dot.append(shape("title", {}, `γ ${point.gamma}: ${times(point.speedup)}`));
    found.push(dot);
  }
  for (const run of view.measured) {
    const [cx, cy] = [x(run.gamma), y(run.speedup)];
    const d = `M${cx - 6} ${cy}L${cx} ${cy - 6}L${cx + 6} ${cy}L${cx} ${cy + 6}Z`;
    const mark = shape("path", { class: "measured", d });
    mark.append(shape("title", {}, `γ ${run.gamma}, measured: ${times(run.speedup)}`));
    found.push(mark);
  }
  const best = view.curve.find((p) => p.gamma === view.best);
  if (best && isNumber(best.speedup)) {
    const side = x(best.gamma) < MARGIN.left + 60 ? "start" : best.gamma > last * 0.85 ? "end" : "middle";
    const at = { class: "best-label", x: x(best.gamma), y: Math.max(y(best.speedup) - 14, 14), "text-anchor": side };
    found.push(shape("text", at, `γ ${best.gamma}: ${times(best.speedup)}`));
  }
  return found;
}

// What the marks mean, by their form and not by their colour alone.
function legendOf(view) {
  const entries = [["curve", "speedup by this curve", { tag: "path", d: "M0 7H28" }]];
  if (view.before.length) entries.push(["before", "the document", { tag: "path", d: "M0 7H28" }]);
  if (view.measured.length) entries.push(["measured", "measured", { tag: "path", d: "M8 7L14 1L20 7L14 13Z" }]);
  if (view.spread.length) entries.push(["spread", view.spreadText, { tag: "path", d: "M0 0H28V14H0Z" }]);
  if (isOnAxis(view.band, lastOf(view))) entries.push(["near", view.bandText, { tag: "path", d: "M0 0H28V14H0Z" }]);
  entries.push(["plain", "plain decoding", { tag: "path", d: "M0 7H28" }]);
  return entries.map(([name, text, { tag, d }]) => {
    const picture = shape("svg", { viewBox: "0 0 28 14", "aria-hidden": "true" });
    picture.append(shape(tag, { class: name, d }));
    const item = document.createElement("li");
    item.append(picture, text);
    return item;
  });
}
