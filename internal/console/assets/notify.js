// Unread chats in the title and on the app's badge, and notifications if they are on.
import { all, ask, csrf, debounced, find, root } from "./base.js";
import { renew, ring } from "./calls.js";
import { chat, eachChat } from "./chat.js";
import { listeners } from "./live.js";

// The number of unread chats

const initialTitle = document.title;
let unread = 0;

function showTitle() {
  const title = chat.section ? `${find(".chat-title h1").textContent} · bridged` : initialTitle;
  document.title = unread ? `(${unread > 99 ? "99+" : unread}) ${title}` : title;
}

function show(count) {
  unread = count;
  showTitle();
  (count ? navigator.setAppBadge?.(count) : navigator.clearAppBadge?.())?.catch(() => {}); // not installed as an app
}

async function count() {
  const { unread, cursor } = await ask(root + "unread");
  show(unread);
  return cursor;
}

// One of the open pages follows the events while all are hidden, because browsers limit connections to
// a host. It notifies the others through localStorage.
const countSoon = debounced(() => count().catch(() => {}), 300); // the next event retries
const woken = "bridged news " + root;

function wake() {
  countSoon();
  localStorage.setItem(woken, Date.now());
}

async function lead() {
  for (let cursor; ; ) {
    try {
      cursor = await count();
      await follow(cursor);
    } catch (failure) {
      if (failure.status === 401) return; // logged out
    }
    await new Promise((resolve) => setTimeout(resolve, 5000));
  }
}

// follow forwards the events after a cursor until the stream ends.
function follow(cursor) {
  return new Promise((resolve) => {
    const stream = new EventSource(root + "live?types=message.created,chat.updated,call.created,call.updated&after=" + encodeURIComponent(cursor));
    stream.addEventListener("message.created", (event) => {
      wake();
      notify(JSON.parse(event.data));
    });
    for (const type of ["call.created", "call.updated"]) {
      stream.addEventListener(type, (event) => {
        renew();
        ring(JSON.parse(event.data), localStorage.getItem(wanted) && possible && Notification.permission === "granted");
      });
    }
    for (const type of ["chat.updated", "reset"]) stream.addEventListener(type, wake);
    stream.addEventListener("error", () => stream.readyState === EventSource.CLOSED && resolve());
  });
}

if (csrf) {
  addEventListener("storage", (event) => event.key === woken && countSoon());
  if (navigator.locks) navigator.locks.request(woken, lead).catch(() => {});
  else {
    countSoon(); // locks between pages need TLS
    listeners.push((event) => ["message.created", "chat.updated", "reset"].includes(event.type) && countSoon());
    setInterval(() => document.hidden && countSoon(), 20_000);
  }
}

// The visible chat, for the page that notifies

const looked = "bridged looked at " + root;
function look() {
  const open = chat.jid || "";
  if (!document.hidden && document.hasFocus()) localStorage.setItem(looked, open);
  else if (localStorage.getItem(looked) === open) localStorage.removeItem(looked);
}
for (const type of ["focus", "blur", "pagehide"]) addEventListener(type, look);
document.addEventListener("visibilitychange", look);
look();
eachChat(() => {
  showTitle();
  look();
});

// Notifications

const wanted = "bridged notifications " + root; // "text", "names" or nothing
const possible = "Notification" in window && isSecureContext;

async function notify(event) {
  const mode = localStorage.getItem(wanted);
  if (!mode || !possible || Notification.permission !== "granted" || event.message?.fromMe) return;
  if (localStorage.getItem(looked) === event.chatJid) return;
  try {
    const news = await ask(`${root}notice?chat=${encodeURIComponent(event.chatJid)}&id=${encodeURIComponent(event.message.msgId)}`);
    if (news.quiet) return;
    const shown = new Notification(news.title, { body: mode === "text" ? news.text : "New message", tag: root + news.chat, renotify: true });
    shown.addEventListener("click", () => {
      shown.close();
      focus();
      location.href = news.path;
    });
  } catch {
    // The list shows it anyway.
  }
}

// The switches

function hintOf(on) {
  if (!isSecureContext) return "Browsers allow notifications only over HTTPS. Open this console at an https:// address to use them.";
  if (!("Notification" in window)) return "This browser can’t show notifications. On an iPhone or iPad, add the console to the Home Screen first.";
  if (Notification.permission === "denied") return "This browser blocks notifications from the console. Allow them in its settings for this site.";
  return on ? "For new messages in chats that are neither muted nor archived, while the console is open in a tab." : "";
}

function draw() {
  const mode = possible && Notification.permission === "granted" ? localStorage.getItem(wanted) : null;
  for (const box of all("[data-notify]")) {
    const on = find("[data-notify-on]", box), text = find("[data-notify-text]", box);
    box.hidden = false;
    on.checked = Boolean(mode);
    on.disabled = !possible || Notification.permission === "denied";
    text.checked = mode === "text";
    text.parentElement.hidden = !mode;
    find("[data-notify-hint]", box).textContent = hintOf(mode);
  }
}

document.addEventListener("change", async (event) => {
  const box = event.target.closest("[data-notify]");
  if (!box) return;
  if (event.target.matches("[data-notify-text]")) localStorage.setItem(wanted, event.target.checked ? "text" : "names");
  else if (!event.target.checked) localStorage.removeItem(wanted);
  else if ((await Notification.requestPermission()) === "granted") localStorage.setItem(wanted, "text");
  draw();
});
draw();
