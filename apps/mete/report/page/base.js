"use strict";
// What all charts have in common: the report's values, units, colours, the tip, and the node that is picked.
const report = JSON.parse(document.getElementById("values").textContent);

// Three digits that count: 12.3 ms, 1.25 s.
function digits(value) {
  const size = Math.abs(value);
  if (size < 0.0005) return "0";
  return value.toFixed(size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
}
function timeText(us) {
  if (us === null || us === undefined || !isFinite(us)) return "none";
  if (us >= 1e6) return digits(us * 1e-6) + " s";
  return us >= 1e3 ? digits(us * 1e-3) + " ms" : digits(us) + " \u00b5s";
}
function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; bytes >= 1024 && unit + 1 < units.length; ++unit) bytes /= 1024;
  return (unit === 0 ? bytes : digits(bytes)) + " " + units[unit];
}
// Round numbers of bytes up to a most, some six of them.
function byteTicks(most) {
  const unit = Math.pow(1024, Math.floor(Math.log2(Math.max(1, most)) / 10));
  return d3.ticks(0, most / unit, 6).map((value) => value * unit);
}
function percentText(share) {
  return (100 * share).toFixed(share >= 0.1 ? 0 : share >= 0.001 ? 1 : 2) + " %";
}
function joulesText(joules) { return joules >= 1 ? digits(joules) + " J" : digits(joules * 1e3) + " mJ"; }

// Names have a colour each, those with most weight first; behind the eighth they share one.
class Colours {
  constructor(weights) {  // [name, weight]
    this.names = [...weights].sort((a, b) => b[1] - a[1]).map((w) => w[0]);
  }
  of(name) {
    const at = this.names.indexOf(name);
    return at >= 0 && at < 8 ? `var(--c${at})` : "var(--other)";
  }
  legend(list, extra = []) {
    for (const name of this.names.slice(0, 8)) addKey(list, name, this.of(name));
    if (this.names.length > 8) addKey(list, `${this.names.length - 8} more`, "var(--other)");
    for (const [name, colour, line] of extra) addKey(list, name, colour, line);
  }
}
function addKey(list, name, colour, line = "transparent") {
  const item = list.append("li");
  item.append("i").style("background", colour).style("border-color", line);
  item.append("span").text(name);
}

const nodeOf = new Map(report.nodes.map((n) => [n.node, n]));
const operators = new Colours(d3.nest().key((n) => n.op).rollup((list) => d3.sum(list, (n) => n.us || 0))
                                .entries(report.nodes).map((e) => [e.key, e.value]));

// Adds a section and returns it.
function section(title, about, id) {
  const part = d3.select("#main").append("section").attr("id", id).attr("aria-labelledby", id + "-title");
  part.append("h2").attr("id", id + "-title").text(title);
  if (about) part.append("p").text(about);
  return part;
}
// Adds a drawing of a height in pixels, which is drawn anew when the page's width changes.
const drawings = [];
function drawing(part, label, draw) {
  const svg = part.append("div").attr("class", "chart").append("svg").attr("role", "img").attr("aria-label", label);
  const again = () => {
    const width = Math.max(280, svg.node().parentNode.clientWidth - 16);
    draw(svg, width, width < 560);
  };
  drawings.push(again);
  again();
  return svg;
}
function sized(svg, width, height) {
  svg.attr("viewBox", `0 0 ${width} ${height}`).attr("height", height);
  svg.selectAll("*").remove();
  return svg;
}

// The tip: a title and lines, beside the pointer or the focused element.
const tip = d3.select("#tip");
function showTip(lines, x, y) {
  tip.attr("hidden", null).selectAll("*").remove();
  tip.append("b").text(lines[0]);
  for (const line of lines.slice(1)) if (line) tip.append("div").text(line);
  const box = tip.node().getBoundingClientRect();
  const left = Math.min(x + 14, window.innerWidth - box.width - 8);
  const top = y + 18 + box.height > window.innerHeight ? y - box.height - 12 : y + 18;
  tip.style("left", Math.max(4, left) + "px").style("top", Math.max(4, top) + "px");
}
function hideTip() { tip.attr("hidden", true); }
// Gives elements a tip; `lines` returns its text for their datum.
function tipped(elements, lines) {
  return elements
      .on("mousemove", (d) => showTip(lines(d), d3.event.clientX, d3.event.clientY))
      .on("mouseleave", hideTip)
      .on("focus", function(d) {
        const box = this.getBoundingClientRect();
        showTip(lines(d), box.left + box.width / 2, box.bottom - 10);
      })
      .on("blur", hideTip);
}

// What a tip says of a node.
function nodeLines(n) {
  const speed = n.us > 0 && n.flops > 0 ? `${digits(n.flops / n.us * 1e-3)} GFLOP/s` : "";
  const memory = n.us > 0 && n.bytes > 0 ? `${digits(n.bytes / n.us * 1e-3)} GB/s` : "";
  return [n.node, n.op + (n.kernel ? `: ${n.kernel}` : ""),
          n.us > 0 ? `${timeText(n.us)}${n.threads ? `, ${n.threads} thread${n.threads === 1 ? "" : "s"}` : ""}` : "",
          [speed, memory].filter(Boolean).join(", "), n.predicted_us > 0 ? `predicted ${timeText(n.predicted_us)}` : "",
          n.why ? `kernel: ${n.why}` : "", n.reason ? `threads: ${n.reason}` : ""];
}

// One node may be picked; all charts mark it, each by one function, also after it was drawn anew.
let picked = null;
const marks = new Map();
function pick(name) {
  picked = picked === name ? null : name;
  for (const mark of marks.values()) mark();
}
