
"use strict";
// What the hub tells becomes pictures here. Names come from nodes: they are
// only ever set as text.
const $ = id => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
const make = (tag, text, kind) => {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (kind) e.className = kind;
  return e;
};
const draw = (tag, set, parent) => {
  const e = document.createElementNS(SVG, tag);
  for (const key in set) e.setAttribute(key, set[key]);
  if (parent) parent.append(e);
  return e;
};
const known = x => typeof x === "number" && isFinite(x);
const figure = (x, digits = 3) => !known(x) ? "–" : x === 0 ? "0"
  : Math.abs(x) >= 1e6 ? (x / 1e6).toPrecision(3) + " M"
  : Math.abs(x) >= 1e4 ? (x / 1e3).toPrecision(3) + " k"
  : Math.abs(x) >= 1000 ? x.toFixed(0) : String(+x.toPrecision(digits));
const size = x => !known(x) ? "–" : x < 1e3 ? x.toFixed(0) + " B"
  : x < 1e6 ? (x / 1e3).toPrecision(3) + " kB" : x < 1e9
  ? (x / 1e6).toPrecision(3) + " MB" : x < 1e12 ? (x / 1e9).toPrecision(3) + " GB"
  : (x / 1e12).toPrecision(3) + " TB";
const span = s => !known(s) ? "–" : s < 60 ? s.toFixed(s < 10 ? 1 : 0) + " s"
  : s < 3600 ? Math.floor(s / 60) + " min " + Math.floor(s % 60) + " s"
  : s < 172800 ? Math.floor(s / 3600) + " h " + Math.floor(s % 3600 / 60) + " min"
  : (s / 86400).toFixed(1) + " d";
// With the date, as runs take weeks.
const stamp = wall => {
  const d = new Date(wall * 1000), two = n => String(n).padStart(2, "0");
  return `${two(d.getMonth() + 1)}-${two(d.getDate())} ${d.toTimeString().slice(0, 8)}`;
};
const style = getComputedStyle(document.documentElement);
let colours = {};
const colour = name => colours[name] ||= style.getPropertyValue("--" + name).trim();
const hue = i => colour("c" + i % 8);

let now = null;            // the newest status
let course = null;         // the points of all curves
let axis = "seconds";
const rates = new Map();   // by name: bytes per second
const hidden = new Set();  // curves that are switched off
let sort = null;
let recording = null;      // what is shown instead of a hub

// ---- curves ----

