// Live pages: one stream of events, and the regions that it refreshes.
import { all, ask, csrf, find, loadChanges, root } from "./base.js";

// The visitor's time zone

const zone = Intl.DateTimeFormat().resolvedOptions().timeZone || "";
for (const field of all("[data-zone-field]")) field.value = zone;
if (csrf && zone && document.body.dataset.zone !== zone && !sessionStorage.getItem(`zone ${root} ${zone}`)) {
  sessionStorage.setItem(`zone ${root} ${zone}`, "sent"); // once, even if the bridge does not know the zone
  ask(root + "zone", new URLSearchParams({ zone, csrf })).then(() => all("input:not([type=hidden]), textarea").some(isTyped) || location.reload(), () => {});
}

// Regions

// A region (data-live) is loaded again after one of its events (data-on; "begin" when the page starts to follow the
// events). With data-of, only the events of that chat count. With data-every, a region without events is loaded again after that many
// seconds, while the page is visible.
export const listeners = []; // called with each event
export const tell = (event) => listeners.forEach((listener) => listener(event));

export async function refresh(region) {
  if (!region.isConnected) return; // another chat has been opened
  if (region.loading) {
    region.again = true;
    return;
  }
  region.loading = true;
  try {
    const fresh = find(`[data-live="${region.dataset.live}"]`, await loadChanges(region.dataset.from || location.href));
    if (!region.isConnected) return;
    if (!fresh && region.dataset.else === "reload") return location.reload(); // the page is a different one now
    replace(region, fresh);
    countDown();
  } catch {
    // The next event or interval retries.
  }
  region.loading = false;
  refreshLater(region);
  if (region.again) {
    region.again = false;
    refresh(region);
  }
}

// refreshLater loads a region again after its interval.
function refreshLater(region) {
  clearTimeout(region.timer);
  if (region.dataset.every && !document.hidden) region.timer = setTimeout(() => refresh(region), region.dataset.every * 1000);
}

// replace replaces the content of a region. Open details, typed values and the focus stay.
function replace(region, fresh) {
  if (!fresh || isSame(region, fresh)) return;
  const open = all("details", region).map((one) => one.open);
  const typed = all("input:not([type=hidden], [type=file]), textarea, select", region).filter((field) => isTyped(field) || isWrong(field));
  const faults = new Map(typed.filter(isWrong).map((field) => [field, field.parentElement.querySelector(".wrong")]));
  update(region, fresh);
  const details = all("details", region);
  if (details.length === open.length) details.forEach((one, i) => (one.open = one.open || open[i]));
  const fields = all("input, textarea, select", region);
  for (const field of typed) {
    const twin = fields.find((one) => alike(one, field) && alike(one.form, field.form));
    if (twin && faults.get(field) && !twin.parentElement.querySelector(".wrong")) {
      twin.setAttribute("aria-invalid", "true");
      twin.after(faults.get(field));
    }
    if (!twin || field.isConnected) continue;
    if (field.matches("[type=checkbox], [type=radio]")) twin.checked = field.checked;
    else twin.value = field.value;
  }
}

// isSame reports whether a region equals its fresh version, apart from errors and times that a script added.
function isSame(region, fresh) {
  if (!find("[aria-invalid], [data-until]", region)) return region.innerHTML === fresh.innerHTML;
  const [was, is] = [region, fresh].map((one) => one.cloneNode(true));
  all(".wrong", was).forEach((one) => one.remove());
  all("[aria-invalid]", was).forEach((one) => one.removeAttribute("aria-invalid"));
  for (const one of [...all("[data-until]", was), ...all("[data-until]", is)]) one.replaceChildren();
  return was.innerHTML === is.innerHTML;
}

// isTyped reports whether the visitor has changed a field.
export function isTyped(field) {
  if (field.matches("select")) return [...field.options].some((option) => option.selected !== option.defaultSelected);
  return field.value !== field.defaultValue || field.checked !== field.defaultChecked;
}

// isWrong reports whether a field has an error.
const isWrong = (field) => field.getAttribute("aria-invalid") === "true";

// alike reports whether two elements are the same element in two versions of a page.
export function alike(one, other) {
  if (!one || !other) return one === other;
  const named = ["id", "name", "href", "action", "type", "value", "data-id"].filter((name) => name !== "value" || one.matches("button, [type=checkbox], [type=radio]"));
  return one.tagName === other.tagName && named.every((name) => one.getAttribute(name) === other.getAttribute(name));
}

