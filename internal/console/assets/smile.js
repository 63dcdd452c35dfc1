// Emoji for the composer, on desktops: phones have an emoji keyboard.
import { all, find } from "./base.js";
import { area } from "./composer.js";
import { move, show } from "./picker.js";

const box = find("#written-emojis");
const button = find("[popovertarget=written-emojis]");

// put positions the box above its button.
function put() {
  const at = button.getBoundingClientRect();
  box.style.left = Math.max(8, Math.min(at.left, innerWidth - box.offsetWidth - 8)) + "px";
  box.style.bottom = innerHeight - at.top + 8 + "px";
}

function insert(sign) {
  area.setRangeText(sign, area.selectionStart, area.selectionEnd, "end");
  area.dispatchEvent(new Event("input", { bubbles: true }));
}

if (box) {
  button.hidden = false;
  box.addEventListener("toggle", async (event) => {
    button.setAttribute("aria-expanded", event.newState === "open");
    if (event.newState !== "open") return area.focus();
    put();
    find("input", box).focus();
    await show(box, "");
  });
  box.addEventListener("click", (event) => {
    const emoji = event.target.closest("[data-emoji]");
    if (emoji) insert(emoji.dataset.emoji);
  });
  box.addEventListener("keydown", (event) => {
    if (move(event, all("input, .emoji-list button", box))) event.preventDefault();
  });
}