// Canvas with pan, zoom and a crosshair; all charts over one axis move as one.
const groups = {};
class Chart {
  constructor(id, group, options) {
    this.canvas = $(id);
    this.legend = $(id + "-legend");
    this.options = options;
    this.view = groups[group] ||= { charts: [], from: 0, to: 1, all: true };
    this.view.charts.push(this);
    this.curves = [];
    const c = this.canvas, view = this.view, box = make("div", undefined, "plot");
    c.replaceWith(box);
    box.append(c, this.above = make("canvas"), this.mark = make("i"));
    this.mark.hidden = true;
    new ResizeObserver(() => this.redraw()).observe(c);
    c.addEventListener("pointerdown", e => { this.drag = e.clientX; c.setPointerCapture(e.pointerId); });
    c.addEventListener("pointerup", () => { this.drag = null; });
    c.addEventListener("pointerleave", () => { this.at = null; this.point(); });
    c.addEventListener("pointermove", e => {
      if (this.drag != null) { this.pan((this.drag - e.clientX) / c.clientWidth); this.drag = e.clientX; }
      this.at = e.offsetX; this.point();
    });
    c.addEventListener("wheel", e => {
      if (!e.ctrlKey && !e.shiftKey && Math.abs(e.deltaY) > Math.abs(e.deltaX)) return;
      e.preventDefault();
      if (e.ctrlKey) this.zoom(Math.exp(e.deltaY / 300), e.offsetX / c.clientWidth);
      else this.pan((e.deltaX || e.deltaY) / c.clientWidth);
    }, { passive: false });
    c.addEventListener("dblclick", () => { view.all = true; this.redrawAll(); });
    c.addEventListener("keydown", e => {
      const act = { ArrowLeft: () => this.pan(-.1), ArrowRight: () => this.pan(.1),
        "+": () => this.zoom(.7), "=": () => this.zoom(.7), "-": () => this.zoom(1.4),
        "0": () => { view.all = true; }, Home: () => { view.all = true; } }[e.key];
      if (!act || e.ctrlKey || e.metaKey) return;
      e.preventDefault(); act(); this.redrawAll();
    });
  }
  pan(part) {
    const v = this.view, move = (v.to - v.from) * part;
    v.all = false; v.from += move; v.to += move; this.redrawAll();
  }
  zoom(by, at = .5) {
    const v = this.view, middle = v.from + (v.to - v.from) * at;
    v.all = false;
    v.from = middle + (v.from - middle) * by; v.to = middle + (v.to - middle) * by;
    this.redrawAll();
  }
  redrawAll() { for (const chart of this.view.charts) chart.redraw(); }
  redraw() { this.stale = true; this.point(); }
  // What lies above the curves is on its own: they are drawn only where they changed.
  point() {
    if (this.due) return;
    this.due = true;
    requestAnimationFrame(() => { this.due = false; this.paint(); });
  }
  show(curves) {
    this.curves = curves;
    const names = curves.map(c => c.name).join("\n");
    if (names !== this.names) { this.names = names; this.list(); }
    this.redraw();
  }
  list() {
    this.legend.replaceChildren(...this.curves.filter(c => c.name).map(c => {
      const b = make("button"), dot = make("i");
      dot.style.background = c.colour;
      b.append(dot, c.name);
      b.setAttribute("aria-pressed", !hidden.has(c.name));
      b.addEventListener("click", () => {
        hidden.has(c.name) ? hidden.delete(c.name) : hidden.add(c.name);
        for (const chart of charts) { chart.list(); chart.redraw(); }
      });
      return b;
    }));
  }
  bounds() {
    let from = Infinity, to = -Infinity;
    for (const c of this.curves) {
      const n = c.x.length;
      if (n && c.x[0] < from) from = c.x[0];
      if (n && c.x[n - 1] > to) to = c.x[n - 1];
    }
    return from < to ? [from, to] : [0, Math.max(1, to)];
  }
  paint() {
    if (this.stale) {
      if (!this.canvas.clientWidth) return;
      this.stale = false; this.over = this.paintCurves(this.canvas.getContext("2d"));
    }
    const o = this.over, x = o && recording && o.inTime ? o.px(now.elapsed) : NaN;
    const marked = x >= 48 && x <= o.right, crossed = !!o && this.at > 48 && this.drag == null;
    this.mark.hidden = !marked;
    if (marked) this.mark.style.transform = `translateX(${x - 1}px)`;
    if (!crossed && !this.crossed) return;
    this.crossed = crossed;
    const c = this.above, g = c.getContext("2d");
    if (c.width !== this.canvas.width || c.height !== this.canvas.height) { c.width = this.canvas.width; c.height = this.canvas.height; }
    g.setTransform(1, 0, 0, 1, 0, 0); g.clearRect(0, 0, c.width, c.height);
    if (!crossed) return;
    g.setTransform(o.dpr, 0, 0, o.dpr, 0, 0); g.font = "11px system-ui,sans-serif";
    this.cross(g, o.seen, o.v, o.px, o.py, o.left, o.right, o.top, o.low, o.inTime);
  }
  // Of a thousand points in a pixel none is drawn twice: the places that are seen.
  paintCurves(g) {
    const c = this.canvas, w = c.clientWidth, h = c.clientHeight, dpr = devicePixelRatio || 1;
    if (c.width !== Math.round(w * dpr) || c.height !== Math.round(h * dpr)) {
      c.width = Math.round(w * dpr); c.height = Math.round(h * dpr);
    }
    const v = this.view, left = 48, right = w - 8, top = 8, low = h - 22;
    g.setTransform(dpr, 0, 0, dpr, 0, 0);
    g.clearRect(0, 0, w, h);
    g.font = "11px system-ui,sans-serif";
    const all = this.bounds();
    if (v.all) [v.from, v.to] = all;
    const seen = this.curves.filter(k => !hidden.has(k.name));
    let least = Infinity, most = -Infinity;
    for (const k of seen) {
      const from = place(k.x, v.from), to = Math.min(k.x.length, place(k.x, v.to) + 1);
      for (let i = Math.max(0, from - 1); i < to; i++) {
        const y = k.y[i];
        if (y === null || y !== y) continue;
        if (y < least) least = y;
        if (y > most) most = y;
      }
    }
    if (this.options.zero) least = Math.min(0, least);
    const marks = (this.options.marks || (() => []))().filter(m => known(m.y));
    for (const m of marks) if (this.options.reach && m.y < most * 4) most = Math.max(most, m.y);
    if (!(least <= most)) {
      g.fillStyle = colour("quiet"); g.textAlign = "center";
      g.fillText("nothing yet", w / 2, h / 2);
      return;
    }
    if (this.options.goal) { const y = this.options.goal(); if (known(y)) { least = Math.min(least, y); most = Math.max(most, y); } }
    const gap = (most - least) * .06 || Math.abs(most) * .1 || 1;
    if (!(this.options.zero && least === 0)) least -= gap;
    most += gap;
    const px = x => left + (x - v.from) / (v.to - v.from || 1) * (right - left);
    const py = y => low - (y - least) / (most - least) * (low - top);
    g.lineWidth = 1; g.strokeStyle = colour("line"); g.fillStyle = colour("quiet");
    g.textAlign = "right"; g.textBaseline = "middle";
    for (const y of ticks(least, most, 5)) {
      g.beginPath(); g.moveTo(left, py(y)); g.lineTo(right, py(y)); g.stroke();
      g.fillText(figure(y), left - 6, py(y));
    }
    g.textAlign = "center"; g.textBaseline = "top";
    const inTime = this.options.time();
    for (const x of ticks(v.from, v.to, Math.max(2, Math.floor(w / 110)), inTime))
      g.fillText(inTime ? span(x).replace(" 0 s", "").replace(".0 s", " s").replace(/^0 s$/, "0") : figure(x), Math.min(px(x), right - 26), low + 6);
    g.save(); g.beginPath(); g.rect(left, 0, right - left, h); g.clip();
    const level = (y, name) => {
      g.setLineDash([6, 5]); g.strokeStyle = colour("quiet"); g.beginPath();
      g.moveTo(left, py(y)); g.lineTo(right, py(y)); g.stroke(); g.setLineDash([]);
      g.textAlign = "left"; g.textBaseline = "bottom"; g.fillText(name, left + 6, py(y) - 2);
    };
    for (const m of marks) level(m.y, m.name);
    if (this.options.goal && known(this.options.goal())) level(this.options.goal(), "goal");
    g.lineJoin = seen.length > 8 ? "bevel" : "round";
    const close = seen.length > 8 ? 1.5 : .5;
    for (const k of seen) {
      // A line of one pixel is drawn much faster than a wider one.
      g.strokeStyle = k.colour; g.lineWidth = k.wide ? 2.6 : seen.length > 8 ? 1 : 1.3; g.globalAlpha = k.wide ? 1 : .85;
      g.beginPath();
      let on = false, last = -9, height = 0;
      const to = Math.min(k.x.length, place(k.x, v.to) + 1);
      for (let i = Math.max(0, place(k.x, v.from) - 1); i < to; i++) {
        const y = k.y[i];
        if (y === null || y !== y) { if (!k.holds) on = false; continue; }
        const X = px(k.x[i]), Y = py(y);
        if (on && i + 1 < to && X - last < (Math.abs(Y - height) < 1 ? close : .5)) continue;
        on ? g.lineTo(X, Y) : g.moveTo(X, Y);
        on = true; last = X; height = Y;
      }
      g.stroke();
    }
    g.globalAlpha = 1;
    g.restore();
    return { seen, v, px, py, left, right, top, low, inTime, dpr };
  }
  cross(g, seen, v, px, py, left, right, top, low, inTime) {
    const x = v.from + (this.at - left) / (right - left) * (v.to - v.from);
    const lines = [];
    for (const k of seen) {
      let i = Math.min(k.x.length - 1, place(k.x, x));
      while (i > 0 && (k.y[i] === null || k.y[i] !== k.y[i]) && k.holds) i--;
      if (i >= 0 && known(k.y[i])) lines.push([k.name, k.y[i], k.colour]);
    }
    lines.sort((a, b) => a[1] - b[1]);
    const shown = lines.slice(0, 12), wide = 160, tall = 18 + shown.length * 15;
    g.strokeStyle = colour("quiet"); g.beginPath(); g.moveTo(this.at, top); g.lineTo(this.at, low); g.stroke();
    const X = this.at + wide + 12 > right ? this.at - wide - 10 : this.at + 10;
    g.fillStyle = colour("panel"); g.strokeStyle = colour("line");
    g.beginPath(); g.rect(X, top, wide, tall); g.fill(); g.stroke();
    g.textBaseline = "top"; g.textAlign = "left"; g.fillStyle = colour("quiet");
    g.fillText(inTime ? span(x) : figure(x, 4), X + 8, top + 4);
    shown.forEach(([name, y, c], i) => {
      g.fillStyle = c; g.textAlign = "left";
      g.fillText(name.length > 16 ? name.slice(0, 15) + "…" : name, X + 8, top + 18 + i * 15);
      g.textAlign = "right"; g.fillText(figure(y, 4), X + wide - 8, top + 18 + i * 15);
    });
  }
}
// The first place whose value is not below x.
function place(list, x) {
  let from = 0, to = list.length;
  while (from < to) { const m = (from + to) >> 1; list[m] < x ? from = m + 1 : to = m; }
  return from;
}
function ticks(from, to, about, time) {
  const rough = (to - from) / about;
  let step = 10 ** Math.floor(Math.log10(rough));
  const seconds = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 86400];
  if (time && rough > .5 && rough < 86400) step = seconds.find(s => s >= rough);
  else step *= [1, 2, 5, 10].find(m => m * step >= rough) || 10;
  const out = [];
  if (step > 0) for (let x = Math.ceil(from / step) * step; x <= to && out.length < 50; x += step) out.push(x);
  return out;
}

