// Numbers, times and names as text.

const day = 86_400_000;

/** "24.1 s", "3 min 12 s", "2 h 05 min", "3 d 4 h"; of ms. */
export function duration(ms) {
  if (ms === null || Number.isNaN(ms)) return "";
  if (ms < 0) return `-${duration(-ms)}`;
  const seconds = ms / 1000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.round(seconds)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${pad(whole % 60)} s`;
  if (whole < 86_400) return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} min`;
  return `${Math.floor(whole / 86_400)} d ${Math.floor((whole % 86_400) / 3600)} h`;
}
export const seconds = (s) => (s === null ? "" : duration(s * 1000));

const pad = (number) => String(number).padStart(2, "0");
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** Local: "22:40:17", or "24 Nov 22:40" where that is another day than `now`. */
export function clock(ms, now = Date.now()) {
  if (ms === null) return "";
  const at = new Date(ms);
  const time = `${pad(at.getHours())}:${pad(at.getMinutes())}`;
  if (new Date(now).toDateString() === at.toDateString()) return `${time}:${pad(at.getSeconds())}`;
  const year = Math.abs(now - ms) > 300 * day ? ` ${at.getFullYear()}` : "";
  return `${at.getDate()} ${months[at.getMonth()]}${year} ${time}`;
}
/** Of an axis with a mark each `step` ms: "22:40", "22:40:15", with the date before it where that is asked for. */
export function tickText(ms, step, withDate) {
  const at = new Date(ms);
  const date = `${at.getDate()} ${months[at.getMonth()]}`;
  if (step >= day) return date;
  const time = `${pad(at.getHours())}:${pad(at.getMinutes())}${step < 60_000 ? `:${pad(at.getSeconds())}` : ""}`;
  return withDate ? `${date} ${time}` : time;
}
/** "2026-11-24 22:40:17 UTC" */
export const utc = (ms) => (ms === null ? "" : `${new Date(ms).toISOString().slice(0, 19).replace("T", " ")} UTC`);

export const number = (n) => String(n).replace(/\B(?=(\d{3})+$)/g, ",");
export const plural = (n, one, many = `${one}s`) => `${number(n)} ${n === 1 ? one : many}`;

/** "0-3, 7, 9-11" of positions. */
export function ranges(positions, most = 12) {
  const sorted = [...positions].sort((a, b) => a - b);
  const out = [];
  for (const each of sorted) {
    const last = out.at(-1);
    if (last && last[1] + 1 >= each) last[1] = each;
    else out.push([each, each]);
  }
  const shown = out.slice(0, most).map(([a, b]) => (a === b ? `${a}` : `${a}-${b}`));
  if (out.length > most) shown.push("...");
  return shown.join(", ");
}

/** The name alone where the namespace goes without saying. */
export const short = (key, ns) => (key.startsWith(`${ns}/`) ? key.slice(ns.length + 1) : key);
