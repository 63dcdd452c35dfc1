// The list of chats: refreshes in place, grows while scrolling, arrow keys move in it.
import { all, ask, debounced, draftOf, find, load, loadChanges, root, toast } from "./base.js";
import { chat } from "./chat.js";
import { onHold } from "./hold.js";
import { listeners } from "./live.js";
import { keeper } from "./scroll.js";

const pane = find(".pane");
const list = find("#chats");
const kept = `list ${root} ` + (pane && new URL(list.dataset.from, location.href).searchParams.toString().replace(/&?(rows|open)=[^&]*/g, ""));

// The owner of the scroll position of the list.
const place = pane && keeper(list, () => items(list), () => list.scrollTop < 1);

// Refreshing

const source = new WeakMap(); // rows as the server sent them
const items = (from) => all(".chat-list > li", from);

// takeRows replaces the rows by a fresh list. Rows in both remain the same elements, with the focus.
function takeRows(fresh) {
  for (const item of items(fresh)) source.set(item, item.innerHTML);
  const old = find(".chat-list", list), next = find(".chat-list", fresh);
  if (!old || !next) {
    list.replaceChildren(...fresh.childNodes);
    return;
  }
  const known = new Map([...old.children].map((item) => [item.dataset.key, item]));
  const focused = document.activeElement;
  let spot = old.firstElementChild;
  for (const item of [...next.children]) {
    let row = known.get(item.dataset.key);
    known.delete(item.dataset.key);
    if (!row) row = item;
    else if (source.get(row) !== source.get(item)) renew(row, item);
    if (row === spot) spot = spot.nextElementSibling;
    else old.insertBefore(row, spot);
  }
  const open = find("[aria-current]", old)?.closest("li");
  for (const gone of known.values()) if (gone !== open) gone.remove(); // the open chat stays in the list of unread chats
  if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  for (const name of [".archive-row", ".pager"]) {
    const was = find(name, list), is = find(name, fresh);
    if (was && is) was.replaceWith(is);
    else if (was) was.remove();
    else if (is) name === ".pager" ? list.append(is) : list.prepend(is);
  }
}

// renew gives a row fresh content; its link stays the same element.
function renew(row, fresh) {
  source.set(row, source.get(fresh));
  const was = find(".chat-row", row), is = find(".chat-row", fresh);
  for (const { name, value } of is.attributes) was.setAttribute(name, value);
  if (!is.hasAttribute("aria-current")) was.removeAttribute("aria-current");
  was.replaceChildren(...is.childNodes);
}

// renewList loads the list without moving the visible rows.
let loading, again;
export async function renewList(from = list.dataset.from) {
  if (loading) {
    again = true;
    return;
  }
  loading = true;
  try {
    const fresh = find("#chats", await loadChanges(from));
    Object.assign(list.dataset, fresh.dataset);
    place.steadily(() => takeRows(fresh));
    arrange();
  } catch {
    // The next event tries again.
  }
  loading = false;
  if (again) {
    again = false;
    renewList();
  }
}

// mark marks the row of the open chat. A list that was requested before it opened still marks the previous one.
function mark() {
  for (const { dataset, firstElementChild: row } of items(list)) {
    if (dataset.key === chat.jid) row.setAttribute("aria-current", "true");
    else row.removeAttribute("aria-current");
  }
}

// showOpen shows which chat is open now. The chat before leaves the list if it no longer belongs there.
export function showOpen() {
  const from = new URL(list.dataset.from, location.href);
  from.searchParams.set("open", chat.jid);
  list.dataset.from = from.pathname + from.search;
  arrange();
  const row = find("[aria-current]", list);
  if (row) place.reveal(row);
  if ([...from.searchParams.keys()].some((name) => name !== "open" && name !== "rows")) renewList();
}

// renewRows loads the rows of changed chats alone, and moves them to their places.
async function renewRows(jids) {
  const query = new URLSearchParams(jids.map((jid) => ["only", jid]));
  let fresh;
  try {
    fresh = find("#chats", await loadChanges(`${list.dataset.from}&${query}`));
  } catch {
    return; // the next event tries again
  }
  const rows = new Map(items(fresh).map((item) => [item.dataset.key, item]));
  const isGone = (jid) => !rows.has(jid) && items(list).some((item) => item.dataset.key === jid && !find("[aria-current]", item));
  if (!find(".chat-list", list) || jids.some(isGone)) return renewList();
  list.dataset.unread = fresh.dataset.unread;
  place.steadily(() => [...rows.values()].forEach(takeRow));
  arrange();
}