// update changes an element to its fresh version. The focused element and its ancestors remain, so
// that typing continues.
function update(old, fresh) {
  for (const { name } of [...old.attributes]) if (!fresh.hasAttribute(name)) old.removeAttribute(name);
  for (const { name, value } of fresh.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  const active = document.activeElement;
  const holds = (one) => alike(one, active) || all("*", one).some((inner) => alike(inner, active));
  const kept = [...old.children].find((child) => child.contains(active));
  const twin = kept && [...fresh.children].find((child) => alike(child, kept) && holds(child));
  if (!twin) return old.replaceChildren(...fresh.childNodes);
  while (old.firstChild !== kept) old.firstChild.remove();
  while (kept.nextSibling) kept.nextSibling.remove();
  const nodes = [...fresh.childNodes];
  const at = nodes.indexOf(twin);
  kept.before(...nodes.slice(0, at));
  kept.after(...nodes.slice(at + 1));
  if (!kept.matches("input, textarea, select")) update(kept, twin);
}

// loadLater loads the regions in a part of the page that take longer than the page.
export function loadLater(part) {
  all("[data-live][data-load]", part).forEach(refresh);
}

// start starts the regions in a part of the page: it loads the slow ones, and starts the intervals and the countdowns.
export function start(part) {
  all("[data-live]", part).forEach(refreshLater);
  loadLater(part);
  countDown();
}

// refreshSoon loads a region again. Events that follow each other quickly do not delay it.
function refreshSoon(region) {
  region.soon ??= setTimeout(() => {
    region.soon = undefined;
    refresh(region);
  }, 200);
}
listeners.push(({ type, chatJid }) => {
  const follows = ({ dataset: { on, of } }) => (on || "").split(",").includes(type) && (!of || of === chatJid);
  all("[data-live]").filter(follows).forEach(refreshSoon);
});

// One stream for each page. A hidden page closes it, because browsers limit connections to a host, and
// resumes it later.
let stream;
let left = -Infinity; // time of the last beforeunload, which ends the stream
let lastEvent = find("[data-after]")?.dataset.after;
const eventTypes = ["message.created", "message.updated", "message.status", "message.scheduled", "chat.updated", "group.updated", "label.updated", "call.created", "call.updated", "account.status", "backup.failed", "chat.typing", "import.updated", "reset"];

function follow() {
  if (stream || !lastEvent) return;
  stream = new EventSource(root + "live?after=" + encodeURIComponent(lastEvent));
  const take = (message) => {
    lastEvent = message.lastEventId || lastEvent;
    const event = message.data ? JSON.parse(message.data) : {};
    event.type = message.type;
    tell(event);
  };
  for (const type of eventTypes) stream.addEventListener(type, take);
  stream.addEventListener("open", () => {
    tell({ type: "begin" });
    reached(true);
  });
  stream.addEventListener("error", () => {
    tell({ type: "break" });
    if (performance.now() - left > 3000) reached(false);
    if (stream.readyState !== EventSource.CLOSED) return; // EventSource reconnects by itself
    stream = undefined;
    setTimeout(follow, 5000);
  });
}

// reached shows whether the bridge answers. Otherwise the state of the account is unknown.
function reached(answers) {
  document.body.classList.toggle("offline", !answers);
  for (const one of all("[data-offline]")) one.hidden = answers;
  for (const one of all("[data-online]")) one.hidden = !answers;
}

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) {
    all("[data-every]").forEach(refresh);
    return follow();
  }
  stream?.close();
  stream = undefined;
});
addEventListener("beforeunload", () => (left = performance.now()));
follow();

// Times that are left

let counting; // the timer of the next second

// countDown shows, every second, how long something is still valid (data-until), and data-over when it is not. It does
// nothing while the page has no such element.
function countDown() {
  clearTimeout(counting);
  const ends = all("[data-until]");
  for (const one of ends) {
    const seconds = Math.round((new Date(one.dataset.until) - Date.now()) / 1000);
    const text = seconds > 0 ? `for another ${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}` : one.dataset.over;
    if (one.textContent !== text) one.textContent = text;
  }
  if (ends.length) counting = setTimeout(countDown, 1000);
}
start(document);
