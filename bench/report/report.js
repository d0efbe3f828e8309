// Draws the report that lies in #data: tables as they are, figures with Chart.js. What a figure shows is
// decided by the program that wrote the page; strings only ever become text.
"use strict";
(() => {
  const { words, ticksOf } = Axes;
  const data = JSON.parse(document.getElementById("data").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const print = matchMedia("print");
  const figures = [];  // {figure, canvas, legend, chart}

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
  let saving = false;  // what is saved is for paper and slides
  const theme = () => (dark.matches && !print.matches && !saving ? themes.dark : themes.light);
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

  // --- Tables

  function cellOf({ text, value, wrong }, number) {
    const classes = { number, wrong, words: value === undefined && text.length > 40, none: text === "-" };
    const className = Object.keys(classes).filter((name) => classes[name]).join(" ");
    return make("td", { className }, value === undefined ? text : make("data", { value: String(value) }, text));
  }

  function tableOf(table) {
    const rows = table.rows.map((row) => row.map((cell) => (typeof cell === "string" ? { text: cell } : cell)));
    const figures = table.head.map((_, column) => rows.some((row) => row[column].value !== undefined));
    const head = make("tr", {}, ...table.head.map((text, column) =>
      make("th", { scope: "col", className: figures[column] ? "number" : "" }, text)));
    const body = make("tbody");
    const sizes = rows.map(([first]) => first.text);
    const grouped = table.head[0] === "size" && new Set(sizes).size < sizes.length;
    rows.forEach((row, index) => body.append(
      make("tr", { className: grouped && index > 0 && sizes[index] !== sizes[index - 1] ? "first" : "" },
        ...row.map((cell, column) => cellOf(cell, figures[column])))));
    return make("table", {}, make("caption", {}, make("span", {}, table.caption)), make("thead", {}, head), body);
  }

  /** A table that scrolls sideways in its own box, by keyboard too. */
  function showTable(table) {
    return make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": table.caption }, tableOf(table),
      table.note ? make("p", {}, table.note) : "");
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

  function scaleOf(axis, values, extra = {}) {
    const colours = theme(), { title, label, place } = ticksOf(axis, values);
    const scale = {
      title: { display: true, text: title, color: colours.muted },
      grid: { color: ({ tick }) => (axis.unit === "×" && tick && tick.value === 1 ? colours.muted : colours.grid),
        borderColor: colours.muted, tickColor: colours.grid },
      ticks: { color: colours.ink, maxRotation: 0, autoSkipPadding: 12 },
      ...extra,
    };
    if (axis.scale === "names") {
      Object.assign(scale.ticks, { autoSkip: false, maxRotation: 60 });
      return { ...scale, type: "category", labels: axis.names };
    }
    scale.ticks.callback = label;
    if (axis.scale === "linear") return { ...scale, type: "linear", beginAtZero: true };
    const low = Math.min(...values), high = Math.max(...values);
    const room = axis.scale === "log2" ? 2 ** 0.25 : Math.max(1.15, (high / low) ** 0.04);
    return { ...scale, type: "logarithmic", min: low / room, max: high * room, afterBuildTicks: place };
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
      const named = chart.data.datasets.flatMap((dataset, index) => (dataset.showLine !== false || !chart.isDatasetVisible(index)
        ? [] : chart.getDatasetMeta(index).data.map(({ x, y }, at) => ({ x, y, colour: dataset.borderColor, text: dataset.data[at].name.split(":")[0] }))));
      for (const { x, y } of named) taken.push({ y, left: x - 5, right: x + 5 });
      ctx.save();
      ctx.font = `12px ${Chart.defaults.font.family}`;
      ctx.textBaseline = "middle";
      for (const { x, y, colour, text } of named) {
        const width = ctx.measureText(text).width;
        const place = [x + 9, x - 9 - width].map((left) => ({ y, left, right: left + width })).find(({ left, right }) =>
          left > area.left && right < area.right
          && taken.every((other) => Math.abs(other.y - y) > 13 || other.left > right || other.right < left));
        if (!place) continue;
        taken.push(place);
        ctx.fillStyle = colour;
        ctx.fillText(text, place.left, y);
      }
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
      borderDash: series.dashed ? [6, 4] : [], borderWidth: 2, segment: {},  // else lines are Path2Ds, which SVG can't be made of
      pointStyle: shapeOf(series, index),
      pointRadius: series.points ? 4 : 0, pointHoverRadius: series.points ? 6 : 0, tension: 0 };
  }

  function spansOf(figure) {
    return figure.y.names.map((name, lane) => ({
      label: name, grouped: false, borderWidth: 1, borderColor: getComputedStyle(document.body).backgroundColor,
      borderSkipped: false, backgroundColor: colourOf(figure.series[lane]), barPercentage: 0.9, categoryPercentage: 0.9,
      data: figure.spans.filter(([of]) => of === lane).map(([, index, begin, end]) => ({ x: [begin, end], y: name, index })),
    }));
  }

  /** Bars that lie, with their names beside them. */
  const isAcross = ({ kind, series }) => kind === "stack" || kind === "spans" || (kind === "bars" && series.length === 1);

  function configOf(figure) {
    const across = isAcross(figure), all = figure.series.flatMap((series) => series.data);
    const marked = figure.marks.flatMap((mark) => [mark.at, ...(mark.band ?? [])]);
    const stacked = figure.kind === "stack";
    const names = figure.kind === "spans" ? figure.y : figure.x, values = figure.kind === "spans" ? figure.x : figure.y;
    const reach = figure.kind === "spans" ? { max: Math.max(...figure.spans.map((span) => span[3])) } : {};
    const scales = across
      ? { x: scaleOf(values, figure.kind === "spans" ? figure.spans.map((span) => span[3]) : all.map(([, y]) => y), { stacked, ...reach }),
        y: scaleOf(names, [], { stacked }) }
      : { x: scaleOf(figure.x, [...all.map(([x]) => x), ...marked]), y: scaleOf(figure.y, all.map(([, y]) => y)) };
    if (across) Object.assign(scales.y.grid, { display: false });
    const above = across ? "" : scales.y.title.text;  // level, where a phone has room for it
    scales.y.title.display = false;
    return {
      type: figure.kind === "lines" ? "line" : "bar",
      data: { labels: figure.x.names,
        datasets: figure.kind === "spans" ? spansOf(figure) : figure.series.map((s, i) => datasetOf(figure, s, i)) },
      plugins: [markers, pointNames],
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, indexAxis: across ? "y" : "x",
        interaction: { mode: "nearest", intersect: true }, scales,
        plugins: {
          legend: { display: false }, subtitle: { display: above !== "", text: above, align: "start", color: theme().muted, padding: { bottom: 8 } },
          markers: { marks: figure.marks },
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
    return isAcross(figure) ? `${5 + 2.3 * figure.x.names.length}rem` : "";
  }

  /** The figure for a slide or a paper, its title and legend in it: a chart of its own, on paper's colours. */
  function save(figure, format) {
    const canvas = make("canvas", { width: 960, height: parseFloat(heightOf(figure)) * 16 || 540 });
    const [context, svg] = recordingContext(canvas.getContext("2d"));
    if (format === "svg") canvas.getContext = () => context;
    saving = true;
    const config = configOf(figure);
    Object.assign(config.options, { responsive: false, devicePixelRatio: format === "svg" ? 1 : 2, layout: { padding: 12 } });
    config.options.plugins.title = { display: true, text: figure.title, color: theme().ink, align: "start", padding: 0 };
    config.options.plugins.legend = { display: legendOf(figure) !== "", align: "start",
      labels: { usePointStyle: figure.kind === "lines", color: theme().ink, generateLabels: (of) =>
        Chart.defaults.plugins.legend.labels.generateLabels(of).map((label, i) => (figure.kind !== "lines" || !figure.series[i].line
          ? label : { ...label, pointStyle: "line", lineWidth: 2, lineDash: figure.series[i].dashed ? [6, 4] : [] })) } };
    config.plugins.push({ id: "paper", beforeDraw({ ctx, width, height }) {
      Object.assign(ctx, { fillStyle: "#ffffff" }).fillRect(0, 0, width, height);
    } });
    const chart = new Chart(canvas, config);
    chart.draw();
    const url = format === "svg" ? URL.createObjectURL(new Blob([svg(() => chart.draw())], { type: "image/svg+xml" }))
      : chart.toBase64Image();
    saving = false;
    chart.destroy();
    make("a", { href: url, download: `${figure.title.replace(/[^\p{L}\p{N}]+/gu, "-")}.${format}` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 60000);
  }

  function showFigure(figure) {
    const canvas = make("canvas", { role: "img",
      "aria-label": `${figure.title}. ${figure.note} The numbers are in the table below the picture.` });
    const box = make("div", { className: "canvas" }, canvas);
    box.style.height = heightOf(figure);
    const entry = { figure, canvas, chart: null };
    entry.legend = make("div", {}, legendOf(figure, () => entry.chart));
    figures.push(entry);
    const button = (format) => make("button", { type: "button", "aria-label": `${figure.title}: save as ${format}`,
      onclick: () => save(figure, format.toLowerCase()) }, format);
    return make("figure", {},
      make("figcaption", {}, make("h4", {}, figure.title), make("span", { className: "save" }, button("PNG"), button("SVG")),
        figure.note ? make("p", {}, figure.note) : ""),
      entry.legend, box,
      make("details", {}, make("summary", {}, "The numbers"), showTable(numbersOf(figure))));
  }

  // --- The page

  /** Numbers stay beside their units. */
  const together = (text) => text.replace(/(?<=\d) (?=[×%kMGTBF])|(?<=[×=]) (?=\d)/g, "\u00a0");

  /** Those that nobody opened have no size to be drawn at. */
  function drawOpen() {
    for (const entry of figures)
      if (!entry.chart && !entry.canvas.closest("details:not([open])")) entry.chart = new Chart(entry.canvas, configOf(entry.figure));
  }

  function build() {
    const summary = document.getElementById("summary"), main = document.getElementById("report");
    const contents = document.getElementById("contents"), all = document.getElementById("all");
    summary.textContent = data.summary;
    if (data.alarm) summary.className = "alarm";
    const within = { 1: main };  // the last section of each level
    data.sections.forEach(({ title, text, level, folded, alarm, figures: pictures, tables }, index) => {
      const heading = make(`h${level}`, {}, title);
      const section = make(folded ? "details" : "section", { id: `section-${index + 1}`, className: alarm ? "alarm" : "" },
        folded ? make("summary", {}, heading) : heading, text ? make("p", { className: level === 2 ? "answer" : "" }, together(text)) : "",
        ...pictures.map(showFigure), ...tables.map(showTable));
      within[level - 1].append(section);
      within[level] = section;
      if (level > 2) return;
      const link = make("a", { href: `#${section.id}`, onclick: () => { section.open = true; } }, title);
      contents.append(make("li", {}, link));
    });
    drawOpen();
    main.addEventListener("toggle", drawOpen, true);
    all.addEventListener("click", () => {
      const open = all.getAttribute("aria-pressed") !== "true";
      all.setAttribute("aria-pressed", String(open));
      for (const details of main.querySelectorAll("details")) details.open = open;
      drawOpen();
    });
  }

  /** In today's colours: the screen's or the paper's. */
  function recolour() {
    for (const { figure, chart, legend } of figures) {
      if (!chart) continue;
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
  document.documentElement.dataset.drawn = String(figures.filter(({ chart }) => chart).length);
})();
