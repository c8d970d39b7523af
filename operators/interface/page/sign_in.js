// Asks for a bearer token. What is typed is handed on and wiped; it is never an attribute, an address or a stored value.
import { command, h } from "./dom.js";

let dialog = null;

export function askForToken(then) {
  if (dialog?.open) return;
  dialog?.remove();
  const input = h("input", { id: "token", type: "password", autocomplete: "off", spellcheck: "false", autocapitalize: "off", "aria-describedby": "token-help" });
  const show = h("input", { id: "show-token", type: "checkbox" });
  const form = h(
    "form",
    { method: "dialog" },
    h("h2", { id: "sign-in-title" }, "Sign in"),
    h("p", { id: "token-help" }, "This page asks the interface with your rights; reading is enough. The token stays in the memory of this tab: closing or reloading the page forgets it."),
    h("label", { for: "token" }, "Bearer token"),
    input,
    h("div", { class: "row" }, show, h("label", { for: "show-token" }, "Show what I type")),
    h("p", { class: "muted" }, "A token of a service account with the audience of the interface:"),
    command("kubectl create token NAME --namespace NAMESPACE --audience esi"),
    h("div", { class: "row end" }, h("button", { type: "button", class: "quiet", id: "sign-in-cancel" }, "Cancel"), h("button", { type: "submit", class: "primary" }, "Sign in")),
  );
  dialog = h("dialog", { id: "sign-in", "aria-labelledby": "sign-in-title" }, form);
  show.addEventListener("change", () => input.setAttribute("type", show.checked ? "text" : "password"));
  form.querySelector("#sign-in-cancel").addEventListener("click", () => close());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const token = input.value.trim();
    if (!token) return input.focus();
    close();
    then(token);
  });
  dialog.addEventListener("close", () => close());
  document.body.append(dialog);
  dialog.showModal();
  input.focus();

  function close() {
    input.value = "";
    if (dialog.open) dialog.close();
  }
}