const inTime = () => true;
const charts = [
  new Chart("loss", "loss", { time: () => axis === "seconds", goal: () => now && now.goal_of === "loss" ? now.goal : NaN }),
  new Chart("rate", "time", { time: inTime, zero: true, reach: true, marks: () => now ? [
    { y: now.up_limit / 1e6 || NaN, name: "--up" }, { y: now.down_limit / 1e6 || NaN, name: "--down" }] : [] }),
  new Chart("lag", "time", { time: inTime, zero: true })];

function showCurves() {
  if (!course) return;
  const t = course.seconds, n = course.nodes;
  const total = key => t.map((_, i) => {
    let sum = 0;
    for (const node of n) sum += node[key][i] || 0;
    return sum / 1e6;
  });
  const curves = n.map((node, i) => ({ name: node.name, colour: hue(i), x: axis === "seconds" ? t : node[axis], y: node.loss }));
  const most = axis === "seconds" ? t : t.map((_, i) => n.reduce((m, node) => Math.max(m, node[axis][i] || 0), 0));
  curves.push({ name: "centre", colour: colour("centre"), x: most, y: course.centre.loss, wide: true, holds: true });
  charts[0].show(curves);
  charts[1].show([{ name: "to the hub", colour: hue(0), x: t, y: total("up"), wide: true },
    { name: "from the hub", colour: hue(1), x: t, y: total("down"), wide: true }]);
  charts[2].show(n.map((node, i) => ({ name: node.name, colour: hue(i), x: t, y: node.lag })));
}

// Points that came since the course was fetched: one a second, then anew.
function addPoint(s) {
  if (!course || s.boot !== course.boot) return fetchCourse();
  const t = course.seconds, last = t.length ? t[t.length - 1] : -1;
  if (s.elapsed - last < Math.max(.9, course.interval * .5)) return;
  if (t.length > 1300) return fetchCourse();
  pushPoint(s);
  showCurves();
}
function pushPoint(s) {
  const t = course.seconds, before = t.length;
  t.push(s.elapsed);
  course.centre.loss.push(s.loss);
  s.nodes.slice(0, s.most_nodes).forEach((node, i) => {
    let c = course.nodes[i];
    if (!c || c.name !== node.name) {
      const none = () => new Array(before).fill(null);
      c = course.nodes[i] = { name: node.name, iterations: none(), samples: none(), loss: none(), lag: none(), up: none(), down: none() };
    }
    const r = rates.get(node.name) || {};
    c.iterations.push(node.steps); c.samples.push(node.samples);
    c.loss.push(node.gone ? null : node.loss); c.lag.push(node.gone ? null : node.lag);
    c.up.push(r.up || 0); c.down.push(r.down || 0);
  });
  for (const c of course.nodes) for (const key in c) if (key !== "name" && c[key].length === before) c[key].push(null);
}
let fetching = false;
async function fetchCourse() {
  if (fetching) return;
  fetching = true;
  try {
    const r = await fetch("/api/v1/course");
    if (r.ok) { const c = await r.json(); c.boot = now ? now.boot : 0; course = c; showCurves(); }
  } catch { /* the stream says when the hub is back */ }
  fetching = false;
}

