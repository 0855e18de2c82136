"use strict";
// Numbers as people read them, tables, settings and findings; all text is set as text.

const byId = (id) => document.getElementById(id);

// Numbers as people read them: gammaplan/report/words.py.
function times(value) {
  if (value === null || value === Infinity) return "∞";
  if (value >= 1e6) return `${value.toPrecision(3)}×`;
  return `${value.toFixed(Math.abs(value - 1) < 0.0995 ? 3 : 2)}×`;
}
const plain = (value, digits = 4) => (Number.isFinite(value) ? String(Number(value.toPrecision(digits))) : "∞");
const whole = (value) => (value === Infinity ? "∞" : value.toLocaleString("en"));

function lengths(band) {
  if (band.low === null) return "every length";
  if (band.high === Infinity) return `${whole(band.low)} and longer`;
  return band.low === band.high ? whole(band.low) : `${whole(band.low)} to ${whole(band.high)}`;
}

// Text in which a sign stays with its number.
const flowing = (text) => text.replaceAll(" %", "\u00a0%").replaceAll("γ ", "γ\u00a0");

function element(name, text, kind) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (kind) made.className = kind;
  return made;
}

function table(columns, rows) {
  const made = element("table");
  const head = made.createTHead().insertRow();
  for (const { name, number } of columns) {
    const cell = element("th", name, number ? "number" : "");
    cell.scope = "col";
    head.append(cell);
  }
  const body = made.createTBody();
  for (const row of rows) {
    const line = body.insertRow();
    row.forEach((text, i) => {
      const kind = text.startsWith("--") ? "option" : "text";
      line.append(element("td", text, columns[i].number ? "number" : kind));
    });
  }
  return made;
}

function titledTable({ title, columns, rows, note }, i) {
  const section = element("section");
  const heading = element("h2", title);
  const box = element("div", undefined, "wide");
  heading.id = `table-${title.toLowerCase().replaceAll(" ", "-")}-${i}`;
  box.tabIndex = 0;
  box.setAttribute("role", "region");
  box.setAttribute("aria-labelledby", heading.id);
  box.append(table(columns, rows));
  section.setAttribute("aria-labelledby", heading.id);
  section.append(heading, box);
  if (note) section.append(element("p", note, "muted"));
  return section;
}

const some = (name) => part.rows.some((row) => isNumber(row[name]));
const shown = (value, write) => (isNumber(value) ? write(value) : "–");

function drawLengths() {
  const columns = [
    ["γ", (row) => String(row.gamma)],
    ["speedup", (row) => shown(row.speedup, times)],
    ["with the sliders", () => ""],
    ["", (row) => notes(row).join(", ")],
  ];
  if (some("low")) {
    columns.push([`${plain(100 * part.level)} % interval`, (row) => (row.gamma ? shown(row.low, (v) => `${v.toFixed(2)} to ${row.high.toFixed(2)}`) : "")]);
  }
  if (some("measured")) columns.push(["measured", (row) => (isNumber(row.measured) ? times(row.measured) : "")]);
  if (some("tps")) columns.push(["tokens/s", (row) => shown(row.tps, (v) => v.toFixed(1))]);
  if (some("ms_per_token")) columns.push(["ms per token", (row) => shown(row.ms_per_token, (v) => v.toFixed(2))]);
  columns.push(["tokens per round", (row) => shown(row.expected_tokens, (v) => v.toFixed(3))]);
  columns.push(["round cost", (row) => shown(row.round_cost, (v) => v.toFixed(2))]);
  const heads = columns.map(([name]) => ({ name, number: name !== "" }));
  const made = table(heads, part.rows.map((row) => columns.map(([, write]) => write(row))));
  made.tHead.rows[0].cells[3].replaceChildren(element("span", "note", "spoken"));
  [...made.tBodies[0].rows].forEach((line, i) => {
    const row = part.rows[i];
    const head = element("th", String(row.gamma), "number");
    head.scope = "row";
    line.replaceChild(head, line.cells[0]);
    line.cells[1].dataset.value = row.speedup;
    line.cells[2].dataset.explored = row.gamma;
    line.className = `${row.best ? "best-row " : ""}${row.best || row.in_band ? "near-row" : ""}`;
  });
  byId("lengths").replaceChildren(...made.children);
}

function notes(row) {
  const found = [];
  if (row.best) found.push("best");
  else if (row.in_band) found.push(`within ${plain(100 * part.tolerance)} %`);
  if (row.gamma === part.in_use) found.push("in use");
  return found;
}

function drawSettings() {
  byId("settings-section").hidden = !part.settings.length;
  byId("settings").replaceChildren(
    ...part.settings.map(({ engine, purpose, text }) => {
      const box = element("div", undefined, "setting");
      const head = element("header");
      const code = element("pre", text);
      const button = element("button", "Copy");
      const note = element("span", "", "spoken");
      button.type = "button";
      button.setAttribute("aria-label", `Copy the settings of ${engine}`);
      note.setAttribute("role", "status");
      button.addEventListener("click", () => copy(code, button, note));
      head.append(element("h3", engine), button);
      box.append(head);
      if (purpose) box.append(element("p", purpose, "muted"));
      box.append(code, note);
      return box;
    }),
  );
}

// Copy; where the browser refuses, select the text, so that a key copies it.
async function copy(code, button, note) {
  let done = "Copied";
  try {
    await navigator.clipboard.writeText(code.textContent);
  } catch {
    const range = document.createRange();
    range.selectNodeContents(code);
    getSelection().removeAllRanges();
    getSelection().addRange(range);
    done = "Selected: press Ctrl+C or ⌘C";
  }
  button.textContent = done;
  note.textContent = done;
  setTimeout(() => {
    button.textContent = "Copy";
    note.textContent = "";
  }, 4000);
}

function drawFindings() {
  const grave = facts.findings.filter(({ level }) => level !== "note").length;
  byId("findings-section").hidden = !facts.findings.length;
  byId("warned").hidden = !grave;
  byId("warnings").textContent = `${grave} ${grave === 1 ? "warning" : "warnings"} about the input`;
  byId("findings").replaceChildren(
    ...facts.findings.map(({ level, message, from }) => {
      const item = element("li", undefined, level);
      item.append(element("b", `${level}: `), message);
      if (from) item.append(element("span", ` (${from})`, "muted"));
      return item;
    }),
  );
}

