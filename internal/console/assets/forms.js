// Forms that stay on their page, menus and keys.
import { all, ask, copy, find, toast } from "./base.js";
import { agreed } from "./agree.js";
import { refresh } from "./live.js";

// Forms that stay on their page

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const question = (event.submitter || form).dataset.ask || form.dataset.ask;
  if (question && !agreed(event, question)) return;
  if (!form.matches("[data-async]")) return;
  event.preventDefault();
  const buttons = all("button", form).filter((button) => !button.disabled);
  const body = new URLSearchParams(new FormData(form, event.submitter));
  buttons.forEach((button) => (button.disabled = true));
  try {
    const answer = await ask(form.action, body);
    toast(answer.text);
    if (form.dataset.async === "reset") form.reset();
    all("[data-live]").forEach(refresh);
  } catch (failure) {
    toast(failure.message, true);
  }
  buttons.forEach((button) => (button.disabled = false));
});

// Copying

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button.dataset.copy || find("code, pre", button.parentElement).textContent);
});

// Keys

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, textarea, select");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
    const box = find("input[type=search]");
    if (box) {
      event.preventDefault();
      box.focus();
      box.select();
    } else {
      location.href = "/console/search";
    }
  }
  if (event.key === "Escape") {
    for (const menu of all("details.menu[open]")) {
      menu.open = false;
      find("summary", menu).focus();
    }
  }
});

// A menu closes when something else is clicked.
document.addEventListener("click", (event) => {
  for (const menu of all("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});