// ---- the star ----

let starNames = "", star = [];
const dark = matchMedia("(prefers-color-scheme:dark)");
const lagColour = lag => `hsl(${Math.max(0, 150 - 22 * Math.min(lag, 7))} 62% ${dark.matches ? 58 : 40}%)`;
// Only what changed is told the browser: it draws anew whatever is set.
const put = (e, key, value) => {
  const had = e.had ||= {};
  if (had[key] === value) return;
  had[key] = value;
  key === "text" ? e.textContent = value : e.setAttribute(key, value);
};
// A text that is no wider than there is room for, cut in its middle.
function fit(text, words, room) {
  const all = [...words];
  text.textContent = words;
  for (let n = all.length - 1; n > 2 && text.getComputedTextLength() > room; n--)
    text.textContent = all.slice(0, n >> 1).join("") + "…" + all.slice(all.length - (n - 1 >> 1)).join("");
  if (text.getComputedTextLength() > room) text.textContent = "";
}
function layStar(nodes) {
  const svg = $("star");
  svg.replaceChildren();
  // As wide as there is place for: a star for a phone is no small one for a desk.
  const wide = Math.max(320, Math.min(640, svg.clientWidth * 1.3)), rings = nodes.length > 28 ? 2 : 1;
  svg.setAttribute("viewBox", `${-wide / 2} -220 ${wide} 440`);
  star = nodes.map((node, i) => {
    const a = -Math.PI / 2 + 2 * Math.PI * i / nodes.length, far = rings > 1 && i % 2 ? .68 : 1;
    const x = Math.cos(a) * (wide / 2 - 80) * far, y = Math.sin(a) * 165 * far;
    const link = draw("line", { x1: 0, y1: 0, x2: x, y2: y }, svg);
    return { x, y, a, link };
  });
  star.forEach((s, i) => {
    const g = draw("g", { transform: `translate(${s.x} ${s.y})` }, svg);
    s.title = draw("title", {}, g);
    s.dot = draw("circle", { r: nodes.length > 16 ? 9 : 15, class: "node", stroke: hue(i) }, g);
    s.crown = draw("path", { d: "M-8 5h16l2-10-6 4-4-7-4 7-6-4z", class: "crown" }, g);
    const below = s.y > -20, off = (nodes.length > 16 ? 9 : 15);
    s.name = draw("text", { y: below ? off + 15 : -off - (nodes.length > 16 ? 6 : 20) }, g);
    s.sub = draw("text", { y: below ? off + 29 : -off - 6, class: "sub" }, g);
    s.group = g;
    s.at = s.y + (below ? off : -off);
  });
  // Names end where the next one begins, or the picture.
  star.forEach((s, i) => {
    s.room = Math.min(wide - 2 * Math.abs(s.x) - 4, ...star.filter(o => o !== s && Math.abs(o.at - s.at) < 32).map(o => Math.abs(o.x - s.x) - 6));
    fit(s.name, nodes[i].name, s.room);
  });
  draw("circle", { r: 34, class: "hub" }, svg);
  draw("text", { class: "hubtext", y: -2 }, svg).textContent = "hub";
  draw("text", { class: "hubtext", id: "star-version", y: 14 }, svg);
}
function showStar(s) {
  const nodes = s.nodes.slice(0, 64);
  const names = nodes.map(n => n.name).join("\n");
  if (names !== starNames || !star.length) { starNames = names; layStar(nodes); }
  put($("star-version"), "text", "v" + figure(s.version));
  nodes.forEach((n, i) => {
    const q = star[i], r = rates.get(n.name) || { up: 0, down: 0 }, rate = (r.up + r.down) / 1e6, lost = n.gone || n.silent;
    put(q.link, "class", lost ? "lost" : "");
    put(q.link, "stroke", lost ? "" : lagColour(n.lag));
    put(q.link, "stroke-width", lost ? "1.5" : Math.min(22, 1.5 + 3 * Math.sqrt(rate)).toFixed(1));
    put(q.group, "class", n.gone ? "gone" : "");
    put(q.crown, "visibility", n.best ? "visible" : "hidden");
    put(q.sub, "text", nodes.length > 16 || q.room < 70 ? "" : n.gone ? "gone" : n.silent ? "silent"
      : size(r.up + r.down) + "/s" + (q.room < 140 ? "" : ` · ${n.lag} behind`));
    put(q.title, "text", `${n.name}: ${n.gone ? "gone" : n.silent ? "silent" : n.activity}, ${size(r.up + r.down)}/s, ${n.lag} versions behind${n.best ? ", best" : ""}`);
  });
}

// ---- figures ----

