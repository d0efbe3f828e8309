// Draws the report that lies in #data: tables as they are, figures with Chart.js. What a figure shows is
// decided by the program that wrote the page; strings only ever become text.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const print = matchMedia("print");
  const charts = [];

  // Eight hues that stay apart for the colour-blind (after Okabe and Ito), darkened for paper or
  // lightened for a dark screen, and a scale for curves that have an order (after viridis).
  const themes = {
    light: {
      ink: "#1b1e23", muted: "#5b626c", grid: "#e3e6ea", band: "rgba(91, 98, 108, .13)",
      slots: ["#0068ad", "#c76b00", "#00835f", "#a8478c", "#2f9bd6", "#8a5a2b", "#6b6f00", "#5a6069"],
      ramp: ["#440154", "#414487", "#2a788e", "#22a884", "#7ab827"],
    },
    dark: {
      ink: "#e4e7eb", muted: "#a0a8b3", grid: "#2c3139", band: "rgba(160, 168, 179, .16)",
      slots: ["#5aa9e6", "#f2a541", "#37c59a", "#e08fc6", "#a5d8ff", "#c9a27c", "#d7d05a", "#b5bcc6"],
      ramp: ["#8a6fd1", "#5f8fd0", "#2fb0b0", "#5fce7a", "#f0e442"],
    },
  };
  const theme = () => (dark.matches && !print.matches ? themes.dark : themes.light);
  const shapes = ["circle", "rect", "triangle", "rectRot", "crossRot", "star", "rectRounded", "cross"];

  const hex = (colour) => [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  function onRamp(stops, at) {
    const place = at * (stops.length - 1), low = Math.min(Math.floor(place), stops.length - 2);
    const a = hex(stops[low]), b = hex(stops[low + 1]);
    return `rgb(${a.map((v, i) => Math.round(v + (b[i] - v) * (place - low))).join(", ")})`;
  }
  const colourOf = (series) => ("ramp" in series
    ? onRamp(theme().ramp, series.ramp) : theme().slots[series.slot % theme().slots.length]);
  // From the ninth on a colour comes again, with another shape.
  function shapeOf(series, index) {
    const slot = "ramp" in series ? index : series.slot;
    return shapes[(slot + 3 * Math.floor(slot / 8)) % shapes.length];
  }

  // --- Words

  function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(properties)) {
      if (key in element && key !== "list") element[key] = value;
      else element.setAttribute(key, value);
    }
    element.append(...children);
    return element;
  }

  const three = (value) => {
    const magnitude = Math.abs(value);
    return magnitude >= 99.95 ? value.toFixed(0) : magnitude >= 9.995 ? value.toFixed(1) : value.toFixed(2);
  };
  const superscript = (number) => String(number).replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
  const prefixes = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];
  /** "59.2 GB/s", "1.2 µs", "2^20". `short` leaves away zeros after the point. */
  function words(value, axis, short = false) {
    const tidy = (number) => (short ? String(parseFloat(three(number))) : three(number));
    if (axis.scale === "names") return axis.names[value];
    if (axis.unit === "×") return `${parseFloat(value.toPrecision(3))}×`;
    if (axis.unit === "flop/B") return String(parseFloat(value.toPrecision(3)));
    if (axis.unit === "") {
      const power = Math.log2(value);
      return Number.isInteger(power) && power > 12 ? `2${superscript(power)}` : String(parseFloat(value.toPrecision(6)));
    }
    if (value === 0) return "0";
    const [scale, prefix] = prefixes.find(([least]) => Math.abs(value) >= least * 0.9995) ?? prefixes.at(-1);
    return `${tidy(value / scale)} ${prefix}${axis.unit.replace("flop", "FLOP")}`;
  }

  // --- Tables

  function cellOf(cell, numeric) {
    const text = typeof cell === "string" ? cell : cell.text;
    const td = make("td", { className: numeric ? "number" : "" });
    if (typeof cell !== "string" && cell.value !== undefined) {
      td.append(make("data", { value: String(cell.value) }, text));
    } else {
      td.textContent = text;
      if (text.length > 40) td.classList.add("words");
      if (text === "-") td.classList.add("none");
    }
    if (cell.wrong) td.classList.add("wrong");
    return td;
  }

  function tableOf(table) {
    const figures = table.head.map((_, column) =>
      table.rows.some((row) => typeof row[column] !== "string" && row[column].value !== undefined));
    const head = make("tr", {}, ...table.head.map((text, column) =>
      make("th", { scope: "col", className: figures[column] ? "number" : "" }, text)));
    const body = make("tbody");
    const sizes = table.rows.map(([first]) => (typeof first === "string" ? first : first.text));
    const grouped = table.head[0] === "size" && new Set(sizes).size < sizes.length;
    table.rows.forEach((row, index) => body.append(
      make("tr", { className: grouped && index > 0 && sizes[index] !== sizes[index - 1] ? "first" : "" },
        ...row.map((cell, column) => cellOf(cell, figures[column])))));
    return make("table", {}, make("caption", {}, table.caption), make("thead", {}, head), body);
  }

  /** A table that may scroll sideways, by keyboard too; a long one opens on demand. */
  function showTable(table) {
    const scroll = make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": table.caption },
      tableOf(table), table.note ? make("p", {}, table.note) : "");
    if (table.rows.length <= 40) return scroll;
    return make("details", { className: "table" },
      make("summary", {}, `${table.caption}: ${table.rows.length} rows`), scroll);
  }

  /** The figures of a picture as a table: places down, curves across. */
  function numbersOf(figure) {
    if (figure.kind === "spans")
      return { caption: figure.title, head: ["lane", "chunk", "begin", "end"],
        rows: figure.spans.map(([lane, index, begin, end]) => [figure.y.names[lane], String(index),
          { text: words(begin, figure.x), value: begin }, { text: words(end, figure.x), value: end }]) };
    const cell = (value) => ({ text: words(value, figure.y), value });
    const points = figure.series.filter((series) => !series.line);
    if (points.length > 0)
      return { caption: figure.title, head: ["device", "rung", "problem", figure.x.title, figure.y.title],
        rows: points.flatMap((series) => series.data.map(([x, y, name, detail]) =>
          [series.label, name, detail, { text: words(x, figure.x), value: x }, cell(y)])) };
    const places = [...new Set(figure.series.flatMap((series) => series.data.map(([x]) => x)))].sort((a, b) => a - b);
    return { caption: figure.title, head: [figure.x.title, ...figure.series.map((series) => series.label)],
      rows: places.map((place) => [words(place, figure.x), ...figure.series.map((series) => {
        const point = series.data.find(([x]) => x === place);
        return point ? cell(point[1]) : "-";
      })]) };
  }

  // --- Pictures

  const narrow = () => document.documentElement.clientWidth < 640;

  /** Ticks at powers of two, thinned to what fits. */
  function powersOfTwo(scale) {
    const first = Math.ceil(Math.log2(scale.min) - 1e-9), last = Math.floor(Math.log2(scale.max) + 1e-9);
    const step = Math.max(1, Math.ceil((last - first + 1) / (narrow() ? 6 : 13)));
    scale.ticks = [];
    for (let power = first; power <= last; power += step) scale.ticks.push({ value: 2 ** power });
    if (scale.ticks.length < 2) scale.ticks = [{ value: scale.min }, { value: scale.max }];
  }
  /** Even steps, where a scale spans little. */
  function evenly(scale) {
    const rough = (scale.max - scale.min) / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((times) => times * power >= rough);
    scale.ticks = [];
    for (let at = Math.ceil(scale.min / step); at * step <= scale.max; ++at)
      scale.ticks.push({ value: parseFloat((at * step).toPrecision(12)) });
  }
  /** 1, 10, 100 …, with 2 and 5 between where there is room. */
  function decades(scale) {
    const room = scale.axis === "x" ? scale.chart.width / 75 : (scale.chart.height - 60) / 21;
    const steps = 3 * Math.log10(scale.max / scale.min) > room ? [1] : [1, 2, 5];
    scale.ticks = [];
    for (let power = Math.floor(Math.log10(scale.min)); power <= Math.log10(scale.max); ++power)
      for (const step of steps) {
        const value = step * 10 ** power;
        if (value >= scale.min * 0.999 && value <= scale.max * 1.001) scale.ticks.push({ value });
      }
    if (scale.ticks.length < 3) evenly(scale);
  }

  function scaleOf(axis, values, extra = {}) {
    const colours = theme();
    const scale = {
      title: { display: true, text: axis.title + (axis.unit === "flop/B" ? " (flop/byte)" : ""), color: colours.muted },
      grid: { color: ({ tick }) => (axis.unit === "×" && tick && tick.value === 1 ? colours.muted : colours.grid), borderColor: colours.muted, tickColor: colours.grid },
      ticks: { color: colours.ink, maxRotation: 0, autoSkipPadding: 12 },
      ...extra,
    };
    if (axis.scale === "names") return { ...scale, type: "category", labels: axis.names };
    scale.ticks.callback = (value) => words(value, axis, true);
    if (axis.scale === "linear") return { ...scale, type: "linear", beginAtZero: true };
    const low = Math.min(...values), high = Math.max(...values);
    const room = axis.scale === "log2" ? 2 ** 0.25 : Math.max(1.15, (high / low) ** 0.04);
    return { ...scale, type: "logarithmic", min: low / room, max: high * room,
      afterBuildTicks: axis.scale === "log2" ? powersOfTwo : decades };
  }

  /** Break-even points: a dashed line each, its interval as a band behind the curves. */
  const markers = {
    id: "markers",
    beforeDatasetsDraw(chart, _, { marks }) {
      const { ctx, chartArea: area, scales: { x } } = chart, colours = theme();
      ctx.save();
      for (const mark of marks ?? []) {
        const at = x.getPixelForValue(mark.at);
        if (mark.band) {
          const [low, high] = mark.band.map((value) => Math.min(Math.max(x.getPixelForValue(value), area.left), area.right));
          ctx.fillStyle = colours.band;
          ctx.fillRect(low, area.top, high - low, area.height);
        }
        if (at < area.left || at > area.right) continue;
        ctx.strokeStyle = colours.muted;
        ctx.setLineDash([3, 3]);
        ctx.beginPath();
        ctx.moveTo(at, area.top);
        ctx.lineTo(at, area.bottom);
        ctx.stroke();
      }
      ctx.restore();
    },
  };

  /** The rungs' names beside the points of a roofline, where there is room. */
  const pointNames = {
    id: "pointNames",
    afterDatasetsDraw(chart) {
      const { ctx, chartArea: area } = chart, taken = [];
      ctx.save();
      ctx.font = `12px ${Chart.defaults.font.family}`;
      ctx.textBaseline = "middle";
      chart.data.datasets.forEach((dataset, index) => {
        if (dataset.showLine !== false || !chart.isDatasetVisible(index)) return;
        ctx.fillStyle = dataset.borderColor;
        chart.getDatasetMeta(index).data.forEach(({ x, y }, at) => {
          const text = dataset.data[at].name, width = ctx.measureText(text).width;
          const left = x + 9 + width < area.right ? x + 9 : x - 9 - width;
          const free = taken.every((other) => Math.abs(other.y - y) > 13 || other.left > left + width || other.right < left);
          if (!free) return;
          taken.push({ y, left, right: left + width });
          ctx.fillText(text, left, y);
        });
      });
      ctx.restore();
    },
  };

  function datasetOf(figure, series, index) {
    const colour = colourOf(series);
    const shared = { label: series.label, borderColor: colour, backgroundColor: colour };
    if (figure.kind === "bars" || figure.kind === "stack") {
      const values = Array(figure.x.names.length).fill(null);
      for (const [place, value] of series.data) values[place] = value;
      return { ...shared, data: values, borderWidth: 0, maxBarThickness: 34, categoryPercentage: 0.75 };
    }
    return { ...shared, data: series.data.map(([x, y, name, detail]) => ({ x, y, name, detail })), showLine: series.line,
      borderDash: series.dashed ? [6, 4] : [], borderWidth: 2, pointStyle: shapeOf(series, index),
      pointRadius: series.points ? 4 : 0, pointHoverRadius: series.points ? 6 : 0, tension: 0 };
  }

  function spansOf(figure) {
    return figure.y.names.map((name, lane) => ({
      label: name, grouped: false, borderWidth: 1, borderColor: getComputedStyle(document.body).backgroundColor,
      borderSkipped: false, backgroundColor: colourOf(figure.series[lane]), barPercentage: 0.9, categoryPercentage: 0.9,
      data: figure.spans.filter(([of]) => of === lane).map(([, index, begin, end]) => ({ x: [begin, end], y: name, index })),
    }));
  }

  function configOf(figure) {
    const across = figure.kind === "stack" || figure.kind === "spans"
      || (figure.kind === "bars" && figure.series.length === 1);
    const all = figure.series.flatMap((series) => series.data);
    const marked = figure.marks.flatMap((mark) => [mark.at, ...(mark.band ?? [])]);
    const stacked = figure.kind === "stack";
    const names = figure.kind === "spans" ? figure.y : figure.x, values = figure.kind === "spans" ? figure.x : figure.y;
    const reach = figure.kind === "spans" ? { max: Math.max(...figure.spans.map((span) => span[3])) } : {};
    const scales = across
      ? { x: scaleOf(values, all.map(([, y]) => y), { stacked, ...reach }),
        y: { ...scaleOf(names, [], { stacked }), title: { display: false } } }
      : { x: scaleOf(figure.x, [...all.map(([x]) => x), ...marked]), y: scaleOf(figure.y, all.map(([, y]) => y)) };
    if (across) Object.assign(scales.y.grid, { display: false });
    return {
      type: figure.kind === "lines" ? "line" : "bar",
      data: { labels: figure.x.names,
        datasets: figure.kind === "spans" ? spansOf(figure) : figure.series.map((s, i) => datasetOf(figure, s, i)) },
      plugins: [markers, pointNames],
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, indexAxis: across ? "y" : "x",
        interaction: { mode: "nearest", intersect: true }, scales,
        plugins: {
          legend: { display: false }, markers: { marks: figure.marks },
          tooltip: { callbacks: { title: () => "", label: (item) => tooltip(figure, values, across, item) } },
        },
      },
    };
  }

  function tooltip(figure, values, across, { raw, dataset, label, parsed }) {
    if (figure.kind === "spans")
      return `${dataset.label} ${raw.index}: ${words(raw.x[0], figure.x)} to ${words(raw.x[1], figure.x)}`;
    if (figure.kind !== "lines") return `${dataset.label}, ${label}: ${words(across ? parsed.x : parsed.y, values)}`;
    const name = [raw.name, raw.detail].filter((text) => text && !dataset.label.includes(text)).map((text) => `, ${text}`).join("");
    return `${dataset.label}${name} at ${words(raw.x, figure.x)}: ${words(raw.y, figure.y)}`;
  }

  /** A stroke of the curve with its point, as the legend shows it. */
  function swatch(series, index, kind) {
    const space = "http://www.w3.org/2000/svg";
    const draw = (tag, attributes) => {
      const element = document.createElementNS(space, tag);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      return element;
    };
    const svg = draw("svg", { viewBox: "0 0 30 12", "aria-hidden": "true" });
    const colour = colourOf(series);
    if (kind !== "lines") svg.append(draw("rect", { x: 9, y: 0, width: 12, height: 12, fill: colour }));
    if (kind === "lines" && series.line)
      svg.append(draw("line", { x1: 0, y1: 6, x2: 30, y2: 6, stroke: colour, "stroke-width": 2,
        "stroke-dasharray": series.dashed ? "6 4" : "none" }));
    if (kind === "lines" && series.points) {
      const paths = { circle: "M11 6a4 4 0 1 0 8 0a4 4 0 1 0-8 0", rect: "M11.5 2.5h7v7h-7z", triangle: "M15 1.5l4.5 8h-9z",
        rectRot: "M15 1l5 5l-5 5l-5-5z", rectRounded: "M12 2.5h6v7h-6z", cross: "M15 1.5v9M10.5 6h9",
        crossRot: "M11.5 2.5l7 7M18.5 2.5l-7 7", star: "M15 1.5v9M10.5 6h9M11.800 2.800l6.400 6.400M18.200 2.800l-6.400 6.400" };
      svg.append(draw("path", { d: paths[shapeOf(series, index)], fill: colour, stroke: colour, "stroke-width": 1.5 }));
    }
    return svg;
  }

  function legendOf(figure, drawn) {
    if (figure.kind === "spans" || (figure.kind !== "lines" && figure.series.length < 2)) return "";
    return make("ul", { className: "legend" }, ...figure.series.map((series, index) => {
      const button = make("button", { type: "button", "aria-pressed": "true" }, swatch(series, index, figure.kind), series.label);
      button.addEventListener("click", () => {
        const chart = drawn();
        chart.setDatasetVisibility(index, !chart.isDatasetVisible(index));
        button.setAttribute("aria-pressed", String(chart.isDatasetVisible(index)));
        chart.update();
      });
      return make("li", {}, button);
    }));
  }

  function heightOf(figure) {
    if (figure.kind === "spans") return `${5 + 2.6 * figure.y.names.length}rem`;
    const rows = figure.x.names.length;
    if (figure.kind === "stack" || (figure.kind === "bars" && figure.series.length === 1)) return `${5 + 2.3 * rows}rem`;
    return "";
  }

  function showFigure(figure) {
    const canvas = make("canvas", { role: "img",
      "aria-label": `${figure.title}. ${figure.note} The numbers are in the table below the picture.` });
    const box = make("div", { className: "canvas" }, canvas);
    box.style.height = heightOf(figure);
    let chart;
    const entry = { figure, legend: null };
    const show = () => {
      if (chart) return;
      chart = new Chart(canvas, configOf(figure));
      charts.push(Object.assign(entry, { chart }));
    };
    const legend = make("div", {}, legendOf(figure, () => chart));
    entry.legend = legend;
    const body = make("figure", {},
      make("figcaption", {}, make("h4", {}, figure.title), figure.note ? make("p", {}, figure.note) : ""),
      legend, box,
      make("details", {}, make("summary", {}, "The numbers"),
        make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": `${figure.title}: the numbers` },
          tableOf(numbersOf(figure)))));
    if (!figure.folded) return [body, show];
    const details = make("details", { className: "figure" }, make("summary", {}, figure.title), body);
    details.addEventListener("toggle", () => details.open && show());
    return [details, () => {}];
  }

  // --- The page

  function build() {
    const summary = document.getElementById("summary"), main = document.getElementById("report");
    summary.textContent = data.summary;
    if (data.alarm) summary.className = "alarm";
    const later = [];
    data.sections.forEach((section, index) => {
      const id = `section-${index + 1}`;
      if (section.level === 2)
        document.getElementById("contents").append(make("li", {}, make("a", { href: `#${id}` }, section.title)));
      const figures = section.figures.map(showFigure);
      later.push(...figures.map(([, show]) => show));
      main.append(make("section", { id, className: section.alarm ? "alarm" : "" }, make(`h${section.level}`, {}, section.title),
        section.text ? make("p", {}, section.text) : "", ...figures.map(([element]) => element),
        ...section.tables.map(showTable)));
    });
    for (const show of later) show();
  }

  /** In today's colours: the screen's or the paper's. */
  function recolour() {
    for (const { figure, chart, legend } of charts) {
      const { data: fresh, options } = configOf(figure);
      fresh.datasets.forEach((dataset, index) => Object.assign(chart.data.datasets[index], dataset));
      chart.options = options;
      chart.resize();
      chart.update("none");
      legend.querySelectorAll("svg").forEach((svg, index) =>
        svg.replaceWith(swatch(figure.series[index], index, figure.kind)));
    }
  }

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 13;
  build();
  dark.addEventListener("change", recolour);
  print.addEventListener("change", recolour);
  document.documentElement.dataset.drawn = String(charts.length);
})();
