// The messages of a chat: adds new ones, loads older ones while scrolling, refreshes changed ones.
import { all, debounced, find, load, loadChanges } from "./base.js";
import { listeners } from "./live.js";
import { keeper } from "./scroll.js";

// The open chat: section is its part of the page, list has its messages, place is the owner of their scroll position, and
// returns says whether the visitor went back to it (undefined if it was loaded with the page). The script can replace it by
// another chat. On pages without a chat this is empty.
export const chat = {};

let list, scroller, end;
let place;
const isHome = () => list.dataset.past === undefined && scroller.scrollTop > -40;

const starts = []; // registered with eachChat
let ends = []; // called when the open chat is left

// eachChat calls start for the open chat, and for each chat that replaces it. If start returns a function, that is called when
// the chat is left.
export function eachChat(start) {
  starts.push(start);
  if (chat.section) begin(start);
}

const begin = (start) => ends.push(start() || (() => {}));

// put replaces the open chat by another one.
export function put(section, path, returns) {
  for (const leave of ends) leave();
  ends = [];
  chat.section.replaceWith(section);
  chat.returns = returns;
  open(section, path);
  starts.forEach(begin);
}

// here returns the result of a promise for the open chat. It throws an AbortError if another chat is opened meanwhile.
export async function here(promise) {
  const { section } = chat;
  const result = await promise;
  if (chat.section !== section) throw new DOMException("Another chat has been opened.", "AbortError");
  return result;
}

// Called with new messages on the page, for example to add the audio player.
export const dressers = [];

// The HTML that the server sent for a message, before scripts changed it.
const sources = new WeakMap();

function note(item) {
  sources.set(item, unmarked(item).outerHTML);
  for (const dress of dressers) dress(item);
}

// unmarked returns a message as it is without marks of searched words.
function unmarked(item) {
  if (!find("mark", item)) return item;
  const bare = item.cloneNode(true);
  for (const mark of all("mark", bare)) mark.replaceWith(...mark.childNodes);
  bare.normalize();
  return bare;
}

// renew replaces a message that has changed. Loaded pictures, playing audio, the focus and open
// details stay.
function renew(known, fresh) {
  if (sources.get(known) === fresh.outerHTML) return known;
  note(fresh);
  const same = (one) => find(`[data-sound="${one.dataset.sound}"], .picture[href="${one.getAttribute("href")}"], .sticker-img[src="${one.getAttribute("src")}"]`, fresh);
  for (const one of all("[data-sound], .picture, .sticker-img", known)) same(one)?.replaceWith(one);
  const details = all("details", fresh);
  all("details", known).forEach((one, i) => details[i] && (details[i].open = one.open));
  if (find(".album:not(.folded)", known)) find(".album", fresh)?.classList.remove("folded");
  for (const name of ["found", "open"]) fresh.classList.toggle(name, known.classList.contains(name));
  const at = all("a, button, input, summary", known).indexOf(document.activeElement);
  known.replaceWith(fresh);
  if (at >= 0) all("a, button, input, summary", fresh)[at]?.focus({ preventScroll: true });
  return fresh;
}

// insert inserts a new message after another one, under its day.
function insert(item, before) {
  const own = item.closest(".day-part");
  let part = document.getElementById(own.id);
  if (!part) {
    part = own.cloneNode(false);
    part.append(find(".day", own).cloneNode(true), document.createElement("ol"));
    const beside = before?.closest(".day-part");
    if (beside) beside.after(part);
    else list.prepend(part);
  }
  if (before && part.contains(before)) before.after(item);
  else find("ol", part).prepend(item);
  note(item);
  return item;
}

