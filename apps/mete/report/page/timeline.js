"use strict";
// Lanes over time, with waiting and hand-overs. Scales and gestures are d3's.
function drawTimeline(timeline) {
  const part = section(timeline.title, timeline.about, "timeline");
  const lanes = timeline.lanes, total = timeline.total_us, hasOperators = timeline.names.some((n) => n[1]);
  const kindOf = (s) => timeline.kinds[s[2]];
  const isWait = (s) => kindOf(s) === "wait";
  const isMessage = (s) => /sends|receives/.test(kindOf(s));
  const fillOf = (s) => hasOperators ? colours.of(timeline.names[s[1]][1]) : colours.of(lanes[s[0]].group);
  const byLane = lanes.map((_, i) => timeline.slices.filter((s) => s[0] === i));
  const shown = lanes.map((_, i) => i).filter((i) => byLane[i].length > 0);
  const groups = [...new Set(shown.map((i) => lanes[i].group))];
  const colours = hasOperators ? operators : new Colours(groups.map((g, i) => [g, groups.length - i]));

  const tools = part.append("div").attr("class", "tools").attr("role", "group").attr("aria-label", "zoom");
  const hint = "Drag to move, Ctrl and the wheel to zoom; on a touch screen two fingers do both. With the keyboard: arrows move, + and - zoom, 0 shows all, " +
               "n and p go to the next and previous node.";
  let scale = d3.zoomIdentity, drawn = null;

  const svg = drawing(part, `${timeline.title}: ${shown.length} lanes over ${timeText(total)}`, draw);
  svg.attr("tabindex", 0).attr("role", "group").on("blur", hideTip);
  const zoom = d3.zoom().scaleExtent([1, 5000]).filter(() => {
    const e = d3.event;
    if (e.type === "wheel") return e.ctrlKey || e.metaKey;
    return e.touches ? e.touches.length > 1 : !e.button;
  }).on("zoom", () => { scale = d3.event.transform; redraw(); });
  svg.call(zoom).on("dblclick.zoom", null).style("touch-action", "pan-y");  // one finger scrolls the page
  fitZoom();
  for (const [label, name, act] of [["+", "zoom in", () => zoom.scaleBy(svg, 2)], ["\u2212", "zoom out", () => zoom.scaleBy(svg, 0.5)],
                                    ["\u2190", "earlier", () => move(0.3)], ["\u2192", "later", () => move(-0.3)],
                                    ["all", "show all", () => zoom.transform(svg, d3.zoomIdentity)]])
    tools.append("button").attr("type", "button").attr("aria-label", name).text(label).on("click", act);
  part.append("p").attr("class", "hint").text(hint);
  const keys = part.append("ul").attr("class", "legend");
  const kinds = new Set(timeline.slices.map(kindOf));
  colours.legend(keys, kinds.has("wait") ? [["waits for another thread", "var(--wait)", "var(--wait-line)"]] : []);
  if (!hasOperators && timeline.slices.some(isMessage)) addKey(keys, "pale: a message is on its way", "var(--wait)");

  function move(share) { zoom.translateBy(svg, share * drawn.inner / scale.k, 0); }
  function fitZoom() {
    zoom.extent([[drawn.left, 0], [drawn.left + drawn.inner, 10]]).translateExtent([[drawn.left, 0], [drawn.left + drawn.inner, 10]]);
  }
  svg.on("keydown", () => {
    const key = d3.event.key;
    const act = {"+": () => zoom.scaleBy(svg, 2), "=": () => zoom.scaleBy(svg, 2), "-": () => zoom.scaleBy(svg, 0.5),
                 "0": () => zoom.transform(svg, d3.zoomIdentity), ArrowLeft: () => move(0.2), ArrowRight: () => move(-0.2),
                 n: () => step(1), p: () => step(-1), Escape: () => { hideTip(); if (picked) pick(picked); }}[key];
    if (!act || d3.event.ctrlKey || d3.event.metaKey || d3.event.altKey) return;
    d3.event.preventDefault();
    act();
  });

  // Picks the next slice of the first lane, and brings it into view.
  const computes = (s) => !isWait(s) && !isMessage(s);
  const lane = shown.find((i) => byLane[i].some(computes));
  const first = lane === undefined ? [] : byLane[lane].filter(computes);
  let at = -1;
  function step(by) {
    if (first.length === 0) return;
    at = (at + by + first.length) % first.length;
    const s = first[at], x = drawn.x(s[3] + s[4] / 2);
    if (x < drawn.left || x > drawn.left + drawn.inner) zoom.translateTo(svg, drawn.plain(s[3] + s[4] / 2), 0);
    if (picked !== timeline.names[s[1]][0]) pick(timeline.names[s[1]][0]);
    const box = svg.node().getBoundingClientRect();
    showTip(sliceLines(s), box.left + drawn.x(s[3]), box.top + 40);
  }

  function sliceLines(s) {
    const [name, op, flops, bytes] = timeline.names[s[1]];
    const lane = lanes[s[0]];
    if (isWait(s)) return [`${lane.name} waits ${timeText(s[4])}`, `for ${op}`];
    const node = nodeOf.get(name);
    const own = [`${lane.group}: ${lane.name}`, `${timeText(s[4])}, from ${ticksText([s[3], s[3] + Math.max(s[4], 0.01)])(s[3])} on`];
    if (node) return [name, ...own, ...nodeLines({...node, us: s[4]}).slice(1, 2), ...nodeLines(node).slice(3)];
    return [name, op, ...own, bytes > 0 ? bytesText(bytes) : "", flops > 0 ? `${digits(flops / s[4] * 1e-3)} GFLOP/s` : ""];
  }

  function draw(svg, width, narrow) {
    const several = groups.length > 1;
    const left = narrow ? 16 : 170, pitch = narrow ? 42 : 30, height = 22, top = 26;
    let y = top, group = null;
    const rows = new Map(), titles = [];
    for (const lane of shown) {
      if (several && lanes[lane].group !== group) {
        group = lanes[lane].group;
        titles.push([group, y + 14]);
        y += 20;
      }
      rows.set(lane, y + (narrow ? 16 : 0));
      y += pitch;
    }
    sized(svg, width, y + 6);
    const inner = width - left - 26;
    const plain = d3.scaleLinear().domain([0, total]).range([left, left + inner]);
    // What was in view stays in view when the page's width changes.
    const begin = drawn ? drawn.x.domain()[0] : 0;
    scale = d3.zoomIdentity.translate(left - scale.k * plain(begin), 0).scale(scale.k);
    if (svg.node().__zoom) svg.property("__zoom", scale);
    drawn = {left, inner, plain, x: plain, rows, height, narrow, bottom: y};
    svg.append("defs").append("clipPath").attr("id", "clip-timeline").append("rect")
       .attr("x", left).attr("y", 0).attr("width", inner).attr("height", y);
    for (const [name, at] of titles)
      svg.append("text").attr("x", narrow ? left : 6).attr("y", at).attr("font-weight", 600).text(name);
    for (const [lane, at] of rows)
      svg.append("text").attr("x", narrow ? left : 6).attr("y", narrow ? at - 4 : at + 15).attr("class", "dim").text(lanes[lane].name);
    drawn.axis = svg.append("g").attr("class", "axis").attr("transform", "translate(0,20)");
    drawn.content = svg.append("g").attr("clip-path", "url(#clip-timeline)");
    if (svg.node().__zoom) fitZoom();
    redraw();
  }

  // Draws what is in view. Slices that are thinner than a pixel become one of "many".
  function redraw() {
    const {left, inner, plain, rows, height, content, narrow} = drawn;
    const x = drawn.x = scale.rescaleX(plain);
    const [from, to] = x.domain();
    drawn.axis.call(d3.axisTop(x).ticks(narrow ? 4 : 8).tickFormat(ticksText(x.ticks(narrow ? 4 : 8))).tickSizeOuter(0));
    const boxes = [];
    for (const [lane, y] of rows) {
      let many = null;
      for (const s of byLane[lane]) {
        if (s[3] + s[4] < from || s[3] > to) continue;
        const begin = x(s[3]), width = x(s[3] + s[4]) - begin;
        if (width >= 0.8) {
          boxes.push({slice: s, x: Math.max(begin, left - 2), width: Math.min(begin + width, left + inner + 2) - Math.max(begin, left - 2), y});
        } else if (many && begin - many.x - many.width < 0.8) {
          many.width = Math.max(many.width, begin + width - many.x);
        } else {
          many = {x: begin, width: 0.8, y};
          boxes.push(many);
        }
      }
    }
    content.selectAll("*").remove();
    const elements = content.selectAll("rect").data(boxes).enter().append("rect")
        .attr("class", (b) => "slice" + (b.slice && isWait(b.slice) ? " wait" : ""))
        .attr("x", (b) => b.x).attr("y", (b) => b.y + (b.slice && isWait(b.slice) ? 5 : 0)).attr("rx", 1.5)
        .attr("width", (b) => Math.max(b.width - 0.4, 0.6)).attr("height", (b) => b.slice && isWait(b.slice) ? height - 10 : height)
        .style("fill", (b) => !b.slice ? "var(--other)" : isWait(b.slice) ? null : fillOf(b.slice))
        .style("opacity", (b) => b.slice && isMessage(b.slice) ? 0.45 : null)
        .on("click", (b) => { if (b.slice && !isWait(b.slice)) pick(timeline.names[b.slice[1]][0]); });
    tipped(elements, (b) => b.slice ? sliceLines(b.slice) : ["several short ones", "zoom in to see them"]);
    content.selectAll("text").data(boxes.filter((b) => b.slice && !isWait(b.slice) && b.width > 46)).enter().append("text")
        .attr("class", "slice-name").attr("x", (b) => b.x + 4).attr("y", (b) => b.y + 15)
        .text((b) => fitted(timeline.names[b.slice[1]][0], b.width - 8));
    drawArrows(x, from, to);
    mark();
  }

  function drawArrows(x, from, to) {
    const {rows, height, content} = drawn, most = 24;  // more of them hide what they lie over
    const inView = timeline.arrows.filter((a) => a[3] >= from && a[1] <= to && rows.has(a[0]) && rows.has(a[2]));
    if (inView.length > most) return;
    content.selectAll("path").data(inView).enter().append("path").attr("class", "arrow").attr("d", (a) => {
      const x0 = x(a[1]), x1 = x(a[3]), y0 = rows.get(a[0]) + height / 2, y1 = rows.get(a[2]) + height / 2, bend = Math.max(8, (x1 - x0) / 2);
      return `M${x0},${y0}C${x0 + bend},${y0} ${x1 - bend},${y1} ${x1},${y1}m-5,-3l5,3l-5,3`;
    });
  }

  function mark() {
    drawn.content.selectAll(".slice").classed("picked", (b) => b.slice && picked !== null && timeline.names[b.slice[1]][0] === picked);
  }
  marks.set(timeline, mark);
}

// A format in which ticks that lie close together differ: 25.012 ms, 25.014 ms.
function ticksText(ticks) {
  const most = ticks[ticks.length - 1] || 0, step = ticks.length > 1 ? ticks[1] - ticks[0] : most || 1;
  const [unit, name] = most >= 1e6 ? [1e6, "s"] : most >= 1e3 ? [1e3, "ms"] : [1, "\u00b5s"];
  const places = Math.min(9, Math.max(0, -Math.floor(Math.log10(step / unit) + 1e-9)));
  return (us) => us === 0 ? "0" : `${(us / unit).toFixed(places)} ${name}`;
}

// The text, shortened to a width in pixels; a letter of 12 pixels is 7 wide at most fonts' average.
function fitted(text, width) {
  const most = Math.floor(width / 7);
  return text.length <= most ? text : most < 4 ? "" : text.slice(0, most - 1) + "\u2026";
}
