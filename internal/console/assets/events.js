// The event log, live.
import { all, find } from "./base.js";
import { listeners } from "./live.js";

const log = find("#event-log");
if (log) {
  const pause = find("#pause");
  const waiting = [];
  let paused = false;
  const most = 500;
  const wanted = new URLSearchParams(log.dataset.query);
  const show = (event) => {
    const row = find("#event-row").content.cloneNode(true).firstElementChild;
    const about = event.message || event.chat || event.group || {};
    find(".event-id", row).textContent = event.id;
    find(".event-at", row).textContent = new Date(event.timestamp).toLocaleTimeString("en-GB", { timeZone: document.body.dataset.zone });
    find(".event-type", row).textContent = event.type;
    find(".event-type", row).classList.add(event.type);
    find(".event-text", row).textContent = event.message
      ? `${event.message.fromMe ? "You" : about.pushName || ""}: ${event.message.content || event.message.messageType}`
      : about.name || event.status?.status || event.backup?.error || "";
    find("code", row).textContent = JSON.stringify(event, null, 2);
    row.className = "new";
    log.prepend(row);
    find("#no-events")?.remove();
    while (log.children.length > most) log.lastElementChild.remove();
  };
  listeners.push((event) => {
    if (!event.id) return;
    if (wanted.has("types") && !wanted.get("types").split(",").includes(event.type)) return;
    if (wanted.has("chat") && wanted.get("chat") !== event.chatJid) return;
    if (!paused) return show(event);
    waiting.push(event);
    if (waiting.length > most) waiting.shift();
    find("span", pause).textContent = `Resume (${waiting.length})`;
  });
  pause.hidden = false;
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", paused);
    find("span", pause).textContent = paused ? "Resume" : "Pause";
    while (!paused && waiting.length) show(waiting.shift());
  });
}

// Filters apply at once.
for (const box of all(".event-filter input[type=checkbox]")) box.addEventListener("change", () => box.form.requestSubmit());
