// Dark or light: as the system has it, or as was chosen here. The choice is kept by the browser; nothing else is.
const place = "esi-theme";
export const themes = { system: { sign: "◐", word: "as the system" }, light: { sign: "☀", word: "light" }, dark: { sign: "☾", word: "dark" } };
let chosen = read();

function read() {
  try {
    return localStorage.getItem(place) in themes ? localStorage.getItem(place) : "system";
  } catch {
    return "system";
  }
}
export const currentTheme = () => chosen;

const dark = matchMedia("(prefers-color-scheme: dark)");
let told = () => {};
dark.addEventListener("change", () => apply());

function apply() {
  const scheme = chosen === "system" ? (dark.matches ? "dark" : "light") : chosen;
  document.documentElement.dataset.theme = scheme;
  told();
}
/** `changed` is called now, and whenever the system changes its mind. */
export function chooseTheme(name, changed) {
  chosen = name;
  told = changed;
  try {
    if (name === "system") localStorage.removeItem(place);
    else localStorage.setItem(place, name);
  } catch {
    // A browser that keeps nothing: the choice lasts as long as the page.
  }
  apply();
}
