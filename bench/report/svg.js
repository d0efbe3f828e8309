// SVG of what is drawn on a canvas: a context that draws as the one it is given and writes each mark down too. It knows
// what Chart.js draws with: paths, arcs, rectangles, text; clips aren't nested in each other.
"use strict";
/** [context, svg]: draw on the first, then ask the second for the text. */
function recordingContext(context) {
  let marks = [], path = "", clip = "";
  const clips = [], number = (value) => Number(value.toFixed(2));
  const escaped = (text) => text.replace(/[&<>"]/g, (sign) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "'" })[sign]);
  function at(x, y) {
    const point = context.getTransform().transformPoint({ x, y });
    return `${number(point.x)} ${number(point.y)}`;
  }
  const line = (x, y) => { path += `${path ? "L" : "M"}${at(x, y)}`; };
  const box = (x, y, width, height) =>
    `M${at(x, y)}L${at(x + width, y)}L${at(x + width, y + height)}L${at(x, y + height)}Z`;
  const shape = (outline, paint) => { if (outline) marks.push(`<path d="${outline}" ${paint}${clip}/>`); };
  const filled = () => `fill="${context.fillStyle}"`;
  const stroked = () => `fill="none" stroke="${context.strokeStyle}" stroke-width="${context.lineWidth}"`
    + (context.getLineDash().length ? ` stroke-dasharray="${context.getLineDash().join(" ")}"` : "");
  const record = {
    beginPath() { path = ""; },
    closePath() { path += "Z"; },
    moveTo(x, y) { path += `M${at(x, y)}`; },
    lineTo: line,
    rect(...of) { path += box(...of); },
    bezierCurveTo(a, b, c, d, x, y) { path += `C${at(a, b)} ${at(c, d)} ${at(x, y)}`; },
    arc(x, y, radius, from, to, backwards = false) {
      const turn = backwards ? -Math.min(from - to, 2 * Math.PI) : Math.min(to - from, 2 * Math.PI);
      line(x + radius * Math.cos(from), y + radius * Math.sin(from));
      for (const angle of [from + turn / 2, from + turn])  // half of it each, which a full circle needs
        path += `A${radius} ${radius} 0 0 ${backwards ? 0 : 1} ${at(x + radius * Math.cos(angle), y + radius * Math.sin(angle))}`;
    },
    fill() { shape(path, filled()); },
    stroke() { shape(path, stroked()); },
    fillRect(...of) { shape(box(...of), filled()); },
    strokeRect(...of) { shape(box(...of), stroked()); },
    save() { clips.push(clip); },
    restore() { clip = clips.pop() ?? ""; },
    clip() {
      marks.push(`<clipPath id="clip${marks.length}"><path d="${path}"/></clipPath>`);
      clip = ` clip-path="url(#clip${marks.length - 1})"`;
    },
    fillText(text, x, y) {
      const { a, b, c, d, e, f } = context.getTransform(), baseline = context.textBaseline;
      const ascent = () => context.measureText(text).fontBoundingBoxAscent, above = ascent();
      context.textBaseline = "alphabetic";
      const down = ascent() - above;
      context.textBaseline = baseline;
      const anchor = { center: "middle", right: "end", end: "end" }[context.textAlign] ?? "start";
      // A clip would be moved with the text.
      marks.push(`<g${clip}><text transform="matrix(${[a, b, c, d, e, f].map(number).join(" ")})" x="${number(x)}" y="${number(y + down)}"`
        + ` text-anchor="${anchor}" style="font: ${escaped(context.font)}" ${filled()}>${escaped(text)}</text></g>`);
    },
  };
  const both = new Proxy(context, {
    get(target, key) {
      const value = target[key];
      return typeof value !== "function" ? value : (...of) => {
        record[key]?.(...of);
        return value.apply(target, of);
      };
    },
    set(target, key, value) {
      target[key] = value;
      return true;
    },
  });
  const svg = (draw) => {
    const { width, height } = context.canvas;
    marks = [];
    draw();
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">\n`
      + `${marks.join("\n")}\n</svg>\n`;
  };
  return [both, svg];
}