// take replaces changed messages and inserts new ones. The unread line stays where it was when the
// chat was opened.
function take(fresh) {
  find("#unread", fresh)?.remove();
  // A picture that arrived before its album moves into it.
  for (const part of all(".album-part", fresh)) find(`.msg[id="${CSS.escape(part.id)}"]`, list)?.remove();
  const items = all(".msg", fresh), lines = linesIn(fresh);
  const first = items.map((item) => document.getElementById(item.id)).find(Boolean);
  if (!first) list.replaceChildren(...all("#messages > .msg", document)); // the messages between are unknown
  const shown = all(".day-part .msg", list);
  let before = shown[shown.indexOf(first) - 1];
  let came = 0;
  items.forEach((item, i) => {
    const known = document.getElementById(item.id);
    if (!known && item.matches(".in")) came++;
    before = known ? (i || known === shown[0] ? renew(known, item) : known) : insert(item, before);
  });
  takeLines(lines);
  for (const day of all(".day", fresh)) {
    const known = find(`#${day.closest(".day-part").id} .day`, list);
    if (known && known.textContent !== day.textContent) known.textContent = day.textContent;
  }
  return first ? came : 0;
}

// linesIn returns the lines about calls and the group on a page, with the id of what is before each.
const linesIn = (fresh) => all(".event-line", fresh).map((line) => ({ line, own: line.closest(".day-part"), before: line.previousElementSibling?.id }));

// takeLines inserts new lines, replaces changed ones, and puts all where the page has them.
function takeLines(lines) {
  for (const { line, own, before } of lines) {
    const known = document.getElementById(line.id), part = document.getElementById(own.id);
    const one = known?.outerHTML === line.outerHTML ? known : line;
    if (known !== one) known?.replaceWith(one);
    const above = before && document.getElementById(before);
    if (above && one.previousElementSibling !== above) above.after(one);
    else if (document.contains(one)) continue;
    else if (part) find("ol", part).prepend(one);
    else {
      const day = own.cloneNode(false);
      day.append(find(".day", own).cloneNode(true), document.createElement("ol"));
      find("ol", day).append(one);
      list.append(day);
    }
  }
}

// newest loads the newest messages, and messages with the given ids. One answer is taken before the next is asked for, so
// that an older state never replaces a newer one.
let turn = Promise.resolve();
export const newest = (ids = []) => (turn = turn.then(() => takeNewest(ids)));

async function takeNewest(ids) {
  try {
    const left = new Set(ids);
    if (list.dataset.past === undefined) {
      const last = all(".day-part > ol > .msg", list).at(-1)?.dataset.id || "";
      const fresh = find("#messages", await here(loadChanges(`${chat.path}?part&since=${encodeURIComponent(last)}`)));
      // The first message of a page always shows its sender, so it is skipped.
      for (const item of all(".msg, .album-part", fresh).slice(1)) left.delete(item.dataset.id);
      find(".history > .empty")?.remove();
      let came = 0;
      place.steadily(() => (came = take(fresh)));
      if (came && !isHome()) end.dataset.count = Number(end.dataset.count || 0) + came;
    }
    for (const id of left) await renewOne(id);
  } catch {
    // The next event tries again.
  }
}

// renewOne refreshes an older message.
async function renewOne(id) {
  if (!bubbleOf(id, list)) return;
  const fresh = bubbleOf(id, find("#messages", await here(loadChanges(`${chat.path}?part&near&at=${encodeURIComponent(id)}`))));
  const known = bubbleOf(id, list);
  if (fresh && known) place.steadily(() => renew(known, fresh));
}

const changed = new Set();
const newestSoon = debounced(() => {
  newest([...changed]);
  changed.clear();
}, 120);

// isAbout reports whether an event may change the messages of a chat.
export const isAbout = (event, jid) => (event.chatJid === jid || event.type === "reset") && !["chat.typing", "import.updated"].includes(event.type);

listeners.push((event) => {
  if (!chat.section || !isAbout(event, chat.jid)) return;
  if (event.message) changed.add(event.message.msgId);
  newestSoon();
});

// join adds a page of older or newer messages.
function join(fresh, older) {
  if (find("#unread", list)) find("#unread", fresh)?.remove();
  const parts = all(".day-part", fresh);
  for (const part of older ? parts.reverse() : parts) {
    for (const item of all(".msg, .event-line", part)) if (document.getElementById(item.id)) item.remove();
    all(".msg", part).forEach(note);
    const known = document.getElementById(part.id);
    const items = known && find("ol", known);
    if (!known) list[older ? "prepend" : "append"](part);
    else items[older ? "prepend" : "append"](...find("ol", part).children);
  }
}