const columns = [
  ["Node", n => n.name, "left"], ["Iterations", n => n.iterations, "", n => figure(n.iterations, 4)],
  ["it/s", n => n.gone ? -1 : n.rate, "", n => n.gone ? "–" : figure(n.rate)], ["Loss", n => n.loss, "", n => figure(n.loss, 4)],
  ["Test %", n => n.accuracy, "", n => known(n.accuracy) ? (100 * n.accuracy).toFixed(1) : "–"],
  ["Behind", n => n.lag, "", n => figure(n.lag)],
  ["Up MB/s", n => rateOf(n).up, "", n => figure(rateOf(n).up / 1e6, 2)], ["Down MB/s", n => rateOf(n).down, "", n => figure(rateOf(n).down / 1e6, 2)],
  ["Moved", n => n.up_bytes + n.down_bytes, "", n => size(n.up_bytes + n.down_bytes)],
  ["Per step", n => perStep(n), "", n => size(perStep(n))],
  ["Merged", n => n.exchanges, "", n => figure(n.exchanges)],
  ["Declined", n => declined(n), "", n => figure(declined(n))],
  ["Late", n => n.missed, "", n => figure(n.missed)], ["Preempted", n => n.preempted, "", n => figure(n.preempted)],
  ["Blocked", n => n.waited, "", n => span(n.waited)], ["RTT ms", n => n.round_trip, "", n => figure(n.round_trip * 1e3, 2)],
  ["Doing", n => doing(n), "left words"], ["", null, "left"]];
const rateOf = n => n.gone ? { up: 0, down: 0 } : rates.get(n.name) || { up: 0, down: 0 };
const perStep = n => n.steps ? (n.up_bytes + n.down_bytes) / n.steps : NaN;
const declined = n => Object.values(n.rejected || {}).reduce((a, b) => a + b, 0);
const doing = n => n.gone ? "gone" : n.silent ? "silent" : n.quarantined ? "in quarantine" : n.leaving ? "leaving"
  : n.activity + (n.last_offer ? "; last offer: " + n.last_offer : "");
const why = n => Object.entries(n.rejected || {}).map(([k, v]) => `${v} ${k}`).join(", ");

function showHead() {
  $("head").replaceChildren(...columns.map(([name, value, kind], i) => {
    const th = make("th", undefined, (kind || "").split(" ")[0]);
    th.scope = "col";
    if (!value) return th;
    if (sort && sort.column === i) th.setAttribute("aria-sort", sort.up ? "ascending" : "descending");
    const b = make("button", name + (sort && sort.column === i ? (sort.up ? " ↑" : " ↓") : ""));
    b.style.cssText = "border:0;padding:0;background:none;color:inherit;font-size:inherit";
    b.addEventListener("click", () => {
      sort = sort && sort.column === i ? (sort.up ? null : { column: i, up: true }) : { column: i, up: i === 0 };
      showHead(); if (now) showNodes(now);
    });
    th.append(b);
    return th;
  }));
}
const rows = new Map();
function rowOf(n, i) {
  const tr = make("tr"), cells = columns.map(([, , kind]) => { const td = make("td", undefined, kind); tr.append(td); return td; });
  const dot = make("i", undefined, "dot"), name = make("b"), crown = make("span");
  dot.style.background = hue(i);
  cells[0].append(dot, name, crown);
  const drain = make("button", "Drain"), pin = make("button", "Pin");
  drain.addEventListener("click", () => order("drain " + n.name, `Drain ${n.name}? It makes its last offer and leaves until it is started again.`));
  pin.addEventListener("click", () => order(pin.dataset.pinned ? "unpin" : "pin " + n.name));
  cells[cells.length - 1].append(drain, " ", pin);
  return { tr, cells, name, crown, drain, pin };
}
function showNodes(s) {
  const list = s.nodes.map((n, i) => [n, i]);
  if (sort) list.sort(([a], [b]) => {
    const x = columns[sort.column][1](a), y = columns[sort.column][1](b);
    const d = typeof x === "string" ? x.localeCompare(y) : (known(x) ? x : -Infinity) - (known(y) ? y : -Infinity) || 0;
    return sort.up ? d : -d;
  });
  const keys = new Set(s.nodes.map(n => n.name));
  for (const [key, row] of rows) if (!keys.has(key)) { row.tr.remove(); rows.delete(key); }
  list.forEach(([n, i], at) => {
    let row = rows.get(n.name);
    if (!row) rows.set(n.name, row = rowOf(n, i));
    if ($("rows").children[at] !== row.tr) $("rows").insertBefore(row.tr, $("rows").children[at] || null);
    row.tr.className = n.gone ? "gone" : n.silent ? "silent" : "";
    row.name.textContent = row.cells[0].title = n.name;
    row.crown.textContent = (n.best ? " ♛" : "") + (n.pinned ? " · pinned" : "");
    row.crown.title = n.best ? "best" : "";
    columns.forEach(([, value, , text], c) => {
      if (c === 0 || !value) return;
      const words = text ? text(n) : value(n);
      if (row.cells[c].textContent !== words) row.cells[c].textContent = words;
    });
    row.cells[11].title = why(n);
    row.cells[16].title = doing(n);
    row.drain.disabled = s.ended || n.gone || n.leaving;
    row.drain.setAttribute("aria-label", "Drain " + n.name);
    row.pin.textContent = n.pinned ? "Unpin" : "Pin";
    row.pin.dataset.pinned = n.pinned ? "1" : "";
    row.pin.disabled = s.ended || n.gone && !n.pinned;
    row.pin.setAttribute("aria-label", (n.pinned ? "Unpin " : "Pin ") + n.name);
  });
  const here = s.nodes.filter(n => !n.gone);
  $("nodes-note").textContent = `${here.length} here, ${s.nodes.length - here.length} gone`;
  $("more").textContent = s.more_nodes ? `and ${s.more_nodes} more: /status lists them all` : "";
  $("do-unpin").hidden = !s.nodes.some(n => n.pinned);
}

