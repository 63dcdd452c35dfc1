// Shows who is typing in the open chat, in the line under its name. The bridge sends an event at the
// end of typing, and the current state on each new stream.
import { ask, find, root } from "./base.js";
import { chat, eachChat } from "./chat.js";
import { listeners } from "./live.js";

const active = new Map(); // activity by person, for each chat
const names = new Map(); // by person; empty until loaded

function show() {
  const line = find("[data-typing]"), all = active.get(chat.jid) || new Map();
  if (!line) return;
  const people = all.size;
  const [[person, state] = []] = all;
  line.textContent = !people ? "" : people === 1 && state === "recording" ? "recording…" : "typing…";
  if (people && "group" in line.dataset) line.prepend(...(people === 1 ? [named(person), " is "] : [people + " people are "]));
  line.hidden = !people;
}

// named returns the name of a person. It requests it once.
function named(person) {
  if (!names.has(person)) {
    names.set(person, "");
    ask(`${root}name?of=${encodeURIComponent(person)}`).then(({ name }) => {
      names.set(person, name);
      show();
    }, () => names.delete(person));
  }
  return Object.assign(document.createElement("bdi"), { textContent: names.get(person) || "Someone" });
}

listeners.push(({ type, chatJid, typing }) => {
  if (type === "begin" || type === "break") active.clear();
  else if (type !== "chat.typing") return;
  else if (typing.state === "paused") active.get(chatJid)?.delete(typing.senderJid);
  else active.set(chatJid, (active.get(chatJid) || new Map()).set(typing.senderJid, typing.state));
  show();
});
eachChat(show);