// comesBefore reports whether a row is above another one: pinned chats first, then the newest message.
const comesBefore = (a, b) => ("pinned" in a.dataset) === ("pinned" in b.dataset) ? Number(a.dataset.at) > Number(b.dataset.at) : "pinned" in a.dataset;

// takeRow replaces or inserts a row. It leaves out a row that belongs after the last one while the list has more pages.
function takeRow(item) {
  source.set(item, item.innerHTML);
  const rows = items(list), focused = document.activeElement;
  const row = rows.find((one) => one.dataset.key === item.dataset.key);
  if (row && source.get(row) !== source.get(item)) renew(row, item);
  const one = row || item;
  one.dataset.at = item.dataset.at;
  one.toggleAttribute("data-pinned", "pinned" in item.dataset);
  const next = rows.find((other) => other !== one && comesBefore(one, other));
  if (!next && find(".pager", list)) return row && renewList();
  if (one === row && one.nextElementSibling === (next || null)) return undefined;
  find(".chat-list", list).insertBefore(one, next || null);
  if (focused !== document.activeElement && focused.isConnected) focused.focus({ preventScroll: true });
  return undefined;
}

// Drafts

function showDrafts() {
  for (const row of all(".chat-list .chat-row", list)) {
    const text = row.getAttribute("aria-current") ? "" : (localStorage.getItem(draftOf(new URL(row.href).pathname)) || "").trim();
    const line = find(".chat-row-sub", row);
    let draft = find(".draft", line);
    if (!text) {
      draft?.remove();
      continue;
    }
    if (!draft) {
      draft = Object.assign(document.createElement("span"), { className: "draft" });
      line.prepend(draft);
    }
    const label = Object.assign(document.createElement("span"), { className: "draft-label", textContent: "Draft: " });
    draft.replaceChildren(label, Object.assign(document.createElement("bdi"), { textContent: text.slice(0, 200) }));
  }
}

// Keys: one tab stop, then arrows

const rowsIn = (box) => all("[data-row]", box).filter((row) => row.checkVisibility());

function rove(box) {
  const rows = rowsIn(box);
  const stop = rows.find((row) => row === document.activeElement) || rows.find((row) => row.matches("[aria-current]")) || rows[0];
  for (const row of rows) row.tabIndex = row === stop ? 0 : -1;
}

function arrange() {
  mark();
  showDrafts();
  rove(list);
  watchEnd();
}

function moveBy(event) {
  const row = event.target.closest?.("[data-row]");
  const box = row?.closest("#chats, #found");
  if (!box || event.altKey || event.ctrlKey || event.metaKey) return;
  const rows = rowsIn(box), at = rows.indexOf(row);
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: rows.length - 1, PageDown: Math.min(at + 8, rows.length - 1), PageUp: Math.max(at - 8, 0) }[event.key];
  if (to === undefined) {
    if (event.key === "ArrowRight" || event.key === "ArrowLeft") {
      const menu = find("[data-menu-of-row]", row.parentElement);
      if (menu) {
        event.preventDefault();
        openMenu(menu);
      }
    }
    return;
  }
  event.preventDefault();
  if (to < 0) return find("input[type=search]", pane).focus();
  if (!rows[to]) return;
  for (const one of rows) one.tabIndex = one === rows[to] ? 0 : -1;
  rows[to].focus();
}

// Scrolling

let end;
function watchEnd() {
  end ||= new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && longer(), { root: list, rootMargin: "600px" });
  end.disconnect();
  const link = find("[data-more-chats]", list);
  if (link) end.observe(link);
}

// longer adds a page to the list.
async function longer() {
  const link = find("[data-more-chats]", list);
  if (!link || link.loading) return;
  link.loading = true;
  const from = new URL(list.dataset.from, location.href);
  from.searchParams.set("rows", new URL(link.href).searchParams.get("rows"));
  await renewList(from.pathname + from.search);
  link.loading = false;
}

// The next page restores the scroll position of the list. A phone does not show the list next to a chat.
function keepPlace() {
  if (!list.clientHeight) return;
  sessionStorage.setItem(kept, JSON.stringify({ top: Math.round(list.scrollTop), from: list.dataset.from.match(/rows=(\d+)/)?.[1] }));
}

