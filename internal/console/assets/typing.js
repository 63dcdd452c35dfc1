// Who types in the chat that is open, in place of the line below its name. The bridge tells
// when they stop, and on each new stream who types already.
import { ask, find, root } from "./base.js";
import { chat } from "./chat.js";
import { listeners } from "./live.js";

const line = find("[data-typing]");
const active = new Map(); // what each person does
const names = new Map(); // of people, empty until they come

function show() {
  const people = active.size;
  const [[person, state] = []] = active;
  line.textContent = !people ? "" : people === 1 && state === "recording" ? "recording…" : "typing…";
  if (people && "group" in line.dataset) line.prepend(...(people === 1 ? [named(person), " is "] : [people + " people are "]));
  line.hidden = !people;
  line.previousElementSibling.hidden = people > 0;
}

// named returns the name of a person, which is asked for once.
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

if (chat && line) {
  listeners.push(({ type, chatJid, typing }) => {
    if (type === "begin" || type === "break") active.clear();
    else if (type !== "chat.typing" || chatJid !== chat.dataset.chat) return;
    else if (typing.state === "paused") active.delete(typing.senderJid);
    else active.set(typing.senderJid, typing.state);
    show();
  });
}
