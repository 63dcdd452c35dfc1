// The search box: shows results while typing.
import { all, ask, debounced, find, loadChanges, root } from "./base.js";
import { pane, rove } from "./chats.js";

const form = find("[data-find]");
const box = form && form.elements.q;
const found = find("#found");
const status = find("#found-status");
let running;

function close() {
  running?.abort();
  found.hidden = true;
  pane.classList.remove("finding");
  found.replaceChildren();
  status.textContent = "";
}

async function look() {
  const q = box.value.trim();
  history.replaceState({ ...history.state, find: q }, "");
  if ([...q].length < 2) return close();
  running?.abort();
  running = new AbortController();
  try {
    const page = await loadChanges(form.dataset.find + "?q=" + encodeURIComponent(q), running.signal);
    found.replaceChildren(...find(".found-results", page).childNodes);
    found.hidden = false;
    found.scrollTop = 0;
    pane.classList.add("finding");
    rove(found);
    const count = all(".hits [data-row]", found).length;
    status.textContent = count ? `${count} ${count === 1 ? "result" : "results"}` : "Nothing found";
  } catch (failure) {
    if (failure.name !== "AbortError") status.textContent = failure.message;
  }
}

if (form && pane) {
  box.addEventListener("input", debounced(look, 180));
  box.addEventListener("search", () => box.value || close());
  box.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && (box.value || !found.hidden)) {
      event.preventDefault();
      event.stopPropagation();
      box.value = "";
      close();
    }
    if (event.key === "ArrowDown" && !event.isComposing) {
      const first = find("[data-row][tabindex='0']", found.hidden ? find("#chats") : found);
      if (!first) return;
      event.preventDefault();
      first.focus();
    }
  });
  found.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.stopPropagation();
    box.focus();
    box.select();
  });
  // Removing a chip leaves the words; choosing one searches with it.
  found.addEventListener("click", (event) => {
    const chip = event.target.closest(".term");
    if (!chip) return;
    event.preventDefault();
    const asked = new URL(chip.href).searchParams;
    box.value = [...asked].map(([name, value]) => (name === "q" ? value : `${name}:${/\s/.test(value) ? `"${value}"` : value}`)).join(" ");
    box.focus();
    look();
  });
  // The results are there again after a look at one of them and Back.
  box.value ||= history.state?.find || "";
  if (box.value) look().then(() => (found.scrollTop = history.state?.foundAt || 0));
  addEventListener("pagehide", () => found.hidden || history.replaceState({ ...history.state, foundAt: found.scrollTop }, ""));
}

// Name fields suggest matches.
for (const field of all("[data-names]")) {
  const offered = field.list;
  field.addEventListener("input", debounced(async () => {
    if (!field.value.trim()) return;
    try {
      const { names } = await ask(`${root}suggest?for=${field.dataset.names}&q=${encodeURIComponent(field.value)}`);
      const own = all("option[value=me]", offered);
      offered.replaceChildren(...own, ...names.map((name) => Object.assign(document.createElement("option"), { value: name })));
    } catch {
      // The name can still be typed.
    }
  }, 180));
}
