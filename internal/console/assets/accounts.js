// Shows the states of the accounts in the account menu. It asks each account's own bridge, with this browser's session
// there; the browser never sends a session to another account's path.
import { all, find } from "./base.js";

const box = find("#accounts");
const links = box ? all("[data-account]", box).filter((link) => new URL(link.href).origin === location.origin) : [];
const every = 60e3; // ms between the questions of a visible page
const timeout = 8e3; // ms

// stateOf returns the state of an account.
async function stateOf(link) {
  try {
    const response = await fetch(new URL("account", link.href), { headers: { Accept: "application/json" }, signal: AbortSignal.timeout(timeout) });
    const answer = response.ok && (await response.json());
    if (typeof answer.loggedIn !== "boolean") return { tone: "bad", word: "Can’t be reached" };
    if (!answer.loggedIn) return { tone: "", word: "Not logged in" };
    return { tone: answer.tone || "", word: answer.word || "Running" };
  } catch {
    return { tone: "bad", word: "Can’t be reached" };
  }
}

async function show(link) {
  const state = await stateOf(link);
  const line = find("[data-account-state]", link);
  line.textContent = state.word;
  line.className = `account-state ${state.tone}`;
  const needy = links.some((one) => !one.hasAttribute("aria-current") && find(".account-state.bad", one));
  for (const mark of all("[data-account-alert]")) mark.hidden = !needy;
}

function showAll() {
  if (!document.hidden) links.forEach(show);
}

if (links.length) {
  showAll();
  setInterval(showAll, every);
  box.addEventListener("toggle", (event) => event.newState === "open" && showAll());
  document.addEventListener("visibilitychange", showAll);
}
