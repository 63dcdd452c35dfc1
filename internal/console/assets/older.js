// Loads older messages of the open chat from the phone.
import { ask, find } from "./base.js";
import { takeStored } from "./chat.js";

// Messages of the past have no events, so the page looks for them: a phone that is online sends them within a minute.
const pause = 2000; // milliseconds
const most = 30; // looks

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches(".from-phone")) return;
  event.preventDefault();
  const button = find("button", form), status = find("[role=status]", form);
  if (button.ariaDisabled) return;
  button.ariaDisabled = "true"; // it keeps the focus
  try {
    const answer = await ask(form.action, new URLSearchParams(new FormData(form)));
    status.textContent = answer.text;
    status.textContent = await arrives(form) ? "" : "Nothing has arrived yet. Open WhatsApp on your phone, then try again.";
  } catch (failure) {
    status.textContent = failure.message;
    if (["no_more_history", "only_on_phone"].includes(failure.code)) {
      if (document.activeElement === button) find("#history").focus({ preventScroll: true });
      button.hidden = true;
    }
  }
  button.ariaDisabled = null;
});

// arrives waits for older messages and reports whether some have come. It stops when the form has left the page.
async function arrives(form) {
  for (let i = 0; i < most; i++) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (!form.isConnected || await takeStored().catch(() => false)) return true;
  }
  return false;
}
