"use strict";
// Who computes which part of which layer.

// Of one CPU: how long each thread computes a part of the nodes that take most of the time.
function drawThreads(timeline) {
  const lanes = timeline.lanes;
  if (lanes.length < 2 || !timeline.names.some((n) => n[1])) return;
  const rows = new Map();
  for (const s of timeline.slices) {
    const kind = timeline.kinds[s[2]], [name, op] = timeline.names[s[1]];
    const wait = kind === "wait", key = wait ? op : name;
    if (!wait && kind !== "node" && kind !== "layout") continue;
    if (!rows.has(key)) rows.set(key, {name: key, op: wait ? "" : op, begin: s[3], busy: lanes.map(() => 0), wait: lanes.map(() => 0)});
    const row = rows.get(key);
    if (!wait) row.op = op;
    row[wait ? "wait" : "busy"][s[0]] += s[4];
  }
  const most = 24;
  const shown = [...rows.values()].filter((r) => d3.sum(r.busy) > 0).sort((a, b) => d3.sum(b.busy) - d3.sum(a.busy)).slice(0, most)
                    .sort((a, b) => a.begin - b.begin);
  const part = section("Who computes which part", `The ${shown.length} nodes that take most of the time, in the order in which they run: ` +
      "what each thread computes of them, and how long it then waits for the others.", "threads");
  const height = 16, gap = 6;
  drawing(part, "time of each thread in each node", (svg, width, narrow) => {
    const left = narrow ? 16 : 230, pitch = narrow ? 38 : height + gap, inner = width - left - 26;
    sized(svg, width, shown.length * pitch + 30);
    const x = d3.scaleLinear().domain([0, d3.max(shown, (r) => d3.max(lanes, (_, i) => r.busy[i])) * lanes.length]).range([0, inner]);
    shown.forEach((row, at) => {
      const y = at * pitch + (narrow ? 18 : 0);
      svg.append("text").attr("x", narrow ? left : left - 8).attr("y", narrow ? y - 4 : y + 12).attr("text-anchor", narrow ? "start" : "end")
         .text(fitted(row.name, narrow ? width - 20 : left - 16)).append("title").text(row.name);
      let from = left;
      lanes.forEach((lane, i) => {
        const computes = Math.max(0, row.busy[i] - row.wait[i]);
        for (const [us, wait] of [[computes, false], [row.wait[i], true]]) {
          if (us <= 0) continue;
          const bar = svg.append("rect").datum(row).attr("x", from).attr("y", y).attr("height", height).attr("width", Math.max(0.5, x(us) - 0.5))
              .attr("class", wait ? "wait" : "dot").style("fill", wait ? null : operators.of(row.op)).style("fill-opacity", wait ? null : 1 - 0.45 * (i % 2));
          tipped(bar, () => [row.name, `${lane.name} ${wait ? "waits" : "computes"} ${timeText(us)}`,
                             wait ? "" : `${percentText(us / d3.sum(row.busy.map((b, k) => Math.max(0, b - row.wait[k]))))} of what all compute`]);
          bar.on("click", () => pick(row.name));
          from += x(us);
        }
      });
    });
    svg.append("g").attr("class", "axis").attr("transform", `translate(${left},${shown.length * pitch + 4})`)
       .call(d3.axisBottom(x).ticks(narrow ? 3 : 6).tickFormat(timeText).tickSizeOuter(0));
  });
  const keys = part.append("ul").attr("class", "legend");
  operators.legend(keys, [["waits", "var(--wait)", "var(--wait-line)"]]);
  addKey(keys, `threads from left to right: ${lanes.map((l) => l.name).join("; ")}; every second one is pale`, "transparent");
}

