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

// replace puts fresh content into a region. What is open stays open, what was typed
// stays typed, and the focus stays where it is.
function replace(region, fresh) {
  if (!fresh || region.innerHTML === fresh.innerHTML) return;
  const open = all("details", region).map((one) => one.open);
  const typed = all("input:not([type=hidden], [type=file]), textarea, select", region).filter(isTyped);
  update(region, fresh);
  const details = all("details", region);
  if (details.length === open.length) details.forEach((one, i) => (one.open = one.open || open[i]));
  const fields = all("input, textarea, select", region);
  for (const field of typed) {
    if (field.isConnected) continue;
    const twin = fields.find((one) => alike(one, field) && alike(one.form, field.form));
    if (!twin) continue;
    if (field.matches("[type=checkbox], [type=radio]")) twin.checked = field.checked;
    else twin.value = field.value;
  }
}

// isTyped reports whether a field holds something other than the page gave it.
function isTyped(field) {
  if (field.matches("select")) return [...field.options].some((option) => option.selected !== option.defaultSelected);
  return field.value !== field.defaultValue || field.checked !== field.defaultChecked;
}

// alike reports whether two elements are the same one of two versions of a page.
function alike(one, other) {
  if (!one || !other) return one === other;
  const named = ["id", "name", "href", "action", "type", "value", "data-id"].filter((name) => name !== "value" || one.matches("button, [type=checkbox], [type=radio]"));
  return one.tagName === other.tagName && named.every((name) => one.getAttribute(name) === other.getAttribute(name));
}

// update makes an element like its fresh version. The element that has the focus, and those
// around it, stay the same ones, so that typing goes on while all else is renewed.
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
const eventTypes = ["message.created", "message.updated", "message.status", "chat.updated", "group.updated", "call.created", "call.updated", "account.status", "reset"];

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
  if (!document.hidden) {
    all("[data-every]").forEach(refresh);
    return follow();
  }
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

// A chat

document.documentElement.classList.add("js");
const chat = find(".chat");
const list = find("#messages");
const scroller = find("#history");

// key returns the form's key, which is made anew after each send.
const renew = (form) => {
  const field = form.elements.key || form.appendChild(Object.assign(document.createElement("input"), { type: "hidden", name: "key" }));
  field.value = randomKey();
  return field.value;
};

// take puts fresh messages in the place of those that have changed, and new ones
// where they belong. A player that plays and a menu that is open stay.
function take(fresh, first = true) {
  let before = null;
  // A picture that came before its album moves into it.
  for (const part of all(".album-part", fresh)) find(`.msg[id="${CSS.escape(part.id)}"]`, list)?.remove();
  for (const [i, item] of [...fresh.children].entries()) {
    const known = document.getElementById(item.id);
    if (!known) {
      if (before) before.after(item);
      else if (!list.children.length || first) list.append(item);
      else continue;
      before = item;
      continue;
    }
    const busy = find("details[open]", known) || [...all("audio, video", known)].some((player) => !player.paused);
    if (i > 1 && !busy && known.outerHTML !== item.outerHTML) {
      known.replaceWith(item);
      before = item;
    } else before = known;
  }
}

async function newest() {
  if (list.dataset.past !== undefined) return;
  try {
    const page = await load(location.pathname);
    const fresh = find("#messages", page);
    find(".history > .empty")?.remove();
    take(fresh);
  } catch {
    // The next event tries again.
  }
}

if (chat) {
  const again = debounced(newest, 120);
  listeners.push((event) => {
    if (event.chatJid === chat.dataset.chat || event.type === "reset") again();
  });
}

// What is older comes when it is nearly reached.
async function more(link) {
  if (link.loading) return;
  link.loading = true;
  const older = link.matches("[data-older]");
  try {
    const page = await load(link.href);
    const fresh = find("#messages", page);
    if (older) list.prepend(...fresh.children);
    else list.append(...fresh.children);
    const next = find(older ? "[data-older]" : "[data-newer]", page);
    if (next) {
      link.href = next.getAttribute("href");
      link.loading = false;
    } else {
      link.parentElement.remove();
      if (!older) delete list.dataset.past;
    }
  } catch {
    link.loading = false;
  }
}

