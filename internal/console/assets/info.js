// The page about the person or the group of the open chat, in a pane next to it. Narrow windows open the page itself.
import { all, find, loadAny, toast, unreached } from "./base.js";
import { chat, eachChat } from "./chat.js";
import { isTyped, listeners, loadLater, refresh } from "./live.js";
import { startSuggesting } from "./people.js";

const pane = find("#info");
const box = pane && find(".column", pane);
const wide = matchMedia("(min-width: 1200px)");
let trail = []; // the addresses of the pages in the pane, the visible one last
let opener; // has the focus after the pane
let asked; // the request for the next page

const isAbout = (link) => link.origin === location.origin && /\/(people\/[^/]+|chats\/[^/]+\/info)$/.test(link.pathname);
const pathOf = (address) => new URL(address, location).pathname;

// show loads a page into the pane, or the answer to a form of the visible one.
async function show(address, body) {
  asked?.abort();
  const request = (asked = new AbortController());
  box.ariaBusy = "true";
  try {
    const { response, page } = await loadAny(address, { signal: request.signal, ...(body && { method: "POST", body }) });
    if (request !== asked) return;
    if (page.documentElement.matches(".page-person, .page-group")) take(page, response.url);
    else if (!body) throw new Error("This couldn’t be loaded. Try again.");
    else if (response.ok) location.href = response.url;
    else throw new Error(find("main .empty > p", page)?.textContent || "That didn’t work.");
  } catch (failure) {
    if (request !== asked || failure.name === "AbortError") return;
    toast((failure instanceof TypeError ? unreached() : failure).message, true);
    if (!find("section, .who", box)) close();
  }
  box.ariaBusy = null;
}

// take shows a page in the pane. The scroll position stays if it is a new version of the visible page.
function take(page, address) {
  const content = find("main > .column", page), notice = find("main > div.notice > p", page);
  find(".page-head", content).remove();
  for (const link of all("a[href]", content)) if (link.pathname === location.pathname) link.remove(); // it opens this chat
  const isSame = trail.length && pathOf(trail.at(-1)) === pathOf(address);
  if (isSame) trail.pop();
  trail.push(address);
  find("#info-title").textContent = page.documentElement.matches(".page-group") ? "Group info" : "Contact info";
  find("[data-back]", pane).hidden = trail.length < 2;
  box.replaceChildren(...content.childNodes);
  if (!isSame) box.scrollTop = 0;
  loadLater(box);
  startSuggesting(box);
  if (notice) toast(notice.textContent, notice.parentElement.matches(".bad"));
}

function open(link) {
  const menu = link.closest("details");
  if (menu) menu.open = false;
  opener = menu ? find("summary", menu) : link;
  trail = [];
  box.replaceChildren(Object.assign(document.createElement("p"), { className: "hint", textContent: "Loading…" }));
  chat.place.steadily(() => (pane.hidden = false));
  find("[data-close]", pane).focus();
  show(link.href);
}

function close() {
  const had = pane.contains(document.activeElement);
  asked?.abort();
  trail = [];
  chat.place.steadily(() => (pane.hidden = true));
  box.replaceChildren();
  if (had) opener.focus({ preventScroll: true });
}

// send sends a form of the pane, and shows its page again.
async function send(form, submitter) {
  const data = new FormData(form, submitter), part = form.closest("section")?.id;
  const buttons = all("button:enabled", form);
  for (const button of buttons) button.disabled = true;
  await show(form.getAttribute("action"), form.enctype === "multipart/form-data" ? data : new URLSearchParams(data));
  for (const button of buttons) button.disabled = false;
  if (pane.hidden) return;
  const renewed = part && find(`#${part}`, box), fault = find("[role=alert]", box);
  if (!fault && trail.length === 1) refresh(find("[data-live=who]", chat.section));
  if (!pane.contains(document.activeElement)) ((renewed && find("summary, button, input:not([type=hidden])", renewed)) || find("[data-close]", pane)).focus({ preventScroll: true });
  fault?.scrollIntoView({ block: "nearest" });
}

// isBusy reports whether the visitor is in the middle of something in the pane.
const isBusy = () => box.contains(document.activeElement) || find("details[open]", box) || all("input, textarea, select", box).some(isTyped);

if (pane) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[href]");
    if (event.defaultPrevented || !link || !wide.matches || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    if (!isAbout(link) || link.target || !link.closest(".chat-head, #info")) return;
    event.preventDefault();
    if (pane.contains(link)) show(link.href);
    else if (trail.length === 1 && pathOf(trail[0]) === link.pathname) close();
    else open(link);
  });
  pane.addEventListener("click", (event) => {
    if (event.target.closest("[data-close]")) close();
    else if (event.target.closest("[data-back]")) {
      trail.pop();
      show(trail.pop());
    }
  });
  pane.addEventListener("keydown", (event) => {
    const field = event.target.closest("[type=search]");
    if (event.key !== "Escape" || event.isComposing || field?.value || find("details.menu[open]", pane)) return;
    event.preventDefault();
    close();
  });
  document.addEventListener("submit", (event) => { // after the question of the form
    const form = event.target;
    if (!box.contains(form) || event.defaultPrevented) return;
    event.preventDefault();
    if (form.method === "post") send(form, event.submitter);
  });
  listeners.push((event) => {
    if (event.type === "group.updated" && event.chatJid === chat.jid && trail.length && !isBusy()) show(trail.at(-1));
  });
  wide.addEventListener("change", () => wide.matches || pane.hidden || close());
  eachChat(() => () => pane.hidden || close());
}
