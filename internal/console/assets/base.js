// Shared by all scripts: finding elements, requests, toasts, copying.

export const csrf = document.body.dataset.csrf;
export const find = (selector, from = document) => from.querySelector(selector);
export const all = (selector, from = document) => [...from.querySelectorAll(selector)];

// Toasts

let toastTimer;
export function toast(text, failed = false) {
  const box = find("#toast");
  if (!box || !text) return;
  box.textContent = text;
  box.classList.toggle("bad", failed);
  box.classList.add("shown");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => box.classList.remove("shown"), failed ? 8000 : 3000);
}

// Requests

// root is the address of the console. It may have a base path.
export const root = new URL("..", import.meta.url).pathname;

// visitor identifies the token of the session. What was written and not sent is stored under it.
export const visitor = document.body.dataset.visitor;

// draftOf returns the name under which the text is stored that is being written in a chat.
export const draftOf = (path) => `draft ${visitor} ${path}`;

// ask sends a request and returns the answer, or throws a sentence.
export async function ask(path, body, signal) {
  const headers = { Accept: "application/json", "X-CSRF-Token": csrf };
  let response;
  try {
    response = await fetch(path, body ? { method: "POST", headers, body, signal } : { headers, signal });
  } catch {
    throw unreached();
  }
  const answer = await response.json().catch(() => ({}));
  if (response.ok) return answer;
  throw refused(response.status, answer);
}

// unreached returns the error of a request without an answer.
export const unreached = () => Object.assign(new Error("Can’t reach the bridge. Check your connection, then try again."), { unreached: true });

// refused returns the error of a request that the bridge has refused.
export const refused = (status, answer) => Object.assign(new Error(answer.error || "That didn’t work."), { ...answer, status });

// again retries a call that got no answer.
export async function again(call, times = 3) {
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

let pressed; // a promise that ends when no button of the mouse and no finger is down any more
let release;
addEventListener("pointerdown", () => (pressed ??= new Promise((resolve) => (release = resolve))), true);
for (const type of ["pointerup", "pointercancel", "dragend", "blur"]) {
  addEventListener(type, () => {
    setTimeout(() => { // after the click
      pressed = undefined;
      release?.();
    });
  }, type !== "blur"); // of the window alone
}

// released returns a promise that ends when nothing is pressed any more, or undefined.
export const released = () => pressed;

// isFree reports whether no visible element has the focus. A dialog that was closed has it until the next frame.
export const isFree = (focused = document.activeElement) => !focused || focused === document.body || !focused.checkVisibility();

// loadChanges loads a page whose parts replace others. It waits while something is pressed, because a click is lost if
// its element is replaced before the release.
export async function loadChanges(path, signal) {
  const page = await load(path, signal);
  await released();
  signal?.throwIfAborted();
  return page;
}

// load fetches a page as a document.
export async function load(path, signal) {
  const { response, page } = await loadAny(path, { signal });
  if (!response.ok) throw new Error("This couldn’t be loaded. Try again.");
  return page;
}

// loadAny fetches a page as a document, even if it is a refusal's page.
export async function loadAny(path, options) {
  const response = await fetch(path, { headers: { Accept: "text/html" }, ...options });
  if (response.redirected && response.url.startsWith(new URL("../login", location.origin + root).href)) location.reload();
  return { response, page: new DOMParser().parseFromString(await response.text(), "text/html") };
}

// randomKey returns a key for a send. crypto.randomUUID needs TLS.
export function randomKey() {
  const bytes = crypto.getRandomValues(new Uint8Array(18));
  return "console-" + [...bytes].map((b) => b.toString(16).padStart(2, "0")).join("");
}

export function debounced(run, pause) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(run, pause);
  };
}

// copy puts a text into the clipboard.
export async function copy(text) {
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

document.documentElement.classList.add("js");
