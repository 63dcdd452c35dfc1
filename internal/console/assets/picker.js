// The list of emoji with search and arrow keys.
import { find, toast } from "./base.js";

export function buttonOf({ sign, name }) {
  const button = document.createElement("button");
  Object.assign(button, { type: "button", className: "emoji", textContent: sign, title: name });
  button.dataset.emoji = sign;
  button.setAttribute("aria-label", name);
  return button;
}

// show lists the emoji that match a query, or all emoji by group if the query is empty.
export async function show(box, query) {
  const field = find("input", box);
  if (!query) field.value = "";
  try {
    const { load, search } = await import("./emoji.js");
    const groups = await load();
    if (query !== field.value.trim()) return;
    const found = query && search(query);
    const list = find(".emoji-list", box);
    list.replaceChildren(...(query ? [{ emoji: found }] : groups).flatMap((group) => {
      const grid = document.createElement("div");
      grid.append(...group.emoji.map(buttonOf));
      return group.name ? [Object.assign(document.createElement("h3"), { textContent: group.name }), grid] : [grid];
    }));
    list.scrollTop = 0;
    find(".hint", box).hidden = !query || found.length > 0;
  } catch {
    toast("The emoji can’t be loaded.", true);
  }
}

document.addEventListener("input", ({ target }) => target.matches(".emojis input") && show(target.closest(".emojis"), target.value.trim()));
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !event.target.matches(".emojis input")) return;
  event.preventDefault();
  find(".emoji-list button", event.target.closest(".emojis"))?.click();
});

// move moves the focus between buttons with the arrow keys, and reports whether the key was one of them.
export function move({ key, target }, buttons) {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[key];
  const isVertical = key === "ArrowUp" || key === "ArrowDown";
  if (!step || target.matches("input") && key !== "ArrowDown") return false;
  const at = buttons.indexOf(target);
  let next = buttons[at + step];
  if (isVertical) { // to the nearest button in the next row
    const from = target.getBoundingClientRect();
    const middle = (box) => (box.left + box.right) / 2;
    const rows = buttons.map((one) => [one, one.getBoundingClientRect()]).filter(([, box]) => (box.top - from.top) * step > 4);
    const row = step > 0 ? Math.min(...rows.map(([, box]) => box.top)) : Math.max(...rows.map(([, box]) => box.top));
    const near = rows.filter(([, box]) => Math.abs(box.top - row) < 4);
    next = near.sort(([, one], [, other]) => Math.abs(middle(one) - middle(from)) - Math.abs(middle(other) - middle(from)))[0]?.[0];
  }
  next?.focus();
  return true;
}
