// Who types in the chat that is open, in place of the line below its name. The bridge tells
// when they stop.
import { find } from "./base.js";
import { chat } from "./chat.js";
import { listeners } from "./live.js";

const line = find("[data-typing]");
const active = new Map(); // what each person does

function show() {
  const people = active.size;
  const records = [...active.values()].includes("recording");
  const who = "group" in line.dataset ? (people === 1 ? "Someone is " : people + " people are ") : "";
  line.textContent = people ? who + (records && people === 1 ? "recording…" : "typing…") : "";
  line.hidden = !people;
  line.previousElementSibling.hidden = people > 0;
}

if (chat && line) {
  listeners.push(({ type, chatJid, typing }) => {
    if (type !== "chat.typing" || chatJid !== chat.dataset.chat) return;
    if (typing.state === "paused") active.delete(typing.senderJid);
    else active.set(typing.senderJid, typing.state);
    show();
  });
}
