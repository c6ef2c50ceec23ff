"use strict";
// The arena over the steps of a run: who lies where, and when.
function drawArena() {
  const arena = report.arena;
  if (!arena || arena.values.length === 0 || !(arena.bytes > 0)) return;
  const steps = arena.steps.length, live = new Array(steps).fill(0);
  for (const [, , bytes, first, last] of arena.values) for (let s = first; s <= last && s < steps; ++s) live[s] += bytes;
  const peak = live.indexOf(d3.max(live));
  const part = section("Memory over time", `Activations share an arena of ${bytesText(arena.bytes)}. A box is a value: from left to right the steps in which it is ` +
      `needed, from below its place. Most is needed at step ${peak + 1}, '${arena.steps[peak]}': ${bytesText(live[peak])}.`, "memory");
  const opOf = (step) => (nodeOf.get(arena.steps[step]) || {op: ""}).op;
  drawing(part, "values in the arena over the steps", (svg, width, narrow) => {
    const left = 64, bottom = 36, height = narrow ? 280 : 340;
    sized(svg, width, height);
    const x = d3.scaleLinear().domain([0, steps]).range([left, width - 12]), y = d3.scaleLinear().domain([0, arena.bytes]).range([height - bottom, 10]);
    svg.append("g").attr("class", "axis").attr("transform", `translate(0,${height - bottom})`)
       .call(d3.axisBottom(x).tickValues(x.ticks(narrow ? 4 : 10).filter((s) => Number.isInteger(s) && s < steps)).tickFormat((s) => s + 1));
    svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`).call(d3.axisLeft(y).tickValues(byteTicks(arena.bytes)).tickFormat(bytesText));
    svg.append("text").attr("class", "dim").attr("x", width - 12).attr("y", height - 4).attr("text-anchor", "end").text("step");
    const boxes = svg.selectAll(".value").data(arena.values).enter().append("rect").attr("class", "dot value")
        .attr("x", (v) => x(v[3])).attr("width", (v) => Math.max(1, x(v[4] + 1) - x(v[3]) - 0.3)).attr("y", (v) => y(v[1] + v[2]))
        .attr("height", (v) => Math.max(0.7, y(v[1]) - y(v[1] + v[2]) - 0.3)).style("fill", (v) => operators.of(opOf(v[3]))).on("click", (v) => pick(arena.steps[v[3]]));
    tipped(boxes, (v) => [v[0], bytesText(v[2]), `made by step ${v[3] + 1}, ${opOf(v[3])} '${arena.steps[v[3]]}'`, `needed until step ${v[4] + 1}, '${arena.steps[v[4]]}'`]);
    svg.append("path").attr("class", "roof").attr("d", d3.area().curve(d3.curveStepAfter).x((_, i) => x(i)).y0(y(0)).y1((b) => y(b)).defined(() => true)([...live, live[steps - 1]]))
       .style("fill", "none").style("pointer-events", "none");
    const mark = () => boxes.classed("picked", (v) => arena.steps[v[3]] === picked);
    marks.set("memory", mark);
    mark();
  });
  const keys = part.append("ul").attr("class", "legend");
  operators.legend(keys, [["line: bytes that are needed", "var(--roof)"]]);
}
