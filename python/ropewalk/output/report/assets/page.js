"use strict";

// Tables: a click on a heading sorts by its column, numbers from the largest, texts from A.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, column) => {
    heading.querySelector("button").addEventListener("click", () => {
      const before = heading.getAttribute("aria-sort");
      const first = heading.classList.contains("number") ? "descending" : "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = before === first ? other : first;
      for (const each of headings) each.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", order);
      const rows = [...body.rows].map((row) => [row, known(row.cells[column])]);
      rows.sort(([, one], [, two]) => compared(one, two, order === "ascending" ? 1 : -1));
      body.append(...rows.map(([row]) => row));
    });
  });
}

function known(cell) {
  if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
  return cell.textContent === "" ? null : cell.textContent;
}

// What is not known stands last, whatever the order.
function compared(one, two, sign) {
  if (one === null || two === null) return (one === null) - (two === null);
  if (typeof one === "number" && typeof two === "number") return sign * (one - two);
  return sign * String(one).localeCompare(String(two), undefined, { numeric: true });
}

// Pictures: drawn as wide as the page is, in the colours of the theme, again when either changes.
const colours = JSON.parse(document.getElementById("colours").textContent);
const dark = window.matchMedia("(prefers-color-scheme: dark)");
const charts = [...document.querySelectorAll("figure.chart")].map((figure) => ({
  place: figure.querySelector(".vega"),
  spec: withRows(JSON.parse(figure.querySelector("script").textContent)),
}));

// Data stand in the file by columns, which are a third as long as rows.
function withRows(spec) {
  const columns = spec.data?.columns;
  if (columns) {
    const names = Object.keys(columns);
    const row = (_, at) => Object.fromEntries(names.map((name) => [name, columns[name][at]]));
    spec.data = { values: Array.from({ length: columns[names[0]].length }, row) };
  }
  (spec.layer ?? []).forEach(withRows);
  return spec;
}

function config(width) {
  const mark = dark.matches ? "#d8d8e0" : "#333339";
  return {
    background: "transparent",
    font: "system-ui, sans-serif",
    view: { stroke: null },
    range: { category: dark.matches ? colours.dark : colours.light, heatmap: { scheme: "viridis" } },
    axis: { labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelLimit: Math.max(100, 0.35 * width), tickCount: width < 500 ? 4 : 7 },
    axisX: { grid: false },
    legend: { orient: "bottom", direction: "horizontal", labelFontSize: 12, titleFontSize: 12, labelLimit: 220, symbolLimit: 60, columns: Math.max(1, Math.floor(width / 150)) },
    line: { strokeCap: "round", color: mark },
    rule: { color: mark, strokeWidth: 2 },
  };
}

async function draw() {
  for (const chart of charts) {
    if (chart.view) chart.view.finalize();
    const width = chart.place.clientWidth;
    chart.view = await vegaEmbed(chart.place, chart.spec, {
      actions: false,
      ast: true,
      renderer: "svg",
      config: config(width),
    });
  }
  document.documentElement.dataset.drawn = charts.length;
}

function failed(error) {
  console.error(error);
  document.documentElement.dataset.failed = String(error);
}

if (charts.length > 0) {
  draw().catch(failed);
  dark.addEventListener("change", () => draw().catch(failed));
  let width = window.innerWidth;
  let due;
  window.addEventListener("resize", () => {
    if (window.innerWidth === width) return;
    width = window.innerWidth;
    clearTimeout(due);
    due = setTimeout(() => draw().catch(failed), 200);
  });
} else {
  document.documentElement.dataset.drawn = 0;
}
