// Fields that choose chats: suggestions while typing, and chips of chosen chats.
import { all, ask, debounced, find, released, root } from "./base.js";

// startChoosers starts the fields in a part of the page.
export function startChoosers(part) {
  all("[data-chooser]", part).forEach(start);
}

startChoosers(document);

function start(chooser) {
  const input = find(".chooser-box > input", chooser);
  const list = document.createElement("ul");
  list.id = input.id + "-list";
  list.className = "suggestions";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Suggestions");
  list.hidden = true;
  find(".chooser-box", chooser).after(list);
  for (const [name, value] of Object.entries({ role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id })) input.setAttribute(name, value);
  const suggest = debounced(() => suggestInto(list, input), 150);
  input.addEventListener("input", suggest);
  input.addEventListener("focus", suggest);
  input.addEventListener("blur", () => close(list, input));
  input.addEventListener("keydown", (event) => key(event, chooser, list, input));
  list.addEventListener("pointerdown", (event) => event.preventDefault()); // the focus stays in the field
  list.addEventListener("click", (event) => {
    const option = event.target.closest("[role=option]");
    if (option) choose(chooser, list, input, option);
  });
  chooser.addEventListener("change", (event) => {
    const chip = event.target.closest(".picked");
    if (chip && !event.target.checked) remove(chooser, input, chip);
  });
}

// suggestInto shows the chats that match the typed text.
async function suggestInto(list, input) {
  const typed = input.value.trim();
  const { chats } = await ask(root + "choose?q=" + encodeURIComponent(typed)).catch(() => ({ chats: [] }));
  await released(); // a finger may be touching an option
  if (input.value.trim() !== typed || document.activeElement !== input) return;
  const found = (chats || []).map((chat) => chat.jid).join();
  if (!list.hidden && list.dataset.found === found) return; // the marked option stays
  list.dataset.found = found;
  list.replaceChildren(...(chats || []).map((chat, i) => optionOf(chat, list.id + i)));
  list.hidden = !list.children.length;
  input.setAttribute("aria-expanded", !list.hidden);
  input.removeAttribute("aria-activedescendant");
}

function optionOf(chat, id) {
  const option = document.createElement("li");
  const name = document.createElement("bdi");
  const about = document.createElement("span");
  option.id = id;
  option.setAttribute("role", "option");
  option.setAttribute("aria-selected", "false");
  option.dataset.jid = chat.jid;
  name.textContent = chat.name;
  about.textContent = chat.about === chat.name ? "" : chat.about;
  option.append(name, about);
  return option;
}

function key(event, chooser, list, input) {
  const options = all("[role=option]", list);
  const at = options.findIndex((option) => option.getAttribute("aria-selected") === "true");
  if ((event.key === "ArrowDown" || event.key === "ArrowUp") && options.length && !list.hidden) {
    event.preventDefault();
    const step = event.key === "ArrowDown" ? at + 1 : at < 0 ? options.length - 1 : at - 1 + options.length;
    mark(options, step % options.length, input);
  } else if (event.key === "Enter" && (at >= 0 || input.value.trim())) {
    event.preventDefault(); // Enter chooses and does not submit
    if (at >= 0) choose(chooser, list, input, options[at]);
    else chooseFirst(chooser, list, input);
  } else if (event.key === "Escape" && !list.hidden) {
    event.stopPropagation();
    close(list, input);
  } else if (event.key === "Backspace" && !input.value) {
    const last = all(".picked", chooser).pop();
    if (last) remove(chooser, input, last);
  }
}

// chooseFirst chooses the best match of the typed text.
async function chooseFirst(chooser, list, input) {
  await suggestInto(list, input);
  const first = find("[role=option]", list);
  if (first) choose(chooser, list, input, first);
}

function mark(options, at, input) {
  options.forEach((option, i) => option.setAttribute("aria-selected", i === at));
  options[at].scrollIntoView({ block: "nearest" });
  input.setAttribute("aria-activedescendant", options[at].id);
}

function close(list, input) {
  list.hidden = true;
  list.replaceChildren();
  input.setAttribute("aria-expanded", "false");
  input.removeAttribute("aria-activedescendant");
}

// choose adds a chip. A field for one chat replaces its chip.
function choose(chooser, list, input, option) {
  const chips = all(".picked", chooser);
  if ("single" in chooser.dataset) chips.forEach((chip) => chip.remove());
  if (!chips.some((chip) => chip.isConnected && find("input", chip).value === option.dataset.jid)) {
    const chip = find("template", chooser).content.cloneNode(true).firstElementChild;
    find("input", chip).value = option.dataset.jid;
    find("bdi", chip).textContent = find("bdi", option).textContent;
    input.before(chip);
  }
  input.value = "";
  input.required = false;
  input.removeAttribute("aria-invalid");
  find(".wrong", chooser)?.remove();
  close(list, input);
}

function remove(chooser, input, chip) {
  chip.remove();
  input.required = "required" in chooser.dataset && !find(".picked", chooser);
  input.focus();
}