if (scroller) {
  const watch = new IntersectionObserver((seen) => {
    for (const one of seen) if (one.isIntersecting) more(one.target);
  }, { root: scroller, rootMargin: "400px" });
  for (const link of all("[data-older], [data-newer]", scroller)) watch.observe(link);
  new MutationObserver(() => {
    for (const link of all("[data-older], [data-newer]", scroller)) {
      watch.unobserve(link);
      watch.observe(link);
    }
  }).observe(list, { childList: true });
  const end = find(".to-end");
  scroller.addEventListener("scroll", () => {
    end.hidden = list.dataset.past === undefined && scroller.scrollTop > -300;
  }, { passive: true });
  end.addEventListener("click", (event) => {
    if (list.dataset.past !== undefined) return;
    event.preventDefault();
    scroller.scrollTo({ top: 0, behavior: "smooth" });
  });
  const at = list.dataset.at && all(".msg", list).find((one) => one.dataset.id === list.dataset.at);
  if (at) {
    at.classList.add("found");
    at.scrollIntoView({ block: "center" });
  }
}

// Menus of messages open upwards where there is no room below.
document.addEventListener("toggle", (event) => {
  const menu = event.target;
  if (!menu.matches?.("details.menu")) return;
  find(".picker", menu)?.remove();
  if (!menu.open) return menu.classList.remove("up");
  const box = find(".menu-box", menu).getBoundingClientRect();
  const room = (scroller || document.body).getBoundingClientRect().bottom;
  if (scroller && menu.closest(".bubble") && box.bottom > room && box.top - box.height > scroller.getBoundingClientRect().top) menu.classList.add("up");
}, true);

// Writing

const say = find("form.say");

function replyTo(id, sender, text) {
  say.elements.reply.value = id;
  find("#replying").hidden = !id;
  find("[data-sender]", say).textContent = sender;
  find("[data-quote]", say).textContent = text;
  if (id) say.elements.text.focus();
}

function grow(area) {
  if (CSS.supports("field-sizing", "content")) return;
  area.style.height = "auto";
  area.style.height = area.scrollHeight + 2 + "px";
}

document.addEventListener("click", (event) => {
  const reply = event.target.closest("[data-reply]");
  const react = event.target.closest("[data-react]");
  const menu = event.target.closest("details.menu");
  if (reply && say) {
    event.preventDefault();
    const message = reply.closest(".msg");
    if (menu) menu.open = false;
    replyTo(reply.dataset.reply, reply.dataset.sender, (find(".text", message)?.firstChild?.textContent || find(".doc strong, .card-part strong, h3", message)?.textContent || "").trim());
  }
  if (react && find("#picker")) {
    event.preventDefault();
    if (find(".picker", menu)) return;
    const picker = find("#picker").content.cloneNode(true).firstElementChild;
    picker.elements.react.value = react.dataset.react;
    find(".menu-box", menu).prepend(picker);
    find("button", picker).focus();
  }
  if (event.target.closest("[data-unreply]") && say) {
    event.preventDefault();
    replyTo("", "", "");
  }
  const extras = event.target.closest("[data-extras]");
  if (extras) {
    const box = find("#extras");
    box.open = !box.open;
    extras.setAttribute("aria-expanded", box.open);
  }
  if (event.target.closest("[data-copy]") && menu) menu.open = false;
});

