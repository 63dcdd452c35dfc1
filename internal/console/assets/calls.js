// Ringing calls, on every page: a bar with a button to decline, and a notification.
import { ask, csrf, find, root } from "./base.js";
import { listeners, refresh } from "./live.js";

const bar = find("#ringing");
const rung = "bridged call " + root; // changed by the page that follows the events while others have no stream

// renew shows the calls that are ringing now.
export function renew() {
  if (bar) refresh(bar);
}

if (bar && csrf) {
  renew();
  listeners.push((event) => /^call\.|^reset$/.test(event.type) && renew());
  addEventListener("storage", (event) => event.key === rung && renew());
}

const shown = new Map(); // notifications by the id of their call

// ring makes other pages renew their bars, and shows a notification of a new call if wanted returns true.
export async function ring({ call, chatJid }, wanted) {
  localStorage.setItem(rung, Date.now());
  if (call.state !== "ringing") {
    shown.get(call.id)?.close();
    shown.delete(call.id);
    return;
  }
  if (!wanted || shown.has(call.id)) return;
  try {
    const { name } = await ask(`${root}name?of=${encodeURIComponent(call.fromJid)}`);
    const one = new Notification(name, { body: call.isVideo ? "Incoming video call" : "Incoming voice call", tag: root + "call " + call.id, requireInteraction: true });
    shown.set(call.id, one);
    one.addEventListener("click", () => {
      one.close();
      focus();
      if (chatJid) location.href = root + "chats/" + encodeURIComponent(chatJid);
    });
  } catch {
    // The bar shows the call anyway.
  }
}
