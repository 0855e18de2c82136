"use strict";
// The page: what the document says, set as text alone, and the curve that the sliders redraw.

const facts = JSON.parse(document.getElementById("facts").textContent);
const REACHES = [12, 16, 24, 32, 48, 64]; // longest draft on the axis: the first that shows the peak
const QUIET = 600; // milliseconds without a change, after which a screen reader is told the answer
const WIDER = 2; // a cost slider reaches at least this many times the document's value

let part; // the answer that is shown
let state; // which curve, and the values that it is drawn for
let told; // timer of the spoken answer

// The sliders of each curve: what they are called, what they reach, how their value is said.
const inPasses = (value) => `${plain(value)} target passes`;
const SLIDERS = {
  document: {
    acceptance_factor: { label: "Acceptance ×", low: 0.5, high: 1.25, step: 0.01, said: (v) => `${plain(v)} times the document's` },
    cost_factor: { label: "Cost of drafting ×", low: 0, high: 3, step: 0.01, said: (v) => `${plain(v)} times the document's` },
  },
  model: {
    alpha: { label: "α", low: 0, high: 1, step: 0.001, said: (v) => plain(v) },
    c: { label: "c", low: 0, high: 1, step: 0.001, said: inPasses, grows: true },
    overhead: { label: "overhead", low: 0, high: 1, step: 0.005, said: inPasses, grows: true },
    verify_slope: { label: "verify slope", low: 0, high: 0.5, step: 0.001, said: inPasses, grows: true },
  },
};

const isSimple = () => part.law.model === "geometric" && !part.cost.table.length;

// The values with which a page opens: the document's, and the line that is nearest to them.
function atRest() {
  const { law, cost } = part;
  const rest = { acceptance_factor: 1, cost_factor: 1, alpha: law.alpha, overhead: 0, verify_slope: 0 };
  if (!cost.table.length) {
    return { ...rest, c: cost.c, overhead: cost.overhead ?? 0, verify_slope: cost.verify_slope ?? 0 };
  }
  const table = tableCost(cost.table);
  const at = part.best && part.best <= table.last ? part.best : table.last;
  return { ...rest, c: Math.max(0, (table.cost(at) - 1) / at) };
}

// The law and the cost of the curve that is chosen, for the values of its sliders.
function chosen() {
  const { mode, values } = state;
  if (mode === "document") {
    return [documentLaw(part.law, values.acceptance_factor), documentCost(part.cost, values.cost_factor)];
  }
  return [geometric(values.alpha), linearCost(values.c + values.verify_slope, values.overhead)];
}

const points = (law, cost, reach) =>
  Array.from({ length: reach + 1 }, (_, n) => ({ gamma: n, speedup: speedupAt(law, cost, n) }));

// The last length on the axis: shows the rows and the peak, within what is known; where the
// peak is endless, the band's begin.
function reachOf({ gamma, band }, least, ends) {
  const wanted = Math.max(least, 1.25 * (gamma === Infinity ? band.low : gamma));
  return Math.min(REACHES.find((n) => n >= wanted) ?? REACHES.at(-1), ...ends);
}

function redraw() {
  const [law, cost] = chosen();
  const answer = decide(law, cost, part.max_gamma, part.tolerance);
  const reach = reachOf(answer, part.rows.at(-1).gamma, [law.last, cost.last]);
  const moved = Object.keys(SLIDERS[state.mode]).some((name) => state.values[name] !== state.rest[name]);
  const own = state.mode === "model" && !isSimple();
  const text = sentence(answer, moved || own);
  const view = {
    curve: points(law, cost, reach),
    before: moved || own ? part.rows.filter((row) => row.gamma <= reach) : [],
    best: answer.gamma,
    band: answer.band,
    bandText: `within ${plain(100 * part.tolerance)} % of the best`,
    spread: part.rows.filter((row) => row.gamma <= reach && isNumber(row.low)),
    spreadText: `${plain(100 * part.level)} % interval of the document`,
    measured: part.rows.filter((row) => row.gamma <= reach && isNumber(row.measured)).map((row) => ({ gamma: row.gamma, speedup: row.measured })),
    text,
  };
  drawChart(byId("chart"), view);
  byId("legend").replaceChildren(...legendOf(view));
  byId("caption").textContent = text;
  drawFigures(answer);
  for (const cell of byId("lengths").querySelectorAll("[data-explored]")) {
    const value = speedupAt(law, cost, Number(cell.dataset.explored));
    cell.textContent = Number.isFinite(value) ? times(value) : "–";
    cell.dataset.value = value;
  }
  byId("reset").disabled = !moved;
}

function sentence(answer, changed) {
  const names = Object.keys(SLIDERS[state.mode]);
  const given = names
    .filter((name) => !["overhead", "verify_slope"].includes(name) || state.values[name])
    .map((name) => `${SLIDERS[state.mode][name].label} ${plain(state.values[name])}`);
  const head = changed || isSimple() ? `With ${given.join(", ").toLowerCase()}: ` : "As in the document: ";
  if (answer.gamma === Infinity) return `${head}longer drafts are always faster, ${answer.speedup === Infinity ? "without limit" : `towards ${times(answer.speedup)}`}.`;
  if (answer.gamma === 0) return `${head}γ 0 is best: do not speculate.`;
  const end = answer.atLimit ? " It is the longest draft that is known here." : "";
  return `${head}γ ${whole(answer.gamma)} is best, ${times(answer.speedup)}; within ${plain(100 * part.tolerance)} % of it: γ ${lengths(answer.band)}.${end}`;
}

