"use strict";
// The formulas of gammaplan/model, in plain JavaScript: docs/report.md says which is which.

const SEARCHED = 1024; // positions of a mixture, which is summed position by position
const ENDLESS = 2 ** 53; // a speedup still rising here rises for ever
const LARGEST = 1e300;

const clamp = (value, low, high) => Math.min(high, Math.max(low, value));
const power = (base, n) => (base === 1 ? 1 : base ** n); // 1 ** Infinity is NaN in JavaScript

// 1 + alpha + ... + alpha^(terms - 1), to full precision as alpha nears 1 (model/acceptance.py).
function geometricSum(alpha, terms) {
  if (terms === 0 || terms === 1 || alpha === 1) return terms;
  return -Math.expm1(terms * Math.log(alpha)) / (1 - alpha);
}

// Independent acceptances with one probability (model/acceptance.py, Geometric).
function geometric(alpha) {
  return {
    alpha,
    last: Infinity,
    ceiling: 1 / (1 - alpha),
    survival: (n) => power(alpha, n),
    tokens: (n) => geometricSum(alpha, n + 1),
  };
}

// Acceptance by position; past the last of them `beyond` holds (model/positions.py).
// Where `beyond` is null nothing is known there, and drafts end with the positions.
function perPosition(hazards, beyond) {
  const survival = [1];
  const tokens = [1];
  hazards.forEach((hazard, i) => {
    survival.push(survival[i] * hazard);
    tokens.push(tokens[i] + survival[i + 1]);
  });
  const size = hazards.length;
  const law = {
    last: beyond === null ? size : Infinity,
    survival(n) {
      const inside = Math.min(n, size);
      return n <= size ? survival[inside] : survival[size] * power(beyond, n - size);
    },
    tokens(n) {
      if (n <= size || survival[size] * beyond === 0) return tokens[Math.min(n, size)];
      return tokens[size] + survival[size] * beyond * geometricSum(beyond, n - size);
    },
  };
  law.ceiling = beyond === null ? null : law.tokens(Infinity);
  return law;
}

// Hazards of a mixture over rounds, (p + i - 1) / (p + q + i - 1) (model/mixture.py).
function betaHazards(p, q) {
  return Array.from({ length: SEARCHED }, (_, i) => (p + i) / (p + q + i));
}

// The law that a document states, every conditional acceptance times `factor`, at most 1.
function documentLaw(law, factor) {
  const scaled = (hazard) => Math.min(1, factor * hazard);
  if (law.model === "geometric") return geometric(scaled(law.parameters.alpha));
  if (law.model === "beta_geometric") {
    const { p, q } = law.parameters;
    const found = perPosition(betaHazards(p, q).map(scaled), null);
    if (factor === 1) found.ceiling = q > 1 ? (p + q - 1) / (q - 1) : Infinity;
    return found;
  }
  return perPosition(law.parameters.hazards.map((h) => scaled(h ?? 0)), scaled(law.beyond));
}

// 1 + overhead + slope * gamma for gamma >= 1, and 1 for gamma = 0 (model/cost.py).
function linearCost(slope, overhead) {
  const cost = (n) => (n === 0 ? 1 : 1 + overhead + (slope === 0 ? 0 : slope * n));
  return { slope, overhead, last: Infinity, cost };
}

// Measured round costs, linear between neighbours, unknown outside (model/cost_tables.py).
function tableCost(table) {
  const rows = table.filter((row) => row.gamma > 0).sort((a, b) => a.gamma - b.gamma);
  const cost = (n) => {
    if (n === 0) return 1;
    const above = rows.findIndex((row) => row.gamma >= n);
    if (above < 0 || (above === 0 && rows[0].gamma > n)) return NaN;
    const right = rows[above];
    if (right.gamma === n) return right.round_cost;
    const left = rows[above - 1];
    const rise = (right.round_cost - left.round_cost) / (right.gamma - left.gamma);
    return left.round_cost + rise * (n - left.gamma);
  };
  return { last: rows[rows.length - 1].gamma, cost };
}

// The cost that a document states, what a round costs beyond a plain pass times `factor`.
function documentCost(cost, factor) {
  if (cost.table.length) {
    const scaled = (t) => (t > 1 ? 1 + factor * (t - 1) : t);
    return tableCost(cost.table.map((r) => ({ gamma: r.gamma, round_cost: scaled(r.round_cost) })));
  }
  return linearCost(factor * (cost.c + (cost.verify_slope ?? 0)), factor * (cost.overhead ?? 0));
}

// s - log1p(s), by its series where the difference would cancel (model/optimum.py).
function excess(s) {
  if (Math.abs(s) > 0.01) return s - Math.log1p(s);
  let series = 0;
  for (let k = 11; k > 1; k -= 1) series = (k % 2 ? -1 : 1) / k + s * series;
  return s * s * series;
}

// The s >= 0 with s - log1p(s) = u: Newton from above (model/optimum.py).
function excessRoot(u) {
  let s = Math.sqrt(2 * u) + u;
  for (let i = 0; i < 3; i += 1) s = (Math.log1p(s) + u) * (1 + 1 / s) - 1;
  for (let i = 0; i < 2; i += 1) s -= (excess(s) - u) * (1 + 1 / s);
  return s;
}

