"use strict";
// Charts of nodes and of whole runs: a roofline, bars, points.

function drawRoofline() {
  const limits = report.limits, nodes = report.nodes.filter((n) => n.us > 0 && n.flops > 0 && n.bytes > 0);
  if (!limits || !(limits.gflops > 0) || !(limits.read_gbytes > 0) || nodes.length === 0) return;
  const part = section("Beside the machine's limits", "A roofline. To the right are nodes that compute much with each byte; higher is faster. The flat roof is " +
      `${digits(limits.gflops)} GFLOP/s, what ${limits.threads ? limits.threads === 1 ? "one thread reaches" : `${limits.threads} threads reach` : "the threads reach"} in registers, in f32; the slope is ${digits(limits.read_gbytes)} GB/s from memory. ` +
      "A node above the slope has its data in caches. A larger dot took more time." +
      (nodes.some((n) => n.computed_flops < n.flops) ? " Convolutions by Winograd's method may lie above the roof: they compute less than is counted." : "") +
      (nodes.some((n) => n.precision && n.precision !== "f32") ? " Nodes of fewer bits may lie above it as well." : ""), "roofline");
  const intensity = (n) => n.flops / n.bytes, speed = (n) => n.flops / n.us * 1e-3;
  const total = d3.sum(nodes, (n) => n.us);
  drawing(part, "speed of each node beside the machine's limits", (svg, width, narrow) => {
    const left = 52, bottom = 40, height = narrow ? 300 : 400, ridge = limits.gflops / limits.read_gbytes;
    sized(svg, width, height);
    const x = d3.scaleLog().domain([Math.min(d3.min(nodes, intensity), ridge) / 1.6, Math.max(d3.max(nodes, intensity), ridge) * 1.6]).range([left, width - 12]);
    const y = d3.scaleLog().domain([d3.min(nodes, speed) / 1.6, Math.max(limits.gflops, d3.max(nodes, speed)) * 1.6]).range([height - bottom, 10]);
    const few = narrow ? 3 : 6;
    svg.append("g").attr("class", "grid").attr("transform", `translate(0,${height - bottom})`).call(d3.axisBottom(x).ticks(few).tickSize(-height + bottom + 10).tickFormat(""));
    svg.append("g").attr("class", "grid").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(5).tickSize(-width + left + 12).tickFormat(""));
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - bottom})`).call(d3.axisBottom(x).ticks(few, "~g"));
    svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(5, "~g"));
    svg.append("text").attr("class", "dim").attr("x", width - 12).attr("y", height - 6).attr("text-anchor", "end").text("operations for each byte");
    svg.append("text").attr("class", "dim").attr("x", left + 6).attr("y", 20).text("GFLOP/s");
    const low = x.domain()[0], roofAt = (i) => Math.min(limits.gflops, i * limits.read_gbytes);
    const points = [[Math.max(low, y.domain()[0] / limits.read_gbytes), 0], [ridge, 0], [x.domain()[1], 0]].map(([i]) => [x(i), y(roofAt(i))]);
    svg.append("path").attr("class", "roof").attr("d", d3.line()(points));
    const dots = svg.selectAll(".node-dot").data([...nodes].sort((a, b) => b.us - a.us)).enter().append("circle").attr("class", "dot node-dot")
        .attr("cx", (n) => x(intensity(n))).attr("cy", (n) => y(speed(n))).attr("r", (n) => 3 + 16 * Math.sqrt(n.us / total))
        .style("fill", (n) => operators.of(n.op)).on("click", (n) => pick(n.node));
    tipped(dots, (n) => [...nodeLines(n), `${percentText(speed(n) / roofAt(intensity(n)))} of its roof`]);
    const mark = () => dots.classed("picked", (n) => n.node === picked);
    marks.set("roofline", mark);
    mark();
  });
  operators.legend(part.append("ul").attr("class", "legend"));
}

function drawOperators() {
  const all = d3.sum(report.nodes, (n) => n.us || 0);
  if (!(all > 0)) return;
  const rows = d3.nest().key((n) => n.op).entries(report.nodes.filter((n) => n.us > 0))
      .map((e) => ({name: e.key, us: d3.sum(e.values, (n) => n.us), nodes: e.values.length, flops: d3.sum(e.values, (n) => n.flops || 0)}))
      .sort((a, b) => b.us - a.us);
  const most = 12, shown = rows.slice(0, most), rest = rows.slice(most);
  if (rest.length > 0) shown.push({name: `${rest.length} more operators`, us: d3.sum(rest, (r) => r.us), nodes: d3.sum(rest, (r) => r.nodes), flops: d3.sum(rest, (r) => r.flops)});
  const part = section("Time by operator", `Of ${timeText(all)} in which the nodes are computed.`, "operators");
  bars(part, "time by operator", shown.map((r) => ({
    name: r.name, value: r.us, colour: operators.of(r.name), text: `${timeText(r.us)}, ${percentText(r.us / all)}`,
    lines: [r.name, `${timeText(r.us)} in ${r.nodes} node${r.nodes === 1 ? "" : "s"}`, r.flops > 0 ? `${digits(r.flops / r.us * 1e-3)} GFLOP/s` : ""],
  })), timeText);
}

// Bars from left to right: {name, value, colour, text, lines, bold}.
function bars(part, label, rows, tick) {
  drawing(part, label, (svg, width, narrow) => {
    const after = narrow ? 26 : 16 + 7 * d3.max(rows, (r) => r.text.length);  // the text behind the longest bar
    const left = narrow ? 16 : 220, pitch = narrow ? 40 : 24, inner = width - left - after;
    sized(svg, width, rows.length * pitch + 26);
    const x = d3.scaleLinear().domain([0, d3.max(rows, (r) => r.value) || 1]).range([0, inner]);
    rows.forEach((r, i) => {
      const y = i * pitch + (narrow ? 17 : 2);
      svg.append("text").attr("x", narrow ? left : left - 8).attr("y", narrow ? y - 3 : y + 13).attr("text-anchor", narrow ? "start" : "end")
         .attr("class", r.bold ? "chosen" : null).text(fitted(r.name + (narrow && r.text ? `: ${r.text}` : ""), narrow ? width * 1.05 : left - 12)).append("title").text(r.name);
      const bar = svg.append("rect").attr("x", left).attr("y", y).attr("height", 17).attr("width", Math.max(1, x(r.value || 0))).attr("rx", 1.5).style("fill", r.colour);
      tipped(bar, () => r.lines);
      if (!narrow) svg.append("text").attr("x", left + x(r.value || 0) + 6).attr("y", y + 13).attr("class", r.bold ? "chosen" : "dim").text(r.text);
    });
    svg.append("g").attr("class", "axis").attr("transform", `translate(${left},${rows.length * pitch + 4})`).call(d3.axisBottom(x).ticks(narrow ? 3 : 6).tickFormat(tick).tickSizeOuter(0));
  });
}

// Whole runs and parts of them: a pair of bars each. Nodes: points beside a diagonal.
function drawCompared() {
  const nodes = report.nodes.filter((n) => n.predicted_us > 0 && n.us > 0);
  if (report.compared.length === 0 && nodes.length === 0) return;
  const part = section("Predicted beside measured", "A plan is as good as its predictions.", "compared");
  const rows = [];
  for (const c of report.compared) {
    const off = c.measured_us / c.predicted_us - 1, how = `${percentText(Math.abs(off))} ${off < 0 ? "less" : "more"} than predicted`;
    rows.push({name: `${c.what}: predicted`, value: c.predicted_us, colour: "var(--wait-line)", text: timeText(c.predicted_us), lines: [c.what, `predicted ${timeText(c.predicted_us)}`]});
    rows.push({name: "measured", value: c.measured_us, colour: "var(--c0)", text: `${timeText(c.measured_us)}, ${how}`, lines: [c.what, `measured ${timeText(c.measured_us)}`, how], bold: true});
  }
  if (rows.length > 0) bars(part, "predicted and measured times", rows, timeText);
  if (nodes.length < 2) return;
  const near = nodes.filter((n) => Math.abs(n.us / n.predicted_us - 1) <= 0.2);
  part.append("p").style("margin-top", "14px").text(`Each dot is a node. ${near.length} of ${nodes.length} lie within 20 % of the prediction (the band), ` +
      `which are ${percentText(d3.sum(near, (n) => n.us) / d3.sum(nodes, (n) => n.us))} of the time. Above the diagonal a node took longer than predicted.`);
  drawing(part, "predicted and measured time of each node", (svg, width, narrow) => {
    const left = 56, bottom = 40, height = narrow ? 300 : 380, times = nodes.flatMap((n) => [n.us, n.predicted_us]);
    const domain = [d3.min(times) / 1.5, d3.max(times) * 1.5];
    sized(svg, width, height);
    const x = d3.scaleLog().domain(domain).range([left, width - 12]), y = d3.scaleLog().domain(domain).range([height - bottom, 10]);
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - bottom})`).call(d3.axisBottom(x).ticks(narrow ? 3 : 6).tickFormat((t) => short(t)));
    svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(5).tickFormat((t) => short(t)));
    svg.append("text").attr("class", "dim").attr("x", width - 12).attr("y", height - 6).attr("text-anchor", "end").text("predicted");
    svg.append("text").attr("class", "dim").attr("x", left + 6).attr("y", 20).text("measured");
    const [a, b] = domain, clip = svg.append("clipPath").attr("id", "clip-compared").append("rect").attr("x", left).attr("y", 10);
    clip.attr("width", width - 12 - left).attr("height", height - bottom - 10);
    const inside = svg.append("g").attr("clip-path", "url(#clip-compared)");
    inside.append("path").attr("class", "band").attr("d", `M${x(a)},${y(a * 0.8)}L${x(b)},${y(b * 0.8)}L${x(b)},${y(b * 1.2)}L${x(a)},${y(a * 1.2)}Z`);
    inside.append("path").attr("class", "bound").attr("d", `M${x(a)},${y(a)}L${x(b)},${y(b)}`);
    const total = d3.sum(nodes, (n) => n.us);
    const dots = inside.selectAll("circle").data([...nodes].sort((p, q) => q.us - p.us)).enter().append("circle").attr("class", "dot").attr("cx", (n) => x(n.predicted_us))
        .attr("cy", (n) => y(n.us)).attr("r", (n) => 3 + 12 * Math.sqrt(n.us / total)).style("fill", (n) => operators.of(n.op)).on("click", (n) => pick(n.node));
    tipped(dots, (n) => [...nodeLines(n), `measured ${timeText(n.us)}`]);
    const mark = () => dots.classed("picked", (n) => n.node === picked);
    marks.set("compared", mark);
    mark();
  });
}
// Ticks of a logarithmic axis: one and three in ten.
function short(us) {
  const mantissa = us / Math.pow(10, Math.floor(Math.log10(us) + 1e-9));
  return [1, 2, 3, 5, 7].some((m) => Math.abs(mantissa - m) < 0.01) ? (us >= 1e6 ? `${us * 1e-6} s` : us >= 1e3 ? `${us * 1e-3} ms` : `${+us.toPrecision(2)} \u00b5s`) : "";
}

