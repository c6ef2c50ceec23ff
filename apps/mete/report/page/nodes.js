"use strict";
// All nodes as a table: sorted by a click on a column's name, filtered by a word.
function drawNodes() {
  if (report.nodes.length === 0) return;
  const part = section("All nodes", "A click on a name marks the node in all pictures.", "nodes");
  const all = d3.sum(report.nodes, (n) => n.us || 0);
  const columns = [
    {name: "#", get: (n) => n.index + 1, number: true}, {name: "node", get: (n) => n.node}, {name: "operator", get: (n) => n.op},
    {name: "kernel", get: (n) => n.kernel}, {name: "threads", get: (n) => n.threads, number: true},
    {name: "time", get: (n) => n.us, text: (v) => v > 0 ? timeText(v) : "", number: true},
    {name: "share", get: (n) => all > 0 ? n.us / all : 0, text: (v) => v > 0 ? percentText(v) : "", number: true},
    {name: "GFLOP/s", get: (n) => n.us > 0 && n.flops > 0 ? n.flops / n.us * 1e-3 : 0, text: (v) => v > 0 ? digits(v) : "", number: true},
    {name: "GB/s", get: (n) => n.us > 0 && n.bytes > 0 ? n.bytes / n.us * 1e-3 : 0, text: (v) => v > 0 ? digits(v) : "", number: true},
    {name: "predicted", get: (n) => n.predicted_us, text: (v) => v > 0 ? timeText(v) : "", number: true}, {name: "why this kernel", get: (n) => n.why, short: true},
  ].filter((c) => report.nodes.some((n, i) => { const v = c.get({...n, index: i}); return v !== undefined && v !== "" && v !== 0; }));
  const rows = report.nodes.map((n, index) => ({...n, index}));
  const tools = part.append("div").attr("class", "tools");
  const search = tools.append("input").attr("type", "search").attr("placeholder", "part of a name").attr("aria-label", "show nodes with this in their name, operator or kernel");
  const count = tools.append("span").attr("class", "hint").style("margin", 0);
  const table = part.append("div").attr("class", "scroll").append("table");
  let sorted = columns.find((c) => c.name === "#"), down = false, most = 60;
  const heads = table.append("thead").append("tr").selectAll("th").data(columns).enter().append("th").attr("scope", "col").attr("class", (c) => c.number ? "number" : null);
  heads.append("button").attr("type", "button").text((c) => c.name).on("click", (c) => {
    down = sorted === c ? !down : Boolean(c.number) && c.name !== "#";
    sorted = c;
    fill();
  });
  const body = table.append("tbody");
  const more = part.append("button").attr("type", "button").style("margin-top", "8px").text("show all").on("click", () => { most = Infinity; fill(); });
  search.on("input", fill);
  window.addEventListener("beforeprint", () => { most = Infinity; fill(); });
  function fill() {
    const word = search.node().value.toLowerCase();
    const found = rows.filter((n) => [n.node, n.op, n.kernel].some((t) => t && t.toLowerCase().includes(word)));
    const key = (n) => sorted.get(n) || (sorted.number ? 0 : "");  // a node may lack the figure
    found.sort((a, b) => (down ? -1 : 1) * d3.ascending(key(a), key(b)) || a.index - b.index);
    const shown = found.slice(0, most);
    count.text(`${shown.length} of ${rows.length}`);
    more.style("display", shown.length < found.length ? null : "none");
    heads.attr("aria-sort", (c) => c === sorted ? (down ? "descending" : "ascending") : null);
    body.selectAll("tr").remove();
    const lines = body.selectAll("tr").data(shown).enter().append("tr").classed("picked", (n) => n.node === picked).on("click", (n) => pick(n.node));
    lines.selectAll("td").data((n) => columns.map((c) => { const v = c.get(n); return {c, text: v === undefined ? "" : c.text ? c.text(v) : v}; })).enter().append("td")
        .attr("class", (d) => d.c.number ? "number" : d.c.short ? "short" : null).each(function(d) {
          const cell = d3.select(this);
          if (d.c.name === "node") cell.append("button").attr("type", "button").text(d.text);  // for the keyboard: a click on it is one on its row
          else cell.text(d.text);
        }).filter((d) => d.c.short).attr("title", (d) => d.text);
  }
  marks.set("nodes", () => body.selectAll("tr").classed("picked", (n) => n.node === picked));
  fill();
}