// The real draft length at which the speedup stops rising (model/optimum.py, stationary_gamma).
function stationaryGamma(alpha, cost) {
  if ((alpha > 0 && cost === 0) || (alpha === 1 && cost < 1)) return Infinity;
  const rate = -Math.log(alpha);
  if (!(alpha < 1 && cost > 0 && alpha * rate > cost * (1 - alpha))) return 0;
  const u = Math.min((rate * (1 - cost)) / cost, LARGEST);
  return Math.max(Math.log1p(excessRoot(u)) / rate - 1, 0);
}

// The exact best integer for cost 1 + cost * gamma (model/optimum.py, optimal_gamma):
// next to the real root, by the sign of S(k + 1) - S(k).
function optimalGamma(alpha, cost) {
  if ((alpha > 0 && cost === 0) || (alpha === 1 && cost < 1)) return Infinity;
  if (alpha <= cost) return 0;
  const k = Math.floor(stationaryGamma(alpha, cost));
  const lost = Math.expm1((k + 1) * Math.log(alpha)); // alpha^(k + 1) - 1
  const gain = (1 + lost) * (1 - alpha) * (cost * k + 1) + cost * lost;
  return Math.max(gain > 0 ? k + 1 : k, 1);
}

// Speedup at one length, or its limit (model/decision.py).
function speedupAt(law, cost, n) {
  if (n !== Infinity) return law.tokens(n) / cost.cost(n);
  if (cost.slope === 0) return law.ceiling / (1 + cost.overhead);
  return law.survival(n) / cost.slope;
}

// The largest whole k >= start up to which `holds`, if it holds and then fails for good.
function lastWhere(holds, start) {
  let step = 1;
  while (holds(start + step)) {
    if (start + step > ENDLESS) return Infinity;
    step *= 2;
  }
  let low = start + Math.floor(step / 2);
  let high = start + step;
  let middle = Math.floor((low + high) / 2);
  while (low < middle && middle < high) {
    if (holds(middle)) low = middle;
    else high = middle;
    middle = Math.floor((low + high) / 2);
  }
  return low;
}

// The smallest whole k >= 1 from which on everything up to `end` holds, as `end` does.
function firstWhere(holds, end) {
  let low = 0;
  let high = end;
  for (let middle = Math.floor(high / 2); middle > low; middle = Math.floor((low + high) / 2)) {
    if (holds(middle)) high = middle;
    else low = middle;
  }
  return high;
}

// The best of the lengths that draft anything, under a linear cost (model/decision.py).
function peakOf(law, cost, limit) {
  if (limit === 0) return 0;
  if (law.alpha !== undefined) {
    return Math.min(Math.max(optimalGamma(law.alpha, cost.slope / (1 + cost.overhead)), 1), limit);
  }
  const rises = (k) =>
    k < limit && law.survival(k + 1) * cost.cost(k) > cost.slope * law.tokens(k);
  return Math.min(lastWhere(rises, 0) + 1, limit);
}

// The run of lengths around the best that loses at most the tolerance (model/decision.py, band).
function bandOf(law, cost, limit, peak, best, level) {
  if (level === Infinity) return { low: null, high: null, plain: false };
  const above = (n) => speedupAt(law, cost, n) >= level;
  const plain = level <= 1;
  if (peak === 0 || !above(peak)) return { low: 0, high: 0, plain };
  const start = peak === Infinity ? lastWhere((k) => !above(k), 0) + 1 : peak;
  const endless = limit === Infinity && above(Infinity);
  const high = endless ? Infinity : Math.min(lastWhere((k) => k <= limit && above(k), start), limit);
  const low = firstWhere(above, start);
  if (best === 0 && low > 1) return { low: 0, high: 0, plain };
  return { low: plain && low === 1 ? 0 : low, high, plain };
}

// The best draft length of a law and a cost, and the band around it (model/decision.py, decide).
function decide(law, cost, limit, tolerance) {
  const end = Math.min(limit ?? Infinity, law.last, cost.last);
  return cost.slope === undefined
    ? scanned(law, cost, end, tolerance)
    : linear(law, cost, end, tolerance);
}

function linear(law, cost, limit, tolerance) {
  const peak = peakOf(law, cost, limit);
  const speed = speedupAt(law, cost, peak);
  const pays = cost.overhead ? speed > 1 : limit >= 1 && law.survival(1) > cost.slope;
  const gamma = pays ? peak : 0;
  const speedup = pays ? speed : 1;
  return {
    gamma,
    speedup,
    tokens: gamma === Infinity ? law.ceiling : law.tokens(gamma),
    cost: cost.cost(gamma),
    band: bandOf(law, cost, limit, peak, gamma, (1 - tolerance) * speedup),
    ceiling: law.ceiling,
    atLimit: gamma > 0 && gamma === limit,
  };
}

function scanned(law, cost, end, tolerance) {
  const speeds = Array.from({ length: end + 1 }, (_, n) => speedupAt(law, cost, n));
  const gamma = speeds.reduce((best, s, n) => (s > speeds[best] ? n : best), 0);
  const good = (n) => speeds[n] >= (1 - tolerance) * speeds[gamma];
  let low = gamma;
  let high = gamma;
  while (low > 0 && good(low - 1)) low -= 1;
  while (high < end && good(high + 1)) high += 1;
  return {
    gamma,
    speedup: speeds[gamma],
    tokens: law.tokens(gamma),
    cost: cost.cost(gamma),
    band: { low, high, plain: good(0) },
    ceiling: law.ceiling,
    atLimit: gamma > 0 && gamma === end,
  };
}