function drawChoices() {
  const choices = report.choices;
  if (choices.length > 1) {
    const sorted = [...choices].sort((a, b) => (a.us === null) - (b.us === null) || a.us - b.us);
    const part = section("What else was weighed", report.plan ? "Times of a request; the plan is in bold." : "The fastest is in bold.", "choices");
    bars(part, "time of each alternative", sorted.map((c) => ({
      name: c.name, value: c.us, colour: c.chosen ? "var(--c2)" : "var(--other)", text: c.us === null ? "cannot" : timeText(c.us), lines: [c.name, timeText(c.us), c.why],
      bold: c.chosen})), timeText);
    if (report.plan) drawInstead(part, report.plan);
    return;
  }
  const rejected = report.nodes.filter((n) => n.rejected && n.rejected.length > 0 && n.us > 0).sort((a, b) => b.us - a.us).slice(0, 12);
  if (rejected.length === 0) return;
  const part = section("What else was weighed", "For the nodes that take most of the time: which threads were weighed for them, by predicted time.", "choices");
  const rows = rejected.map((n) => [n.node, `${n.reason} (${timeText(n.predicted_us)})`, n.rejected.map((r) => `${r.choice}: ${timeText(r.predicted_us)}, ${r.reason}`).join("; ")]);
  plainTableOfWords(part, ["node", "chosen", "rejected"], rows);
}
// Of each group: by how much a request takes longer if it alone is computed otherwise.
function drawInstead(part, plan) {
  const by = (us) => {
    const more = us / plan.predicted_us - 1;
    return Math.abs(more) < 0.0005 ? "as long" : `${percentText(Math.abs(more))} ${more < 0 ? "less" : "more"}`;
  };
  const groups = plan.groups.map((g, i) => ({...g, number: i + 1})).filter((g) => g.instead && g.instead.length > 0);
  if (groups.length === 0) return;
  part.append("p").style("margin-top", "14px").text("Each group computed otherwise, with all other groups as planned: by how much a request would take longer.");
  plainTableOfWords(part, ["group", "instead"], groups.map((g) => [`${g.number}. ${g.layers}`, g.instead.filter((o) => o.us !== null).map((o) => `${o.how}: ${by(o.us)}`).join("; ")]));
}
function plainTableOfWords(part, head, rows) {
  const table = part.append("div").attr("class", "scroll").style("margin-top", "10px").append("table").attr("class", "words");
  table.append("thead").append("tr").selectAll("th").data(head).enter().append("th").attr("scope", "col").text((t) => t);
  table.append("tbody").selectAll("tr").data(rows).enter().append("tr").selectAll("td").data((r) => r).enter().append("td").attr("class", (_, i) => i ? "wrap" : null).text((t) => t);
}

