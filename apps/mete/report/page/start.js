"use strict";
// Puts the page together.
document.title = `${report.title} - Mete report`;
d3.select("#title").text(report.title);
d3.select("#about").text(report.about);

// Light or dark as the system has it, until the button says otherwise.
const dark = window.matchMedia("(prefers-color-scheme: dark)");
function setTheme(isDark) {
  document.documentElement.classList.toggle("dark", isDark);
  d3.select("#theme").text(isDark ? "light" : "dark").attr("aria-label", isDark ? "light colours" : "dark colours");
}
setTheme(dark.matches);
d3.select("#theme").on("click", () => setTheme(!document.documentElement.classList.contains("dark")));
if (dark.addEventListener) dark.addEventListener("change", () => setTheme(dark.matches));

if (report.says.length > 0)
  d3.select("#main").append("ul").attr("class", "says").selectAll("li").data(report.says).enter().append("li").text((s) => s);
if (report.facts.length > 0) {
  const facts = d3.select("#main").append("dl").attr("class", "facts").selectAll("div").data(report.facts).enter().append("div");
  facts.append("dt").text((f) => f[0]);
  facts.append("dd").text((f) => f[1]);
}
for (const timeline of report.timelines) drawTimeline(timeline);
if (report.plan) drawPlan(report.plan);
else for (const timeline of report.timelines) drawThreads(timeline);
drawCompared();
drawChoices();
drawEnergy();
drawRoofline();
drawOperators();
drawArena();
drawNodes();

let width = window.innerWidth;
window.addEventListener("resize", () => {
  if (window.innerWidth === width) return;  // a phone's address bar changes the height alone
  width = window.innerWidth;
  hideTip();
  for (const draw of drawings) draw();
});
window.addEventListener("scroll", hideTip, {passive: true});