// How long it takes yet, by what ends it first.
function eta(s) {
  const e = s.eta;
  if (!e || !known(e.seconds) || s.ended) return null;
  return [e.at_most ? "Time left at most" : e.by === "goal" ? "Time to the goal" : "Time left", span(e.seconds),
    [e.spread > 0 && "± " + span(e.spread), e.by !== "goal" && "by " + e.by].filter(Boolean).join(", ")];
}
function progress(s) {
  const share = s.goal_of === "accuracy" ? s.accuracy / s.goal
    : s.goal_of === "loss" && s.first_loss > s.goal ? (s.first_loss - s.loss) / (s.first_loss - s.goal) : NaN;
  return known(share) && (s.goal_of !== "accuracy" || known(s.accuracy)) ? Math.max(0, Math.min(1, share)) : NaN;
}
function showFacts(s) {
  const here = s.nodes.filter(n => !n.gone), sum = f => here.reduce((a, n) => a + (f(n) || 0), 0);
  const part = progress(s), left = eta(s), moved = s.up_bytes + s.down_bytes, steps = s.steps;
  const drop = s.first_loss > 0 && s.loss < s.first_loss ? 100 * (s.first_loss - s.loss) / s.first_loss : NaN;
  const facts = [
    ["Loss of the centre", figure(s.loss, 4), s.loss_of + (known(s.best_loss) ? `, best ${figure(s.best_loss, 4)}` : "")],
    known(s.accuracy) && ["Accuracy", (100 * s.accuracy).toFixed(1) + " %", known(s.best_accuracy) ? `best ${(100 * s.best_accuracy).toFixed(1)} %` : ""],
    s.goal_of && ["Goal", s.goal_of === "accuracy" ? (100 * s.goal).toFixed(1) + " %" : figure(s.goal, 4), known(part) ? `${(100 * part).toFixed(0)} % of the way` : "not scored yet", part],
    left,
    ["Nodes", String(here.length), s.nodes.length > here.length ? `${s.nodes.length - here.length} gone` : ""],
    ["Iterations/s", figure(sum(n => n.rate)), figure(steps, 4) + " in all"],
    ["Version", figure(s.version, 4), `${figure(s.rounds, 4)} rounds`],
    ["k, d", `${s.every}, ${s.delay}`, `${s.policy || ""} · ${s.codec_up}${s.codec_down !== s.codec_up ? " / " + s.codec_down : ""}`],
    ["Moved", size(moved), `${size(moved / steps || NaN)} per step` + (known(drop) && drop >= 1 ? `, ${size(moved / drop)} per 1 % of loss` : "")],
    s.tasks && ["Epoch", String(s.epoch), `${s.tasks_done} of ${s.tasks} tasks`, s.tasks_done / s.tasks],
    (s.preempted || s.rollbacks) && ["Undone", `${s.preempted + s.rollbacks}`, `${s.preempted} preempted, ${s.rollbacks} rollbacks`],
    ["Hub up for", span(s.elapsed), s.saved ? `saved ${span(Math.max(0, Date.parse(s.time) / 1000 - s.saved))} ago` : "not saved yet"]].filter(Boolean);
  $("facts").replaceChildren(...facts.map(([name, value, more, meter]) => {
    const d = make("div");
    d.append(make("span", name), make("b", value));
    const em = make("em", more || "\u00a0");
    em.title = more || "";
    d.append(em);
    if (known(meter)) { const m = make("div", undefined, "meter"), i = make("i"); i.style.width = (100 * meter) + "%"; m.append(i); d.append(m); }
    return d;
  }));
  $("title").textContent = s.title + (s.model ? " · " + s.model : "");
  $("state").textContent = s.state;
  $("release").textContent = `starswitch ${s.release} · run ${s.run}`;
  titled();
}

// Where a setting is wrong: only what follows from what was measured.
function showHints(s) {
  const hints = [], gone = s.ended ? [] : s.nodes.filter(n => n.gone && !n.leaving).map(n => n.name);
  if (gone.length) hints.push(`Gone, and not by an order: ${gone.slice(0, 5).join(", ")}${gone.length > 5 ? ` and ${gone.length - 5} more` : ""}. The run goes on without; start ${gone.length > 1 ? "them" : "it"} again to go on with ${gone.length > 1 ? "them" : "it"}.`);
  if (s.saves_failed) hints.push(`The centre cannot be saved: ${s.saves_failed} time${s.saves_failed > 1 ? "s" : ""} in a row. The events say why; the run goes on.`);
  for (const n of s.nodes) {
    if (n.gone) continue;
    const exchanges = n.exchanges + declined(n), takes = n.link_busy * n.rate, k = n.every || s.every;
    if (n.silent) hints.push(`${n.name} is silent: rounds go on without it.`);
    if (n.quarantined) hints.push(`${n.name} is in quarantine: what it sent was no good.`);
    // As --policy auto has it: a link that is busy nearly always is full, 3/4 leaves room.
    if (takes > .95 * k) hints.push(`${n.name}: an exchange keeps its link busy for ${span(n.link_busy)}, which is ${figure(takes)} iterations: k ≥ ${Math.ceil(takes / .75)} would let it keep up (its k is ${k}).`);
    if (exchanges >= 10 && declined(n) > .5 * exchanges) hints.push(`${n.name}: ${declined(n)} of ${exchanges} offers were not merged: ${why(n)}.`);
  }
  const lines = hints.slice(0, 6);
  if (hints.length > 6) lines.push(`and ${hints.length - 6} more`);
  $("hints").replaceChildren(...lines.map(t => make("li", t)));
}
function showFates(s) {
  const all = Object.values(s.chunks).reduce((a, b) => a + b, 0), box = $("fates");
  const list = Object.entries(s.chunks).filter(([, v]) => v).sort((a, b) => b[1] - a[1]);
  box.replaceChildren(...(list.length ? list : [["nothing offered yet", 0]]).flatMap(([name, v]) => {
    const bar = make("i", undefined, name === "merged" ? "" : "no");
    bar.style.width = (all ? 100 * v / all : 0) + "%";
    bar.style.visibility = v ? "" : "hidden";
    return [make("span", name), bar, make("q", v ? `${figure(v, 4)} · ${(100 * v / all).toFixed(1)} %` : "")];
  }));
}