const most = 500; // messages on the page at a time

// trim removes messages that are far from the visible ones, and leaves a link that loads them again.
function trim(older) {
  const items = all(".day-part > ol > .msg", list);
  const far = older ? items.slice(most) : items.slice(0, Math.max(0, items.length - most));
  if (!far.length) return;
  const edge = older ? items[most - 1] : items[far.length];
  for (const item of far) item.remove();
  for (const part of all(".day-part", list)) {
    // Lines go with the messages next to them.
    for (const line of all(".event-line, .unread-line", part)) if (older ? edge.compareDocumentPosition(line) & Node.DOCUMENT_POSITION_FOLLOWING : edge.compareDocumentPosition(line) & Node.DOCUMENT_POSITION_PRECEDING) line.remove();
    if (!find(".msg, .event-line", part)) part.remove();
  }
  const name = older ? "newer" : "older";
  let link = find(`[data-${name}]`, scroller);
  if (!link) {
    link = Object.assign(document.createElement("a"), { className: "button", textContent: older ? "Newer messages" : "Older messages" });
    link.dataset[name] = "";
    const pager = Object.assign(document.createElement("div"), { className: "pager" });
    pager.append(link);
    find(older ? "#end" : "#start").replaceChildren(pager);
  }
  link.loading = false;
  link.href = `${chat.path}?at=${encodeURIComponent(edge.dataset.id)}`;
  if (older) list.dataset.past = "";
}

// takeEnd replaces what is before (#start) or after (#end) the messages by that of a page.
function takeEnd(name, page) {
  const box = find(name), had = box.contains(document.activeElement);
  box.replaceChildren(...find(name, page).childNodes);
  if (had) (find("a, button", box) || scroller).focus({ preventScroll: true });
}

// takeStored shows the messages before the oldest one on the page that were stored after it was loaded, and reports whether
// there are any.
export async function takeStored() {
  const id = find(".day-part > ol > .msg", list)?.dataset.id;
  const page = await here(load(`${chat.path}?part&near&at=${encodeURIComponent(id)}`));
  const fresh = find("#messages", page), known = bubbleOf(id, fresh);
  const isAbove = (one) => known && one.compareDocumentPosition(known) & Node.DOCUMENT_POSITION_FOLLOWING;
  for (const one of all(".msg, .event-line", fresh).filter((one) => !isAbove(one))) one.remove();
  if (!find(".msg", fresh)) return false;
  place.steadily(() => {
    join(fresh, true);
    trim(true);
    takeEnd("#start", page);
  });
  watchEnds();
  return true;
}

// Older messages load before they are reached.
let watchEnds;
async function more(link) {
  if (link.loading || !scroller.contains(link)) return;
  link.loading = true;
  const older = link.matches("[data-older]");
  try {
    const page = await here(load(link.href + "&part"));
    place.steadily(() => {
      join(find("#messages", page), older);
      trim(older);
      takeEnd(older ? "#start" : "#end", page);
    });
    if (!older && !find("[data-newer]", scroller)) delete list.dataset.past;
    watchEnds();
  } catch {
    link.loading = false;
  }
}

