// Loads older messages of the open chat from the phone.
import { ask, find } from "./base.js";
import { takeStored } from "./chat.js";

// There are no events about older messages, so the page polls: a phone that is online sends them within a minute.
const pause = 2000; // milliseconds
const maxPolls = 30;

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
    status.textContent = await waitForOlder(form) ? "" : "Nothing has arrived yet. Open WhatsApp on your phone, then try again.";
  } catch (failure) {
    status.textContent = failure.message;
    if (["no_more_history", "only_on_phone"].includes(failure.code)) {
      if (document.activeElement === button) find("#history").focus({ preventScroll: true });
      button.hidden = true;
    }
  }
  button.ariaDisabled = null;
});

// waitForOlder waits for older messages and reports whether some were received. It also returns true when the form is
// gone, because another chat was opened.
async function waitForOlder(form) {
  for (let i = 0; i < maxPolls; i++) {
    await new Promise((resolve) => setTimeout(resolve, pause));
    if (!form.isConnected || await takeStored().catch(() => false)) return true;
  }
  return false;
}
