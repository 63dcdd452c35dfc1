// Forms that stay on their page, menus and keys.
import { all, ask, copy, find, root, toast } from "./base.js";
import { agreed } from "./agree.js";
import { alike, refresh } from "./live.js";

// Forms that stay on their page

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const question = (event.submitter || form).dataset.ask || form.dataset.ask;
  if (question && !agreed(event, question)) return;
  if (!form.matches("[data-async]")) return;
  event.preventDefault();
  const buttons = all("button", form).filter((button) => !button.disabled);
  const body = new URLSearchParams(new FormData(form, event.submitter));
  showFaults(form, {});
  buttons.forEach((button) => (button.disabled = true));
  try {
    const answer = await ask(form.action, body);
    toast(answer.text);
    if (form.dataset.async === "reset") form.reset();
    all("[data-live]").forEach(refresh);
  } catch (failure) {
    // The region of the form may have been replaced meanwhile.
    const shown = form.isConnected ? form : all("form").find((one) => alike(one, form));
    if (failure.fields && shown) showFaults(shown, failure.fields);
    else toast(failure.message, true);
  }
  buttons.forEach((button) => (button.disabled = false));
});

// showFaults shows errors next to the fields of a form, and focuses the first one.
function showFaults(form, fields) {
  all(".wrong", form).forEach((one) => one.remove());
  all("[aria-invalid]", form).forEach((one) => one.removeAttribute("aria-invalid"));
  for (const [name, text] of Object.entries(fields).reverse()) {
    const field = form.elements[name];
    if (!field) {
      toast(text, true);
      continue;
    }
    const wrong = document.createElement("span");
    wrong.className = "wrong";
    wrong.textContent = text;
    field.after(wrong);
    field.setAttribute("aria-invalid", "true");
    field.focus();
  }
}

// Copying

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button.dataset.copy || find("code, pre", button.parentElement).textContent);
});

// The table of contents scrolls to the current section.
const contents = find(".contents");
if (contents) contents.scrollTop = find("[aria-current]", contents).offsetTop - contents.clientHeight / 3;

// Keys

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, textarea, select");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
    const box = all("input[type=search]").find((one) => one.checkVisibility());
    if (box) {
      event.preventDefault();
      box.focus();
      box.select();
    } else {
      location.href = root + "search";
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