// open starts a chat on the page.
function open(section, path) {
  turn = Promise.resolve();
  list = find("#messages");
  scroller = find("#history");
  end = find(".to-end");
  place = keeper(scroller, () => all(".msg:not([hidden])", list), isHome);
  Object.assign(chat, { section, jid: section.dataset.chat, path, list, place });
  for (const item of all(".msg", list)) sources.set(item, unmarked(item).outerHTML);
  const watch = new IntersectionObserver((seen) => {
    for (const one of seen) if (one.isIntersecting) more(one.target);
  }, { root: scroller, rootMargin: "400px" });
  // The name of the day at the upper edge covers messages, so that it only shows while they move.
  const edge = new IntersectionObserver((seen) => {
    for (const { target, isIntersecting } of seen) target.classList.toggle("at-edge", isIntersecting);
  }, { root: scroller, rootMargin: "0px 0px -100%" });
  scroller.addEventListener("scrollend", () => scroller.classList.remove("moves"));
  // A link is observed again after each change: it may still be visible.
  watchEnds = () => {
    for (const link of all("[data-older], [data-newer]", scroller)) {
      watch.unobserve(link);
      watch.observe(link);
    }
    for (const part of all(".day-part", list)) edge.observe(part);
  };
  watchEnds();
  new MutationObserver(watchEnds).observe(list, { childList: true, subtree: true });
  scroller.addEventListener("scroll", () => {
    scroller.classList.add("moves");
    end.hidden = list.dataset.past === undefined && scroller.scrollTop > -300;
    if (scroller.scrollTop > -40) delete end.dataset.count;
  }, { passive: true });
  // An album shows all its pictures once it is asked for the rest.
  scroller.addEventListener("click", (event) => {
    const rest = event.target.closest(".more-parts");
    if (rest) unfold(rest);
  });
  end.addEventListener("click", (event) => {
    if (list.dataset.past !== undefined) return;
    event.preventDefault();
    place.home(matchMedia("(prefers-reduced-motion: reduce)").matches ? "instant" : "smooth");
  });
  const at = list.dataset.at && messageOf(list.dataset.at);
  if (at) toFound(at);
  else if (find("#unread")) place.show(find("#unread"));

  // A quoted message on the page is shown without loading the page again.
  scroller.addEventListener("click", (event) => {
    const quote = event.target.closest("a.quote");
    if (quote) goTo(event, quote);
  });
  // A folded text opens downwards.
  scroller.addEventListener("click", (event) => {
    const fold = event.target.closest(".more > summary")?.parentElement;
    if (!fold) return;
    event.preventDefault();
    place.steadily(() => (fold.open = true), fold.closest(".msg"));
  });
}

// goTo shows the message of a clicked link, and reports whether the message is on the page.
export function goTo(event, link) {
  const message = messageOf(new URL(link.href).searchParams.get("at"));
  if (!message || event.ctrlKey || event.metaKey || event.shiftKey) return false;
  event.preventDefault();
  all(".found", list).forEach((one) => one.classList.remove("found"));
  toFound(message);
  return true;
}

// visit shows a message: the one on the page, with the marks of searched words, or else the messages around it in place of
// the present ones.
export async function visit(id, words) {
  const isHere = Boolean(messageOf(id));
  const page = await here(load(`${chat.path}?part${isHere ? "&near" : ""}&at=${encodeURIComponent(id)}${words}`));
  const fresh = find("#messages", page);
  if (messageOf(id)) {
    const item = bubbleOf(id, fresh), known = bubbleOf(id, list);
    if (item && item.outerHTML !== known.outerHTML) place.steadily(() => renew(known, item));
  } else {
    for (const part of all(".day-part", list)) part.remove();
    all(".msg", fresh).forEach(note);
    list.prepend(...fresh.children);
    if (fresh.dataset.past === undefined) delete list.dataset.past;
    else list.dataset.past = "";
    takeEnd("#start", page);
    takeEnd("#end", page);
    watchEnds();
  }
  for (const one of all(".found", list)) one.classList.remove("found");
  if (messageOf(id)) toFound(messageOf(id));
}

// bubbleOf returns the bubble of a page that has the message with an id, alone or in an album.
function bubbleOf(id, from) {
  return all(".msg", from).find((one) => one.dataset.id === id || find(`.album-part[data-id="${CSS.escape(id)}"]`, one));
}

// messageOf returns the message with an id, or its part of an album.
function messageOf(id) {
  return all(".msg, .album-part", list).find((one) => one.dataset.id === id);
}

// unfold shows all pictures of the album that an element is in.
function unfold(element) {
  const album = element.closest(".album.folded");
  if (album) place.steadily(() => album.classList.remove("folded"), album.closest(".msg"));
}

// toFound shows a message that was searched for, or the first of the searched words in it.
function toFound(message) {
  unfold(message);
  message.classList.add("found");
  const hit = find("mark", message);
  const fold = hit?.closest(".clip")?.nextElementSibling;
  if (fold?.matches(".more")) fold.open = true;
  place.show(hit || message);
}

if (find(".chat")) open(find(".chat"), location.pathname);