function drawFigures(answer) {
  const { band } = answer;
  const rows = [
    ["gamma", "Best γ", whole(answer.gamma), answer.gamma],
    ["speedup", "Speedup", times(answer.speedup), answer.speedup],
    ["band", `γ within ${plain(100 * part.tolerance)} %`, lengths(band), `${band.low}..${band.high}`],
    ["tokens", "Tokens per round", plain(answer.tokens), answer.tokens],
    ["cost", "Round cost, passes", plain(answer.cost), answer.cost],
  ];
  if (answer.ceiling !== null) rows.push(["ceiling", "Ceiling", times(answer.ceiling), answer.ceiling]);
  byId("figures").replaceChildren(
    ...rows.flatMap(([name, label, text, value]) => {
      const figure = element("dd", text);
      figure.id = `figure-${name}`;
      figure.dataset.value = value;
      return [element("dt", label), figure];
    }),
  );
}

// A slider, its name and its value; at rest it stands for the exact value of the document.
function slider(name, spec) {
  const value = state.values[name];
  const box = element("div", undefined, "slider");
  const label = element("label", spec.label);
  const output = element("output");
  const input = element("input");
  const high = spec.grows ? Math.max(spec.high, WIDER * state.rest[name]) : spec.high;
  Object.assign(input, { type: "range", id: name, min: spec.low, max: high, step: spec.step, value });
  label.htmlFor = name;
  output.htmlFor = name;
  output.id = `${name}-value`;
  output.setAttribute("aria-live", "off");
  const show = () => {
    output.textContent = plain(state.values[name]);
    output.dataset.value = state.values[name];
    input.setAttribute("aria-valuetext", spec.said(state.values[name]));
  };
  input.addEventListener("input", () => {
    state.values[name] = Number(input.value);
    show();
    changed();
  });
  show();
  box.append(label, output, input);
  return box;
}

function drawSliders() {
  const specs = Object.entries(SLIDERS[state.mode]);
  byId("sliders").replaceChildren(...specs.map(([name, spec]) => slider(name, spec)));
}

// Draw again, and tell a screen reader once the sliders have come to rest.
function changed() {
  redraw();
  clearTimeout(told);
  told = setTimeout(() => {
    byId("status").textContent = byId("caption").textContent;
  }, QUIET);
}

// The rows of the document; where it has none, those of its own curve.
function rowsOf(answered) {
  if (answered.rows.length) return answered.rows.sort((a, b) => a.gamma - b.gamma);
  const [law, cost] = [documentLaw(answered.law, 1), documentCost(answered.cost, 1)];
  const answer = decide(law, cost, answered.max_gamma, answered.tolerance);
  const { gamma, band } = answer;
  return points(law, cost, reachOf(answer, 0, [law.last, cost.last])).map(({ gamma: n, speedup }) => ({
    gamma: n,
    speedup,
    expected_tokens: law.tokens(n),
    round_cost: cost.cost(n),
    best: n === gamma,
    in_band: band.low !== null && n >= band.low && n <= band.high,
  }));
}

function drawPart(i) {
  part = { ...facts.parts[i] };
  part.rows = rowsOf(part);
  state = { mode: isSimple() ? "model" : "document", rest: atRest() };
  state.values = { ...state.rest };
  byId("headline").textContent = flowing(part.headline);
  document.title = `${part.headline} – gammaplan`;
  byId("lines").replaceChildren(...part.lines.map((line) => element("p", flowing(line))));
  byId("switch").hidden = isSimple();
  byId(`mode-${state.mode}`).checked = true;
  byId("tables").replaceChildren(...part.tables.map(titledTable));
  byId("grounds").replaceChildren(...part.grounds.map((one, k) => titledTable(one, k + part.tables.length)));
  byId("evidence").replaceChildren(
    ...part.evidence.flatMap(([name, text]) => [element("dt", name), element("dd", text)]),
  );
  drawLengths();
  drawSettings();
  drawSliders();
  redraw();
}

byId("origin").textContent = facts.origin;
byId("made").textContent = facts.made;
byId("main").hidden = false;
byId("choice").hidden = facts.parts.length < 2;
byId("part").append(
  ...facts.parts.map((one, i) => Object.assign(element("option", one.label), { value: i })),
);
byId("part").addEventListener("change", (event) => drawPart(Number(event.target.value)));
byId("switch").addEventListener("change", (event) => {
  state.mode = event.target.value;
  drawSliders();
  changed();
});
byId("controls").addEventListener("submit", (event) => event.preventDefault());
byId("reset").addEventListener("click", () => {
  state.values = { ...state.rest };
  drawSliders();
  changed();
  byId("sliders").querySelector("input").focus();
});
drawFindings();
drawPart(0);

let width = 0;
new ResizeObserver(([{ contentRect }]) => {
  if (contentRect.width === width) return;
  width = contentRect.width;
  requestAnimationFrame(redraw);
}).observe(byId("chart").parentNode);
