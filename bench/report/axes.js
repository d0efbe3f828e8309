// Values in words, and the ticks of the axes: one unit an axis, three significant digits, labels beside each other.
"use strict";
const Axes = (() => {
  const three = (value) => String(parseFloat(value.toPrecision(3)));
  const superscript = (number) => String(number).replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]);
  const powerText = (value) => (Number.isInteger(Math.log2(value)) ? `2${superscript(Math.log2(value))}` : String(parseFloat(value.toPrecision(6))));
  const prefixes = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"], [1, ""], [1e-3, "m"], [1e-6, "µ"], [1e-9, "n"]];
  const prefixOf = (value) => prefixes.find(([least]) => Math.abs(value) >= least * 0.9995) ?? prefixes.at(-1);
  const hasPrefix = (axis) => !["", "×", "flop/B"].includes(axis.unit);
  /** "59.2 GB/s", "1.23 µs", "2²⁰". */
  function words(value, axis) {
    if (axis.scale === "names") return axis.names[value];
    if (axis.unit === "×") return `${value < 999.5 ? value.toPrecision(3) : three(value)}×`;
    if (axis.unit === "") return value > 4096 ? powerText(value) : String(value);
    if (!hasPrefix(axis) || value === 0) return three(value);
    const [scale, prefix] = prefixOf(value), digits = (value / scale).toPrecision(3);
    return `${Math.abs(value / scale) < 999.5 ? digits : three(value / scale)} ${prefix}${axis.unit.replace("flop", "FLOP")}`;
  }
  /** The one unit of an axis' ticks: of its values' middle, of the largest from zero on. */
  function unitOf(axis, values) {
    if (!hasPrefix(axis)) return [1, axis.unit === "flop/B" ? "flop/byte" : axis.unit];
    const low = Math.min(...values), high = Math.max(...values);
    const [scale, prefix] = prefixOf(axis.scale === "log" ? Math.max(Math.sqrt(low * high), high / 9999) : high);
    return [scale, prefix + axis.unit.replace("flop", "FLOP")];
  }

  /** The first of the lists of ticks whose labels have room beside each other. */
  function fit(scale, lists) {
    const length = scale.isHorizontal() ? scale.chart.width - 70 : scale.chart.height - 60;
    const range = Math.log(scale.max / scale.min), { ctx } = scale.chart, { callback } = scale.options.ticks;
    ctx.save();
    ctx.font = `${Chart.defaults.font.size}px ${Chart.defaults.font.family}`;
    const room = (values) => (scale.isHorizontal()
      ? Math.max(...values.map((value) => ctx.measureText(callback(value)).width)) + 16 : 24);
    const fits = (values) => values.every((value, i) =>
      i === 0 || Math.log(value / values[i - 1]) / range * length >= room(values));
    const inside = lists.map((list) => list.filter((value) => value >= scale.min * 0.999 && value <= scale.max * 1.001));
    scale.ticks = (inside.find((list) => list.length > 1 && fits(list)) ?? inside[0]).map((value) => ({ value }));
    ctx.restore();
  }
  const powers = (base, scale, step) => {
    const first = Math.floor(Math.log(scale.min) / Math.log(base)), last = Math.ceil(Math.log(scale.max) / Math.log(base));
    return Array.from({ length: Math.floor((last - first) / step) + 1 }, (_, i) => base ** (first + i * step));
  };
  const powersOfTwo = (scale) => fit(scale, [1, 2, 3, 4, 5, 6, 8, 10].map((step) => powers(2, scale, step)));
  /** 1, 2, 3, 5, 7, 10 …, 1, 2, 5, 10 … or 1, 10, 100 …; even steps where a scale spans little. */
  function decades(scale) {
    const ones = powers(10, scale, 1), times = (...of) => ones.flatMap((one) => of.map((each) => each * one));
    const rough = (scale.max - scale.min) / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((few) => few * power >= rough);
    const even = Array.from({ length: 8 }, (_, i) => parseFloat(((Math.ceil(scale.min / step) + i) * step).toPrecision(12)));
    fit(scale, [...(scale.max / scale.min < 6 ? [even] : []), times(1, 2, 3, 5, 7), times(1, 2, 5), ones, powers(10, scale, 2), powers(10, scale, 3)]);
  }

  /** An axis' title, the text of its ticks, and what places them. */
  function ticksOf(axis, values) {
    const [unit, unitText] = unitOf(axis, values);
    const asPowers = axis.unit === "" && Math.max(...values) > 4096;
    return {
      title: `${axis.title}${unitText && unitText !== "×" ? ` (${unitText})` : ""}`,
      label: (value) => (axis.unit === "" ? (asPowers ? powerText : String)(value)
        : `${three(value / unit)}${axis.unit === "×" ? "×" : ""}`),
      place: axis.scale === "log2" ? powersOfTwo : decades,
    };
  }
  return { words, ticksOf };
})();