// Of several processors: a row for each group, a column for each processor.
function drawPlan(plan) {
  const about = "Groups of fused layers, from top to bottom. A bar is the time that a processor takes for its part of the group; what comes " +
                "before it in the column, in pale, is the time until it has its inputs.";
  const part = section("Who computes which part", about, "plan");
  const used = plan.processors.map((p, i) => ({...p, index: i})).filter((p) => p.used);
  const colours = new Colours(used.map((p, i) => [p.name, used.length - i]));
  drawing(part, "groups and processors", (svg, width, narrow) => {
    svg.attr("role", "group");
    const left = narrow ? 4 : 240, top = 24, pitch = narrow ? 62 : 40, inner = width - left - 8, column = inner / used.length;
    sized(svg, width, top + plan.groups.length * pitch + 6);
    const most = d3.max(plan.groups, (g) => d3.max(g.shares, (s) => s.ready_us + s.compute_us)) || 1;
    const x = d3.scaleLinear().domain([0, most]).range([0, column - 14]);
    used.forEach((p, c) => svg.append("text").attr("x", left + c * column).attr("y", 14).attr("font-weight", 600).text(fitted(p.name, column)));
    plan.groups.forEach((group, g) => {
      const y = top + g * pitch + (narrow ? 20 : 0);
      svg.append("line").attr("x1", 0).attr("x2", width).attr("y1", top + g * pitch - 3).attr("y2", top + g * pitch - 3).style("stroke", "var(--grid)");
      const label = svg.append("text").attr("x", 4).attr("y", narrow ? y - 6 : y + 13);
      label.text(fitted(`${g + 1}. ${group.layers}`, (narrow ? width : left) - 12));
      label.append("title").text(group.layers);
      if (!narrow) svg.append("text").attr("class", "dim").attr("x", 4).attr("y", y + 28).text(timeText(group.us));
      for (const share of group.shares) {
        const c = used.findIndex((p) => p.index === share.processor), from = left + c * column;
        const ready = svg.append("rect").attr("class", "wait").attr("x", from).attr("y", y + 4).attr("height", 8).attr("width", Math.max(0, x(share.ready_us)));
        const bar = svg.append("rect").attr("class", "dot").attr("tabindex", 0).attr("role", "img")
            .attr("aria-label", `${share.name}: ${share.part} of ${group.layers}, ${timeText(share.compute_us)}`).attr("x", from + x(share.ready_us)).attr("y", y).attr("height", 16)
            .attr("width", Math.max(1, x(share.compute_us))).style("fill", colours.of(share.name));
        for (const element of [ready, bar])
          tipped(element, () => [`${share.name}: ${share.part}`, group.layers, `computes ${timeText(share.compute_us)}`,
                                 share.bytes > 0 ? `gets ${bytesText(share.bytes)} before, in ${timeText(share.ready_us)}` : "has its inputs already"]);
        svg.append("text").attr("class", "dim").attr("x", from).attr("y", y + 28).text(narrow ? timeText(share.compute_us) : fitted(`${share.part}, ${timeText(share.compute_us)}`, column - 6));
      }
    });
  });
  if (plan.note) part.append("p").attr("class", "hint").text(plan.note);
  drawLoads(part, plan, used);
}

// What each processor does of a request, as a table.
function drawLoads(part, plan, used) {
  if (!used.some((p) => p.compute_us > 0)) return;
  const rows = used.map((p) => [p.name, timeText(p.compute_us), bytesText(p.sent_bytes), timeText(p.up_us), bytesText(p.received_bytes),
                                timeText(p.down_us), p.alone_us === null ? "cannot" : timeText(p.alone_us)]);
  plainTable(part, ["processor", "computes", "sends", "in", "receives", "in", "alone it would take"], rows);
}

function plainTable(part, head, rows) {
  const table = part.append("div").attr("class", "scroll").style("margin-top", "10px").append("table");
  table.append("thead").append("tr").selectAll("th").data(head).enter().append("th").attr("scope", "col").attr("class", (_, i) => i ? "number" : null).text((t) => t);
  const lines = table.append("tbody").selectAll("tr").data(rows).enter().append("tr");
  lines.selectAll("td").data((row) => row).enter().append("td").attr("class", (_, i) => i ? "number" : null).text((t) => t);
}
