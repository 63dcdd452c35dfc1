// Imports exported chats. All steps happen on one page, so that the chosen file stays chosen; a bar shows the upload.
import { all, csrf, find, toast, unreached } from "./base.js";
import { startChoosers } from "./chooser.js";

let request; // the running request

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("[data-import]")) return;
  event.preventDefault();
  if (!request) send(form, event.submitter?.getAttribute("formaction") || form.getAttribute("action"));
});

function send(form, path) {
  const chosen = find("[type=file]", form).files;
  const body = new FormData(form);
  const section = find("#import");
  const box = find("#sending");
  const bar = find("progress", box);
  const say = (text) => (find("[data-status]", box).textContent = text);
  const buttons = all("form button", section).filter((button) => !button.disabled);
  request = new XMLHttpRequest();
  request.upload.addEventListener("progress", (event) => (bar.value = event.loaded / event.total));
  request.upload.addEventListener("load", () => {
    bar.removeAttribute("value"); // the duration is unknown
    say("Reading the export…");
  });
  request.addEventListener("loadend", () => {
    const { status, responseText, responseURL } = request;
    request = undefined;
    buttons.forEach((button) => (button.disabled = false));
    box.hidden = true;
    if (status) showAnswer(responseText, responseURL, chosen);
    else if (!box.dataset.cancelled) toast(unreached().message, true);
  });
  buttons.forEach((button) => (button.disabled = true));
  delete box.dataset.cancelled;
  box.hidden = false;
  bar.value = 0;
  say("Sending the file…");
  box.scrollIntoView({ block: "nearest" });
  request.open("POST", path);
  request.setRequestHeader("X-CSRF-Token", csrf);
  request.send(body);
}

// showAnswer shows the answer: the form's next step, or the page of the import.
function showAnswer(text, address, chosen) {
  const page = new DOMParser().parseFromString(text, "text/html");
  const fresh = find("#import", page);
  if (fresh) {
    find("#import").replaceWith(fresh);
    fillIn(fresh, chosen);
    startChoosers(fresh);
    find("[aria-invalid=true], #fault, #dates, #review-title", fresh)?.focus();
  } else if (find("#imported, main.login", page)) {
    location.assign(address);
  } else {
    toast(find("main .empty p", page)?.textContent || "That didn’t work.", true);
  }
}

// fillIn sets the chosen file and the names of time zones in the forms of a step.
function fillIn(section, chosen) {
  if (chosen) for (const field of all("[type=file]", section)) field.files = chosen;
  find("#zones", section).replaceChildren(...(Intl.supportedValuesOf?.("timeZone") || []).map((zone) => new Option(zone, zone)));
}

document.addEventListener("click", (event) => {
  if (!request || !event.target.closest?.("#sending [data-cancel]")) return;
  find("#sending").dataset.cancelled = "yes";
  request.abort();
});

// The forms of all steps use the file that was chosen in one of them.
document.addEventListener("change", (event) => {
  if (event.target.matches("#import [type=file]")) for (const field of all("#import [type=file]")) field.files = event.target.files;
});

// Enter in a name does not start the import.
for (const type of ["keydown", "keypress"]) {
  document.addEventListener(type, (event) => {
    if (event.key === "Enter" && event.target.matches("#review input:not([type=file])")) event.preventDefault();
  });
}

addEventListener("beforeunload", (event) => request && event.preventDefault());

if (find("#import")) fillIn(find("#import"));
