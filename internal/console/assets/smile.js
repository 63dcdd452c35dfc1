// Emoji for the composer, on desktops: phones have an emoji keyboard.
import { all, find } from "./base.js";
import { eachChat } from "./chat.js";
import { textField } from "./composer.js";
import { move, show } from "./picker.js";

// put positions the box above its button.
function put(box, button) {
  const at = button.getBoundingClientRect();
  box.style.left = Math.max(8, Math.min(at.left, innerWidth - box.offsetWidth - 8)) + "px";
  box.style.bottom = innerHeight - at.top + 8 + "px";
}

function insert(sign) {
  const area = textField();
  area.setRangeText(sign, area.selectionStart, area.selectionEnd, "end");
  area.dispatchEvent(new Event("input", { bubbles: true }));
}

eachChat(() => {
  const box = find("#written-emojis"), button = find("[popovertarget=written-emojis]");
  if (!box) return;
  button.hidden = false;
  box.addEventListener("toggle", async (event) => {
    button.setAttribute("aria-expanded", event.newState === "open");
    if (event.newState !== "open") return textField().focus();
    put(box, button);
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
});