async function returnToPlace() {
  if (!list.clientHeight) return;
  const { top = 0, from } = JSON.parse(sessionStorage.getItem(kept) || "{}");
  const own = new URL(list.dataset.from, location.href);
  if (Number(from) > Number(own.searchParams.get("rows")) && top > list.scrollHeight - list.clientHeight) {
    own.searchParams.set("rows", from);
    await renewList(own.pathname + own.search);
  }
  list.scrollTop = top;
  const open = find("[aria-current]", list);
  if (!top && open) place.reveal(open);
}

// The menu of a row

const sheet = Object.assign(document.createElement("dialog"), { className: "row-menu" });

async function openMenu(link, point) {
  try {
    const page = await load(link.href);
    const actions = find(".state-actions", page);
    if (!actions || sheet.open) return;
    sheet.setAttribute("aria-label", link.getAttribute("aria-label"));
    sheet.replaceChildren(actions);
    document.body.append(sheet);
    find("[data-row]", link.parentElement).focus({ preventScroll: true }); // gets the focus when the menu closes
    sheet.showModal();
    putMenu(point || link.getBoundingClientRect());
  } catch (failure) {
    toast(failure.message, true);
  }
}

// putMenu positions the menu next to a point; phones show it as a sheet at the bottom.
function putMenu(point) {
  sheet.style.inset = "";
  if (matchMedia("(max-width: 720px)").matches) return;
  const box = sheet.getBoundingClientRect();
  const left = Math.min(point.right ?? point.x, innerWidth - box.width - 8);
  const top = Math.min(point.bottom ?? point.y, innerHeight - box.height - 8);
  sheet.style.inset = `${Math.max(8, top)}px auto auto ${Math.max(8, left)}px`;
}

sheet.addEventListener("click", (event) => event.target === sheet && sheet.close());
sheet.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  event.preventDefault();
  const stops = all("button, summary", sheet).filter((one) => one.checkVisibility());
  stops.at((stops.indexOf(document.activeElement) + step) % stops.length).focus();
});

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("[data-state]")) return;
  event.preventDefault();
  const body = new URLSearchParams(new FormData(form, event.submitter));
  const menu = form.closest("details.menu");
  if (menu) menu.open = false;
  sheet.close();
  try {
    toast((await ask(form.action, body)).text);
    if (pane) renewList();
    if (menu) renewForms(form);
  } catch (failure) {
    toast(failure.message, true);
  }
});

// renewForms refreshes the actions in the menu of the open chat.
async function renewForms(form) {
  const page = await loadChanges(chat.path || location.href).catch(() => null);
  const fresh = page && find(".chat-head [data-state]", page);
  if (fresh) form.replaceWith(fresh);
}

if (pane) {
  const changed = new Set(); // chats; "" for any
  const later = debounced(() => {
    const jids = [...changed];
    changed.clear();
    if (jids.includes("") || jids.length > 10) renewList();
    else renewRows(jids);
  }, 200);
  const soon = (jid = "") => {
    changed.add(jid);
    later();
  };
  const types = ["message.created", "message.updated", "message.status", "chat.updated", "group.updated", "label.updated", "reset"];
  listeners.push((event) => types.includes(event.type) && soon(event.chatJid || ""));
  for (const item of items(list)) source.set(item, item.innerHTML);
  arrange();
  returnToPlace();
  addEventListener("pagehide", keepPlace);
  list.addEventListener("scrollend", keepPlace);
  pane.addEventListener("keydown", moveBy);
  addEventListener("pageshow", (event) => event.persisted && renewList());
  document.addEventListener("visibilitychange", () => document.hidden || soon());
  list.addEventListener("click", (event) => {
    const link = event.target.closest("[data-menu-of-row]");
    if (!link) return;
    event.preventDefault();
    openMenu(link);
  });
  const menuOf = (target) => target.closest(".chat-list > li")?.querySelector("[data-menu-of-row]");
  onHold(list, menuOf, (link) => openMenu(link));
  // A right click and the menu key.
  list.addEventListener("contextmenu", (event) => {
    const link = menuOf(event.target);
    if (!link) return;
    event.preventDefault();
    openMenu(link, event.clientX || event.clientY ? { x: event.clientX, y: event.clientY } : undefined);
  });
}

export { pane, rove };