// The mark is the formula's: what k, d, the rate and the mean exchange come to.
const states = [["compute", "computing", "c0"], ["optimizer", "optimizer", "c5"], ["data_wait", "waiting for data", "c6"], ["net_wait", "the network", "c1"], ["idle", "idle", "c7"]];
const spentBy = n => states.reduce((a, [key]) => a + (n.time && n.time[key] || 0), 0);
const percent = x => known(x) ? (100 * x).toFixed(1) + " %" : "–";
function showTime(s) {
  const list = s.nodes.filter(n => !n.gone && spentBy(n) > 0).slice(0, 64);
  $("time-panel").hidden = !list.length;
  $("time").replaceChildren(...list.flatMap(n => {
    const all = spentBy(n), used = (n.time.compute + n.time.optimizer) / all, bar = make("div");
    bar.setAttribute("role", "img");
    bar.setAttribute("aria-label", n.name + ": " + states.map(([key, words]) => `${words} ${percent(n.time[key] / all)}`).join(", "));
    bar.title = states.map(([key, words]) => `${words}: ${span(n.time[key])}, ${percent(n.time[key] / all)}`).join("\n");
    for (const [key, , c] of states) { const i = make("i"); i.style.width = 100 * n.time[key] / all + "%"; i.style.background = colour(c); bar.append(i); }
    if (known(n.foreseen)) { const mark = make("u"); mark.style.left = 100 * n.foreseen + "%"; bar.append(mark); }
    return [make("span", n.name), bar, make("span", `used ${percent(used)}, predicted ${percent(n.foreseen)}`)];
  }));
  $("time-legend").replaceChildren(...states.map(([, words, c]) => { const e = make("span"), dot = make("i"); dot.style.background = colour(c); e.append(dot, words); return e; }));
}

// ---- events ----

const seen = new Set();
function addEvent(id, e) {
  if (seen.has(id)) return;
  seen.add(id);
  const li = make("li", undefined, e.level), text = make("span");
  text.append(make("b", e.event.replaceAll("_", " ") + (e.subject ? " " : "")), e.subject, e.text ? ": " + e.text : "");
  // A simulation has no date.
  const t = make("time", e.wall < 1e9 ? span(e.elapsed) : stamp(e.wall));
  t.title = span(e.elapsed) + " after the hub began";
  li.append(t, text);
  $("events").prepend(li);
  while ($("events").children.length > 300) $("events").lastChild.remove();
  $("events-note").textContent = `${$("events").children.length} · newest first`;
}

// ---- what the hub says ----

let heard = 0;
function take(s) {
  if (now && now.boot !== s.boot) { course = null; rates.clear(); seen.clear(); $("events").replaceChildren(); for (const c of charts) c.view.all = true; }
  now = s; heard = performance.now();
  for (const n of s.nodes) rates.set(n.name, { up: n.up_rate, down: n.down_rate });
  over(s.ended);
  if (!s.ended) live("on", refused ? "as many follow as this hub serves: asked every 2 s, without events" : "live");
  showFacts(s); showHints(s); showStar(s); showNodes(s); showFates(s); showTime(s); addPoint(s);
}
// A tab in the background shows it, too.
function titled() {
  document.title = ({ off: "no hub · ", ask: "needs a token · ", over: "ended · " }[$("live").className] || "") + (now && known(now.loss) ? figure(now.loss, 3) + " · " : "") + "starswitch";
}
function live(kind, words) {
  $("live").className = kind;
  document.body.classList.toggle("off", kind === "off");
  titled();
  if ($("live").lastChild.textContent !== words) $("live").lastChild.textContent = words;
}
// A run that has ended stays on show: no hub is asked any more, and takes orders.
function over(yes) {
  document.body.classList.toggle("over", !!yes);
  for (const b of document.querySelectorAll(".actions button")) b.disabled = !!yes;
  if (yes) live("over", "the run has ended; this is how it ended");
}
function away() {
  live("off", now && now.stopping ? "the hub was stopped; waiting for it to be started again" : "the hub does not answer; trying again");
}
// Where the hub has no place for one more to follow, it is asked instead.
let source = null, refused = false;
function follow() {
  if (source) source.close();
  source = new EventSource("/api/v1/events");
  source.addEventListener("status", e => take(JSON.parse(e.data)));
  source.addEventListener("note", e => addEvent(e.lastEventId, JSON.parse(e.data)));
  source.onopen = () => { refused = false; };
  source.onerror = () => {
    if (now && now.ended) return source.close();
    if (source.readyState !== 2) return away();
    setTimeout(begin, refused ? 2000 : 0);
    refused = true;
  };
}
setInterval(() => {
  const quiet = (performance.now() - heard) / 1000;
  if (heard && quiet > 3 && $("live").className === "on") live("off", "no news for " + span(quiet));
}, 500);

// ---- a recording: all of it is here, and the slider says when ----