function drawEnergy() {
  const points = report.energy;
  if (points.length < 2) return;
  const part = section("Energy beside latency", "Of a request, as predicted by the pool's watts. To the left is sooner, below takes less energy.", "energy");
  drawing(part, "energy and latency of each plan", (svg, width, narrow) => {
    const left = 64, bottom = 40, height = narrow ? 300 : 340;
    sized(svg, width, height);
    const x = d3.scaleLinear().domain([0, d3.max(points, (p) => p.us) * 1.08]).range([left, width - 16]);
    const y = d3.scaleLinear().domain([0, d3.max(points, (p) => p.joules) * 1.12]).range([height - bottom, 12]);
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - bottom})`).call(d3.axisBottom(x).ticks(narrow ? 4 : 8).tickFormat(timeText));
    svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).ticks(6).tickFormat(joulesText));
    svg.append("text").attr("class", "dim").attr("x", width - 12).attr("y", height - 6).attr("text-anchor", "end").text("time of a request");
    const placed = [];
    for (const p of [...points].sort((a, b) => a.us - b.us)) {
      const px = x(p.us), py = y(p.joules);
      let ty = py - 8;
      while (placed.some((t) => Math.abs(t[0] - px) < 170 && Math.abs(t[1] - ty) < 13)) ty -= 13;
      placed.push([px, ty]);
      const dot = svg.append("circle").attr("class", "dot").attr("cx", px).attr("cy", py).attr("r", p.chosen ? 8 : 6).style("fill", p.chosen ? "var(--c2)" : "var(--c0)");
      tipped(dot, () => [p.name, timeText(p.us), joulesText(p.joules)]);
      svg.append("text").attr("x", px > width - 160 ? px - 8 : px + 9).attr("y", Math.max(12, ty)).attr("text-anchor", px > width - 160 ? "end" : "start").attr("class", p.chosen ? "chosen" : null).text(p.name);
    }
  });
}
