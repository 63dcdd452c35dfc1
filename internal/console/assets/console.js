"use strict";
// Makes the pages live and quicker to use. Each of them can be used without.

const csrf = document.body.dataset.csrf;
const find = (selector, from = document) => from.querySelector(selector);
const all = (selector, from = document) => [...from.querySelectorAll(selector)];

// Sentences that go by

let toastTimer;
function toast(text, failed = false) {
  const box = find("#toast");
  if (!box || !text) return;
  box.textContent = text;
  box.classList.toggle("bad", failed);
  box.classList.add("shown");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => box.classList.remove("shown"), failed ? 8000 : 3000);
}

// Requests

// ask sends a request and returns what was answered, or throws a sentence.
async function ask(path, body) {
  const headers = { Accept: "application/json", "X-CSRF-Token": csrf };
  let response;
  try {
    response = await fetch(path, body ? { method: "POST", headers, body } : { headers });
  } catch {
    throw Object.assign(new Error("The bridge cannot be reached."), { unreached: true });
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  throw Object.assign(new Error(answer.error || "This was not possible."), { status: response.status });
}

// load fetches a page as a document.
async function load(path, signal) {
  const response = await fetch(path, { headers: { Accept: "text/html" }, signal });
  if (response.redirected && new URL(response.url).pathname === "/login") location.reload();
  if (!response.ok) throw new Error("The page cannot be loaded.");
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

// randomKey returns a key for a send. crypto.randomUUID needs TLS.
function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  return "console-" + [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");
}

// The visitor's time zone

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "";
for (const field of all("[data-zone-field]")) field.value = zone;
if (csrf && zone && document.body.dataset.zone !== zone && !sessionStorage.getItem("zone " + zone)) {
  sessionStorage.setItem("zone " + zone, "told"); // once, also where the bridge does not know it
  ask("/console/zone", new URLSearchParams({ zone, csrf })).then(() => location.reload(), () => {});
}

// What is live

// A region (data-live) is fetched again when one of its events (data-on) comes,
// or every so many seconds (data-every), and takes the place of the one before.
const listeners = []; // called with each event

async function refresh(region) {
  if (region.loading) {
    region.again = true;
    return;
  }
  region.loading = true;
  try {
    const fresh = await load(region.dataset.from || location.href);
    replace(region, find(`[data-live="${region.dataset.live}"]`, fresh));
  } catch {
    // The next event, or the next look, tries again.
  }
  region.loading = false;
  if (region.again) {
    region.again = false;
    refresh(region);
  }
}

// replace puts fresh content into a region. What is open stays open, and where
// somebody is typing, nothing changes.
function replace(region, fresh) {
  if (!fresh || region.innerHTML === fresh.innerHTML) return;
  if (region.contains(document.activeElement) && document.activeElement.matches("input, textarea, select")) return;
  const open = all("details", region).map((one) => one.open);
  const focused = region.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  region.replaceChildren(...fresh.childNodes);
  const details = all("details", region);
  if (details.length === open.length) details.forEach((one, i) => (one.open = one.open || open[i]));
  if (focused) find(`[href="${CSS.escape(focused)}"]`, region)?.focus();
}

function debounced(run, pause) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(run, pause);
  };
}

for (const region of all("[data-live]")) {
  const again = debounced(() => refresh(region), 200);
  const types = (region.dataset.on || "").split(",");
  listeners.push((event) => {
    if (types.includes(event.type)) again();
  });
  if (region.dataset.every) {
    setInterval(() => document.hidden || refresh(region), region.dataset.every * 1000);
  }
}

// One stream for a page. It is closed while nobody looks, because browsers open
// few connections to one place, and goes on from where it was.
let stream;
let lastEvent = find("[data-after]")?.dataset.after;
const eventTypes = ["message.created", "message.updated", "message.status", "chat.updated", "group.updated", "account.status", "reset"];

function follow() {
  if (stream || !lastEvent) return;
  stream = new EventSource("/console/live?after=" + encodeURIComponent(lastEvent));
  const take = (message) => {
    lastEvent = message.lastEventId || lastEvent;
    const event = message.data ? JSON.parse(message.data) : {};
    event.type = message.type;
    for (const listener of listeners) listener(event);
  };
  for (const type of eventTypes) stream.addEventListener(type, take);
  stream.addEventListener("open", () => document.body.classList.remove("offline"));
  stream.addEventListener("error", () => {
    document.body.classList.add("offline");
    if (stream.readyState !== EventSource.CLOSED) return; // it connects again by itself
    stream = undefined;
    setTimeout(follow, 5000);
  });
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) return follow();
  stream?.close();
  stream = undefined;
});
follow();

// Forms that stay on their page

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const question = (event.submitter || form).dataset.ask || form.dataset.ask;
  if (question && !confirm(question)) return event.preventDefault();
  if (!form.matches("[data-async]")) return;
  event.preventDefault();
  const buttons = all("button", form).filter((button) => !button.disabled);
  const body = new URLSearchParams(new FormData(form, event.submitter));
  buttons.forEach((button) => (button.disabled = true));
  try {
    const answer = await ask(form.action, body);
    toast(answer.text);
    if (form.dataset.async === "reset") form.reset();
    all("[data-live]").forEach(refresh);
  } catch (failure) {
    toast(failure.message, true);
  }
  buttons.forEach((button) => (button.disabled = false));
});

// Copying

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch { // without TLS browsers have the old way only
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "vh";
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast("Copied");
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button.dataset.copy || find("code, pre", button.parentElement).textContent);
});

// Keys

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, textarea, select");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
    const box = find("input[type=search]");
    if (box) {
      event.preventDefault();
      box.focus();
      box.select();
    } else {
      location.href = "/console/search";
    }
  }
  if (event.key === "Escape") {
    for (const menu of all("details.menu[open]")) {
      menu.open = false;
      find("summary", menu).focus();
    }
  }
});

// A menu closes when something else is clicked.
document.addEventListener("click", (event) => {
  for (const menu of all("details.menu[open]")) if (!menu.contains(event.target)) menu.open = false;
});