function ratesBetween(a, b) {
  const dt = b.elapsed - a.elapsed, before = new Map(a.nodes.map(n => [n.name, n]));
  return new Map(b.nodes.map(n => {
    const m = before.get(n.name) || n;
    return [n.name, { up: dt > 0 ? Math.max(0, n.up_bytes - m.up_bytes) / dt : 0, down: dt > 0 ? Math.max(0, n.down_bytes - m.down_bytes) / dt : 0 }];
  }));
}
function setRates(i) {
  const all = recording.statuses;
  rates.clear();
  // The last status comes when the run ends, and may be close behind another one.
  let from = i - 1;
  while (from > 0 && all[i].elapsed - all[from].elapsed < recording.gap / 2) from--;
  for (const [name, r] of ratesBetween(all[Math.max(0, from)], all[i])) rates.set(name, r);
}
function showAt(i, soon) {
  const s = now = recording.statuses[i];
  setRates(i);
  $("at-time").textContent = span(s.elapsed) + " of " + span(recording.statuses[recording.statuses.length - 1].elapsed);
  $("at").setAttribute("aria-valuetext", span(s.elapsed));
  for (const c of charts) c.point();
  clearTimeout(recording.timer);
  if (!soon) return showAll(s);
  recording.timer = setTimeout(showAll, 120, s);
  if (recording.turn++ % 2) return showStar(s);
  if (performance.now() - recording.shown < 60) return;
  recording.shown = performance.now();
  parts[recording.part++ % parts.length](s);
}
// While the slider moves a frame draws one of these or the star: all take too long.
const parts = [s => { showFacts(s); showHints(s); }, showNodes, showTime, s => { showFates(s); showNotes(s); }];
const showAll = s => { showStar(s); for (const part of parts) part(s); };
function showNotes(s) {
  const notes = recording.notes;
  let told = notes.length;
  while (told && notes[told - 1].elapsed > s.elapsed) told--;
  if (told !== recording.told) {
    recording.told = told;
    seen.clear(); $("events").replaceChildren();
    for (let k = Math.max(0, told - 60); k < told; k++) addEvent(k, recording.notes[k]);
  }
}
async function openRecording() {
  const r = await (await fetch("/api/v1/recording")).json(), all = r.statuses;
  recording = r; r.turn = r.part = r.shown = 0;
  r.gap = (all[all.length - 1].elapsed - all[0].elapsed) / Math.max(1, all.length - 1);
  document.body.classList.add("recorded");
  live("on", "a recording");
  course = { interval: 1, boot: all[0].boot, seconds: [], centre: { loss: [] }, nodes: [] };
  all.forEach((s, i) => { setRates(i); pushPoint(s); });
  $("film").hidden = false;
  $("at").max = all.length - 1;
  $("at").value = all.length - 1;
  showAt(all.length - 1); showCurves();
}
let sliding = false;
$("at").addEventListener("input", () => {
  if (sliding) return;
  sliding = true;
  requestAnimationFrame(() => { sliding = false; showAt(+$("at").value, true); });
});
async function begin() {
  try {
    const r = await fetch("/healthz"), recorded = (await r.text()).includes("recording"), s = await fetch("/status");
    $("login").hidden = s.status !== 401;
    if (s.status === 401) { $("token").focus(); return live("ask", "needs a token"); }
    if (recorded) return await openRecording().catch(wrong => live("off", "this recording cannot be read: " + wrong.message));
    if (refused && !s.ok) throw s;
    if (refused) take(await s.json());
    follow();
  } catch { refused = false; away(); setTimeout(begin, 1000); }
}
$("login").addEventListener("submit", async e => {
  e.preventDefault();
  const r = await fetch("/api/v1/session", { method: "POST", headers: { "X-Starswitch": "1", Authorization: "Bearer " + $("token").value.trim() } });
  $("wrong").textContent = r.ok ? "" : "That is not it.";
  $("token").value = "";
  if (r.ok) begin();
});

// ---- orders ----

let saying = 0;
function say(words) {
  clearTimeout(saying);
  $("answer").textContent = words;
  $("answer").className = "on";
  saying = setTimeout(() => { $("answer").className = ""; }, 6000);
}
function sure(question) {
  return new Promise(done => {
    $("ask-text").textContent = question;
    $("ask").returnValue = "";
    $("ask").addEventListener("close", () => done($("ask").returnValue === "yes"), { once: true });
    $("ask").showModal();
  });
}
async function order(line, question) {
  if (question && !await sure(question)) return;
  say(line + " …");
  try {
    const r = await fetch("/api/v1/order", { method: "POST", headers: { "X-Starswitch": "1", "Content-Type": "text/plain" }, body: line });
    const text = await r.text();
    let words = text;
    try { words = JSON.parse(text).text; } catch { /* a line of words */ }
    say(words);
  } catch { say("the hub does not answer"); }
}
$("only").addEventListener("click", () => $("only").setAttribute("aria-pressed", $("events").classList.toggle("only")));
$("do-checkpoint").addEventListener("click", () => order("checkpoint"));
$("do-unpin").addEventListener("click", () => order("unpin"));
$("do-stop").addEventListener("click", () => order("stop", "Stop the hub? It saves; its nodes train on alone, and come back when it is started again."));
for (const b of document.querySelectorAll("[data-axis]")) b.addEventListener("click", () => {
  axis = b.dataset.axis;
  for (const o of document.querySelectorAll("[data-axis]")) o.setAttribute("aria-pressed", o === b);
  groups.loss.all = true;
  showCurves();
});
dark.addEventListener("change", () => { colours = {}; starNames = ""; rows.clear(); $("rows").replaceChildren(); if (recording) showAt(+$("at").value); else if (now) take(now); for (const c of charts) { c.names = ""; } showCurves(); });
new ResizeObserver(() => { starNames = ""; if (now) showStar(now); }).observe($("star"));
showHead();
begin();
