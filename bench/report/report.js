// The report of the files of `trine … --json` in #data, told apart by machine (docs/report.md).
// Chart.js draws the pictures; strings only ever become text.
"use strict";
(() => {
  const runs = JSON.parse(document.getElementById("data").textContent);
  const several = runs.some(({ host }) => host > 0);
  for (const run of runs) Object.assign(run, { label: several ? String.fromCharCode(65 + run.host) : "" }, run.document);
  const dark = matchMedia("(prefers-color-scheme: dark)"), print = matchMedia("print");

  // --- Words
  const three = (value) => String(parseFloat(value.toPrecision(3)));
  const prefixes = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];
  function withUnit(value, unit, digits = (number) => (number < 999.5 ? number.toPrecision(3) : three(number))) {
    if (unit === "×") return `${digits(value)}×`;
    if (unit === "flop/B" || value === 0) return three(value);
    const [scale, prefix] = prefixes.find(([least]) => value >= least * 0.9995) ?? prefixes.at(-1);
    return `${digits(value / scale)} ${prefix}${unit.replace(/^(fl)?op/, (word) => word.toUpperCase())}`;
  }
  /** Files count integers' operations in flop, too. */
  const unitOf = (unit, dtype) => (/^[iu]/.test(dtype) ? unit.replace("flop", "op") : unit);
  const is = (value) => typeof value === "number";
  const figureCell = (value, text) => (is(value) ? { text, value } : "-");
  const inUnit = (value, unit) => figureCell(value || null, value ? withUnit(value, unit) : "-");
  const time = (value) => inUnit(value, "s"), ratio = (value) => inUnit(value, "×");
  const percent = (value) => figureCell(value, is(value) ? `${(100 * value).toFixed(value < 0.0995 ? 1 : 0)} %` : "");
  const any = (value) => (is(value) ? figureCell(value, String(parseFloat(value.toPrecision(6)))) : value === null
    || value === undefined || value === "" ? "-" : typeof value === "boolean" ? (value ? "yes" : "no") : String(value));
  const power = (count) => (count > 4096 && Number.isInteger(Math.log2(count))
    ? `2${String(Math.log2(count)).replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit])}` : String(count));
  const sizeOf = (operation, shape) =>
    ((operation === "reduce" ? shape[1] === 1 : shape.every((extent) => extent === shape[0]))
    ? power(shape[0]) : shape.map(power).join(" × "));
  const countText = (count) => (count < 1e5 ? String(Math.round(count)) : `${three(count / 1e6)} million`);
  const once = (list) => [...new Set(list)];
  const most = (list, of) => list.reduce((best, one) => (best === null || of(one) > of(best) ? one : best), null);
  const groupBy = (list, keyOf) =>
    list.reduce((map, one) => map.set(keyOf(one), [...(map.get(keyOf(one)) ?? []), one]),
    new Map());

  // --- The results
  const on = (run, device) => (run.label ? `${run.label} ${device}` : device);
  const hosts = groupBy(runs, (run) => run.label);
  const facts = new Map(runs.flatMap((run) => (run.devices ?? []).flatMap((backend) =>
    (backend.devices ?? []).map((device) => [on(run, device.id), device]))));

  function entryOf(run, r) {
    const stride = Math.max(1, ...(r.strides ?? [])), offset = Math.max(0, ...(r.offsets ?? [])),
      access = stride > 1 || offset > 0;
    const parameters = { ...r.parameters, ...(access && { stride: String(stride), offset: String(offset) }) };
    const worded = (word, none) => word && word !== none && word;
    const text = Object.entries(parameters).map(([key, value]) => `${key}=${value}`).join();
    const rung = (r.rung || r.requested || "").split(":")[0], all = r.shape.reduce((a, b) => a * b, 1);
    const title = [r.operation, r.function, r.dtype,
      r.result_dtype !== r.dtype && `to ${r.result_dtype}`].filter(Boolean).join(" ");
    const special = [worded(r.asked, "reproducible"), worded(r.map, "identity") && `map ${r.map}`, worded(r.axis, "all"),
      r.layout.includes("c") && `layout ${r.layout}`, worded(r.values, "uniform") && `values ${r.values}`,
      access && "access patterns", r.batch !== 1 && `batch ${r.batch}`].filter(Boolean);
    return { ...r, run, parameters, text, rung, id: r.device, device: on(run, r.device), onCpu: r.device.startsWith("cpu"),
      variant: text ? `${rung}:${text}` : rung, plain: special.length === 0 && r.result_dtype === r.dtype,
      group: [title, ...special].join(", "), size: sizeOf(r.operation, r.shape),
      unit: unitOf(r.rate.unit, r.dtype), x: all ** (1 / (r.operation === "reduce" ? 1 : r.shape.length)),
      kernel: r.verified ? r.seconds.kernel : null, speed: r.verified && r.seconds.kernel > 0 ? r.rate.value : 0 };
  }
  const entries = runs.flatMap((run) => run.results.map((result) => entryOf(run, result)));
  const devices = once(entries.map((e) => e.device));

  const byLadder = (a, b) => a.e.vendor - b.e.vendor || (a.e.rung_index ?? 0) - (b.e.rung_index ?? 0);
  /** A row has all results of one rung on one problem, the latest of a machine's files. */
  function rowsOf(list) {
    const rows = new Map();
    for (const e of list) {
      const key = [e.device, e.size, e.variant].join("|");
      const row = rows.get(key) ?? { ends: new Map() };
      if (e.memory !== "resident") row.ends.set(e.memory, e);
      else row[e.method] = e;
      rows.set(key, Object.assign(row,
        { e: row.single ?? row.sustained ?? e, device: e.device, size: e.size, x: e.x,
        rung: e.rung }));
    }
    const all = [...rows.values()];
    for (const row of all)
      row.good = Boolean(row.single || row.sustained) && [row.single, row.sustained].every((e) => !e || e.speed > 0);
    return all.sort((a, b) => devices.indexOf(a.device) - devices.indexOf(b.device) || a.x - b.x || byLadder(a, b));
  }
  /** Single launches and launches back to back are never mixed: the latter where all have them. */
  const methodOf = (rows) => (rows.every((row) => !row.good || row.sustained) ? "sustained" : "single");
  const methodText = { single: "single launches", sustained: "launches back to back" };
  const fastest = (rows, method) =>
    most(rows.filter((row) => row.good && row[method]).map((row) => row[method]), (e) => e.speed);
  const isDefault = (row) => row.good && row.e.numerics === "reproducible";
  const rateTitle = (rows, method) =>
    `${rows[0].e.rate.unit === "B/s" ? "effective bandwidth" : "performance"}, ${methodText[method]}`;
  const sizesOf = (rows) => once([...rows].sort((a, b) => a.x - b.x).map((row) => row.size));

  /** A curve: the fastest of `rows` at each size. */
  function curve(label, rows, sizes, method, style) {
    const found = sizes.map((size) => fastest(rows.filter((row) => row.size === size), method));
    return { label, ...style, data: found.map((e) => e?.speed ?? null), names: found.map((e) => e?.variant) };
  }
  function ratesOf(title, note, rows, parts) {
    const good = rows.filter((row) => row.good), method = methodOf(good), sizes = sizesOf(good);
    const series = parts.map(([label, mine, style]) => curve(label, mine, sizes, method, style))
      .filter(({ data }) => data.some(is));
    if (series.length === 0) return [];
    const figure = { title, note, unit: good[0].e.unit, y: rateTitle(good, method), x: "size",
      labels: sizes, series, kind: "lines" };
    const commonest = most(sizes.map((_, i) => [series.filter(({ data }) => is(data[i])).length,
      i]), ([count, i]) => count + i / 1e6)[1];
    if (series.some(({ data }) => data.filter(is).length > 1)) return [figure];
    return [{ ...figure, title: `${title}, ${sizes[commonest]}`, kind: "bars", x: "",
      labels: series.map(({ label }) => label),
      series: [{ label: "rate", slot: 0, data: series.map(({ data }) => data[commonest]),
        names: series.map(({ names }) => names[commonest]) }] }];
  }

  function overview(title, rows) {
    const own = rows.some(isDefault) ? isDefault : (row) => row.good && !row.e.vendor;
    return ratesOf(`${title}, the devices`,
      "The fastest rung of each device, as a program gets it that names none; peers dashed.", rows,
      devices.flatMap((device, slot) => {
        const here = rows.filter((row) => row.device === device), peers = here.filter((row) => row.e.vendor);
        return [[device, here.filter(own), { slot }], ...once(peers.map(({ rung }) => rung)).map((rung) =>
          [`${rung} on ${device}`, peers.filter((row) => row.rung === rung), { slot, dashed: true }])];
      }));
  }
  function ladder(title, device, rows) {
    const rungs = once([...rows].sort(byLadder).map(({ rung }) => rung));
    if (rungs.length < 2) return [];
    return ratesOf(`${title}, the ladder on ${device}`, "Each rung with its fastest parameters; peers dashed.", rows,
      rungs.map((rung, slot) => {
        const mine = rows.filter((row) => row.rung === rung);
        return [rung, mine, { slot, dashed: mine[0].e.vendor }];
      }));
  }
  /** The rate by each parameter of a rung with several values; a curve a value. */
  function parameters(title, device, rows) {
    return [...groupBy(rows.filter((row) => row.good), ({ rung }) => rung)].flatMap(([rung, mine]) =>
      once(mine.flatMap((row) => Object.keys(row.e.parameters))).flatMap((key) => {
        const values = [...groupBy(mine, (row) => String(row.e.parameters[key]))]
          .sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }));
        if (values.length < 2) return [];
        return ratesOf(`${title}, ${rung} on ${device}, by ${key}`, "Other parameters at their fastest.", mine,
          values.map(([value, some], slot) => [`${key}=${value}`, some, { slot }]));
      }));
  }
  const phaseNames = { alloc: "allocate", h2d: "host→device", kernel: "kernel", d2h: "device→host" };
  function phases(title, rows) {
    const ends = rows.flatMap((row) => [...row.ends.values()]).filter((e) => e.verified && e.seconds.total);
    const size = most(ends, (e) => e.x)?.size, here = ends.filter((e) => e.size === size);
    if (here.length === 0) return [];
    const split = (e) => e.memory !== "pipelined" && (e.seconds.h2d || e.seconds.kernel || e.seconds.d2h);
    const series = Object.entries(phaseNames).map(([key, label], slot) =>
      ({ label, slot, data: here.map((e) => (split(e) && e.seconds[key]) || null) }));
    series.push({ label: "total", slot: 7, data: here.map((e) => (split(e) ? null : e.seconds.total)) });
    return [{ title: `${title}, end to end, ${size}`, note: "From and to host memory.", unit: "s",
      y: "time", x: "", kind: "stack",
      labels: here.map((e) => `${e.device} ${e.memory} ${e.rung}`), series: series.filter(({ data }) => data.some(is)) }];
  }

  // --- Answers
  /** "from 2²⁰": the least size from which on the device is surely faster than the cpu. */
  function paysFrom(pairs, when) {
    const lead = pairs.map(({ cpu, device }) => cpu[0] / device[1] > 1), last = pairs.at(-1),
      from = lead.lastIndexOf(false) + 1;
    if (from < pairs.length) return `it pays ${when} from ${pairs[from].size}`;
    if (last.cpu[1] >= last.device[0]) return `at ${last.size} this run can't tell whether it pays ${when}`;
    return pairs.length === 1 ? `at ${last.size} it doesn't pay ${when}` : `up to ${last.size} it never pays ${when}`;
  }
  const spanOf = (figure, value) => (figure?.interval?.[1] > 0 ? figure.interval : [value, value]);
  function pays(rows, device) {
    const whole = rows.filter((row) => row.single && row.ends.get("pageable")?.verified);
    const at = (size, wanted) => most(whole.filter((row) => row.size === size && wanted(row.e)), (row) => row.single.speed);
    const pairs = sizesOf(rows).map((size) => [size, at(size, (e) => e.onCpu), at(size, (e) => e.device === device)])
      .filter(([, cpu, other]) => cpu && other);
    if (pairs.length === 0) return "";
    const race = (of) => pairs.map(([size, cpu, other]) => ({ size, cpu: of(cpu), device: of(other) }));
    const waits = pairs.every(([, a, b]) => a.single.waited && b.single.waited);
    const resident = race(({ single }) =>
      (waits ? spanOf(single.waited, single.waited.seconds) : spanOf(single, single.kernel)));
    const call = race(({ ends }) => spanOf(ends.get("pageable"), ends.get("pageable").seconds.total));
    return `On ${device}, ${paysFrom(resident, "for data that stays on the device")}, `
      + `and ${paysFrom(call, "for one call on host data")}. `;
  }
  const extras = (key, names) => [...runs.reduce((map, run) => (run[key] ?? []).reduce((all, value) =>
    all.set([run.label, ...names.map((name) => JSON.stringify(value[name]))].sort().join(),
      { ...value, run }), map), new Map()).values()];
  const crossings = extras("crossings", ["operation", "function", "dtype", "memory", "from", "to"]);
  function calibrated(e, device, memory) {
    if (!e.plain) return "";
    const mine = crossings.filter((c) => c.run.label === e.run.label && c.operation === e.operation && c.dtype === e.dtype
      && c.memory === memory && (!c.function || c.function === e.function) && [c.from, c.to].includes(device)
      && [c.from, c.to].some((id) => id.startsWith("cpu")));
    return mine.map((c) => (c.sure === false ? `${c.from} and ${c.to} alike` : !is(c.size) ? `${c.from} at every size`
      : `${c.to} from ${e.operation === "reduce" ? `${countText(c.size)} elements` : `N = ${countText(c.size)}`}`)).join(", ");
  }
  function answer(rows) {
    return [...groupBy(rows.filter(isDefault), (row) => row.e.run.label)].map(([label, own]) => {
      const largest = (some) => some.filter((row) => row.x === Math.max(...some.map(({ x }) => x)));
      const last = largest(own), rivals = largest(own.filter((row) => !row.e.onCpu));
      const e = fastest(last, methodOf(last)), other = fastest(rivals, methodOf(rivals));
      const [resident, whole] = other ? ["resident", "pageable"].map((memory) => calibrated(e, other.id, memory)) : [];
      const where = resident && whole ? `Data on the device: ${resident}. Data in host memory, copies included: ${whole}. `
        : other ? pays(own, other.device) : "";
      const peer = fastest(rows.filter((row) => row.e.vendor && row.size === e.size && row.e.onCpu === e.onCpu
        && row.e.run.label === label), e.method);
      return `${label ? `${label}: ` : ""}${where}At ${e.operation === "gemm" ? "N = " : ""}`
        + `${e.size} the fastest is ${e.rung} on ${e.id}: `
        + withUnit(e.speed, e.unit)
          + (e.roof?.value > 0 ? `, ${percent(e.speed / e.roof.value).text} of the roof` : "")
        + (is(e.peer_ratio) ? `, ${ratio(e.peer_ratio).text} as fast as ${peer?.rung ?? "the fastest peer"}` : "") + ".";
    }).join(" ");
  }

  // --- Tables
  const verdict = (e) => (e.skipped ? "refused" : !e.verified ? "WRONG"
    : e.numerics === "reproducible" ? "same bits" : "within bound");
  const named = (e) => (e.verified ? (text) => text : (text) => ({ text, wrong: !e.skipped }));
  function ladderTable(title, device, rows) {
    let [size, rung, first, before, here] = [];
    const method = groupBy(rows, (row) => row.size),
      over = (mine, other) => (mine && other ? other.kernel / mine.kernel : null);
    const lines = rows.filter((row) => row.single || row.sustained).map((row) => {
      if (row.size !== size) [size, rung, first, before, here] = [row.size, null, null, null, null];
      const by = methodOf(method.get(size)), e = row[by] ?? row.e, word = named(e), ladders = row.good && !row.e.vendor;
      if (ladders && row.rung !== rung) [before, here, rung] = [here ?? before, null, row.rung];
      first ??= before;
      if (ladders) here = most([here, row[by]].filter(Boolean), (one) => one.speed);
      return [word(row.size), word(row.rung), word(row.e.text + (row.e.vendor ? " (peer)" : "")), time(row.single?.kernel),
        time(row.sustained?.kernel), percent(e.verified ? e.spread : null), inUnit(e.speed, e.unit),
        ratio(ladders && over(row[by], before)), ratio(ladders && over(row[by], first)),
        percent(e.speed && e.roof?.value ? e.speed / e.roof.value : null),
          ratio(e.verified && (e.peer_ratio ?? row.single?.peer_ratio)),
        time(e.verified && e.seconds.first), word(verdict(e))];
    });
    return { caption: `${title} on ${device}, every rung`, rows: lines,
      head: ["size", "rung", "parameters", "kernel", "sustained", "spread", "rate", "step",
        "cumulative", "of roof", "of peer",
        "first call", "verified"] };
  }
  const phasesTable = (title, rows) => ({ caption: `${title}, end to end from and to host memory`,
    head: ["size", "device", "rung", "memory", ...Object.values(phaseNames), "total", "first call", "verified"],
    rows: rows.flatMap((row) => [...row.ends.values()])
      .map((e) => [...[e.size, e.device, e.variant, e.memory].map(named(e)),
      ...[...Object.keys(phaseNames), "total", "first"]
        .map((key) => time(e.verified && e.seconds[key])), named(e)(verdict(e))]) });
  const unverified = (caption, skipped) => ({ caption, head: ["problem", "size", "device", "rung", "memory", "reason"],
    rows: entries.filter((e) => !e.verified && e.skipped === skipped)
      .map((e) => [e.group, e.size, e.device, e.variant, e.memory, any(e.failure)].map(named(e))) });
  /** A table of one of the other arrays: the columns are [head, cell of an object]. */
  const tableBy = (caption, list, columns) => ({ caption, head: columns.map(([head]) => head),
    rows: list.map((one) => columns.map(([, cell]) => cell(one))) });
  const field = (key) => [key, (one) => any(one[key])];
  const deviceField = ["device", (one) => on(one.run, any(one.device))];
  function publishedTable(p) {
    const pairs = ["published", "today"];
    return { caption: `Document ${p.document}, ${p.name}: ${p.table}, and today on ${on(p.run, p.device)}`,
      note: p.ours ? `Not stated by the document, chosen here: ${p.ours}.` : "",
      head: ["case", "column", "rung",
        ...p.figures.flatMap((figure) => pairs.map((when) => `${figure}, ${when}`)), "verified"],
      rows: p.rows.map((row) => [any(row.label), any(row.column), any(row.rung),
        ...p.figures.flatMap((_, i) => pairs.map((when) => any(row[when]?.[i]))),
        { text: any(row.verdict), wrong: row.verdict === "WRONG" }]) };
  }
  function hostsTable() {
    const every = (of) => [...hosts.values()].map((list) => once(list.flatMap(of)).join(", "));
    const lines = { cpu: (run) => run.host.cpu, cores: (run) => run.host.cores, system: (run) => run.host.os,
      gpus: (run) => (run.host.gpus ?? []).map(({ gpu, driver }) => `${gpu}, driver ${driver}`),
        trine: (run) => run.version,
      date: (run) => (run.date ?? "").slice(0, 10), commands: (run) => run.command ?? "",
        files: (run) => run.file.split("/").at(-1) };
    return { caption: "Hosts", head: ["host", ...[...hosts.keys()].map((label) => label || "measured on")],
      rows: Object.entries(lines).map(([name, of]) => [name, ...every(of)]) };
  }
  function devicesTable() {
    const absent = runs.flatMap((run) => (run.devices ?? []).filter(({ reason }) => reason)
      .map((b) => [on(run, b.backend), `absent: ${b.reason}`]));
    return { caption: "Devices",
      head: ["device", "name", "driver", "units", "memory", "nominal bandwidth", "nominal f32",
      "nominal f64"],
      rows: [...[...facts].map(([name, d]) => [name, any(d.name), any(d.driver),
        any(d.compute_units), inUnit(d.memory_bytes, "B"),
        inUnit(d.peak_bandwidth, "B/s"), inUnit(d.peak_f32, "flop/s"), inUnit(d.peak_f64, "flop/s")]),
      ...[...new Map(absent)].map((row) => [...row, ...Array(6).fill("-")])] };
  }

  // --- Rooflines, overlap
  const roofs = extras("roofs", ["device", "what", "dtype", "memory"]);
  const elementBytes = (dtype) => Number(dtype.slice(1)) / 8;
  /** Each rung at its largest size, at the least bytes that it must move. */
  function intensity(e) {
    const [m, n, k] = e.shape;
    if (e.operation === "gemm") return 2 * m * n * k / ((m * k + k * n + m * n) * elementBytes(e.dtype));
    return m * n / (e.rate.value * e.seconds.kernel);
  }
  function roofline(label, dtype) {
    const mine = entries.filter((e) => e.run.label === label && e.dtype === dtype && e.operation !== "transpose"
      && e.memory === "resident" && e.speed);
    const points = [...groupBy(mine, (e) => [e.device, e.group, e.rung].join()).values()]
      .map((list) => most(list, (e) => e.x + e.speed / 1e30));
    if (points.length === 0) return [];
    const pointOf = (e) => ({ x: intensity(e), y: e.speed * (e.rate.unit === "B/s" ? intensity(e) : 1),
      name: `${e.variant}, ${e.group}, ${e.size}` });
    const series = [...groupBy(points, (e) => e.device)].map(([device, list]) =>
      ({ label: device, slot: devices.indexOf(device), points: list.map(pointOf) }));
    const all = points.map(intensity), [left, right] = [Math.min(...all) / 2, Math.max(...all) * 4];
    for (const { label: device, slot } of [...series]) {
      const of = (whats, key) => Math.max(0, ...roofs.filter((r) => on(r.run, r.device) === device && whats.includes(r.what)
        && (!r.dtype || r.dtype === dtype)).map((r) => r[key] ?? 0));
      const beside = (unit) => most(entries.filter((e) => e.device === device && e.verified && e.roof?.unit === unit
        && (unit === "B/s" || e.dtype === dtype)), (e) => e.x)?.roof.value ?? 0;
      const d = facts.get(device) ?? {}, memory = ["read", "copy"], units = ["fma", "tensor"];
      const kinds = [
        ["measured", of(memory, "value") || beside("B/s"), of(units, "value") || beside("flop/s"), false],
        ["nominal", of(memory, "nominal") || d.peak_bandwidth,
          of(units, "nominal") || d[`peak_${dtype}`] || 0, true]];
      for (const [name, bandwidth, peak, dashed] of kinds) {
        const ridge = bandwidth && peak ? peak / bandwidth : left;
        const places = [left, ridge, right].filter((x) => x >= left && x <= right).sort((a, b) => a - b);
        if (bandwidth > 0) series.push({ label: `${device}, ${name}`, slot, dashed, line: true,
          points: places.map((x) => ({ x, y: peak ? Math.min(peak, x * bandwidth) : x * bandwidth, name: "roof" })) });
      }
    }
    return [{ title: `Roofline, ${dtype}${label ? `, host ${label}` : ""}`, kind: "points", series,
      unit: unitOf("flop/s", dtype), x: `arithmetic intensity (${unitOf("flop", dtype)}/byte)`, y: "performance",
      note: "Solid: roofs measured in the run. Dashed: the data sheet's. Each point is a rung at its largest size." }];
  }
  const timelines = extras("timelines", ["operation", "dtype", "shape", "device", "memory"]);
  function overlap(t) {
    const spans = t.spans ?? [], lanes = once(spans.map(({ lane }) => lane));
    const rows = () => `With the cpu on ${percent(t.cpu_rows).text} of the rows`;
    const note = is(t.gain) ? `${rows()} it is ${ratio(t.gain).text} as fast as without.`
      : is(t.share) ? `The slower of link and kernel takes ${percent(t.share).text} of that alone.` : "";
    return { title: `${t.operation} ${t.dtype} ${sizeOf(t.operation, t.shape)} on ${on(t.run, t.device)}, ${t.memory}`,
      note: `${withUnit(t.seconds, "s")}. ${note}`, kind: "spans", unit: "s", y: "time", x: "", labels: lanes,
      series: lanes.map((lane, slot) => ({ label: lane, slot, spans: spans.filter((span) => span.lane === lane) })) };
  }

  // --- Pictures
  const themes = {
    light: { paper: "#ffffff", ink: "#1b1e23", muted: "#5b626c", grid: "#e3e6ea",
      slots: ["#0068ad", "#c76b00", "#00835f", "#a8478c", "#2f9bd6", "#8a5a2b", "#6b6f00", "#5a6069"] },
    dark: { paper: "#14171b", ink: "#e4e7eb", muted: "#a0a8b3", grid: "#2c3139",
      slots: ["#5aa9e6", "#f2a541", "#37c59a", "#e08fc6", "#a5d8ff", "#c9a27c", "#d7d05a", "#b5bcc6"] },
  };
  const shapes = ["circle", "rect", "triangle", "rectRot", "crossRot", "star"];
  const theme = () => (dark.matches && !print.matches ? themes.dark : themes.light);
  const lies = ({ kind }) => kind !== "lines" && kind !== "points";  // bars with names beside them

  function datasetOf(figure, { label, slot, dashed, line, data, points, spans }) {
    const colour = theme().slots[slot % 8];
    return { label, borderColor: colour, backgroundColor: colour, borderDash: dashed ? [6, 4] : [],
      borderWidth: lies(figure) ? 0 : 2,
      pointStyle: shapes[slot % 6], pointRadius: line ? 0 : 4, showLine: figure.kind === "lines" || line === true,
      spanGaps: true, clip: false, maxBarThickness: 34, grouped: figure.kind !== "spans",
      data: data ?? points ?? spans.map(({ lane, begin, end }) => ({ x: [begin, end], y: lane })) };
  }
  function configOf(figure) {
    const colours = theme(), across = lies(figure), narrow = innerWidth < 600;
    const scale = (text, type, unit, more) =>
      ({ type, title: { display: text !== "" && !narrow, text, color: colours.muted },
      grid: { color: colours.grid }, stacked: figure.kind === "stack" || figure.kind === "spans",
      ticks: { color: colours.ink, maxRotation: 0, autoSkip: !across || type !== "category", autoSkipPadding: 16,
        ...(unit && { callback: (value) =>
          (type === "linear" || /^[125]/.test(value.toExponential()) ? withUnit(value, unit, three)
          : null) }) }, ...more });
    const names = scale(figure.x, "category", null, { labels: figure.labels }),
      values = (type) => scale(across ? figure.y : "", type, figure.unit, {});
    const text = narrow ? figure.title.split(/(?<=,) /) : figure.title;
    const said = ({ dataset, raw, label, parsed, dataIndex }) =>
      `${dataset.label}, ${figure.series.find((s) => s.label === dataset.label)?.names?.[dataIndex]
      ?? raw.name ?? label}: ${Array.isArray(raw.x) ? raw.x.map((at) => withUnit(at, "s"))
        .join(" to ") : withUnit(across ? parsed.x : parsed.y, figure.unit)}`;
    return {
      type: across ? "bar" : figure.kind === "points" ? "scatter" : "line",
      data: { labels: figure.labels, datasets: figure.series.map((series) => datasetOf(figure, series)) },
      options: {
        animation: false, maintainAspectRatio: false, indexAxis: across ? "y" : "x",
        scales: across ? { x: values("linear"), y: names }
          : { x: figure.kind === "points" ? scale(figure.x, "logarithmic", "flop/B", {}) : names,
            y: values("logarithmic") },
        plugins: {
          title: { display: true, text, color: colours.ink, align: "start", font: { size: 15 } },
          subtitle: { display: !across, text: figure.y, color: colours.muted, align: "start", padding: { bottom: 8 } },
          legend: { display: figure.series.length > 1, position: "bottom", align: "start",
            labels: { color: colours.ink, usePointStyle: !across, pointStyleWidth: 30,
              ...(figure.kind === "lines" && { pointStyle: "line" }) } },
          tooltip: { callbacks: { title: () => "", label: said } },
        },
      },
      plugins: [{ id: "paper", beforeDraw: ({ ctx, width, height }) =>  // behind saved pictures
        Object.assign(ctx, { fillStyle: colours.paper }).fillRect(0, 0, width, height) }],
    };
  }

  /** The figures of a picture as a table: places down, curves across. */
  function numbersOf({ title, kind, labels, series, unit, x }) {
    if (kind === "spans")
      return { caption: title, head: ["lane", "chunk", "begin", "end"],
        rows: series.flatMap(({ spans }) => spans.map(({ lane, index, begin, end }) => [lane, String(index),
          figureCell(begin, withUnit(begin, "s")), time(end)])) };
    if (kind === "points")
      return { caption: title, head: ["device", "rung", "flop/byte", "performance"],
        rows: series.flatMap(({ label, points }) =>
        points.map((point) => [label, point.name, inUnit(point.x, "flop/B"), inUnit(point.y, unit)])) };
    return { caption: title, head: [x, ...series.map(({ label }) => label)],
      rows: labels.map((label, i) => [label, ...series.map(({ data }) => inUnit(data[i], unit))]) };
  }

  // --- The page
  function make(tag, properties = {}, ...children) {
    const element = document.createElement(tag);
    for (const [key, value] of Object.entries(properties))
      if (key in element) element[key] = value;
      else element.setAttribute(key, value);
    element.append(...children);
    return element;
  }
  const textOf = (cell) => cell.text ?? cell;
  /** A table that scrolls sideways in its own box, without empty columns. */
  function showTable({ caption, head, rows, note }) {
    const kept = head.map((_, i) => i).filter((i) => rows.some((row) => !["", "-"].includes(textOf(row[i]))));
    const number = kept.map((i) => rows.some((row) => row[i].value !== undefined));
    const classes = (of, i) => [number[i] && "number", of.wrong && "wrong",
      textOf(of).length > 40 && "words"].filter(Boolean);
    const cell = (of, i) => make("td", { className: classes(of, i).join(" ") },
      of.value === undefined ? textOf(of) : make("data", { value: String(of.value) }, of.text));
    const begins = (at) => at > 0 && head[0] === "size" && textOf(rows[at][0]) !== textOf(rows[at - 1][0]);
    const body = rows.map((row, at) => make("tr", { className: begins(at) ? "first" : "" },
      ...kept.map((i, place) => cell(row[i], place))));
    return make("div", { className: "scroll", tabIndex: 0, role: "region", "aria-label": caption },
      make("table", {}, make("caption", {}, make("span", {}, caption)),
        make("thead", {}, make("tr", {}, ...kept.map((i, place) =>
        make("th", { scope: "col", className: number[place] ? "number" : "" }, head[i])))),
          make("tbody", {}, ...body)), note ? make("p", {}, note) : "");
  }
  const pictures = [];  // {figure, canvas, chart}
  function showFigure(figure) {
    const canvas = make("canvas",
      { role: "img", "aria-label": `${figure.title}. ${figure.note} The numbers are in the table below.` });
    const picture = { figure, canvas, chart: null }, box = make("div", { className: "canvas" }, canvas);
    if (lies(figure)) box.style.height = `${7 + 2.4 * figure.labels.length}rem`;
    pictures.push(picture);
    const save = () => make("a",
      { href: picture.chart.toBase64Image(),
      download: `${figure.title.replace(/[^\p{L}\p{N}]+/gu, "-")}.png` }).click();
    return make("figure", {}, box, make("figcaption", {}, make("p", {}, figure.note),
      make("button", { type: "button", className: "save",
        "aria-label": `${figure.title}: save as PNG`, onclick: save }, "PNG")),
    make("details", {}, make("summary", {}, "The numbers"), showTable(numbersOf(figure))));
  }
  /** Draws what is open; the rest has no size yet. `again`: all in today's colours. */
  function draw(again) {
    for (const picture of pictures) {
      if (again && picture.chart) picture.chart = picture.chart.destroy() ?? null;
      if (!picture.chart && !picture.canvas.closest("details:not([open])"))
        picture.chart = new Chart(picture.canvas, configOf(picture.figure));
    }
  }
  const main = document.getElementById("report"), contents = document.getElementById("contents");
  /** A section of the page or, folded, of `within`; nothing where it has nothing to show. */
  function section(title, { text = "", folded = false, alarm = false, within = main, figures = [], tables = [] }) {
    const full = tables.filter(({ rows }) => rows.length > 0);
    if (figures.length + full.length === 0) return null;
    const heading = make(within === main ? "h2" : "h3", {}, title);
    const id = `section-${document.querySelectorAll("[id^=section]").length + 1}`, className = alarm ? "alarm" : "";
    const answered = text ? make("p", { className: "answer" }, text.replace(/(?<=\d) (?=[×%kMGTBF])/g, "\u00a0")) : "";
    const element = make(folded ? "details" : "section", { id, className },
      folded ? make("summary", {}, heading) : heading, answered,
      ...figures.map(showFigure), ...full.map(showTable));
    within.append(element);
    if (within === main) contents.append(make("li", {},
      make("a", { href: `#${element.id}`, onclick: () => { element.open = true; } }, title)));
    return element;
  }
  function details(title, rows, within) {
    section(within ? `${title}, in detail` : title,
      { folded: true, text: within ? "" : answer(rows), within: within ?? main,
      figures: [...(within ? [] : overview(title, rows)), ...phases(title, rows)], tables: [phasesTable(title, rows)] });
    for (const [device, mine] of groupBy(rows, (row) => row.device))
      section(`${title} on ${device}`, { folded: true, within: within ?? main,
        figures: [...ladder(title, device, mine), ...parameters(title, device, mine)],
          tables: [ladderTable(title, device, mine)] });
  }

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 13;
  const wrong = entries.filter((e) => !e.verified && !e.skipped).length, refused = entries.filter((e) => e.skipped).length;
  const summary = document.getElementById("summary");
  const machine = ({ cpu, cores, gpus }) => [`${cpu}, ${cores} cores`, ...(gpus ?? []).map(({ gpu }) => gpu)].join(", ");
  summary.textContent = [...hosts].map(([label, [run]]) => `${label ? `${label}: ` : ""}${machine(run.host)}. `).join("")
    + `${entries.length} results: ${entries.length - wrong - refused} verified`
    + (wrong ? `, ${wrong} WRONG` : "") + (refused ? `, ${refused} refused` : "")
    + (runs.some((run) => run.partial) ? ". A run ended early: the results are partial." : ".");
  if (wrong) summary.className = "alarm";
  section("Wrong results",
    { text: "They count for nothing below.", alarm: true,
    tables: [unverified("Results that failed their verification", false)] });
  // The group of an operation that most devices have at most sizes leads: its answer is open.
  const groups = [...groupBy(entries, (e) => e.group)].map(([title, list]) =>
    ({ title, rows: rowsOf(list), operation: list[0].operation }));
  for (const all of groupBy(groups, ({ operation }) => operation).values()) {
    const leader = most(all, ({ rows }) => once(rows.map(({ device }) => device))
      .length * sizesOf(rows.filter(isDefault)).length);
    const within = section(leader.title,
      { text: answer(leader.rows), figures: overview(leader.title, leader.rows), tables: [] })
      ?? main;
    details(leader.title, leader.rows, within);
    for (const { title, rows } of all) if (title !== leader.title) details(title, rows);
  }
  const dtypes = once(entries.map(({ dtype }) => dtype));
  section("Rooflines", { folded: true,
    figures: [...hosts.keys()].flatMap((label) =>
    dtypes.flatMap((dtype) => roofline(label, dtype))),
    tables: [tableBy("Roofs", roofs, [deviceField, field("what"), field("dtype"), field("memory"),
      ["measured", (r) => inUnit(r.value, r.unit)],
      ["nominal", (r) => inUnit(r.nominal, r.unit)],
        ["of nominal", (r) => percent(r.unit !== "s" && r.nominal ? r.value / r.nominal
        : null)]])] });
  section("Break-even", { folded: true, tables: [tableBy("Break-even", crossings, [["host", (c) => c.run.label],
    ...["operation", "function", "dtype", "memory", "from", "to", "size", "low", "high", "sentence"].map(field)])] });
  section("Overlap of copies and kernels", { folded: true, figures: timelines.map(overlap), tables: [] });
  const sweeps = extras("sweeps", ["device", "call"]);
  section("Sweeps", { folded: true,
    tables: [tableBy("The fastest rung of each call, against the default", sweeps, [deviceField,
    field("call"), field("default"), field("best"),
      ["default's time", (s) => time(s.default_seconds)], ["time", (s) => time(s.seconds)],
    ["speed-up", (s) => ratio(s.default_seconds / s.seconds)], field("gain"), field("saved")])] });
  section("Published figures",
    { folded: true, tables: extras("published", ["document", "name", "table", "device"])
    .map(publishedTable) });
  section("Refused", { folded: true, tables: [unverified("Rungs that refused", true)] });
  section("Hosts and devices", { tables: [hostsTable(), devicesTable()] });
  draw(false);
  document.addEventListener("toggle", () => draw(false), true);
  document.getElementById("all").addEventListener("click", ({ target }) => {
    const open = target.getAttribute("aria-pressed") !== "true";
    target.setAttribute("aria-pressed", String(open));
    for (const element of main.querySelectorAll("details")) element.open = open;
    draw(false);
  });
  for (const media of [dark, print]) media.addEventListener("change", () => draw(true));
  document.documentElement.dataset.drawn = String(pictures.filter(({ chart }) => chart).length);
})();
