// The event log, live.
import { all, find, loadChanges } from "./base.js";
import { listeners } from "./live.js";

const log = find("#event-log");
if (log) {
  const pause = find("#pause");
  const most = 500; // rows on the page
  const wanted = new URLSearchParams(log.dataset.query);
  let paused = false;
  let missed = 0; // events since the pause
  let loading = false;
  let again = false;
  // show loads the rows of the events that are not shown yet, the newest first.
  const show = async () => {
    if (loading) return void (again = true);
    loading = true;
    do {
      again = false;
      try {
        const page = await loadChanges(`${log.dataset.from}&after=${log.firstElementChild?.dataset.id || 0}`);
        const rows = all("li", page);
        for (const row of rows) row.classList.add("new");
        log.prepend(...rows);
        if (rows.length) find("#no-events")?.remove();
        while (log.children.length > most) log.lastElementChild.remove();
      } catch {
        // The next event tries again.
      }
    } while (again);
    loading = false;
  };
  listeners.push((event) => {
    if (!event.id) return;
    if (wanted.has("types") && !wanted.get("types").split(",").includes(event.type)) return;
    if (wanted.has("chat") && wanted.get("chat") !== event.chatJid) return;
    if (!paused) return show();
    find("span", pause).textContent = `Resume (${++missed})`;
  });
  pause.hidden = false;
  pause.addEventListener("click", () => {
    paused = !paused;
    missed = 0;
    pause.setAttribute("aria-pressed", paused);
    find("span", pause).textContent = paused ? "Resume" : "Pause";
    if (!paused) show();
  });
}

// Filters apply at once.
for (const box of all(".event-filter input[type=checkbox]")) box.addEventListener("change", () => box.form.requestSubmit());