if (say) {
  find("[data-extras]").hidden = false;
  const area = say.elements.text;
  const draft = "draft " + location.pathname;
  area.value = area.value || sessionStorage.getItem(draft) || "";
  area.addEventListener("input", () => {
    grow(area);
    sessionStorage.setItem(draft, area.value);
    const line = find("#extras .curl code");
    const body = JSON.stringify({ jid: chat.dataset.chat, text: area.value || "Hello" }).replaceAll("'", "'\\''");
    if (line) line.textContent = line.textContent.replace(/-d '[^]*' "\$BRIDGE/, () => `-d '${body}' "$BRIDGE`);
  });
  area.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && !matchMedia("(pointer: coarse)").matches) {
      event.preventDefault();
      say.requestSubmit();
    }
    if (event.key === "Escape" && say.elements.reply.value) replyTo("", "", "");
  });
}

// send posts a form. Where no answer came, the same key goes again: what arrived
// is not sent twice.
async function send(form, submitter) {
  const kind = form.dataset.send;
  let body = new FormData(form, submitter);
  if (kind === "text" && !body.get("text").trim()) return;
  if (kind === "file") {
    const file = body.get("file"); // behind what describes it
    body.delete("file");
    body.append("file", file);
  } else body = new URLSearchParams(body);
  const text = form.elements.text?.value, chosen = form.elements.file?.files[0];
  if (kind === "text") {
    form.elements.text.value = "";
    sessionStorage.removeItem("draft " + location.pathname);
    grow(form.elements.text);
  }
  const key = body.get("key") || renew(form);
  body.set("key", key);
  if (kind === "file") {
    const file = body.get("file");
    body.delete("file");
    body.append("file", file);
  }
  renew(form);
  const buttons = kind === "text" ? [] : all("button", form);
  buttons.forEach((button) => (button.disabled = true));
  if (kind === "file") toast("Sending the file …");
  try {
    await again(() => ask(form.action, body));
    if (kind === "text") replyTo("", "", "");
    if (kind === "react") form.closest("details.menu").open = false;
    if (kind === "reset" || kind === "file") {
      if (form.elements.file?.files[0] === chosen) { // else the next file is chosen already
        form.reset();
        find("#extras").open = false;
      }
      toast("Sent");
    }
    newest();
  } catch (failure) {
    toast(failure.message, true);
    if (kind === "text" && !form.elements.text.value) {
      form.elements.text.value = text;
      grow(form.elements.text);
    }
  }
  buttons.forEach((button) => (button.disabled = false));
}

// again repeats a call that got no answer.
async function again(call, times = 3) {
  for (let i = 1; ; i++) {
    try {
      return await call();
    } catch (failure) {
      const passes = failure.unreached || failure.status === 503 || failure.status === 504;
      if (!passes || i === times) throw failure;
      await new Promise((resolve) => setTimeout(resolve, i * 1000));
    }
  }
}

document.addEventListener("submit", (event) => {
  if (!event.target.matches("[data-send]")) return;
  event.preventDefault();
  send(event.target, event.submitter);
});

// Files by drag and by paste

function sendFiles(files) {
  const form = find('form[data-send="file"]');
  if (!form || !files.length) return;
  const transfer = new DataTransfer();
  transfer.items.add(files[0]);
  form.elements.file.files = transfer.files;
  all("button", form).forEach((button) => (button.disabled = false)); // the one before may still be on its way
  find("#extras").open = true;
  form.closest("details").open = true;
  form.elements.caption.focus();
  toast(files[0].name + ": add a caption, or press Enter");
}

if (chat && find("#drop")) {
  const drop = find("#drop");
  let depth = 0;
  const hasFiles = (event) => [...(event.dataTransfer?.types || [])].includes("Files");
  chat.addEventListener("dragenter", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth++;
    drop.hidden = false;
  });
  chat.addEventListener("dragover", (event) => hasFiles(event) && event.preventDefault());
  chat.addEventListener("dragleave", (event) => {
    if (hasFiles(event) && --depth <= 0) drop.hidden = true;
  });
  chat.addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    depth = 0;
    drop.hidden = true;
    sendFiles(event.dataTransfer.files);
  });
  document.addEventListener("paste", (event) => {
    if (event.clipboardData.files.length) {
      event.preventDefault();
      sendFiles(event.clipboardData.files);
    }
  });
}

// The log of events

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
      : about.name || event.status?.status || "";
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
    find("span", pause).textContent = `Go on (${waiting.length})`;
  });
  pause.hidden = false;
  pause.addEventListener("click", () => {
    paused = !paused;
    pause.setAttribute("aria-pressed", paused);
    find("span", pause).textContent = paused ? "Go on" : "Pause";
    while (!paused && waiting.length) show(waiting.shift());
  });
}

// Filters apply as soon as they are chosen.
for (const box of all(".event-filter input[type=checkbox]")) box.addEventListener("change", () => box.form.requestSubmit());

// A code that ends

setInterval(() => {
  for (const one of all("[data-until]")) {
    const left = Math.round((new Date(one.dataset.until) - Date.now()) / 1000);
    one.textContent = left > 0 ? `for ${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}` : "no longer: get another";
  }
}, 1000);
