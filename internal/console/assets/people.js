// Choosing people and chats: lists that follow the typed text, and forwarding in a dialog.
import { all, ask, debounced, find, load, loadChanges, toast } from "./base.js";

// A form with data-suggest shows its results in [data-found]. The request includes the chosen entries.
function suggests(form, root) {
  const field = find("input[name=q]", form);
  let asked;
  const renew = async () => {
    asked?.abort();
    asked = new AbortController();
    const query = new URLSearchParams({ q: field.value });
    for (const box of all("input[type=checkbox]:checked", form)) query.append(box.name, box.value);
    try {
      const page = await loadChanges((form.dataset.suggest || form.getAttribute("action").split("#")[0]) + "?" + query, asked.signal);
      const shown = find("[data-found]", root);
      const fresh = find("[data-found]", page);
      if (shown && fresh) shown.replaceChildren(...keepChoice(shown, fresh), ...fresh.childNodes);
    } catch (failure) {
      if (failure.name !== "AbortError") toast(failure.message, true);
    }
  };
  field.addEventListener("input", debounced(renew, 180));
  find(".needless", form)?.remove();
  const stay = (event) => { // Enter searches and does not submit
    if (event.key !== "Enter" || form.method !== "post" || !event.target.matches("input")) return;
    event.preventDefault();
    field.focus();
  };
  form.addEventListener("keydown", stay);
  form.addEventListener("keypress", stay); // the next field gets it
}

// keepChoice checks the chosen entries in a fresh list, and returns the rows of missing ones.
function keepChoice(shown, fresh) {
  const rows = new Map(all("input:checked", shown).map((box) => [box.value, box.closest("li")]));
  for (const box of all("input[type=checkbox]", fresh)) {
    box.checked = rows.has(box.value);
    rows.delete(box.value);
  }
  return rows.values();
}

// startSuggesting starts the forms with data-suggest in a part of the page.
export function startSuggesting(part) {
  for (const form of all("form[data-suggest]", part)) suggests(form, part);
}

startSuggesting(document);

// Forwarding

async function openForward(link) {
  const path = link.getAttribute("href");
  let form;
  try {
    form = find("#forward", await load(path));
  } catch (failure) {
    return toast(failure.message, true);
  }
  const dialog = document.createElement("dialog");
  dialog.className = "sheet";
  dialog.setAttribute("aria-labelledby", "forward-title");
  const title = Object.assign(document.createElement("h2"), { id: "forward-title", textContent: "Forward" });
  dialog.append(title, form);
  document.body.append(dialog);
  suggests(form, dialog);
  const back = find(".open .msg-menu") || document.activeElement;
  dialog.addEventListener("close", () => {
    dialog.remove();
    back.focus();
  });
  dialog.addEventListener("keydown", (event) => event.stopPropagation()); // the chat must not handle keys
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog || event.target.closest("[data-close]")) {
      event.preventDefault();
      dialog.close();
    }
  });
  form.addEventListener("submit", (event) => sendForward(event, form, dialog));
  dialog.showModal();
}

async function sendForward(event, form, dialog) {
  event.preventDefault();
  const buttons = all("button", form);
  const body = new URLSearchParams(new FormData(form));
  buttons.forEach((button) => (button.disabled = true));
  find("[role=alert]", form)?.remove();
  try {
    const answer = await ask(form.getAttribute("action"), body);
    dialog.close();
    toast(answer.text);
  } catch (failure) {
    const why = Object.assign(document.createElement("p"), { className: "notice bad", textContent: failure.message, dir: "auto" });
    why.setAttribute("role", "alert");
    find(".form-end", form).before(why);
  }
  buttons.forEach((button) => (button.disabled = false));
}

document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[href$='/forward']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  openForward(link);
});
